//! Heaps: how large they are set, which part of them a task has, and how long they are held.

use super::containers;
use crate::model::Application;
use crate::model::conf::ConfKey;
use crate::model::counters::{Counter, CounterMask};
use crate::model::spark::{ClusterManager, Executor, Spark};
use crate::units::{Bytes, Millis};

/// What Spark keeps of a heap for itself (`UnifiedMemoryManager.RESERVED_SYSTEM_MEMORY_BYTES`).
pub(super) const RESERVED: Bytes = Bytes::from_mib(300);
/// Why rules on memory cannot be evaluated.
pub(super) const NO_PEAKS: &str = "no executor reports its peak memory; Spark 3.0 and later do with \
     spark.eventLog.logStageExecutorMetrics=true";
/// The heap of an executor or driver for which none is set.
const DEFAULT_HEAP: Bytes = Bytes::from_mib(1024);

/// Why a rule cannot be evaluated that adds up a counter which cannot be read of some task.
pub(super) fn unreadable(app: &Application, counters: &[Counter]) -> String {
    let wanted = CounterMask::of(counters);
    app.unreadable_counters(|_| wanted).unwrap_or_default()
}

/// Why it is not known what executors needed.
pub(in crate::heuristics) fn no_peaks(app: &Application) -> String {
    let measured = |spark: &Spark| spark.workers().any(|worker| worker.peaks.heap().is_some());
    if app.spark.as_deref().is_some_and(measured) {
        "there are executors of a size of which none reports its peak memory".to_owned()
    } else {
        NO_PEAKS.to_owned()
    }
}

/// Whether the driver runs the tasks itself.
pub(super) fn is_local(app: &Application, spark: &Spark) -> bool {
    ClusterManager::of(&app.conf) == Some(ClusterManager::Local)
        || (spark.executors.is_empty() && spark.driver.totals.tasks > 0)
}

/// The setting of the heap in which tasks run.
pub(super) fn heap_key(app: &Application, spark: &Spark) -> ConfKey {
    if is_local(app, spark) { ConfKey::DriverMemory } else { ConfKey::ExecutorMemory }
}

/// A heap as it is set, or Spark's default.
pub(super) fn heap(app: &Application, key: ConfKey) -> Bytes {
    app.conf.spark_memory(key).filter(|heap| heap.get() > 0).unwrap_or(DEFAULT_HEAP)
}

/// The heap of one worker: that of its resource profile, or the application's.
pub(super) fn heap_of(app: &Application, spark: &Spark, worker: &Executor) -> Bytes {
    let key = heap_key(app, spark);
    let profile = worker.resource_profile.and_then(|id| spark.resource_profile(id));
    let own = profile.and_then(|profile| profile.memory).filter(|memory| memory.get() > 0);
    own.filter(|_| key == ConfKey::ExecutorMemory).unwrap_or_else(|| heap(app, key))
}

/// How many tasks a worker runs at a time; 1 where its cores are unknown.
pub(super) fn slots(app: &Application, worker: &Executor) -> u64 {
    let number = |key| app.conf.integer(key).and_then(|n| u64::try_from(n).ok()).filter(|&n| n > 0);
    let cores = worker.cores.map(u64::from).or_else(|| number(ConfKey::ExecutorCores)).unwrap_or(1);
    (cores / number(ConfKey::TaskCpus).unwrap_or(1)).max(1)
}

/// How long a worker was there; the driver of local mode from the application's start.
pub(super) fn life(app: &Application, spark: &Spark, worker: &Executor) -> Option<Millis> {
    let whole = || containers::run_time(app).filter(|_| is_local(app, spark));
    containers::life(app, worker).or_else(whole)
}

/// How long all workers together were there; `None` where no life is known.
pub(super) fn lives(app: &Application, spark: &Spark) -> Option<Millis> {
    spark.workers().filter_map(|worker| life(app, spark, worker)).reduce(|a, b| a + b)
}

/// How long the memory was held, to follow what was measured.
pub(super) fn held(lives: Option<Millis>) -> String {
    lives.map(|lives| format!(", for {lives} of all executors together")).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::super::sample;
    use super::*;
    use crate::model::spark::ExecutorMetric;

    #[test]
    fn executors_that_tell_nothing_are_not_those_of_another_size() {
        let mut app = sample::app(&[]);
        assert_eq!(no_peaks(&app), NO_PEAKS);
        sample::peaks(sample::executor(&mut app, "1"), &[(ExecutorMetric::JvmHeapMemory, 1 << 20)]);
        assert!(no_peaks(&app).starts_with("there are executors of a size"));
    }

    #[test]
    fn bare_numbers_are_mebibytes_unless_they_are_too_large_for_that() {
        let heap = |text| heap(&sample::app(&[("spark.executor.memory", text)]), ConfKey::ExecutorMemory);
        assert_eq!(heap("4096"), Bytes::from_mib(4096));
        assert_eq!(heap("3147483647"), Bytes::new(3_147_483_647));
        assert_eq!(heap("4g"), Bytes::from_mib(4096));
        assert_eq!(heap("0"), DEFAULT_HEAP);
        assert_eq!(heap("much"), DEFAULT_HEAP);
    }

    #[test]
    fn a_task_has_at_least_one_slot() {
        let app = sample::app(&[("spark.task.cpus", "8")]);
        assert_eq!(slots(&app, &Executor { cores: Some(4), ..Executor::default() }), 1);
        assert_eq!(slots(&app, &Executor { cores: Some(16), ..Executor::default() }), 2);
        assert_eq!(slots(&sample::app(&[]), &Executor::default()), 1);
    }
}
