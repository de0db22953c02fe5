//! The tasks of a DAG that a rule judges, and the reasons if there is nothing to judge.

use crate::mapreduce::{MissingCounters, counter, run_time};
use elephant_model::model::counters::{Counter, CounterMask};
use elephant_model::model::table::TaskGroup;
use elephant_model::model::tez::{Processor, Vertex};
use elephant_model::model::{Application, Engine, Status};
use elephant_rule::finding::{Subject, Verdict};
use elephant_rule::wording::plural;

/// Why the size of containers is unknown.
pub(super) const NO_CONTAINER: &str = "the container size is unknown: the configuration of the application \
    (TEZ_APPLICATION) is missing, or has none of tez.task.resource.memory.mb, hive.tez.container.size and \
    mapreduce.map.memory.mb";

/// What the judged tasks do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    Mapper,
    Reducer,
    Scope,
}

impl Role {
    pub(super) const fn processor(self) -> Processor {
        match self {
            Self::Mapper => Processor::Mapper,
            Self::Reducer => Processor::Reducer,
            Self::Scope => Processor::Scope,
        }
    }

    /// The name before "task".
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Mapper => "map",
            Self::Reducer => "reduce",
            Self::Scope => "scope",
        }
    }

    pub(super) const fn subject(self) -> Subject {
        Subject::Tasks(self.name())
    }

    /// "1 map task", "20 scope tasks".
    pub(super) fn count(self, tasks: u64) -> String {
        plural(tasks, &format!("{} task", self.name()))
    }
}

/// Why tasks are not judged; small, so that it can be returned as an error.
pub(super) enum Unjudged {
    NotApplicable,
    NotEvaluated(String),
}

impl From<Unjudged> for Verdict {
    fn from(why: Unjudged) -> Self {
        match why {
            Unjudged::NotApplicable => Self::NotApplicable,
            Unjudged::NotEvaluated(reason) => Self::NotEvaluated(reason),
        }
    }
}

/// The tasks of all vertices of a role.
pub(super) struct Tasks<'a> {
    pub(super) role: Role,
    pub(super) vertices: Vec<(&'a Vertex, &'a TaskGroup)>,
}

impl<'a> Tasks<'a> {
    /// The tasks to judge, or why there are none.
    pub(super) fn of(app: &'a Application, role: Role, only_succeeded: bool) -> Result<Self, Unjudged> {
        if app.engine != Engine::Tez || (only_succeeded && app.status != Status::Succeeded) {
            return Err(Unjudged::NotApplicable);
        }
        let vertices: Vec<_> = app.vertices_with(role.processor()).collect();
        if !vertices.is_empty() {
            return Ok(Self { role, vertices });
        }
        let known = app.tez.iter().flat_map(|tez| &tez.vertices);
        let may_exist = |vertex: &Vertex| {
            let is_role = vertex.processor.is_none_or(|processor| processor == role.processor());
            is_role && vertex.announced != Some(0)
        };
        // A vertex that was killed before it started has no tasks.
        let without_records = known.clone().filter(|vertex| may_exist(vertex)).count() as u64;
        let reason = match (app.limit, known.count()) {
            (Some(limit), _) => limit.to_string(),
            (None, 0) => "there are no records of the vertices of the DAG (TEZ_VERTEX_ID)".to_owned(),
            (None, _) if without_records > 0 => {
                format!("there are no records of {} tasks (TEZ_TASK_ID)", role.name())
            }
            (None, _) => return Err(Unjudged::NotApplicable),
        };
        Err(Unjudged::NotEvaluated(reason))
    }

    /// Number of tasks, with those of which nothing else is known.
    pub(super) fn total(&self) -> u64 {
        self.vertices.iter().map(|(_, group)| group.tasks.len() as u64).sum()
    }

    /// The successful attempts.
    pub(super) fn winners(&self) -> impl Iterator<Item = (&'a TaskGroup, usize)> {
        self.vertices.iter().flat_map(|(_, group)| group.winners().map(|row| (*group, row)))
    }

    /// Run times in milliseconds.
    pub(super) fn run_times(&self) -> Vec<i64> {
        self.winners().filter_map(|(group, row)| run_time(group, row)).collect()
    }

    /// The values of a counter.
    pub(super) fn counters(&self, of: Counter, missing: MissingCounters) -> Vec<i64> {
        self.winners().filter_map(|(group, row)| counter(group, row, of, missing)).collect()
    }

    /// Why a rule that sums these counters cannot be evaluated: one of them is unreadable in some task.
    pub(super) fn unreadable(&self, app: &Application, counters: &[Counter]) -> Option<Verdict> {
        let wanted = CounterMask::of(counters);
        let is_judged = |kind| self.vertices.iter().any(|(_, group)| group.kind == kind);
        let reason = app.unreadable_counters(|kind| if is_judged(kind) { wanted } else { CounterMask::NONE });
        reason.map(Verdict::NotEvaluated)
    }

    /// Why a rule is not evaluated if no task has the data that it needs.
    pub(super) fn none_reports(&self, what: &str) -> Unjudged {
        let role = self.role.name();
        Unjudged::NotEvaluated(if self.winners().next().is_none() {
            format!("no {role} task ended successfully")
        } else {
            format!("no {role} task reports {what}")
        })
    }
}
