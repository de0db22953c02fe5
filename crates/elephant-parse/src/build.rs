//! Builds an [`Application`] from events: the only place that interprets a MapReduce job history.

mod clocks;
mod cluster;
mod held;
mod job;
mod life;
mod numbers;
mod records;
mod tasks;
mod times;
mod verify;

pub(crate) use verify::{choose_representatives, mark_speculation};

use std::borrow::Cow;
use std::io;

use rustc_hash::FxHashMap;

use super::counter_names::CounterNames;
use super::event::{EventFields, EventKind, EventPayload};
use super::hosts::host_and_rack;
use super::problem::{Level, Position, Problems};
use super::reading::{Moments, set_text};
use super::rows::{ByAttempt, ByTask};
use super::{OtherCounters, ToldByName};
use elephant_base::limits::{self, Held, Limits, Remainder};
use elephant_base::units::Timestamp;
use elephant_model::model::table::{Outcome, TaskGroup, TaskKind};
use elephant_model::model::{Announced, Application, Engine, Interner, Status, Symbol};

/// Synthetic histories count time from 0. A time before this is synthetic: Hadoop did not exist yet.
const SYNTHETIC_BEFORE: Timestamp = Timestamp::from_millis(100_000_000_000);

const KINDS: [TaskKind; 4] = [TaskKind::Map, TaskKind::Reduce, TaskKind::Setup, TaskKind::Cleanup];

/// Which machines' clocks a history's times come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Clocks {
    /// The application master's only (Hadoop 2 and 3): times agree to the millisecond.
    #[default]
    Master,
    /// The job tracker's for tasks, each task tracker's for attempts (Hadoop 1): clocks may differ by
    /// minutes.
    Trackers,
}

/// Builds one application from the events of its history.
pub(crate) struct HistoryBuilder {
    app: Application,
    clocks: Clocks,
    moments: Moments,
    names: CounterNames,
    problems: Problems,
    groups: [TaskGroup; KINDS.len()],
    tasks: ByTask<TaskRow>,
    attempts: ByAttempt<u32>,
    /// Hosts of input splits by their text; tasks repeat the same few.
    split_hosts: FxHashMap<Box<str>, Symbol>,
    seen_submission: bool,
    seen_end: bool,
    told: records::Told,
    name: ToldByName,
    lost: Lost,
    others: OtherCounters,
    limits: Limits,
    held: Held,
    /// The bytes of tables and strings at the last measurement, and the bytes that events may have added since.
    measured: usize,
    unmeasured: usize,
    /// The option whose limit was reached.
    limit: Option<&'static str>,
}

/// Which parts of the history cannot be used.
#[derive(Debug, Clone, Copy, Default)]
struct Lost {
    /// An event, or a part that makes it unusable.
    events: bool,
    /// A whole event, which may have been the job's end.
    skipped_event: bool,
    /// Numbers within events.
    numbers: bool,
}

/// Where a task is stored: an index into the groups and the row in its table.
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
            told: records::Told::default(),
            name: ToldByName::default(),
            lost: Lost::default(),
            others: OtherCounters::default(),
            limits: Limits::default(),
            held: Held::within(&Limits::default()),
            measured: 0,
            unmeasured: 0,
            limit: None,
        }
    }
}

impl HistoryBuilder {
    /// A builder for a history whose times come from `clocks`.
    #[must_use]
    pub(crate) fn with_clocks(clocks: Clocks) -> Self {
        Self { clocks, ..Self::default() }
    }

    /// Limits the number of tasks and attempts, and the memory that they take.
    pub(crate) fn keep_within(&mut self, limits: &Limits, others: OtherCounters) {
        self.others = others;
        self.limits = *limits;
        self.held = Held::within(limits);
    }

    /// Compares the times of the job with those in the name of its file.
    pub(crate) fn named(&mut self, name: ToldByName) {
        self.name = name;
    }

