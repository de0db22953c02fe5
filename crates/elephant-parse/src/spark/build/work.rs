//! Jobs and stages.

use std::num::NonZeroU32;
use std::sync::Arc;

use rustc_hash::FxHashSet;

use super::held::{self, MAP_ENTRY};
use super::possible::{TOLERANCE, apart, is_within};
use super::{Builder, StageRecord, moment};
use crate::spark::event::{JobStart, StageInfo};
use crate::spark::stage_attempt::stage_attempt;
use crate::spark::sums::{Sums, Totals};
use crate::spark::verify::LOG_STAGE_METRICS;
use elephant_base::units::Millis;
use elephant_model::model::counters::Counter;
use elephant_model::model::spark::{Job, JobResult, Stage, StageAttempt, StageStatus};
use elephant_model::model::table::{Outcome, TaskGroup, TaskKind};

/// Spark counts the tasks of a stage in 32 bits.
const MAX_STAGE_TASKS: i64 = i32::MAX as i64;

/// How much they may differ in Spark 1, which sets the time again when all tasks are submitted.
const RESUBMITTED: Millis = Millis::from_secs(60);

impl StageRecord {
    /// Compares Spark's own sums over the tasks with ours; returns how many differ.
    fn compare_sums(&mut self, told: &[(Counter, i64)]) -> u64 {
        // At most once per stage: it takes time proportional to the stage's tasks.
        if self.completed {
            return 0;
        }
        let (sums, differing) = Totals::of(told).compare(&self.group.attempts);
        self.sums = sums;
        let mut count = 0;
        // Which of the tasks is wrong is unknown, so no sum over them is known.
        for counter in differing {
            self.group.attempts.mark_unreadable(0, counter);
            count += 1;
        }
        count
    }
}

impl Builder {
    pub(super) fn job_start(&mut self, start: JobStart) {
        let Some(id) = start.id.and_then(|id| u32::try_from(id).ok()) else { return };
        self.saw(moment(start.at));
        let has_impossible = start.stages.iter().any(|&id| u32::try_from(id).is_err());
        self.seen.outside.jobs += u64::from(has_impossible);
        let Some(job) = self.job(id) else { return };
        let before = held::of_job(job);
        job.submitted_at = moment(start.at);
        job.stages = start.stages.into_iter().filter_map(|id| u32::try_from(id).ok()).collect();
        job.stages.sort_unstable();
        job.stages.dedup();
        job.stages.shrink_to_fit();
        job.description = start.description.or(start.last_stage_name);
        job.group = start.group;
        job.sql_execution = start.sql_execution.and_then(|id| u64::try_from(id).ok());
        job.of_stream = start.of_stream;
        let after = held::of_job(job);
        self.held.change(before, after);
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
        let before = held::of_job(job);
        job.completed_at = moment(at);
        job.has_end = true;
        job.result = result;
        job.failure = failure;
        let after = held::of_job(job);
        self.held.change(before, after);
    }

    fn job(&mut self, id: u32) -> Option<&mut Job> {
        if let Some(&place) = self.job_places.get(&id) {
            return self.jobs.get_mut(place);
        }
        let place = self.new_place::<Job>(self.jobs.len())?;
        self.job_places.insert(id, place);
        self.held.add(held::FIGURES_OF_JOB);
        self.jobs.push(Job::new(id));
        self.jobs.get_mut(place)
    }

    pub(super) fn stage_place(&mut self, id: StageAttempt) -> Option<usize> {
        let known = if id.attempt == 0 {
            self.stage_places.get(id.stage.into()).map(|place| place.get() as usize - 1)
        } else {
            self.later_stage_places.get(&id).copied()
        };
        if known.is_some() {
            return known;
        }
        let place = self.new_place::<StageRecord>(self.stages.len())?;
        if id.attempt == 0 {
            let counted_from_1 = NonZeroU32::new(u32::try_from(place).ok()?.checked_add(1)?)?;
            self.stage_places.insert(id.stage.into(), counted_from_1);
        } else {
            self.later_stage_places.insert(id, place);
        }
        self.stages.push(StageRecord {
            stage: Stage::new(id),
            group: TaskGroup::new(TaskKind::Stage(id)),
            work: None,
            sums: Sums::Agree,
            submitted: false,
            completed: false,
            impossible_task_count: false,
        });
        Some(place)
    }

    /// The name or call of a stage, shared with other stages that have it.
    fn stage_name(&mut self, name: String) -> Arc<str> {
        if let Some(known) = self.stage_names.get(name.as_str()) {
            return Arc::clone(known);
        }
        self.held.add(held::of_key(&name));
        let name: Arc<str> = name.into();
        self.stage_names.insert(Arc::clone(&name));
        name
    }

    /// How much the two submission times of a stage may differ.
    fn between_submissions(&self) -> Millis {
        let is_1 = self.app.engine_version.as_ref().is_none_or(|version| version.starts_with("1."));
        if is_1 { RESUBMITTED } else { TOLERANCE }
    }

