//! Facts about a DAG of Tez: its vertices, who submitted it, and why it failed.

use super::Status;
use super::counters::CounterSet;
use super::table::{TaskGroup, TaskKind};
use super::{Application, Symbol};
use elephant_base::state::State;
use elephant_base::units::{Millis, Timestamp};

/// What the tasks of a vertex do, by the class of their processor.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, State)]
pub enum Processor {
    /// Map tasks of Hive (`MapTezProcessor`).
    Mapper,
    /// Reduce tasks of Hive (`ReduceTezProcessor`).
    Reducer,
    /// Tasks of Pig (`PigProcessor`), which do what their part of the script says.
    Scope,
    /// Something else.
    Other,
}

impl Processor {
    /// The processor with this class. Dr. Elephant compares full names; packages of forks differ, so the last part of the
    /// name decides here.
    #[must_use]
    pub fn of_class(class: &str) -> Self {
        match class.rsplit('.').next().unwrap_or(class) {
            "MapTezProcessor" => Self::Mapper,
            "ReduceTezProcessor" => Self::Reducer,
            "PigProcessor" => Self::Scope,
            _ => Self::Other,
        }
    }

    /// The name in reports.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Mapper => "mapper",
            Self::Reducer => "reducer",
            Self::Scope => "scope",
            Self::Other => "other",
        }
    }
}

/// One vertex of a DAG.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct Vertex {
    /// Its number within the DAG, the last part of its id.
    pub number: u32,
    /// Its name, such as "Map 5".
    pub name: Option<String>,
    /// What its tasks do.
    pub processor: Option<Processor>,
    /// How it ended.
    pub status: Status,
    /// How many tasks it has (`numTasks`).
    pub announced: Option<u64>,
    /// When it was initialised: its inputs and its number of tasks are known.
    pub initialised_at: Option<Timestamp>,
    /// When it was started: its tasks may be scheduled.
    pub started_at: Option<Timestamp>,
    /// When it ended.
    pub finished_at: Option<Timestamp>,
    /// The sums over its tasks.
    pub counters: Option<CounterSet>,
}

impl Vertex {
    /// A vertex of which nothing but the number is known.
    #[must_use]
    #[doc(hidden)]
    pub fn new(number: u32) -> Self {
        Self { number, ..Self::default() }
    }

    /// How long it waited between its initialisation and its start.
    #[must_use]
    pub fn wait(&self) -> Option<Millis> {
        Millis::between(self.initialised_at?, self.started_at?)
    }

    /// The name for messages: its own, or else its number.
    #[must_use]
    pub fn title(&self) -> String {
        self.name.clone().unwrap_or_else(|| format!("vertex {}", self.number))
    }
}

/// A vertex that failed the DAG, with the task that failed it, as the diagnostics of the DAG tell.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct VertexFailure {
    /// The vertex's number.
    pub vertex: u32,
    /// The vertex's name.
    pub name: Option<String>,
    /// How many of its tasks failed.
    pub tasks: u64,
    /// How many attempts of these tasks failed.
    pub attempts: u64,
    /// What the first of the attempts says.
    pub text: Option<Symbol>,
}

impl VertexFailure {
    /// A failure of which nothing but the vertex is known.
    #[must_use]
    #[doc(hidden)]
    pub const fn new(vertex: u32) -> Self {
        Self { vertex, name: None, tasks: 0, attempts: 0, text: None }
    }
}

/// Facts about one DAG.
#[derive(Debug, Clone, Default)]
pub struct Tez {
    /// The YARN application that ran the DAG, and maybe others: `application_T_A`.
    pub application_id: String,
    /// Who submitted the DAG (`callerType`): `HIVE_QUERY_ID` for Hive.
    pub caller_type: Option<String>,
    /// The id that the caller gave (`callerId`), for Hive the id of the query.
    pub caller_id: Option<String>,
    /// The text of the query of Hive.
    pub query: Option<String>,
    /// The vertices, by number.
    pub vertices: Vec<Vertex>,
    /// The vertices that failed the DAG.
    pub failures: Vec<VertexFailure>,
}

impl Tez {
    /// The vertex with this number.
    #[must_use]
    pub fn vertex(&self, number: u32) -> Option<&Vertex> {
        let at = self.vertices.binary_search_by_key(&number, |vertex| vertex.number).ok()?;
        self.vertices.get(at)
    }
}

impl Application {
    /// The vertex whose tasks these are.
    #[must_use]
    #[doc(hidden)]
    pub fn vertex_of(&self, kind: TaskKind) -> Option<&Vertex> {
        match kind {
            TaskKind::Vertex(number) => self.tez.as_ref()?.vertex(number),
            TaskKind::Map | TaskKind::Reduce | TaskKind::Setup | TaskKind::Cleanup | TaskKind::Stage(_) => {
                None
            }
        }
    }

    /// The vertices of a DAG whose tasks have this processor, each with its tasks.
    #[doc(hidden)]
    pub fn vertices_with(&self, processor: Processor) -> impl Iterator<Item = (&Vertex, &TaskGroup)> {
        let groups = self.groups.iter().filter_map(|group| Some((self.vertex_of(group.kind)?, group)));
        groups.filter(move |(vertex, _)| vertex.processor == Some(processor))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Engine;

    #[test]
    fn classes_name_processors() {
        let of = Processor::of_class;
        assert_eq!(of("org.apache.hadoop.hive.ql.exec.tez.MapTezProcessor"), Processor::Mapper);
        assert_eq!(of("ReduceTezProcessor"), Processor::Reducer);
        assert_eq!(
            of("org.apache.pig.backend.hadoop.executionengine.tez.runtime.PigProcessor"),
            Processor::Scope
        );
        assert_eq!(of("org.apache.hadoop.hive.ql.exec.tez.MergeFileTezProcessor"), Processor::Other);
    }

    #[test]
    fn vertices_are_found_by_number_and_by_processor() {
        let vertex = |number, processor| Vertex { processor: Some(processor), ..Vertex::new(number) };
        let mut app = Application::new(Engine::Tez);
        let vertices = vec![vertex(1, Processor::Mapper), vertex(4, Processor::Reducer)];
        app.tez = Some(Box::new(Tez { vertices, ..Tez::default() }));
        app.groups = [1, 4, 7].map(|number| TaskGroup::new(TaskKind::Vertex(number))).into();
        let numbers = |of| app.vertices_with(of).map(|(vertex, _)| vertex.number).collect::<Vec<_>>();
        assert_eq!((numbers(Processor::Mapper), numbers(Processor::Scope)), (vec![1], vec![]));
        assert!(app.vertex_of(TaskKind::Vertex(7)).is_none());
        assert_eq!(app.vertex_of(TaskKind::Vertex(4)).map(Vertex::title).as_deref(), Some("vertex 4"));
    }
}
