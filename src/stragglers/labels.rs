//! Labels executions as stragglers: by a multiple of the group's mean or median, by a multiple of the task's
//! usual time, or by the DoS-index, which relates time to input.

use rustc_hash::FxHashMap;

use crate::state::state;
use crate::stats::descriptive::{mean, median, quantile, spearman};
use crate::stragglers::executions::{Certainty, Execution, Executions};

/// Groups with fewer tasks have no stragglers.
pub(crate) const MIN_TASKS: usize = 2;
/// S2 reports stragglers from this DoS-index.
pub(crate) const DOS_REPORT: f64 = 2.5;
/// S2 diagnoses stragglers from this DoS-index.
pub(crate) const DOS_DIAGNOSE: f64 = 10.0;

/// The value that durations are compared with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reference {
    /// The mean of the group (S1, S2).
    Mean,
    /// The median of the group (S2 argues for it: stragglers do not move it).
    Median,
}

impl Reference {
    /// Its value for these durations; `None` if there are none.
    #[must_use]
    pub(crate) fn of(self, durations: &[f64]) -> Option<f64> {
        match self {
            Self::Mean => mean(durations),
            Self::Median => median(durations),
        }
    }
}

/// Whether a duration equal to the limit makes a straggler.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Edge {
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
pub(crate) fn multiple(factor: f64, seconds: f64) -> f64 {
    const MICROS: f64 = 1e6;
    (factor * seconds * MICROS).round() / MICROS
}

/// The same for limits of times per input, which are no whole numbers: a value below this is below the limit. A value between
/// the two differs from the limit only because of rounding.
#[must_use]
pub(crate) fn just_below(limit: f64) -> f64 {
    const ROUNDING: f64 = 1e-12;
    limit * (1.0 - ROUNDING)
}

/// A rule that labels stragglers by duration: `duration edge factor × reference`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Labelling {
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
    pub(crate) const MEDIAN: Self =
        Self { reference: Reference::Median, factor: 1.5, edge: Edge::From, min_tasks: MIN_TASKS };
    /// At least 150 % of the mean (S2 §4).
    pub(crate) const MEAN: Self = Self { reference: Reference::Mean, ..Self::MEDIAN };

    /// The reference and the limit for these durations; `None` if there are too few of them, or if the
    /// reference is zero.
    #[must_use]
    pub(crate) fn limit(&self, durations: &[f64]) -> Option<Limit> {
        let enough = durations.len() >= self.min_tasks;
        let reference = self.reference.of(durations).filter(|&reference| enough && reference > 0.0)?;
        Some(Limit { reference, at: multiple(self.factor, reference) })
    }

    /// The label of each duration.
    #[cfg(test)]
    #[must_use]
    pub(crate) fn label(&self, durations: &[f64]) -> Vec<bool> {
        let limit = self.limit(durations);
        let is_straggler = |&duration: &f64| limit.is_some_and(|limit| self.edge.passed(duration, limit.at));
        durations.iter().map(is_straggler).collect()
    }

    /// The labels of a group. The reference comes from known durations. A task with only a lower bound is a
    /// straggler if the bound passes the limit, otherwise it is undetermined.
    #[must_use]
    pub(crate) fn of(&self, executions: &Executions) -> Labels {
        let limit = self.limit(&executions.known_durations());
        let label = |task: &Execution| {
            let passed = limit.is_some_and(|limit| self.edge.passed(task.duration, limit.at));
            (passed || task.certainty != Certainty::AtLeast).then_some(passed)
        };
        Labels { limit, stragglers: executions.tasks.iter().map(label).collect() }
    }
}

/// A reference and the limit derived from it, in seconds.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct Limit {
    /// The mean or the median.
    pub reference: f64,
    /// A task is a straggler from this duration, or above it, depending on the edge.
    pub at: f64,
}

state!(struct Limit { reference, at });

