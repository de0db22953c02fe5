//! `spark-driver-metrics`: the driver is too large, or spends much time in garbage collection (Dr. Elephant
//! `DriverHeuristic`).

use std::cmp::Reverse;
use std::collections::BTreeMap;

use super::support::application::{change_to, spark};
use super::support::memory::{self, Setting};
use crate::declare::spark as rule;
use elephant_base::severity::Severity;
use elephant_base::units::{Bytes, Millis};
use elephant_catalogue::{Check, Rule, load};
use elephant_model::engine_facts::spark::RESERVED_MEMORY;
use elephant_model::model::conf::ConfKey;
use elephant_model::model::counters::Counter;
use elephant_model::model::spark::{ExecutorMetric, Facet, Spark};
use elephant_model::model::{Application, Collector};
use elephant_rule::finding::{Advice, Judgement, Measure, Subject, Verdict};
use elephant_rule::params::cutoffs::Ascending;
use elephant_rule::params::quantity::{Count, Duration, Quantity, Ratio, Size};
use elephant_rule::params::{choice, rule_params};
use elephant_rule::wording::{change, percent, plural};

choice! {
    /// The source of the driver's GC time.
    pub(super) enum GcFrom {
        /// Its own metrics, compared with the run time of the application.
        Heartbeats = "heartbeats",
        /// The tasks that it ran itself, compared with their time.
        Tasks = "tasks",
    }
}

rule_params! {
    /// Parameters of `spark-driver-metrics`.
    pub(super) struct Driver / DriverLayer {
        /// Whether the driver is judged in local mode, where it runs the tasks. The executor rules judge
        /// it anyway.
        judge_local: bool,
        /// Highest severity of the driver's heap in client mode, where it runs outside the cluster and is not
        /// charged. Its cores and memory overhead have no effect there.
        client_at_most: Severity,
        /// Cores of the driver.
        cores: Ascending<Count>,
        /// Heap of the driver.
        memory: Ascending<Size>,
        /// Memory overhead of the driver, if it is set.
        overhead: Ascending<Size>,
        /// Source of the driver's GC time: heartbeats (its own metrics, compared with the run time of the
        /// application), or tasks (tasks that the driver ran, compared with their time) as in Dr.
        /// Elephant.
        gc_from: GcFrom,
        /// GC time / the time that `gc_from` names.
        gc_ratio: Ascending<Ratio>,
        /// GC time. A few seconds are not worth a change.
        gc_time: Ascending<Duration>,
        /// Heap size / (peak heap use + the 300 MiB that Spark reserves).
        heap_ratio: Ascending<Ratio>,
        /// The heap that the driver does not need / the memory of driver and executors: a heap that is too large matters from
        /// here.
        excess_share: Ascending<Ratio>,
        /// Proposed heap / (peak heap use + the 300 MiB that Spark reserves).
        heap_room: Quantity<Ratio>,
        /// Proposed heap / the results of the job that sends the driver most: their data take more memory than they do
        /// on the way.
        results_room: Quantity<Ratio>,
        /// heap_ratio is judged only for heaps larger than this.
        above_heap: Quantity<Size>,
    }
}

pub(super) const RULE: Rule = rule!(
    DrElephant { version: "customSHSWork" },
    "spark-driver-metrics",
    "Spark Driver Metrics", tells Driver,
    Driver,
    |layers, _| load(layers, DriverCheck)
);

/// The message if nothing was found. A finding has the message of the worst [`Aspect`].
const FINE: &str = "a driver with {heap_bytes} of heap and {cores} is fine";

/// The message about a heap that is large for a reason.
const MUCH_COLLECTED: &str = "the driver has {heap_bytes} of heap ({limit}), and tasks of a job send up to {results_bytes} of results to it";

struct DriverCheck(Driver);

impl Check for DriverCheck {
    fn check(&self, app: &Application) -> Verdict {
        let Self(params) = self;
        let Some(spark) = spark(app) else { return Verdict::NotApplicable };
        if memory::is_local(app, spark) && !params.judge_local {
            return Verdict::NotApplicable;
        }
        let facts = Facts::of(app, spark, params.gc_from);
        if app.conf.is_empty() && facts.gc.is_none() && facts.used.is_none() {
            return Verdict::NotEvaluated(
                "the event log has neither settings nor metrics of the driver".to_owned(),
            );
        }
        let aspects = params.judge(app, &facts);
        // Take the first of equal aspects, so that messages are stable.
        let worst = aspects.iter().rev().max_by_key(|aspect| aspect.severity);
        let severity = worst.map(|aspect| aspect.severity).unwrap_or_default();
        let judgement = Judgement::of(Subject::Driver, severity).facts(facts.evidence());
        let cores = plural(facts.cores, "core");
        let worded = match worst.filter(|_| severity > Severity::None) {
            Some(worst) => {
                let time = facts.gc.map(|(_, time)| time).unwrap_or_default();
                judgement
                    .message(worst.message, &[("cores", &cores), ("time", &time), ("limit", &worst.limit)])
            }
            None => judgement.message(FINE, &[("cores", &cores)]),
        };
        worded.advice(|| advice(aspects)).into()
    }

