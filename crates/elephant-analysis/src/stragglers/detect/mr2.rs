//! `mr2-legacy` and `mr2-exponential`: the speculator of Hadoop 2 and 3 (`DefaultSpeculator`), which Tez also
//! uses.
//!
//! Hadoop reads the setting `slowtaskthreshold` but filters no task by it, so it is left out here.

use super::exponential::{Smoothing, replacement_with_margin};
use super::options::EngineSetting;
use super::snapshot::{Past, Running, Snapshot, to_millis};
use super::{Compared, Detector, Parameter, Value};
use elephant_base::whole::Whole;
use elephant_model::model::Engine;
use elephant_model::model::conf::defaults::Version;

/// Lower bound of progress (`LegacyTaskRuntimeEstimator`).
const LEAST_PROGRESS: f64 = 1e-4;
/// Speculation starts when at least this many tasks of the kind are done (`StartEndTimesBase`)
const MIN_COMPLETED: usize = 1;
/// and at least this share of them.
const MIN_COMPLETED_SHARE: f64 = 0.05;

/// The value of speculating a task, as in `DefaultSpeculator.speculationValue`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Worth {
    /// A new attempt would end this many milliseconds earlier.
    Saves(i64),
    /// Too few tasks are done.
    OnSchedule,
    /// The task already has a copy.
    AlreadySpeculating,
    /// By its estimate it should have ended already.
    ProgressIsGood,
    /// A new attempt would end later.
    TooLate,
}

impl Worth {
    /// Hadoop's name; `None` for a saving.
    #[must_use]
    pub const fn name(self) -> Option<&'static str> {
        match self {
            Self::Saves(_) => None,
            Self::OnSchedule => Some("ON_SCHEDULE"),
            Self::AlreadySpeculating => Some("ALREADY_SPECULATING"),
            Self::ProgressIsGood => Some("PROGRESS_IS_GOOD"),
            Self::TooLate => Some("TOO_LATE_TO_SPECULATE"),
        }
    }

    /// The value of speculating an attempt whose task has `copies` live attempts; all times in milliseconds.
    #[must_use]
    pub const fn of(start: i64, estimate: i64, new_attempt: i64, now: i64, copies: usize) -> Self {
        if copies > 1 {
            return Self::AlreadySpeculating;
        }
        let end = start.saturating_add(estimate);
        let new_end = now.saturating_add(new_attempt);
        if end < now {
            Self::ProgressIsGood
        } else if new_end >= end {
            Self::TooLate
        } else {
            Self::Saves(end.saturating_sub(new_end))
        }
    }
}

/// Whether enough tasks are done to speculate others.
#[must_use]
pub fn gate_is_open(completed: usize, total: usize) -> bool {
    completed >= MIN_COMPLETED && completed as f64 >= MIN_COMPLETED_SHARE * total as f64
}

/// Estimated run time of an attempt, from its mean progress rate up to its last report
/// (`LegacyTaskRuntimeEstimator`), in ms.
#[must_use]
pub fn legacy_estimate(start: i64, report: i64, progress: f64) -> i64 {
    (report.saturating_sub(start) as f64 / progress.max(LEAST_PROGRESS)).as_i64()
}

/// Limits on the number of concurrent copies.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Caps {
    /// `mapreduce.job.speculative.minimum-allowed-tasks`.
    pub minimum: usize,
    /// `mapreduce.job.speculative.speculative-cap-total-tasks`.
    pub of_total: f64,
    /// `mapreduce.job.speculative.speculative-cap-running-tasks`.
    pub of_running: f64,
}

impl Caps {
    /// Hadoop's defaults.
    pub const DEFAULT: Self = Self { minimum: 10, of_total: 0.01, of_running: 0.1 };

    /// How many copies may run at the same time.
    #[must_use]
    pub fn allowed(&self, total: usize, running: usize) -> usize {
        let of_total = (self.of_total * total as f64).as_usize();
        let of_running = (self.of_running * running as f64).as_usize();
        self.minimum.max(of_total).max(of_running)
    }
}

/// Index of the task that gets a copy: the first with the greatest saving, if another copy is allowed.
#[must_use]
pub fn choose(worths: &[Worth], already: usize, allowed: usize) -> Option<usize> {
    let saving = |worth: &Worth| if let Worth::Saves(saving) = *worth { Some(saving) } else { None };
    let mut best: Option<(usize, i64)> = None;
    for (place, saving) in
        worths.iter().enumerate().filter_map(|(place, worth)| Some((place, saving(worth)?)))
    {
        if best.is_none_or(|(_, greatest)| saving > greatest) {
            best = Some((place, saving));
        }
    }
    best.filter(|_| already < allowed).map(|(place, _)| place)
}

