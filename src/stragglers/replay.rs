//! Takes detectors through a finished job as if it ran: at each scan they see what the cluster's master saw.
//!
//! Nothing is looked up ahead: whatever happens after a moment, the flags up to it stay as they are. The job itself is
//! not altered either (an open loop): a flag launches no copy and frees no slot. What does know the future is a progress
//! curve that is a straight line to a known end ([`ProgressSource::Linear`]); with it a progress rate is exactly one over
//! the duration, so results that rest on such curves are optimistic, and [`Sources`] says how many do.

mod model;
mod timeline;

pub use timeline::{Attempt, Done, Sources, Timeline};

use model::UsualProgress;

use super::detect::exponential::Smoothing;
use super::detect::{Completed, Detector, Parameter, Past, Running, Snapshot};
use super::progress::ProgressSource;
use super::regression::ProgressModel;
use crate::model::Engine;
use crate::units::Millis;

/// So many looks at a task are fine enough for it, however long it runs.
const LOOKS_PER_TASK: u64 = 1000;
/// Groups are given at least so many looks before the step grows.
const LEAST_LOOKS: u64 = 20_000;
/// Reports between two scans, when the step has grown, beyond which only the last is read.
const REPORTS_PER_SCAN: i64 = 16;

/// How a replay looks at a job.
#[derive(Debug, Clone, PartialEq)]
pub struct Options {
    /// Time between scans.
    pub step: Millis,
    /// Time between reports of an attempt, counted from its launch.
    pub report: Millis,
    /// Time after its launch in which an attempt makes no progress, for curves that are straight lines: containers and
    /// JVMs take their time to start, and a line from the launch on is the more optimistic.
    pub startup: Millis,
    /// After so many looks at running attempts the step is doubled, and again after as many more: the cost of a replay
    /// grows with the logarithm of a job's length. A group of few tasks gets by with a thousand for each.
    pub looks_per_step: u64,
    /// How tasks of the group usually progress, from earlier runs of the job; otherwise it is learnt from the tasks
    /// that succeed while the job runs.
    pub usual_progress: Option<ProgressModel>,
}

impl Options {
    /// A scan each second and a report each 3 s for MapReduce; a scan each 100 ms (`spark.speculation.interval`) and a
    /// report each 10 s (`spark.executor.heartbeatInterval`) for Spark.
    #[must_use]
    pub const fn of_engine(engine: Engine) -> Self {
        let (step, report) = match engine {
            Engine::MapReduce => (1000, 3000),
            Engine::Spark => (100, 10_000),
        };
        Self {
            step: Millis::new(step),
            report: Millis::new(report),
            startup: Millis::ZERO,
            looks_per_step: 1_000_000,
            usual_progress: None,
        }
    }
}

/// What the detectors did.
#[derive(Debug, Clone, PartialEq)]
pub struct Replay {
    /// Detector by detector, in the order in which they were given.
    pub detectors: Vec<Detections>,
    /// What the progress curves were drawn from.
    pub sources: Sources,
    /// How many scans there were; those with nothing running are skipped.
    pub scans: u64,
    /// Time between scans at the beginning.
    pub step: Millis,
    /// The same at the end, longer for long jobs.
    pub last_step: Millis,
    /// The last model of usual progress, if there was enough to learn one from.
    pub usual_progress: Option<ProgressModel>,
}

/// What one detector did.
#[derive(Debug, Clone, PartialEq)]
pub struct Detections {
    /// The detector's name.
    pub id: &'static str,
    /// Its settings.
    pub parameters: Vec<Parameter>,
    /// For each attempt of the timeline the time from its launch to its first flag.
    pub first: Vec<Option<Millis>>,
}

impl Replay {
    /// Whether what the detectors saw of progress knows the future to a good part: more than half of the curves are
    /// straight lines.
    #[must_use]
    pub const fn is_optimistic(&self) -> bool {
        self.sources.of(ProgressSource::Linear) * 2 > self.sources.known()
    }
}

/// Takes `detectors` through the history of a group.
#[must_use]
pub fn replay(timeline: &Timeline, detectors: &[Box<dyn Detector>], options: &Options) -> Replay {
    let mut states: Vec<State> = detectors.iter().map(|_| State::new(timeline.attempts.len())).collect();
    let mut flags = Vec::new();
    let mut film = Film::new(timeline, options);
    while let Some(retired) = film.advance() {
        for state in &mut states {
            state.retire(retired);
        }
        let snapshot = film.snapshot();
        for (detector, state) in detectors.iter().zip(&mut states) {
            flags.clear();
            detector.flag(&snapshot, &state.past(), &mut flags);
            state.record(&snapshot, &flags);
        }
    }
    let detections = detectors.iter().zip(states).map(|(detector, state)| Detections {
        id: detector.id(),
        parameters: detector.parameters(),
        first: state.first,
    });
    Replay {
        detectors: detections.collect(),
        sources: timeline.sources(),
        scans: film.scans,
        step: options.step,
        last_step: Millis::from_f64(film.step as f64).unwrap_or_default(),
        usual_progress: film.usual.into_model(),
    }
}

