//! Tasks and their attempts.

use super::numbers::warn_impossible;
use super::{Clocks, HistoryBuilder, KINDS, TaskRow, verify};
use crate::event::{EventFields, EventPayload};
use crate::hosts::host_and_rack;
use crate::ids::{AttemptId, TaskId, job_id_of_task};
use crate::problem::{Position, Problems};
use crate::reading::{MAX_TEXT_LEN, locality, task_kind, truncate};
use crate::{OtherCounters, too_many};
use elephant_base::limits;
use elephant_model::model::counters::CounterSet;
use elephant_model::model::table::{Attempts, Outcome, TimePoint};
use elephant_model::model::{ProgressSplits, Symbol};

/// Maximum number of split hosts that are remembered by their text. Large clusters have a tenth of this many hosts.
const MAX_SPLIT_HOSTS: usize = 1 << 16;

/// Longer texts are not names of hosts or racks.
const MAX_LOCATION_LEN: usize = 256;

/// How much longer than its attempt the parts of its progress may take, by rounding.
const PROGRESS_SLACK: u64 = 1000;

/// Keeps the progress of an attempt, unless its parts take longer than the attempt.
fn set_progress(
    problems: &mut Problems,
    at: Position,
    attempts: &mut Attempts,
    (attempt, progress): (usize, &ProgressSplits),
) {
    let sum: i64 = progress.clock_ms.iter().map(|part| i64::from(*part)).sum();
    let run = attempts.run_time(attempt).map(|run| run.get().saturating_add(PROGRESS_SLACK));
    if run.is_some_and(|run| u64::try_from(sum).is_ok_and(|sum| sum > run)) {
        problems.warn("progress-exceeds-attempt", Some(at), || {
            "the parts of an attempt's progress (clockSplits) take longer than the attempt; its progress is unknown"
                .to_owned()
        });
    } else {
        attempts.set_progress(attempt, progress);
    }
}

impl HistoryBuilder {
    pub(super) fn task_started(&mut self, at: Position, fields: &EventFields<'_>) {
        let moments = self.moments;
        let Some(task) = self.task(at, fields) else { return };
        let locations = fields.split_locations.as_deref().unwrap_or_default();
        let hosts: Vec<_> =
            locations.split(',').filter_map(|location| self.host_of_split(location)).collect();
        let row = task.row as usize;
        let Some(group) = self.groups.get_mut(task.group) else { return };
        if group.tasks.start(row).is_none() {
            group.tasks.set_start(row, moments.read(fields.start_time));
        }
        group.tasks.set_split_hosts(row, hosts);
    }

    /// The host in one of a task's split locations.
    fn host_of_split(&mut self, location: &str) -> Option<Symbol> {
        if let Some(&known) = self.split_hosts.get(location) {
            return Some(known);
        }
        let host = host_and_rack(location).0.and_then(|host| self.app.strings.intern(host))?;
        if location.len() <= MAX_LOCATION_LEN && self.split_hosts.len() < MAX_SPLIT_HOSTS {
            self.split_hosts.insert(location.into(), host);
        }
        Some(host)
    }

