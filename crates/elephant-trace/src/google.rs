//! Google's trace of 2011: the tables `job_events`, `machine_events` and `task_events` of `clusterdata-2011`.
//!
//! A task is submitted, scheduled on a machine, and then finishes, fails, or is evicted or killed; after an eviction or a
//! failure it may be scheduled again. The lines are nearly in the order of time ([`waiting`]). A job is complete when
//! `job_events` says so; without that table, when none of its tasks has been alive for an hour.

mod table;
mod waiting;

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};

use super::attempts::{Attempt, AttemptList, Moment};
use super::job::{Group, Job};
use super::lines::{Columns, Refusal, Time, Unusable};
use super::open::{Attempts, free_place};
use super::{File, Receiver, TraceFormat, TraceReader};
use elephant_input::trace_table::TraceTable;
use elephant_model::model::table::Outcome;
use elephant_model::model::{Interner, Status, Symbol};
use elephant_parse::{Position, Problems};
use table::JobTable;
use waiting::Waiting;

/// A job whose end is known is handed on this much later: some of its tasks may end after it.
const AFTER_END: Moment = 10 * 60 * 1000;
/// A job whose end is not known is handed on when none of its tasks has been alive for this long.
const QUIET: Moment = 60 * 60 * 1000;

/// The state of a reading.
#[derive(Default)]
pub(super) struct Google {
    machines: Interner,
    /// The data from `job_events`.
    told: JobTable,
    /// The place of each job among the open ones; `None` if it was handed on.
    jobs: FxHashMap<u64, Option<u32>>,
    open: Vec<Option<Open>>,
    free: Vec<u32>,
    attempts: Attempts,
    /// Events that wait, because earlier events may still follow.
    waiting: Waiting<Arrived>,
    /// When open jobs may be complete.
    due: BinaryHeap<Reverse<(Moment, u32)>>,
    /// The moment of the last event that did not have to wait.
    now: Moment,
    repeated: u64,
}

/// A job with tasks that may go on.
struct Open {
    id: u64,
    user: Option<Symbol>,
    priority: Option<u32>,
    submitted: Option<Moment>,
    /// The latest event.
    last: Moment,
    /// Tasks that were submitted and have not ended.
    alive: u32,
    /// Whether it is in `due`.
    is_due: bool,
    running: FxHashMap<u32, Running>,
    ended: AttemptList,
    source: Arc<str>,
}

/// The machine of a running task, and when it was scheduled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Running {
    machine: Option<Symbol>,
    start: Option<Moment>,
}

/// What happened to a task or a job.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Event {
    Submit,
    Schedule,
    /// With the outcome of the attempt.
    End(Outcome),
    Update,
}

impl Event {
    fn of(code: u64) -> Option<Self> {
        Some(match code {
            0 => Self::Submit,
            1 => Self::Schedule,
            // 2 is evicted, 3 failed, 4 finished, 5 killed. 6 is lost: the record is missing, so the outcome
            // is unknown.
            2 | 5 => Self::End(Outcome::Killed),
            3 => Self::End(Outcome::Failed),
            4 => Self::End(Outcome::Succeeded),
            6 => Self::End(Outcome::Unfinished),
            7 | 8 => Self::Update,
            _ => return None,
        })
    }
}

/// A line of `task_events`.
struct TaskEvent<'a> {
    at: Option<Moment>,
    job: u64,
    task: u32,
    event: Event,
    machine: Option<&'a str>,
    user: Option<&'a str>,
    priority: Option<u32>,
}

/// An event of a task of an open job.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Arrived {
    /// The job's place among the open ones.
    place: u32,
    task: u32,
    event: Event,
    machine: Option<Symbol>,
    at: Option<Moment>,
}

