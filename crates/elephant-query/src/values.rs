//! Values of accumulators: the total of each, and the stages that changed it.

use std::collections::BTreeMap;

use elephant_model::model::spark::Spark;

/// An accumulator in a stage that ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Seen {
    accumulator: u64,
    /// The place of the stage's end in the log.
    order: u32,
    /// An index into [`Spark::stages`].
    pub(crate) stage: u32,
    /// The total over all stages up to then.
    pub(crate) total: i64,
}

/// The values of all accumulators that operators may have.
pub(crate) struct Values {
    /// By accumulator, then in the order in which stages ended.
    seen: Vec<Seen>,
    /// Sums of the driver's updates.
    driver: BTreeMap<u64, i64>,
}

impl Values {
    pub(crate) fn of(spark: &Spark) -> Self {
        let mut seen = Vec::new();
        for (place, stage) in (0_u32..).zip(&spark.stages) {
            let order = stage.ended_as.unwrap_or(u32::MAX);
            let of_stage = stage.accumulables.iter();
            seen.extend(of_stage.map(|&(accumulator, total)| Seen {
                accumulator,
                order,
                stage: place,
                total,
            }));
        }
        seen.sort_unstable();
        let mut driver = BTreeMap::new();
        for &(accumulator, value) in spark.sql.iter().flat_map(|execution| &execution.driver_updates) {
            let sum: &mut i64 = driver.entry(accumulator).or_default();
            *sum = sum.saturating_add(value);
        }
        Self { seen, driver }
    }

    /// The stages that changed an accumulator, in the order in which they ended.
    pub(crate) fn in_stages(&self, accumulator: u64) -> &[Seen] {
        let start = self.seen.partition_point(|seen| seen.accumulator < accumulator);
        let rest = self.seen.get(start..).unwrap_or_default();
        let count = rest.partition_point(|seen| seen.accumulator == accumulator);
        rest.get(..count).unwrap_or_default()
    }

    /// The last total of an accumulator; that of the driver's updates if no stage has it.
    pub(crate) fn total(&self, accumulator: u64) -> Option<i64> {
        let in_stages = self.in_stages(accumulator).last().map(|seen| seen.total);
        in_stages.or_else(|| self.driver.get(&accumulator).copied())
    }

    /// How much each stage added to an accumulator, in the order in which the stages ended. Where stages that share it ran at
    /// the same time, the first one to end has what the others had added by then.
    pub(crate) fn added(&self, accumulator: u64) -> impl Iterator<Item = (u32, i64)> {
        let mut before = 0;
        self.in_stages(accumulator).iter().map(move |seen| {
            let added = seen.total.saturating_sub(before).max(0);
            before = seen.total;
            (seen.stage, added)
        })
    }
}
