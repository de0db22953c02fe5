//! `spark-3`, `spark-3.4` and `spark-4`: Spark's speculation (`TaskSetManager.checkSpeculatableTasks`).

use super::snapshot::{Completed, Past, Running, Snapshot};
use super::{Detector, Parameter, Value};
use crate::model::Engine;

/// Which element of an even number of durations is their median.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MedianRule {
    /// The mean of the middle two (before 3.4).
    Ordinary,
    /// The upper of the middle two, at index `floor(n / 2)` (from 3.4 on).
    Upper,
}

impl MedianRule {
    /// The median by rank; `None` where there is nothing.
    pub fn of(self, count: usize, at: impl Fn(usize) -> Option<u64>) -> Option<f64> {
        let upper = at(count / 2)?;
        if self == Self::Upper || !count.is_multiple_of(2) {
            return Some(upper as f64);
        }
        let lower = at((count / 2).checked_sub(1)?)?;
        Some(f64::midpoint(lower as f64, upper as f64))
    }
}

/// How many tasks of `total` must have succeeded: `max(1, floor(quantile * total))`.
#[must_use]
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // a share of a count
pub fn min_finished(quantile: f64, total: usize) -> usize {
    ((quantile * total as f64).floor() as usize).max(1)
}

/// The run time above which a task is speculated, in ms: `max(multiplier * median, min_runtime)`.
#[must_use]
pub const fn threshold(multiplier: f64, median: f64, min_runtime: f64) -> f64 {
    (multiplier * median).max(min_runtime)
}

/// From 3.4 on a task is speculated only if it is inefficient: very late, or slow on its records.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Efficiency {
    /// `spark.speculation.efficiency.processRateMultiplier`: slow is below this share of the mean rate.
    pub rate_multiplier: f64,
    /// `spark.speculation.efficiency.longRunTaskFactor`: very late is above this many thresholds.
    pub long_run_factor: f64,
}

impl Efficiency {
    /// Spark's defaults.
    pub const DEFAULT: Self = Self { rate_multiplier: 0.75, long_run_factor: 2.0 };

    /// Whether a task may be speculated. Where no records were read at all Spark takes every task as inefficient, and
    /// so it does with one that has not reported yet.
    #[must_use]
    pub fn is_inefficient(
        &self,
        runtime: f64,
        threshold: f64,
        rate: Option<f64>,
        mean_rate: Option<f64>,
    ) -> bool {
        let is_slow = match (rate, mean_rate) {
            (Some(rate), Some(mean)) => rate < self.rate_multiplier * mean,
            _ => true,
        };
        runtime > self.long_run_factor * threshold || is_slow
    }
}

/// Spark's speculation with its settings.
#[derive(Debug, Clone, Copy)]
pub struct SparkSpeculation {
    /// The name in reports.
    pub id: &'static str,
    /// `spark.speculation.quantile`.
    pub quantile: f64,
    /// `spark.speculation.multiplier`.
    pub multiplier: f64,
    /// `spark.speculation.minTaskRuntime` in milliseconds, fixed before 3.2.
    pub min_runtime_ms: f64,
    /// Which median.
    pub median: MedianRule,
    /// `spark.speculation.efficiency.*`; `None` before 3.4 or where it is off.
    pub efficiency: Option<Efficiency>,
    /// `spark.speculation.task.duration.threshold` in milliseconds, for groups that fit into one executor: whoever calls
    /// says whether they do.
    pub duration_threshold_ms: Option<f64>,
}

impl SparkSpeculation {
    /// Up to 3.3.
    pub const V3: Self = Self {
        id: "spark-3",
        quantile: 0.75,
        multiplier: 1.5,
        min_runtime_ms: 100.0,
        median: MedianRule::Ordinary,
        efficiency: None,
        duration_threshold_ms: None,
    };
    /// 3.4 and 3.5, with the check of efficiency.
    pub const V3_4: Self = Self {
        id: "spark-3.4",
        median: MedianRule::Upper,
        efficiency: Some(Efficiency::DEFAULT),
        ..Self::V3
    };
    /// 4.x.
    pub const V4: Self = Self { id: "spark-4", quantile: 0.9, multiplier: 3.0, ..Self::V3_4 };

    /// The threshold at the moment, in ms; `None` while too few tasks are done.
    #[must_use]
    pub fn threshold(&self, total: usize, completed: &Completed) -> Option<f64> {
        let count = completed.count();
        if total < 2 || count < min_finished(self.quantile, total) {
            return None;
        }
        let median = self.median.of(count, |rank| completed.duration_ms(rank))?;
        Some(threshold(self.multiplier, median, self.min_runtime_ms))
    }
}

