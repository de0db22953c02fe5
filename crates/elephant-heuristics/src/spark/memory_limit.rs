//! `spark-memory-limit`: applications that allocate much of the cluster's memory but use little of it (Dr.
//! Elephant `MemoryLimitHeuristic` of 2.0.9).

use std::sync::Arc;

use super::support::application::spark;
use super::support::idle::release_idle;
use super::support::jvms::doubt_of_heaps;
use super::support::memory::{self, Setting};
use crate::declare::spark as rule;
use elephant_analysis::replay::spark::Recorded;
use elephant_base::severity::Severity;
use elephant_base::units::Bytes;
use elephant_catalogue::{AdviceParams, Advised, Check, Rule, Shared, load_advised};
use elephant_model::model::Application;
use elephant_model::model::conf::ConfKey;
use elephant_model::model::spark::{ClusterManager, Executor, Facet, Spark};
use elephant_rule::finding::{Advice, Judgement, Measure, Subject, Verdict, Worse};
use elephant_rule::params::cutoffs::{Ascending, Descending};
use elephant_rule::params::quantity::{Ratio, Size};
use elephant_rule::params::{choice, rule_params};
use elephant_rule::wording::{change, percent};

choice! {
    /// What counts as the memory of all executors.
    pub(super) enum Total {
        /// The containers at the time when most executors were running.
        Held = "held",
        /// The heaps of all requested executors.
        Asked = "asked",
    }
}

choice! {
    /// Which memory counts as used, of the memory for execution and storage.
    pub(super) enum Used {
        /// The peaks of execution and storage memory together.
        Unified = "unified",
        /// The peaks of cached blocks, including those on the driver; 0 if the event log mentions none.
        Blocks = "blocks",
    }
}

rule_params! {
    /// Parameters of `spark-memory-limit`.
    pub(super) struct Limit / LimitLayer {
        /// Total memory of all executors.
        total_memory: Ascending<Size>,
        /// What counts as total memory. held: containers at the time when most executors were running.
        /// asked: spark.executor.instances x heap, as in Dr. Elephant.
        total: Total,
        /// Peak heap use / heap. Memory that is used is not wasted.
        heap_used: Descending<Ratio>,
        /// Memory for execution and storage of all executors. Below this, unused memory does not matter.
        unified_memory: Ascending<Size>,
        /// Peak use / memory for execution and storage.
        unified_used: Descending<Ratio>,
        /// What counts as used. unified: execution and storage. blocks: cached blocks only, as in Dr.
        /// Elephant.
        used: Used,
    }
}

pub(super) const RULE: Rule =
    rule!(DrElephant { version: "2.0.9" }, "spark-memory-limit", "Spark Memory Limit", tells MuchMemory, Limit, |layers, advice| load_advised(
        layers, advice, Memory
    ))
    .measured_by("heap_used_ratio", Worse::Lower);

/// The message if executors have little memory in total, or if their use of it is not judged.
const TOTAL: &str = "{at_once} {total_memory_bytes} of memory in total ({size_limit})";
/// The message if they use little of their heaps.
const UNUSED: &str = "{at_once} {total_memory_bytes} of memory in total and use {heap_used_ratio:%} of their heaps \
                      ({size_limit}, and {use_limit})";
/// The message if they use their heaps.
const USED: &str = "{at_once} {total_memory_bytes} of memory in total and use {heap_used_ratio:%} of their heaps \
                    (not reached: {use_limit})";
/// The message if they use little of the memory for execution and storage.
const UNUSED_UNIFIED: &str = "at most {unified_used_ratio:%} of {unified_memory_bytes} of memory for execution and storage \
                              was used ({use_limit})";
/// The message if cached blocks use little of the memory for storage.
const UNUSED_STORAGE: &str =
    "at most {unified_used_ratio:%} of {unified_memory_bytes} of memory for storage was used ({use_limit})";

struct Memory(Limit, Arc<AdviceParams>);

/// One aspect of the memory.
#[derive(Default)]
struct Aspect {
    severity: Severity,
    /// A template with the limits, for the facts about the memory.
    message: &'static str,
    size_limit: String,
    use_limit: String,
}