    /// Adds what an event says about a stage; returns the stage's place.
    pub(super) fn stage_info(&mut self, info: StageInfo) -> Option<usize> {
        let id = stage_attempt(info.id, info.attempt)?;
        self.saw(moment(info.submitted));
        let fills_cache = self.all_persisted(info.rdds, info.tasks);
        let place = self.stage_place(id)?;
        let tolerance = self.between_submissions();
        let first_call = info.first_call.map(|call| self.stage_name(call));
        let name = info.name.map(|name| self.stage_name(name));
        let record = self.stages.get_mut(place)?;
        let first_launch = record.first_launch();
        let stage = &mut record.stage;
        let before = held::of_stage(stage);
        stage.name = name.or(stage.name.take());
        let announced = info.tasks.filter(|tasks| (0..=MAX_STAGE_TASKS).contains(tasks));
        let impossible = info.unreadable_task_count || (info.tasks.is_some() && announced.is_none());
        let announced = announced.and_then(|n| u64::try_from(n).ok());
        // The number of tasks is logged with the job, at the stage's start and at its end.
        let disagrees = announced.zip(stage.announced_tasks).is_some_and(|(one, other)| one != other);
        stage.announced_tasks = announced.or(stage.announced_tasks).filter(|_| !disagrees);
        let impossible = impossible || disagrees;
        let is_unreadable = |time: Option<i64>| time.is_some() && moment(time).is_none();
        let profile_is_impossible = info.resource_profile.is_some_and(|id| u32::try_from(id).is_err());
        let wrong = [is_unreadable(info.submitted), is_unreadable(info.completed), profile_is_impossible];
        self.seen.outside.stages += wrong.into_iter().map(u64::from).sum::<u64>();
        stage.parents = info.parents.into_iter().filter_map(|id| u32::try_from(id).ok()).collect();
        let submitted = moment(info.submitted);
        let life = (self.app.submitted_at, moment(info.completed).into_iter().chain(first_launch).min());
        match stage.submitted_at.zip(submitted) {
            Some((one, other)) if apart(one, other) > tolerance => {
                self.seen.outside.stages += 1;
                // Neither is known, unless only one of them is possible.
                let [one, other] = [one, other].map(|at| Some(at).filter(|&at| is_within(at, life)));
                stage.submitted_at = one.xor(other);
            }
            _ => stage.submitted_at = submitted.or(stage.submitted_at),
        }
        stage.resource_profile =
            info.resource_profile.and_then(|id| u32::try_from(id).ok()).or(stage.resource_profile);
        stage.is_barrier |= info.is_barrier;
        stage.fills_cache |= fills_cache;
        stage.origins.add_all(info.origins);
        stage.first_call = first_call.or(stage.first_call.take());
        stage.failure = info.failure.map(Into::into).or(stage.failure.take());
        if info.completed.is_some() {
            stage.completed_at = moment(info.completed);
            let known = |(id, value): (i64, i64)| Some((u64::try_from(id).ok()?, value));
            let mut accumulables: Vec<_> = info.accumulables.into_iter().filter_map(known).collect();
            accumulables.sort_unstable();
            stage.accumulables = accumulables.into();
            self.seen.differing_sums += record.compare_sums(&info.totals);
        }
        self.held.change(before, held::of_stage(&record.stage));
        record.impossible_task_count |= impossible;
        Some(place)
    }

    pub(super) fn stage_completed(&mut self, info: StageInfo) {
        self.saw(moment(info.completed));
        let id = stage_attempt(info.id, info.attempt);
        let measured = id.and_then(|id| self.measured.remove(&id)).unwrap_or_default();
        self.held.change(measured.len() * MAP_ENTRY, 0);
        // Before Spark 3, executors that were gone are left out.
        let is_3 = self.app.engine_version.as_ref().is_some_and(|version| !version.starts_with("2."));
        let is_on = self.seen.metrics_found > 0
            || !measured.is_empty()
            || self.app.conf.raw(LOG_STAGE_METRICS).is_some();
        let place = self.stage_info(info);
        let Some(record) = place.and_then(|place| self.stages.get_mut(place)) else { return };
        let (mut ran, attempts) = (FxHashSet::default(), &record.group.attempts);
        if is_3 && is_on {
            let ended = (0..attempts.len()).filter(|&row| attempts.outcome(row) != Outcome::Unfinished);
            ran.extend(ended.filter_map(|row| attempts.executor(row)));
        }
        let found = ran.iter().filter(|executor| measured.contains(executor)).count() as u64;
        let missing = ran.len() as u64 - found;
        let is_first = !std::mem::replace(&mut record.completed, true);
        record.stage.ended_as = Some(self.stage_ends);
        self.stage_ends = self.stage_ends.saturating_add(1);
        record.stage.status =
            if record.stage.failure.is_some() { StageStatus::Failed } else { StageStatus::Complete };
        // A few task ends may still come, of speculative copies that lost. Shrink only once: it takes time
        // proportional to the stage's tasks, and a synthetic log may end a stage after each of its tasks.
        if is_first {
            record.group.shrink();
            record.measure(&mut self.held);
            self.seen.metrics_found += found;
            self.seen.metrics_missing += missing;
        }
    }
}
