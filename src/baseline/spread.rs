//! What runs of a job may cost by the runs before.
//!
//! From [`ENOUGH_RUNS`] runs on, the limit is their median plus three scaled median absolute deviations (MAD × 1.4826,
//! which estimates the standard deviation of normal values), after Leys et al., "Detecting outliers: Do not use standard
//! deviation around the mean, use absolute deviation around the median" (2013): neither is moved by a few bad
//! nights. Because a MAD may be 0, the margin is at least a quarter of the default tolerance; a tolerance that the user
//! gave is a promise, so the margin is at least the whole of it. With fewer runs a MAD says little, so the limit is the
//! median plus the tolerance, and what was accepted before stays accepted. A difference below the metric's floor never
//! counts.

use std::collections::BTreeMap;

use crate::results::{Metric, Range};
use crate::stats::descriptive::median;

/// From so many runs on their spread is trusted.
pub const ENOUGH_RUNS: usize = 5;
/// How many scaled deviations a run may lie from the median.
const DEVIATIONS: f64 = 3.0;
/// The standard deviation of normal values in median absolute deviations.
const MAD_SCALE: f64 = 1.4826;
/// The part of the default tolerance that counts as noise however alike the runs were.
const NOISE: f64 = 0.25;
/// The tolerance unless the user gives one.
const TOLERANCE: f64 = 0.2;

/// How much more than before is accepted, as a share.
#[derive(Debug, Clone, PartialEq)]
pub struct Tolerance {
    /// For every metric that has none of its own, and for key measures of findings; `None` where the user gave none.
    pub general: Option<f64>,
    /// For single metrics, as the user gave them.
    pub of: BTreeMap<Metric, f64>,
    /// Whether costs are compared at all.
    pub metrics: bool,
}

impl Default for Tolerance {
    fn default() -> Self {
        Self { general: None, of: BTreeMap::new(), metrics: true }
    }
}

impl Tolerance {
    /// That of key measures of findings, a share.
    #[must_use]
    pub fn of_measures(&self) -> f64 {
        self.general.unwrap_or(TOLERANCE)
    }

    /// That of one metric.
    #[must_use]
    pub fn of(&self, metric: Metric) -> Allowance {
        let given = self.of.get(&metric).copied().or(self.general);
        given.map_or(Allowance::DEFAULT, Allowance::given)
    }
}

/// How far above the median of the accepted runs a metric may be, as shares of it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Allowance {
    /// While the accepted runs are few.
    few_runs: f64,
    /// At least, where their spread is trusted.
    at_least: f64,
}

impl Allowance {
    /// That where the user gave none.
    pub const DEFAULT: Self = Self { few_runs: TOLERANCE, at_least: TOLERANCE * NOISE };

    /// This share, however many runs there are.
    #[must_use]
    pub const fn given(share: f64) -> Self {
        Self { few_runs: share, at_least: share }
    }
}

/// The range by the values of accepted runs; `None` without any. `floor` is the least difference that counts.
#[must_use]
pub fn range(values: &[f64], allowance: Allowance, floor: f64) -> Option<Range> {
    let middle = median(values)?;
    let deviations: Vec<f64> = values.iter().map(|value| (value - middle).abs()).collect();
    if values.len() < ENOUGH_RUNS {
        let margin = (middle * allowance.few_runs).max(floor);
        let low = values.iter().copied().fold(middle - margin, f64::min).max(0.0);
        let high = values.iter().copied().fold(middle + margin, f64::max);
        return Some(Range { runs: values.len(), median: middle, low, high, by_spread: false });
    }
    let spread = DEVIATIONS * MAD_SCALE * median(&deviations)?;
    let least = (middle * allowance.at_least).max(floor);
    let margin = spread.max(least);
    // A quarter of the default only stands in for a spread of 0; a whole tolerance is what the reader is told.
    let by_spread = spread >= least || allowance == Allowance::DEFAULT;
    let (low, high) = ((middle - margin).max(0.0), middle + margin);
    Some(Range { runs: values.len(), median: middle, low, high, by_spread })
}

