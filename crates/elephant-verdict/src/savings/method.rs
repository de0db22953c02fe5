//! How a saving was computed.

use std::fmt;

use elephant_base::state::State;

/// What a saving was computed from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, State)]
pub(crate) enum Source {
    Nothing,
    Replay,
    /// A replay of a cause for which no pairs of runs tell how far replays are off.
    UnvalidatedReplay,
    /// Skew holds up a part only together with its stragglers, so the replay has neither.
    ReplayWithoutStragglers,
    LosingCopies,
    Memory,
    IdleTime,
    WaitingTime,
    /// A replay without all work of an operator: a remedy leaves a part of it.
    Operator,
    DriverTime,
}

/// How a saving was computed. It reads as its name in reports.
#[derive(Debug, Clone, Copy, PartialEq, Eq, State)]
pub struct Method {
    pub(crate) source: Source,
    /// Whether it was shared in one order of the troubles, not in the mean of all orders.
    pub(crate) in_order: bool,
    /// Whether it needs the removal of other troubles.
    pub(crate) only_together: bool,
}

impl Method {
    pub(crate) const NONE: Self = Self { source: Source::Nothing, in_order: false, only_together: false };

    pub(crate) const fn source(self) -> Source {
        self.source
    }

    /// What else must be removed, in words that complete a sentence; `None` if nothing must.
    pub(super) const fn besides(self) -> Option<&'static str> {
        match self {
            Self { only_together: true, .. } => Some("but nothing without the other remedies"),
            Self { source: Source::ReplayWithoutStragglers, .. } => {
                Some("if its stragglers are removed, too")
            }
            _ => None,
        }
    }
}

impl fmt::Display for Method {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.source {
            Source::Nothing => "none",
            Source::Replay => "replay",
            Source::UnvalidatedReplay => "replay, unvalidated",
            Source::ReplayWithoutStragglers => "replay without skew and without stragglers",
            Source::LosingCopies => "measured time of losing copies; run time by replay",
            Source::Memory => "measured memory",
            Source::IdleTime => "measured idle time",
            Source::WaitingTime => "measured waiting time, at most",
            Source::Operator => "replay without the operator, at most",
            Source::DriverTime => "measured time of the driver, at most",
        })?;
        f.write_str(if self.in_order { ", shared in order" } else { "" })?;
        f.write_str(if self.only_together { ", only together with other troubles" } else { "" })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_else_must_be_removed_follows_from_the_method() {
        let of = |source, only_together| Method { source, only_together, in_order: true };
        let skew = of(Source::ReplayWithoutStragglers, false);
        assert_eq!(skew.to_string(), "replay without skew and without stragglers, shared in order");
        assert_eq!(skew.besides(), Some("if its stragglers are removed, too"));
        assert_eq!(of(Source::ReplayWithoutStragglers, true).besides(), of(Source::Memory, true).besides());
        assert_eq!(of(Source::Replay, false).besides(), None);
    }
}
