//! The time that stages lost because of their number of tasks.

use super::Parallelism;
use crate::spark::support::partitions::{Source, StageTasks};
use crate::spark::support::slots::Slots;
use elephant_base::stats::descriptive::{mean, median};
use elephant_base::units::Millis;
use elephant_base::whole::Whole;
use elephant_catalogue::Advised;
use elephant_model::model::counters::Counter;
use elephant_model::model::spark::{Spark, Stage, StageStatus};
use elephant_model::model::table::TaskGroup;
use elephant_rule::finding::TroubleKind;

/// A stage with a number of tasks that does not fit, and what that cost.
pub(super) struct Lost<'a> {
    pub(super) stage: &'a Stage,
    /// [`TroubleKind::FewTasks`] or [`TroubleKind::ManyTasks`].
    pub(super) kind: TroubleKind,
    pub(super) source: Source,
    pub(super) tasks: u64,
    /// The average number of task slots while the stage ran.
    pub(super) slots: u64,
    pub(super) wanted: u64,
    pub(super) median: Millis,
    /// The part of a task's time that is not work.
    pub(super) overhead: Millis,
    pub(super) time: Millis,
}

/// The stages that lost time because of their number of tasks, in the order of the stages.
pub(super) fn all<'a>(app: &Advised<'a>, spark: &'a Spark, params: &Parallelism) -> Vec<Lost<'a>> {
    let completed = spark.stages.iter().filter(|stage| stage.status == StageStatus::Complete);
    let groups = completed.filter_map(|stage| Some((stage, app.groups.get(stage.group?)?)));
    let stages: Vec<(&Stage, &TaskGroup)> = groups.filter(|(_, group)| !group.tasks.is_empty()).collect();
    if stages.is_empty() {
        return Vec::new();
    }
    let slots = Slots::of(app, spark);
    stages.into_iter().filter_map(|(stage, group)| lost(app, spark, (stage, group), &slots, params)).collect()
}

/// Whether tasks read whole files that are small: opening them takes most of their time.
fn reads_little(group: &TaskGroup, params: &Parallelism) -> bool {
    let read = group.attempts.sum(&[Counter::InputBytes]).filter(|read| *read > 0);
    read.is_some_and(|read| (read as f64) < params.small_file_size.get() * group.tasks.len() as f64)
}

fn lost<'a>(
    app: &Advised<'_>,
    spark: &Spark,
    (stage, group): (&'a Stage, &TaskGroup),
    slots: &Slots<'_>,
    params: &Parallelism,
) -> Option<Lost<'a>> {
    let tasks = StageTasks::of(group)?;
    let open = slots.within(tasks.from, tasks.to)?;
    let (all, slots) = (slots, open.round().max(1.0));
    let count = tasks.times.len() as f64;
    let (middle, mean) = (median(&tasks.times)?, mean(&tasks.times)?);
    let work = tasks.work()?;
    let small = params.small_task_time.get();
    let enough = (slots * params.tasks_per_slot.get()).ceil().max(1.0);
    let apart = app.advice.small_tasks_apart.get() * small;
    let may_be_few = mean >= apart && count < params.aim().most_splits(slots);
    let is_many = count >= params.many_times.get() * enough
        && (middle < small || (middle < apart && reads_little(group, params)));
    // Finding out what sets the number of tasks takes a look at all jobs. Most stages have a number that fits and end
    // here.
    if !may_be_few && !is_many {
        return None;
    }
    let source = Some(Source::of(app, spark, stage, group)).filter(|source| source.can_change())?;
    let splits = params.aim().splits(app, (slots, work), (source, group));
    let span = (tasks.to - tasks.from) as f64;
    let (kind, wanted, overhead, time) = if may_be_few && count < splits {
        // Uneven tasks are skew, which has its own rule: only the even part counts.
        let even = (count / slots).ceil() * mean;
        let ideal = (splits / slots).ceil().mul_add(tasks.overhead, work / slots);
        // Cores that other stages used at the same time were not idle.
        let most = even.min(span) - ideal;
        let idle = |most: f64| most.min(span * all.idle(open, tasks.from, tasks.to) / slots);
        let time = if most < params.ignored_time.get() { most } else { idle(most) };
        (TroubleKind::FewTasks, splits, tasks.overhead, time)
    } else if is_many {
        let overhead = {
            let most = params.small_task_overhead.get();
            tasks.overhead_of_small(params.smallest_tasks.get(), middle, most)
        };
        (TroubleKind::ManyTasks, enough, overhead, ((count - enough) * overhead / slots).min(span))
    } else {
        return None;
    };
    let time = Millis::from_f64(time).filter(|time| time.as_f64() >= params.ignored_time.get())?;
    Some(Lost {
        stage,
        kind,
        source,
        tasks: count.as_u64(),
        slots: slots.as_u64(),
        wanted: wanted.as_u64(),
        median: Millis::from_f64(middle).unwrap_or_default(),
        overhead: Millis::from_f64(overhead).unwrap_or_default(),
        time,
    })
}
