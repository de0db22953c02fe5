//! `default`: progress below the average by a fixed gap (S0 eq 5 and 6; Hadoop up to 0.20).

use super::options::DetectorOptions;
use super::pool::Pool;
use super::snapshot::{Past, Running, Snapshot};
use super::timing::{LagScope, Timing};
use super::{Compared, Detector, Parameter, Value};

/// Whether a progress score is more than `gap` below the average (S0 eq 6).
#[must_use]
pub fn is_behind(progress: f64, average: f64, gap: f64) -> bool {
    progress < average - gap
}

/// The average of a snapshot's progress scores.
pub(super) fn average_of(pool: Pool, snapshot: &Snapshot<'_>) -> Option<f64> {
    pool.average(snapshot.completed.count(), snapshot.pending, snapshot.progress())
}

/// An attempt's progress, and the lowest progress that is not behind the average.
pub(super) fn compared_with_average(
    pool: Pool,
    gap: f64,
    snapshot: &Snapshot<'_>,
    attempt: &Running,
) -> Option<Compared> {
    let (value, limit) = (attempt.progress?, average_of(pool, snapshot)? - gap);
    Some(Compared { measure: Compared::PROGRESS, value, limit })
}

/// Flags attempts whose progress is more than `gap` below the average.
#[derive(Debug, Clone, Copy)]
pub struct AverageGap {
    /// The name in reports.
    pub id: &'static str,
    /// The gap.
    pub gap: f64,
    /// The tasks the average is computed over.
    pub pool: Pool,
    /// When it may flag.
    pub timing: Timing,
}

impl AverageGap {
    /// S0's Default.
    pub const DEFAULT: Self = Self { id: "default", gap: 0.2, pool: Pool::Launched, timing: Timing::S0 };

    /// Hadoop 0.20 (`JobInProgress`, `TaskInProgress.hasSpeculativeTask`): the average is over the job, the
    /// lag of one minute is per task, and no task may be waiting.
    pub(crate) const HADOOP_0_20: Self = Self {
        id: "default-hadoop-0.20",
        gap: 0.2,
        pool: Pool::All,
        timing: Timing { lag: 60.0, lag_scope: LagScope::Task, min_age: 0.0, require_no_pending: true },
    };
}

impl AverageGap {
    /// The detector with a user's changes.
    #[must_use]
    pub(crate) fn with(self, options: &DetectorOptions) -> Self {
        Self {
            gap: options.gap.unwrap_or(self.gap),
            pool: options.pool.unwrap_or(self.pool),
            timing: self.timing.with(options),
            ..self
        }
    }
}

impl Detector for AverageGap {
    fn id(&self) -> &'static str {
        self.id
    }

    fn parameters(&self) -> Vec<Parameter> {
        let mut parameters = vec![
            Parameter::new("gap", Value::Number(self.gap)),
            Parameter::new("pool", Value::Word(self.pool.name())),
        ];
        parameters.extend(self.timing.parameters());
        parameters
    }

    fn compared(&self, snapshot: &Snapshot<'_>, attempt: &Running) -> Option<Compared> {
        compared_with_average(self.pool, self.gap, snapshot, attempt)
    }

    fn flag(&self, snapshot: &Snapshot<'_>, _past: &Past<'_>, flags: &mut Vec<usize>) {
        if !self.timing.is_open(snapshot) {
            return;
        }
        let Some(average) = average_of(self.pool, snapshot) else { return };
        let attempts = snapshot.running.iter().enumerate();
        let behind = attempts.filter(|(_, attempt)| {
            attempt.reported_progress().is_some_and(|progress| is_behind(progress, average, self.gap))
                && self.timing.is_old_enough(attempt)
        });
        flags.extend(behind.map(|(place, _)| place));
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{NOTHING, compared, group, running};
    use super::*;

    #[test]
    fn progress_is_compared_with_the_average_less_the_gap() {
        let group = group(30.0, &[running(30.0, 0.9), running(30.0, 0.1)]);
        assert_eq!(compared(&group, &AverageGap::DEFAULT, 1), Some(("progress", 100, 300)));
    }

    #[test]
    fn an_empty_pool_has_no_average() {
        assert_eq!(Pool::Running.average(3, 2, [].into_iter()), None);
        assert_eq!(Pool::All.average(0, 0, [].into_iter()), None);
        assert_eq!(Pool::All.average(0, 2, [].into_iter()), Some(0.0));
    }

    #[test]
    fn the_lag_applies_to_the_job_or_the_task() {
        let attempts = [running(30.0, 0.9), running(10.0, 0.1)];
        let seen = |detector: AverageGap, at: f64| group(at, &attempts).flags(&detector);
        let job = AverageGap { pool: Pool::Running, ..AverageGap::DEFAULT };
        assert_eq!(seen(job, 19.0), NOTHING);
        assert_eq!(seen(job, 20.0), [1]);
        let task = Timing { lag_scope: LagScope::Task, ..Timing::S0 };
        assert_eq!(seen(AverageGap { timing: task, ..job }, 60.0), NOTHING);
    }

    #[test]
    fn waiting_tasks_may_block_detection() {
        let attempts = [running(30.0, 0.9), running(30.0, 0.1)];
        let mut group = group(60.0, &attempts);
        group.pending = 1;
        let timing = Timing { require_no_pending: true, ..Timing::S0 };
        let strict = AverageGap { timing, pool: Pool::Running, ..AverageGap::DEFAULT };
        assert_eq!(group.flags(&strict), NOTHING);
        group.pending = 0;
        assert_eq!(group.flags(&strict), [1]);
    }
}
