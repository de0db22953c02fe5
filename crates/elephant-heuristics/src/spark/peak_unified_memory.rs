//! `spark-peak-unified-memory`: execution and storage use little of their memory (Dr. Elephant
//! `UnifiedMemoryHeuristic`).

use super::support::application::spark;
use super::support::jvms::doubt_of_heaps;
use super::support::memory::{self, Setting};
use crate::declare::spark as rule;
use elephant_base::severity::Severity;
use elephant_base::units::{Bytes, Millis};
use elephant_catalogue::{Check, Rule, load};
use elephant_model::model::Application;
use elephant_model::model::conf::ConfKey;
use elephant_model::model::conf::defaults::MEMORY_FRACTION;
use elephant_model::model::counters::{Counter, CounterMask};
use elephant_model::model::spark::{Executor, Facet, Spark};
use elephant_model::model::table::TaskKind;
use elephant_rule::finding::{Advice, Judgement, Measure, Subject, Verdict, Worse};
use elephant_rule::params::cutoffs::{Ascending, Descending};
use elephant_rule::params::quantity::{Duration, Quantity, Ratio, Size};
use elephant_rule::params::{choice, rule_params};
use elephant_rule::wording::{change, decisive, limit, percent};

choice! {
    /// The executor whose memory a peak is compared with.
    pub(super) enum ComparedWith {
        /// The executor with the peak.
        Own = "own",
        /// The first executor.
        FirstExecutor = "first-executor",
    }
}

rule_params! {
    /// Parameters of `spark-peak-unified-memory`.
    pub(super) struct Unified / UnifiedLayer {
        /// Peak execution and storage memory / the memory that an executor has for them.
        peak_share: Descending<Ratio>,
        /// The executor whose memory a peak is compared with: own, or first-executor as in Dr. Elephant.
        compared_with: ComparedWith,
        /// Whether the largest "Peak Execution Memory" of a task counts as a peak, too.
        task_peaks: bool,
        /// Executors with at most this much memory for execution and storage are small enough.
        above_memory: Quantity<Size>,
        /// Executors with at most this heap are small enough.
        above_heap: Quantity<Size>,
        /// Applications with at most this spark.memory.fraction are not judged.
        above_fraction: Quantity<Ratio>,
        /// Sum of the lifetimes of all executors. Memory that is held for minutes costs little.
        executor_time: Ascending<Duration>,
        /// Highest severity in local mode, where the heap is that of the driver on the submitting machine.
        local_at_most: Severity,
        /// A smaller heap is worth a change if it is smaller by this share.
        heap_gain: Quantity<Ratio>,
        /// Highest severity if no heap so much smaller would be enough, and no more tasks fit into the present one.
        needed_at_most: Severity,
    }
}

pub(super) const RULE: Rule = rule!(
    DrElephant { version: "customSHSWork" },
    "spark-peak-unified-memory",
    "Spark Peak Unified Memory", tells MuchMemory,
    Unified,
    |layers, _| load(layers, Unused)
)
.measured_by("peak_ratio", Worse::Lower);

/// The message of a finding.
const MESSAGE: &str = "execution and storage used at most {peak_bytes} of the {total_bytes} available per \
    executor, {peak_ratio:%}{held} ({limit})";

struct Unused(Unified);

impl Check for Unused {
    fn check(&self, app: &Application) -> Verdict {
        let Self(params) = self;
        let Some(spark) = spark(app) else { return Verdict::NotApplicable };
        let Some(facts) = Facts::of(app, spark, params) else {
            return Verdict::NotEvaluated(memory::NO_PEAKS.to_owned());
        };
        if facts.held.is_none() && params.executor_time.values().is_some() {
            return Verdict::NotEvaluated(
                "the event log does not contain the lifetime of executors".to_owned(),
            );
        }
        let low = Severity::Low;
        let held = facts.held.map_or(f64::NAN, Millis::as_f64);
        let peak_share = params.peak_share;
        let conditions = [
            ("above_memory", above(facts.total, params.above_memory), at_most(params.above_memory)),
            ("above_heap", above(facts.heap, params.above_heap), at_most(params.above_heap)),
            (
                "above_fraction",
                if facts.fraction > params.above_fraction.get() {
                    Severity::Critical
                } else {
                    Severity::None
                },
                format!("spark.memory.fraction is at most {}", params.above_fraction),
            ),
            ("peak_share", peak_share.severity(facts.share()), peak_share.describe_in(low, percent)),
            ("executor_time", params.executor_time.severity(held), params.executor_time.describe(low)),
        ];
        let most = if memory::is_local(app, spark) { params.local_at_most } else { Severity::Critical };
        let gain = params.heap_gain.get();
        let is_needed = memory::is_needed(app, spark, facts.heap, gain);
        let most = if is_needed { most.min(params.needed_at_most) } else { most };
        let severity =
            conditions.iter().map(|(_, severity, _)| *severity).min().unwrap_or_default().min(most);
        let passed = decisive(
            severity,
            &[
                (peak_share.severity(facts.share()), peak_share.describe_in(severity, percent)),
                (params.executor_time.severity(held), params.executor_time.describe(severity)),
            ],
        );
        Judgement::of(Subject::Application, severity)
            .tasks(spark.workers().count() as u64)
            .facts(facts.evidence())
            .message(
                MESSAGE,
                &[("held", &memory::held(facts.held)), ("limit", &limit(severity, passed, &conditions))],
            )
            .advice(|| facts.advice(app, spark, gain))
            .into()
    }

