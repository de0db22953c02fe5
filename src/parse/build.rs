//! Events in, [`Application`] out: the one place that knows what a MapReduce history means.

use std::borrow::Cow;
use std::io;

use super::event::{CounterNames, EventFields, EventKind, EventPayload};
use super::hosts::host_and_rack;
use super::ids::{AttemptId, TaskId};
use super::problem::{Level, Position, Problems};
use super::reading::{MAX_TEXT_LEN, Moments, cut, locality, set_text, task_kind};
use super::rows::{ByAttempt, ByTask};
use super::too_many;
use super::verify;
use crate::limits::{self, Limits, Remainder};
use crate::model::counters::CounterSet;
use crate::model::table::{MOST_OF_A_COUNTER, Outcome, TaskGroup, TaskKind, TimePoint};
use crate::model::{Announced, Application, Engine, Interner, MasterAttempt, Status, Symbol};
use crate::units::Timestamp;

/// Histories that were made up count their times from 0; Hadoop is younger than this.
const MADE_UP_UNTIL: Timestamp = Timestamp::from_millis(100_000_000_000);

const KINDS: [TaskKind; 4] = [TaskKind::Map, TaskKind::Reduce, TaskKind::Setup, TaskKind::Cleanup];

/// Whose clocks a history's times come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Clocks {
    /// The application master's alone (Hadoop 2 and 3): times agree to the millisecond.
    #[default]
    Master,
    /// The job tracker's for tasks, each task tracker's for attempts (Hadoop 1): they can be minutes apart.
    Trackers,
}

/// Builds one application from the events of its history.
pub struct HistoryBuilder {
    app: Application,
    clocks: Clocks,
    moments: Moments,
    names: CounterNames,
    problems: Problems,
    groups: [TaskGroup; KINDS.len()],
    tasks: ByTask<TaskRow>,
    attempts: ByAttempt<u32>,
    seen_submission: bool,
    seen_end: bool,
    lost_events: bool,
    limits: Limits,
    /// The option of a limit that was reached.
    limit: Option<&'static str>,
}

/// Where a task is stored: an index into the groups and a row of its tasks.
#[derive(Debug, Clone, Copy)]
struct TaskRow {
    group: usize,
    row: u32,
}

impl Default for HistoryBuilder {
    fn default() -> Self {
        Self {
            app: Application::new(Engine::MapReduce),
            clocks: Clocks::default(),
            moments: Moments::default(),
            names: CounterNames::default(),
            problems: Problems::default(),
            groups: KINDS.map(TaskGroup::new),
            tasks: ByTask::default(),
            attempts: ByAttempt::default(),
            seen_submission: false,
            seen_end: false,
            lost_events: false,
            limits: Limits::default(),
            limit: None,
        }
    }
}

impl HistoryBuilder {
    /// A builder for a history whose times come from `clocks`.
    #[must_use]
    pub fn with_clocks(clocks: Clocks) -> Self {
        Self { clocks, ..Self::default() }
    }

    /// Holds no more tasks and attempts than `limits` allow.
    pub fn keep_within(&mut self, limits: &Limits) {
        self.limits = *limits;
    }

    /// What a decoder needs to record counters into an [`EventPayload`].
    pub fn counter_names(&mut self) -> (&mut CounterNames, &mut Interner) {
        (&mut self.names, &mut self.app.strings)
    }

    /// The problems found so far, for decoders to add to.
    pub fn problems(&mut self) -> &mut Problems {
        &mut self.problems
    }

    /// Whether the job's own end was seen.
    #[must_use]
    pub fn has_ended(&self) -> bool {
        self.seen_end
    }

    /// Notes that an event could not be decoded, so that the history has a gap.
    pub fn lose_event(&mut self) {
        self.lost_events = true;
    }

    /// Notes that reading stopped because of `error`, which may be a limit.
    pub fn stop(&mut self, error: &io::Error) {
        if let Some(reached) = limits::behind(error) {
            self.reach_limit(reached.option());
        }
    }

    /// Notes that the limit behind this option keeps events out of the history.
    pub fn reach_limit(&mut self, option: &'static str) {
        self.limit.get_or_insert(option);
        self.lost_events = true;
    }

