//! The data for recommendations: effective settings and measurements.

use super::stage_analysis::{Analysis, analyse};
use super::{Limits, Method, count, mebibytes};
use crate::spark::support::jvms::doubt_of_pauses;
use crate::spark::support::losses::lost_executors;
use crate::spark::support::memory::{
    ExecutorSize, is_local, overhead, peak_heap, shuffle_partitions, smaller_heap, workers,
};
use elephant_base::severity::Severity;
use elephant_base::units::{Bytes, Millis, three_digits};
use elephant_catalogue::Advised;
use elephant_model::engine_facts::spark::RESERVED_MEMORY;
use elephant_model::model::Application;
use elephant_model::model::conf::ConfKey;
use elephant_model::model::conf::defaults::{HEAP, MEMORY_FRACTION};
use elephant_model::model::counters::Counter;
use elephant_model::model::spark::{Executor, Spark};
use elephant_rule::finding::{Measure, Phrase, Word};
use elephant_rule::wording::percent;

/// The measurements that can pass a limit, in messages.
const GC: &str = "{share} of task time is spent in garbage collection ({limit})";
const OUT_OF_MEMORY: &str = "{attempts} task attempts ran out of memory";
const OVER_MEMORY: &str =
    "{attempts} task attempts were killed because their container exceeded its memory limit";
const LARGE_HEAP: &str = "{whose} of {heap} holds at most {peak}, {times}× its need ({limit})";
const DRIVER_CORES: &str = "the driver has {cores} cores";

/// Effective settings and measurements.
pub(super) struct Facts<'a> {
    pub(super) app: &'a Advised<'a>,
    pub(super) spark: &'a Spark,
    pub(super) stages: Vec<Analysis<'a>>,
    pub(super) now: ExecutorSize,
    pub(super) fraction: f64,
    pub(super) partitions: u64,
    /// The number of executors, if it is set.
    pub(super) instances: Option<u64>,
    pub(super) overhead: Bytes,
    pub(super) driver: Driver,
    pub(super) peak: Option<Bytes>,
    pub(super) heap: Severity,
    pub(super) gc_ratio: Option<f64>,
    pub(super) gc: Severity,
    pub(super) out_of_memory: Severity,
    pub(super) container_kills: Severity,
    /// Whether no data is missing that could call for more memory.
    pub(super) complete: bool,
}

/// The driver as a separate process.
pub(super) struct Driver {
    pub(super) memory: Bytes,
    pub(super) cores: u64,
    pub(super) overhead: Option<Bytes>,
    pub(super) peak: Option<Bytes>,
    pub(super) heap: Severity,
    pub(super) too_many_cores: Severity,
}

impl<'a> Facts<'a> {
    pub(super) fn of(app: &'a Advised<'a>, spark: &'a Spark, limits: &Limits) -> Self {
        let whole = |key| app.conf.integer(key).and_then(|value| u64::try_from(value).ok());
        let now = ExecutorSize::now(app, spark);
        let peak = peak_heap(spark);
        let stages = analyse(app, spark, limits);
        let (gc_ratio, gc) = collection(app, spark, limits);
        let dynamic = app.allocates_dynamically();
        let shrinks = limits.method == Method::DrElephant
            || smaller_heap(app, spark, now.heap, limits.heap_gain.get()).is_some();
        let most = if shrinks { Severity::Critical } else { Severity::None };
        // Dr. Elephant supports neither dynamic allocation nor local mode.
        let fixed = limits.method == Method::DrElephant || !(dynamic || is_local(app, spark));
        Self {
            app,
            spark,
            now,
            fraction: app.conf.fraction(ConfKey::MemoryFraction).unwrap_or(MEMORY_FRACTION),
            partitions: shuffle_partitions(app),
            instances: whole(ConfKey::ExecutorInstances).filter(|&set| fixed && set > 0),
            overhead: overhead(app),
            driver: Driver::of(app, spark, limits),
            heap: heap_severity(now.heap, peak, limits).min(most),
            peak,
            gc_ratio,
            gc,
            out_of_memory: out_of_memory(spark, &stages, limits),
            container_kills: container_kills(app, spark, &stages, limits),
            complete: spark.gaps.none(),
            stages,
        }
    }

    /// The highest severity that settings alone cause.
    pub(super) fn settings_severity(&self) -> Severity {
        self.gc.max(self.heap).max(self.driver.heap).max(self.driver.too_many_cores)
    }

