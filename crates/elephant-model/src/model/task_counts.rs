//! How many tasks and attempts there were, and how they ended.

use super::table::{Outcome, TaskGroup};

use elephant_base::state::State;

/// Counts for one kind of tasks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, State)]
#[non_exhaustive]
pub struct TaskCounts {
    /// Tasks.
    pub total: u64,
    /// Tasks that succeeded.
    pub succeeded: u64,
    /// Tasks that failed.
    pub failed: u64,
    /// Tasks that were killed.
    pub killed: u64,
    /// Attempts, finished or not.
    pub attempts: u64,
    /// Attempts launched while another attempt of the same task was running.
    pub speculative_attempts: u64,
}

#[doc(hidden)]
impl TaskCounts {
    /// The counts of one group.
    #[must_use]
    pub fn of(group: &TaskGroup) -> Self {
        let attempts = group.attempts.len();
        Self {
            total: group.tasks.len() as u64,
            succeeded: group.count_tasks(Outcome::Succeeded),
            failed: group.count_tasks(Outcome::Failed),
            killed: group.count_tasks(Outcome::Killed),
            attempts: attempts as u64,
            speculative_attempts: (0..attempts)
                .filter(|&row| group.attempts.is_speculative(row) == Some(true))
                .count() as u64,
        }
    }

    /// The sums of two counts.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        Self {
            total: self.total + other.total,
            succeeded: self.succeeded + other.succeeded,
            failed: self.failed + other.failed,
            killed: self.killed + other.killed,
            attempts: self.attempts + other.attempts,
            speculative_attempts: self.speculative_attempts + other.speculative_attempts,
        }
    }
}