    /// Takes one event.
    pub fn event(&mut self, at: Position, kind: EventKind, fields: &EventFields<'_>, payload: &EventPayload) {
        let moments = self.moments;
        if payload.unreadable_number || payload.counters.has_unreadable {
            self.lost_events = true;
            self.problems.warn("bad-number", Some(at), || {
                "a number of an event is no integer of 64 bits; it is unknown".into()
            });
        }
        match kind {
            EventKind::MasterStarted => self.master_started(fields),
            EventKind::JobSubmitted => self.job_submitted(at, fields),
            EventKind::JobInited => self.job_inited(fields),
            EventKind::JobInfoChanged => {
                self.doubt_a_submission_in_1970(fields);
                self.confirm_submission(at, moments.read(fields.submit_time));
                self.app.launched_at = moments.read(fields.launch_time).or(self.app.launched_at);
            }
            EventKind::JobQueueChanged => set_text(&mut self.app.queue, fields.queue.as_ref()),
            EventKind::JobStatusChanged | EventKind::JobPriorityChanged => self.job_id(fields),
            EventKind::JobFinished => self.job_ended(at, Status::Succeeded, fields, payload),
            EventKind::JobUnsuccessful => {
                let killed = fields.status.as_deref() == Some("KILLED");
                let status = if killed { Status::Killed } else { Status::Failed };
                self.job_ended(at, status, fields, payload);
            }
            EventKind::TaskStarted => self.task_started(at, fields),
            EventKind::TaskUpdated => {}
            EventKind::TaskFinished => self.task_finished(at, fields, payload),
            EventKind::TaskFailed => self.task_failed(at, fields),
            EventKind::AttemptStarted => self.attempt_started(at, fields),
            EventKind::AttemptFinished => self.attempt_ended(at, Outcome::Succeeded, fields, payload),
            EventKind::AttemptUnsuccessful => {
                let killed = fields.status.as_deref() == Some("KILLED");
                let outcome = if killed { Outcome::Killed } else { Outcome::Failed };
                self.attempt_ended(at, outcome, fields, payload);
            }
        }
    }

    /// Ends the history. `damaged` says that the source ended or broke before its own end.
    #[must_use]
    pub fn finish(mut self, damaged: bool) -> (Application, Problems) {
        if !self.seen_end {
            self.app.status = if damaged { Status::Unknown } else { Status::Running };
        }
        for group in &mut self.groups {
            verify::choose_representatives(group);
            verify::mark_speculation(group);
            group.shrink();
        }
        self.note_missing_ends(damaged);
        self.app.groups = self.groups.into_iter().filter(|group| !group.tasks.is_empty()).collect();
        self.app.limit = self.limit.map(|option| {
            let work = [TaskKind::Map, TaskKind::Reduce].map(|kind| self.app.group(kind));
            let Announced { maps, reduces } = self.app.announced;
            Remainder {
                option,
                kept: work.into_iter().flatten().map(|group| group.tasks.len() as u64).sum(),
                announced: maps.zip(reduces).map(|(maps, reduces)| maps.saturating_add(reduces)),
            }
        });
        self.app.complete = self.seen_submission && self.seen_end && !self.lost_events && !damaged;
        verify::check(&mut self.app, &mut self.problems);
        (self.app, self.problems)
    }

    /// A history without its first or last event is told apart from one that is whole.
    fn note_missing_ends(&mut self, damaged: bool) {
        let empty = self.tasks.is_empty() && !self.seen_submission && !self.seen_end;
        if !self.seen_submission && !empty {
            self.problems.warn("no-job-start", None, || {
                "the history does not tell the submission of its job; its start is unknown".into()
            });
        }
        if !self.seen_end && !empty && !damaged {
            self.problems.warn("no-job-end", None, || {
                "the history does not tell the end of its job: it still runs, or its master died; its costs are \
                 unknown"
                    .into()
            });
        }
    }

    fn job_id(&mut self, fields: &EventFields<'_>) {
        if let Some(id) = fields.job_id.as_deref()
            && self.app.id.is_empty()
        {
            id.clone_into(&mut self.app.id);
        }
    }

    fn master_started(&mut self, fields: &EventFields<'_>) {
        let moments = self.moments;
        let node = self.node(fields.host.as_ref());
        self.app.masters.push(MasterAttempt { started_at: moments.read(fields.start_time), node });
    }

    fn job_submitted(&mut self, at: Position, fields: &EventFields<'_>) {
        self.seen_submission = true;
        self.moments.zero_is_one |= fields.submit_time == Some(0);
        let moments = self.moments;
        self.job_id(fields);
        set_text(&mut self.app.name, fields.job_name.as_ref());
        set_text(&mut self.app.user, fields.user.as_ref());
        set_text(&mut self.app.queue, fields.queue.as_ref());
        self.app.submitted_at = moments.read(fields.submit_time).or(self.app.submitted_at);
        let missing = [
            ("jobid", fields.job_id.is_none()),
            ("jobName", fields.job_name.is_none()),
            ("userName", fields.user.is_none()),
            ("submitTime", fields.submit_time.is_none()),
        ];
        for (field, _) in missing.into_iter().filter(|(_, missing)| *missing) {
            self.missing_field(at, "the submission of the job", field);
        }
    }

