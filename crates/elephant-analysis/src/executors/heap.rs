//! The requested memory of executors and drivers.

use elephant_base::units::Bytes;
use elephant_model::engine_facts::spark::{LEAST_OVERHEAD, OVERHEAD_FACTOR};
use elephant_model::model::Application;
use elephant_model::model::conf::ConfKey;
use elephant_model::model::conf::defaults::HEAP;
use elephant_model::model::counters::{Counter, CounterMask};
use elephant_model::model::spark::{ClusterManager, Executor, Placement, Spark};

/// Reason given if rules on memory cannot be evaluated.
pub const NO_PEAKS: &str = "no executor reports its peak memory; Spark 3.0 and later log it with \
     spark.eventLog.logStageExecutorMetrics=true";

/// Why a rule that sums a counter cannot be evaluated: the counter is unreadable in some task.
#[must_use]
pub fn unreadable(app: &Application, counters: &[Counter]) -> String {
    let wanted = CounterMask::of(counters);
    app.unreadable_counters(|_| wanted).unwrap_or_default()
}

/// Why the memory that executors needed is unknown.
#[must_use]
pub fn no_peaks(app: &Application) -> String {
    let measured = |spark: &Spark| spark.workers().any(|worker| worker.peaks.heap().is_some());
    if app.spark.as_deref().is_some_and(measured) {
        "for one executor size, no executor reports its peak memory".to_owned()
    } else {
        NO_PEAKS.to_owned()
    }
}

/// Whether the driver runs the tasks itself.
#[must_use]
pub fn is_local(app: &Application, spark: &Spark) -> bool {
    ClusterManager::of_application(app) == Some(ClusterManager::Local)
        || (spark.executors.is_empty() && spark.driver.totals.tasks > 0)
}

/// The setting for the heap in which tasks run.
#[must_use]
pub fn heap_key(app: &Application, spark: &Spark) -> ConfKey {
    if is_local(app, spark) { ConfKey::DriverMemory } else { ConfKey::ExecutorMemory }
}

/// The heap that is set, or Spark's default.
#[must_use]
pub fn heap(app: &Application, key: ConfKey) -> Bytes {
    app.conf.spark_memory(key).filter(|heap| heap.get() > 0).unwrap_or(HEAP)
}

/// The heap of one worker, from its resource profile or from the application.
#[must_use]
pub fn heap_of(app: &Application, spark: &Spark, worker: &Executor) -> Bytes {
    let key = heap_key(app, spark);
    let profile = worker.resource_profile.and_then(|id| spark.resource_profile(id));
    let own = profile.and_then(|profile| profile.memory).filter(|memory| memory.get() > 0);
    own.filter(|_| key == ConfKey::ExecutorMemory).unwrap_or_else(|| heap(app, key))
}

/// The number of concurrent tasks of a worker; 1 if its cores are unknown.
#[must_use]
pub fn slots(app: &Application, worker: &Executor) -> u64 {
    let placement = Placement::of(app);
    let by_settings = || {
        let cores = app.conf.integer(ConfKey::ExecutorCores).and_then(|cores| u32::try_from(cores).ok());
        Some(placement.slots_with(worker, cores?).max(1))
    };
    placement.slots(worker).or_else(by_settings).unwrap_or(1).into()
}

/// The heap of an executor, or Spark's default.
#[must_use]
pub fn executor_heap(app: &Application) -> Bytes {
    app.conf.spark_memory(ConfKey::ExecutorMemory).unwrap_or(HEAP)
}

/// The total requested memory of an executor: heap, overhead, off-heap memory, Python workers. Before Spark 3.0, off-heap
/// memory is a part of the overhead.
#[must_use]
pub fn executor_container(app: &Application) -> Bytes {
    let heap = executor_heap(app);
    let apart = app.version().is_none_or(|version| version >= (3, 0));
    let off_heap = (apart && app.conf.flag(ConfKey::OffHeapEnabled) == Some(true))
        .then(|| app.conf.spark_size(ConfKey::OffHeapSize, Bytes::new(1)))
        .flatten();
    let python = app.conf.spark_memory(ConfKey::ExecutorPysparkMemory);
    heap + overhead(app) + off_heap.unwrap_or_default() + python.unwrap_or_default()
}

/// The memory overhead of an executor: the setting, or Spark's default of 10 % of the heap, at least 384
/// MiB.
#[must_use]
pub fn overhead(app: &Application) -> Bytes {
    overhead_for(app, executor_heap(app))
}

/// The same for another heap.
#[must_use]
pub fn overhead_for(app: &Application, heap: Bytes) -> Bytes {
    let factor = app.conf.fraction(ConfKey::ExecutorMemoryOverheadFactor);
    let set = app.conf.spark_memory(ConfKey::ExecutorMemoryOverhead);
    set.unwrap_or_else(|| overhead_by(factor.unwrap_or(OVERHEAD_FACTOR), heap))
}

/// The default overhead for a heap.
#[must_use]
pub fn default_overhead(heap: Bytes) -> Bytes {
    overhead_by(OVERHEAD_FACTOR, heap)
}

fn overhead_by(factor: f64, heap: Bytes) -> Bytes {
    Bytes::from_f64(heap.as_f64() * factor).unwrap_or_default().max(LEAST_OVERHEAD)
}

#[cfg(test)]
mod tests {
    use super::*;
    use elephant_model::model::Engine;
    use elephant_model::model::conf::Property;
    use elephant_model::model::spark::ExecutorMetric;

    #[test]
    fn peaks_of_another_executor_size_do_not_count() {
        let mut app = elephant_sample::app(&[]);
        assert_eq!(no_peaks(&app), NO_PEAKS);
        elephant_sample::peaks(
            elephant_sample::executor(&mut app, "1"),
            &[(ExecutorMetric::JvmHeapMemory, 1 << 20)],
        );
        assert!(no_peaks(&app).starts_with("for one executor size"));
    }

    #[test]
    fn bare_numbers_are_mebibytes_unless_they_are_too_large_for_that() {
        let heap =
            |text| heap(&elephant_sample::app(&[("spark.executor.memory", text)]), ConfKey::ExecutorMemory);
        assert_eq!(heap("4096"), Bytes::from_mib(4096));
        assert_eq!(heap("3147483647"), Bytes::new(3_147_483_647));
        assert_eq!(heap("4g"), Bytes::from_mib(4096));
        assert_eq!(heap("0"), HEAP);
        assert_eq!(heap("much"), HEAP);
    }

    #[test]
    fn a_task_has_at_least_one_slot() {
        let app = elephant_sample::app(&[("spark.task.cpus", "8")]);
        assert_eq!(slots(&app, &Executor { cores: Some(4), ..Executor::default() }), 1);
        assert_eq!(slots(&app, &Executor { cores: Some(16), ..Executor::default() }), 2);
        assert_eq!(slots(&elephant_sample::app(&[]), &Executor::default()), 1);
    }

    #[test]
    fn a_container_is_more_than_its_heap() {
        let mut app = Application::new(Engine::Spark);
        assert_eq!(executor_container(&app), Bytes::from_mib(1024 + 384));
        for (name, value) in [
            ("spark.executor.memory", "10g"),
            ("spark.memory.offHeap.enabled", "true"),
            ("spark.memory.offHeap.size", "1g"),
        ] {
            let property = Property { value: value.to_owned(), is_final: false };
            app.conf.insert(name.to_owned(), property);
        }
        assert_eq!(executor_container(&app), Bytes::from_mib(12 * 1024));
        app.engine_version = Some("2.4.8".to_owned());
        assert_eq!(executor_container(&app), Bytes::from_mib(11 * 1024));
    }
}
