//! What changes during a replay.

use std::collections::BTreeSet;

use crate::replay::Micros;
use crate::replay::spark::plan::{Plan, to_u32};

#[derive(Debug, Clone, Default)]
pub(super) struct StageState {
    /// Jobs and stage attempts that it still waits for.
    pub(super) unmet: u32,
    pub(super) submitted: Option<Micros>,
    pub(super) ended: Option<Micros>,
    /// Whether its tasks can start.
    pub(super) open: bool,
    pub(super) running: u32,
    /// Tasks that have to settle before it ends.
    pub(super) left: u32,
    /// The next task that was not launched yet, as a place in [`Plan::tasks`] or in the list of replaced tasks.
    pub(super) next: u32,
    /// Queued attempts other than the first of each task, by recorded launch.
    pub(super) repeated: BTreeSet<(Micros, u32)>,
    /// The stage attempts that wait for it.
    pub(super) before: Vec<u32>,
    /// Whether its job waits for it.
    pub(super) needed: bool,
}

impl StageState {
    pub(super) fn all(plan: &Plan) -> Vec<Self> {
        let blank = |(waits_for, first_task)| Self { unmet: waits_for, next: first_task, ..Self::default() };
        let waits = plan.stages.iter().map(|stage| (to_u32(stage.waits_for.len()) + 1, stage.tasks.start));
        let mut states: Vec<Self> = waits.map(blank).collect();
        for (place, stage) in plan.stages.iter().enumerate() {
            for &other in &stage.waits_for {
                if let Some(state) = states.get_mut(other as usize) {
                    state.before.push(to_u32(place));
                }
            }
        }
        for &stage in plan.jobs.iter().flat_map(|job| &job.needs) {
            if let Some(state) = states.get_mut(stage as usize) {
                state.needed = true;
            }
        }
        states
    }
}

#[derive(Debug, Clone, Copy, Default)]
pub(super) struct TaskState {
    /// Attempts that run or are queued, or will be.
    pub(super) outstanding: u32,
    /// Whether its copies are queued, or will be.
    pub(super) copied: bool,
    /// Whether no further attempt of it is needed.
    pub(super) settled: bool,
}

#[derive(Debug, Clone, Copy, Default)]
pub(super) struct JobState {
    pub(super) submitted: Option<Micros>,
    pub(super) ended: Option<Micros>,
    /// Stage attempts whose ends it waits for.
    pub(super) left: u32,
}

impl JobState {
    pub(super) fn all(plan: &Plan) -> Vec<Self> {
        let left = plan.jobs.iter().map(|job| to_u32(job.needs.len()));
        left.map(|left| Self { left, ..Self::default() }).collect()
    }
}

/// How far the ends of jobs have come in the recorded order.
#[derive(Debug, Clone, Default)]
pub(super) struct OrderState {
    /// Number of jobs from the first one on that have ended.
    pub(super) ended: u32,
    /// The last of their ends.
    pub(super) last_end: Micros,
    /// Jobs that wait, those that wait for most jobs first.
    pub(super) waiting: Vec<u32>,
}

impl OrderState {
    pub(super) fn all(plan: &Plan) -> Vec<Self> {
        let mut orders: Vec<Self> = plan.orders.iter().map(|_| Self::default()).collect();
        let mut jobs: Vec<u32> = (0..to_u32(plan.jobs.len())).collect();
        jobs.sort_by_key(|&job| plan.jobs.get(job as usize).map(|job| std::cmp::Reverse(job.waits_for)));
        for job in jobs {
            let order = plan.jobs.get(job as usize).map(|job| job.order as usize);
            if let Some(order) = order.and_then(|order| orders.get_mut(order)) {
                order.waiting.push(job);
            }
        }
        orders
    }
}
