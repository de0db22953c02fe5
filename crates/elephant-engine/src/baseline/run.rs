//! The entry of a run in a baseline.

use super::{ReadPhase, Run};
use crate::fingerprint::hash;
use crate::results::{ApplicationReport, Metric, PhaseWork};
use elephant_analysis::metrics::AtLeast;
use elephant_base::units::{Bytes, MbMillis, Millis, Timestamp};
use elephant_model::model::Status;

/// Digits of a run's hash: enough for the runs of one job.
const HASH_DIGITS: usize = 12;

impl Run {
    /// The costs of `app`.
    pub(super) fn of(app: &ApplicationReport) -> Self {
        let started = started(app);
        let hours = |amount: Option<MbMillis>| amount.map(|amount| rounded(amount.as_gb_hours()));
        Self {
            run: identity(app),
            started_at: started.and_then(Timestamp::to_rfc3339),
            runtime_ms: app.metrics.run_time.map(Millis::get),
            resource_used_gb_hours: hours(app.metrics.used),
            resource_wasted_gb_hours: hours(app.metrics.wasted),
            task_time_ms: app.work.task_time.map(Millis::get),
            failed_attempts_count: app.work.failed_attempts,
            input_bytes: app.work.input.map(Bytes::get),
            phases: app.phase_work.iter().map(ReadPhase::of).collect(),
        }
    }

    /// The costs that the part of an incomplete history shows at least. A part does not show how much was wasted: what
    /// follows may use it.
    pub(super) fn at_least(app: &ApplicationReport) -> Self {
        let AtLeast { run_time, used } = app.at_least;
        Self {
            runtime_ms: run_time.map(Millis::get),
            resource_used_gb_hours: used.map(|used| rounded(used.as_gb_hours())),
            resource_wasted_gb_hours: None,
            ..Self::of(app)
        }
    }

    /// The run's cost in this metric.
    pub(super) fn cost(&self, metric: Metric) -> Option<f64> {
        match metric {
            Metric::Runtime => self.runtime_ms.map(|ms| Millis::new(ms).as_f64()),
            Metric::Used => self.resource_used_gb_hours,
            Metric::Wasted => self.resource_wasted_gb_hours,
            Metric::TaskTime => self.task_time_ms.map(|ms| Millis::new(ms).as_f64()),
            Metric::FailedAttempts => self.failed_attempts_count.map(|count| count as f64),
        }
    }
}

impl ReadPhase {
    /// Zeros are left out, and a name that may hold a path is replaced by its hash: a baseline tells nothing
    /// about a machine.
    #[must_use]
    #[doc(hidden)]
    pub fn of(phase: &PhaseWork) -> Self {
        let name = if phase.key.contains('/') { hash(&phase.key) } else { phase.key.clone() };
        let read = |bytes: Option<Bytes>| bytes.filter(|bytes| bytes.get() > 0).map(Bytes::get);
        Self {
            phase: name,
            input_bytes: read(phase.input),
            shuffle_read_bytes: read(phase.shuffle_read),
            runtime_ms: phase.time.map(Millis::get),
            task_time_ms: phase.task_time.map(Millis::get),
        }
    }
}

/// The run's identity in a baseline.
pub(super) fn identity(app: &ApplicationReport) -> String {
    identity_of(&app.id, app.attempt.as_deref(), started(app))
}

/// The same of the run with this id, attempt and start.
pub fn identity_of(id: &str, attempt: Option<&str>, started: Option<Timestamp>) -> String {
    let moment = started.map(Timestamp::as_millis);
    let identity = hash(&format!("run\n{id}\n{attempt:?}\n{moment:?}"));
    identity.get(..HASH_DIGITS).unwrap_or(&identity).to_owned()
}

fn started(app: &ApplicationReport) -> Option<Timestamp> {
    app.submitted_at.or(app.started_at)
}

/// Why the costs of `app` say nothing about the job; `None` if they do.
pub(super) fn unfit(app: &ApplicationReport) -> Option<&'static str> {
    match app.status {
        _ if !app.complete => Some("its log is incomplete"),
        Status::Failed => Some("it failed"),
        Status::Killed => Some("it was killed"),
        Status::Running => Some("it is still running"),
        Status::Succeeded | Status::Unknown => None,
    }
}

/// Five significant digits: more would only make files harder to compare.
#[must_use]
pub fn rounded(value: f64) -> f64 {
    format!("{value:.4e}").parse().unwrap_or(value)
}

#[cfg(test)]
mod tests {
    use super::rounded;

    #[test]
    fn five_digits_stay() {
        assert_eq!(rounded(8.812_345_6).to_string(), "8.8123");
        assert_eq!(rounded(0.0).to_string(), "0");
        assert_eq!(rounded(123_456_789.0).to_string(), "123460000");
    }
}
