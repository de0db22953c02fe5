//! Finds records that a job history lacks. Hadoop logs most facts twice: the start and the end of each task and
//! attempt, numbers without gaps, and the counts of the job.

use super::{Clocks, HistoryBuilder};
use crate::event::EventFields;
use elephant_model::model::table::{Outcome, TaskGroup, TaskKind, TimePoint};
use elephant_model::model::{Application, Status};

/// The attempt numbers that an application master gives start at a multiple of this.
const NUMBERS_OF_A_MASTER: u32 = 1000;

/// The diagnostics of a job that was killed after its tasks had started.
const KILLED_WHILE_RUNNING: &str = "while in RUNNING state";

/// What the records of the job itself contain.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Told {
    /// Whether the record with the number of tasks was there.
    pub(super) inited: bool,
    /// Whether the times of the job were logged again. Hadoop 1 does this for a restarted job tracker.
    pub(super) info_changed: bool,
    /// Maps and reduces that succeeded.
    finished: [Option<i64>; 2],
    /// Attempts of maps and reduces that failed or were killed (Hadoop 1).
    unsuccessful: [Option<i64>; 2],
}

impl Told {
    pub(super) fn job_ended(&mut self, fields: &EventFields<'_>) {
        self.finished = [fields.finished_maps, fields.finished_reduces];
        self.unsuccessful = [fields.failed_maps, fields.failed_reduces];
    }
}

/// A kind of missing record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Missing {
    MasterStart,
    JobInit,
    JobTimes,
    Tasks,
    TaskStart,
    TaskEnd,
    Attempts,
    AttemptStart,
    AttemptEnd,
}

impl Missing {
    const fn code(self) -> &'static str {
        match self {
            Self::MasterStart => "master-start-missing",
            Self::JobInit => "job-init-missing",
            Self::JobTimes => "job-times-missing",
            Self::Tasks => "tasks-missing",
            Self::TaskStart => "task-start-missing",
            Self::TaskEnd => "task-end-missing",
            Self::Attempts => "attempts-missing",
            Self::AttemptStart => "attempt-start-missing",
            Self::AttemptEnd => "attempt-end-missing",
        }
    }

    const fn message(self) -> &'static str {
        match self {
            Self::MasterStart => {
                "the job history lacks the start of the application master; waits and costs are unknown"
            }
            Self::JobInit => {
                "the job history lacks the record with the job's number of tasks; tasks may be missing"
            }
            Self::JobTimes => {
                "the job history lacks the record that corrects the submission of the job; its start may be wrong"
            }
            Self::Tasks => {
                "the job announced tasks, or failed by one, that the job history lacks; sums over tasks are unknown"
            }
            Self::TaskStart => "the start of a task is missing; results that depend on it are unknown",
            Self::TaskEnd => {
                "the job ended, but the end of a task is missing; results that depend on it are unknown"
            }
            Self::Attempts => {
                "the job launched attempts that the job history lacks; sums over attempts are unknown"
            }
            Self::AttemptStart => "the start of an attempt that ended is missing; its run time is unknown",
            Self::AttemptEnd => {
                "the job ended, but the end of an attempt is missing; its run time is unknown"
            }
        }
    }
}

impl HistoryBuilder {
    /// Warns about records that must have been there, if the job ended and nothing else is known to be missing.
    pub(super) fn find_missing_records(&mut self, damaged: bool) {
        if !self.seen_end || damaged || self.lost.events {
            return;
        }
        let mut search = Search::new(&self.app, self.told, self.clocks);
        search.whole_job(&self.groups);
        for group in &mut self.groups {
            if search.by_tracker() {
                end_setup_and_cleanup(group);
            }
            search.group(group);
        }
        let found = search.found;
        self.lost.events |= !found.is_empty();
        for missing in found {
            self.problems.warn(missing.code(), None, || missing.message().into());
        }
    }
}

/// A job tracker may leave out the end of a setup or cleanup task, whose only attempt says how it ended.
fn end_setup_and_cleanup(group: &mut TaskGroup) {
    if !matches!(group.kind, TaskKind::Setup | TaskKind::Cleanup) {
        return;
    }
    for row in 0..group.attempts.len() {
        let Some(task) = group.attempts.task(row) else { continue };
        let outcome = group.attempts.outcome(row);
        if outcome == Outcome::Succeeded && group.tasks.outcome(task) == Outcome::Unfinished {
            group.tasks.set_outcome(task, outcome);
        }
    }
}

/// Who wrote a history.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Writer {
    /// An application master.
    Master,
    /// A job tracker, as text.
    Tracker,
    /// A job tracker of Hadoop 0.21 or 0.22, or another program, as events.
    Other,
}

struct Search<'a> {
    app: &'a Application,
    told: Told,
    writer: Writer,
    /// Whether a second application master or job tracker took the job over, which leaves ends out.
    restarted: bool,
    /// Whether the job failed or was killed, and ended its tasks first.
    ended_its_tasks: bool,
    found: Vec<Missing>,
}

