//! The two ends of the range of a saving that a replay alone cannot determine.

use elephant_analysis::replay::{mapreduce, spark};

/// The end of the range that a replay computes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Bound {
    /// The least that may be saved.
    Least,
    /// The most.
    Most,
}

/// Whether the two ends of the range differ for this cause.
pub(super) const fn is_range(cause: &spark::Cause) -> bool {
    use spark::Cause;
    matches!(
        cause,
        Cause::Collections(..)
            | Cause::Spill(_)
            | Cause::FetchWait(_)
            | Cause::Work(..)
            | Cause::Partitions(_)
            | Cause::Copies
    )
}

/// The cause as it is replayed for one end of its range; `None` if that end is no change.
pub(super) fn at_bound(cause: &spark::Cause, bound: Bound) -> Option<spark::Cause> {
    use spark::{Cause, Overhead, Partitions};
    match (cause, bound) {
        (Cause::Collections(..) | Cause::Spill(_) | Cause::FetchWait(_) | Cause::Work(..), Bound::Least) => {
            None
        }
        (Cause::Copies, Bound::Least) => Some(Cause::LosingCopies),
        (Cause::Partitions(partitions), bound) => {
            let overhead = match bound {
                Bound::Least => Overhead::Least,
                Bound::Most => Overhead::Most,
            };
            Some(Cause::Partitions(Partitions { overhead, ..*partitions }))
        }
        (cause, _) => Some(cause.clone()),
    }
}

/// Whether the two ends of the range differ for this cause.
pub(super) const fn is_range_of_job(cause: mapreduce::Cause) -> bool {
    use mapreduce::Cause;
    matches!(
        cause,
        Cause::Collections(..)
            | Cause::Spill(_)
            | Cause::Tasks(..)
            | Cause::SplitSize(..)
            | Cause::Speculation(_)
    )
}

/// The cause as it is replayed for one end of its range; `None` if that end is no change.
pub(super) const fn at_bound_of_job(cause: mapreduce::Cause, bound: Bound) -> Option<mapreduce::Cause> {
    use mapreduce::{Cause, StartUp};
    let start_up = match bound {
        Bound::Least => StartUp::Container,
        Bound::Most => StartUp::Intercept,
    };
    match (cause, bound) {
        (Cause::Collections(..) | Cause::Spill(_), Bound::Least) => None,
        (Cause::Speculation(kind), Bound::Least) => Some(Cause::LosingCopies(kind)),
        (Cause::Tasks(kind, count, _), _) => Some(Cause::Tasks(kind, count, start_up)),
        (Cause::SplitSize(size, _), _) => Some(Cause::SplitSize(size, start_up)),
        (cause, _) => Some(cause),
    }
}
