//! Cost of a Spark application: executors hold memory and cores from their start to their end, whether or not
//! tasks run on them.
//!
//! [`Formula`] selects how Dr. Elephant computes it instead (`rules/spark-metrics.yaml`).

mod containers;
mod counts;
mod dr_elephant;
mod late;
mod lifetimes;
mod tasks;
mod wait;

pub use counts::{ExecutorCounts, JobCounts, SparkCounts, StageCounts};

use super::{Metrics, TaskCounts, run_time};
use containers::Containers;
use elephant_base::units::{Bytes, MbMillis, Millis, Timestamp};
use elephant_model::model::Application;
use elephant_model::model::spark::{ClusterManager, Executor, Facet, NativeEngine, Spark};
use elephant_rule::params::quantity::{Duration, Quantity, Ratio, Size};
use elephant_rule::params::{choice, rule_params};
use lifetimes::Lifetimes;
use tasks::TaskCosts;

choice! {
    /// How used and wasted memory are computed.
    pub enum Formula {
        /// Each executor's container over its own lifetime.
        ExecutorLives = "executor-lives",
        /// Dr. Elephant master: configured instances × heap × run time of the application.
        Instances = "instances",
        /// Dr. Elephant customSHSWork: heap × task time of each executor.
        TaskTime = "task-time",
        /// Dr. Elephant tuning: heap and overhead, rounded up, over the lifetimes of executors and driver.
        RoundedContainers = "rounded-containers",
        /// Dr. Elephant 2.0: heap × task time used, storage memory × task time wasted.
        StorageMemory = "storage-memory",
    }
}

rule_params! {
    /// Parameters of the metrics of Spark applications.
    pub struct SparkMetricParams / SparkMetricParamsLayer {
        /// How used and wasted memory are computed.
        formula: Formula,
        /// An executor may hold this multiple of its measured peak memory before the rest counts as wasted.
        memory_allowance: Quantity<Ratio>,
        /// Memory that a JVM needs beyond its heap, if only the heap was measured.
        reserved_memory: Quantity<Size>,
        /// The step in which YARN allocates memory, if it is not logged.
        allocation_step: Quantity<Size>,
        /// Whether the container of the driver, or of YARN's application master in client mode, is charged.
        charge_driver: bool,
        /// Whether the wait is measured; otherwise it is 0.
        measure_wait: bool,
        /// Executors are late if they start so long after the first. Until then, the others do not count as a wait.
        late_executors: Quantity<Duration>,
    }
}

/// Used and wasted memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct Cost {
    used: Option<MbMillis>,
    wasted: Option<MbMillis>,
}

impl Metrics {
    /// The metrics of a Spark application.
    #[must_use]
    pub fn of_spark(app: &Application, params: &SparkMetricParams) -> Self {
        let Some(spark) = app.spark.as_deref() else { return Self::default() };
        let lifetimes = Lifetimes::of(app, spark, Some(params));
        let cost = match params.formula {
            Formula::ExecutorLives => {
                lifetimes.as_ref().map(|lifetimes| lifetimes.cost(params)).unwrap_or_default()
            }
            formula => dr_elephant::cost(formula, (app, spark), params, &|executor| executor.removed_at),
        };
        let tasks =
            lifetimes.as_ref().and_then(|lifetimes| TaskCosts::of(app, spark, lifetimes)).unwrap_or_default();
        let held = lifetimes.as_ref().and_then(Lifetimes::cores);
        let late = Millis::from_f64(params.late_executors.get()).unwrap_or_default();
        let wait = if params.measure_wait { wait::of(app, spark, late) } else { Some(wait::Wait::default()) };
        Self {
            run_time: run_time(app),
            wait_time: wait.map(|wait| wait.all),
            wait_of_maps: None,
            wait_of_reduces: None,
            wait_for_first: wait.map(|wait| wait.for_first),
            wait_for_late: wait.map(|wait| wait.for_late),
            used: cost.used,
            wasted: cost.wasted,
            failed_attempts: tasks.failed,
            killed_attempts: tasks.killed,
            losing_attempts: tasks.losing,
            cores_used: tasks.cores,
            cores_idle: held.zip(tasks.cores).map(|(held, used)| held - used),
            tasks: vec![("task".into(), task_counts(app, spark))],
            spark: counts(spark),
        }
    }
}

