//! The allowed range of a job's costs, from earlier runs.
//!
//! From [`ENOUGH_RUNS`] runs on, the limit is their median plus three scaled median absolute deviations
//! (MAD × 1.4826, which estimates the standard deviation of normal values), after Leys et al., "Detecting
//! outliers: Do not use standard deviation around the mean, use absolute deviation around the median"
//! (2013). A few bad nights move neither of them. Because a MAD may be 0, the margin is at least a quarter
//! of the default tolerance. If the user gave a tolerance, the margin is at least that tolerance. With
//! fewer runs a MAD says little, so the limit is the median plus the tolerance, and accepted values stay
//! accepted. A difference below the metric's floor does not count, unless the user gave a tolerance of 0.

use std::collections::BTreeMap;

use crate::results::{Floors, LimitBasis, Metric, Range};
use elephant_base::stats::descriptive::median;
use elephant_base::units::Millis;

/// With at least this many runs, their spread sets the limit.
pub(super) const ENOUGH_RUNS: usize = 5;
/// How many scaled deviations a run may lie from the median.
const DEVIATIONS: f64 = 3.0;
/// The standard deviation of normal values, as a multiple of the median absolute deviation.
const MAD_SCALE: f64 = 1.4826;
/// The part of the default tolerance that counts as noise even if all runs were alike.
const NOISE: f64 = 0.25;

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
    /// The tolerance if the user gave none.
    pub usual: f64,
    /// The smallest differences of costs that count.
    pub floors: Floors,
}

/// The values of `rules/gate.yaml`.
impl Default for Tolerance {
    fn default() -> Self {
        let floors = Floors {
            run_time: Millis::from_secs(10),
            memory_gb_hours: 0.02,
            task_time: Millis::from_secs(30),
            failed_attempts: 1.0,
        };
        Self { general: None, of: BTreeMap::new(), metrics: true, usual: 0.2, floors }
    }
}

impl Tolerance {
    /// The tolerance for key measures of findings, a share.
    #[must_use]
    pub(crate) fn of_measures(&self) -> f64 {
        self.general.unwrap_or(self.usual)
    }

    /// The tolerance for one metric.
    #[must_use]
    pub(crate) fn of(&self, metric: Metric) -> Allowance {
        let floor = self.floors.of(metric);
        match self.of.get(&metric).copied().or(self.general) {
            None => Allowance { few_runs: self.usual, at_least: self.usual * NOISE, floor, is_given: false },
            Some(share) => {
                // A tolerance of 0 is meant to show small differences, too.
                let floor = if share > 0.0 { floor } else { 0.0 };
                Allowance { few_runs: share, at_least: share, floor, is_given: true }
            }
        }
    }
}

/// How far a metric may exceed the median of the accepted runs, as shares of the median.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Allowance {
    /// With few accepted runs.
    few_runs: f64,
    /// The minimum margin when the spread sets the limit.
    at_least: f64,
    /// The smallest difference that counts, in the unit of the metric.
    floor: f64,
    /// Whether the user gave the tolerance.
    is_given: bool,
}

/// The range that follows from accepted runs; `None` without any.
#[must_use]
pub(super) fn range(values: &[f64], allowance: Allowance) -> Option<Range> {
    let middle = median(values)?;
    let Allowance { few_runs, at_least, floor, is_given } = allowance;
    let runs = values.len();
    if runs < ENOUGH_RUNS {
        let margin = (middle * few_runs).max(floor);
        let basis = if floor > middle * few_runs { LimitBasis::Floor } else { LimitBasis::Tolerance };
        let low = values.iter().copied().fold(middle - margin, f64::min).max(0.0);
        let high = values.iter().copied().fold(middle + margin, f64::max);
        return Some(Range { runs, median: middle, low, high, basis, floor });
    }
    let deviations: Vec<f64> = values.iter().map(|value| (value - middle).abs()).collect();
    let spread = DEVIATIONS * MAD_SCALE * median(&deviations)?;
    let least = middle * at_least;
    let basis = if floor > spread.max(least) {
        LimitBasis::Floor
    } else if spread >= least || !is_given {
        // The minimum of the default tolerance only replaces a spread of 0.
        LimitBasis::Spread
    } else {
        LimitBasis::Tolerance
    };
    let margin = spread.max(least).max(floor);
    let (low, high) = ((middle - margin).max(0.0), middle + margin);
    Some(Range { runs, median: middle, low, high, basis, floor })
}

