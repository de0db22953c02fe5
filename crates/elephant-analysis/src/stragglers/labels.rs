//! Labels executions as stragglers: by a multiple of the group's mean or median, or by the DoS-index, which relates time to
//! input. [`usual`](super::usual) compares a task with its usual time.

use crate::stragglers::executions::{Certainty, Execution, Executions};
use elephant_base::state::State;
use elephant_base::stats::descriptive::{mean, median};

/// Groups with fewer tasks have no stragglers.
pub const MIN_TASKS: usize = 2;
/// S2 reports stragglers from this DoS-index.
pub const DOS_REPORT: f64 = 2.5;
/// S2 diagnoses stragglers from this DoS-index.
pub const DOS_DIAGNOSE: f64 = 10.0;

/// The value that durations are compared with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reference {
    /// The mean of the group (S1, S2).
    Mean,
    /// The median of the group (S2 argues for it: stragglers do not move it).
    Median,
}

impl Reference {
    /// Its value for these durations; `None` if there are none.
    #[must_use]
    pub fn of(self, durations: &[f64]) -> Option<f64> {
        match self {
            Self::Mean => mean(durations),
            Self::Median => median(durations),
        }
    }
}

/// Whether a duration equal to the limit makes a straggler.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Edge {
    /// `>`: only above the limit.
    Above,
    /// `>=`: from the limit on.
    From,
}

impl Edge {
    /// Whether `value` has passed `limit`.
    #[must_use]
    pub(crate) fn passed(self, value: f64, limit: f64) -> bool {
        match self {
            Self::Above => value > limit,
            Self::From => value >= limit,
        }
    }
}

/// A multiple of a time in seconds, to the microsecond. Durations are whole milliseconds and the factors have few decimals,
/// but neither have an exact binary fraction: 1.5 × 0.006 is more than 0.009.
#[must_use]
pub fn multiple(factor: f64, seconds: f64) -> f64 {
    const MICROS: f64 = 1e6;
    (factor * seconds * MICROS).round() / MICROS
}

/// The lower edge of rounding around `limit`, for times per input, which are not whole numbers: a value below
/// the result is below the limit. A value from the result up to `limit` equals the limit except for rounding.
#[must_use]
pub(crate) fn just_below(limit: f64) -> f64 {
    const ROUNDING: f64 = 1e-12;
    limit * (1.0 - ROUNDING)
}

/// A rule that labels stragglers by duration: `duration edge factor × reference`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Labelling {
    /// The reference.
    pub reference: Reference,
    /// The factor.
    pub factor: f64,
    /// How to treat durations equal to the limit.
    pub edge: Edge,
    /// Groups with fewer tasks have no stragglers.
    pub min_tasks: usize,
}

impl Labelling {
    /// At least 150 % of the median (S2 §4).
    pub const MEDIAN: Self =
        Self { reference: Reference::Median, factor: 1.5, edge: Edge::From, min_tasks: MIN_TASKS };
    /// At least 150 % of the mean (S2 §4).
    pub const MEAN: Self = Self { reference: Reference::Mean, ..Self::MEDIAN };

    /// The reference and the limit for these durations; `None` if there are too few of them, or if the
    /// reference is zero.
    #[must_use]
    pub fn limit(&self, durations: &[f64]) -> Option<Limit> {
        let enough = durations.len() >= self.min_tasks;
        let reference = self.reference.of(durations).filter(|&reference| enough && reference > 0.0)?;
        Some(Limit { reference, at: multiple(self.factor, reference) })
    }

    /// The label of each duration.
    #[must_use]
    pub fn label(&self, durations: &[f64]) -> Vec<bool> {
        let limit = self.limit(durations);
        let is_straggler = |&duration: &f64| limit.is_some_and(|limit| self.edge.passed(duration, limit.at));
        durations.iter().map(is_straggler).collect()
    }