/// The estimator of run times.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Estimator {
    /// By the mean progress rate (`LegacyTaskRuntimeEstimator`, the default).
    Legacy,
    /// By the smoothed progress rate (`SimpleExponentialTaskRuntimeEstimator`, Hadoop 3.3).
    SimpleExponential,
}

/// Hadoop's speculator: one copy per scan, for the task with the greatest saving.
#[derive(Debug, Clone, Copy)]
pub struct Mr2 {
    /// How run times are estimated.
    pub estimator: Estimator,
    /// How many copies may run at the same time.
    pub caps: Caps,
    /// `mapreduce.job.speculative.retry-after-speculate` in milliseconds.
    pub retry_after_speculate_ms: i64,
}

impl Mr2 {
    /// Hadoop 2 and 3 with their defaults.
    pub const LEGACY: Self =
        Self { estimator: Estimator::Legacy, caps: Caps::DEFAULT, retry_after_speculate_ms: 15_000 };
    /// Hadoop 3.3 with the exponential estimator.
    pub(crate) const EXPONENTIAL: Self = Self { estimator: Estimator::SimpleExponential, ..Self::LEGACY };

    /// The value of speculating each running attempt. Copies that the cluster launched do not count: the
    /// detector replaces the cluster's speculator, so only its own flags make copies.
    #[must_use]
    pub(crate) fn worths(&self, snapshot: &Snapshot<'_>, past: &Past<'_>) -> Vec<Worth> {
        let new_attempt = self.new_attempt(snapshot);
        let worth = |attempt: &Running| match new_attempt {
            None => Worth::OnSchedule,
            Some(new_attempt) => {
                let copies = if past.has_flagged(attempt) { 2 } else { 1 };
                let estimate = self.estimate(attempt).unwrap_or(-1);
                Worth::of(attempt.start_ms, estimate, new_attempt, snapshot.now_ms, copies)
            }
        };
        snapshot.running.iter().map(worth).collect()
    }

    /// Whether the speculator waits after its last copy.
    #[must_use]
    pub(crate) fn is_resting(&self, now_ms: i64, past: &Past<'_>) -> bool {
        past.last_flag_ms.is_some_and(|last| now_ms < last.saturating_add(self.retry_after_speculate_ms))
    }

    /// Run time of an attempt in milliseconds; `None` before its first report, which Hadoop treats as -1.
    fn estimate(&self, attempt: &Running) -> Option<i64> {
        let (report, progress) = (attempt.reported_ms?, attempt.progress?);
        match self.estimator {
            Estimator::Legacy => Some(legacy_estimate(attempt.start_ms, report, progress)),
            Estimator::SimpleExponential => attempt.smoothing.map(|smoothing| smoothing.estimated_run_time()),
        }
    }

    /// Run time of a new attempt in milliseconds; `None` while too few tasks are done.
    fn new_attempt(&self, snapshot: &Snapshot<'_>) -> Option<i64> {
        let completed = snapshot.completed;
        if !gate_is_open(completed.count(), snapshot.total) {
            return None;
        }
        let mean = completed.mean()?;
        let seconds = match self.estimator {
            Estimator::Legacy => mean,
            Estimator::SimpleExponential => {
                replacement_with_margin(mean, completed.standard_deviation()?, completed.count())
            }
        };
        Some(to_millis(seconds).as_i64())
    }
}

