//! Jobs: what they wait for, and which stages end them.

use std::collections::BTreeMap;

use super::plan::{Clock, Job, LOG_JITTER, Order, Plan, Stage, to_u32};
use crate::replay::Micros;
use elephant_model::model::spark::Spark;

/// Reads the jobs, gives each stage its job, and finds out what each job waited for.
pub(super) fn link(plan: &mut Plan, spark: &Spark, clock: Clock) {
    let mut jobs = logged_jobs(plan, spark, clock);
    assign_stages(plan, spark, &mut jobs);
    jobs.sort_by_key(|draft| (draft.job.submitted, draft.id));
    for (place, draft) in jobs.iter_mut().enumerate() {
        for stage in &draft.job.stages {
            if let Some(stage) = plan.stages.get_mut(*stage as usize) {
                stage.job = to_u32(place);
            }
        }
        end_with_stages(draft, &plan.stages);
    }
    let sql: Vec<Option<u64>> = jobs.iter().map(|draft| draft.sql).collect();
    plan.jobs = jobs.into_iter().map(|draft| draft.job).collect();
    wait_for_ends(plan, &sql);
}

/// A job while it is read.
struct Draft {
    id: Option<u32>,
    sql: Option<u64>,
    ended: Option<Micros>,
    job: Job,
}

impl Draft {
    fn new(id: Option<u32>, submitted: Micros) -> Self {
        let job = Job {
            submitted,
            end: submitted,
            order: 0,
            waits_for: 0,
            member_of: 0,
            lag: Micros::ZERO,
            stages: Vec::new(),
            needs: Vec::new(),
            end_lag: Micros::ZERO,
        };
        Self { id, sql: None, ended: None, job }
    }
}

fn logged_jobs(plan: &Plan, spark: &Spark, clock: Clock) -> Vec<Draft> {
    let mut first_submission: BTreeMap<u32, Micros> = BTreeMap::new();
    for stage in &plan.stages {
        let first = first_submission.entry(stage.id.stage).or_insert(stage.submitted);
        *first = stage.submitted.min(*first);
    }
    let draft = |job: &elephant_model::model::spark::Job| {
        let ended = job.completed_at.map(|at| clock.at(at));
        let of_stages = || job.stages.iter().filter_map(|stage| first_submission.get(stage)).min().copied();
        let submitted = job.submitted_at.map(|at| clock.at(at)).or_else(of_stages).or(ended);
        let draft = Draft::new(Some(job.id), submitted.unwrap_or_default());
        Draft { sql: job.sql_execution, ended, ..draft }
    };
    spark.jobs.iter().map(draft).collect()
}

/// Gives each stage attempt the first job that names it and ran when it was submitted.
fn assign_stages(plan: &Plan, spark: &Spark, jobs: &mut Vec<Draft>) {
    const SLACK: Micros = Micros::from_millis(5);
    let mut by_submission: Vec<usize> = (0..jobs.len()).collect();
    by_submission.sort_by_key(|&place| jobs.get(place).map(|draft| (draft.job.submitted, draft.id)));
    let mut owners: BTreeMap<u32, Vec<usize>> =
        plan.stages.iter().map(|stage| (stage.id.stage, Vec::new())).collect();
    for &place in &by_submission {
        for stage in spark.jobs.get(place).map(|job| job.stages.as_slice()).unwrap_or_default() {
            if let Some(owners) = owners.get_mut(stage) {
                owners.push(place);
            }
        }
    }
    let mut orphans: Option<Draft> = None;
    for (number, stage) in plan.stages.iter().enumerate() {
        let owners = owners.get(&stage.id.stage).map(Vec::as_slice).unwrap_or_default();
        let drafts = || owners.iter().filter_map(|&place| Some((place, jobs.get(place)?)));
        let started = || drafts().filter(|(_, draft)| draft.job.submitted <= stage.submitted + SLACK);
        let live = started().find(|(_, draft)| draft.ended.is_none_or(|ended| ended >= stage.submitted));
        let owner = live.or_else(|| started().next()).or_else(|| drafts().next()).map(|(place, _)| place);
        let draft = match owner.and_then(|place| jobs.get_mut(place)) {
            Some(draft) => draft,
            None => orphans.get_or_insert_with(|| Draft::new(None, stage.submitted)),
        };
        draft.job.stages.push(to_u32(number));
    }
    jobs.extend(orphans);
}

/// A job needs the stages that had ended when it ended.
fn end_with_stages(draft: &mut Draft, stages: &[Stage]) {
    let Draft { ended, job, .. } = draft;
    let end_of = |stage: u32| stages.get(stage as usize).map_or(Micros::ZERO, |stage| stage.end);
    let last_of = |stages: &[u32]| stages.iter().map(|&stage| end_of(stage)).max();
    job.end = ended.or_else(|| last_of(&job.stages)).unwrap_or(job.submitted).max(job.submitted);
    job.needs = job.stages.iter().copied().filter(|&stage| end_of(stage) <= job.end + LOG_JITTER).collect();
    if job.needs.is_empty() {
        job.needs.clone_from(&job.stages);
    }
    job.end_lag = (job.end - last_of(&job.needs).unwrap_or(job.submitted)).or_zero();
}

/// A job waits for the jobs of its SQL execution that had ended when it was submitted, or else for all that had.
fn wait_for_ends(plan: &mut Plan, sql: &[Option<u64>]) {
    let ends: Vec<Micros> = plan.jobs.iter().map(|job| job.end).collect();
    let end_of = |job: u32| ends.get(job as usize).copied().unwrap_or_default();
    let in_order = |mut jobs: Vec<u32>| {
        jobs.sort_by_key(|&job| (end_of(job), job));
        Order { jobs }
    };
    let mut executions: BTreeMap<u64, Vec<u32>> = BTreeMap::new();
    for (place, execution) in sql.iter().enumerate() {
        if let Some(execution) = execution {
            executions.entry(*execution).or_default().push(to_u32(place));
        }
    }
    plan.orders = vec![in_order((0..to_u32(ends.len())).collect())];
    let mut order_of: BTreeMap<u64, u32> = BTreeMap::new();
    for (execution, jobs) in executions.into_iter().filter(|(_, jobs)| jobs.len() > 1) {
        order_of.insert(execution, to_u32(plan.orders.len()));
        plan.orders.push(in_order(jobs));
    }
    // A job that ends when it is submitted does not wait for itself.
    let ended_before = |order: u32, at: Micros, own: (Micros, u32)| {
        let jobs = plan.orders.get(order as usize).map(|order| order.jobs.as_slice()).unwrap_or_default();
        let count = jobs.partition_point(|&job| end_of(job) <= at && (end_of(job), job) < own);
        let last = count.checked_sub(1).and_then(|last| jobs.get(last)).map(|&job| end_of(job));
        (to_u32(count), last)
    };
    for ((place, job), sql) in (0u32..).zip(&mut plan.jobs).zip(sql) {
        let own_end = (job.end, place);
        let of_execution = sql.and_then(|execution| order_of.get(&execution)).copied();
        let own = of_execution.map(|order| (order, ended_before(order, job.submitted, own_end)));
        let (order, (count, last)) = match own.filter(|(_, (count, _))| *count > 0) {
            Some(own) => own,
            None => (0, ended_before(0, job.submitted, own_end)),
        };
        job.member_of = of_execution.unwrap_or_default();
        job.order = order;
        job.waits_for = count;
        job.lag = (job.submitted - last.unwrap_or_default()).or_zero();
    }
}