/// The labels of a group's executions, in their order.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Labels {
    /// The limit; `None` if the group has too few tasks or its reference is zero.
    pub limit: Option<Limit>,
    /// Whether each is a straggler; `None` if unknown.
    pub stragglers: Vec<Option<bool>>,
}

impl Labels {
    /// The indices of the stragglers.
    pub(crate) fn places(&self) -> impl Iterator<Item = usize> + '_ {
        self.stragglers.iter().enumerate().filter(|(_, label)| **label == Some(true)).map(|(place, _)| place)
    }

    /// The number of stragglers.
    #[must_use]
    pub(crate) fn count(&self) -> u64 {
        self.places().count() as u64
    }

    /// The number of executions without a label.
    #[cfg(test)]
    #[must_use]
    pub(crate) fn undetermined(&self) -> u64 {
        self.stragglers.iter().filter(|label| label.is_none()).count() as u64
    }
}

/// Whether a task took more than `factor` times its usual time (1.2 in S0 §6.1); `None` if the usual time is
/// unknown.
#[must_use]
pub(crate) fn label_by_usual(duration: f64, usual: Option<f64>, factor: f64, edge: Edge) -> Option<bool> {
    Some(edge.passed(duration, multiple(factor, usual?)))
}

/// The DoS-index of each task: its time per input over that of the whole group (S2 eq 1),
/// `(d / Inp) / (Σd / ΣInp)`.
///
/// Infinite for a task without input that took time. `None` if the input is unknown, if both input and time
/// are zero, and for all tasks if the group has no time or no input.
#[must_use]
pub(crate) fn dos_index(tasks: &[(f64, Option<f64>)]) -> Vec<Option<f64>> {
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
pub(crate) fn is_dos_straggler(index: Option<f64>, level: f64) -> bool {
    index.is_some_and(|index| index.is_finite() && index >= level)
}

/// Durations over their mean, for unknown inputs. This is not a DoS-index.
#[cfg(test)]
#[must_use]
pub(crate) fn duration_ratios(durations: &[f64]) -> Option<Vec<f64>> {
    let mean = mean(durations).filter(|&mean| mean > 0.0)?;
    Some(durations.iter().map(|duration| duration / mean).collect())
}

/// Where the usual times come from, best source first (S0 §6.1 and its substitutes after the fact).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum UsualSource {
    /// A quantile over other runs of the same job.
    Runs,
    /// The task's input times the group's median time per input, where times follow inputs.
    InputScaled,
    /// A quantile over the group.
    Group,
}

impl UsualSource {
    /// The name in reports.
    #[must_use]
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Runs => "runs",
            Self::InputScaled => "input-scaled",
            Self::Group => "group",
        }
    }
}

/// How long a task usually takes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct UsualRule {
    /// Which quantile over runs or over the group, 0.5 in S0.
    pub quantile: f64,
    /// A straggler takes more than this many times the usual, 1.2 in S0.
    pub factor: f64,
    /// Fewer runs than this, with the one that is judged, are not enough for a quantile over the other runs.
    pub min_runs: usize,
    /// Largest relative difference of a task's input between runs.
    pub input_tolerance: f64,
    /// Times follow inputs from this rank correlation on; below, the group's quantile is the usual time of each task.
    pub input_correlation: f64,
    /// The correlation of fewer tasks proves nothing.
    pub min_correlated: usize,
}

impl Default for UsualRule {
    fn default() -> Self {
        Self {
            quantile: 0.5,
            factor: 1.2,
            min_runs: 3,
            input_tolerance: 0.01,
            input_correlation: 0.3,
            min_correlated: 10,
        }
    }
}

/// A task in one run of its job.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct TaskTime {
    /// Its number in the job or the stage, which is the same in each run.
    pub number: Option<u32>,
    /// Seconds.
    pub duration: f64,
    /// Input in the unit of the group.
    pub input: Option<u64>,
}

state!(struct TaskTime { number, duration, input });

