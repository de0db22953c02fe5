//! Stage attempts: what they wait for, and how long after it their tasks start.

use std::collections::BTreeMap;
use std::ops::Range;

use super::plan::{Clock, LOG_JITTER, Plan, Stage, to_u32};
use super::slots::FreeSlots;
use crate::replay::Micros;
use elephant_model::model::spark::{self, Spark, StageStatus};

impl Stage {
    /// A stage attempt before its place among the others is known.
    pub(super) fn new(
        logged: &spark::Stage,
        submitted: Micros,
        clock: Clock,
        last_finish: Option<Micros>,
        tasks: Range<u32>,
    ) -> Self {
        let ended = logged.completed_at.map(|at| clock.at(at));
        Self {
            id: logged.id,
            group: logged.group,
            tasks,
            submitted,
            end: ended.or(last_finish).unwrap_or(submitted),
            completed: ended.is_some() && logged.status == StageStatus::Complete,
            job: 0,
            waits_for: Vec::new(),
            lag: Micros::ZERO,
            head_lag: Micros::ZERO,
            end_lag: Micros::ZERO,
        }
    }
}

/// Finds out what each stage attempt waited for.
pub(super) fn link(plan: &mut Plan, spark: &Spark, free: &FreeSlots) {
    let mut by_end: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
    for (place, stage) in plan.stages.iter().enumerate() {
        by_end.entry(stage.id.stage).or_default().push(to_u32(place));
    }
    let end_of = |place: u32| plan.stages.get(place as usize).map(|stage| stage.end);
    for places in by_end.values_mut() {
        places.sort_by_key(|&place| (end_of(place), place));
    }
    let links: Vec<Links> =
        (0..plan.stages.len()).map(|place| Links::of(plan, spark, free, &by_end, place)).collect();
    for (stage, links) in plan.stages.iter_mut().zip(links) {
        let Links { waits_for, lag, head_lag, end_lag } = links;
        (stage.waits_for, stage.lag, stage.head_lag, stage.end_lag) = (waits_for, lag, head_lag, end_lag);
    }
}

#[derive(Default)]
struct Links {
    waits_for: Vec<u32>,
    lag: Micros,
    head_lag: Micros,
    end_lag: Micros,
}

impl Links {
    fn of(
        plan: &Plan,
        spark: &Spark,
        free: &FreeSlots,
        by_end: &BTreeMap<u32, Vec<u32>>,
        place: usize,
    ) -> Self {
        let Some(stage) = plan.stages.get(place) else { return Self::default() };
        let job_submitted = plan.jobs.get(stage.job as usize).map(|job| job.submitted).unwrap_or_default();
        let parents = spark.stage(stage.id).map(|logged| &*logged.parents).unwrap_or_default();
        let last_attempt = |id: &u32| {
            let attempts = by_end.get(id)?.iter().rev().filter(|&&other| other as usize != place);
            attempts.copied().find(|&other| {
                plan.stages.get(other as usize).is_some_and(|other| {
                    other.job == stage.job
                        && other.submitted <= stage.submitted
                        && other.end <= stage.submitted + LOG_JITTER
                })
            })
        };
        let waits_for: Vec<u32> = parents.iter().chain([&stage.id.stage]).filter_map(last_attempt).collect();
        let ends =
            waits_for.iter().filter_map(|&other| plan.stages.get(other as usize)).map(|other| other.end);
        let ready = ends.max().map_or(job_submitted, |end| end.max(job_submitted));
        let attempts = plan.attempts_of(&stage.tasks);
        let first_launch = attempts.iter().map(|attempt| attempt.launch).min();
        let head_lag = first_launch.map_or(Micros::ZERO, |launch| {
            let free_from = free.first_from(stage.submitted).min(launch);
            (launch - stage.submitted.max(free_from)).or_zero()
        });
        let last_needed = last_needed_finish(plan, stage);
        Self {
            waits_for,
            lag: (stage.submitted - ready).or_zero(),
            head_lag,
            end_lag: (stage.end - last_needed.unwrap_or(stage.submitted)).or_zero(),
        }
    }
}

/// The latest of its tasks' first successes; of a stage attempt that did not complete, the last end before its own.
fn last_needed_finish(plan: &Plan, stage: &Stage) -> Option<Micros> {
    let attempts = plan.attempts_of(&stage.tasks);
    if !stage.completed {
        let finishes = attempts.iter().map(|attempt| attempt.finish);
        return finishes.filter(|&finish| finish <= stage.end + LOG_JITTER).max();
    }
    let by_task = attempts.chunk_by(|a, b| a.task == b.task);
    by_task
        .filter_map(|task| {
            task.iter().filter(|attempt| attempt.succeeded()).map(|attempt| attempt.finish).min()
        })
        .max()
}
