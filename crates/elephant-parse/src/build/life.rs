//! When a job was submitted, was launched and ended: each is logged in several ways, and a time that the others
//! contradict is unknown.

use super::times::times;
use super::{SYNTHETIC_BEFORE, cluster};
use crate::ToldByName;
use crate::problem::Problems;
use elephant_base::units::{Millis, Timestamp};
use elephant_model::model::table::{Outcome, TaskGroup, TimePoint};
use elephant_model::model::{Application, Status};

/// How far the clocks of machines may be apart: Kerberos allows no more. In Hadoop 1, task trackers time attempts and the
/// job tracker the job; in Hadoop 2 and 3, the resource manager times the submission and the application master the rest.
/// Recorded clocks were less than two minutes apart.
pub(super) const MACHINES_APART: Millis = Millis::from_secs(5 * 60);

/// A job that is killed waits for its tasks: at most for a task's time-out, which is ten minutes by default.
pub(super) const WAIT_FOR_KILLS: Millis = Millis::from_secs(15 * 60);

/// Times of one clock. In recorded histories they are never in the wrong order; clocks are set now and then.
const ONE_CLOCK: Millis = Millis::from_secs(1);

/// A job may wait for resources, or commit its output, with nothing in its history. The delegation tokens of a job last no
/// longer.
const LONGEST_SILENCE: Millis = Millis::from_secs(7 * 24 * 60 * 60);

/// A time of a job of Hadoop 1 that nothing confirms is believed up to this far from everything else: the job's own tasks
/// for setup and cleanup come first and last.
const LONG_ALONE: Millis = Millis::from_secs(2 * 60 * 60);

/// Forgets times of the job that other times contradict, and warns about each. Returns whether there were any.
pub(super) fn check(app: &mut Application, problems: &mut Problems, clocks: Of, name: &ToldByName) -> bool {
    let (middle, first) = (middle_start(app), first_start(app));
    let confirmed = Confirmed::default();
    let mut life = Life { app, problems, clocks, middle, first, impossible: false, confirmed };
    if name.job == life.app.id {
        life.compare_with_name(name);
    }
    life.late_launch();
    life.submission(name);
    life.early_launch();
    life.early_end();
    life.late_end();
    life.backwards();
    life.impossible
}

/// The times that the name of the file repeats.
#[derive(Default)]
struct Confirmed {
    submitted: bool,
    finished: bool,
}

/// Which processes took the times of a job.
#[derive(Debug, Clone, Copy)]
pub(super) struct Of {
    /// Whether task trackers timed the attempts.
    pub(super) trackers: bool,
    /// Whether a second application master or job tracker launched the job again.
    pub(super) restarted: bool,
    /// Whether it is a history of Hadoop 1, which also has the tasks that prepare a job and clean up after it.
    pub(super) of_hadoop1: bool,
}

struct Life<'a> {
    app: &'a mut Application,
    problems: &'a mut Problems,
    clocks: Of,
    /// The median start of attempts, and the first start on which a task and its attempt agree.
    middle: Option<Timestamp>,
    first: Option<Timestamp>,
    impossible: bool,
    confirmed: Confirmed,
}

