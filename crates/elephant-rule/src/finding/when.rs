//! Conditions of advice.

use elephant_base::state::State;

/// When advice holds that does not hold anyway.
#[derive(Debug, Clone, Copy, PartialEq, Eq, State)]
#[non_exhaustive]
pub enum When {
    /// After a failure, once the application succeeds.
    RunSucceeds,
    /// If run time matters more than the memory that the change takes.
    TimeMatters,
    /// If run time matters more than the memory of executors that other advice would release.
    ExecutorsStay,
    /// If memory matters more than the run time that other advice would save.
    MemoryMatters,
    /// If failures that were rare become common.
    FailsAgain,
    /// If tasks spend much of their time on starting up.
    StartUpsMatter,
}

impl When {
    /// The words before the advice.
    pub(super) const fn words(self) -> &'static str {
        match self {
            Self::RunSucceeds => "once it succeeds, ",
            Self::TimeMatters => "if run time matters more than memory, ",
            Self::ExecutorsStay => "if run time matters more than memory, keep the executors and ",
            Self::MemoryMatters => "if memory matters more than run time, instead ",
            Self::FailsAgain => "if tasks fail so again and again, ",
            Self::StartUpsMatter => "if starting up takes much of their time, ",
        }
    }
}