    /// The submission is told twice; where the two differ, neither can be trusted.
    fn confirm_submission(&mut self, at: Position, again: Option<Timestamp>) {
        match (self.app.submitted_at, again) {
            (Some(first), Some(again)) if first != again => {
                self.problems.warn("times-disagree", Some(at), || {
                    "the history tells two times of the job's submission; the first is used".into()
                });
            }
            (None, Some(_)) if !self.seen_submission => self.app.submitted_at = again,
            _ => {}
        }
    }

    /// A history that counts from 0 was made up and ends soon; beside moments of our time 0 is a moment that Hadoop does
    /// not know.
    fn doubt_a_submission_in_1970(&mut self, fields: &EventFields<'_>) {
        let ours = fields.launch_time.is_some_and(|launched| launched > MADE_UP_UNTIL.as_millis());
        if ours && self.app.submitted_at.is_some_and(|submitted| submitted <= MADE_UP_UNTIL) {
            self.app.submitted_at = None;
            self.seen_submission = false;
            self.moments.zero_is_one = false;
        }
    }

    fn job_inited(&mut self, fields: &EventFields<'_>) {
        let moments = self.moments;
        self.job_id(fields);
        self.doubt_a_submission_in_1970(fields);
        self.app.launched_at = moments.read(fields.launch_time).or(self.app.launched_at);
        let count = |n: Option<i64>| n.and_then(|n| u64::try_from(n).ok());
        self.app.announced.maps = count(fields.total_maps).or(self.app.announced.maps);
        self.app.announced.reduces = count(fields.total_reduces).or(self.app.announced.reduces);
        self.app.uberized = fields.uberized.or(self.app.uberized);
    }

    fn job_ended(&mut self, at: Position, status: Status, fields: &EventFields<'_>, payload: &EventPayload) {
        let moments = self.moments;
        self.job_id(fields);
        self.seen_end = true;
        self.app.status = status;
        self.app.finished_at = moments.read(fields.finish_time).or(self.app.finished_at);
        if fields.finish_time.is_none() {
            self.missing_field(at, "the end of the job", "finishTime");
        }
        set_text(&mut self.app.diagnostics, fields.error.as_ref());
        let keep = |set: &CounterSet| (!set.is_empty()).then(|| set.clone());
        self.app.counters.total = keep(&payload.counters);
        self.app.counters.map = keep(&payload.map_counters);
        self.app.counters.reduce = keep(&payload.reduce_counters);
    }

    fn task_started(&mut self, at: Position, fields: &EventFields<'_>) {
        let moments = self.moments;
        let Some(task) = self.task(at, fields) else { return };
        let hosts: Vec<Symbol> = fields
            .split_locations
            .as_deref()
            .unwrap_or_default()
            .split(',')
            .filter_map(|location| host_and_rack(location).0)
            .filter_map(|host| self.app.strings.intern(host))
            .collect();
        let row = task.row as usize;
        let Some(group) = self.groups.get_mut(task.group) else { return };
        if group.tasks.start(row).is_none() {
            group.tasks.set_start(row, moments.read(fields.start_time));
        }
        group.tasks.set_split_hosts(row, hosts);
    }

    fn task_finished(&mut self, at: Position, fields: &EventFields<'_>, payload: &EventPayload) {
        let moments = self.moments;
        let Some(task) = self.task(at, fields) else { return };
        let named = fields.successful_attempt_id.as_deref().and_then(AttemptId::parse);
        let attempt = named.and_then(|id| self.attempt_row(task, id));
        let row = task.row as usize;
        let Some(group) = self.groups.get_mut(task.group) else { return };
        let finish = moments.read(fields.finish_time);
        group.tasks.set_outcome(row, Outcome::Succeeded);
        group.tasks.set_finish(row, finish);
        let Some(attempt) = attempt.or_else(|| group.tasks.representative(row)) else { return };
        group.tasks.set_representative(row, Some(attempt));
        if group.attempts.outcome(attempt) == Outcome::Unfinished {
            // The attempt's own end is missing; the end of its task tells the same.
            self.lost_events = true;
            group.attempts.set_outcome(attempt, Outcome::Succeeded);
            group.attempts.set_time(attempt, TimePoint::Finish, finish);
            group.attempts.set_counters(attempt, &payload.counters);
            self.problems.warn("attempt-end-missing", Some(at), || {
                "a task succeeded, but its attempt's own end is missing; its phases are unknown".into()
            });
            return;
        }
        // Before YARN (0.21, 0.22) there was no master, and task trackers kept attempts' times.
        let clocks = if self.app.masters.is_empty() { Clocks::Trackers } else { self.clocks };
        verify::reconcile_times(&mut self.problems, at, group, attempt, finish, clocks);
        verify::reconcile_counters(&mut self.problems, at, group, attempt, &payload.counters);
    }