impl Detector for Mr2 {
    fn id(&self) -> &'static str {
        match self.estimator {
            Estimator::Legacy => "mr2-legacy",
            Estimator::SimpleExponential => "mr2-exponential",
        }
    }

    fn parameters(&self) -> Vec<Parameter> {
        let mut parameters = vec![
            Parameter::new("minimum_allowed_tasks", Value::Number(self.caps.minimum as f64)),
            Parameter::new("speculative_cap_total_tasks", Value::Number(self.caps.of_total)),
            Parameter::new("speculative_cap_running_tasks", Value::Number(self.caps.of_running)),
            Parameter::new("retry_after_speculate_ms", Value::Number(self.retry_after_speculate_ms as f64)),
        ];
        if self.estimator == Estimator::SimpleExponential {
            parameters.push(Parameter::new("lambda_ms", Value::Number(Smoothing::LAMBDA_MS as f64)));
            parameters.push(Parameter::new("skip_initials", Value::Number(f64::from(Smoothing::SKIP))));
        }
        parameters
    }

    fn engine(&self) -> Option<Engine> {
        Some(Engine::MapReduce)
    }

    fn settings(&self, _version: Option<Version>) -> Vec<EngineSetting> {
        const ESTIMATOR: &str = "yarn.app.mapreduce.am.job.task.estimator.class";
        const EXPONENTIAL: &str =
            "org.apache.hadoop.mapreduce.v2.app.speculate.SimpleExponentialTaskRuntimeEstimator";
        let Caps { minimum, of_total, of_running } = self.caps;
        let retry = self.retry_after_speculate_ms;
        let mut settings = vec![
            EngineSetting::new("mapreduce.map.speculative", &true),
            EngineSetting::new("mapreduce.reduce.speculative", &true),
            EngineSetting::new("mapreduce.job.speculative.minimum-allowed-tasks", &minimum),
            EngineSetting::new("mapreduce.job.speculative.speculative-cap-total-tasks", &of_total),
            EngineSetting::new("mapreduce.job.speculative.speculative-cap-running-tasks", &of_running),
            EngineSetting::new("mapreduce.job.speculative.retry-after-speculate", &retry),
        ];
        // The legacy estimator is the default.
        if self.estimator == Estimator::SimpleExponential {
            settings.push(EngineSetting::new(ESTIMATOR, &EXPONENTIAL));
        }
        settings
    }

    fn compared(&self, snapshot: &Snapshot<'_>, attempt: &Running) -> Option<Compared> {
        let end = attempt.start_ms.saturating_add(self.estimate(attempt)?);
        let value = end.saturating_sub(snapshot.now_ms) as f64;
        Some(Compared { measure: Compared::TIME_LEFT, value, limit: self.new_attempt(snapshot)? as f64 })
    }

    fn flag(&self, snapshot: &Snapshot<'_>, past: &Past<'_>, flags: &mut Vec<usize>) {
        // Hadoop does not speculate while a task of the kind waits for a container.
        if snapshot.pending > 0 || self.is_resting(snapshot.now_ms, past) {
            return;
        }
        if !gate_is_open(snapshot.completed.count(), snapshot.total) {
            return;
        }
        let worths = self.worths(snapshot, past);
        let allowed = self.caps.allowed(snapshot.total, snapshot.running.len());
        flags.extend(choose(&worths, past.still_running, allowed));
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{NOTHING, compared, group, running};
    use super::*;

    #[test]
    fn the_gate_needs_one_task_and_five_percent() {
        assert!(!gate_is_open(0, 0));
        assert!(!gate_is_open(0, 10));
        assert!(gate_is_open(1, 20));
        assert!(!gate_is_open(1, 21));
    }

    #[test]
    fn the_cap_grows_with_the_number_of_tasks() {
        assert_eq!(Caps::DEFAULT.allowed(100, 100), 10);
        assert_eq!(Caps::DEFAULT.allowed(5000, 100), 50);
        assert_eq!(Caps::DEFAULT.allowed(5000, 1000), 100);
    }

    #[test]
    fn the_first_of_equal_savings_wins() {
        assert_eq!(choose(&[Worth::TooLate, Worth::Saves(5), Worth::Saves(5)], 0, 10), Some(1));
        assert_eq!(choose(&[Worth::Saves(5)], 10, 10), None);
        assert_eq!(choose(&[], 0, 10), None);
    }

    #[test]
    fn at_most_one_copy_every_fifteen_seconds() {
        let attempts = [running(60.0, 0.9), running(60.0, 0.1), running(60.0, 0.1)];
        let mut group = group(60.0, &attempts);
        group.finish(40.0, 3);
        assert_eq!(group.flags(&Mr2::LEGACY), [1]);
        // It seems to take 600 s, of which 60 s have passed.
        assert_eq!(compared(&group, &Mr2::LEGACY, 1), Some(("time_left_ms", 540_000_000, 40_000_000)));
        let flagged = [false, true, false];
        let past = Past { flagged: &flagged, still_running: 1, last_flag_ms: Some(50_000) };
        assert_eq!(group.flags_after(&Mr2::LEGACY, &past), NOTHING);
        let past = Past { last_flag_ms: Some(45_000), ..past };
        assert_eq!(group.flags_after(&Mr2::LEGACY, &past), [2]);
        group.pending = 1;
        assert_eq!(group.flags(&Mr2::LEGACY), NOTHING);
    }
}