    /// The measurements of executors that passed a limit.
    pub(super) fn measured(&self, limits: &Limits) -> Vec<Phrase> {
        let whose = if is_local(self.app, self.spark) { "the driver's heap" } else { "an executor's heap" };
        let gc = self.gc_ratio.filter(|_| self.gc > Severity::None).map(|ratio| {
            let limit = limits.gc_ratio.describe_in(self.gc.min(limits.settings_severity), percent);
            Phrase::new(GC, &[("share", &percent(ratio)), ("limit", &limit)])
        });
        let tasks = |of: fn(&Analysis<'_>) -> u64| self.stages.iter().map(of).sum::<u64>();
        let died = |attempts: u64, template| {
            (attempts > 0).then(|| Phrase::new(template, &[("attempts", &attempts)]))
        };
        let parts = [
            gc,
            died(tasks(|stage| stage.figures.heap_full), OUT_OF_MEMORY),
            died(tasks(|stage| stage.figures.over_memory), OVER_MEMORY),
            large_heap((self.peak, self.now.heap, whose), self.heap, limits),
        ];
        parts.into_iter().flatten().collect()
    }

    /// The measurements of a driver that runs separately from the executors, as far as they passed a limit.
    pub(super) fn measured_of_driver(&self, limits: &Limits) -> Vec<Phrase> {
        let Driver { memory, peak, cores, too_many_cores, .. } = self.driver;
        let cores =
            (too_many_cores > Severity::None).then(|| Phrase::new(DRIVER_CORES, &[("cores", &cores)]));
        let heap = large_heap((peak, memory, "the driver's heap"), self.driver.heap, limits);
        heap.into_iter().chain(cores).collect()
    }

    pub(super) fn evidence(&self) -> Vec<(&'static str, Measure)> {
        let known = [
            mebibytes("executor_memory_mb", Some(self.now.heap)),
            mebibytes("executor_peak_heap_mb", self.peak),
            count("executor_cores_count", Some(u64::from(self.now.cores))),
            count("shuffle_partitions_count", Some(self.partitions)),
        ];
        let gc = ("gc_ratio", Measure::Ratio(self.gc_ratio));
        known.into_iter().flatten().chain(self.driver.evidence()).chain([gc]).collect()
    }
}

/// A heap with its peak in a message, with the limit of the severity that the finding has.
fn large_heap(
    (peak, heap, whose): (Option<Bytes>, Bytes, &str),
    severity: Severity,
    limits: &Limits,
) -> Option<Phrase> {
    let peak = peak.filter(|_| severity > Severity::None)?;
    let times = three_digits(heap.as_f64() / (peak + RESERVED_MEMORY).as_f64());
    let limit = limits.heap_ratio.describe_multiple(severity.min(limits.settings_severity));
    let words: [Word<'_>; 5] =
        [("whose", &whose), ("heap", &heap), ("peak", &peak), ("times", &times), ("limit", &limit)];
    Some(Phrase::new(LARGE_HEAP, &words))
}

impl Driver {
    pub(super) fn evidence(&self) -> Vec<(&'static str, Measure)> {
        let memory = mebibytes("driver_memory_mb", Some(self.memory));
        [memory, mebibytes("driver_peak_heap_mb", self.peak)].into_iter().flatten().collect()
    }

    fn of(app: &Application, spark: &Spark, limits: &Limits) -> Self {
        let memory = app.conf.spark_memory(ConfKey::DriverMemory).unwrap_or(HEAP);
        let cores = app.conf.integer(ConfKey::DriverCores).and_then(|cores| u64::try_from(cores).ok());
        let peak = spark.driver.peaks.heap();
        let cores = cores.unwrap_or(1).max(1);
        // In local mode, the driver's heap is the heap of the tasks.
        let own = !is_local(app, spark);
        // In client mode, the driver shares the cores of the submitting machine, whatever the setting says.
        let in_cluster = app.conf.text(ConfKey::SparkDeployMode).is_some_and(|mode| mode == "cluster");
        let counts = in_cluster || limits.method == Method::DrElephant;
        Self {
            memory,
            cores,
            overhead: app.conf.spark_memory(ConfKey::DriverMemoryOverhead),
            peak: peak.filter(|_| own),
            heap: if own { heap_severity(memory, peak, limits) } else { Severity::None },
            too_many_cores: if counts { limits.driver_cores.severity(cores as f64) } else { Severity::None },
        }
    }
}

fn heap_severity(heap: Bytes, peak: Option<Bytes>, limits: &Limits) -> Severity {
    let judged = peak.filter(|_| heap.as_f64() > limits.heap_min.get());
    judged.map_or(Severity::None, |peak| {
        limits.heap_ratio.severity_in(heap.as_f64(), (peak + RESERVED_MEMORY).as_f64())
    })
}

/// GC time as a share of task time, and its severity.
fn collection(app: &Application, spark: &Spark, limits: &Limits) -> (Option<f64>, Severity) {
    let is_doubted = limits.method == Method::Measured && doubt_of_pauses(app).is_some();
    if is_doubted || spark.any_unreadable(&[Counter::GcTimeMillis]) {
        return (None, Severity::None);
    }
    let sum = |of: fn(&Executor) -> Option<Millis>| workers(spark).filter_map(of).reduce(|a, b| a + b);
    let (Some(gc), Some(time)) = (sum(|w| w.totals.gc_time), sum(|w| w.totals.task_time)) else {
        return (None, Severity::None);
    };
    let ratio = Some(gc.as_f64() / time.as_f64()).filter(|ratio| ratio.is_finite());
    let ratio = ratio.map(|ratio| ratio.min(1.0));
    let severity = ratio.map_or(Severity::None, |ratio| limits.gc_ratio.severity(ratio));
    (ratio, severity.min(limits.gc_task_time.severity(time.as_f64())))
}

/// The severity of out-of-memory errors. A single one justifies a larger heap; Dr. Elephant uses only
/// rates.
fn out_of_memory(spark: &Spark, stages: &[Analysis<'_>], limits: &Limits) -> Severity {
    let rates = stages.iter().map(|stage| stage.out_of_memory).max().unwrap_or_default();
    let any = stages.iter().any(|stage| stage.figures.heap_full > 0)
        || lost_executors(spark).any(|loss| loss.cause.is_out_of_memory());
    if any && limits.method == Method::Measured { rates.max(Severity::Low) } else { rates }
}

fn container_kills(app: &Application, spark: &Spark, stages: &[Analysis<'_>], limits: &Limits) -> Severity {
    let rates = stages.iter().map(|stage| stage.container_kills).max().unwrap_or_default();
    let any = stages.iter().any(|stage| stage.figures.over_memory > 0)
        || lost_executors(spark).any(|loss| loss.cause.is_over_memory(app));
    if any && limits.method == Method::Measured { rates.max(Severity::Low) } else { rates }
}