/// The measurements; `None` if the event log does not contain the data.
struct Measured {
    total: Option<Bytes>,
    /// The executors that the total belongs to.
    count: Option<u64>,
    heap_used: Option<f64>,
    unified: Option<Bytes>,
    unified_used: Option<f64>,
}

impl Check for Memory {
    fn check(&self, app: &Application) -> Verdict {
        self.check_among(app, &Shared::of(app))
    }

    fn check_among(&self, app: &Application, shared: &Shared<'_>) -> Verdict {
        let app = &Advised { app, advice: &self.1 };
        let Some(spark) = spark(app) else { return Verdict::NotApplicable };
        if ClusterManager::of_application(app) == Some(ClusterManager::Local) {
            return Verdict::NotApplicable;
        }
        let measured = self.measure(app, spark);
        let (total, unified) = match (self.total(&measured), self.unified(&measured)) {
            (Err(reason), Err(_)) => return Verdict::NotEvaluated(reason),
            // If one half is unknown, a finding of the other half counts, but without a finding the rule is not
            // evaluated.
            (Err(reason), Ok(known)) | (Ok(known), Err(reason)) if known.severity == Severity::None => {
                return Verdict::NotEvaluated(reason);
            }
            (total, unified) => (total.unwrap_or_default(), unified.unwrap_or_default()),
        };
        let worst = if unified.severity > total.severity { unified } else { total };
        let executors = spark.executors.len() as u64;
        Judgement::of(Subject::Application, worst.severity)
            .tasks(executors)
            .facts(measured.evidence(executors))
            .message(
                worst.message,
                &[
                    ("at_once", &measured.at_once()),
                    ("size_limit", &worst.size_limit),
                    ("use_limit", &worst.use_limit),
                ],
            )
            .advice(|| advice(app, spark, shared.recorded()))
            .into()
    }

    fn needs_all(&self) -> bool {
        true
    }

    fn doubt(&self, app: &Application) -> Option<String> {
        doubt_of_heaps(app)
    }

    fn rests_on(&self) -> &'static [Facet] {
        &[Facet::Executors, Facet::ExecutorMetrics]
    }
}

impl Memory {
    fn measure(&self, app: &Application, spark: &Spark) -> Measured {
        let heap = memory::executor_heap(app);
        let most = memory::max_executors(&spark.executors);
        let (count, one) = match self.0.total {
            Total::Held => ((most > 0).then_some(most), memory::executor_container(app)),
            Total::Asked => {
                let instances = app.conf.integer(ConfKey::ExecutorInstances);
                (instances.and_then(|count| u64::try_from(count).ok()), heap)
            }
        };
        let total = count.map(|count| times(one, count));
        let peaks: Vec<f64> =
            spark.executors.iter().filter_map(|executor| executor.peaks.heap()).map(Bytes::as_f64).collect();
        let known = !peaks.is_empty() && heap > Bytes::default();
        let heap_used = known.then(|| peaks.iter().sum::<f64>() / (peaks.len() as f64 * heap.as_f64()));
        let (unified, unified_used) = match self.0.used {
            Used::Unified => unified(&spark.executors, most),
            Used::Blocks => blocks(spark),
        };
        Measured { total, count, heap_used, unified, unified_used }
    }

    /// Judges the total memory: it is a finding if it is large and the heaps are hardly used.
    fn total(&self, measured: &Measured) -> Result<Aspect, String> {
        let params = &self.0;
        let total = measured.total.ok_or("the number of executors is unknown")?;
        let size = params.total_memory.severity(total.as_f64());
        let size_limit = params.total_memory.describe(size);
        if size == Severity::None || params.heap_used.values().is_none() {
            return Ok(Aspect { severity: size, message: TOTAL, size_limit, use_limit: String::new() });
        }
        let used = measured.heap_used.ok_or("the event log has no peaks of the executors' heaps")?;
        let allowed = params.heap_used.severity(used);
        Ok(Aspect {
            severity: size.min(allowed),
            message: if allowed == Severity::None { USED } else { UNUSED },
            size_limit,
            use_limit: params.heap_used.describe_in(allowed, percent),
        })
    }

