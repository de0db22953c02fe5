//! Jobs and stage attempts: when they are submitted and when they end.

use super::{Event, Run};
use crate::replay::Micros;
use crate::replay::spark::plan::{Job, Stage};

impl<'a> Run<'a> {
    fn job(&self, job: u32) -> Option<&'a Job> {
        self.plan.jobs.get(job as usize)
    }

    pub(super) fn stage(&self, stage: u32) -> Option<&'a Stage> {
        self.plan.stages.get(stage as usize)
    }

    pub(super) fn submit_first_jobs(&mut self) {
        for order in 0..self.orders.len() {
            self.submit_waiting(order);
        }
    }

    /// Submits the jobs of an order for which enough jobs have ended.
    fn submit_waiting(&mut self, order: usize) {
        loop {
            let Some(state) = self.orders.get_mut(order) else { return };
            let Some(&next) = state.waiting.last() else { return };
            let (ended, last_end) = (state.ended, state.last_end);
            let Some(job) = self.plan.jobs.get(next as usize).filter(|job| job.waits_for <= ended) else {
                return;
            };
            state.waiting.pop();
            self.at(last_end + job.lag, Event::JobSubmitted(next));
        }
    }

    pub(super) fn job_submitted(&mut self, place: u32) {
        let now = self.now;
        let Some(job) = self.job(place) else { return };
        if let Some(state) = self.jobs.get_mut(place as usize) {
            state.submitted = Some(now);
        }
        for &stage in &job.stages {
            self.one_met(stage);
        }
        if job.needs.is_empty() {
            self.at(now + job.end_lag, Event::JobEnd(place));
        }
    }

    /// One of the ends that a stage attempt waits for has come; it is submitted after the last.
    fn one_met(&mut self, place: u32) {
        let Some(state) = self.stages.get_mut(place as usize) else { return };
        state.unmet = state.unmet.saturating_sub(1);
        if state.unmet == 0
            && let Some(stage) = self.stage(place)
        {
            self.at(self.now + stage.lag, Event::StageReady(place));
        }
    }

    /// A stage attempt is submitted, and opens once its first task can start.
    pub(super) fn stage_ready(&mut self, place: u32) {
        let now = self.now;
        let Some(stage) = self.stage(place) else { return };
        let Some(state) = self.stages.get_mut(place as usize) else { return };
        if state.submitted.is_none() {
            state.submitted = Some(now);
            self.move_executors(place);
            if stage.head_lag > Micros::ZERO {
                self.at(now + stage.head_lag, Event::StageReady(place));
                return;
            }
        }
        self.open_stage(place);
    }

    pub(super) fn stage_end(&mut self, place: u32) {
        let now = self.now;
        let Some(stage) = self.stage(place) else { return };
        let Some(state) = self.stages.get_mut(place as usize) else { return };
        if state.ended.replace(now).is_some() {
            return;
        }
        let needed = state.needed;
        for waiting in std::mem::take(&mut state.before) {
            self.one_met(waiting);
        }
        let Some(job) = self.jobs.get_mut(stage.job as usize).filter(|_| needed) else { return };
        job.left = job.left.saturating_sub(1);
        if job.left == 0 {
            let end_lag = self.job(stage.job).map(|job| job.end_lag).unwrap_or_default();
            self.at(now + end_lag, Event::JobEnd(stage.job));
        }
    }

    pub(super) fn job_end(&mut self, place: u32) {
        let now = self.now;
        if let Some(state) = self.jobs.get_mut(place as usize) {
            state.ended = Some(now);
        }
        // Only the order of all jobs and that of the job's SQL execution contain it.
        let own = self.job(place).map(|job| job.member_of as usize).filter(|&order| order != 0);
        for order in [Some(0), own].into_iter().flatten() {
            self.advance(order);
            self.submit_waiting(order);
        }
    }

    /// Counts the jobs from the first of an order on that have ended.
    fn advance(&mut self, order: usize) {
        let (Some(state), Some(recorded)) = (self.orders.get_mut(order), self.plan.orders.get(order)) else {
            return;
        };
        let ends = recorded.jobs.iter().skip(state.ended as usize);
        for end in ends.map_while(|&job| self.jobs.get(job as usize)?.ended) {
            state.ended += 1;
            state.last_end = state.last_end.max(end);
        }
    }
}
