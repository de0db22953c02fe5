//! The application master's view of a run: the snapshots that detectors see.

use super::attempt::Attempt;
use super::node::Node;
use super::scenario::Scenario;
use elephant_analysis::stragglers::detect::exponential::Smoothing;
use elephant_analysis::stragglers::detect::{Completed, Completion, Detector, Past, Running, Snapshot};
use elephant_analysis::stragglers::regression::ProgressModel;
use elephant_base::whole::Whole;

/// The application master's view of a run.
#[derive(Debug, Default)]
pub(super) struct Watch {
    running: Vec<Running>,
    completed: Completed,
    /// For each attempt, whether it was flagged.
    flagged: Vec<bool>,
    last_flag_ms: Option<i64>,
    flags: Vec<usize>,
}

/// Seconds as whole milliseconds.
pub(super) fn millis(seconds: f64) -> i64 {
    (seconds * 1000.0).round().as_i64()
}

impl Watch {
    /// An original attempt is launched.
    pub(super) fn launched(&mut self, attempt: usize, node: usize, start: f64, scenario: &Scenario) {
        let start_ms = millis(start);
        self.running.push(Running {
            attempt,
            start_ms,
            elapsed: 0.0,
            progress: Some(0.0),
            reported_ms: None,
            node: u32::try_from(node).ok(),
            input: Some(scenario.split_bytes()),
            records_read: None,
            smoothing: Some(Smoothing::new(start_ms, Smoothing::LAMBDA_MS, Smoothing::SKIP)),
        });
    }

    /// A task has ended.
    pub(super) fn completed(&mut self, completion: &Completion) {
        self.completed.add(completion);
    }

    /// Updates the view: drops attempts that have ended, and takes the last report of running ones.
    pub(super) fn update(&mut self, attempts: &[Attempt], nodes: &[Node<'_>], now: f64, scenario: &Scenario) {
        let period = scenario.detection.report_s;
        self.running.retain_mut(|running| {
            let Some(attempt) = attempts.get(running.attempt).filter(|it| it.end.is_none()) else {
                return false;
            };
            running.elapsed = now - attempt.start;
            let reports = (running.elapsed / period).floor();
            if reports >= 1.0 {
                let reported = reports.mul_add(period, attempt.start);
                let reported_ms = millis(reported);
                let work = nodes.get(attempt.node).map_or(0.0, |node| node.work_at(reported));
                let done = attempt.base.map_or(0.0, |base| (work - base) / attempt.work);
                // Work before the container started is negative, and rounding could make progress fall.
                let progress = done.clamp(running.progress.unwrap_or(0.0), 1.0);
                running.progress = Some(progress);
                running.smoothing = running.smoothing.map(|it| it.after(reported_ms, progress));
                running.reported_ms = Some(reported_ms);
            }
            true
        });
    }

    /// The attempts that a detector flags now and has not flagged before.
    pub(super) fn new_flags(
        &mut self,
        detector: &dyn Detector,
        now: f64,
        total: usize,
        pending: usize,
        usual_progress: Option<&ProgressModel>,
    ) -> Vec<usize> {
        let Self { running, completed, flagged, last_flag_ms, flags } = self;
        let now_ms = millis(now);
        if running.is_empty() {
            return Vec::new();
        }
        let was_flagged = |attempt: usize| flagged.get(attempt).copied().unwrap_or(false);
        let still_running = running.iter().filter(|running| was_flagged(running.attempt)).count();
        let snapshot = Snapshot { now_ms, total, pending, completed, running, usual_progress };
        let past = Past { flagged, still_running, last_flag_ms: *last_flag_ms };
        flags.clear();
        detector.flag(&snapshot, &past, flags);
        let found = flags.iter().filter_map(|&place| running.get(place)).map(|running| running.attempt);
        let new: Vec<usize> = found.filter(|&attempt| !was_flagged(attempt)).collect();
        for &attempt in &new {
            if flagged.len() <= attempt {
                flagged.resize(attempt + 1, false);
            }
            if let Some(flag) = flagged.get_mut(attempt) {
                *flag = true;
            }
            *last_flag_ms = Some(now_ms);
        }
        new
    }
}