impl UsualRule {
    /// The usual time of each task of `run`, and its source. `others` are other runs of the same job; those
    /// like this one are used. All times are `None` for a group without tasks.
    #[must_use]
    pub(crate) fn usual(&self, run: &[TaskTime], others: &[&[TaskTime]]) -> (Vec<Option<f64>>, UsualSource) {
        let alike: Vec<Vec<f64>> = others.iter().filter_map(|other| self.durations_in(other, run)).collect();
        if alike.len() + 1 >= self.min_runs {
            // The task's own time is not among them: a slow task would be compared with itself.
            let usual = |place: usize| {
                let times: Vec<f64> = alike.iter().filter_map(|other| other.get(place).copied()).collect();
                quantile(&times, self.quantile)
            };
            return ((0..run.len()).map(usual).collect(), UsualSource::Runs);
        }
        let rates: Option<Vec<f64>> = run
            .iter()
            .map(|task| Some(task.duration / task.input.filter(|&input| input > 0)? as f64))
            .collect();
        if let Some(rate) = rates.filter(|_| self.follows_input(run)).and_then(|rates| median(&rates)) {
            let scaled = |task: &TaskTime| Some(task.input? as f64 * rate);
            return (run.iter().map(scaled).collect(), UsualSource::InputScaled);
        }
        let durations: Vec<f64> = run.iter().map(|task| task.duration).collect();
        (vec![quantile(&durations, self.quantile); run.len()], UsualSource::Group)
    }

    /// Whether times grow with inputs. If they do not, the time per input of a task with little input is no measure of how
    /// long it should take.
    fn follows_input(&self, run: &[TaskTime]) -> bool {
        let (durations, inputs): (Vec<f64>, Vec<f64>) =
            run.iter().filter_map(|task| Some((task.duration, task.input? as f64))).unzip();
        run.len() >= self.min_correlated
            && spearman(&inputs, &durations).is_some_and(|correlation| correlation >= self.input_correlation)
    }

    /// Whether another run had the same work: the same tasks, each with the same input. False if numbers or inputs of
    /// tasks are unknown.
    #[must_use]
    pub(crate) fn is_like(&self, run: &[TaskTime], other: &[TaskTime]) -> bool {
        self.durations_in(other, run).is_some()
    }

    /// How long each task of `run` took in another run; `None` if that had other work. Tasks start in another order in each
    /// run, so their numbers pair them.
    fn durations_in(&self, other: &[TaskTime], run: &[TaskTime]) -> Option<Vec<f64>> {
        if run.len() != other.len() {
            return None;
        }
        let others: FxHashMap<u32, &TaskTime> =
            other.iter().filter_map(|task| Some((task.number?, task))).collect();
        let same = |task: &TaskTime| {
            let other = others.get(&task.number?)?;
            self.same_input(task.input?, other.input?).then_some(other.duration)
        };
        run.iter().map(same).collect()
    }

    fn same_input(&self, one: u64, other: u64) -> bool {
        let (one, other) = (one as f64, other as f64);
        (one - other).abs() <= self.input_tolerance * one.max(other)
    }
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
    fn the_usual_time_comes_from_the_best_source() {
        let rule = UsualRule::default();
        let run = |times: &[f64], input| -> Vec<TaskTime> {
            (0..)
                .zip(times)
                .map(|(number, &duration)| TaskTime { number: Some(number), duration, input })
                .collect()
        };
        let this = run(&[10.0, 20.0], Some(5));
        let (second, third) = (run(&[12.0, 18.0], Some(5)), run(&[11.0, 100.0], Some(5)));
        assert_eq!(rule.usual(&this, &[&second, &third]), (vec![Some(11.5), Some(59.0)], UsualSource::Runs));
        let other_input = run(&[12.0, 18.0], Some(6));
        assert_eq!(
            rule.usual(&this, &[&second, &other_input]),
            (vec![Some(15.0), Some(15.0)], UsualSource::Group)
        );
        let unknown = run(&[10.0, 20.0, 60.0], None);
        assert_eq!(rule.usual(&unknown, &[]), (vec![Some(20.0); 3], UsualSource::Group));
        assert_eq!(rule.usual(&[], &[]).0, []);
    }

