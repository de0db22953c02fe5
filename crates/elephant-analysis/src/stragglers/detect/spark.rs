//! `spark-3`, `spark-3.4` and `spark-4`: Spark's speculation (`TaskSetManager.checkSpeculatableTasks`).

use super::options::{DetectorOptions, EngineSetting};
use super::snapshot::{Completed, Past, Running, Snapshot};
use super::{Compared, Detector, Needs, Parameter, Value};
use elephant_base::whole::Whole;
use elephant_model::model::Engine;
use elephant_model::model::conf::defaults::Version;

/// The median of an even number of durations.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MedianRule {
    /// The mean of the middle two (before 3.4).
    Ordinary,
    /// The upper of the middle two, at index `floor(n / 2)` (from 3.4 on).
    Upper,
}

impl MedianRule {
    /// The median from a lookup by rank; `None` if there are no values.
    pub fn of(self, count: usize, at: impl Fn(usize) -> Option<u64>) -> Option<f64> {
        let upper = at(count / 2)?;
        if self == Self::Upper || !count.is_multiple_of(2) {
            return Some(upper as f64);
        }
        let lower = at((count / 2).checked_sub(1)?)?;
        Some(f64::midpoint(lower as f64, upper as f64))
    }
}

/// The number of tasks of `total` that must have succeeded: `max(1, floor(quantile * total))`.
#[must_use]
pub fn min_finished(quantile: f64, total: usize) -> usize {
    (quantile * total as f64).floor().as_usize().max(1)
}

/// A task is speculated above this run time, in ms: `max(multiplier * median, min_runtime)`.
#[must_use]
pub const fn threshold(multiplier: f64, median: f64, min_runtime: f64) -> f64 {
    (multiplier * median).max(min_runtime)
}

/// Since 3.4 a task is speculated only if it is inefficient: very late, or slow on its records.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Efficiency {
    /// `spark.speculation.efficiency.processRateMultiplier`: a task is slow below this share of the mean
    /// rate.
    pub rate_multiplier: f64,
    /// `spark.speculation.efficiency.longRunTaskFactor`: a task is very late above this multiple of the
    /// threshold.
    pub long_run_factor: f64,
}

impl Efficiency {
    /// Spark's defaults.
    pub(crate) const DEFAULT: Self = Self { rate_multiplier: 0.75, long_run_factor: 2.0 };

