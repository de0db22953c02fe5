//! Recommended settings against spill: one place for every rule that advises on it.

use super::adaptive::smaller_advisory;
use super::application::runs_sql;
use super::memory::{ExecutorSize, peak_heap, shuffle_partitions};
use super::partitions::{self, Source};
use super::stage_figures::{Figures, FlowKind, spilled};
use elephant_base::units::Bytes;
use elephant_catalogue::Advised;
use elephant_model::model::Application;
use elephant_model::model::conf::ConfKey;
use elephant_model::model::conf::defaults::MEMORY_FRACTION;
use elephant_model::model::spark::{Spark, Stage};
use elephant_rule::finding::Advice;

/// Settings with which a stage would have spilled little. The cheapest change comes first; other settings
/// stay.
pub(crate) struct AgainstSpill {
    /// `spark.memory.fraction`.
    pub(crate) fraction: f64,
    /// `spark.sql.shuffle.partitions`, if more partitions are enough.
    pub(crate) partitions: Option<u64>,
    /// `spark.sql.adaptive.advisoryPartitionSizeInBytes`, if these partitions would be merged otherwise.
    pub(crate) advisory: Option<Bytes>,
    /// `spark.default.parallelism`, if it decides instead.
    pub(crate) parallelism: Option<u64>,
    /// Heap and cores, if nothing else is enough.
    pub(crate) size: Option<ExecutorSize>,
    /// Whether the stage can have another number of tasks.
    pub(crate) can_split: bool,
    /// More tasks in code, if no setting decides on their number and no usual size of executors is enough.
    pub(crate) in_code: Option<Advice>,
}

/// What advice on spill must stay within, and what it must reach.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Bounds {
    /// The largest number of partitions to advise.
    pub(crate) most: f64,
    /// The cut-offs of the spill as a share of the data. A larger heap that lowers no level is not a remedy.
    pub(crate) cutoffs: Option<[f64; 4]>,
}

impl AgainstSpill {
    pub(crate) fn of(
        app: &Advised<'_>,
        spark: &Spark,
        stage: &Stage,
        figures: &Figures,
        Bounds { most, cutoffs }: Bounds,
    ) -> Self {
        let now = ExecutorSize::now(app, spark);
        let before = app.conf.fraction(ConfKey::MemoryFraction).unwrap_or(MEMORY_FRACTION);
        let spilled = figures.spilled().unwrap_or_default().as_f64() / figures.tasks.max(1) as f64;
        let needed = spilled + now.unified_per_task(before);
        let fraction = before.max(MEMORY_FRACTION);
        let times = needed / now.unified_per_task(fraction);
        let group = stage.group.and_then(|group| app.groups.get(group));
        let mut against = Self {
            fraction,
            partitions: None,
            advisory: None,
            parallelism: None,
            size: None,
            can_split: group.is_some_and(|group| Source::of(app, spark, stage, group).can_change()),
            in_code: None,
        };
        if times <= 1.0 {
            return against;
        }
        let wanted = (figures.tasks as f64 * times).ceil();
        let can_split = figures
            .largest_flow()
            .is_none_or(|data| data.as_f64() >= wanted * app.advice.least_partition.get());
        let wanted = Bytes::from_f64(wanted.min(most)).map(Bytes::get);
        let wanted = wanted.filter(|&wanted| can_split && wanted > figures.tasks);
        // More partitions cost nothing, unlike more memory.
        if partitions_decide(app, spark, stage, figures) {
            against.partitions = wanted;
            against.advisory = wanted.and_then(|wanted| {
                let read = figures.flow(FlowKind::ShuffleRead).map(|read| read.total);
                smaller_advisory(app, read, wanted)
            });
        } else if default_decides(app, spark, stage) {
            against.parallelism = wanted;
        }
        if against.partitions.or(against.parallelism).is_none() {
            let grown = now.grown_until(|size| size.unified_per_task(fraction) >= needed);
            let missing = (needed - grown.unified_per_task(fraction)).max(0.0);
            let helps = falls(figures, missing * figures.tasks as f64, cutoffs);
            against.size = Some(grown).filter(|&grown| grown != now && helps);
            against.in_code =
                wanted.filter(|_| !helps).and_then(|wanted| more_tasks(app, spark, stage, figures, wanted));
        }
        against
    }

    /// Settings against the spill of the stage that spilled most; `None` if no stage spilled.
    pub(crate) fn of_worst(app: &Advised<'_>, spark: &Spark, cutoffs: Option<[f64; 4]>) -> Option<Self> {
        let spilling = spark.stages.iter().filter_map(|stage| {
            let group = app.groups.get(stage.group?)?;
            spilled(group)
                .filter(|spilled| *spilled > Bytes::default())
                .map(|spilled| (stage, group, spilled))
        });
        let (stage, group, _) =
            spilling.max_by_key(|(stage, _, spilled)| (*spilled, std::cmp::Reverse(stage.id)))?;
        let bounds = Bounds { most: f64::INFINITY, cutoffs };
        Some(Self::of(app, spark, stage, &Figures::of(app, stage, group), bounds))
    }

