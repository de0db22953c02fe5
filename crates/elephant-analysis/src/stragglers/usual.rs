//! How long a task usually takes: in other runs of its job, for its input, or in its group. A task that takes longer by a
//! factor is overdue (S0 §6.1).

use rustc_hash::FxHashMap;

use super::labels::{Edge, multiple};
use elephant_base::state::State;
use elephant_base::stats::descriptive::{median, quantile, spearman};

/// Whether a task took more than `factor` times its usual time (1.2 in S0 §6.1); `None` if the usual time is
/// unknown.
#[must_use]
pub fn label_by_usual(duration: f64, usual: Option<f64>, factor: f64, edge: Edge) -> Option<bool> {
    Some(edge.passed(duration, multiple(factor, usual?)))
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

#[doc(hidden)]
impl UsualSource {
    /// The name in reports.
    #[must_use]
    pub const fn name(self) -> &'static str {
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
    /// The quantile over other runs needs at least this many runs, including the judged one.
    pub min_runs: usize,
    /// Largest relative difference of a task's input between runs.
    pub input_tolerance: f64,
    /// Times follow inputs from this rank correlation on. Below it, the group's quantile is the usual time of
    /// each task.
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
#[derive(Debug, Clone, Copy, PartialEq, State)]
pub struct TaskTime {
    /// Its number in the job or the stage, which is the same in each run.
    pub number: Option<u32>,
    /// Seconds.
    pub duration: f64,
    /// Input in the unit of the group.
    pub input: Option<u64>,
}

#[doc(hidden)]
impl UsualRule {
    /// The usual time of each task of `run`, and its source. `others` are other runs of the same job; only
    /// those with the same work are used. All times are `None` for a group without tasks.
    #[must_use]
    pub(crate) fn usual(&self, run: &[TaskTime], others: &[&[TaskTime]]) -> (Vec<Option<f64>>, UsualSource) {
        let alike: Vec<Vec<f64>> = others.iter().filter_map(|other| self.durations_in(other, run)).collect();
        if alike.len() + 1 >= self.min_runs {
            // The task's own time is left out, because a slow task would otherwise be compared with itself.
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
    pub fn is_like(&self, run: &[TaskTime], other: &[TaskTime]) -> bool {
        self.durations_in(other, run).is_some()
    }

    /// How long each task of `run` took in another run; `None` if that run had other work. Tasks start in a
    /// different order in each run, so they are paired by their numbers.
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

    #[test]
    fn ties_at_the_limit_are_exact() {
        // 7.5 ms, and 9 ms or 10 ms.
        assert_eq!(label_by_usual(0.009, Some(0.0075), 1.2, Edge::Above), Some(false));
        assert_eq!(label_by_usual(0.01, Some(0.0075), 1.2, Edge::Above), Some(true));
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
}
