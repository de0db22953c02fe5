//! Memory that containers ask for, and what was measured in them.

use crate::metrics::executor_memory;
use crate::model::counters::Counter;
use crate::model::table::TaskGroup;
use crate::model::{Application, Engine};
use crate::rules::RuleSet;
use crate::units::Bytes;

/// Who holds the memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Holder {
    /// The containers of tasks of one kind, by the kind's name.
    Tasks(&'static str),
    /// The containers of executors.
    Executors,
}

/// Memory asked for and used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MemoryUse {
    /// Who holds it.
    pub holder: Holder,
    /// What one container asks for.
    pub requested: Bytes,
    /// The mean of what was measured.
    pub mean: Bytes,
    /// The most that was measured.
    pub peak: Bytes,
    /// In how many containers it was measured.
    pub measured: u64,
}

/// What the history tells; nothing where it does not measure memory.
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