    fn task_failed(&mut self, at: Position, fields: &EventFields<'_>) {
        let moments = self.moments;
        let Some(task) = self.task(at, fields) else { return };
        let cause = fields.failed_due_to_attempt.as_deref().and_then(AttemptId::parse);
        let cause = cause.and_then(|id| self.attempt_row(task, id));
        let Some(group) = self.groups.get_mut(task.group) else { return };
        let row = task.row as usize;
        let killed = fields.status.as_deref() == Some("KILLED");
        group.tasks.set_outcome(row, if killed { Outcome::Killed } else { Outcome::Failed });
        group.tasks.set_finish(row, moments.read(fields.finish_time));
        if cause.is_some() {
            group.tasks.set_representative(row, cause);
        }
    }

    fn attempt_started(&mut self, at: Position, fields: &EventFields<'_>) {
        let moments = self.moments;
        let Some((task, attempt)) = self.attempt(at, fields) else { return };
        let (node, rack) = self.place(fields);
        let Some(group) = self.groups.get_mut(task.group) else { return };
        let attempts = &mut group.attempts;
        attempts.set_time(attempt, TimePoint::Start, moments.read(fields.start_time));
        if fields.start_time.is_none() {
            self.lost_events = true;
            self.missing_field(at, "the start of an attempt", "startTime");
        }
        let Some(group) = self.groups.get_mut(task.group) else { return };
        let attempts = &mut group.attempts;
        if node.is_some() {
            attempts.set_node(attempt, node);
        }
        if rack.is_some() {
            attempts.set_rack(attempt, rack);
        }
        attempts.set_locality(attempt, fields.locality.as_deref().and_then(locality));
        attempts.set_speculative(
            attempt,
            match fields.avataar.as_deref() {
                Some("SPECULATIVE") => Some(true),
                Some("VIRGIN") => Some(false),
                _ => None,
            },
        );
    }

    fn attempt_ended(
        &mut self,
        at: Position,
        outcome: Outcome,
        fields: &EventFields<'_>,
        payload: &EventPayload,
    ) {
        let moments = self.moments;
        let before = self.attempt_count();
        let Some((task, attempt)) = self.attempt(at, fields) else { return };
        let never_started = self.attempt_count() > before;
        let (node, rack) = self.place(fields);
        let finish = moments.read(fields.finish_time);
        if fields.finish_time.is_none() {
            self.lost_events = true;
            self.missing_field(at, "the end of an attempt", "finishTime");
        }
        let text = fields.error.as_deref().map(str::trim).filter(|text| !text.is_empty());
        let text = text.and_then(|text| self.app.strings.intern(cut(text, MAX_TEXT_LEN)));
        let Some(group) = self.groups.get_mut(task.group) else { return };
        let attempts = &mut group.attempts;
        // A map that succeeded is declared failed or killed later when its output is lost: it ended once.
        let ended_before = attempts.time(attempt, TimePoint::Finish).is_some();
        attempts.set_outcome(attempt, outcome);
        if node.is_some() {
            attempts.set_node(attempt, node);
        }
        if rack.is_some() {
            attempts.set_rack(attempt, rack);
        }
        if let Some(text) = text {
            attempts.set_diagnostics(attempt, text);
        }
        if ended_before {
            return;
        }
        if never_started && outcome == Outcome::Succeeded {
            self.lost_events = true;
            self.problems.warn("attempt-start-missing", Some(at), || {
                "an attempt succeeded, but its start is missing; its run time is unknown".into()
            });
        }
        if payload.counters.iter().any(|(_, value)| value > MOST_OF_A_COUNTER) {
            self.problems.warn("impossible-counter", Some(at), || {
                "a counter of an attempt is larger than any can be; it is taken for unknown".into()
            });
        }
        if payload.counters.iter().any(|(_, value)| value < 0) {
            self.problems.warn("negative-counter", Some(at), || {
                "a counter of an attempt is negative; it is taken for unknown".into()
            });
        }
        attempts.set_time(attempt, TimePoint::Finish, finish);
        attempts.set_time(attempt, TimePoint::MapFinish, moments.read(fields.map_finish_time));
        attempts.set_time(attempt, TimePoint::ShuffleFinish, moments.read(fields.shuffle_finish_time));
        attempts.set_time(attempt, TimePoint::SortFinish, moments.read(fields.sort_finish_time));
        attempts.set_counters(attempt, &payload.counters);
        attempts.set_progress(attempt, &payload.progress);
        if outcome == Outcome::Succeeded {
            group.tasks.set_representative(task.row as usize, Some(attempt));
        }
    }

