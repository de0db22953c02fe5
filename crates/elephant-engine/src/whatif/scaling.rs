//! Run time and cost by the number of executors, cores or tasks.

use std::collections::BTreeSet;

use elephant_analysis::replay::MAX_TASKS;
use elephant_verdict::savings::{Amounts, Prediction};

/// What is varied.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Resource {
    /// Executors (Spark).
    Executors,
    /// Cores of each executor, which in local mode is the driver (Spark).
    Cores,
    /// Reduce tasks (MapReduce).
    Reduces,
    /// Map tasks that run at once, for jobs without reduces (MapReduce).
    MapsAtOnce,
}

#[doc(hidden)]
impl Resource {
    /// The name in reports.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Executors => "executors",
            Self::Cores => "executor_cores",
            Self::Reduces => "reducers",
            Self::MapsAtOnce => "maps_at_once",
        }
    }
}

/// How an application scales: replays with fixed numbers of one resource.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Scaling {
    /// What is varied.
    pub resource: Resource,
    /// The recorded number.
    pub now: u32,
    /// The number that the requested change has.
    pub proposed: Option<u32>,
    /// The replays, by number.
    pub points: Vec<ScalingPoint>,
}

/// What the application would take with one number.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct ScalingPoint {
    /// The number.
    pub count: u32,
    /// What it would take.
    pub takes: Amounts,
}

/// Quarters of the recorded number that are replayed.
const QUARTERS: [u32; 7] = [1, 2, 3, 4, 6, 8, 16];

impl Scaling {
    /// Replays with a quarter to four times the recorded number, and with the proposed one; `None` if fewer than two of
    /// them can be predicted.
    pub(super) fn of<E>(
        resource: Resource,
        now: u32,
        proposed: Option<u32>,
        predict: impl Fn(u32) -> Result<Prediction, E>,
    ) -> Option<Self> {
        let point = |count: u32| predict(count).ok().map(|it| ScalingPoint { count, takes: it.takes });
        let points: Vec<ScalingPoint> = counts(now, proposed).into_iter().filter_map(point).collect();
        (points.len() > 1).then_some(Self { resource, now, proposed, points })
    }
}

fn counts(now: u32, proposed: Option<u32>) -> BTreeSet<u32> {
    let scaled = QUARTERS.iter().map(|quarters| now.saturating_mul(*quarters).div_ceil(4));
    scaled.chain(proposed).filter(|count| (1..=MAX_TASKS).contains(count)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_whole_and_each_is_replayed_once() {
        assert_eq!(Vec::from_iter(counts(8, Some(20))), [2, 4, 6, 8, 12, 16, 20, 32]);
        assert_eq!(Vec::from_iter(counts(1, None)), [1, 2, 4]);
        assert!(counts(0, None).is_empty());
        assert!(counts(u32::MAX, None).is_empty());
    }
}