    /// Judges the memory for execution and storage: it is a finding if it is large and hardly used.
    fn unified(&self, measured: &Measured) -> Result<Aspect, String> {
        let params = &self.0;
        let unified = measured.unified.ok_or("no executor reports its memory for execution and storage")?;
        let size = params.unified_memory.severity(unified.as_f64());
        if size == Severity::None {
            return Ok(Aspect::default());
        }
        let used = measured.unified_used.ok_or("the event log does not contain the memory use of Spark")?;
        let severity = size.min(params.unified_used.severity(used));
        Ok(Aspect {
            severity,
            message: match params.used {
                Used::Unified => UNUSED_UNIFIED,
                Used::Blocks => UNUSED_STORAGE,
            },
            size_limit: String::new(),
            use_limit: params.unified_used.describe_in(severity, percent),
        })
    }
}

impl Measured {
    /// "at most 12 executors at a time have".
    fn at_once(&self) -> String {
        match self.count {
            Some(1) => "one executor at a time has".to_owned(),
            Some(count) => format!("at most {count} executors at a time have"),
            None => "executors have".to_owned(),
        }
    }

    fn evidence(&self, executors: u64) -> Vec<(&'static str, Measure)> {
        let mut evidence = vec![("executors_count", Measure::Count(executors))];
        evidence.extend(self.count.map(|count| ("concurrent_executors_count", Measure::Count(count))));
        evidence.extend(self.total.map(|size| ("total_memory_bytes", Measure::Size(size))));
        evidence.extend(self.heap_used.map(|share| ("heap_used_ratio", Measure::Ratio(Some(share)))));
        evidence.extend(self.unified.map(|size| ("unified_memory_bytes", Measure::Size(size))));
        evidence.extend(self.unified_used.map(|share| ("unified_used_ratio", Measure::Ratio(Some(share)))));
        evidence
    }
}

fn times(size: Bytes, count: u64) -> Bytes {
    Bytes::new(size.get().saturating_mul(count))
}

/// The memory for execution and storage of the executors at the time when most were running, and the share that those
/// with a known peak used.
fn unified(executors: &[Executor], most: u64) -> (Option<Bytes>, Option<f64>) {
    let total: Vec<Bytes> = executors.iter().filter_map(|executor| executor.storage.total).collect();
    // An executor whose heap has no peak was never polled, so its other zeros mean nothing.
    let polled = executors.iter().filter(|executor| executor.peaks.heap().is_some());
    let storage = polled.filter_map(|executor| Some((executor.storage.total?, executor.peaks.unified()?)));
    let (of, used) = storage.fold((0.0, 0.0), |(of, used), (t, u)| (of + t.as_f64(), used + u.as_f64()));
    let known = total.len() as u64;
    let all: Bytes = total.into_iter().sum();
    let at_once = all.get().checked_div(known).map(|one| times(Bytes::new(one), known.min(most.max(1))));
    (at_once, (of > 0.0).then(|| used / of))
}

/// The same for cached blocks, including the driver.
fn blocks(spark: &Spark) -> (Option<Bytes>, Option<f64>) {
    let all = || spark.executors.iter().chain([&spark.driver]);
    let total: Bytes = all().filter_map(|executor| executor.storage.total).sum();
    let used: Bytes = all().filter_map(|executor| executor.storage.peak_used).sum();
    let known = total > Bytes::default();
    (known.then_some(total), known.then(|| (used.as_f64() / total.as_f64()).min(1.0)))
}

/// A smaller heap if the peaks are known; release of idle executors.
fn advice(app: &Advised<'_>, spark: &Spark, recorded: Option<&Recorded>) -> Vec<Advice> {
    let heap = memory::executor_heap(app);
    let enough = memory::heap_that_fits(app, spark);
    let mut advice = Vec::new();
    if let Some(enough) = enough.filter(|&enough| enough < heap) {
        let line = change(app, ConfKey::ExecutorMemory, Setting(enough));
        advice.push(Advice::new("size heaps by their peaks").set([line]));
    }
    if app.allocates_dynamically() {
        let most = memory::max_executors(&spark.executors);
        // With fewer executors the application takes longer, so a smaller heap is advised first if the peaks allow one.
        if advice.is_empty() && most > 1 {
            let fewer = change(app, ConfKey::DynamicAllocationMax, most / 2);
            advice.push(Advice::new("run fewer concurrent executors").set([fewer]));
        } else if advice.is_empty() {
            advice.push("request a smaller executor".into());
        }
    } else {
        advice.extend(release_idle(app, recorded));
    }
    advice
}