impl Detector for SparkSpeculation {
    fn id(&self) -> &'static str {
        self.id
    }

    fn parameters(&self) -> Vec<Parameter> {
        let mut parameters = vec![
            Parameter::new("quantile", Value::Number(self.quantile)),
            Parameter::new("multiplier", Value::Number(self.multiplier)),
            Parameter::new("min_task_runtime_ms", Value::Number(self.min_runtime_ms)),
            Parameter::new("efficiency", Value::Flag(self.efficiency.is_some())),
        ];
        if let Some(efficiency) = self.efficiency {
            parameters.push(Parameter::new(
                "efficiency_process_rate_multiplier",
                Value::Number(efficiency.rate_multiplier),
            ));
            parameters.push(Parameter::new(
                "efficiency_long_run_task_factor",
                Value::Number(efficiency.long_run_factor),
            ));
        }
        let limit = self.duration_threshold_ms;
        parameters
            .extend(limit.map(|limit| Parameter::new("task_duration_threshold_ms", Value::Number(limit))));
        parameters
    }

    fn engine(&self) -> Option<Engine> {
        Some(Engine::Spark)
    }

    fn flag(&self, snapshot: &Snapshot<'_>, _past: &Past<'_>, flags: &mut Vec<usize>) {
        let runtime = |attempt: &Running| attempt.elapsed * 1000.0;
        let attempts = snapshot.running.iter().enumerate();
        let Some(threshold) = self.threshold(snapshot.total, snapshot.completed) else {
            if let Some(limit) = self.duration_threshold_ms {
                let late = attempts.filter(|(_, attempt)| runtime(attempt) > limit);
                flags.extend(late.map(|(place, _)| place));
            }
            return;
        };
        let done = snapshot.completed.with_records();
        let mean_rate = (done.amount > 0.0 && done.time > 0.0).then(|| done.amount / done.time);
        let is_inefficient = |attempt: &Running| {
            self.efficiency.is_none_or(|efficiency| {
                efficiency.is_inefficient(runtime(attempt), threshold, rate(attempt), mean_rate)
            })
        };
        let slow = attempts.filter(|(_, attempt)| runtime(attempt) > threshold && is_inefficient(attempt));
        flags.extend(slow.map(|(place, _)| place));
    }
}

/// Records per second up to the last report: those of the whole task by the share that was done, as running tasks
/// report them to the driver and not to the log.
fn rate(attempt: &Running) -> Option<f64> {
    let ran = attempt.reported_ms?.saturating_sub(attempt.start_ms) as f64 / 1000.0;
    (ran > 0.0).then_some(attempt.records? * attempt.progress? / ran)
}

#[cfg(test)]
mod tests {
    use super::super::testing::{NOTHING, group, running};
    use super::*;

    #[test]
    fn a_group_of_one_is_left_alone() {
        let attempts = [running(500.0, 0.1)];
        let mut one = group(500.0, &attempts);
        one.finish(1.0, 1);
        one.total = 1;
        assert_eq!(one.flags(&SparkSpeculation::V3), NOTHING);
    }

    #[test]
    fn the_threshold_is_strict_and_never_below_the_least_run_time() {
        let attempts = [running(15.0, 0.1), running(15.001, 0.1)];
        let mut done = group(60.0, &attempts);
        done.finish(10.0, 6);
        assert_eq!(done.flags(&SparkSpeculation::V3), [1]);
        assert_eq!(
            done.flags(&SparkSpeculation { min_runtime_ms: 20_000.0, ..SparkSpeculation::V3 }),
            NOTHING
        );
        assert_eq!(done.flags(&SparkSpeculation::V4), NOTHING);
    }

    #[test]
    fn medians_of_an_even_number_differ() {
        let durations = [10, 20];
        let at = |rank: usize| durations.get(rank).copied();
        assert_eq!(MedianRule::Upper.of(2, at), Some(20.0));
        assert_eq!(MedianRule::Ordinary.of(2, at), Some(15.0));
        assert_eq!(MedianRule::Ordinary.of(0, |_| None), None);
    }

    #[test]
    fn what_works_through_more_records_is_no_straggler() {
        let efficiency = Efficiency::DEFAULT;
        assert!(!efficiency.is_inefficient(16.0, 15.0, Some(10.0), Some(10.0)));
        assert!(efficiency.is_inefficient(16.0, 15.0, Some(7.0), Some(10.0)));
        assert!(efficiency.is_inefficient(31.0, 15.0, Some(10.0), Some(10.0)));
        assert!(efficiency.is_inefficient(16.0, 15.0, None, Some(10.0)));
        assert!(efficiency.is_inefficient(16.0, 15.0, Some(10.0), None));
    }

    #[test]
    fn a_limit_of_its_own_holds_while_too_few_are_done() {
        let attempts = [running(50.0, 0.1), running(5.0, 0.1)];
        let limited = SparkSpeculation { duration_threshold_ms: Some(40_000.0), ..SparkSpeculation::V3 };
        assert_eq!(group(60.0, &attempts).flags(&limited), [0]);
    }
}