/// What the attempts of one task say together.
#[derive(Debug, Clone, Copy, Default)]
struct OfTask {
    attempts: u32,
    ended: u32,
    succeeded: bool,
    highest: Option<u32>,
    /// The highest number of an attempt that is not a speculative copy: the attempts before it have ended.
    last_retry: Option<u32>,
}

impl<'a> Search<'a> {
    fn new(app: &'a Application, told: Told, clocks: Clocks) -> Self {
        // Both are in every history of an application master, and in no other.
        let has_master = !app.masters.is_empty() || (app.uberized.is_some() && told.info_changed);
        let writer = match clocks {
            Clocks::Trackers => Writer::Tracker,
            Clocks::Master if has_master => Writer::Master,
            Clocks::Master => Writer::Other,
        };
        Self {
            app,
            told,
            writer,
            restarted: app.masters.len() > 1 || (writer == Writer::Tracker && told.info_changed),
            ended_its_tasks: false,
            found: Vec::new(),
        }
    }

    fn by_master(&self) -> bool {
        self.writer == Writer::Master
    }

    fn by_tracker(&self) -> bool {
        self.writer == Writer::Tracker
    }

    fn add(&mut self, missing: Missing, is_missing: bool) {
        if is_missing {
            self.found.push(missing);
        }
    }

    /// Looks for records of the job itself.
    fn whole_job(&mut self, groups: &[TaskGroup]) {
        let any_task = groups.iter().any(|group| !group.tasks.is_empty());
        self.add(Missing::MasterStart, self.by_master() && self.app.masters.is_empty());
        self.add(Missing::JobInit, any_task && !self.told.inited && self.writer != Writer::Other);
        self.add(Missing::JobTimes, any_task && self.by_master() && !self.told.info_changed);
        let unsuccessful = self.app.status != Status::Succeeded;
        let diagnostics = self.app.diagnostics.as_deref();
        let names_task = diagnostics.is_some_and(|text| text.contains("Task failed task_"));
        let ran = diagnostics.is_some_and(|text| text.contains(KILLED_WHILE_RUNNING));
        // Histories without diagnostics are of Hadoop 0.23, where a job that fails before its tasks is not inited.
        let lacks_diagnostics =
            self.told.inited && diagnostics.is_none() && self.app.status == Status::Failed;
        let must_have_tasks = any_task || names_task || ran || lacks_diagnostics;
        let stopped =
            groups.iter().any(|g| g.count_tasks(Outcome::Failed) + g.count_tasks(Outcome::Killed) > 0);
        self.ended_its_tasks = self.by_master() && unsuccessful && (stopped || names_task);
        // An application master starts all tasks at once.
        let announced =
            [(TaskKind::Map, self.app.announced.maps), (TaskKind::Reduce, self.app.announced.reduces)];
        let shown =
            |kind| groups.iter().find(|group| group.kind == kind).map_or(0, |group| group.tasks.len() as u64);
        let short = announced.into_iter().any(|(kind, count)| count.is_some_and(|count| shown(kind) < count));
        self.add(Missing::Tasks, self.by_master() && unsuccessful && must_have_tasks && short);
        // The records of its tasks may be lost together with those that announce them, and that tell who wrote the history.
        self.add(Missing::Tasks, names_task && !any_task);
        // For a job that succeeds, a job tracker runs both a setup and a cleanup task, or neither.
        let one = shown(TaskKind::Setup).min(1) != shown(TaskKind::Cleanup).min(1);
        self.add(Missing::Tasks, self.by_tracker() && !unsuccessful && one);
    }

    fn group(&mut self, group: &TaskGroup) {
        let tasks = by_task(group);
        for (row, of_task) in tasks.iter().enumerate() {
            self.task(group, row, of_task);
        }
        for row in 0..group.attempts.len() {
            let of_task =
                group.attempts.task(row).and_then(|task| tasks.get(task)).copied().unwrap_or_default();
            self.attempt(group, row, &of_task);
        }
        let (place, names) = match group.kind {
            TaskKind::Map => (0, ["TOTAL_LAUNCHED_MAPS", "NUM_FAILED_MAPS", "NUM_KILLED_MAPS"]),
            TaskKind::Reduce => (1, ["TOTAL_LAUNCHED_REDUCES", "NUM_FAILED_REDUCES", "NUM_KILLED_REDUCES"]),
            _ => return,
        };
        self.counts(group, place);
        if self.by_master() && !self.restarted {
            self.job_counters(group, names, &tasks);
        }
    }

