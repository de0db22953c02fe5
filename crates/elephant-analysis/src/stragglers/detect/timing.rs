//! When a detector may flag at all: the speculative lag of S0 (Table 1), a minimum age, no waiting tasks.

use super::options::DetectorOptions;
use super::snapshot::{Running, Snapshot};
use super::{Parameter, Value};

/// Which run time the speculative lag refers to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LagScope {
    /// The job's run time (S0 Table 1).
    Job,
    /// The task's run time (Hadoop 0.20).
    Task,
}

/// When a detector may flag.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Timing {
    /// The speculative lag in seconds.
    pub lag: f64,
    /// Which run time it refers to.
    pub lag_scope: LagScope,
    /// Minimum run time of an attempt, in seconds; younger attempts have no reliable rate.
    pub min_age: f64,
    /// Whether flags require that no task of the group waits for its launch (S0 Table 1).
    pub require_no_pending: bool,
}

impl Timing {
    /// A lag of 20 s for the job (S0 section 6.2), and attempts of at least 9 s, which are three reports in
    /// Hadoop. Tasks may be waiting: this rates detectors, not the scheduler's queue.
    pub const S0: Self =
        Self { lag: 20.0, lag_scope: LagScope::Job, min_age: 9.0, require_no_pending: false };

    /// At any time, for attempts of at least `min_age` seconds.
    #[must_use]
    pub(crate) const fn from_age(min_age: f64) -> Self {
        Self { lag: 0.0, lag_scope: LagScope::Job, min_age, require_no_pending: false }
    }

    /// The timing with a user's lag.
    #[must_use]
    pub(super) fn with(self, options: &DetectorOptions) -> Self {
        Self { lag: options.lag.map_or(self.lag, |lag| lag.as_f64() / 1000.0), ..self }
    }

    /// Whether any attempt may be flagged now.
    #[must_use]
    pub(crate) fn is_open(&self, snapshot: &Snapshot<'_>) -> bool {
        let late_enough = self.lag_scope == LagScope::Task || snapshot.now() >= self.lag;
        late_enough && !(self.require_no_pending && snapshot.pending > 0)
    }

    /// Whether this attempt is old enough to be flagged.
    #[must_use]
    pub(crate) fn is_old_enough(&self, attempt: &Running) -> bool {
        let lag = if self.lag_scope == LagScope::Task { self.lag } else { 0.0 };
        attempt.elapsed >= self.min_age.max(lag)
    }

    pub(super) fn parameters(&self) -> Vec<Parameter> {
        let scope = match self.lag_scope {
            LagScope::Job => "job",
            LagScope::Task => "task",
        };
        vec![
            Parameter::new("lag_s", Value::Number(self.lag)),
            Parameter::new("lag_scope", Value::Word(scope)),
            Parameter::new("min_age_s", Value::Number(self.min_age)),
            Parameter::new("require_no_pending", Value::Flag(self.require_no_pending)),
        ]
    }
}
