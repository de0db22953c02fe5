//! Jobs, stages and SQL executions.

use rustc_hash::FxHashSet;

use super::possible::apart;
use super::{Builder, StageRecord, Symbols, moment, stage_attempt};
use crate::model::spark::{
    Job, JobResult, PlanMetric, PlanNode, SqlExecution, Stage, StageAttempt, StageStatus,
};
use crate::model::table::{Outcome, TaskGroup, TaskKind};
use crate::parse::spark::event::{JobStart, SqlStart, StageInfo};
use crate::parse::spark::numbered::Numbered;
use crate::parse::spark::plan::{Metric, Node, Plan};
use crate::parse::spark::sums::{Sums, Totals};
use crate::parse::spark::verify::LOG_STAGE_METRICS;
use crate::units::{Millis, Timestamp};

/// Spark counts the tasks of a stage in 32 bits.
const MAX_STAGE_TASKS: i64 = i32::MAX as i64;

/// How much the two submission times of a stage may differ.
const RESUBMITTED: Millis = Millis::from_secs(60);

impl Builder {
    pub(super) fn job_start(&mut self, start: JobStart) {
        let Some(id) = start.id.and_then(|id| u32::try_from(id).ok()) else { return };
        self.saw(moment(start.at));
        let Some(job) = self.job(id) else { return };
        job.submitted_at = moment(start.at);
        job.stages = start.stages.into_iter().filter_map(|id| u32::try_from(id).ok()).collect();
        job.stages.sort_unstable();
        job.stages.dedup();
        job.description = start.description.or(start.last_stage_name);
        job.sql_execution = start.sql_execution.and_then(|id| u64::try_from(id).ok());
    }

    pub(super) fn job_end(
        &mut self,
        id: Option<i64>,
        at: Option<i64>,
        result: Option<JobResult>,
        failure: Option<String>,
    ) {
        let Some(id) = id.and_then(|id| u32::try_from(id).ok()) else { return };
        self.saw(moment(at));
        if !self.job_places.contains_key(&id) {
            self.seen.job_ends_without_start += 1;
        }
        let Some(job) = self.job(id) else { return };
        job.completed_at = moment(at);
        job.has_end = true;
        job.result = result;
        job.failure = failure;
    }

    fn job(&mut self, id: u32) -> Option<&mut Job> {
        if let Some(&place) = self.job_places.get(&id) {
            return self.jobs.get_mut(place);
        }
        let place = self.new_place(self.jobs.len())?;
        self.job_places.insert(id, place);
        self.jobs.push(Job::new(id));
        self.jobs.get_mut(place)
    }

    pub(super) fn stage_place(&mut self, id: StageAttempt) -> Option<usize> {
        if let Some(&place) = self.stage_places.get(&id) {
            return Some(place);
        }
        let place = self.new_place(self.stages.len())?;
        self.stage_places.insert(id, place);
        self.stages.push(StageRecord {
            task_rows: Numbered::default(),
            stage: Stage::new(id),
            group: TaskGroup::new(TaskKind::Stage(id)),
            sums: Sums::Agree,
            submitted: false,
            completed: false,
            first_launch: None,
            last_launch: None,
            last_end: None,
            impossible_task_count: false,
        });
        Some(place)
    }

    pub(super) fn stage_info(&mut self, info: StageInfo) -> Option<&mut StageRecord> {
        let id = stage_attempt(info.id, info.attempt)?;
        self.saw(moment(info.submitted));
        for rdd in info.rdds {
            self.persisted(rdd);
        }
        let place = self.stage_place(id)?;
        let record = self.stages.get_mut(place)?;
        let stage = &mut record.stage;
        stage.name = info.name.or(stage.name.take());
        let announced = info.tasks.filter(|tasks| (0..=MAX_STAGE_TASKS).contains(tasks));
        let impossible = info.unreadable_task_count || (info.tasks.is_some() && announced.is_none());
        stage.announced_tasks = announced.and_then(|n| u64::try_from(n).ok()).or(stage.announced_tasks);
        stage.parents = info.parents.into_iter().filter_map(|id| u32::try_from(id).ok()).collect();
        // Spark 1 sets the time once more when all tasks are submitted.
        let submitted = moment(info.submitted);
        let apart =
            stage.submitted_at.zip(submitted).is_some_and(|(one, other)| apart(one, other) > RESUBMITTED);
        self.seen.outside.stages += u64::from(apart);
        stage.submitted_at = submitted.or(stage.submitted_at).filter(|_| !apart);
        stage.resource_profile =
            info.resource_profile.and_then(|id| u32::try_from(id).ok()).or(stage.resource_profile);
        stage.failure = info.failure.or(stage.failure.take());
        if info.completed.is_some() {
            stage.completed_at = moment(info.completed);
            let known = |(id, value): (i64, i64)| Some((u64::try_from(id).ok()?, value));
            stage.accumulables = info.accumulables.into_iter().filter_map(known).collect();
            stage.accumulables.sort_unstable();
            // Compare at most once per stage: it takes time proportional to the stage's tasks.
            if !record.completed {
                record.sums = Totals::of(&info.totals).compare(&record.group.attempts);
            }
        }
        record.impossible_task_count |= impossible;
        Some(record)
    }