/// Memory × time that the application held until `end`, as far as the log shows it; `removed` tells when an executor ended,
/// if it ended before.
pub(super) fn used_until(
    app: &Application,
    params: &SparkMetricParams,
    end: Timestamp,
    removed: &dyn Fn(&Executor) -> Option<Timestamp>,
) -> Option<MbMillis> {
    let spark = app.spark.as_deref()?;
    if params.formula == Formula::ExecutorLives {
        return Lifetimes::used_until((app, spark), params, end, removed);
    }
    let until = Application {
        submitted_at: app.submitted_at,
        finished_at: Some(end),
        conf: app.conf.clone(),
        ..Application::new(app.engine)
    };
    dr_elephant::cost(params.formula, (&until, spark), params, removed).used
}

/// The container size of a default executor, and the measured memory of each executor of that size, by its id.
#[must_use]
pub fn executor_memory<'a>(
    app: &'a Application,
    params: &SparkMetricParams,
) -> Option<(Bytes, Vec<(&'a str, Bytes)>)> {
    let spark = app.spark.as_deref()?;
    let containers = Containers::of(app, spark, params)?;
    let one = containers.executor(None)?;
    let local = containers::manager(app, spark) == Some(ClusterManager::Local);
    let driver = local.then_some(&spark.driver);
    let alike = spark.executors.iter().chain(driver);
    let alike = alike.filter(|executor| containers.executor(executor.resource_profile) == Some(one));
    let by_heap = NativeEngine::at_work(app).is_none();
    let needed = |executor: &'a Executor| {
        Some((executor.id.as_str(), lifetimes::needed(&executor.peaks, params, by_heap)?))
    };
    Some((one, alike.filter_map(needed).collect()))
}

/// The factor by which the container of a default executor would change with another heap.
#[must_use]
pub fn executor_memory_factor(
    app: &Application,
    params: &SparkMetricParams,
    (heap, overhead): (Option<Bytes>, Option<Bytes>),
) -> Option<f64> {
    let spark = app.spark.as_deref()?;
    let containers = Containers::of(app, spark, params)?;
    let now = containers.executor(None).filter(|now| now.get() > 0)?;
    Some(containers.with(heap, overhead).executor(None)?.as_f64() / now.as_f64())
}

/// Memory that executors held while idle for longer than `timeout`, which dynamic allocation would release.
/// `None` if the log lacks tasks or a size.
#[must_use]
pub fn idle_beyond(app: &Application, params: &SparkMetricParams, timeout: Millis) -> Option<MbMillis> {
    lifetimes_with_tasks(app, Some(params))?.idle_beyond(app, timeout)
}

/// The idle time after `timeout`, as a share of the time of all executors, whatever their sizes.
#[must_use]
pub fn share_idle_beyond(app: &Application, timeout: Millis) -> Option<f64> {
    lifetimes_with_tasks(app, None)?.share_idle_beyond(app, timeout)
}

fn lifetimes_with_tasks<'a>(
    app: &'a Application,
    params: Option<&SparkMetricParams>,
) -> Option<Lifetimes<'a>> {
    let spark = app.spark.as_deref()?;
    let local = containers::manager(app, spark) == Some(ClusterManager::Local);
    if local || spark.gaps.reason(&[Facet::Tasks]).is_some() {
        return None;
    }
    Lifetimes::of(app, spark, params)
}

/// Counts over all stages: reports have one entry for all tasks of an application. `None` if a limit cut the
/// log off, or if the log ends before the first task.
fn task_counts(app: &Application, spark: &Spark) -> Option<TaskCounts> {
    if app.limit.is_some_and(|limit| limit.cuts_off()) || (app.groups.is_empty() && ends_early(spark)) {
        return None;
    }
    Some(app.groups.iter().map(TaskCounts::of).fold(TaskCounts::default(), TaskCounts::plus))
}

fn counts(spark: &Spark) -> Option<SparkCounts> {
    let shows_nothing = spark.jobs.is_empty() && spark.stages.is_empty() && spark.executors.is_empty();
    (!(shows_nothing && ends_early(spark))).then(|| SparkCounts::of(spark))
}

/// Whether the log may lack events after its last one.
fn ends_early(spark: &Spark) -> bool {
    spark.gaps.end || spark.gaps.unreadable > 0 || spark.gaps.limit.is_some()
}

/// Whether the log shows the start and end of every executor.
fn shows_all_executors(spark: &Spark) -> bool {
    let gaps = spark.gaps;
    !gaps.beginning && !gaps.compacted && gaps.reason(&[Facet::Executors, Facet::End]).is_none()
}
