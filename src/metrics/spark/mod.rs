//! What a Spark application cost: executors hold memory and cores from the moment they come until they go, whether
//! or not a task runs on them.
//!
//! Where Dr. Elephant computes it otherwise, [`Formula`] decides (`rules/spark-metrics.yaml`).

mod containers;
mod counts;
mod dr_elephant;
mod lives;
mod tasks;
#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::indexing_slicing)] // helpers of tests are not tests to clippy
mod tests;
mod wait;

pub use counts::{ExecutorCounts, JobCounts, SparkCounts, StageCounts};

use super::{Metrics, TaskCounts, run_time};
use crate::model::Application;
use crate::model::spark::{ClusterManager, Spark};
use crate::params::quantity::{Quantity, Ratio, Size};
use crate::params::{choice, rule_params};
use crate::units::{Bytes, MbMillis};
use containers::Containers;
use lives::Lives;
use tasks::TaskCosts;

choice! {
    /// How used and wasted memory are computed.
    pub enum Formula {
        /// Every executor's container over its own life.
        ExecutorLives = "executor-lives",
        /// Dr. Elephant master: configured instances × heap × run time of the application.
        Instances = "instances",
        /// Dr. Elephant customSHSWork: heap × task time of each executor.
        TaskTime = "task-time",
        /// Dr. Elephant tuning: heap and overhead, rounded up, over the lives of executors and driver.
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
        /// How many times the measured peak an executor may hold before the rest counts as wasted.
        memory_allowance: Quantity<Ratio>,
        /// What a JVM needs beyond its heap where only the heap was measured.
        reserved_memory: Quantity<Size>,
        /// The step in which YARN grants memory, where the log does not tell it.
        allocation_step: Quantity<Size>,
        /// Whether the container of the driver, or of YARN's master in client mode, is charged.
        charge_driver: bool,
        /// Whether the wait is measured; it is 0 otherwise.
        measure_wait: bool,
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
        let lives = Lives::of(app, spark, params);
        let cost = match params.formula {
            Formula::ExecutorLives => lives.as_ref().map(|lives| lives.cost(params)).unwrap_or_default(),
            formula => dr_elephant::cost(formula, app, spark, params),
        };
        let tasks = lives.as_ref().and_then(|lives| TaskCosts::of(app, spark, lives)).unwrap_or_default();
        let held = lives.as_ref().and_then(Lives::cores);
        let wait = if params.measure_wait { wait::of(app, spark) } else { Some(wait::Wait::default()) };
        Self {
            run_time: run_time(app),
            wait_time: wait.map(|wait| wait.all),
            wait_of_reduces: None,
            wait_for_first: wait.map(|wait| wait.for_first),
            used: cost.used,
            wasted: cost.wasted,
            failed_attempts: tasks.failed,
            killed_attempts: tasks.killed,
            losing_attempts: tasks.losing,
            cores_used: tasks.cores,
            cores_idle: held.zip(tasks.cores).map(|(held, used)| held - used),
            tasks: vec![("task", task_counts(app, spark))],
            spark: counts(spark),
        }
    }
}

/// What the container of an executor asks for, and what was measured in each that asks for as much.
pub(crate) fn executor_memory(app: &Application, params: &SparkMetricParams) -> Option<(Bytes, Vec<Bytes>)> {
    let spark = app.spark.as_deref()?;
    let containers = Containers::of(app, spark, params)?;
    let one = containers.executor(None)?;
    let local = containers::manager(app, spark) == Some(ClusterManager::Local);
    let driver = local.then_some(&spark.driver);
    let alike = spark.executors.iter().chain(driver);
    let alike = alike.filter(|executor| containers.executor(executor.resource_profile) == Some(one));
    Some((one, alike.filter_map(|executor| lives::needed(&executor.peaks, params)).collect()))
}

/// Over all stages: reports have one entry for all tasks of an application. Nothing is known behind a limit, and where the
/// log ends before the first task.
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

/// Whether anything may follow behind what the log shows.
fn ends_early(spark: &Spark) -> bool {
    spark.gaps.end || spark.gaps.unreadable > 0 || spark.gaps.limit.is_some()
}

/// Whether the log shows every executor from its beginning to its end.
fn shows_all_executors(spark: &Spark) -> bool {
    use crate::model::spark::Facet;
    let gaps = spark.gaps;
    !gaps.beginning && !gaps.compacted && gaps.reason(&[Facet::Executors, Facet::End]).is_none()
}
