//! The common parts of Alibaba's traces: a job has "tasks", each of which runs many instances of one program.
//! In the terms of this program, a "task" is a group and its instances are the tasks.
//!
//! The lines are in no useful order. A job is complete when as many instances were read as `batch_task`
//! announces; without that table, at the end.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::attempts::{Attempt, AttemptList};
use super::job::{Group, Job};
use super::lines::{Columns, Refusal, Time, Unusable};
use super::open::{Attempts, free_place};
use super::{File, Receiver, TraceFormat, TraceReader};
use elephant_model::model::table::Outcome;
use elephant_model::model::{Interner, Status, Symbol};
use elephant_parse::{Level, Position, Problems};

/// The columns of one of the traces.
pub(super) struct Schema {
    pub(super) format: TraceFormat,
    pub(super) announcement: for<'a> fn(&Columns<'a>) -> Result<Announcement<'a>, Unusable>,
    pub(super) instance: for<'a> fn(&Columns<'a>) -> Result<Instance<'a>, Unusable>,
}

/// A line of `batch_task`.
pub(super) struct Announcement<'a> {
    pub(super) job: &'a str,
    pub(super) instances: u64,
    pub(super) status: &'a [u8],
}

/// A line of `batch_instance`: one try of an instance.
pub(super) struct Instance<'a> {
    pub(super) job: &'a str,
    pub(super) task: &'a str,
    pub(super) kind: Option<&'a str>,
    pub(super) number: Number,
    pub(super) start: Time,
    pub(super) finish: Time,
    pub(super) machine: Option<&'a str>,
    pub(super) status: &'a [u8],
    /// The number of the try, and how many there were.
    pub(super) tries: Option<(u32, u32)>,
}

/// The number of an instance.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Number {
    Is(u32),
    /// The trace does not have one; instances are counted in the order of the lines.
    None,
}

/// The state of a reading.
pub(super) struct Alibaba {
    schema: &'static Schema,
    machines: Interner,
    /// Names of "tasks" and of their types; most jobs use the same few.
    names: Interner,
    job_names: Interner,
    /// One entry per job, in the order of the names in `job_names`.
    jobs: Vec<JobState>,
    /// The place of each "task" of an open job in its list.
    groups: FxHashMap<(u32, Symbol), u32>,
    open: Vec<Option<Open>>,
    free: Vec<u32>,
    attempts: Attempts,
    repeated: u64,
}

/// The state of a job.
#[derive(Debug, Clone, Copy, Default)]
struct JobState {
    /// Instances that were announced and not read yet; `None` if it was not announced.
    left: Option<u64>,
    /// Whether one of its "tasks" failed or was cancelled.
    failed: bool,
    /// Whether one of its "tasks" has not ended.
    running: bool,
    place: Place,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Place {
    #[default]
    Unseen,
    /// Among the open jobs.
    Open(u32),
    HandedOn,
}

/// A job with instances.
struct Open {
    groups: Vec<OpenGroup>,
    source: Arc<str>,
}

struct OpenGroup {
    name: Symbol,
    kind: Option<Symbol>,
    attempts: AttemptList,
}

impl Alibaba {
    pub(super) fn new(schema: &'static Schema) -> Self {
        Self {
            schema,
            machines: Interner::default(),
            names: Interner::default(),
            job_names: Interner::default(),
            jobs: Vec::new(),
            groups: FxHashMap::default(),
            open: Vec::new(),
            free: Vec::new(),
            attempts: Attempts::default(),
            repeated: 0,
        }
    }

    fn announce(&mut self, announcement: &Announcement<'_>) {
        let Some(job) = self.job_names.intern(announcement.job).and_then(|job| self.state(job)) else {
            return;
        };
        job.left = Some(job.left.unwrap_or_default().saturating_add(announcement.instances));
        match announcement.status {
            b"Terminated" => {}
            b"Failed" | b"Cancelled" => job.failed = true,
            _ => job.running = true,
        }
    }

    /// The state of a job; adds one if the job is new.
    fn state(&mut self, job: Symbol) -> Option<&mut JobState> {
        let place = job.index() as usize;
        if self.jobs.len() <= place {
            self.jobs.resize(place + 1, JobState::default());
        }
        self.jobs.get_mut(place)
    }

