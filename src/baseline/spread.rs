//! The allowed range of a job's costs, from earlier runs.
//!
//! From [`ENOUGH_RUNS`] runs on, the limit is their median plus three scaled median absolute deviations
//! (MAD × 1.4826, which estimates the standard deviation of normal values), after Leys et al., "Detecting
//! outliers: Do not use standard deviation around the mean, use absolute deviation around the median"
//! (2013). A few bad nights move neither of them. Because a MAD may be 0, the margin is at least a quarter
//! of the default tolerance. If the user gave a tolerance, the margin is at least that tolerance. With
//! fewer runs a MAD says little, so the limit is the median plus the tolerance, and accepted values stay
//! accepted. A difference below the metric's floor never counts.

use std::collections::BTreeMap;

use crate::results::{Metric, Range};
use crate::stats::descriptive::median;

/// With at least this many runs, their spread sets the limit.
pub(super) const ENOUGH_RUNS: usize = 5;
/// How many scaled deviations a run may lie from the median.
const DEVIATIONS: f64 = 3.0;
/// The standard deviation of normal values, as a multiple of the median absolute deviation.
const MAD_SCALE: f64 = 1.4826;
/// The part of the default tolerance that counts as noise even if all runs were alike.
const NOISE: f64 = 0.25;
/// The default tolerance.
const TOLERANCE: f64 = 0.2;

/// The allowed increase, as a share of the accepted value.
#[derive(Debug, Clone, PartialEq)]
pub struct Tolerance {
    /// For every metric without its own tolerance, and for key measures of findings; `None` if the user
    /// gave none.
    pub general: Option<f64>,
    /// For single metrics, if the user gave them.
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
    /// The tolerance for key measures of findings, a share.
    #[must_use]
    pub fn of_measures(&self) -> f64 {
        self.general.unwrap_or(TOLERANCE)
    }

    /// The tolerance for one metric.
    #[must_use]
    pub(crate) fn of(&self, metric: Metric) -> Allowance {
        let given = self.of.get(&metric).copied().or(self.general);
        given.map_or(Allowance::DEFAULT, Allowance::given)
    }
}

/// How far a metric may exceed the median of the accepted runs, as shares of the median.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Allowance {
    /// With few accepted runs.
    few_runs: f64,
    /// The minimum margin when the spread sets the limit.
    at_least: f64,
}

impl Allowance {
    /// The allowance if the user gave none.
    pub const DEFAULT: Self = Self { few_runs: TOLERANCE, at_least: TOLERANCE * NOISE };

    /// This share, for any number of runs.
    #[must_use]
    pub(crate) const fn given(share: f64) -> Self {
        Self { few_runs: share, at_least: share }
    }
}

/// The range that follows from accepted runs; `None` without any. `floor` is the smallest difference that
/// counts.
#[must_use]
pub(super) fn range(values: &[f64], allowance: Allowance, floor: f64) -> Option<Range> {
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
    // The minimum of the default allowance only replaces a spread of 0. A user's tolerance is reported as
    // the limit.
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
    fn many_runs_set_the_limit_by_their_spread() {
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
        // If the runs differ by more than that, their spread is still the limit.
        let wide = range(&[60.0, 80.0, 100.0, 120.0, 140.0], Allowance::given(0.5), 1.0).unwrap();
        assert!(wide.by_spread && wide.high > 180.0, "{wide:?}");
    }

    #[test]
    fn a_given_tolerance_differs_from_an_equal_default() {
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
    fn more_input_raises_the_limit_and_less_input_does_not_lower_it() {
        let range = range(&[100.0], Allowance::DEFAULT, 1.0).unwrap();
        assert_eq!(range.with_input(2.0).high, 240.0);
        assert_eq!(range.with_input(0.5), range);
    }

    proptest! {
        #[test]
        fn the_median_is_always_in_range(values in prop::collection::vec(0.0f64..1e12, 1..20), tolerance in 0.0f64..2.0) {
            let range = range(&values, Allowance::given(tolerance), 0.5).unwrap();
            prop_assert!(range.low <= range.median && range.median <= range.high);
            prop_assert!(range.low >= 0.0 && range.high.is_finite());
        }
    }
}
