//! The time that stages lost because of their number of tasks.

use super::Parallelism;
use super::idle::Slots;
use crate::finding::TroubleKind;
use crate::heuristics::spark::support::memory::{in_force, shuffle_partitions};
use crate::heuristics::spark::support::stage_figures::Figures;
use crate::heuristics::spark::support::stage_figures::FlowKind;
use crate::model::Application;
use crate::model::conf::ConfKey;
use crate::model::counters::Counter;
use crate::model::spark::{Spark, Stage, StageStatus};
use crate::model::table::{TaskGroup, TimePoint};
use crate::stats::descriptive::{mean, median, quantile};
use crate::units::{Bytes, Millis};

/// A stage that loses less is not judged.
const LEAST_LOSS: Millis = Millis::new(100);

/// Small tasks are too many from this multiple of the wanted number on.
const MANY_TIMES: f64 = 5.0;
/// Tasks are worth splitting if their parts run for this multiple of a small task's time.
const TIMES_SMALL: f64 = 3.0;
/// Smaller splits of input are not worth a task.
const LEAST_INPUT: f64 = 1024.0 * 1024.0;

/// What sets the number of tasks of a stage.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Source {
    /// `spark.sql.shuffle.partitions`.
    ShufflePartitions,
    /// `spark.default.parallelism`.
    DefaultParallelism,
    /// Splits of the input.
    Input,
    /// A number in the application's code.
    Code,
}

impl Source {
    pub(super) const ALL: [Self; 4] =
        [Self::ShufflePartitions, Self::DefaultParallelism, Self::Input, Self::Code];

    fn of(app: &Application, spark: &Spark, stage: &Stage, group: &TaskGroup) -> Self {
        let figures = Figures::of(app, stage, group);
        let of_sql = spark
            .jobs
            .iter()
            .any(|job| job.sql_execution.is_some() && job.stages.binary_search(&stage.id.stage).is_ok());
        let reads_input = figures.flow(FlowKind::Input).is_some_and(|flow| flow.total > Bytes::default());
        if reads_input {
            Self::Input
        } else if of_sql && figures.reads_shuffle_only() && figures.tasks == shuffle_partitions(app) {
            Self::ShufflePartitions
        } else if !of_sql && in_force(app, ConfKey::DefaultParallelism) == Some(figures.tasks) {
            Self::DefaultParallelism
        } else {
            Self::Code
        }
    }

    /// The most tasks that make sense for the data.
    #[allow(clippy::cast_precision_loss)]
    fn most_tasks(self, group: &TaskGroup) -> f64 {
        let read = group.attempts.sum(&[Counter::InputBytes]).filter(|_| self == Self::Input);
        read.map_or(f64::INFINITY, |bytes| (bytes as f64 / LEAST_INPUT).ceil())
    }
}

/// A stage with a number of tasks that does not fit, and what that cost.
pub(super) struct Lost<'a> {
    pub(super) stage: &'a Stage,
    /// [`TroubleKind::FewTasks`] or [`TroubleKind::ManyTasks`].
    pub(super) kind: TroubleKind,
    pub(super) source: Source,
    pub(super) tasks: u64,
    /// The task slots that there were on average while it ran.
    pub(super) slots: u64,
    pub(super) wanted: u64,
    pub(super) median: Millis,
    /// What a task takes besides its work.
    pub(super) overhead: Millis,
    pub(super) time: Millis,
}

/// The successful tasks of a stage; times in milliseconds.
struct Tasks {
    from: i64,
    to: i64,
    times: Vec<f64>,
    overhead: f64,
}

impl Tasks {
    fn of(group: &TaskGroup) -> Option<Self> {
        let attempts = &group.attempts;
        let (mut from, mut to, mut times, mut overheads) = (i64::MAX, i64::MIN, Vec::new(), Vec::new());
        for row in group.winners() {
            let start = attempts.time(row, TimePoint::Start)?.as_millis();
            let end = attempts.time(row, TimePoint::Finish)?.as_millis();
            (from, to) = (from.min(start), to.max(end));
            let time = (end - start).max(0) as f64;
            let run = attempts.millis(row, Counter::ExecutorRunTime).map_or(time, Millis::as_f64);
            times.push(time);
            overheads.push((time - run).max(0.0));
        }
        let overhead = median(&overheads)?;
        Some(Self { from, to, times, overhead })
    }