    /// The labels of a group. The reference comes from known durations. A task with only a lower bound is a
    /// straggler if the bound passes the limit, otherwise it is undetermined.
    #[must_use]
    pub fn of(&self, executions: &Executions) -> Labels {
        let limit = self.limit(&executions.known_durations());
        let label = |task: &Execution| {
            let passed = limit.is_some_and(|limit| self.edge.passed(task.duration, limit.at));
            (passed || task.certainty != Certainty::AtLeast).then_some(passed)
        };
        Labels { limit, stragglers: executions.tasks.iter().map(label).collect() }
    }
}

/// A reference and the limit derived from it, in seconds.
#[derive(Debug, Clone, Copy, PartialEq, State)]
#[non_exhaustive]
pub struct Limit {
    /// The mean or the median.
    pub reference: f64,
    /// A task is a straggler from this duration, or above it, depending on the edge.
    pub at: f64,
}

/// The labels of a group's executions, in their order.
#[derive(Debug, Clone, PartialEq)]
pub struct Labels {
    /// The limit; `None` if the group has too few tasks or its reference is zero.
    pub limit: Option<Limit>,
    /// Whether each is a straggler; `None` if unknown.
    pub stragglers: Vec<Option<bool>>,
}

impl Labels {
    /// The indices of the stragglers.
    pub fn places(&self) -> impl Iterator<Item = usize> + '_ {
        self.stragglers.iter().enumerate().filter(|(_, label)| **label == Some(true)).map(|(place, _)| place)
    }

    /// The number of stragglers.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.places().count() as u64
    }

    /// The number of executions without a label.
    #[cfg(test)]
    #[must_use]
    pub(crate) fn undetermined(&self) -> u64 {
        self.stragglers.iter().filter(|label| label.is_none()).count() as u64
    }
}

/// The DoS-index of each task: its time per input over that of the whole group (S2 eq 1),
/// `(d / Inp) / (Σd / ΣInp)`.
///
/// Infinite for a task without input that took time. `None` if the input is unknown, if both input and time
/// are zero, and for all tasks if the group has no time or no input.
#[must_use]
pub fn dos_index(tasks: &[(f64, Option<f64>)]) -> Vec<Option<f64>> {
    let known = || tasks.iter().filter_map(|&(duration, input)| Some((duration, input?)));
    let (duration_sum, input_sum) = known().fold((0.0, 0.0), |sum, task| (sum.0 + task.0, sum.1 + task.1));
    if duration_sum <= 0.0 || input_sum <= 0.0 {
        return vec![None; tasks.len()];
    }
    let index = |&(duration, input): &(f64, Option<f64>)| {
        let rate = duration / input?;
        Some(rate * (input_sum / duration_sum)).filter(|index| !index.is_nan())
    };
    tasks.iter().map(index).collect()
}

/// Whether a DoS-index makes a straggler. Infinite indices do not count: a task without input has one
/// whatever its time.
#[must_use]
pub fn is_dos_straggler(index: Option<f64>, level: f64) -> bool {
    index.is_some_and(|index| index.is_finite() && index >= level)
}