    /// Returns the tables that a decoder needs to record counters into an [`EventPayload`].
    pub(crate) fn counter_names(&mut self) -> (&mut CounterNames, &mut Interner) {
        (&mut self.names, &mut self.app.strings)
    }

    /// The problems found so far; decoders add to them.
    pub(crate) fn problems(&mut self) -> &mut Problems {
        &mut self.problems
    }

    /// Records that an event could not be decoded, so that the history has a gap.
    pub(crate) fn record_lost_event(&mut self) {
        self.lost.events = true;
        self.lost.skipped_event = true;
    }

    /// Records that a part of the history was never there, although nothing was lost while reading.
    pub(crate) fn record_missing(&mut self) {
        self.lost.events = true;
    }

    /// Records that reading stopped because of `error`, which may be a limit.
    pub(crate) fn stop(&mut self, error: &io::Error) {
        if let Some(reached) = limits::behind(error) {
            self.reach_limit(reached.option());
        }
    }

    /// Records that the limit of this option kept events out.
    pub(crate) fn reach_limit(&mut self, option: &'static str) {
        self.limit.get_or_insert(option);
        self.lost.events = true;
    }

    /// Processes one event.
    pub(crate) fn event(
        &mut self,
        at: Position,
        kind: EventKind,
        fields: &EventFields<'_>,
        payload: &EventPayload,
    ) {
        let moments = self.moments;
        self.warn_unreadable(at, fields, payload);
        self.count_event(fields, payload);
        match kind {
            EventKind::MasterStarted => self.master_started(fields),
            EventKind::JobSubmitted => self.job_submitted(at, fields),
            EventKind::JobInited => self.job_inited(at, fields),
            EventKind::JobInfoChanged => {
                self.drop_submission_in_1970(fields);
                self.app.launched_at = moments.read(fields.launch_time).or(self.app.launched_at);
                self.correct_submission(at, moments.read(fields.submit_time));
                self.told.info_changed = true;
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

    /// Finishes the application. `damaged` means that the source ended or broke early.
    #[must_use]
    pub(crate) fn finish(mut self, damaged: bool) -> (Application, Problems) {
        if !self.seen_end {
            // A skipped event may have been the end.
            let may_have_ended = damaged || self.lost.skipped_event;
            self.app.status = if may_have_ended { Status::Unknown } else { Status::Running };
        }
        self.find_missing_records(damaged);
        for group in &mut self.groups {
            group.sort_rows();
            verify::choose_representatives(group);
            verify::mark_speculation(group);
            group.shrink();
        }
        self.lost.numbers |= self.groups.iter().any(|group| !group.attempts.any_unreadable().is_empty());
        self.warn_missing_ends(damaged);
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
        clocks::check(&mut self.app, &mut self.problems, (self.clocks, self.told), &self.name);
        verify::check(&mut self.app, &mut self.problems);
        (self.app, self.problems)
    }

    /// Warns if the first or the last event of the job is missing.
    fn warn_missing_ends(&mut self, damaged: bool) {
        let empty = self.tasks.is_empty() && !self.seen_submission && !self.seen_end;
        if !self.seen_submission && !empty {
            self.problems.warn("no-job-start", None, || {
                "the job history lacks the job's submission; its start is unknown".into()
            });
        }
        if !self.seen_end && !empty && !damaged {
            let skipped_event = self.lost.skipped_event;
            self.problems.warn("no-job-end", None, || {
                let why =
                    if skipped_event { "the event was skipped" } else { "the job is still running" };
                format!(
                    "the job history lacks the end of the job: {why}, or its application master died; its costs are unknown"
                )
            });
        }
    }

    fn node(&mut self, host: Option<&Cow<'_, str>>) -> Option<Symbol> {
        host.and_then(|host| host_and_rack(host).0).and_then(|host| self.app.strings.intern(host))
    }

    fn missing_field(&mut self, at: Position, event: &str, field: &str) {
        self.problems.add(Level::Warning, "missing-field", Some(at), || {
            format!("{event} lacks {field}; values that depend on it are unknown")
        });
    }
}
