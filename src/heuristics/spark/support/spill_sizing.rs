//! Recommended settings against spill: one place for every rule that advises on it.

use super::memory::{ExecutorSize, peak_heap, shuffle_partitions};
use super::stage_figures::{Figures, spilled};
use crate::model::Application;
use crate::model::conf::ConfKey;
use crate::model::conf::defaults::MEMORY_FRACTION;
use crate::model::spark::{Spark, Stage};
use crate::units::Bytes;

/// Up to this factor, more partitions are better than larger executors.
const MOST_TIMES_PARTITIONS: f64 = 8.0;

/// Settings with which a stage would have spilled little. The cheapest change comes first; other settings
/// stay.
pub(in crate::heuristics) struct AgainstSpill {
    /// `spark.memory.fraction`.
    pub(in crate::heuristics) fraction: f64,
    /// `spark.sql.shuffle.partitions`, if more partitions are enough.
    pub(in crate::heuristics) partitions: Option<u64>,
    /// Heap and cores, if nothing else is enough.
    pub(in crate::heuristics) size: Option<ExecutorSize>,
}

impl AgainstSpill {
    pub(in crate::heuristics) fn of(
        app: &Application,
        spark: &Spark,
        stage: &Stage,
        figures: &Figures,
        most: f64,
    ) -> Self {
        let now = ExecutorSize::now(app, spark);
        let before = app.conf.fraction(ConfKey::MemoryFraction).unwrap_or(MEMORY_FRACTION);
        let spilled = figures.spilled().unwrap_or_default().as_f64() / figures.tasks.max(1) as f64;
        let needed = spilled + now.unified_per_task(before);
        let fraction = before.max(MEMORY_FRACTION);
        let times = needed / now.unified_per_task(fraction);
        let mut against = Self { fraction, partitions: None, size: None };
        if times <= 1.0 {
            return against;
        }
        let partitions = (shuffle_partitions(app) as f64 * times).ceil();
        if times <= MOST_TIMES_PARTITIONS
            && partitions <= most
            && partitions_decide(app, spark, stage, figures)
        {
            against.partitions = Bytes::from_f64(partitions).map(Bytes::get);
        } else {
            let grown = now.grown_until(|size| size.unified_per_task(fraction) >= needed);
            against.size = Some(grown).filter(|&grown| grown != now);
        }
        against
    }

    /// Settings against the spill of the stage that spilled most; `None` if no stage spilled.
    pub(in crate::heuristics) fn of_worst(app: &Application, spark: &Spark) -> Option<Self> {
        let spilling = spark.stages.iter().filter_map(|stage| {
            let group = app.groups.get(stage.group?)?;
            spilled(group)
                .filter(|spilled| *spilled > Bytes::default())
                .map(|spilled| (stage, group, spilled))
        });
        let (stage, group, _) =
            spilling.max_by_key(|(stage, _, spilled)| (*spilled, std::cmp::Reverse(stage.id)))?;
        Some(Self::of(app, spark, stage, &Figures::of(app, stage, group), f64::INFINITY))
    }

    /// The recommended executors, with headroom above the measured heap use; `None` if they need no change.
    pub(in crate::heuristics) fn executors(&self, app: &Application, spark: &Spark) -> Option<ExecutorSize> {
        self.size.map(|size| size.with_room(ExecutorSize::now(app, spark), peak_heap(spark)))
    }
}

/// Whether `spark.sql.shuffle.partitions` determines the stage's number of tasks.
pub(in crate::heuristics) fn partitions_decide(
    app: &Application,
    spark: &Spark,
    stage: &Stage,
    figures: &Figures,
) -> bool {
    let of_sql = |job: &crate::model::spark::Job| {
        job.sql_execution.is_some() && job.stages.binary_search(&stage.id.stage).is_ok()
    };
    spark.jobs.iter().any(of_sql) && figures.reads_shuffle_only() && figures.tasks == shuffle_partitions(app)
}