    pub(super) fn task_finished(&mut self, at: Position, fields: &EventFields<'_>, payload: &EventPayload) {
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
            // The attempt's own end event is missing; its task's end has the same values.
            self.lost.events = true;
            group.attempts.set_outcome(attempt, Outcome::Succeeded);
            group.attempts.set_time(attempt, TimePoint::Finish, finish);
            set_counters(&mut group.attempts, attempt, &payload.counters, self.others);
            warn_impossible(&mut self.problems, at, &group.attempts, attempt, (fields, &payload.counters));
            self.problems.warn("attempt-end-missing", Some(at), || {
                "a task succeeded, but its attempt's end is missing; its phases are unknown".into()
            });
            return;
        }
        // Before YARN (0.21, 0.22) there was no application master, and task trackers timed the attempts.
        let clocks = if self.app.masters.is_empty() { Clocks::Trackers } else { self.clocks };
        self.lost.events |= verify::times_disagree(&mut self.problems, at, group, attempt, finish, clocks);
        verify::reconcile_counters(&mut self.problems, at, group, attempt, &payload.counters);
    }

    pub(super) fn task_failed(&mut self, at: Position, fields: &EventFields<'_>) {
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

    pub(super) fn attempt_started(&mut self, at: Position, fields: &EventFields<'_>) {
        let moments = self.moments;
        let Some((task, attempt)) = self.attempt(at, fields) else { return };
        let (node, rack) = self.place(fields);
        let Some(group) = self.groups.get_mut(task.group) else { return };
        let attempts = &mut group.attempts;
        attempts.set_time(attempt, TimePoint::Start, moments.read(fields.start_time));
        if fields.start_time.is_none() {
            self.lost.events = true;
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

    pub(super) fn attempt_ended(
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
        // For some killed attempts Hadoop does not know the end.
        if fields.finish_time.is_none() || (finish.is_none() && outcome == Outcome::Succeeded) {
            self.lost.events = true;
            self.missing_field(at, "the end of an attempt", "finishTime");
        }
        let text = fields.error.as_deref().map(str::trim).filter(|text| !text.is_empty());
        let text = text.and_then(|text| self.app.strings.intern(truncate(text, MAX_TEXT_LEN)));
        let Some(group) = self.groups.get_mut(task.group) else { return };
        let attempts = &mut group.attempts;
        // When the output of a successful map is lost, it is declared failed or killed later: it ended only
        // once.
        let ended_before = attempts.time(attempt, TimePoint::Finish).is_some();
        // An event that is logged twice tells its error once.
        let error_known = matches!(attempts.outcome(attempt), Outcome::Failed | Outcome::Killed);
        attempts.set_outcome(attempt, outcome);
        if node.is_some() {
            attempts.set_node(attempt, node);
        }
        if rack.is_some() {
            attempts.set_rack(attempt, rack);
        }
        if let Some(text) = text.filter(|_| !error_known) {
            attempts.set_diagnostics(attempt, text);
        }
        if ended_before {
            return;
        }
        let without_start = never_started || attempts.time(attempt, TimePoint::Start).is_none();
        if without_start && outcome == Outcome::Succeeded {
            self.lost.events = true;
            self.problems.warn("attempt-start-missing", Some(at), || {
                "an attempt succeeded, but its start is missing; its run time is unknown".into()
            });
        }
        attempts.set_time(attempt, TimePoint::Finish, finish);
        attempts.set_time(attempt, TimePoint::MapFinish, moments.read(fields.map_finish_time));
        attempts.set_time(attempt, TimePoint::ShuffleFinish, moments.read(fields.shuffle_finish_time));
        attempts.set_time(attempt, TimePoint::SortFinish, moments.read(fields.sort_finish_time));
        set_counters(attempts, attempt, &payload.counters, self.others);
        warn_impossible(&mut self.problems, at, attempts, attempt, (fields, &payload.counters));
        set_progress(&mut self.problems, at, attempts, (attempt, &payload.progress));
        if outcome == Outcome::Succeeded {
            group.tasks.set_representative(task.row as usize, Some(attempt));
        }
    }

    fn attempt_count(&self) -> usize {
        self.groups.iter().map(|group| group.attempts.len()).sum()
    }

    /// The row of the event's task, added if new.
    fn task(&mut self, at: Position, fields: &EventFields<'_>) -> Option<TaskRow> {
        let id = fields.task_id.as_deref().and_then(TaskId::parse);
        let Some(id) = id else {
            self.lost.events = true;
            let shown = fields.task_id.as_deref().unwrap_or("none").to_owned();
            self.problems.warn("bad-task-id", Some(at), || {
                format!("a task event has no readable task id ({}); it was skipped", truncate(&shown, 80))
            });
            return None;
        };
        self.task_row(id, fields)
    }

    /// The rows of the event's task and attempt, added if new.
    fn attempt(&mut self, at: Position, fields: &EventFields<'_>) -> Option<(TaskRow, usize)> {
        let id = fields.attempt_id.as_deref().and_then(AttemptId::parse);
        let Some(id) = id else {
            self.lost.events = true;
            let shown = fields.attempt_id.as_deref().unwrap_or("none").to_owned();
            self.problems.warn("bad-attempt-id", Some(at), || {
                format!("an attempt event has no readable id ({}); it was skipped", truncate(&shown, 80))
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
            && let Some(job) = job_id_of_task(text)
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

    /// Whether a list with `held` entries may grow by one; records the limit if not.
    fn has_room(&mut self, held: usize) -> bool {
        let room = self.limits.has_room(held);
        if !room {
            self.reach_limit(limits::TASKS);
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
}

/// Sets the counters of an attempt.
fn set_counters(attempts: &mut Attempts, row: usize, counters: &CounterSet, others: OtherCounters) {
    attempts.set_counters(row, counters);
    if others == OtherCounters::Kept {
        attempts.set_other_counters(row, counters);
    }
}