    fn rests_on(&self) -> &'static [Facet] {
        &[]
    }
}

/// One aspect of the driver.
struct Aspect {
    severity: Severity,
    /// A template with the limit, for the facts about the driver.
    message: &'static str,
    limit: String,
    /// The setting to change.
    key: ConfKey,
    advice: Advice,
}

/// Worst first. Of two aspects that change the same setting, only the worse one: they may contradict each
/// other.
fn advice(mut aspects: Vec<Aspect>) -> Vec<Advice> {
    aspects.retain(|aspect| aspect.severity > Severity::None);
    aspects.sort_by_key(|aspect| Reverse(aspect.severity));
    let mut keys = Vec::new();
    aspects.retain(|aspect| {
        let new = !keys.contains(&aspect.key);
        keys.push(aspect.key);
        new
    });
    aspects.into_iter().map(|aspect| aspect.advice).collect()
}

impl Driver {
    fn judge(&self, app: &Application, facts: &Facts) -> Vec<Aspect> {
        let inside = !is_client(app) || self.client_at_most == Severity::Critical;
        let at_most = if inside { Severity::Critical } else { self.client_at_most };
        let limited = |aspect: Aspect| match aspect {
            Aspect { severity, .. } if severity > at_most => {
                let limit = format!("at most {at_most} in client mode, which the cluster does not pay for");
                Aspect { severity: at_most, limit, ..aspect }
            }
            aspect => aspect,
        };
        let cores = inside.then(|| self.judge_cores(app, facts));
        let overhead = self.judge_overhead(app, facts).filter(|_| inside);
        // The order is that of the page: of equal aspects, the first is reported.
        [
            cores,
            Some(limited(self.judge_memory(app, facts))),
            overhead,
            self.judge_gc(app, facts),
            self.judge_heap(app, facts).map(limited),
        ]
        .into_iter()
        .flatten()
        .collect()
    }

    fn judge_cores(&self, app: &Application, facts: &Facts) -> Aspect {
        let severity = self.cores.severity(facts.cores as f64);
        Aspect {
            severity,
            message: "the driver has {cores} ({limit})",
            limit: self.cores.describe(severity),
            key: ConfKey::DriverCores,
            advice: Advice::new("a driver rarely needs more than two cores").set([change(
                app,
                ConfKey::DriverCores,
                2,
            )]),
        }
    }

    fn fitting(&self, used: Bytes) -> Bytes {
        memory::driver_heap_for(used, self.heap_room.get())
    }

    /// A proposed heap that also has room for the results of any job, as far as they are known, up to the present heap.
    fn with_room_for_results(&self, proposed: Bytes, facts: &Facts) -> Bytes {
        self.room_of_results(facts).map_or(proposed, |room| room.max(proposed)).min(facts.heap)
    }

    /// The heap that has room for the results of any job; `None` if their sizes are unknown.
    fn room_of_results(&self, facts: &Facts) -> Option<Bytes> {
        Bytes::from_f64(facts.results?.as_f64() * self.results_room.get()).map(memory::rounded_up)
    }

    fn judge_memory(&self, app: &Application, facts: &Facts) -> Aspect {
        let severity = self.memory.severity(facts.heap.as_f64());
        let fitting = facts.used.map(|used| self.with_room_for_results(self.fitting(used), facts));
        let half = memory::rounded_up(Bytes::new(facts.heap.get() / 2));
        let is_for_results = fitting.is_none() && self.room_of_results(facts).is_some_and(|room| room > half);
        Aspect {
            severity,
            message: if is_for_results {
                MUCH_COLLECTED
            } else {
                "the driver has {heap_bytes} of heap ({limit})"
            },
            limit: self.memory.describe(severity),
            key: ConfKey::DriverMemory,
            advice: match fitting {
                Some(fitting) if self.memory.severity(fitting.as_f64()) < severity => {
                    let what = "collect less in the driver, write results from executors, and reduce its heap";
                    heap_change(app, what, fitting)
                }
                Some(_) => "the driver uses its heap: collect less in it, and write results from executors".into(),
                None if is_for_results => {
                    "write results from executors instead of collecting them, or collect less: until then, the driver needs \
                     its heap for them"
                        .into()
                }
                // A heap that is too small for one job in a hundred fails that job.
                None => "collect less in the driver, and write results from executors; measure what its heap holds before \
                         you make it smaller (spark.eventLog.logStageExecutorMetrics logs it)"
                    .into(),
            },
        }
    }