    /// What each task takes besides its work, if tasks are small: the time of the smallest ones, which have hardly any. If
    /// all tasks are alike, the smallest ones work, too, so the overhead is bounded.
    fn overhead_of_small(&self, median: f64, params: &Parallelism) -> f64 {
        let small = quantile(&self.times, SMALLEST).unwrap_or_default().min(params.small_task_overhead.get());
        small.max(self.overhead).min(median)
    }
}

/// The quantile of the times of small tasks that counts as a task without work.
const SMALLEST: f64 = 0.05;

/// The stages that lost time because of their number of tasks, in the order of the stages.
pub(super) fn all<'a>(app: &'a Application, spark: &'a Spark, params: &Parallelism) -> Vec<Lost<'a>> {
    let completed = spark.stages.iter().filter(|stage| stage.status == StageStatus::Complete);
    let groups = completed.filter_map(|stage| Some((stage, app.groups.get(stage.group?)?)));
    let stages: Vec<(&Stage, &TaskGroup)> = groups.filter(|(_, group)| !group.tasks.is_empty()).collect();
    if stages.is_empty() {
        return Vec::new();
    }
    let slots = Slots::of(app, spark);
    stages.into_iter().filter_map(|(stage, group)| lost(app, spark, (stage, group), &slots, params)).collect()
}

/// The number of tasks to aim at: several for each slot, so that they balance, unless they would become small.
fn wanted(slots: f64, work: f64, most: f64, params: &Parallelism) -> f64 {
    let for_each = (work / slots / (TIMES_SMALL * params.small_task_time.get())).floor();
    (slots * for_each.clamp(1.0, params.tasks_per_slot.get().max(1.0))).ceil().min(most).max(1.0)
}

#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // float casts saturate
fn lost<'a>(
    app: &Application,
    spark: &Spark,
    (stage, group): (&'a Stage, &TaskGroup),
    slots: &Slots<'_>,
    params: &Parallelism,
) -> Option<Lost<'a>> {
    let tasks = Tasks::of(group)?;
    let open = slots.within(tasks.from, tasks.to)?;
    let (all, slots) = (slots, open.round().max(1.0));
    let count = tasks.times.len() as f64;
    let (middle, mean) = (median(&tasks.times)?, mean(&tasks.times)?);
    let work = (mean - tasks.overhead).max(0.0) * count;
    let source = Source::of(app, spark, stage, group);
    let small = params.small_task_time.get();
    let enough = (slots * params.tasks_per_slot.get()).ceil().max(1.0);
    let splits = wanted(slots, work, source.most_tasks(group), params);
    let span = (tasks.to - tasks.from) as f64;
    let (kind, wanted, overhead, time) = if count < splits && mean >= TIMES_SMALL * small {
        // Uneven tasks are skew, which has its own rule: only the even part counts.
        let even = (count / slots).ceil() * mean;
        let ideal = (splits / slots).ceil().mul_add(tasks.overhead, work / slots);
        // Cores that other stages used at the same time were not idle.
        let most = even.min(span) - ideal;
        let idle = |most: f64| most.min(span * all.idle(open, tasks.from, tasks.to) / slots);
        let time = if most < LEAST_LOSS.as_f64() { most } else { idle(most) };
        (TroubleKind::FewTasks, splits, tasks.overhead, time)
    } else if middle < small && count >= MANY_TIMES * enough {
        let overhead = tasks.overhead_of_small(middle, params);
        (TroubleKind::ManyTasks, enough, overhead, ((count - enough) * overhead / slots).min(span))
    } else {
        return None;
    };
    let time = Millis::from_f64(time).filter(|time| *time >= LEAST_LOSS)?;
    Some(Lost {
        stage,
        kind,
        source,
        tasks: count as u64,
        slots: slots as u64,
        wanted: wanted as u64,
        median: Millis::from_f64(middle).unwrap_or_default(),
        overhead: Millis::from_f64(overhead).unwrap_or_default(),
        time,
    })
}
