//! One job of a pattern: its tasks start at once and progress on their own; detectors look at them.

use super::pattern::{Curve, Pattern};
use super::settings::Settings;
use crate::random::Random;
use elephant_analysis::stragglers::detect::exponential::Smoothing;
use elephant_analysis::stragglers::detect::{Completed, Completion, Detector, Past, Running, Snapshot};
use elephant_analysis::stragglers::regression::ProgressModel;
use elephant_base::stats::descriptive::median;
use elephant_base::stats::elementary;
use elephant_base::whole::Whole;

/// The greatest progress that a running task reports.
const ALMOST: f64 = 0.999_999;
/// Points of the model of usual progress.
const POINTS: u32 = 40;

/// A task of a job.
struct Task<'a> {
    progress: &'a Curve,
    straggler: bool,
    /// The standard normal number of its noise.
    noise: f64,
}

impl Task<'_> {
    /// The task's next report, at time `at`.
    fn report(&mut self, at: f64, pattern: &Pattern, random: &mut Random) -> f64 {
        let kept = pattern.correlation;
        self.noise = kept * self.noise + (1.0 - kept * kept).sqrt() * random.normal();
        let factor = elementary::exp(pattern.noise.at(at) * self.noise);
        (self.progress.at(at) * factor).clamp(0.0, ALMOST)
    }
}

/// The flags of a detector over several jobs.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct Tally {
    pub(super) stragglers: u64,
    /// Tasks that were flagged.
    pub(super) flagged: u64,
    /// Stragglers among them.
    pub(super) found: u64,
    /// Sum of the times from launch to flag, over the stragglers that were found.
    pub(super) seconds: f64,
    /// Sum of these times, as shares of the tasks' durations.
    pub(super) shares: f64,
}

/// Tasks of a job, with the random numbers of one stream.
fn tasks<'a>(pattern: &'a Pattern, count: usize, random: &mut Random) -> Vec<Task<'a>> {
    let task = |_| {
        let straggler = random.uniform() < pattern.straggler_share;
        let progress = if straggler { &pattern.straggler } else { &pattern.usual };
        Task { progress, straggler, noise: random.normal() }
    };
    (0..count).map(task).collect()
}

/// Usual progress as the history of one earlier job shows it: the median over its tasks.
pub(super) fn usual_progress(
    pattern: &Pattern,
    settings: &Settings,
    random: &mut Random,
) -> Option<ProgressModel> {
    let mut earlier = tasks(pattern, settings.tasks, random);
    let end = pattern.usual.end();
    let points: Option<Vec<(f64, f64)>> = (1..=POINTS)
        .map(|place| {
            let at = end * f64::from(place) / f64::from(POINTS);
            let reports: Vec<f64> = earlier
                .iter_mut()
                .map(|task| if at >= task.progress.end() { 1.0 } else { task.report(at, pattern, random) })
                .collect();
            Some((at, median(&reports)?))
        })
        .collect();
    ProgressModel::fit(&points?)
}

/// Seconds as whole milliseconds.
fn millis(seconds: f64) -> i64 {
    (seconds * 1000.0).round().as_i64()
}

/// A detector's state.
struct Watcher<'a> {
    detector: &'a dyn Detector,
    flagged: Vec<bool>,
    last_flag_ms: Option<i64>,
    tally: Tally,
}

impl Watcher<'_> {
    fn look(&mut self, snapshot: &Snapshot<'_>, tasks: &[Task<'_>], flags: &mut Vec<usize>) {
        let has_flagged = |task: usize| self.flagged.get(task).copied().unwrap_or(false);
        let still_running = snapshot.running.iter().filter(|it| has_flagged(it.attempt)).count();
        let past = Past { flagged: &self.flagged, still_running, last_flag_ms: self.last_flag_ms };
        flags.clear();
        self.detector.flag(snapshot, &past, flags);
        for running in flags.iter().filter_map(|&place| snapshot.running.get(place)) {
            let (Some(flag), Some(task)) =
                (self.flagged.get_mut(running.attempt), tasks.get(running.attempt))
            else {
                continue;
            };
            if std::mem::replace(flag, true) {
                continue;
            }
            self.last_flag_ms = Some(snapshot.now_ms);
            self.tally.flagged += 1;
            if task.straggler {
                self.tally.found += 1;
                self.tally.seconds += running.elapsed;
                self.tally.shares += running.elapsed / task.progress.end();
            }
        }
    }
}

/// Runs one job; the tallies are in the order of the detectors.
pub(super) fn run(
    pattern: &Pattern,
    settings: &Settings,
    detectors: &[Box<dyn Detector>],
    usual: Option<&ProgressModel>,
    random: &mut Random,
) -> Vec<Tally> {
    let mut tasks = tasks(pattern, settings.tasks, random);
    let stragglers = tasks.iter().filter(|task| task.straggler).count() as u64;
    let tally = Tally { stragglers, ..Tally::default() };
    let mut watchers: Vec<Watcher<'_>> = Vec::new();
    for detector in detectors {
        let flagged = vec![false; settings.tasks];
        watchers.push(Watcher { detector: detector.as_ref(), flagged, last_flag_ms: None, tally });
    }
    let mut running: Vec<Running> = (0..tasks.len()).map(launched).collect();
    let mut completed = Completed::default();
    let (mut flags, mut scan) = (Vec::new(), 0_u32);
    while !running.is_empty() {
        let now = settings.first_scan_s + f64::from(scan) * settings.scan_s;
        scan += 1;
        running.retain_mut(|running| {
            let Some(task) = tasks.get_mut(running.attempt) else { return false };
            let end = task.progress.end();
            if now >= end {
                completed.add(&Completion {
                    at_ms: millis(end),
                    duration_ms: millis(end).unsigned_abs(),
                    input: None,
                    records: None,
                });
                return false;
            }
            let progress = task.report(now, pattern, random);
            running.elapsed = now;
            running.progress = Some(progress);
            running.reported_ms = Some(millis(now));
            running.smoothing = running.smoothing.map(|it| it.after(millis(now), progress));
            true
        });
        let snapshot = Snapshot {
            now_ms: millis(now),
            total: settings.tasks,
            pending: 0,
            completed: &completed,
            running: &running,
            usual_progress: usual,
        };
        for watcher in &mut watchers {
            watcher.look(&snapshot, &tasks, &mut flags);
        }
    }
    watchers.into_iter().map(|watcher| watcher.tally).collect()
}

/// A task at its launch. Each has a machine of its own.
fn launched(attempt: usize) -> Running {
    Running {
        attempt,
        start_ms: 0,
        elapsed: 0.0,
        progress: Some(0.0),
        reported_ms: None,
        node: u32::try_from(attempt).ok(),
        input: None,
        records_read: None,
        smoothing: Some(Smoothing::new(0, Smoothing::LAMBDA_MS, Smoothing::SKIP)),
    }
}