    fn judge_overhead(&self, app: &Application, facts: &Facts) -> Option<Aspect> {
        let severity = self.overhead.severity(facts.overhead?.as_f64());
        let tenth = (facts.heap.whole_mib() / 10).max(384);
        Some(Aspect {
            severity,
            message: "the driver has {overhead_bytes} of memory overhead ({limit})",
            limit: self.overhead.describe(severity),
            key: ConfKey::DriverMemoryOverhead,
            advice: {
                let less = self.overhead.severity(Bytes::from_mib(tenth).as_f64()) < severity;
                let tenth = change(app, ConfKey::DriverMemoryOverhead, Setting(Bytes::from_mib(tenth)));
                Advice::new("use 10 % of the heap, which is Spark's default").set(less.then_some(tenth))
            },
        })
    }

    fn judge_heap(&self, app: &Application, facts: &Facts) -> Option<Aspect> {
        let ratio = facts.heap_ratio()?;
        let is_large = facts.heap.as_f64() > self.above_heap.get();
        let severity = if is_large { self.heap_ratio.severity(ratio) } else { Severity::None };
        let fitting = self.with_room_for_results(self.fitting(facts.used?), facts);
        let excess = facts.heap.get().saturating_sub(fitting.get()) as f64 / facts.held.as_f64();
        let by_excess = self.excess_share.severity(excess);
        let limit = if by_excess < severity {
            let share = self.excess_share.describe_in(by_excess, percent);
            format!("{} of all memory is more than it needs: {share}", percent(excess))
        } else {
            self.heap_ratio.describe_multiple(severity)
        };
        let severity = severity.min(by_excess);
        Some(Aspect {
            severity,
            message: "the driver has {heap_bytes} of heap but uses at most {peak_used_bytes}, so the heap is {heap_ratio}× \
                      what the driver uses and Spark reserves ({limit})",
            limit,
            key: ConfKey::DriverMemory,
            advice: heap_change(app, "set a heap that fits", fitting),
        })
    }

    fn judge_gc(&self, app: &Application, facts: &Facts) -> Option<Aspect> {
        let (gc, time) = facts.gc?;
        let ratio = gc.as_f64() / time.as_f64();
        let severity = self.gc_ratio.severity(ratio).min(self.gc_time.severity(gc.as_f64()));
        let larger = memory::rounded_up(Bytes::new(facts.heap.get() / 2 * 3));
        Some(Aspect {
            severity,
            message: "the driver spends {gc_time_ms} of {time} in garbage collection, {gc_ratio:%} ({limit})",
            limit: self.gc_ratio.describe_in(severity, percent),
            key: ConfKey::DriverMemory,
            advice: heap_change(
                app,
                "enlarge the driver's heap by half, or collect and broadcast less",
                larger,
            ),
        })
    }
}

/// Whether the driver runs in client mode, on the submitting machine.
fn is_client(app: &Application) -> bool {
    app.conf.text(ConfKey::SparkDeployMode).is_some_and(|mode| mode == "client")
}

/// A change of the driver's heap. In client mode, the program runs in the JVM that it would have to change.
fn heap_change(app: &Application, what: &str, heap: Bytes) -> Advice {
    let advice = Advice::new(what).set(change_to(app, ConfKey::DriverMemory, Setting(heap)));
    if is_client(app) { advice.and(", when submitting: the program cannot change it") } else { advice }
}

/// The known facts about the driver.
struct Facts {
    cores: u64,
    heap: Bytes,
    overhead: Option<Bytes>,
    used: Option<Bytes>,
    /// The results of the job whose tasks send the driver most; `None` if the size of a result is unknown.
    results: Option<Bytes>,
    /// Memory of the driver and of the executors that ran at the same time.
    held: Bytes,
    /// GC time, and the time that it is a part of.
    gc: Option<(Millis, Millis)>,
}

