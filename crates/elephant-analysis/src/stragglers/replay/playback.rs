//! Plays back a group of tasks, and keeps what each detector has flagged.

use super::model::UsualProgress;
use super::options::Options;
use super::timeline::{Attempt, Timeline};
use crate::stragglers::detect::exponential::Smoothing;
use crate::stragglers::detect::{Completed, Past, Running, Snapshot};
use crate::stragglers::regression::ProgressModel;
use elephant_base::units::Millis;

/// This many observations of a task are precise enough, however long it runs.
const OBSERVATIONS_PER_TASK: u64 = 1000;
/// Groups get at least this many observations before the step grows.
const MIN_OBSERVATIONS: u64 = 20_000;
/// When the step has grown and more reports than this lie between two scans, only the last is read.
const REPORTS_PER_SCAN: i64 = 16;

/// What one detector has flagged so far.
#[derive(Debug)]
pub(crate) struct DetectorState {
    first: Vec<Option<Millis>>,
    flagged: Vec<bool>,
    still_running: usize,
    last_flag_ms: Option<i64>,
}

impl DetectorState {
    pub(crate) fn new(attempts: usize) -> Self {
        Self {
            first: vec![None; attempts],
            flagged: vec![false; attempts],
            still_running: 0,
            last_flag_ms: None,
        }
    }

    pub(crate) fn past(&self) -> Past<'_> {
        Past { flagged: &self.flagged, still_running: self.still_running, last_flag_ms: self.last_flag_ms }
    }

    /// For each attempt, the time from its launch to its first flag.
    pub(super) fn into_first_flags(self) -> Vec<Option<Millis>> {
        self.first
    }

    /// The first flags so far, as in [`Self::into_first_flags`].
    pub(crate) fn first_flags(&self) -> &[Option<Millis>] {
        &self.first
    }

    /// Makes room for `attempts` attempts.
    pub(crate) fn grow(&mut self, attempts: usize) {
        self.first.resize(attempts.max(self.first.len()), None);
        self.flagged.resize(attempts.max(self.flagged.len()), false);
    }

    pub(crate) fn retire(&mut self, attempts: &[usize]) {
        let flagged = attempts.iter().filter(|&&attempt| self.flagged.get(attempt) == Some(&true)).count();
        self.still_running = self.still_running.saturating_sub(flagged);
    }

    pub(crate) fn record(&mut self, snapshot: &Snapshot<'_>, flags: &[usize]) {
        for attempt in flags.iter().filter_map(|&place| snapshot.running.get(place)) {
            let (Some(flagged), Some(first)) =
                (self.flagged.get_mut(attempt.attempt), self.first.get_mut(attempt.attempt))
            else {
                continue;
            };
            if *flagged {
                continue;
            }
            *flagged = true;
            *first = Millis::from_f64((snapshot.now_ms - attempt.start_ms) as f64);
            self.still_running += 1;
            self.last_flag_ms = Some(snapshot.now_ms);
        }
    }
}

/// Plays back the timeline of a group, scan by scan. The timeline may grow between scans, but only by events
/// after the last scan.
#[derive(Debug)]
pub(crate) struct Playback {
    report: i64,
    startup: f64,
    told_progress: bool,
    observations_per_step: u64,
    step: i64,
    now: i64,
    observations: u64,
    scans: u64,
    /// How many of the timeline's launches, attempts and completions have been processed.
    launched: usize,
    begun: usize,
    done: usize,
    running: Vec<Running>,
    retired: Vec<usize>,
    /// Whether `retired` has been returned to the caller.
    handed_on: bool,
    completed: Completed,
    usual: UsualProgress,
}

impl Playback {
    /// The state before the first scan of a group of `tasks` tasks.
    pub(crate) fn new(tasks: usize, options: &Options) -> Self {
        let at_least_one = |span: Millis| i64::try_from(span.get()).unwrap_or(i64::MAX).max(1);
        Self {
            report: at_least_one(options.report),
            startup: options.startup.as_f64(),
            told_progress: options.told_progress,
            observations_per_step: options.observations_per_step.clamp(1, observation_limit(tasks)),
            step: at_least_one(options.step),
            now: 0,
            observations: 0,
            scans: 0,
            launched: 0,
            begun: 0,
            done: 0,
            running: Vec::new(),
            retired: Vec::new(),
            handed_on: false,
            completed: Completed::default(),
            usual: UsualProgress::new(options.usual_progress.clone()),
        }
    }

    /// Goes to the next scan with a running attempt, and returns the attempts that ended since the last scan;
    /// `None` after the last one, or if the next one is later than `until`.
    pub(crate) fn advance(&mut self, timeline: &Timeline, until: Option<i64>) -> Option<&[usize]> {
        if std::mem::take(&mut self.handed_on) {
            self.retired.clear();
        }
        loop {
            let mut now = self.now;
            if self.running.is_empty() {
                let next = timeline.attempts.get(self.begun)?.start_ms;
                // Stays on the grid of scans.
                let steps = (next.saturating_sub(now).max(1) - 1) / self.step;
                now = now.saturating_add(steps.saturating_mul(self.step));
            }
            now = now.saturating_add(self.step);
            if until.is_some_and(|until| now > until) {
                return None;
            }
            self.now = now;
            self.process_events(timeline);
            if !self.running.is_empty() {
                break;
            }
        }
        self.scans += 1;
        self.observations += self.running.len() as u64;
        if self.observations >= self.observations_per_step {
            self.observations = 0;
            self.step = self.step.saturating_mul(2);
        }
        self.handed_on = true;
        Some(&self.retired)
    }