    fn needs_all(&self) -> bool {
        true
    }

    fn doubt(&self, app: &Application) -> Option<String> {
        doubt_of_heaps(app)
    }

    fn rests_on(&self) -> &'static [Facet] {
        &[Facet::Tasks, Facet::ExecutorMetrics]
    }

    fn reads(&self, _kind: TaskKind) -> CounterMask {
        CounterMask::of(&[Counter::PeakExecutionMemory])
    }
}

/// Critical if the value exceeds `floor`, so that the condition does not limit the severity.
fn above(value: Bytes, floor: Quantity<Size>) -> Severity {
    if value.as_f64() > floor.get() { Severity::Critical } else { Severity::None }
}

fn at_most(floor: Quantity<Size>) -> String {
    format!("at most {floor}")
}

/// The measurements.
struct Facts {
    executors: u64,
    peak: Bytes,
    mean_peak: Bytes,
    /// The memory of the compared executor.
    total: Bytes,
    heap: Bytes,
    fraction: f64,
    held: Option<Millis>,
}

impl Facts {
    fn of(app: &Application, spark: &Spark, params: &Unified) -> Option<Self> {
        let first = spark.workers().find_map(|worker| worker.storage.total);
        let measured: Vec<(&Executor, Bytes, Bytes)> = spark
            .workers()
            .filter_map(|worker| {
                let total = match params.compared_with {
                    ComparedWith::Own => worker.storage.total,
                    ComparedWith::FirstExecutor => first,
                };
                Some((worker, peak(worker)?, total.filter(|total| total.get() > 0)?))
            })
            .collect();
        let share = |(_, peak, total): &(&Executor, Bytes, Bytes)| peak.as_f64() / total.as_f64();
        let &(worker, peak, total) = measured.iter().max_by(|a, b| share(a).total_cmp(&share(b)))?;
        let sum: Bytes = measured.iter().map(|(_, peak, _)| *peak).sum();
        let task_peak = if params.task_peaks { memory::largest_task_peak(app) } else { None };
        let fraction = app.conf.fraction(ConfKey::MemoryFraction).unwrap_or(MEMORY_FRACTION);
        Some(Self {
            executors: measured.len() as u64,
            peak: peak.max(task_peak.unwrap_or_default()),
            mean_peak: Bytes::new(sum.get() / measured.len() as u64),
            total,
            heap: memory::heap_of(app, spark, worker),
            fraction,
            held: memory::lives(app, spark),
        })
    }

    fn share(&self) -> f64 {
        (self.peak.as_f64() / self.total.as_f64()).min(1.0)
    }

    fn evidence(&self) -> Vec<(&'static str, Measure)> {
        let mut evidence = vec![
            ("measured_executors_count", Measure::Count(self.executors)),
            ("peak_bytes", Measure::Size(self.peak)),
            ("mean_peak_bytes", Measure::Size(self.mean_peak)),
            ("total_bytes", Measure::Size(self.total)),
            ("peak_ratio", Measure::Ratio(Some(self.share()))),
            ("heap_bytes", Measure::Size(self.heap)),
        ];
        evidence.extend(self.held.map(|held| ("executor_time_ms", Measure::Time(held))));
        evidence
    }