impl Facts {
    fn of(app: &Application, spark: &Spark, gc_from: GcFrom) -> Self {
        let driver = &spark.driver;
        let gc = match gc_from {
            GcFrom::Tasks => driver.totals.gc_time.zip(driver.totals.task_time),
            GcFrom::Heartbeats if Collector::of_driver(app).is_some_and(Collector::is_concurrent) => None,
            GcFrom::Heartbeats => collections(spark).zip(memory::run_time(app)),
        };
        let heap = memory::heap(app, ConfKey::DriverMemory);
        let overhead = app.conf.spark_memory(ConfKey::DriverMemoryOverhead);
        let executors = memory::executor_container(app).get();
        let executors = executors.saturating_mul(memory::max_executors(&spark.executors));
        let cores = app.conf.integer(ConfKey::DriverCores).and_then(|cores| u64::try_from(cores).ok());
        Self {
            cores: cores.unwrap_or(1),
            heap,
            overhead,
            used: driver.peaks.heap(),
            results: most_results(app, spark),
            held: heap + overhead.unwrap_or_else(|| memory::default_overhead(heap)) + Bytes::new(executors),
            // A JVM that started before its application also counts earlier collections.
            gc: gc.filter(|(gc, time)| time.get() > 0 && gc <= time),
        }
    }

    fn heap_ratio(&self) -> Option<f64> {
        Some(self.heap.as_f64() / (self.used? + RESERVED_MEMORY).as_f64())
    }

    fn evidence(&self) -> Vec<(&'static str, Measure)> {
        let mut evidence =
            vec![("cores_count", Measure::Count(self.cores)), ("heap_bytes", Measure::Size(self.heap))];
        evidence.extend(self.overhead.map(|overhead| ("overhead_bytes", Measure::Size(overhead))));
        evidence.extend(self.used.map(|used| ("peak_used_bytes", Measure::Size(used))));
        evidence.extend(self.results.map(|results| ("results_bytes", Measure::Size(results))));
        evidence.extend(self.heap_ratio().map(|ratio| ("heap_ratio", Measure::Ratio(Some(ratio)))));
        if let Some((gc, time)) = self.gc {
            evidence.push(("gc_time_ms", Measure::Time(gc)));
            evidence.push(("gc_ratio", Measure::Ratio(Some(gc.as_f64() / time.as_f64()))));
        }
        evidence
    }
}

/// The largest sum of the results of the tasks of one job; `None` if the size of a result is unknown.
fn most_results(app: &Application, spark: &Spark) -> Option<Bytes> {
    let mut by_job: BTreeMap<Option<usize>, Bytes> = BTreeMap::new();
    for stage in &spark.stages {
        let Some(group) = stage.group.and_then(|group| app.groups.get(group)) else { continue };
        let mut results = group.winners().map(|row| group.attempts.bytes(row, Counter::ResultSize));
        let results = results.try_fold(Bytes::default(), |sum, more| Some(sum + more?))?;
        let sum = by_job.entry(stage.job).or_default();
        // Without its job, a stage counts alone.
        *sum = if stage.job.is_some() { *sum + results } else { results.max(*sum) };
    }
    by_job.into_values().max()
}

/// The driver's GC time from its own metrics. Before Spark 3.3 they have no total.
fn collections(spark: &Spark) -> Option<Millis> {
    let peaks = &spark.driver.peaks;
    // Without heap metrics the driver was not polled: Spark then logs zeros.
    peaks.heap()?;
    let minor_and_major = || {
        let minor = peaks.get(ExecutorMetric::MinorGcTime)?;
        Some(minor.saturating_add(peaks.get(ExecutorMetric::MajorGcTime)?))
    };
    peaks.get(ExecutorMetric::TotalGcTime).filter(|&ms| ms > 0).or_else(minor_and_major).map(Millis::new)
}

#[cfg(test)]
mod tests {
    use super::*;
    use elephant_base::units::Timestamp;
    use elephant_model::model::table::Outcome;

    const ID: &str = RULE.id;

    fn app(settings: &[(&str, &str)], peaks: &[(ExecutorMetric, i64)]) -> Application {
        let mut app = elephant_sample::app(settings);
        elephant_sample::executor(&mut app, "1");
        elephant_sample::peaks(&mut elephant_sample::spark(&mut app).driver, peaks);
        app.finished_at = Some(Timestamp::from_millis(100_000));
        app
    }

    #[test]
    fn settings_alone_can_be_too_large() {
        let severity = |settings| elephant_sample::severity(&app(settings, &[]), ID, false);
        assert_eq!(
            severity(&[("spark.driver.memory", "9g"), ("spark.driver.cores", "4")]),
            Some(Severity::None)
        );
        assert_eq!(severity(&[("spark.driver.memory", "10g")]), Some(Severity::Low));
        assert_eq!(severity(&[("spark.driver.cores", "7")]), Some(Severity::Moderate));
        assert_eq!(severity(&[("spark.driver.memoryOverhead", "6144")]), Some(Severity::Severe));
    }