    /// Whether a task may be speculated. If no records were read at all, Spark considers every task
    /// inefficient; likewise a task that has not reported yet.
    #[must_use]
    pub(crate) fn is_inefficient(
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

/// The version that brought `spark.speculation.task.duration.threshold`.
const DURATION_THRESHOLD: Version = (3, 0);
/// The version that brought `spark.speculation.minTaskRuntime`.
const MIN_TASK_RUNTIME: Version = (3, 2);
/// The version that brought `spark.speculation.efficiency.*`.
const EFFICIENCY: Version = (3, 4);

/// Spark's speculation with its settings.
#[derive(Debug, Clone, Copy)]
pub struct SparkSpeculation {
    /// The name in reports.
    pub id: &'static str,
    /// `spark.speculation.quantile`.
    pub quantile: f64,
    /// `spark.speculation.multiplier`.
    pub multiplier: f64,
    /// `spark.speculation.minTaskRuntime` in milliseconds; fixed before 3.2.
    pub min_runtime_ms: f64,
    /// How the median is computed.
    pub median: MedianRule,
    /// `spark.speculation.efficiency.*`; `None` before 3.4, or if it is off.
    pub efficiency: Option<Efficiency>,
    /// `spark.speculation.task.duration.threshold` in milliseconds, for groups that fit into one executor;
    /// the caller checks that.
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
    /// 3.4 and 3.5, with the efficiency check.
    pub const V3_4: Self = Self {
        id: "spark-3.4",
        median: MedianRule::Upper,
        efficiency: Some(Efficiency::DEFAULT),
        ..Self::V3
    };
    /// 4.x.
    pub const V4: Self = Self { id: "spark-4", quantile: 0.9, multiplier: 3.0, ..Self::V3_4 };

    /// The current threshold, in ms; `None` while too few tasks are done.
    #[must_use]
    pub(crate) fn threshold(&self, total: usize, completed: &Completed) -> Option<f64> {
        let count = completed.count();
        if total < 2 || count < min_finished(self.quantile, total) {
            return None;
        }
        let median = self.median.of(count, |rank| completed.duration_ms(rank))?;
        Some(threshold(self.multiplier, median, self.min_runtime_ms))
    }
}

impl SparkSpeculation {
    /// The detector with a user's changes.
    #[must_use]
    pub(crate) fn with(self, options: &DetectorOptions) -> Self {
        Self {
            quantile: options.quantile.unwrap_or(self.quantile),
            multiplier: options.multiplier.unwrap_or(self.multiplier),
            ..self
        }
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

    fn settings(&self, version: Option<Version>) -> Vec<EngineSetting> {
        let knows = |since: Version| version.is_none_or(|version| version >= since);
        if self.efficiency.is_some() && !knows(EFFICIENCY) {
            return Vec::new();
        }
        let mut settings = vec![
            EngineSetting::new("spark.speculation", &true),
            EngineSetting::new("spark.speculation.quantile", &self.quantile),
            EngineSetting::new("spark.speculation.multiplier", &self.multiplier),
        ];
        if knows(MIN_TASK_RUNTIME) {
            let least = format!("{}ms", self.min_runtime_ms);
            settings.push(EngineSetting::new("spark.speculation.minTaskRuntime", &least));
        }
        if knows(EFFICIENCY) {
            let checks = self.efficiency.is_some();
            settings.push(EngineSetting::new("spark.speculation.efficiency.enabled", &checks));
        }
        if let Some(Efficiency { rate_multiplier, long_run_factor }) = self.efficiency {
            settings.extend([
                EngineSetting::new("spark.speculation.efficiency.processRateMultiplier", &rate_multiplier),
                EngineSetting::new("spark.speculation.efficiency.longRunTaskFactor", &long_run_factor),
            ]);
        }
        if let Some(limit) = self.duration_threshold_ms.filter(|_| knows(DURATION_THRESHOLD)) {
            let limit = format!("{limit}ms");
            settings.push(EngineSetting::new("spark.speculation.task.duration.threshold", &limit));
        }
        settings
    }

    fn needs(&self) -> Needs {
        if self.efficiency.is_some() { Needs::Records } else { Needs::Times }
    }

    fn compared(&self, snapshot: &Snapshot<'_>, attempt: &Running) -> Option<Compared> {
        let limit = self.threshold(snapshot.total, snapshot.completed).or(self.duration_threshold_ms)?;
        Some(Compared { measure: Compared::ELAPSED, value: attempt.elapsed_ms(), limit })
    }

    fn flag(&self, snapshot: &Snapshot<'_>, _past: &Past<'_>, flags: &mut Vec<usize>) {
        let runtime = Running::elapsed_ms;
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

/// Records per second up to the last report.
fn rate(attempt: &Running) -> Option<f64> {
    let ran = attempt.reported_ms?.saturating_sub(attempt.start_ms) as f64 / 1000.0;
    (ran > 0.0).then_some(attempt.records_read? / ran)
}

#[cfg(test)]
mod tests {
    use super::super::testing::{NOTHING, group, running};
    use super::*;

    #[test]
    fn a_group_of_one_task_is_never_flagged() {
        let attempts = [running(500.0, 0.1)];
        let mut one = group(500.0, &attempts);
        one.finish(1.0, 1);
        one.total = 1;
        assert_eq!(one.flags(&SparkSpeculation::V3), NOTHING);
    }

    #[test]
    fn the_threshold_is_exclusive_and_at_least_the_minimum_run_time() {
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
    fn settings_are_those_that_the_version_knows() {
        let names = |detector: SparkSpeculation, version| {
            let settings = detector.settings(version);
            let name = |it: &EngineSetting| it.name.trim_start_matches("spark.speculation").to_owned();
            settings.iter().map(name).collect::<Vec<_>>().join(" ")
        };
        assert_eq!(names(SparkSpeculation::V3, Some((2, 4))), " .quantile .multiplier");
        assert_eq!(names(SparkSpeculation::V3, Some((3, 3))), " .quantile .multiplier .minTaskRuntime");
        let switched_off = " .quantile .multiplier .minTaskRuntime .efficiency.enabled";
        assert_eq!(names(SparkSpeculation::V3, Some((3, 5))), switched_off);
        assert_eq!(names(SparkSpeculation::V3, None), switched_off);
        assert_eq!(names(SparkSpeculation::V4, Some((3, 3))), "");
        assert!(names(SparkSpeculation::V4, Some((4, 0))).ends_with("longRunTaskFactor"));
    }

    #[test]
    fn the_median_rules_differ_for_even_counts() {
        let durations = [10, 20];
        let at = |rank: usize| durations.get(rank).copied();
        assert_eq!(MedianRule::Upper.of(2, at), Some(20.0));
        assert_eq!(MedianRule::Ordinary.of(2, at), Some(15.0));
        assert_eq!(MedianRule::Ordinary.of(0, |_| None), None);
    }

    #[test]
    fn efficient_tasks_are_not_speculated() {
        let efficiency = Efficiency::DEFAULT;
        assert!(!efficiency.is_inefficient(16.0, 15.0, Some(10.0), Some(10.0)));
        assert!(efficiency.is_inefficient(16.0, 15.0, Some(7.0), Some(10.0)));
        assert!(efficiency.is_inefficient(31.0, 15.0, Some(10.0), Some(10.0)));
        assert!(efficiency.is_inefficient(16.0, 15.0, None, Some(10.0)));
        assert!(efficiency.is_inefficient(16.0, 15.0, Some(10.0), None));
    }

    #[test]
    fn the_duration_threshold_applies_while_too_few_tasks_are_done() {
        let attempts = [running(50.0, 0.1), running(5.0, 0.1)];
        let limited = SparkSpeculation { duration_threshold_ms: Some(40_000.0), ..SparkSpeculation::V3 };
        assert_eq!(group(60.0, &attempts).flags(&limited), [0]);
    }
}
