//! What runs of a job may cost by the runs before.
//!
//! From [`ENOUGH_RUNS`] runs on, the limit is their median plus three scaled median absolute deviations (MAD × 1.4826,
//! which estimates the standard deviation of normal values), after Leys et al., "Detecting outliers: Do not use standard
//! deviation around the mean, use absolute deviation around the median" (2013): neither is moved by a few bad
//! nights. Because a MAD may be 0, the margin is at least a quarter of the tolerance. With fewer runs a MAD says little,
//! so the limit is the median plus the tolerance, and what was accepted before stays accepted. A difference below the
//! metric's floor never counts.

use std::collections::BTreeMap;

use super::metric::Metric;
use crate::stats::descriptive::median;

/// From so many runs on their spread is trusted.
pub const ENOUGH_RUNS: usize = 5;
/// How many scaled deviations a run may lie from the median.
const DEVIATIONS: f64 = 3.0;
/// The standard deviation of normal values in median absolute deviations.
const MAD_SCALE: f64 = 1.4826;
/// The part of the tolerance that counts as noise however alike the runs were.
const NOISE: f64 = 0.25;
/// The tolerance unless the user gives one.
const TOLERANCE: f64 = 0.2;

/// How much more than before is accepted, as a share.
#[derive(Debug, Clone, PartialEq)]
pub struct Tolerance {
    /// For every metric that has none of its own, and for key measures of findings.
    pub general: f64,
    /// For single metrics.
    pub of: BTreeMap<Metric, f64>,
    /// Whether costs are compared at all.
    pub metrics: bool,
}

impl Default for Tolerance {
    fn default() -> Self {
        Self { general: TOLERANCE, of: BTreeMap::new(), metrics: true }
    }
}

impl Tolerance {
    /// That of one metric.
    #[must_use]
    pub fn of(&self, metric: Metric) -> f64 {
        self.of.get(&metric).copied().unwrap_or(self.general)
    }
}

/// What a metric may be by the accepted runs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Range {
    /// How many runs tell it.
    pub runs: usize,
    /// Their median.
    pub median: f64,
    /// Below this it has improved.
    pub low: f64,
    /// Above this it has regressed.
    pub high: f64,
    /// Whether the spread of the runs set the limits, not the tolerance.
    pub by_spread: bool,
}

/// The range by the values of accepted runs; `None` without any. `floor` is the least difference that counts, `tolerance` a share.
#[must_use]
pub fn range(values: &[f64], tolerance: f64, floor: f64) -> Option<Range> {
    let middle = median(values)?;
    let deviations: Vec<f64> = values.iter().map(|value| (value - middle).abs()).collect();
    let by_spread = values.len() >= ENOUGH_RUNS;
    let (low, high) = if by_spread {
        let spread = DEVIATIONS * MAD_SCALE * median(&deviations)?;
        let margin = spread.max(middle * tolerance * NOISE).max(floor);
        (middle - margin, middle + margin)
    } else {
        let margin = (middle * tolerance).max(floor);
        let least = values.iter().copied().fold(middle - margin, f64::min);
        let most = values.iter().copied().fold(middle + margin, f64::max);
        (least, most)
    };
    Some(Range { runs: values.len(), median: middle, low: low.max(0.0), high, by_spread })
}

impl Range {
    /// The range for a run that read `growth` times the input of the runs before: more input may cost as much more.
    #[must_use]
    pub fn with_input(self, growth: f64) -> Self {
        if growth > 1.0 { Self { high: self.high * growth, ..self } } else { self }
    }
}

#[cfg(test)]
#[allow(clippy::float_cmp)] // the values are exact
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn one_run_allows_the_tolerance() {
        let range = range(&[100.0], 0.2, 1.0).unwrap();
        assert_eq!((range.low, range.high, range.by_spread), (80.0, 120.0, false));
        assert_eq!(super::range(&[], 0.2, 1.0), None);
    }

    #[test]
    fn small_values_have_a_floor() {
        let range = range(&[2.0], 0.2, 10.0).unwrap();
        assert_eq!((range.low, range.high), (0.0, 12.0));
    }

    #[test]
    fn what_was_accepted_stays_accepted_while_runs_are_few() {
        let range = range(&[100.0, 100.0, 300.0], 0.2, 1.0).unwrap();
        assert_eq!((range.low, range.high), (80.0, 300.0));
    }

    #[test]
    fn many_runs_tell_their_own_spread() {
        // Median 100, deviations 10 0 10 20 200, their median 10: 3 × 1.4826 × 10.
        let range = range(&[90.0, 100.0, 110.0, 120.0, 300.0, 80.0, 100.0], 0.2, 1.0).unwrap();
        assert!(range.by_spread);
        assert_eq!(range.median, 100.0);
        assert!((range.high - (100.0 + 3.0 * 1.4826 * 10.0)).abs() < 1e-9, "{range:?}");
        let alike = super::range(&[100.0; 8], 0.2, 1.0).unwrap();
        assert_eq!((alike.low, alike.high), (95.0, 105.0));
    }

    #[test]
    fn more_input_may_cost_more_and_less_input_may_not() {
        let range = range(&[100.0], 0.2, 1.0).unwrap();
        assert_eq!(range.with_input(2.0).high, 240.0);
        assert_eq!(range.with_input(0.5), range);
    }

    proptest! {
        #[test]
        fn the_median_is_always_within(values in prop::collection::vec(0.0f64..1e12, 1..20), tolerance in 0.0f64..2.0) {
            let range = range(&values, tolerance, 0.5).unwrap();
            prop_assert!(range.low <= range.median && range.median <= range.high);
            prop_assert!(range.low >= 0.0 && range.high.is_finite());
        }
    }
}
