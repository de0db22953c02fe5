//! Everything a detector may see at one time.

use super::exponential::Smoothing;
use super::ordered::Ordered;
use crate::stragglers::regression::ProgressModel;

/// The state of a task group at one time, as the application master sees it.
#[derive(Debug, Clone, Copy)]
pub struct Snapshot<'a> {
    /// Milliseconds since the group's first launch.
    pub now_ms: i64,
    /// Tasks of the group.
    pub total: usize,
    /// Tasks that have not been launched yet.
    pub pending: usize,
    /// The tasks that succeeded so far.
    pub completed: &'a Completed,
    /// The running original attempts, in launch order.
    pub running: &'a [Running],
    /// Usual progress of tasks of this kind, learnt from tasks that ended earlier.
    pub usual_progress: Option<&'a ProgressModel>,
}

impl Snapshot<'_> {
    /// Seconds since the group's first launch.
    #[must_use]
    pub(crate) fn now(&self) -> f64 {
        self.now_ms as f64 / 1000.0
    }

    /// The last reported progress of the running attempts, where it is logged.
    pub(crate) fn progress(&self) -> impl Iterator<Item = f64> + '_ {
        self.running.iter().filter_map(|attempt| attempt.progress)
    }
}

/// A running original attempt.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Running {
    /// Index of the attempt in the replay.
    pub attempt: usize,
    /// Its launch in milliseconds since the group's first launch.
    pub start_ms: i64,
    /// Seconds since its launch.
    pub elapsed: f64,
    /// The last reported progress, 0 before the first report; `None` if it is not logged.
    pub progress: Option<f64>,
    /// When it last reported, in milliseconds since the group's first launch.
    pub reported_ms: Option<i64>,
    /// Its node.
    pub node: Option<u32>,
    /// The size of its input, in the group's unit.
    pub input: Option<f64>,
    /// The input records read up to the last report.
    pub records_read: Option<f64>,
    /// The smoothed rate of its reports.
    pub smoothing: Option<Smoothing>,
}

impl Running {
    /// Milliseconds since its launch. Whole milliseconds stay whole despite rounding.
    pub(crate) fn elapsed_ms(&self) -> f64 {
        to_millis(self.elapsed)
    }

    /// The progress of an attempt that has reported. Before its first report nothing can be concluded.
    #[must_use]
    pub(crate) fn reported_progress(&self) -> Option<f64> {
        self.progress.filter(|_| self.reported_ms.is_some())
    }

    /// The progress rate `PS / (t - t_start)` in 1/s (S0 eq 7); `None` at its launch, or if its progress is
    /// unknown.
    #[must_use]
    pub(crate) fn progress_rate(&self) -> Option<f64> {
        self.progress.filter(|_| self.elapsed > 0.0).map(|progress| progress / self.elapsed)
    }

    /// The seconds left at that rate, `(1 - PS) / PR` (LATE); infinite without progress.
    #[must_use]
    pub(crate) fn time_left(&self) -> Option<f64> {
        let rate = self.progress_rate()?;
        Some(if rate > 0.0 { (1.0 - self.progress?) / rate } else { f64::INFINITY })
    }
}

/// A task that succeeded.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Completion {
    /// When it ended, in milliseconds since the group's first launch.
    pub at_ms: i64,
    /// Run time of the successful attempt.
    pub duration_ms: u64,
    /// The size of its input, in the group's unit.
    pub input: Option<f64>,
    /// The number of input records.
    pub records: Option<f64>,
}

/// Statistics of the tasks that succeeded so far.
#[derive(Debug, Clone, Default)]
pub struct Completed {
    durations_ms: Ordered,
    /// Seconds per unit of input, as bits: positive doubles sort like their bits.
    weighted: Ordered,
    sum: f64,
    sum_of_squares: f64,
    with_input: Totals,
    with_records: Totals,
}

/// Work done by tasks, and their time.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct Totals {
    /// Input or records.
    pub amount: f64,
    /// Seconds.
    pub time: f64,
}