    #[test]
    fn tasks_of_two_runs_are_paired_by_their_numbers() {
        let rule = UsualRule::default();
        let run = |tasks: [(u32, f64); 2]| {
            tasks.map(|(number, duration)| TaskTime { number: Some(number), duration, input: Some(5) })
        };
        let (first, second) = (run([(7, 10.0), (3, 50.0)]), run([(3, 52.0), (7, 12.0)]));
        let (usual, source) = rule.usual(&run([(3, 51.0), (7, 90.0)]), &[&first, &second]);
        assert_eq!((usual, source), (vec![Some(51.0), Some(11.0)], UsualSource::Runs));
        assert!(!rule.is_like(&first, &run([(3, 50.0), (8, 10.0)])));
        let unknown = first.map(|task| TaskTime { number: None, ..task });
        assert!(!rule.is_like(&unknown, &first));
    }

    #[test]
    fn a_task_is_not_compared_with_its_own_time() {
        let rule = UsualRule::default();
        let run = |duration| [TaskTime { number: Some(0), duration, input: Some(5) }];
        let [first, second, third] = [10.0, 10.0, 13.0].map(run);
        // With its own 13 s among them, the median would be 11.5 s, and 13 s no more than 1.2 times as much.
        let (usual, source) = rule.usual(&run(13.0), &[&first, &second, &third]);
        assert_eq!((usual, source), (vec![Some(10.0)], UsualSource::Runs));
        assert_eq!(rule.usual(&third, &[&first, &second]).0, [Some(10.0)]);
    }

    #[test]
    fn ties_at_the_limit_are_exact() {
        // 6 ms and 9 ms; as doubles, 1.5 × 0.006 is more than 0.009.
        let seconds = [0.006, 0.006, 0.006, 0.009, 0.008];
        assert_eq!(Labelling::MEDIAN.label(&seconds), [false, false, false, true, false]);
        let above = Labelling { edge: Edge::Above, ..Labelling::MEDIAN };
        assert_eq!(above.label(&seconds), [false; 5]);
        assert_eq!(label_by_usual(0.009, Some(0.0075), 1.2, Edge::Above), Some(false));
        assert_eq!(label_by_usual(0.01, Some(0.0075), 1.2, Edge::Above), Some(true));
        for ms in 1..20_000u32 {
            let time = |ms: u32| f64::from(ms) / 1000.0;
            assert!(Edge::From.passed(time(3 * ms), multiple(1.5, time(2 * ms))), "{ms} ms");
            assert!(!Edge::Above.passed(time(6 * ms), multiple(1.2, time(5 * ms))), "{ms} ms");
        }
    }

    #[test]
    fn the_usual_time_is_scaled_by_input_only_where_times_follow_inputs() {
        let rule = UsualRule::default();
        let run = |tasks: u32, duration: fn(u32) -> f64| -> Vec<TaskTime> {
            let task = |place| TaskTime {
                number: Some(place),
                duration: duration(place),
                input: Some(u64::from(100 * place)),
            };
            (1..=tasks).map(task).collect()
        };
        let (usual, source) = rule.usual(&run(10, |place| f64::from(2 * place)), &[]);
        assert_eq!((usual[0], usual[9], source), (Some(2.0), Some(20.0), UsualSource::InputScaled));
        // Ten tasks of the same time: a tenth of the input is no tenth of the time.
        let (usual, source) = rule.usual(&run(10, |_| 7.0), &[]);
        assert_eq!((usual[0], usual[9], source), (Some(7.0), Some(7.0), UsualSource::Group));
        let (_, source) = rule.usual(&run(10, |place| f64::from(20 - place)), &[]);
        assert_eq!(source, UsualSource::Group);
        // The correlation of nine tasks proves nothing.
        assert_eq!(rule.usual(&run(9, |place| f64::from(2 * place)), &[]).1, UsualSource::Group);
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