/// Durations over their mean, for unknown inputs. This is not a DoS-index.
#[cfg(test)]
#[must_use]
pub(crate) fn duration_ratios(durations: &[f64]) -> Option<Vec<f64>> {
    let mean = mean(durations).filter(|&mean| mean > 0.0)?;
    Some(durations.iter().map(|duration| duration / mean).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn degenerate_groups_have_no_stragglers() {
        assert_eq!(Labelling::MEDIAN.label(&[]), Vec::<bool>::new());
        assert_eq!(Labelling::MEDIAN.label(&[42.0]), [false]);
        assert_eq!(Labelling::MEDIAN.label(&[0.0, 0.0, 5.0]), [false; 3]);
        assert_eq!(Labelling::MEDIAN.label(&[10.0, 10.0, 15.0]), [false, false, true]);
        let above = Labelling { edge: Edge::Above, ..Labelling::MEDIAN };
        assert_eq!(above.label(&[10.0, 10.0, 15.0]), [false; 3]);
    }

    #[test]
    fn lower_bounds_are_stragglers_or_undetermined() {
        let task = |duration, certainty| Execution::of_row(0, duration, certainty, None).unwrap();
        let (measured, at_least) = (Certainty::Measured, Certainty::AtLeast);
        let executions = Executions {
            tasks: vec![
                task(10.0, measured),
                task(10.0, measured),
                task(40.0, at_least),
                task(5.0, at_least),
            ],
            ..Executions::default()
        };
        let labels = Labelling::MEDIAN.of(&executions);
        assert_eq!(labels.stragglers, [Some(false), Some(false), Some(true), None]);
        assert_eq!((labels.count(), labels.undetermined()), (1, 1));
    }

    #[test]
    fn tasks_without_input_have_no_finite_index() {
        let index = dos_index(&[(10.0, Some(100.0)), (5.0, Some(0.0)), (0.0, Some(0.0)), (7.0, None)]);
        assert_eq!(index[1], Some(f64::INFINITY));
        assert!(!is_dos_straggler(index[1], DOS_REPORT));
        assert_eq!((index[2], index[3]), (None, None));
        assert_eq!(dos_index(&[(3.0, Some(9.0))]), [Some(1.0)]);
        assert_eq!(duration_ratios(&[0.0, 0.0]), None);
    }

    #[test]
    fn ties_at_the_limit_are_exact() {
        // 6 ms and 9 ms; as doubles, 1.5 × 0.006 is more than 0.009.
        let seconds = [0.006, 0.006, 0.006, 0.009, 0.008];
        assert_eq!(Labelling::MEDIAN.label(&seconds), [false, false, false, true, false]);
        let above = Labelling { edge: Edge::Above, ..Labelling::MEDIAN };
        assert_eq!(above.label(&seconds), [false; 5]);
        for ms in 1..20_000u32 {
            let time = |ms: u32| f64::from(ms) / 1000.0;
            assert!(Edge::From.passed(time(3 * ms), multiple(1.5, time(2 * ms))), "{ms} ms");
            assert!(!Edge::Above.passed(time(6 * ms), multiple(1.2, time(5 * ms))), "{ms} ms");
        }
    }

    proptest! {
        #[test]
        fn the_index_is_dimensionless_and_has_a_mean_of_one(
            tasks in prop::collection::vec((0.1f64..1e4, 1.0f64..1e9), 1..40),
            time_scale in 1e-3f64..1e3,
            input_scale in 1e-3f64..1e3,
        ) {
            let index = |time: f64, input: f64| -> Vec<f64> {
                let scaled: Vec<(f64, Option<f64>)> =
                    tasks.iter().map(|task| (task.0 * time, Some(task.1 * input))).collect();
                dos_index(&scaled).into_iter().map(Option::unwrap).collect()
            };
            let (one, other) = (index(1.0, 1.0), index(time_scale, input_scale));
            for (one, other) in one.iter().zip(&other) {
                prop_assert!((one - other).abs() <= 1e-9 * one.abs());
            }
            let inputs: f64 = tasks.iter().map(|task| task.1).sum();
            let weighted: f64 = one.iter().zip(&tasks).map(|(index, task)| index * task.1).sum();
            prop_assert!((weighted / inputs - 1.0).abs() < 1e-9);
        }

        #[test]
        fn with_equal_inputs_the_index_is_the_ratio_to_the_mean(
            durations in prop::collection::vec(0.1f64..1e4, 1..40),
        ) {
            let tasks: Vec<(f64, Option<f64>)> = durations.iter().map(|&d| (d, Some(64.0))).collect();
            let index = dos_index(&tasks);
            for (index, ratio) in index.iter().zip(duration_ratios(&durations).unwrap()) {
                prop_assert!((index.unwrap() - ratio).abs() < 1e-9);
            }
            let stragglers = index.iter().filter(|&&index| is_dos_straggler(index, DOS_REPORT)).count();
            prop_assert!(stragglers as f64 <= durations.len() as f64 / DOS_REPORT);
        }
    }
}