    /// Advice: a heap that fits, a smaller share for Spark, more tasks per heap.
    fn advice(&self, app: &Application, spark: &Spark, gain: f64) -> Vec<Advice> {
        let key = memory::heap_key(app, spark);
        let mut advice = Vec::new();
        if let Some(smaller) = memory::smaller_heap(app, spark, self.heap, gain) {
            let line = change(app, key, Setting(smaller));
            advice.push(Advice::new("use smaller executors, sized by their peaks").set([line]));
        }
        if self.fraction > MEMORY_FRACTION {
            let line = change(app, ConfKey::MemoryFraction, MEMORY_FRACTION);
            advice.push(Advice::new("give user code more of the heap").set([line]));
        }
        // More cores would share the present heap, so they are advised only if the heap does not shrink.
        let cores = spark.workers().filter_map(|worker| worker.cores).max();
        let fits = || memory::twice_the_tasks_fit(app, spark);
        if let Some(cores) = cores.filter(|_| advice.is_empty() && key == ConfKey::ExecutorMemory && fits()) {
            let line = change(app, ConfKey::ExecutorCores, cores.saturating_mul(2));
            advice.push(Advice::new("run more tasks with the same memory").set([line]));
        }
        if advice.is_empty() {
            advice.push(memory::why_needed(app, spark).into());
        }
        advice
    }
}

/// The highest execution and storage memory of a worker; `None` if it was not polled.
fn peak(worker: &Executor) -> Option<Bytes> {
    let unified = worker.peaks.unified()?;
    (unified.get() > 0 || worker.peaks.heap().is_some()).then_some(unified)
}

#[cfg(test)]
mod tests {
    use super::*;
    use elephant_base::units::Timestamp;
    use elephant_model::model::spark::ExecutorMetric;
    use elephant_model::model::table::Outcome;

    const ID: &str = RULE.id;

    /// Executors of 10 GiB that live for an hour, each with its peak and its limit in MiB.
    fn app(executors: &[(i64, u64)]) -> Application {
        let mut app =
            elephant_sample::app(&[("spark.executor.memory", "10g"), ("spark.executor.cores", "4")]);
        for (id, (peak, total)) in executors.iter().enumerate() {
            let executor = elephant_sample::executor(&mut app, &id.to_string());
            executor.storage.total = Some(Bytes::from_mib(*total));
            elephant_sample::peaks(
                executor,
                &[
                    (ExecutorMetric::JvmHeapMemory, 1 << 30),
                    (ExecutorMetric::OnHeapUnifiedMemory, peak << 20),
                    (ExecutorMetric::OffHeapUnifiedMemory, 0),
                ],
            );
        }
        app.finished_at = Some(Timestamp::from_millis(3_600_000 * 20));
        app
    }

    #[test]
    fn unused_memory_is_found() {
        let severity = |peak| elephant_sample::severity(&app(&[(1, 5000), (peak, 5000)]), ID, false);
        assert_eq!(severity(3600), Some(Severity::None));
        assert_eq!(severity(3400), Some(Severity::Low));
        assert_eq!(severity(1900), Some(Severity::Severe));
        assert_eq!(severity(900), Some(Severity::Critical));
    }

    #[test]
    fn small_and_short_executors_are_harmless() {
        let mut short = app(&[(1, 5000)]);
        short.finished_at = Some(Timestamp::from_millis(60_000));
        assert_eq!(elephant_sample::severity(&short, ID, false), Some(Severity::None));
        assert_eq!(elephant_sample::severity(&short, ID, true), Some(Severity::Critical));
        assert_eq!(elephant_sample::severity(&app(&[(1, 256)]), ID, true), Some(Severity::None));
        assert_eq!(elephant_sample::severity(&app(&[(1, 257)]), ID, true), Some(Severity::Critical));
    }

    #[test]
    fn each_executor_is_compared_with_its_own_memory() {
        let app = app(&[(10, 5000), (400, 500)]);
        assert_eq!(elephant_sample::severity(&app, ID, false), Some(Severity::None));
        assert_eq!(elephant_sample::severity(&app, ID, true), Some(Severity::Critical));
    }

    #[test]
    fn peaks_of_tasks_count() {
        let mut app = app(&[(10, 5000)]);
        elephant_sample::stage(&mut app, 0, &[(Outcome::Succeeded, 10)]);
        elephant_sample::count(&mut app, Counter::PeakExecutionMemory, 4 << 30);
        assert_eq!(elephant_sample::severity(&app, ID, false), Some(Severity::None));
        assert_eq!(elephant_sample::severity(&app, ID, true), Some(Severity::Critical));
    }

    #[test]
    fn without_peaks_the_rule_names_the_setting_to_enable() {
        let mut app = elephant_sample::app(&[]);
        let executor = elephant_sample::executor(&mut app, "1");
        elephant_sample::peaks(executor, &[(ExecutorMetric::OnHeapUnifiedMemory, 0)]);
        let reasons = elephant_sample::evaluate(&app, ID, false).not_evaluated;
        assert!(reasons[0].reason.contains("spark.eventLog.logStageExecutorMetrics=true"));
    }
}
