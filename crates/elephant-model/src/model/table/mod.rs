//! The task table: the input of rules and straggler analysis, independent of the engine.
//!
//! A [`TaskGroup`] holds tasks that do the same work (all maps, all reduces, the tasks of one stage attempt or of
//! one vertex).
//! It has one row per task, one row per attempt, and one column per counter; values that the log does not
//! contain are `None`.

mod attempts;
mod columns;
mod order;
mod rows;
mod tasks;
mod time_point;

pub use attempts::{Attempts, MAX_COUNTER_VALUE, NANOS_PER_MILLI};
pub use tasks::Tasks;
pub use time_point::TimePoint;

use super::spark::StageAttempt;
use elephant_base::state::State;
use elephant_base::units::Timestamp;

/// The kind of work of a group's tasks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, State)]
pub enum TaskKind {
    /// Map tasks.
    Map,
    /// Reduce tasks.
    Reduce,
    /// The task that prepares a job's output folder (Hadoop 1).
    Setup,
    /// The tasks that clean up after a job or a task (Hadoop 1).
    Cleanup,
    /// The tasks of one stage attempt (Spark).
    Stage(StageAttempt),
    /// The tasks of one vertex of a DAG, by the vertex's number (Tez).
    Vertex(u32),
}

impl TaskKind {
    /// The name in reports, and in findings about MapReduce. All stages and vertices share "task".
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Map => "map",
            Self::Reduce => "reduce",
            Self::Setup => "setup",
            Self::Cleanup => "cleanup",
            Self::Stage(_) | Self::Vertex(_) => "task",
        }
    }
}

/// How a task or an attempt ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub enum Outcome {
    /// The log does not contain an end.
    #[default]
    Unfinished,
    /// Succeeded.
    Succeeded,
    /// Failed.
    Failed,
    /// Killed: by a user, by preemption, or because another attempt won.
    Killed,
}

/// How close an attempt ran to its input.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, State)]
#[non_exhaustive]
pub enum Locality {
    /// On a node that holds the data.
    NodeLocal,
    /// In the same rack.
    RackLocal,
    /// Elsewhere.
    OffSwitch,
    /// In the process that holds the data (Spark).
    ProcessLocal,
    /// The task has no preferred location (Spark).
    NoPreference,
}

/// Why an attempt ended, if the engine says more than its outcome (Spark's `TaskEndReason`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum EndReason {
    /// It completed successfully.
    Success,
    /// The user's code threw an exception.
    Exception,
    /// The JVM ran out of memory.
    OutOfMemory,
    /// Shuffle data could not be fetched, so the map stage runs again.
    FetchFailed,
    /// The executor was lost.
    ExecutorLost,
    /// The container was killed for exceeding its memory limit.
    ContainerOverMemory,
    /// Killed by the scheduler or a user.
    Killed,
    /// Another attempt had committed its output.
    CommitDenied,
    /// The result was lost before the driver received it.
    ResultLost,
    /// Something else.
    Other,
}

impl EndReason {
    /// Every reason.
    pub const ALL: [Self; 10] = [
        Self::Success,
        Self::Exception,
        Self::OutOfMemory,
        Self::FetchFailed,
        Self::ExecutorLost,
        Self::ContainerOverMemory,
        Self::Killed,
        Self::CommitDenied,
        Self::ResultLost,
        Self::Other,
    ];
}

/// Tasks that do the same work, with all their attempts.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct TaskGroup {
    /// What its tasks do.
    pub kind: TaskKind,
    /// A row per task.
    pub tasks: Tasks,
    /// A row per attempt.
    pub attempts: Attempts,
}

impl TaskGroup {
    /// A group without tasks.
    #[must_use]
    #[doc(hidden)]
    pub fn new(kind: TaskKind) -> Self {
        Self { kind, tasks: Tasks::default(), attempts: Attempts::default() }
    }

    /// The representative attempt of each task: the successful one, or else the one that the log names as the
    /// cause of failure; `None` if there is neither.
    pub(crate) fn representatives(&self) -> impl Iterator<Item = Option<usize>> + '_ {
        (0..self.tasks.len()).map(|task| self.tasks.representative(task))
    }

    /// Rows of the successful representative attempts, in task order.
    pub fn winners(&self) -> impl Iterator<Item = usize> + '_ {
        self.representatives().flatten().filter(|&row| self.attempts.outcome(row) == Outcome::Succeeded)
    }

    /// Whether the driver of Spark denied the commit of an attempt before another attempt of its task had succeeded: then the
    /// task runs once more. Otherwise the attempt lost a race of copies, which is no failure.
    #[must_use]
    #[doc(hidden)]
    pub fn runs_again_after_denial(&self, row: usize) -> bool {
        let attempts = &self.attempts;
        if attempts.end_reason(row) != Some(EndReason::CommitDenied) {
            return false;
        }
        let winner = attempts.task(row).and_then(|task| self.tasks.representative(task));
        let won = winner.filter(|&winner| attempts.outcome(winner) == Outcome::Succeeded);
        let started = won.and_then(|winner| attempts.time(winner, TimePoint::Start));
        // The attempt that repeats the work starts after the denial.
        let is_repeated =
            |started| attempts.time(row, TimePoint::Finish).is_some_and(|denied| started >= denied);
        started.is_none_or(is_repeated)
    }

    /// The end times of the successful tasks, earliest first.
    #[must_use]
    #[doc(hidden)]
    pub fn sorted_ends(&self) -> Vec<Timestamp> {
        let ends = self.winners().filter_map(|row| self.attempts.time(row, TimePoint::Finish));
        let mut ends: Vec<Timestamp> = ends.collect();
        ends.sort_unstable();
        ends
    }

    /// Number of tasks with this outcome.
    #[must_use]
    pub fn count_tasks(&self, outcome: Outcome) -> u64 {
        self.tasks.count(outcome)
    }

    /// Bytes allocated, without what the allocator adds.
    #[must_use]
    #[doc(hidden)]
    pub fn held(&self) -> usize {
        self.tasks.held() + self.attempts.held()
    }

    /// Frees unused capacity.
    #[doc(hidden)]
    pub fn shrink(&mut self) {
        self.tasks.shrink();
        self.attempts.shrink();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::counters::Counter;

    #[test]
    fn unknown_cells_stay_unknown() {
        let mut group = TaskGroup::new(TaskKind::Map);
        let task = group.tasks.push(4);
        let first = group.attempts.push(0, 0);
        let second = group.attempts.push(0, 1);
        group.attempts.set_time(second, TimePoint::Start, Some(Timestamp::from_millis(100)));
        group.attempts.set_counter(second, Counter::HdfsBytesRead, Some(-5));
        assert_eq!(group.tasks.number(task), Some(4));
        assert_eq!(group.attempts.time(first, TimePoint::Start), None);
        assert_eq!(group.attempts.run_time(second), None);
        assert_eq!(group.attempts.counter(second, Counter::HdfsBytesRead), Some(-5));
        assert_eq!(group.attempts.bytes(second, Counter::HdfsBytesRead), None);
        assert_eq!(group.attempts.number(second), Some(1));
        assert_eq!(group.winners().count(), 0);
    }
}