impl<'a> TaskEvent<'a> {
    fn of(columns: &Columns<'a>) -> Result<Self, Unusable> {
        Ok(Self {
            at: time(columns)?.known(),
            job: columns.whole(3).ok_or(Unusable(3, "a job's id"))?,
            task: columns.small(4).ok_or(Unusable(4, "a task's index"))?,
            event: event(columns, 6)?,
            machine: columns.name(5),
            user: columns.name(7),
            priority: columns.small(9),
        })
    }
}

fn time(columns: &Columns<'_>) -> Result<Time, Unusable> {
    Time::of_micros(columns.text(1)).ok_or(Unusable(1, "a time in microseconds within 49 days"))
}

fn event(columns: &Columns<'_>, column: usize) -> Result<Event, Unusable> {
    columns.whole(column).and_then(Event::of).ok_or(Unusable(column, "an event, 0 to 8"))
}

impl TraceReader for Google {
    fn row(
        &mut self,
        columns: &Columns<'_>,
        file: &File<'_>,
        at: (Position, &mut Problems),
        receiver: &mut dyn Receiver,
    ) -> Result<(), Refusal> {
        if file.table == TraceTable::GoogleJobs {
            self.told.add(columns)?;
            return self.told.within(file.limits);
        }
        self.arrive(&TaskEvent::of(columns)?, file, at);
        while let Some((moment, event)) = self.waiting.next() {
            self.now = self.now.max(moment);
            self.happen(event);
            self.hand_on(receiver);
        }
        self.attempts.within(file.limits)
    }

    fn repeated(&mut self) -> u64 {
        std::mem::take(&mut self.repeated)
    }

    fn finish(mut self: Box<Self>, receiver: &mut dyn Receiver) -> u64 {
        while let Some((_, event)) = self.waiting.rest() {
            self.happen(event);
        }
        self.attempts.drain();
        for place in 0..self.open.len() {
            self.close(place, receiver);
        }
        receiver.end(&self.machines);
        self.repeated
    }
}

impl Google {
    /// Adds an event of an open job to the waiting events.
    fn arrive(&mut self, event: &TaskEvent<'_>, file: &File<'_>, (at, problems): (Position, &mut Problems)) {
        let Some(place) = self.place(event, file) else {
            problems.warn("trace-late", Some(at), || {
                "an event is much later than the end of its job; it was skipped (the files must be in the order of \
                 time)"
                    .to_owned()
            });
            return;
        };
        let machine = event.machine.and_then(|name| self.machines.intern(name));
        let arrived = Arrived { place, task: event.task, event: event.event, machine, at: event.at };
        let moment = self.waiting.push(event.at, arrived);
        let Some(Some(job)) = self.open.get_mut(place as usize) else { return };
        // The job becomes complete only after its waiting events.
        job.last = job.last.max(moment);
        job.priority = job.priority.or(event.priority);
    }

    fn happen(&mut self, event: Arrived) {
        let Arrived { place, task, event, machine, at } = event;
        let Some(Some(job)) = self.open.get_mut(place as usize) else { return };
        match event {
            Event::Submit => {
                job.alive = job.alive.saturating_add(1);
                job.submitted = job.submitted.into_iter().chain(at).min();
            }
            Event::Schedule => {
                let now = Running { machine, start: at };
                if let Some(before) = job.running.insert(task, now) {
                    if before == now {
                        self.repeated += 1;
                    } else {
                        // The record of its end is missing.
                        let attempt = before.ended(task, None, Outcome::Unfinished);
                        self.attempts.push(&mut job.ended, attempt);
                    }
                }
            }
            Event::End(outcome) => {
                job.alive = job.alive.saturating_sub(1);
                let running = job.running.remove(&task);
                let attempt = running.unwrap_or(Running { machine, start: None }).ended(task, at, outcome);
                self.attempts.push(&mut job.ended, attempt);
            }
            Event::Update => {}
        }
        self.plan(place);
    }