    /// Records a report of a running attempt. Only attempts without a curve need this; those with a curve
    /// report automatically.
    pub(crate) fn report(&mut self, attempt: usize, at_ms: i64, progress: Option<f64>, records: Option<f64>) {
        let place = self.running.binary_search_by_key(&attempt, |running| running.attempt);
        let Some(running) = place.ok().and_then(|place| self.running.get_mut(place)) else { return };
        running.reported_ms = Some(at_ms);
        running.records_read = records;
        if let Some(progress) = progress {
            let begun = || Smoothing::new(running.start_ms, Smoothing::LAMBDA_MS, Smoothing::SKIP);
            running.smoothing = Some(running.smoothing.unwrap_or_else(begun).after(at_ms, progress));
            running.progress = Some(progress);
        }
    }

    /// The number of scans so far.
    pub(super) const fn scans(&self) -> u64 {
        self.scans
    }

    /// The time between scans at the moment.
    pub(super) fn step(&self) -> Millis {
        Millis::from_f64(self.step as f64).unwrap_or_default()
    }

    /// The last model of usual progress.
    pub(super) fn into_usual_progress(self) -> Option<ProgressModel> {
        self.usual.into_model()
    }

    /// The number of launches up to the last scan.
    pub(crate) const fn launched(&self) -> usize {
        self.launched
    }

    /// The number of attempts that began up to the last scan.
    pub(crate) const fn begun(&self) -> usize {
        self.begun
    }

    /// The number of tasks that succeeded up to the last scan.
    pub(crate) const fn completed(&self) -> usize {
        self.done
    }

    /// Whether nothing runs and nothing is known to begin later.
    pub(crate) fn is_at_end(&self, timeline: &Timeline) -> bool {
        self.running.is_empty() && self.begun == timeline.attempts.len()
    }

    /// What detectors see at this scan.
    pub(crate) fn snapshot(&self, timeline: &Timeline) -> Snapshot<'_> {
        Snapshot {
            now_ms: self.now,
            total: timeline.total,
            pending: timeline.total.saturating_sub(self.launched),
            completed: &self.completed,
            running: &self.running,
            usual_progress: self.usual.model(),
        }
    }

    /// Processes everything that has happened up to now.
    fn process_events(&mut self, timeline: &Timeline) {
        let now = self.now;
        let up_to_now = |moments: &[i64], from: usize| {
            moments.iter().skip(from).take_while(|&&moment| moment <= now).count()
        };
        self.launched += up_to_now(&timeline.launches, self.launched);
        while let Some(attempt) = timeline.attempts.get(self.begun).filter(|next| next.start_ms <= now) {
            self.running.push(attempt.launched(self.begun, self.told_progress));
            self.begun += 1;
        }
        while let Some(done) = timeline.done.get(self.done).filter(|next| next.completion.at_ms <= now) {
            self.completed.add(&done.completion);
            self.done += 1;
        }
        self.usual.learn(timeline, self.done);
        let (report, startup, retired) = (self.report, self.startup, &mut self.retired);
        self.running.retain_mut(|running| {
            let Some(attempt) = timeline.attempts.get(running.attempt).filter(|it| now < it.finish_ms) else {
                retired.push(running.attempt);
                return false;
            };
            update(running, attempt, now, report, startup);
            true
        });
    }
}

fn observation_limit(tasks: usize) -> u64 {
    OBSERVATIONS_PER_TASK.saturating_mul(tasks as u64).max(MIN_OBSERVATIONS)
}

/// Updates a running attempt: its age, and the reports since the last scan.
fn update(running: &mut Running, attempt: &Attempt, now: i64, report: i64, startup: f64) {
    let age = now.saturating_sub(attempt.start_ms);
    running.elapsed = age as f64 / 1000.0;
    if attempt.curve.is_none() {
        return;
    }
    let last = running.reported_ms.unwrap_or(attempt.start_ms);
    let reports = now.saturating_sub(last) / report;
    let skipped = if reports > REPORTS_PER_SCAN { reports - 1 } else { 0 };
    let mut next = last.saturating_add(report.saturating_mul(skipped + 1));
    while next <= now {
        running.reported_ms = Some(next);
        if let Some(progress) = attempt.progress((next - attempt.start_ms) as f64, startup) {
            running.progress = Some(progress);
            running.records_read = attempt.records.map(|records| records * progress);
            running.smoothing = running.smoothing.map(|smoothing| smoothing.after(next, progress));
        }
        next = next.saturating_add(report);
    }
}

impl Attempt {
    /// The attempt as seen at its launch.
    fn launched(&self, place: usize, told_progress: bool) -> Running {
        let has_progress = self.curve.is_some() || told_progress;
        Running {
            attempt: place,
            start_ms: self.start_ms,
            elapsed: 0.0,
            progress: has_progress.then_some(0.0),
            reported_ms: None,
            node: self.node,
            input: self.input,
            records_read: None,
            smoothing: has_progress
                .then(|| Smoothing::new(self.start_ms, Smoothing::LAMBDA_MS, Smoothing::SKIP)),
        }
    }
}