    fn task(&mut self, group: &TaskGroup, row: usize, of_task: &OfTask) {
        let without_start = group.tasks.start(row).is_none();
        self.add(Missing::TaskStart, without_start && self.writer != Writer::Other);
        let outcome = group.tasks.outcome(row);
        let all_ended = of_task.attempts > 0 && of_task.ended == of_task.attempts;
        let must_have_ended =
            of_task.succeeded || self.ended_its_tasks || (self.by_master() && all_ended && !self.restarted);
        self.add(Missing::TaskEnd, outcome == Outcome::Unfinished && must_have_ended);
        let without_winner = outcome == Outcome::Succeeded && group.tasks.representative(row).is_none();
        self.add(Missing::AttemptEnd, without_winner && !of_task.succeeded);
    }

    fn attempt(&mut self, group: &TaskGroup, row: usize, of_task: &OfTask) {
        let attempts = &group.attempts;
        let outcome = attempts.outcome(row);
        let without_start = attempts.time(row, TimePoint::Start).is_none()
            && attempts.time(row, TimePoint::Finish).is_some()
            && self.writer != Writer::Other;
        // Attempts that are killed before they are launched have a start only in some versions.
        let may_lack_start =
            self.by_master() && outcome == Outcome::Killed && self.app.status == Status::Succeeded;
        self.add(Missing::AttemptStart, without_start && !may_lack_start);
        if outcome != Outcome::Unfinished || self.restarted {
            return;
        }
        let task = attempts.task(row);
        let of = task.map(|task| group.tasks.outcome(task)).unwrap_or_default();
        let named = task.and_then(|task| group.tasks.representative(task)) == Some(row);
        let retried = attempts.number(row).zip(of_task.last_retry).is_some_and(|(own, retry)| own < retry);
        let must_have_ended = of == Outcome::Killed || (of == Outcome::Failed && named) || retried;
        // Job trackers log the start of an attempt together with its end.
        self.add(Missing::AttemptEnd, self.by_tracker() || (self.by_master() && must_have_ended));
    }

    /// Compares the job's own counts with the records.
    fn counts(&mut self, group: &TaskGroup, place: usize) {
        let more = |told: [Option<i64>; 2], shown: u64| {
            let told = told.get(place).copied().flatten().and_then(|told| u64::try_from(told).ok());
            told.is_some_and(|told| told > shown)
        };
        let finished = more(self.told.finished, group.count_tasks(Outcome::Succeeded));
        self.add(Missing::TaskEnd, finished);
        let unsuccessful = count(group, |outcome| matches!(outcome, Outcome::Failed | Outcome::Killed));
        let lacks_ends = self.by_tracker() && !self.restarted && more(self.told.unsuccessful, unsuccessful);
        self.add(Missing::AttemptEnd, lacks_ends);
    }

    /// Compares the counters of the job (launched, failed and killed attempts) with the records.
    fn job_counters(&mut self, group: &TaskGroup, names: [&str; 3], tasks: &[OfTask]) {
        let [launched, failed, killed] = names.map(|name| super::verify::job_counter(self.app, name));
        let attempts = &group.attempts;
        let rows = 0..attempts.len();
        let started = rows.filter(|&row| attempts.time(row, TimePoint::Start).is_some()).count() as u64;
        // Without the counter of launched attempts, the numbers of attempts must have no gaps. With it, they may have:
        // of attempts that were never launched.
        let gap = tasks.iter().any(|of_task| {
            of_task
                .highest
                .is_some_and(|highest| highest < NUMBERS_OF_A_MASTER && of_task.attempts <= highest)
        });
        self.add(Missing::Attempts, launched.map_or(gap, |launched| launched > started));
        let unfinished = count(group, |outcome| outcome == Outcome::Unfinished) > 0;
        let more_failed =
            failed.is_some_and(|told| told > count(group, |outcome| outcome == Outcome::Failed));
        let more_killed =
            killed.is_some_and(|told| told > count(group, |outcome| outcome == Outcome::Killed));
        self.add(Missing::AttemptEnd, unfinished && (more_failed || more_killed));
    }
}

fn count(group: &TaskGroup, wanted: impl Fn(Outcome) -> bool) -> u64 {
    (0..group.attempts.len()).filter(|&row| wanted(group.attempts.outcome(row))).count() as u64
}

fn by_task(group: &TaskGroup) -> Vec<OfTask> {
    let mut tasks = vec![OfTask::default(); group.tasks.len()];
    let attempts = &group.attempts;
    for row in 0..attempts.len() {
        let Some(of_task) = attempts.task(row).and_then(|task| tasks.get_mut(task)) else { continue };
        let outcome = attempts.outcome(row);
        of_task.attempts += 1;
        of_task.ended += u32::from(outcome != Outcome::Unfinished);
        of_task.succeeded |= outcome == Outcome::Succeeded;
        of_task.highest = of_task.highest.max(attempts.number(row));
        if attempts.is_speculative(row) == Some(false) {
            of_task.last_retry = of_task.last_retry.max(attempts.number(row));
        }
    }
    tasks
}