/// What a detector has done so far.
#[derive(Debug)]
pub(crate) struct State {
    first: Vec<Option<Millis>>,
    flagged: Vec<bool>,
    still_running: usize,
    last_flag_ms: Option<i64>,
}

impl State {
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

    /// For each attempt the time from its launch to its first flag.
    pub(crate) fn first_flags(&self) -> &[Option<Millis>] {
        &self.first
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

/// The history of a group, scan by scan.
pub(crate) struct Film<'a> {
    timeline: &'a Timeline,
    report: i64,
    startup: f64,
    looks_per_step: u64,
    step: i64,
    now: i64,
    looks: u64,
    scans: u64,
    /// How many of the timeline's launches, attempts and completions have been taken in.
    launched: usize,
    begun: usize,
    done: usize,
    running: Vec<Running>,
    retired: Vec<usize>,
    completed: Completed,
    usual: UsualProgress,
}

impl<'a> Film<'a> {
    pub(crate) fn new(timeline: &'a Timeline, options: &Options) -> Self {
        let at_least_one = |span: Millis| i64::try_from(span.get()).unwrap_or(i64::MAX).max(1);
        Self {
            timeline,
            report: at_least_one(options.report),
            startup: options.startup.as_f64(),
            looks_per_step: options.looks_per_step.clamp(1, enough_for(timeline.total)),
            step: at_least_one(options.step),
            now: 0,
            looks: 0,
            scans: 0,
            launched: 0,
            begun: 0,
            done: 0,
            running: Vec::new(),
            retired: Vec::new(),
            completed: Completed::default(),
            usual: UsualProgress::new(options.usual_progress.clone()),
        }
    }

    /// Goes on to the next scan at which something runs, and tells which attempts have ended since the last one; `None`
    /// when there is none any more.
    pub(crate) fn advance(&mut self) -> Option<&[usize]> {
        self.retired.clear();
        loop {
            if self.running.is_empty() {
                let next = self.timeline.attempts.get(self.begun)?.start_ms;
                // Keeps to the grid of scans.
                let steps = (next.saturating_sub(self.now).max(1) - 1) / self.step;
                self.now = self.now.saturating_add(steps.saturating_mul(self.step));
            }
            self.now = self.now.saturating_add(self.step);
            self.take_in();
            if !self.running.is_empty() {
                break;
            }
        }
        self.scans += 1;
        self.looks += self.running.len() as u64;
        if self.looks >= self.looks_per_step {
            self.looks = 0;
            self.step = self.step.saturating_mul(2);
        }
        Some(&self.retired)
    }

    /// What can be seen at this scan.
    pub(crate) fn snapshot(&self) -> Snapshot<'_> {
        Snapshot {
            now_ms: self.now,
            total: self.timeline.total,
            pending: self.timeline.total.saturating_sub(self.launched),
            completed: &self.completed,
            running: &self.running,
            usual_progress: self.usual.model(),
        }
    }

    /// Everything that has happened up to now.
    fn take_in(&mut self) {
        let Self { timeline, now, .. } = *self;
        let up_to_now = |moments: &[i64], from: usize| {
            moments.iter().skip(from).take_while(|&&moment| moment <= now).count()
        };
        self.launched += up_to_now(&timeline.launches, self.launched);
        while let Some(attempt) = timeline.attempts.get(self.begun).filter(|next| next.start_ms <= now) {
            self.running.push(attempt.launched(self.begun));
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
            look_at(running, attempt, now, report, startup);
            true
        });
    }
}

fn enough_for(tasks: usize) -> u64 {
    LOOKS_PER_TASK.saturating_mul(tasks as u64).max(LEAST_LOOKS)
}

/// Brings a running attempt up to date: its age, and the reports since the last scan.
fn look_at(running: &mut Running, attempt: &Attempt, now: i64, report: i64, startup: f64) {
    let age = now.saturating_sub(attempt.start_ms);
    running.elapsed = age as f64 / 1000.0;
    let last = running.reported_ms.unwrap_or(attempt.start_ms);
    let reports = now.saturating_sub(last) / report;
    let skipped = if reports > REPORTS_PER_SCAN { reports - 1 } else { 0 };
    let mut next = last.saturating_add(report.saturating_mul(skipped + 1));
    while next <= now {
        running.reported_ms = Some(next);
        if let Some(progress) = attempt.progress((next - attempt.start_ms) as f64, startup) {
            running.progress = Some(progress);
            running.smoothing = running.smoothing.map(|smoothing| smoothing.after(next, progress));
        }
        next = next.saturating_add(report);
    }
}

impl Attempt {
    /// The attempt as it is seen when it is launched.
    fn launched(&self, place: usize) -> Running {
        let told = self.curve.is_some();
        Running {
            attempt: place,
            start_ms: self.start_ms,
            elapsed: 0.0,
            progress: told.then_some(0.0),
            reported_ms: None,
            node: self.node,
            input: self.input,
            records: self.records,
            smoothing: told.then(|| Smoothing::new(self.start_ms, Smoothing::LAMBDA_MS, Smoothing::SKIP)),
        }
    }
}

#[cfg(test)]
mod tests;
