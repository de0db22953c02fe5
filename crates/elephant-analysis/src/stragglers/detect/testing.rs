//! Builds snapshots for tests.

use super::Detector;
use super::snapshot::{Completed, Completion, Past, Running, Snapshot};
use crate::stragglers::regression::ProgressModel;
use elephant_base::whole::Whole;

/// No flags.
pub(super) const NOTHING: [usize; 0] = [];

pub(super) struct Group {
    pub(super) now: f64,
    pub(super) total: usize,
    pub(super) pending: usize,
    pub(super) completed: Completed,
    pub(super) running: Vec<Running>,
    pub(super) model: Option<ProgressModel>,
}

/// An attempt that has just reported.
pub(super) fn running(elapsed: f64, progress: f64) -> Running {
    Running {
        attempt: 0,
        start_ms: 0,
        elapsed,
        progress: Some(progress),
        reported_ms: Some((elapsed * 1000.0).as_i64()),
        node: None,
        input: None,
        records_read: None,
        smoothing: None,
    }
}

/// A group with only these attempts.
pub(super) fn group(now: f64, running: &[Running]) -> Group {
    let numbered = running.iter().enumerate().map(|(place, &attempt)| Running { attempt: place, ..attempt });
    Group {
        now,
        total: running.len(),
        pending: 0,
        completed: Completed::default(),
        running: numbered.collect(),
        model: None,
    }
}

/// The comparison of a detector for a running attempt, with the numbers in thousandths.
pub(super) fn compared(
    group: &Group,
    detector: &dyn Detector,
    place: usize,
) -> Option<(&'static str, i64, i64)> {
    let compared = detector.compared(&group.snapshot(), &group.running[place])?;
    let thousandths = |number: f64| (1000.0 * number).round().as_i64();
    Some((compared.measure, thousandths(compared.value), thousandths(compared.limit)))
}

impl Group {
    /// Adds `count` tasks that took `seconds`.
    pub(super) fn finish(&mut self, seconds: f64, count: usize) {
        for _ in 0..count {
            let duration_ms = (seconds * 1000.0).as_u64();
            self.completed.add(&Completion { at_ms: 0, duration_ms, input: None, records: None });
            self.total += 1;
        }
    }

    pub(super) fn snapshot(&self) -> Snapshot<'_> {
        Snapshot {
            now_ms: (self.now * 1000.0).as_i64(),
            total: self.total,
            pending: self.pending,
            completed: &self.completed,
            running: &self.running,
            usual_progress: self.model.as_ref(),
        }
    }

    pub(super) fn flags(&self, detector: &dyn Detector) -> Vec<usize> {
        self.flags_after(detector, &Past::default())
    }

    pub(super) fn flags_after(&self, detector: &dyn Detector, past: &Past<'_>) -> Vec<usize> {
        let mut flags = Vec::new();
        detector.flag(&self.snapshot(), past, &mut flags);
        flags
    }
}