    /// The place of the event's job among the open ones; `None` if it was handed on.
    fn place(&mut self, event: &TaskEvent<'_>, file: &File<'_>) -> Option<u32> {
        if let Some(known) = self.jobs.get(&event.job) {
            return *known;
        }
        let open = Open {
            id: event.job,
            user: event.user.and_then(|user| self.told.intern(user)),
            priority: event.priority,
            submitted: None,
            last: 0,
            alive: 0,
            is_due: false,
            running: FxHashMap::default(),
            ended: AttemptList::default(),
            source: file.name.clone(),
        };
        let place = free_place(&mut self.open, &mut self.free)?;
        *self.open.get_mut(place as usize)? = Some(open);
        self.jobs.insert(event.job, Some(place));
        Some(place)
    }

    /// When a job can be handed on, as far as is known.
    fn ready_at(&self, job: &Open) -> Option<Moment> {
        match self.told.job(job.id) {
            Some(told) if told.status != Status::Unknown => {
                told.finished.map(|end| end.max(job.last).saturating_add(AFTER_END))
            }
            _ => (job.alive == 0).then(|| job.last.saturating_add(QUIET)),
        }
    }

    /// Plans when to check a job again.
    fn plan(&mut self, place: u32) {
        let job = self.open.get(place as usize).and_then(Option::as_ref);
        let Some(at) = job.filter(|job| !job.is_due).and_then(|job| self.ready_at(job)) else { return };
        self.due.push(Reverse((at, place)));
        if let Some(Some(job)) = self.open.get_mut(place as usize) {
            job.is_due = true;
        }
    }

    /// Hands on the jobs that are complete.
    fn hand_on(&mut self, receiver: &mut dyn Receiver) {
        while let Some(&Reverse((at, place))) = self.due.peek() {
            if at >= self.now {
                return;
            }
            self.due.pop();
            let Some(Some(job)) = self.open.get_mut(place as usize) else { continue };
            job.is_due = false;
            let ready =
                self.open.get(place as usize).and_then(Option::as_ref).and_then(|job| self.ready_at(job));
            if ready.is_some_and(|ready| ready < self.now) {
                self.close(place as usize, receiver);
                self.free.push(place);
            } else {
                self.plan(place);
            }
        }
    }

    fn close(&mut self, place: usize, receiver: &mut dyn Receiver) {
        let Some(open) = self.open.get_mut(place).and_then(Option::take) else { return };
        self.jobs.insert(open.id, None);
        let told = self.told.job(open.id).copied().unwrap_or_default();
        let mut attempts = self.attempts.take(open.ended, &mut self.repeated);
        attempts.extend(open.running.iter().map(|(&task, it)| it.ended(task, None, Outcome::Unfinished)));
        attempts.sort_unstable();
        self.repeated += without_repeated_ends(&mut attempts);
        let (name, job_names) = self.told.name(&told);
        let label =
            open.priority.map_or_else(|| "tasks".to_owned(), |priority| format!("priority {priority}"));
        let job = Job {
            format: TraceFormat::Google2011,
            id: open.id.to_string(),
            name,
            job_names,
            user: self.told.text(told.user.or(open.user)),
            status: told.status,
            submitted: told.submitted.or(open.submitted),
            finished: told.finished,
            source: open.source,
            groups: vec![Group { label, attempts }],
        };
        receiver.receive(job, &self.machines);
    }
}

/// Removes attempts without a start that end like another of the same task: the line of their end occurs twice. Returns
/// their number.
fn without_repeated_ends(attempts: &mut Vec<Attempt>) -> u64 {
    let all = attempts.len();
    // Attempts without a start come last among those of a task.
    let (mut task, mut ends) = (None, FxHashSet::default());
    attempts.retain(|attempt| {
        if task != Some(attempt.task()) {
            task = Some(attempt.task());
            ends.clear();
        }
        let is_new = ends.insert((attempt.finish(), attempt.outcome()));
        is_new || attempt.start().is_some()
    });
    (all - attempts.len()) as u64
}

impl Running {
    fn ended(self, task: u32, at: Option<Moment>, outcome: Outcome) -> Attempt {
        Attempt::new(task, self.machine, (self.start, at), outcome)
    }
}