#[cfg(test)]
#[allow(clippy::float_cmp)] // the values are exact
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The default tolerance with this floor.
    fn usual(floor: f64) -> Allowance {
        Allowance { floor, ..Tolerance::default().of(Metric::Runtime) }
    }

    /// A tolerance that the user gave, with this floor.
    fn given(share: f64, floor: f64) -> Allowance {
        let tolerance = Tolerance { general: Some(share), ..Tolerance::default() };
        Allowance { floor, ..tolerance.of(Metric::Runtime) }
    }

    #[test]
    fn one_run_allows_the_tolerance() {
        let range = range(&[100.0], usual(1.0)).unwrap();
        assert_eq!((range.low, range.high, range.basis), (80.0, 120.0, LimitBasis::Tolerance));
        assert_eq!(super::range(&[], usual(1.0)), None);
    }

    #[test]
    fn small_values_have_a_floor() {
        let range = range(&[2.0], usual(10.0)).unwrap();
        assert_eq!((range.low, range.high, range.basis), (0.0, 12.0, LimitBasis::Floor));
    }

    #[test]
    fn what_was_accepted_stays_accepted_while_runs_are_few() {
        let range = range(&[100.0, 100.0, 300.0], usual(1.0)).unwrap();
        assert_eq!((range.low, range.high), (80.0, 300.0));
    }

    #[test]
    fn many_runs_set_the_limit_by_their_spread() {
        // Median 100, deviations 10 0 10 20 200, their median 10: 3 × 1.4826 × 10.
        let range = range(&[90.0, 100.0, 110.0, 120.0, 300.0, 80.0, 100.0], usual(1.0)).unwrap();
        assert_eq!(range.basis, LimitBasis::Spread);
        assert_eq!(range.median, 100.0);
        assert!((range.high - (100.0 + 3.0 * 1.4826 * 10.0)).abs() < 1e-9, "{range:?}");
        let alike = super::range(&[100.0; 8], usual(1.0)).unwrap();
        assert_eq!((alike.low, alike.high), (95.0, 105.0));
    }

    #[test]
    fn a_given_tolerance_holds_for_any_number_of_runs() {
        let half =
            Tolerance { general: Some(0.1), of: [(Metric::Runtime, 0.5)].into(), ..Tolerance::default() };
        let of = |metric| Allowance { floor: 1.0, ..half.of(metric) };
        for runs in [1, 4, 5, 10] {
            let range = range(&vec![100.0; runs], of(Metric::Runtime)).unwrap();
            assert_eq!(
                (range.low, range.high, range.basis),
                (50.0, 150.0, LimitBasis::Tolerance),
                "of {runs} runs"
            );
            let other = super::range(&vec![100.0; runs], of(Metric::Used)).unwrap();
            assert_eq!(other.high, 110.0);
        }
        // If the runs differ by more than that, their spread is still the limit.
        let wide = range(&[60.0, 80.0, 100.0, 120.0, 140.0], given(0.5, 1.0)).unwrap();
        assert!(wide.basis == LimitBasis::Spread && wide.high > 180.0, "{wide:?}");
    }

    #[test]
    fn a_given_tolerance_differs_from_an_equal_default() {
        assert_eq!(given(0.2, 1.0).few_runs, usual(1.0).few_runs);
        let high = |allowance| range(&[100.0; 8], allowance).unwrap().high;
        assert_eq!((high(given(0.2, 1.0)), high(usual(1.0))), (120.0, 105.0));
    }

    #[test]
    fn a_tolerance_of_0_allows_no_difference() {
        let nothing = Tolerance { general: Some(0.0), ..Tolerance::default() };
        for metric in Metric::ALL {
            assert_eq!(range(&[100.0], nothing.of(metric)).unwrap().high, 100.0);
            assert_eq!(range(&[100.0; 8], nothing.of(metric)).unwrap().high, 100.0);
        }
        // Accepted runs stay accepted.
        assert_eq!(range(&[100.0, 130.0], nothing.of(Metric::Runtime)).unwrap().high, 130.0);
    }

    #[test]
    fn more_input_raises_the_limit_and_less_input_does_not_lower_it() {
        let range = range(&[100.0], usual(1.0)).unwrap();
        assert_eq!(range.grown(2.0).high, 240.0);
        assert_eq!(range.grown(0.5), range);
    }

    proptest! {
        #[test]
        fn the_median_is_always_in_range(values in prop::collection::vec(0.0f64..1e12, 1..20), tolerance in 0.0f64..2.0) {
            let range = range(&values, given(tolerance, 0.5)).unwrap();
            prop_assert!(range.low <= range.median && range.median <= range.high);
            prop_assert!(range.low >= 0.0 && range.high.is_finite());
        }
    }
}