    pub(super) fn stage_completed(&mut self, info: StageInfo) {
        self.saw(moment(info.completed));
        let id = stage_attempt(info.id, info.attempt);
        let measured = id.and_then(|id| self.measured.remove(&id)).unwrap_or_default();
        // Before Spark 3, executors that were gone are left out.
        let is_3 = self.app.engine_version.as_ref().is_some_and(|version| !version.starts_with("2."));
        let is_on = self.seen.metrics_found > 0
            || !measured.is_empty()
            || self.app.conf.raw(LOG_STAGE_METRICS).is_some();
        let Some(record) = self.stage_info(info) else { return };
        let (mut ran, attempts) = (FxHashSet::default(), &record.group.attempts);
        if is_3 && is_on {
            let ended = (0..attempts.len()).filter(|&row| attempts.outcome(row) != Outcome::Unfinished);
            ran.extend(ended.filter_map(|row| attempts.executor(row)));
        }
        let found = ran.iter().filter(|executor| measured.contains(executor)).count() as u64;
        let missing = ran.len() as u64 - found;
        let is_first = !std::mem::replace(&mut record.completed, true);
        record.stage.status =
            if record.stage.failure.is_some() { StageStatus::Failed } else { StageStatus::Complete };
        // A few task ends may still come, of speculative copies that lost. Shrink only once: it takes time
        // proportional to the stage's tasks, and a synthetic log may end a stage after each of its tasks.
        if is_first {
            record.group.shrink();
            record.stage.accumulables.shrink_to_fit();
        }
        if is_first {
            self.seen.metrics_found += found;
            self.seen.metrics_missing += missing;
        }
    }

    pub(super) fn execution(&mut self, id: Option<i64>) -> Option<&mut SqlExecution> {
        let id = u64::try_from(id?).ok()?;
        if let Some(&place) = self.sql_places.get(&id) {
            return self.sql.get_mut(place);
        }
        let place = self.new_place(self.sql.len())?;
        self.sql_places.insert(id, place);
        self.sql.push(SqlExecution::new(id));
        self.sql.get_mut(place)
    }

    pub(super) fn driver_updates(&mut self, id: Option<i64>, updates: Vec<(i64, i64)>) {
        let mut held = self.driver_updates_held;
        let limits = self.limits;
        let Some(execution) = self.execution(id) else { return };
        let mut beyond = 0;
        for (accumulator, value) in updates {
            let Ok(accumulator) = u64::try_from(accumulator) else { continue };
            if limits.has_room(held) {
                execution.driver_updates.push((accumulator, value));
                held += 1;
            } else {
                beyond += 1;
            }
        }
        self.driver_updates_held = held;
        self.seen.beyond_limit.driver_values += beyond;
    }

    pub(super) fn sql_start(&mut self, start: SqlStart, symbols: &Symbols<'_>) {
        if let Some(execution) = self.execution(start.id) {
            execution.description = start.description;
            execution.started_at = moment(start.at);
            set_plan(execution, &start.plan, symbols);
        }
    }

    pub(super) fn sql_end(&mut self, id: Option<i64>, at: Option<Timestamp>, error: Option<String>) {
        if let Some(execution) = self.execution(id) {
            execution.finished_at = at;
            execution.error = error;
        }
    }
}

pub(super) fn set_plan(execution: &mut SqlExecution, plan: &Plan, symbols: &Symbols<'_>) {
    let node = |node: &Node| Some(PlanNode { name: symbols.symbol(node.name)?, parent: node.parent });
    execution.plan = plan.nodes.iter().map(node).collect::<Option<_>>().unwrap_or_default();
    let metric = |metric: &Metric| {
        Some(PlanMetric {
            node: metric.node,
            name: symbols.symbol(Some(metric.name))?,
            kind: symbols.symbol(Some(metric.kind))?,
            accumulator: metric.accumulator,
        })
    };
    execution.metrics = plan.metrics.iter().filter_map(metric).collect();
}
