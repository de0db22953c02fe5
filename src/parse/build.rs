//! Events in, [`Application`] out: the one place that knows what a MapReduce history means.

mod job;
mod numbers;
mod tasks;

use std::borrow::Cow;
use std::io;

use rustc_hash::FxHashMap;

use super::event::{CounterNames, EventFields, EventKind, EventPayload};
use super::hosts::host_and_rack;
use super::problem::{Level, Position, Problems};
use super::reading::{Moments, set_text};
use super::rows::{ByAttempt, ByTask};
use super::verify;
use crate::limits::{self, Limits, Remainder};
use crate::model::table::{Outcome, TaskGroup, TaskKind};
use crate::model::{Announced, Application, Engine, Interner, Status, Symbol};
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
    /// Hosts of the places where input lies, as they are written: every task names three of a few.
    split_hosts: FxHashMap<Box<str>, Symbol>,
    seen_submission: bool,
    seen_end: bool,
    lost: Lost,
    limits: Limits,
    /// The option of a limit that was reached.
    limit: Option<&'static str>,
}

/// What the history has and cannot be used.
#[derive(Debug, Clone, Copy, Default)]
struct Lost {
    /// Events, or what makes one of use.
    events: bool,
    /// Whole events, of which one may have been the job's end.
    passed_over: bool,
    /// Numbers within events.
    numbers: bool,
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
            split_hosts: FxHashMap::default(),
            seen_submission: false,
            seen_end: false,
            lost: Lost::default(),
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
        self.lost.events = true;
        self.lost.passed_over = true;
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
        self.lost.events = true;
    }

    /// Takes one event.
    pub fn event(&mut self, at: Position, kind: EventKind, fields: &EventFields<'_>, payload: &EventPayload) {
        let moments = self.moments;
        self.note_unread(at, fields, payload);
        match kind {
            EventKind::MasterStarted => self.master_started(fields),
            EventKind::JobSubmitted => self.job_submitted(at, fields),
            EventKind::JobInited => self.job_inited(at, fields),
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
            // What was passed over may have been the end.
            let may_have_ended = damaged || self.lost.passed_over;
            self.app.status = if may_have_ended { Status::Unknown } else { Status::Running };
        }
        for group in &mut self.groups {
            verify::choose_representatives(group);
            verify::mark_speculation(group);
            group.shrink();
        }
        self.lost.numbers |= self.groups.iter().any(|group| !group.attempts.any_unread().is_empty());
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
        self.app.events_missing = !self.seen_submission || !self.seen_end || self.lost.events || damaged;
        self.app.complete = !self.app.events_missing && !self.lost.numbers;
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
            let passed_over = self.lost.passed_over;
            self.problems.warn("no-job-end", None, || {
                let why =
                    if passed_over { "it was passed over" } else { "it still runs" };
                format!(
                    "the history does not tell the end of its job: {why}, or its master died; its costs are unknown"
                )
            });
        }
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
