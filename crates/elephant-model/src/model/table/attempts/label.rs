//! Small facts about attempts.

/// A small fact about an attempt; each has a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Label {
    Number,
    Node,
    Rack,
    Locality,
    Speculative,
    Executor,
    Id,
    Reason,
}

impl Label {
    pub(super) const COUNT: usize = 8;
}
