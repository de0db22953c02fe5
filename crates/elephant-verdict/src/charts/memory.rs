//! Memory that containers request, and the measured use.

use std::cmp::Reverse;

use elephant_analysis::metrics::executor_memory;
use elephant_base::state::State;
use elephant_base::units::Bytes;
use elephant_model::model::counters::Counter;
use elephant_model::model::table::{TaskGroup, TaskKind};
use elephant_model::model::{Application, Engine};
use elephant_ruleset::RuleSet;

/// This many containers are ranked.
const MOST_RANKED: usize = 64;

/// The containers that hold the memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, State)]
pub enum Holder {
    /// The containers of tasks of one kind.
    Tasks(TaskKind),
    /// The containers of executors.
    Executors,
}

/// Requested and used memory.
#[derive(Debug, Clone, PartialEq, Eq, State)]
#[non_exhaustive]
pub struct MemoryUse {
    /// The containers that hold it.
    pub holder: Holder,
    /// The request of one container.
    pub requested: Bytes,
    /// The mean of the measured values.
    pub mean: Bytes,
    /// Half of the containers used no more.
    pub median: Bytes,
    /// The largest measured value.
    pub peak: Bytes,
    /// The number of containers with a measurement.
    pub measured: u64,
    /// The measured values, largest first, with the ids of executors. If there are many, only some are
    /// listed, at equal distances in this order, including the first and the last.
    pub ranked: Vec<(Option<String>, Bytes)>,
}

/// All memory use in the history; empty if it has no memory measurements.
pub(super) fn all(app: &Application, rules: &RuleSet) -> Vec<MemoryUse> {
    match app.engine {
        Engine::MapReduce | Engine::Tez => {
            app.groups.iter().filter_map(|group| of_tasks(app, group, rules)).collect()
        }
        Engine::Spark => {
            let memory = executor_memory(app, rules.spark_metrics());
            let named = |(id, used): (&str, Bytes)| (Some(id.to_owned()), used);
            let summed = |(one, used): (Bytes, Vec<_>)| {
                summed(Holder::Executors, one, used.into_iter().map(named).collect())
            };
            memory.and_then(summed).into_iter().collect()
        }
    }
}

fn of_tasks(app: &Application, group: &TaskGroup, rules: &RuleSet) -> Option<MemoryUse> {
    let requested = rules.metrics().container(app, group.kind)?;
    let attempts = &group.attempts;
    let measured = |row, counter| attempts.bytes(row, counter).filter(|bytes| bytes.get() > 0);
    let used = (0..attempts.len()).filter_map(|row| {
        let last = measured(row, Counter::PhysicalMemoryBytes);
        Some((None, last.max(measured(row, Counter::PeakPhysicalMemoryBytes))?))
    });
    summed(Holder::Tasks(group.kind), requested, used.collect())
}

fn summed(holder: Holder, requested: Bytes, mut used: Vec<(Option<String>, Bytes)>) -> Option<MemoryUse> {
    let measured = used.len() as u64;
    let sum: Bytes = used.iter().map(|(_, used)| *used).sum();
    let mean = Bytes::new(sum.get().checked_div(measured)?);
    // Stable: executors with the same use stay in the order of the log.
    used.sort_by_key(|(_, used)| Reverse(*used));
    let peak = used.first().map(|(_, used)| *used)?;
    let median = used.get(used.len() / 2).map(|(_, used)| *used)?;
    Some(MemoryUse { holder, requested, mean, median, peak, measured, ranked: some(used) })
}

/// At most [`MOST_RANKED`] values at equal distances, including the first and the last.
fn some<T>(ranked: Vec<T>) -> Vec<T> {
    let last = ranked.len().saturating_sub(1);
    let shown = ranked.len().min(MOST_RANKED);
    let mut places = (0..shown).map(|place| place * last / (shown - 1).max(1)).peekable();
    ranked.into_iter().enumerate().filter_map(|(place, it)| places.next_if_eq(&place).map(|_| it)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranked_values_are_bounded_and_keep_both_ends() {
        assert_eq!(some(vec![3]), [3]);
        assert_eq!(some((0..64).collect()), (0..64).collect::<Vec<_>>());
        let few = some((0..1000).collect::<Vec<_>>());
        assert_eq!((few.len(), few.first(), few.last()), (MOST_RANKED, Some(&0), Some(&999)));
    }

    #[test]
    fn containers_are_ranked_by_their_use() {
        let used = |id: &str, mib: u64| (Some(id.to_owned()), Bytes::new(mib << 20));
        let memory =
            summed(Holder::Executors, Bytes::new(1 << 30), vec![used("1", 100), used("2", 300)]).unwrap();
        assert_eq!(memory.ranked, [used("2", 300), used("1", 100)]);
        assert_eq!(
            [memory.peak, memory.mean, memory.median],
            [300, 200, 100].map(|mib| Bytes::new(mib << 20))
        );
        assert_eq!(summed(Holder::Executors, Bytes::new(1), Vec::new()), None);
    }
}