impl Life<'_> {
    fn warn(&mut self, code: &'static str, message: impl FnOnce() -> String) {
        self.impossible = true;
        self.problems.warn(code, None, message);
    }

    /// Hadoop puts the same times into the name of the file. If most of them agree with the events, the name is of this
    /// run, and the times of events that differ are wrong.
    fn compare_with_name(&mut self, name: &ToldByName) {
        let app = &mut *self.app;
        let times = [
            (&mut app.submitted_at, name.submitted, "was submitted"),
            (&mut app.launched_at, name.launched, "was launched"),
            (&mut app.finished_at, name.finished, "ended"),
        ];
        let agrees = |time: Option<Timestamp>, named| {
            time.zip(named).map(|(own, named)| within(own, named, ONE_CLOCK))
        };
        let verdicts = times.each_ref().map(|(time, named, _)| agrees(**time, *named));
        let [right, wrong] =
            [true, false].map(|is| verdicts.iter().filter(|&&found| found == Some(is)).count());
        let [submitted, _, finished] = verdicts.map(|found| found == Some(true));
        self.confirmed = Confirmed { submitted, finished };
        if wrong == 0 || wrong >= right {
            return;
        }
        let mut warnings = Vec::new();
        for ((time, named, what), found) in times.into_iter().zip(verdicts) {
            if found == Some(false)
                && let Some((own, named)) = time.take().zip(named)
            {
                let (span, order) = (apart(own, named), if own < named { "earlier" } else { "later" });
                warnings.push(format!(
                    "the job {what} {span} {order} than its file name says; that time is unknown"
                ));
            }
        }
        for warning in warnings {
            self.warn("name-disagrees", || warning);
        }
    }

    /// A job is submitted after its cluster started, before its application master started and before its tasks.
    fn submission(&mut self, name: &ToldByName) {
        let Some(submitted) = self.app.submitted_at.filter(|_| !self.confirmed.submitted) else { return };
        let cluster = cluster::earliest_start(self.app, name);
        let masters = self.app.masters.iter().filter_map(|master| master.started_at);
        let slack = self.submission_slack();
        let launched = self.app.launched_at.filter(|_| !self.clocks.restarted);
        let is_synthetic = submitted <= SYNTHETIC_BEFORE;
        let what = if !is_synthetic && cluster.is_some_and(|cluster| submitted + MACHINES_APART < cluster) {
            "before its cluster started, judging by the id of the job or the name of the file"
        } else if masters.min().is_some_and(|master| submitted > master + MACHINES_APART) {
            "after its application master started"
        } else if self.middle.is_some_and(|start| submitted > start + MACHINES_APART)
            || self.first.is_some_and(|start| submitted > start + slack)
        {
            "after its tasks started"
        } else if !is_synthetic && launched.is_some_and(|launched| launched > submitted + LONGEST_SILENCE) {
            "more than a week before it was launched, which nothing else in the history confirms"
        } else if !is_synthetic && launched.is_some_and(|launched| self.is_alone(submitted, launched)) {
            "more than two hours before it was launched, longer than it ran, which nothing else in the history confirms"
        } else {
            return;
        };
        self.app.submitted_at = None;
        self.warn("submission-impossible", || {
            format!("the job was submitted {what}; its submission time is unknown")
        });
    }

    /// A job is launched before its tasks.
    fn late_launch(&mut self) {
        let Some(launched) = self.app.launched_at.filter(|_| !self.clocks.restarted) else { return };
        if self.first.is_some_and(|start| launched > start + ONE_CLOCK)
            || self.middle.is_some_and(|start| launched > start + MACHINES_APART)
        {
            self.app.launched_at = None;
            self.warn("launch-impossible", || {
                "the job was launched after its tasks started; its launch time is unknown".to_owned()
            });
        }
    }

    /// A job is launched after its submission.
    fn early_launch(&mut self) {
        let slack = self.submission_slack();
        let ends = self.app.submitted_at.zip(self.app.launched_at);
        if ends.is_some_and(|(submitted, launched)| launched + slack < submitted) {
            self.app.launched_at = None;
            self.warn("launch-impossible", || {
                "the job was launched before it was submitted; its launch time is unknown".to_owned()
            });
        }
    }

    /// A job tracker times both the submission and the tasks.
    const fn submission_slack(&self) -> Millis {
        if self.clocks.trackers { ONE_CLOCK } else { MACHINES_APART }
    }

    /// A job ends after the tasks that it needs. The end of a task is logged twice: by the task and by its attempt.
    fn early_end(&mut self) {
        let Some(finished) = self.app.finished_at.filter(|_| !self.confirmed.finished) else { return };
        let early = self.middle.is_some_and(|start| finished + MACHINES_APART < start);
        let needed = |outcome| match self.app.status {
            Status::Succeeded => matches!(outcome, Outcome::Succeeded | Outcome::Failed),
            // Other tasks are killed after the one that fails the job, and may still succeed.
            Status::Failed => outcome == Outcome::Failed,
            _ => false,
        };
        let contradicted = |group: &TaskGroup| {
            let ends = (0..group.tasks.len()).filter(|&row| needed(group.tasks.outcome(row)));
            let late = |at: Option<Timestamp>| at.is_some_and(|at| at > finished + ONE_CLOCK);
            let both = |row: usize| {
                let attempt = group.tasks.representative(row);
                let own = attempt.and_then(|attempt| group.attempts.time(attempt, TimePoint::Finish));
                late(group.tasks.finish(row)) && late(own)
            };
            let mut ends = ends.map(both);
            // More than one task may fail; the first of them fails the job.
            if self.app.status == Status::Failed {
                let (all, late) =
                    ends.fold((0, 0), |(all, late), is_late| (all + 1, late + u32::from(is_late)));
                return (all > 0).then_some(all == late);
            }
            Some(ends.any(|is_late| is_late))
        };
        let groups: Vec<bool> = self.app.groups.iter().filter_map(contradicted).collect();
        let contradicted = match self.app.status {
            Status::Failed => !groups.is_empty() && groups.iter().all(|&late| late),
            _ => groups.contains(&true),
        };
        if early || contradicted {
            self.app.finished_at = None;
            self.warn("end-impossible", || {
                "the job ended before a task that it needs, judging by the task and its attempt; its end time is unknown"
                    .to_owned()
            });
        }
    }

    /// Whether a time of a job of Hadoop 1 is so far from all others, of which `nearest` is one, that results must not
    /// rest on it.
    fn is_alone(&self, time: Timestamp, nearest: Timestamp) -> bool {
        let others = self.app.groups.iter().flat_map(times).chain(self.app.launched_at);
        let (first, last) =
            others.fold((nearest, nearest), |(first, last), at| (first.min(at), last.max(at)));
        let gap = apart(time, nearest);
        self.clocks.of_hadoop1 && gap > LONG_ALONE && gap > apart(first, last)
    }

    /// A job ends after its tasks.
    fn late_end(&mut self) {
        let Some(finished) = self.app.finished_at.filter(|_| !self.confirmed.finished) else { return };
        let tasks = self
            .app
            .groups
            .iter()
            .flat_map(|group| (0..group.tasks.len()).filter_map(|row| group.tasks.finish(row)));
        let attempts = self.app.groups.iter().flat_map(times);
        let masters = self.app.masters.iter().filter_map(|master| master.started_at);
        let job = self.app.submitted_at.into_iter().chain(self.app.launched_at);
        let last = tasks.chain(attempts).chain(masters).chain(job).max();
        let Some(last) = last.filter(|last| finished > *last) else { return };
        let silence = if finished > last + LONGEST_SILENCE {
            "more than a week"
        } else if self.is_alone(finished, last) {
            "more than two hours, and longer than it ran,"
        } else {
            return;
        };
        self.app.finished_at = None;
        self.warn("end-impossible", || {
            format!("the job ended {silence} after anything else in its history; its end time is unknown")
        });
    }

    fn backwards(&mut self) {
        let ends = self.app.submitted_at.zip(self.app.finished_at);
        if ends.is_some_and(|(submitted, finished)| finished < submitted) {
            (self.app.submitted_at, self.app.finished_at) = (None, None);
            self.warn("clock-backwards", || {
                "the job ended before it was submitted; its run time is unknown".to_owned()
            });
        }
    }
}

