//! Usual progress of the group's tasks, learnt from those that succeeded so far.

use super::timeline::Timeline;
use crate::stragglers::regression::{ProgressModel, median_curve};

/// Fewer tasks do not show what usual progress is.
const MIN_TASKS: usize = 5;
/// If more tasks succeeded, only an evenly spaced sample of them is used.
const MAX_TASKS: usize = 256;
/// Number of times at which medians are computed.
pub const GRID: u32 = 20;

/// The model, refitted each time the number of tasks it was fitted to has doubled.
#[derive(Debug)]
pub(super) struct UsualProgress {
    model: Option<ProgressModel>,
    /// Whether it came from earlier runs; then it is never refitted.
    given: bool,
    next: usize,
}

impl UsualProgress {
    pub(super) fn new(given: Option<ProgressModel>) -> Self {
        Self { given: given.is_some(), model: given, next: MIN_TASKS }
    }

    pub(super) fn model(&self) -> Option<&ProgressModel> {
        self.model.as_ref()
    }

    pub(super) fn into_model(self) -> Option<ProgressModel> {
        self.model
    }

    /// Refits from the first `done` tasks, if their number has doubled.
    pub(super) fn learn(&mut self, timeline: &Timeline, done: usize) {
        if self.given || done < self.next {
            return;
        }
        self.next = done * 2;
        if let Some(model) = points(timeline, done).and_then(|points| ProgressModel::fit(&points)) {
            self.model = Some(model);
        }
    }
}

/// Median progress of the tasks that succeeded, over seconds since launch; `None` if there are too few.
#[must_use]
pub fn median_progress(timeline: &Timeline) -> Option<Vec<(f64, f64)>> {
    points(timeline, timeline.done.len())
}

/// Median progress of the first `done` tasks.
fn points(timeline: &Timeline, done: usize) -> Option<Vec<(f64, f64)>> {
    let sample: Vec<_> = timeline.done.iter().take(done).filter_map(|done| done.attempt).collect();
    let stride = sample.len().div_ceil(MAX_TASKS).max(1);
    let attempts = sample.iter().step_by(stride).filter_map(|&place| timeline.attempts.get(place));
    let sample: Vec<_> = attempts.filter(|attempt| attempt.curve.is_some()).collect();
    if sample.len() < MIN_TASKS {
        return None;
    }
    let end =
        sample.iter().map(|attempt| attempt.finish_ms - attempt.start_ms).max().unwrap_or(0) as f64 / 1000.0;
    let curves: Vec<_> = sample
        .iter()
        .map(|attempt| {
            let whole = (attempt.finish_ms - attempt.start_ms) as f64;
            move |seconds: f64| {
                let elapsed = seconds * 1000.0;
                if elapsed >= whole { 1.0 } else { attempt.progress(elapsed, 0.0).unwrap_or(0.0) }
            }
        })
        .collect();
    median_curve(&curves, end, GRID)
}
