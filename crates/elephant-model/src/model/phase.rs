//! What each phase of an application did: the maps and the reduces of a job, the stage attempts of Spark, the vertices of
//! a DAG.

use super::counters::Counter;
use super::table::{TaskGroup, TaskKind, TimePoint};
use super::{Application, Subject, TaskCounts};
use elephant_base::state::State;
use elephant_base::units::{Bytes, Millis, Timestamp};

/// One phase with its sums over all attempts that were read. A sum is `None` if no attempt reports the value, or if one
/// reports a value that cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, State)]
#[non_exhaustive]
pub struct Phase {
    /// The subject of findings about it.
    pub subject: Subject,
    /// The name of a stage, mostly its call site, or of a vertex.
    pub name: Option<String>,
    /// When the stage was submitted, or the first attempt was launched.
    pub started_at: Option<Timestamp>,
    /// When the stage ended, or the last attempt did; `None` while one runs.
    pub finished_at: Option<Timestamp>,
    /// Its tasks.
    pub tasks: TaskCounts,
    /// Whether no limit can have left out any of its tasks.
    pub has_all_tasks: bool,
    /// Whether no limit can have left out a part of its sums.
    pub has_whole_sums: bool,
    /// Run time of all attempts, including failed and killed ones.
    pub task_time: Option<Millis>,
    /// Garbage collection time of all attempts.
    pub gc_time: Option<Millis>,
    /// Bytes read from files and other sources.
    pub input: Option<Bytes>,
    /// Bytes written to files.
    pub output: Option<Bytes>,
    /// Bytes that came through a shuffle.
    pub shuffle_read: Option<Bytes>,
    /// Bytes that went into a shuffle.
    pub shuffle_write: Option<Bytes>,
    /// Bytes spilled from memory. Spark only: Hadoop counts spilled records.
    pub spilled: Option<Bytes>,
}

impl Phase {
    /// The phases of `app` in the order of its groups: maps before reduces, stages by id. Setup and cleanup tasks of
    /// Hadoop 1 are not phases.
    #[must_use]
    pub fn all(app: &Application) -> Vec<Self> {
        let work =
            app.groups.iter().filter(|group| !matches!(group.kind, TaskKind::Setup | TaskKind::Cleanup));
        work.map(|group| Self::of(app, group)).collect()
    }

    /// The subject of findings about tasks of this kind.
    #[must_use]
    #[doc(hidden)]
    pub const fn subject(kind: TaskKind) -> Subject {
        match kind {
            TaskKind::Stage(id) => Subject::Stage(id),
            TaskKind::Vertex(number) => Subject::Vertex(number),
            kind => Subject::Tasks(kind.name()),
        }
    }

    fn of(app: &Application, group: &TaskGroup) -> Self {
        let attempts = &group.attempts;
        let rows = || 0..attempts.len();
        let has_all_tasks = !app.limit.is_some_and(|limit| limit.cuts_off());
        let stage = match group.kind {
            TaskKind::Stage(id) => app.spark.as_ref().and_then(|spark| spark.stage(id)),
            _ => None,
        };
        let vertex = app.vertex_of(group.kind);
        let name = stage.and_then(|stage| stage.name.as_deref());
        let name = name.or_else(|| vertex.and_then(|vertex| vertex.name.as_deref()));
        let started = stage.and_then(|stage| stage.submitted_at);
        let started = started.or_else(|| vertex.and_then(|vertex| vertex.started_at));
        let first = rows().filter_map(|row| attempts.time(row, TimePoint::Start)).min();
        let ends = rows().map(|row| attempts.time(row, TimePoint::Finish));
        let last = ends.collect::<Option<Vec<_>>>().and_then(|ends| ends.into_iter().max());
        let sum = |counters: &[Counter]| attempts.sum(counters);
        let bytes = |counters: &[Counter]| sum(counters).map(Bytes::new);
        let is_reduce = group.kind == TaskKind::Reduce;
        let (shuffle_read, shuffle_write): (&[Counter], &[Counter]) = match group.kind {
            TaskKind::Stage(_) => (
                &[Counter::ShuffleRemoteBytesRead, Counter::ShuffleLocalBytesRead],
                &[Counter::ShuffleBytesWritten],
            ),
            TaskKind::Vertex(_) => (&[Counter::ReduceShuffleBytes], &[Counter::MapOutputMaterializedBytes]),
            _ if is_reduce => (&[Counter::ReduceShuffleBytes], &[]),
            _ => (&[], &[Counter::MapOutputMaterializedBytes]),
        };
        let (input, output): (&[Counter], &[Counter]) = match group.kind {
            TaskKind::Stage(_) => (&[Counter::InputBytes], &[Counter::OutputBytes]),
            _ => (&Counter::INPUT_BYTES, &[Counter::RemoteBytesWritten]),
        };
        Self {
            subject: Self::subject(group.kind),
            name: name.map(str::to_owned),
            started_at: started.or(first),
            finished_at: match (stage, vertex) {
                (Some(stage), _) => stage.completed_at,
                (_, Some(vertex)) => vertex.finished_at,
                _ => last.filter(|_| has_all_tasks),
            },
            tasks: TaskCounts::of(group),
            has_all_tasks,
            has_whole_sums: app.limit.is_none(),
            task_time: rows().filter_map(|row| attempts.run_time(row)).reduce(|a, b| a + b),
            gc_time: sum(&[Counter::GcTimeMillis]).map(Millis::new),
            input: bytes(input),
            output: bytes(output),
            shuffle_read: bytes(shuffle_read),
            shuffle_write: bytes(shuffle_write),
            spilled: bytes(&[Counter::MemoryBytesSpilled]),
        }
    }

    /// From its start to its end.
    #[must_use]
    pub fn duration(&self) -> Option<Millis> {
        Millis::between(self.started_at?, self.finished_at?)
    }
}
