//! What was lost on a host: executors, and other failures that logs blame on it.

use std::ops::AddAssign;

use elephant_base::state::State;

/// Counts of one host.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, State)]
#[non_exhaustive]
pub struct Losses {
    /// Spark executors that were lost, not because of memory and not on purpose.
    pub executors: u64,
    /// Other failures: tasks that stopped reporting, a lost node, failed disks, data that could not be fetched from it.
    pub failures: u64,
}

#[doc(hidden)]
impl Losses {
    /// Whether nothing was lost.
    #[must_use]
    pub const fn is_none(self) -> bool {
        self.executors == 0 && self.failures == 0
    }
}

impl AddAssign for Losses {
    fn add_assign(&mut self, other: Self) {
        self.executors += other.executors;
        self.failures += other.failures;
    }
}