/// The first start of a task that its attempt confirms.
fn first_start(app: &Application) -> Option<Timestamp> {
    let of_group = |group: &TaskGroup| {
        let confirmed = |row: usize| {
            let own = group.attempts.time(row, TimePoint::Start)?;
            let task = group.tasks.start(group.attempts.task(row)?)?;
            Some(own.max(task))
        };
        (0..group.attempts.len()).filter_map(confirmed).min()
    };
    app.groups.iter().filter_map(of_group).min()
}

fn apart(one: Timestamp, other: Timestamp) -> Millis {
    Millis::between(one.min(other), one.max(other)).unwrap_or_default()
}

fn within(one: Timestamp, other: Timestamp, most: Millis) -> bool {
    apart(one, other) <= most
}

/// The median start of attempts: if a time of the job is on the wrong side of it, most attempts contradict it.
fn middle_start(app: &Application) -> Option<Timestamp> {
    let starts = |group: &TaskGroup| {
        let attempts = &group.attempts;
        (0..attempts.len()).filter_map(|row| attempts.time(row, TimePoint::Start)).collect::<Vec<_>>()
    };
    let mut starts: Vec<Timestamp> = app.groups.iter().flat_map(starts).collect();
    let middle = starts.len() / 2;
    (!starts.is_empty()).then(|| *starts.select_nth_unstable(middle).1)
}
