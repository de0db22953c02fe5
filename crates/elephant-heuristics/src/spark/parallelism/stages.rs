//! The time that stages lost because of their number of tasks.

use super::Parallelism;
use crate::spark::support::partitions::{Source, StageTasks};
use crate::spark::support::slots::Slots;
use elephant_analysis::fixed_cost::{BYTES, RECORDS, TaskWork, fixed_cost};
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

/// What a task takes whatever it reads, in milliseconds, if that is a large part of the mean time of the tasks, and the number
/// of tasks of a good size for what they read. `None` if the tasks do not show it, or if what they read is unknown.
fn fixed(group: &TaskGroup, mean: f64, params: &Parallelism) -> Option<(f64, f64)> {
    let attempts = &group.attempts;
    if attempts.any_unreadable().has_any(&RECORDS) {
        return None;
    }
    let read = attempts.sum(&BYTES)? as f64;
    let task = |row| Some(TaskWork::of(attempts, row, attempts.run_time(row)?.as_f64()));
    let tasks: Vec<TaskWork> = group.winners().map(task).collect::<Option<_>>()?;
    let cost = fixed_cost(&tasks)?.likely;
    (cost >= params.fixed_share.get() * mean).then(|| (cost, (read / params.good_file_size.get()).ceil()))
}

/// What a small task takes besides its work, in milliseconds.
fn overhead_of_small(tasks: &StageTasks, median: f64, params: &Parallelism) -> f64 {
    tasks.overhead_of_small(params.smallest_tasks.get(), median, params.small_task_overhead.get())
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
    let may_be_many = count >= params.many_times.get() * enough;
    let are_small = middle < small || (middle < apart && reads_little(group, params));
    let fixed = if may_be_many && !are_small { fixed(group, mean, params) } else { None };
    let is_many = may_be_many && (are_small || fixed.is_some());
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
        let small = || (overhead_of_small(&tasks, middle, params), 0.0);
        let (overhead, of_good_size) = fixed.unwrap_or_else(small);
        let wanted = enough.max(of_good_size);
        (TroubleKind::ManyTasks, wanted, overhead, ((count - wanted).max(0.0) * overhead / slots).min(span))
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

#[cfg(test)]
mod tests {
    use super::*;
    use elephant_base::severity::Severity;
    use elephant_base::units::Timestamp;
    use elephant_model::model::table::{Outcome, TimePoint};
    use elephant_rule::finding::Finding;

    const SLOTS: usize = 4;

    /// The findings on 240 tasks for 4 slots, each of which takes `fixed` and `by_data` milliseconds on average, the latter by
    /// its records.
    fn found(fixed: i64, by_data: i64) -> Vec<Finding> {
        let mut app = elephant_sample::app(&[]);
        elephant_sample::executor(&mut app, "1").cores = Some(4);
        let records = |task: i64| 2000 + (task * 37 % 100) * 160;
        let time = |task: i64| fixed + by_data * records(task) / 10_000 + task % 3 * 8;
        let tasks: Vec<(Outcome, i64)> = (0..240).map(|task| (Outcome::Succeeded, time(task))).collect();
        elephant_sample::stage(&mut app, 0, &tasks);
        let mut free = [0_i64; SLOTS];
        for (row, task) in (0..240).enumerate() {
            let (from, to) = (free[row % SLOTS], free[row % SLOTS] + time(task));
            free[row % SLOTS] = to;
            let attempts = &mut app.groups[0].attempts;
            attempts.set_time(row, TimePoint::Start, Some(Timestamp::from_millis(from)));
            attempts.set_time(row, TimePoint::Finish, Some(Timestamp::from_millis(to)));
            attempts.set_counter(row, Counter::ShuffleRecordsRead, Some(records(task)));
            attempts.set_counter(row, Counter::ShuffleLocalBytesRead, Some(100 * records(task)));
            attempts.set_counter(row, Counter::ExecutorRunTime, Some(time(task) - 5));
        }
        elephant_sample::succeed(&mut app);
        app.finished_at = Some(Timestamp::from_millis(*free.iter().max().unwrap() + 1000));
        let found = elephant_sample::evaluate(&app, "spark-parallelism", false).findings;
        found.into_iter().filter(|it| it.severity > Severity::None).collect()
    }

    #[test]
    fn tasks_whose_time_hardly_depends_on_their_data_are_too_many() {
        let many = found(740, 476);
        let lost = many[0].time("lost_ms").unwrap().as_f64();
        assert_eq!((many.len(), many[0].tells), (1, TroubleKind::ManyTasks));
        // 228 tasks fewer, on four slots.
        assert!((lost / (228.0 * 740.0 / 4.0) - 1.0).abs() < 0.05, "{lost}: {}", many[0].message);
        assert!(found(50, 1150).is_empty(), "tasks that take as long as their data");
    }
}