    /// Half of a heap of 32 GiB has no room for 20 GiB of results.
    #[test]
    fn a_heap_that_results_fill_stays() {
        let text = |gib: i64| {
            let mut app = app(&[("spark.driver.memory", "32g")], &[]);
            elephant_sample::stage(&mut app, 0, &[(Outcome::Succeeded, 1000); 4]);
            elephant_sample::count(&mut app, Counter::ResultSize, gib << 28);
            elephant_sample::succeed(&mut app);
            let found = elephant_sample::evaluate(&app, ID, false).findings.remove(0);
            (found.message.clone(), found.advice.iter().map(|line| line.text.clone()).collect::<String>())
        };
        let (message, advice) = text(20);
        assert!(message.ends_with("and tasks of a job send up to 20 GiB of results to it"), "{message}");
        assert!(!advice.contains("--conf") && advice.contains("needs its heap"), "{advice}");
        let unmeasured = text(1).1;
        assert!(!unmeasured.contains("--conf") && unmeasured.contains("measure"), "{unmeasured}");
    }

    #[test]
    fn a_heap_is_compared_with_its_use() {
        let used = [(ExecutorMetric::JvmHeapMemory, 700 << 20)];
        let severity =
            |heap| elephant_sample::severity(&app(&[("spark.driver.memory", heap)], &used), ID, false);
        assert_eq!(severity("2g"), Some(Severity::None));
        assert_eq!(severity("2100m"), Some(Severity::Severe));
        let found = elephant_sample::evaluate(&app(&[("spark.driver.memory", "8g")], &used), ID, false);
        let advice = &found.findings[0].advice;
        assert_eq!(advice, &["set a heap that fits: --conf spark.driver.memory=1200m (now 8g)"]);
    }

    /// What an application with many executors could give back is not worth a change.
    #[test]
    fn a_heap_that_is_too_large_is_compared_with_all_memory() {
        let used = [(ExecutorMetric::JvmHeapMemory, 1760 << 20)];
        let mut app = app(&[("spark.driver.memory", "4g"), ("spark.executor.memory", "4g")], &used);
        assert_eq!(elephant_sample::severity(&app, ID, false), Some(Severity::Moderate));
        for id in 2..12 {
            elephant_sample::executor(&mut app, &id.to_string());
        }
        assert_eq!(elephant_sample::severity(&app, ID, false), Some(Severity::None));
        assert_eq!(elephant_sample::severity(&app, ID, true), Some(Severity::Moderate));
    }

    #[test]
    fn gc_time_is_compared_with_the_run_time() {
        use ExecutorMetric::{JvmHeapMemory, MajorGcTime, MinorGcTime, TotalGcTime};
        let conf = [("spark.driver.memory", "1g")];
        let severity = |peaks, dr| elephant_sample::severity(&app(&conf, peaks), ID, dr);
        assert_eq!(severity(&[(JvmHeapMemory, 1), (TotalGcTime, 15_000)], false), Some(Severity::Moderate));
        assert_eq!(severity(&[(JvmHeapMemory, 1), (TotalGcTime, 15_000)], true), Some(Severity::None));
        let parts = [(JvmHeapMemory, 1), (MinorGcTime, 20_000), (MajorGcTime, 20_000)];
        assert_eq!(severity(&parts, false), Some(Severity::Critical));
        assert_eq!(severity(&[(JvmHeapMemory, 1), (TotalGcTime, 4_000)], false), Some(Severity::None));
    }

    #[test]
    fn in_local_mode_the_executor_rules_judge_the_driver() {
        let mut app = elephant_sample::app(&[("spark.driver.memory", "30g")]);
        elephant_sample::spark(&mut app).driver.totals.tasks = 1;
        assert_eq!(elephant_sample::severity(&app, ID, false), None);
        assert_eq!(elephant_sample::severity(&app, ID, true), Some(Severity::Critical));
    }

    #[test]
    fn oracle_garbage_collection_of_a_driver_with_tasks() {
        let mut app = elephant_sample::app(&[]);
        let driver = &mut elephant_sample::spark(&mut app).driver;
        driver.totals.tasks = 1;
        driver.totals.gc_time = Some(Millis::new(120_000));
        driver.totals.task_time = Some(Millis::new(900_000));
        let found = elephant_sample::evaluate(&app, ID, true);
        assert_eq!((found.findings[0].severity, found.findings[0].score), (Severity::Severe, 3));
    }

    #[test]
    fn without_data_the_rule_is_not_evaluated() {
        let mut app = elephant_sample::app(&[]);
        elephant_sample::executor(&mut app, "1");
        assert_eq!(elephant_sample::severity(&app, ID, false), None);
    }
}