#[cfg(test)]
#[allow(clippy::float_cmp)] // the values are exact
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn one_run_allows_the_tolerance() {
        let range = range(&[100.0], Allowance::DEFAULT, 1.0).unwrap();
        assert_eq!((range.low, range.high, range.by_spread), (80.0, 120.0, false));
        assert_eq!(super::range(&[], Allowance::DEFAULT, 1.0), None);
    }

    #[test]
    fn small_values_have_a_floor() {
        let range = range(&[2.0], Allowance::DEFAULT, 10.0).unwrap();
        assert_eq!((range.low, range.high), (0.0, 12.0));
    }

    #[test]
    fn what_was_accepted_stays_accepted_while_runs_are_few() {
        let range = range(&[100.0, 100.0, 300.0], Allowance::DEFAULT, 1.0).unwrap();
        assert_eq!((range.low, range.high), (80.0, 300.0));
    }

    #[test]
    fn many_runs_tell_their_own_spread() {
        // Median 100, deviations 10 0 10 20 200, their median 10: 3 × 1.4826 × 10.
        let range = range(&[90.0, 100.0, 110.0, 120.0, 300.0, 80.0, 100.0], Allowance::DEFAULT, 1.0).unwrap();
        assert!(range.by_spread);
        assert_eq!(range.median, 100.0);
        assert!((range.high - (100.0 + 3.0 * 1.4826 * 10.0)).abs() < 1e-9, "{range:?}");
        let alike = super::range(&[100.0; 8], Allowance::DEFAULT, 1.0).unwrap();
        assert_eq!((alike.low, alike.high), (95.0, 105.0));
    }

    #[test]
    fn a_given_tolerance_holds_for_any_number_of_runs() {
        let half = Tolerance { general: Some(0.1), of: [(Metric::Runtime, 0.5)].into(), metrics: true };
        for runs in [1, 4, 5, 10] {
            let range = range(&vec![100.0; runs], half.of(Metric::Runtime), 1.0).unwrap();
            assert_eq!((range.low, range.high, range.by_spread), (50.0, 150.0, false), "of {runs} runs");
            let other = super::range(&vec![100.0; runs], half.of(Metric::Used), 1.0).unwrap();
            assert_eq!(other.high, 110.0);
        }
        // Where the runs differ by more than that, their spread still is the limit.
        let wide = range(&[60.0, 80.0, 100.0, 120.0, 140.0], Allowance::given(0.5), 1.0).unwrap();
        assert!(wide.by_spread && wide.high > 180.0, "{wide:?}");
    }

    #[test]
    fn a_given_tolerance_is_another_than_the_default_of_the_same_size() {
        let given = Tolerance { general: Some(TOLERANCE), ..Tolerance::default() };
        assert_ne!(given, Tolerance::default());
        assert_eq!(given.of_measures(), Tolerance::default().of_measures());
        let high =
            |tolerance: &Tolerance| range(&[100.0; 8], tolerance.of(Metric::Runtime), 1.0).unwrap().high;
        assert_eq!((high(&given), high(&Tolerance::default())), (120.0, 105.0));
        let none = Tolerance { general: Some(0.0), ..Tolerance::default() };
        assert_eq!(high(&none), 101.0);
    }

    #[test]
    fn more_input_may_cost_more_and_less_input_may_not() {
        let range = range(&[100.0], Allowance::DEFAULT, 1.0).unwrap();
        assert_eq!(range.with_input(2.0).high, 240.0);
        assert_eq!(range.with_input(0.5), range);
    }

    proptest! {
        #[test]
        fn the_median_is_always_within(values in prop::collection::vec(0.0f64..1e12, 1..20), tolerance in 0.0f64..2.0) {
            let range = range(&values, Allowance::given(tolerance), 0.5).unwrap();
            prop_assert!(range.low <= range.median && range.median <= range.high);
            prop_assert!(range.low >= 0.0 && range.high.is_finite());
        }
    }
}