impl Completed {
    /// Adds a task.
    pub fn add(&mut self, task: &Completion) {
        let seconds = task.duration_ms as f64 / 1000.0;
        self.durations_ms.insert(task.duration_ms);
        self.sum += seconds;
        self.sum_of_squares += seconds * seconds;
        if let Some(input) = task.input {
            self.with_input.amount += input;
            self.with_input.time += seconds;
            self.weighted.insert((seconds / input.max(f64::MIN_POSITIVE)).to_bits());
        }
        if let Some(records) = task.records {
            self.with_records.amount += records;
            self.with_records.time += seconds;
        }
    }

    /// The number of tasks that succeeded.
    #[must_use]
    pub(crate) fn count(&self) -> usize {
        self.durations_ms.len()
    }

    /// The mean duration in seconds.
    #[must_use]
    pub(crate) fn mean(&self) -> Option<f64> {
        (self.count() > 0).then(|| self.sum / self.count() as f64)
    }

    /// The population standard deviation of the durations in seconds.
    #[must_use]
    pub(crate) fn standard_deviation(&self) -> Option<f64> {
        let mean = self.mean()?;
        Some(mean.mul_add(-mean, self.sum_of_squares / self.count() as f64).max(0.0).sqrt())
    }

    /// The duration in milliseconds at `rank`, counted from 0, shortest first.
    #[must_use]
    pub(crate) fn duration_ms(&self, rank: usize) -> Option<u64> {
        self.durations_ms.at(rank)
    }

    /// The seconds per unit of input at `rank`, counted from 0, smallest first; `None` if any input is
    /// unknown.
    #[must_use]
    pub(crate) fn weighted(&self, rank: usize) -> Option<f64> {
        (self.weighted.len() == self.count()).then(|| self.weighted.at(rank).map(f64::from_bits))?
    }

    /// Input and time of the tasks whose input is known.
    #[must_use]
    pub(crate) const fn with_input(&self) -> Totals {
        self.with_input
    }

    /// Records and time of the tasks whose records are known.
    #[must_use]
    pub(crate) const fn with_records(&self) -> Totals {
        self.with_records
    }
}

/// The earlier flags of a detector: its own, not those of the cluster.
#[derive(Debug, Clone, Copy, Default)]
pub struct Past<'a> {
    /// For each attempt of the replay, whether the detector has flagged it.
    pub flagged: &'a [bool],
    /// The number of flagged attempts that still run.
    pub still_running: usize,
    /// The time of its latest new flag, in milliseconds since the group's first launch.
    pub last_flag_ms: Option<i64>,
}

impl Past<'_> {
    /// Whether the detector has flagged the attempt before.
    #[must_use]
    pub(crate) fn has_flagged(&self, attempt: &Running) -> bool {
        self.flagged.get(attempt.attempt).copied().unwrap_or(false)
    }
}

/// Seconds in milliseconds, to the nanosecond: as doubles, 1000 × 32.3 is less than 32,300.
pub(super) fn to_millis(seconds: f64) -> f64 {
    (1e9 * seconds).round() / 1e6
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_completed_tasks_statistics_are_unknown() {
        let completed = Completed::default();
        assert_eq!(completed.count(), 0);
        assert_eq!(completed.mean(), None);
        assert_eq!(completed.standard_deviation(), None);
        assert_eq!(completed.duration_ms(0), None);
    }

    #[test]
    fn times_per_input_need_every_input() {
        let mut completed = Completed::default();
        let task = Completion { at_ms: 0, duration_ms: 2000, input: Some(4.0), records: None };
        completed.add(&task);
        assert_eq!(completed.weighted(0), Some(0.5));
        assert_eq!(completed.with_records(), Totals::default());
        completed.add(&Completion { input: None, ..task });
        assert_eq!(completed.weighted(0), None);
        assert_eq!(completed.with_input(), Totals { amount: 4.0, time: 2.0 });
        assert_eq!(completed.standard_deviation(), Some(0.0));
    }
}