    /// The recommended executors, with headroom above the measured heap use; `None` if they need no change.
    pub(crate) fn executors(&self, app: &Application, spark: &Spark) -> Option<ExecutorSize> {
        self.size.map(|size| size.with_room(ExecutorSize::now(app, spark), peak_heap(spark)))
    }
}

/// Whether the spill of a stage falls by a level if only `left` bytes are still spilled.
fn falls(figures: &Figures, left: f64, cutoffs: Option<[f64; 4]>) -> bool {
    let data = figures.largest_flow().unwrap_or_default().as_f64();
    let level = |spilled: f64| {
        let share = spilled / data;
        cutoffs.into_iter().flatten().filter(|&cutoff| share >= cutoff).count()
    };
    left <= 0.0 || level(left) < level(figures.spilled().unwrap_or_default().as_f64())
}

/// How the code gives a stage this many tasks.
fn more_tasks(
    app: &Advised<'_>,
    spark: &Spark,
    stage: &Stage,
    figures: &Figures,
    wanted: u64,
) -> Option<Advice> {
    let group = app.groups.get(stage.group?)?;
    let source = Some(Source::of(app, spark, stage, group)).filter(|source| source.can_change())?;
    Some(partitions::advice(app, spark, stage, source, (figures.tasks, wanted)))
}

/// Whether `spark.default.parallelism` determines the stage's number of tasks.
fn default_decides(app: &Application, spark: &Spark, stage: &Stage) -> bool {
    let group = stage.group.and_then(|group| app.groups.get(group));
    group.is_some_and(|group| Source::of(app, spark, stage, group) == Source::DefaultParallelism)
}

/// Whether `spark.sql.shuffle.partitions` determines the stage's number of tasks.
pub(crate) fn partitions_decide(app: &Application, spark: &Spark, stage: &Stage, figures: &Figures) -> bool {
    let may_decide =
        runs_sql(spark, stage) && figures.reads_shuffle_only() && figures.tasks == shuffle_partitions(app);
    let group = stage.group.filter(|_| may_decide).and_then(|group| app.groups.get(group));
    group.is_some_and(|group| Source::of(app, spark, stage, group) == Source::ShufflePartitions)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::built_in::advised;
    use elephant_model::model::counters::Counter;
    use elephant_model::model::spark::{Job, SqlExecution};
    use elephant_model::model::table::Outcome;

    /// A stage of 96 tasks that read a shuffle of this many MiB each and spill this many MiB.
    fn against(read: i64, spilled: i64, sql: bool) -> AgainstSpill {
        with(&[("spark.sql.shuffle.partitions", "96")], read, spilled, sql)
    }

    fn with(settings: &[(&str, &str)], read: i64, spilled: i64, sql: bool) -> AgainstSpill {
        let size = [("spark.executor.memory", "4g"), ("spark.executor.cores", "4")];
        let mut app = elephant_sample::app(&[&size, settings].concat());
        elephant_sample::executor(&mut app, "1").cores = Some(4);
        elephant_sample::stage(&mut app, 0, &[(Outcome::Succeeded, 60_000); 96]);
        elephant_sample::count(&mut app, Counter::ShuffleRemoteBytesRead, read << 20);
        elephant_sample::count(&mut app, Counter::MemoryBytesSpilled, spilled << 20);
        elephant_sample::succeed(&mut app);
        let mut job = Job::new(0);
        job.stages = vec![0];
        job.sql_execution = sql.then_some(1);
        let spark = elephant_sample::spark(&mut app);
        spark.sql.push(SqlExecution::new(1));
        spark.jobs.push(job);
        spark.stages[0].job = Some(0);
        AgainstSpill::of_worst(&advised(&app), app.spark.as_deref().unwrap(), Some([0.01, 0.1, 0.25, 0.5]))
            .unwrap()
    }

    #[test]
    fn more_partitions_come_before_more_memory() {
        let free = against(900, 10_500, true);
        assert!(free.size.is_none() && free.partitions > Some(96 * 8), "{:?}", free.partitions);
        let rdd = with(&[("spark.default.parallelism", "96")], 900, 10_500, false);
        assert!(rdd.size.is_none() && rdd.parallelism == free.partitions, "{:?}", rdd.parallelism);
        // No setting decides, or the data of a task is so little that its records take the memory.
        for fixed in [against(900, 900, false), against(10, 1500, true)] {
            assert!(fixed.partitions.is_none() && fixed.size.is_some(), "{:?}", fixed.partitions);
        }
    }

    /// Ten GiB are the largest heap that is advised against spill.
    #[test]
    fn a_heap_with_which_the_spill_stays_as_bad_is_no_remedy() {
        let code = against(900, 10_500, false);
        let advice = code.in_code.unwrap();
        assert!(code.size.is_none() && advice.contains("repartition("), "{advice}");
        // The data of a task is so little that more tasks do not help either.
        let records = against(10, 10_500, true);
        assert!(records.size.is_none() && records.in_code.is_none() && records.partitions.is_none());
    }
}
