//! The replay itself: events in the order of time, and the state that they change.

mod event;
mod jobs;
mod slots;
mod state;
mod tasks;

use std::collections::BTreeSet;

use rustc_hash::FxHashMap;

use super::change::Change;
use super::plan::{Plan, Unknown};
use crate::replay::{Micros, Replayed};
use event::{Event, Queue};
use state::{JobState, OrderState, StageState, TaskState};

/// The times of a replay.
#[derive(Debug, Clone)]
pub struct Outcome {
    /// The times of the application.
    pub replayed: Replayed,
    /// When each stage attempt was submitted and ended, by its place.
    pub(crate) stages: Vec<(Micros, Micros)>,
    /// The same for jobs.
    pub(crate) jobs: Vec<(Micros, Micros)>,
}

impl Plan {
    /// Schedules the attempts again.
    ///
    /// # Errors
    /// If the replay does not come to its end.
    pub fn replay(&self, change: &Change) -> Result<Outcome, Unknown> {
        let mut run = Run::new(self, change);
        run.start();
        while let Some((now, event)) = run.events.pop() {
            run.now = now;
            run.handle(event);
            run.fill_slots();
        }
        run.finish()
    }
}

/// A replay under way.
struct Run<'a> {
    plan: &'a Plan,
    change: &'a Change,
    events: Queue,
    now: Micros,
    /// Below zero while tasks of closed slots still run.
    free: i64,
    /// Stage attempts with queued tasks: running tasks (FAIR only), job, place.
    ready: BTreeSet<(u32, u32, u32)>,
    stages: Vec<StageState>,
    /// The states of tasks with several attempts, by their places.
    tasks: FxHashMap<u32, TaskState>,
    /// When the running attempts of these tasks end, by their places.
    ends: FxHashMap<u32, Micros>,
    jobs: Vec<JobState>,
    orders: Vec<OrderState>,
    task_time: Micros,
    /// The changes of the number of open slots, with their times.
    held: Vec<(Micros, i32)>,
}

impl<'a> Run<'a> {
    fn new(plan: &'a Plan, change: &'a Change) -> Self {
        Self {
            plan,
            change,
            events: Queue::default(),
            now: Micros::ZERO,
            free: 0,
            ready: BTreeSet::new(),
            stages: StageState::all(plan),
            tasks: FxHashMap::default(),
            ends: FxHashMap::default(),
            jobs: JobState::all(plan),
            orders: OrderState::all(plan),
            task_time: Micros::ZERO,
            held: Vec::new(),
        }
    }

    fn start(&mut self) {
        self.open_slots();
        self.submit_first_jobs();
    }

    fn at(&mut self, time: Micros, event: Event) {
        self.events.push(time.max(self.now), event);
    }

    fn handle(&mut self, event: Event) {
        match event {
            Event::StageReady(stage) => self.stage_ready(stage),
            Event::Slots(step) => {
                self.free += i64::from(step);
                self.held.push((self.now, step));
            }
            Event::SlotGivenBack => self.free += 1,
            Event::JobSubmitted(job) => self.job_submitted(job),
            Event::AttemptEnd(attempt) => self.attempt_end(attempt),
            Event::ReplacedTaskEnd(stage) => self.replaced_task_end(stage),
            Event::Queued(attempt) => self.queue(attempt),
            Event::StageEnd(stage) => self.stage_end(stage),
            Event::JobEnd(job) => self.job_end(job),
        }
    }

    fn finish(self) -> Result<Outcome, Unknown> {
        let jobs: Option<Vec<_>> = self.jobs.iter().map(|job| job.submitted.zip(job.ended)).collect();
        let jobs = jobs.ok_or(Unknown::NoSlots)?;
        let last_end = jobs.iter().map(|(_, end)| *end).max().unwrap_or_default();
        let wall = last_end + self.plan.tail;
        let held = self.held.iter().map(|&(at, step)| (wall - at.min(wall)).times(step)).sum();
        let replayed = Replayed { wall, task_time: self.task_time, held };
        // A stage attempt that ran on after the end of its job may be under way.
        let times = |stage: &StageState| {
            let submitted = stage.submitted.unwrap_or(last_end);
            (submitted, stage.ended.unwrap_or(submitted))
        };
        Ok(Outcome { replayed, stages: self.stages.iter().map(times).collect(), jobs })
    }
}