    fn instance(
        &mut self,
        instance: &Instance<'_>,
        file: &File<'_>,
        (at, problems): (Position, &mut Problems),
        receiver: &mut dyn Receiver,
    ) -> Result<(), Refusal> {
        if matches!((instance.number, instance.tries), (Number::None, Some((number, all))) if number < all) {
            problems.add(Level::Info, "trace-repeated-try", Some(at), || {
                "a repeated attempt does not name its instance; it was skipped".to_owned()
            });
            return Ok(());
        }
        let Some(job) = self.job_names.intern(instance.job) else { return Ok(()) };
        let Some(place) = self.place(job, file) else {
            problems.warn("trace-late", Some(at), || {
                "an instance comes after all instances that batch_task announces for its job; it was skipped".to_owned()
            });
            return Ok(());
        };
        let machine = instance.machine.and_then(|name| self.machines.intern(name));
        let Some(name) = self.names.intern(instance.task) else { return Ok(()) };
        let kind = instance.kind.and_then(|kind| self.names.intern(kind));
        let Some(Some(open)) = self.open.get_mut(place as usize) else { return Ok(()) };
        let number = *self.groups.entry((place, name)).or_insert_with(|| {
            open.groups.push(OpenGroup { name, kind, attempts: AttemptList::default() });
            u32::try_from(open.groups.len() - 1).unwrap_or(u32::MAX)
        });
        let Some(group) = open.groups.get_mut(number as usize) else { return Ok(()) };
        let task = match instance.number {
            Number::Is(number) => number,
            Number::None => group.attempts.len(),
        };
        let times = (instance.start.known(), instance.finish.known());
        if times.0.zip(times.1).is_some_and(|(start, finish)| finish < start) {
            problems.warn("trace-ends-first", Some(at), || {
                "an instance ends before it starts; how long it ran is unknown".to_owned()
            });
        }
        let attempt = Attempt::new(task, machine, times, outcome(instance.status));
        self.attempts.push(&mut group.attempts, attempt);
        self.attempts.within(file.limits)?;
        // Only the last try of an instance counts towards the announced instances.
        let is_last = instance.tries.is_none_or(|(number, all)| number >= all);
        if is_last && self.is_complete_with_one_more(job) {
            self.close(job, place, receiver);
        }
        Ok(())
    }

    /// Counts an instance of a job, and returns whether the job is now complete.
    fn is_complete_with_one_more(&mut self, job: Symbol) -> bool {
        let Some(state) = self.state(job) else { return false };
        state.left = state.left.and_then(|left| left.checked_sub(1));
        state.left == Some(0)
    }

    /// The place of a job among the open ones; `None` if it was handed on.
    fn place(&mut self, job: Symbol, file: &File<'_>) -> Option<u32> {
        match self.state(job)?.place {
            Place::Open(place) => return Some(place),
            Place::HandedOn => return None,
            Place::Unseen => {}
        }
        let place = free_place(&mut self.open, &mut self.free)?;
        self.state(job)?.place = Place::Open(place);
        *self.open.get_mut(place as usize)? = Some(Open { groups: Vec::new(), source: file.name.clone() });
        Some(place)
    }

    fn close(&mut self, job: Symbol, place: u32, receiver: &mut dyn Receiver) {
        let Some(open) = self.open.get_mut(place as usize).and_then(Option::take) else { return };
        self.free.push(place);
        let Some(state) = self.state(job) else { return };
        state.place = Place::HandedOn;
        let status = match *state {
            JobState { left: None, .. } => Status::Unknown,
            JobState { failed: true, .. } => Status::Failed,
            JobState { running: true, .. } => Status::Running,
            JobState { .. } => Status::Succeeded,
        };
        let name = |symbol: Symbol| self.names.get(symbol).unwrap_or_default();
        let mut groups = Vec::with_capacity(open.groups.len());
        for group in open.groups {
            self.groups.remove(&(place, group.name));
            let kind = group.kind.map(|kind| format!(", type {}", name(kind))).unwrap_or_default();
            let label = format!("task {}{kind}", name(group.name));
            groups.push(Group { label, attempts: self.attempts.take(group.attempts, &mut self.repeated) });
        }
        let moments = || groups.iter().flat_map(|group| &group.attempts);
        let job = Job {
            format: self.schema.format,
            id: self.job_names.get(job).unwrap_or_default().to_owned(),
            name: None,
            job_names: None,
            user: None,
            status,
            submitted: moments().filter_map(|attempt| attempt.start()).min(),
            finished: moments().filter_map(|attempt| attempt.finish()).max(),
            source: open.source,
            groups,
        };
        receiver.receive(job, &self.machines);
    }
}

impl TraceReader for Alibaba {
    fn row(
        &mut self,
        columns: &Columns<'_>,
        file: &File<'_>,
        at: (Position, &mut Problems),
        receiver: &mut dyn Receiver,
    ) -> Result<(), Refusal> {
        if file.table == self.schema.format.tasks() {
            return self.instance(&(self.schema.instance)(columns)?, file, at, receiver);
        }
        self.announce(&(self.schema.announcement)(columns)?);
        Ok(())
    }

    fn repeated(&mut self) -> u64 {
        std::mem::take(&mut self.repeated)
    }

    fn finish(mut self: Box<Self>, receiver: &mut dyn Receiver) -> u64 {
        self.attempts.drain();
        for job in 0..self.job_names.len() {
            let Ok(job) = u32::try_from(job).map(Symbol::from_index) else { break };
            if let Some(JobState { place: Place::Open(place), .. }) = self.state(job).copied() {
                self.close(job, place, receiver);
            }
        }
        receiver.end(&self.machines);
        self.repeated
    }
}

/// "Interrupted" is the end of a backup copy; the other states mean that an instance has not ended.
fn outcome(status: &[u8]) -> Outcome {
    match status {
        b"Terminated" => Outcome::Succeeded,
        b"Failed" => Outcome::Failed,
        b"Cancelled" | b"Interrupted" => Outcome::Killed,
        _ => Outcome::Unfinished,
    }
}