    fn attempt_count(&self) -> usize {
        self.groups.iter().map(|group| group.attempts.len()).sum()
    }

    /// The row of the event's task, new or known.
    fn task(&mut self, at: Position, fields: &EventFields<'_>) -> Option<TaskRow> {
        let id = fields.task_id.as_deref().and_then(TaskId::parse);
        let Some(id) = id else {
            self.lost_events = true;
            let shown = fields.task_id.as_deref().unwrap_or("none").to_owned();
            self.problems.warn("bad-task-id", Some(at), || {
                format!(
                    "an event of a task has no readable task id ({}); it was passed over",
                    cut(&shown, 80)
                )
            });
            return None;
        };
        self.task_row(id, fields)
    }

    /// The rows of the event's task and attempt, new or known.
    fn attempt(&mut self, at: Position, fields: &EventFields<'_>) -> Option<(TaskRow, usize)> {
        let id = fields.attempt_id.as_deref().and_then(AttemptId::parse);
        let Some(id) = id else {
            self.lost_events = true;
            let shown = fields.attempt_id.as_deref().unwrap_or("none").to_owned();
            self.problems.warn("bad-attempt-id", Some(at), || {
                format!("an event of an attempt has no readable id ({}); it was passed over", cut(&shown, 80))
            });
            return None;
        };
        let task = self.task_row(id.task, fields)?;
        Some((task, self.attempt_row(task, id)?))
    }

    fn task_row(&mut self, id: TaskId, fields: &EventFields<'_>) -> Option<TaskRow> {
        if let Some(known) = self.tasks.get(id) {
            return Some(known);
        }
        if self.app.id.is_empty()
            && let Some(text) = fields.task_id.as_deref().or(fields.attempt_id.as_deref())
            && let Some(job) = super::ids::job_id_of_task(text)
        {
            self.app.id = job;
        }
        let held = self.groups.iter().map(|group| group.tasks.len()).sum();
        if !self.has_room(held) {
            return None;
        }
        let kind = task_kind(fields.task_type.as_deref(), id);
        let group = KINDS.iter().position(|&k| k == kind)?;
        let row = u32::try_from(self.groups.get_mut(group)?.tasks.push(id.number)).ok()?;
        let task = TaskRow { group, row };
        self.tasks.insert(id, task);
        Some(task)
    }

    fn attempt_row(&mut self, task: TaskRow, id: AttemptId) -> Option<usize> {
        if let Some(row) = self.attempts.get(id) {
            return Some(row as usize);
        }
        let held = self.attempt_count();
        if !self.has_room(held) {
            return None;
        }
        let row = self.groups.get_mut(task.group)?.attempts.push(task.row, id.number);
        self.attempts.insert(id, u32::try_from(row).ok()?);
        Some(row)
    }

    /// Whether one more of a kind of which `held` are there may be held; tells where not.
    fn has_room(&mut self, held: usize) -> bool {
        let room = self.limits.has_room(held);
        if !room {
            self.reach_limit("--max-tasks");
            self.problems.warn(limits::REACHED, None, || too_many(&self.limits));
        }
        room
    }

    fn place(&mut self, fields: &EventFields<'_>) -> (Option<Symbol>, Option<Symbol>) {
        let (host, rack) = fields.host.as_deref().map_or((None, None), host_and_rack);
        let rack = fields.rack.as_deref().map(str::trim).filter(|rack| !rack.is_empty()).or(rack);
        let node = host.and_then(|host| self.app.strings.intern(host));
        (node, rack.and_then(|rack| self.app.strings.intern(rack)))
    }

    fn node(&mut self, host: Option<&Cow<'_, str>>) -> Option<Symbol> {
        host.and_then(|host| host_and_rack(host).0).and_then(|host| self.app.strings.intern(host))
    }

    fn missing_field(&mut self, at: Position, event: &str, field: &str) {
        self.problems.add(Level::Warning, "missing-field", Some(at), || {
            format!("{event} lacks {field}; what rests on it is unknown")
        });
    }
}
