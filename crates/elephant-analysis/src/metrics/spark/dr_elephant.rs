//! Used and wasted memory as computed by versions of Dr. Elephant. Missing values count as 0 there.
//!
//! Source: `SparkMetricsAggregator` of master, of the branches customSHSWork and `tuning_20190221`, and of
//! v2.0.9.

use super::containers::rounded_up;
use super::{Cost, Formula, SparkMetricParams};
use elephant_base::units::{Bytes, MbMillis, Millis, Timestamp};
use elephant_model::model::Application;
use elephant_model::model::conf::ConfKey;
use elephant_model::model::conf::defaults::HEAP;
use elephant_model::model::spark::{Executor, Spark};

/// Default memory overhead in percent of the heap.
const OVERHEAD_PERCENT: u64 = 10;
/// Its setting, from a Spark version that was never published.
const OVERHEAD_PERCENT_KEY: &str = "spark.memoryOverhead.multiplier.percent";

/// `removed` tells when an executor ended.
pub(super) fn cost(
    formula: Formula,
    (app, spark): (&Application, &Spark),
    params: &SparkMetricParams,
    removed: &dyn Fn(&Executor) -> Option<Timestamp>,
) -> Cost {
    let cost = match formula {
        Formula::StorageMemory => Some(by_storage_memory(app, spark, params)),
        // These versions ignore an application without an end; an application that ends before it starts
        // costs nothing.
        _ if app.submitted_at.is_none() || app.finished_at.is_none() => return Cost::default(),
        _ if super::run_time(app).is_none() => None,
        Formula::TaskTime => by_task_time(app, spark, params),
        Formula::RoundedContainers => by_rounded_containers((app, spark), params, removed),
        Formula::Instances | Formula::ExecutorLives => by_instances(app, spark, params),
    };
    let (used, wasted) = cost.unwrap_or_default();
    Cost { used: Some(used), wasted: Some(wasted) }
}

type Amounts = (MbMillis, MbMillis);

/// Executors and the driver, which are in one list in Spark's REST API.
fn summaries(spark: &Spark) -> impl Iterator<Item = &Executor> {
    spark.executors.iter().chain([&spark.driver])
}

fn task_time(executor: &Executor) -> Millis {
    executor.totals.task_time.unwrap_or_default()
}

fn with_allowance(needed: MbMillis, params: &SparkMetricParams) -> MbMillis {
    needed.times(params.memory_allowance.get())
}

fn by_instances(app: &Application, spark: &Spark, params: &SparkMetricParams) -> Option<Amounts> {
    let instances = u64::try_from(app.conf.integer(ConfKey::ExecutorInstances)?).ok()?;
    let heap = app.conf.spark_memory(ConfKey::ExecutorMemory)?;
    let all = Bytes::new(heap.get().saturating_mul(instances));
    let used = MbMillis::exactly(all, super::run_time(app)?).whole_mb_seconds();
    let busy = MbMillis::exactly(heap, summaries(spark).map(task_time).sum()).whole_mb_seconds();
    Some((used, (used - with_allowance(busy, params)).whole_mb_seconds()))
}

fn by_task_time(app: &Application, spark: &Spark, params: &SparkMetricParams) -> Option<Amounts> {
    let heap = app.conf.spark_memory(ConfKey::ExecutorMemory)?;
    let amounts = |executor: &Executor| {
        let needed = executor.peaks.heap().unwrap_or_default() + reserved(params);
        let time = task_time(executor);
        [heap, needed].map(|memory| MbMillis::exactly(memory, time).whole_mb_seconds())
    };
    Some(used_and_wasted(summaries(spark).map(amounts), params))
}

fn by_rounded_containers(
    (app, spark): (&Application, &Spark),
    params: &SparkMetricParams,
    removed: &dyn Fn(&Executor) -> Option<Timestamp>,
) -> Option<Amounts> {
    let executor_heap = app.conf.spark_memory(ConfKey::ExecutorMemory)?;
    let driver_heap = app.conf.spark_memory(ConfKey::DriverMemory).unwrap_or(HEAP);
    let step = Bytes::from_f64(params.allocation_step.get()).unwrap_or_default();
    let amounts = |executor: &Executor| {
        let (heap, key) = match executor.id.as_str() {
            "driver" => (driver_heap, ConfKey::DriverMemoryOverhead),
            _ => (executor_heap, ConfKey::ExecutorMemoryOverhead),
        };
        let overhead = app.conf.spark_memory(key).unwrap_or_else(|| overhead(app, heap));
        let container = rounded_up(heap + overhead, step);
        let needed = executor.peaks.heap().unwrap_or_default() + reserved(params) + overhead;
        let lifetime = executor.added_at.zip(removed(executor).or(app.finished_at));
        let lifetime =
            lifetime.and_then(|(added, removed)| Millis::between(added, removed)).unwrap_or_default();
        [container, needed].map(|memory| MbMillis::exactly(memory, lifetime).whole_mb_seconds())
    };
    Some(used_and_wasted(summaries(spark).map(amounts), params))
}

fn by_storage_memory(app: &Application, spark: &Spark, params: &SparkMetricParams) -> Amounts {
    let heap = app.conf.spark_memory(ConfKey::ExecutorMemory).unwrap_or_default();
    let amounts = |executor: &Executor| {
        let time = Millis::from_secs(task_time(executor).whole_secs());
        let storage = &executor.storage;
        let allowed = storage.peak_used.unwrap_or_default().as_f64() * params.memory_allowance.get();
        let unused = storage.total.unwrap_or_default() - Bytes::from_f64(allowed).unwrap_or_default();
        (MbMillis::of(heap, time), MbMillis::of(unused, time))
    };
    let add = |sum: Amounts, part: Amounts| (sum.0 + part.0, sum.1 + part.1);
    summaries(spark).map(amounts).fold(Amounts::default(), add)
}

fn used_and_wasted(amounts: impl Iterator<Item = [MbMillis; 2]>, params: &SparkMetricParams) -> Amounts {
    let (mut used, mut needed) = Amounts::default();
    for [allocated, part] in amounts {
        (used, needed) = (used + allocated, needed + part);
    }
    (used, (used - with_allowance(needed, params)).whole_mb_seconds())
}

fn overhead(app: &Application, heap: Bytes) -> Bytes {
    let percent = app.conf.raw(OVERHEAD_PERCENT_KEY).and_then(|percent| percent.parse().ok());
    Bytes::new(heap.get().saturating_mul(percent.unwrap_or(OVERHEAD_PERCENT)) / 100)
}

fn reserved(params: &SparkMetricParams) -> Bytes {
    Bytes::from_f64(params.reserved_memory.get()).unwrap_or_default()
}
