//! The points in the life of an attempt whose times logs contain.

/// A point in the life of an attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum TimePoint {
    /// The attempt was launched.
    Start,
    /// The attempt ended, whatever the outcome.
    Finish,
    /// A map's user code ended; what follows is the final sort and spill.
    MapFinish,
    /// A reduce had fetched all map outputs.
    ShuffleFinish,
    /// A reduce had merged all map outputs.
    SortFinish,
    /// The driver started to fetch a result that was too large to send with the task's end (Spark).
    GettingResult,
    /// The application master asked for the attempt, before a container was found for it (Tez).
    Created,
}

impl TimePoint {
    pub(super) const COUNT: usize = 7;
}
