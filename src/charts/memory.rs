//! Memory that containers request, and the measured use.

use crate::metrics::executor_memory;
use crate::model::counters::Counter;
use crate::model::table::TaskGroup;
use crate::model::{Application, Engine};
use crate::rules::RuleSet;
use crate::units::Bytes;

/// The containers that hold the memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Holder {
    /// The containers of tasks of one kind, by its name.
    Tasks(&'static str),
    /// The containers of executors.
    Executors,
}

/// Requested and used memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct MemoryUse {
    /// The containers that hold it.
    pub holder: Holder,
    /// The request of one container.
    pub requested: Bytes,
    /// The mean of the measured values.
    pub mean: Bytes,
    /// The largest measured value.
    pub peak: Bytes,
    /// The number of containers with a measurement.
    pub measured: u64,
}

/// All memory use in the history; empty if it has no memory measurements.
pub(super) fn all(app: &Application, rules: &RuleSet) -> Vec<MemoryUse> {
    match app.engine {
        Engine::MapReduce => app.groups.iter().filter_map(|group| of_tasks(app, group, rules)).collect(),
        Engine::Spark => {
            let memory = executor_memory(app, rules.spark_metrics());
            memory.and_then(|(one, used)| summed(Holder::Executors, one, &used)).into_iter().collect()
        }
    }
}

fn of_tasks(app: &Application, group: &TaskGroup, rules: &RuleSet) -> Option<MemoryUse> {
    let requested = rules.metrics().container(app, group.kind)?;
    let attempts = &group.attempts;
    let measured = |row, counter| attempts.bytes(row, counter).filter(|bytes| bytes.get() > 0);
    let used: Vec<Bytes> = (0..attempts.len())
        .filter_map(|row| {
            let last = measured(row, Counter::PhysicalMemoryBytes);
            last.max(measured(row, Counter::PeakPhysicalMemoryBytes))
        })
        .collect();
    summed(Holder::Tasks(group.kind.name()), requested, &used)
}

fn summed(holder: Holder, requested: Bytes, used: &[Bytes]) -> Option<MemoryUse> {
    let peak = *used.iter().max()?;
    let measured = used.len() as u64;
    let mean = Bytes::new(used.iter().copied().sum::<Bytes>().get().checked_div(measured)?);
    Some(MemoryUse { holder, requested, mean, peak, measured })
}
