//! `spark-jvm-used-memory`: executors have far more heap than they use (Dr. Elephant
//! `JvmUsedMemoryHeuristic`).

use super::support::application::spark;
use super::support::beyond_heap::overhead_to_keep;
use super::support::jvms::doubt_of_heaps;
use super::support::memory::{self, Setting};
use crate::declare::spark as rule;
use elephant_base::severity::Severity;
use elephant_base::units::{Bytes, Millis};
use elephant_catalogue::{Check, Remedy, Rule, load};
use elephant_model::engine_facts::spark::RESERVED_MEMORY;
use elephant_model::model::Application;
use elephant_model::model::spark::{Facet, Spark};
use elephant_rule::finding::{Advice, Container, Judgement, Measure, Subject, Verdict, Worse};
use elephant_rule::params::cutoffs::Ascending;
use elephant_rule::params::quantity::{Duration, Quantity, Ratio, Size};
use elephant_rule::params::rule_params;
use elephant_rule::wording::{change, decisive, limit};

rule_params! {
    /// Parameters of `spark-jvm-used-memory`.
    pub(super) struct JvmUsed / JvmUsedLayer {
        /// Heap size / (peak heap use + the 300 MiB that Spark reserves).
        heap_ratio: Ascending<Ratio>,
        /// Heaps up to this size are small enough.
        above_heap: Quantity<Size>,
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
    "spark-jvm-used-memory",
    "Spark JVM Used Memory", tells MuchMemory,
    JvmUsed,
    |layers, _| load(layers, TooLarge)
)
.measured_by("heap_ratio", Worse::Higher)
.sizing(Container::Executor);

/// The message of a finding.
const MESSAGE: &str = "executors have {heap_bytes} of heap but use at most {peak_used_bytes}, so the heap is \
    {heap_ratio}× what they use and Spark reserves{held} ({limit})";

/// The same in local mode.
const OF_DRIVER: &str = "the driver, which runs the tasks, has {heap_bytes} of heap but uses at most {peak_used_bytes}, so \
    the heap is {heap_ratio}× what it uses and Spark reserves ({limit})";

/// The same by GC logs.
const BY_LOGS: &str = "executors have {heap_bytes} of heap, of which full collections leave {floor_bytes} in use by their GC \
    logs, so the heap is {heap_ratio}× what they need and Spark reserves{held} ({limit})";

/// Advice on a heap whose need GC logs tell.
const MEASURED: &str =
    "set a heap that fits what full collections left in use, as the GC logs of all executors measured it";

struct TooLarge(JvmUsed);

impl Check for TooLarge {
    fn check(&self, app: &Application) -> Verdict {
        let Self(params) = self;
        let Some(spark) = spark(app) else { return Verdict::NotApplicable };
        let Some(facts) = Facts::of(app, spark) else {
            return Verdict::NotEvaluated(memory::NO_PEAKS.to_owned());
        };
        if facts.held.is_none() && params.executor_time.values().is_some() {
            return Verdict::NotEvaluated(
                "the event log does not contain the lifetime of executors".to_owned(),
            );
        }
        let ratio = facts.ratio();
        let low = Severity::Low;
        let held = facts.held.map_or(f64::NAN, Millis::as_f64);
        let large = facts.heap.as_f64() > params.above_heap.get();
        let conditions = [
            (
                "above_heap",
                if large { Severity::Critical } else { Severity::None },
                format!("at most {}", params.above_heap),
            ),
            ("heap_ratio", params.heap_ratio.severity(ratio), params.heap_ratio.describe_multiple(low)),
            ("executor_time", params.executor_time.severity(held), params.executor_time.describe(low)),
        ];
        let most = if memory::is_local(app, spark) { params.local_at_most } else { Severity::Critical };
        let is_needed = memory::is_needed(app, spark, facts.heap, params.heap_gain.get());
        let most = if is_needed { most.min(params.needed_at_most) } else { most };
        let severity =
            conditions.iter().map(|(_, severity, _)| *severity).min().unwrap_or_default().min(most);
        let passed = decisive(
            severity,
            &[
                (params.heap_ratio.severity(ratio), params.heap_ratio.describe_multiple(severity)),
                (params.executor_time.severity(held), params.executor_time.describe(severity)),
            ],
        );
        Judgement::of(Subject::Application, severity)
            .tasks(spark.workers().count() as u64)
            .facts(facts.evidence())
            .message(
                match facts.floor {
                    Some(_) => BY_LOGS,
                    None if memory::is_local(app, spark) => OF_DRIVER,
                    None => MESSAGE,
                },
                &[("held", &memory::held(facts.held)), ("limit", &limit(severity, passed, &conditions))],
            )
            .advice(|| params.remedy(app, spark, facts.heap).lines())
            .into()
    }

    fn remedy(&self, app: &Application) -> Option<Remedy> {
        let spark = spark(app)?;
        Some(self.0.remedy(app, spark, memory::heap(app, memory::heap_key(app, spark))))
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
}

impl JvmUsed {
    fn remedy(&self, app: &Application, spark: &Spark, now: Bytes) -> Remedy {
        let key = memory::heap_key(app, spark);
        match memory::smaller_heap(app, spark, now, self.heap_gain.get()) {
            Some(fits) => {
                let heap = change(app, key, Setting(fits));
                let overhead = overhead_to_keep(app, spark, fits).map(|line| line.for_other(&heap));
                let text =
                    if memory::heap_floor(app, spark).is_some() { MEASURED } else { "set a heap that fits" };
                let line = Advice::new(text).set([heap]);
                Remedy::Change(std::iter::once(line).chain(overhead).collect())
            }
            None if memory::twice_the_tasks_fit(app, spark) => {
                Remedy::NoSetting("use the heap better: run more tasks per executor".to_owned())
            }
            None => Remedy::NoSetting(memory::why_needed(app, spark).to_owned()),
        }
    }
}

/// The measurements.
struct Facts {
    executors: u64,
    /// The heap of the executor with the highest use, and that use.
    heap: Bytes,
    used: Bytes,
    /// What full collections left in use, if the GC logs of all executors tell; then `used` is what that needs.
    floor: Option<Bytes>,
    held: Option<Millis>,
}

impl Facts {
    fn of(app: &Application, spark: &Spark) -> Option<Self> {
        if let Some(floor) = memory::heap_floor(app, spark) {
            return Some(Self {
                executors: spark.workers().count() as u64,
                heap: memory::heap(app, memory::heap_key(app, spark)),
                used: Bytes::from_f64(floor.as_f64() * memory::ROOM_ABOVE_FLOOR).unwrap_or(floor),
                floor: Some(floor),
                held: memory::lives(app, spark),
            });
        }
        let measured: Vec<(Bytes, Bytes)> = spark
            .workers()
            .filter_map(|worker| Some((memory::heap_of(app, spark, worker), worker.peaks.heap()?)))
            .collect();
        let &(heap, used) = measured.iter().min_by(|a, b| excess(**a).total_cmp(&excess(**b)))?;
        Some(Self {
            executors: measured.len() as u64,
            heap,
            used,
            floor: None,
            held: memory::lives(app, spark),
        })
    }

    fn ratio(&self) -> f64 {
        excess((self.heap, self.used))
    }

    fn evidence(&self) -> Vec<(&'static str, Measure)> {
        let mut evidence = vec![
            ("measured_executors_count", Measure::Count(self.executors)),
            ("heap_bytes", Measure::Size(self.heap)),
            match self.floor {
                Some(floor) => ("floor_bytes", Measure::Size(floor)),
                None => ("peak_used_bytes", Measure::Size(self.used)),
            },
            ("heap_ratio", Measure::Ratio(Some(self.ratio()))),
        ];
        evidence.extend(self.held.map(|held| ("executor_time_ms", Measure::Time(held))));
        evidence
    }
}

fn excess((heap, used): (Bytes, Bytes)) -> f64 {
    heap.as_f64() / (used + RESERVED_MEMORY).as_f64()
}

#[cfg(test)]
mod tests {
    use super::*;
    use elephant_base::units::Timestamp;
    use elephant_model::model::spark::ExecutorMetric::JvmHeapMemory;
    use elephant_model::model::table::{EndReason, Outcome};

    const ID: &str = RULE.id;

    /// Two executors with this heap that live for an hour; the second uses `used` MiB of it.
    fn app(heap: &str, used: i64) -> Application {
        let mut app = elephant_sample::app(&[("spark.executor.memory", heap)]);
        elephant_sample::peaks(elephant_sample::executor(&mut app, "1"), &[(JvmHeapMemory, 1)]);
        elephant_sample::peaks(elephant_sample::executor(&mut app, "2"), &[(JvmHeapMemory, used << 20)]);
        app.finished_at = Some(Timestamp::from_millis(3_600_000 * 10));
        app
    }

    #[test]
    fn the_executor_that_uses_most_counts() {
        let severity = |used| elephant_sample::severity(&app("4g", used), ID, false);
        assert_eq!(severity(3700), Some(Severity::None));
        assert_eq!(severity(2650), Some(Severity::None), "a heap that fits is hardly smaller");
        assert_eq!(severity(2300), Some(Severity::Moderate));
        assert_eq!(severity(1700), Some(Severity::Severe));
        assert_eq!(severity(1000), Some(Severity::Critical));
    }

    /// 2900 MiB with room need all 4 GiB.
    #[test]
    fn a_heap_that_is_needed_is_not_too_large() {
        assert_eq!(elephant_sample::severity(&app("4g", 2900), ID, false), Some(Severity::None));
        assert_eq!(elephant_sample::severity(&app("4g", 2900), ID, true), Some(Severity::Low));
    }

    /// 2300 MiB with room need 3328 MiB of 4 GiB, 18.75 % less.
    #[test]
    fn a_slightly_smaller_heap_is_no_remedy() {
        let found = |parameters| {
            let found = elephant_sample::evaluate_with(&app("4g", 2300), ID, parameters).findings;
            found.into_iter().next().map(|finding| (finding.severity, finding.advice)).unwrap()
        };
        assert_eq!(found("heap_gain: 20%"), (Severity::None, Vec::new()));
        let (severity, advice) = found("");
        assert_eq!(severity, Severity::Moderate);
        assert_eq!(advice, ["set a heap that fits: --conf spark.executor.memory=3328m (now 4g)"]);
    }

    /// The peaks of lost executors are not in the log.
    #[test]
    fn a_heap_is_not_too_large_where_memory_was_short() {
        let severity = |reason: &str| {
            let mut app = app("4g", 1000);
            let lost = elephant_sample::executor(&mut app, "3");
            lost.removed_at = Some(Timestamp::from_millis(3_600_000));
            lost.removed_reason = Some(reason.to_owned());
            elephant_sample::severity(&app, ID, false)
        };
        assert_eq!(severity("Command exited with code 1"), Some(Severity::Critical));
        for reason in [
            "Container from a bad node. Exit status: 137",
            "The executor with id 3 exited with exit code 137(SIGKILL, possible container OOM).",
            "Container killed by YARN for exceeding memory limits. 5.5 GB of 5.5 GB physical memory used",
            "Command exited with code 52",
        ] {
            assert_eq!(severity(reason), Some(Severity::None), "{reason}");
        }
        let mut app = app("4g", 1000);
        elephant_sample::stage(&mut app, 0, &[(Outcome::Succeeded, 10), (Outcome::Failed, 10)]);
        assert_eq!(elephant_sample::severity(&app, ID, false), Some(Severity::Critical));
        app.groups[0].attempts.set_end_reason(1, Some(EndReason::OutOfMemory));
        assert_eq!(elephant_sample::severity(&app, ID, false), Some(Severity::None));
        let found = elephant_sample::evaluate(&app, ID, true).findings;
        assert!(found[0].advice[0].starts_with("keep the heap: executors ran out of memory"), "{found:?}");
    }

    #[test]
    fn small_heaps_and_short_lives_are_harmless() {
        assert_eq!(elephant_sample::severity(&app("2g", 1), ID, true), Some(Severity::None));
        let mut short = app("4g", 1);
        short.finished_at = Some(Timestamp::from_millis(10_000));
        assert_eq!(elephant_sample::severity(&short, ID, false), Some(Severity::None));
        assert_eq!(elephant_sample::severity(&short, ID, true), Some(Severity::Critical));
    }

    #[test]
    fn advice_keeps_the_reserved_memory_and_a_quarter() {
        let found = elephant_sample::evaluate(&app("10g", 700), ID, false);
        let advice = &found.findings[0].advice;
        assert_eq!(advice, &["set a heap that fits: --conf spark.executor.memory=1280m (now 10g)"]);
    }

    /// 600 MiB with room need 1200 MiB; the peak of 3700 MiB is mostly garbage.
    #[test]
    fn full_collections_win_over_peaks() {
        use elephant_model::model::ProcessGcLog;
        use elephant_model::model::gc_log::{Process, parse};
        let mut app = app("4g", 3700);
        let log = |executor: &str, used: u64| {
            let text =
                format!("[60.0s][info][gc] GC(9) Pause Full (System.gc()) 3700M->{used}M(4096M) 50.0ms\n");
            let log = parse(text.as_bytes()).unwrap();
            ProcessGcLog { process: Process::Executor(executor.to_owned()), log, source: String::new() }
        };
        app.gc_logs.push(log("1", 10));
        assert_eq!(
            elephant_sample::severity(&app, ID, false),
            Some(Severity::None),
            "one executor has no log"
        );
        app.gc_logs.push(log("2", 600));
        let found = elephant_sample::evaluate(&app, ID, false).findings;
        assert_eq!(found[0].severity, Severity::Critical);
        assert!(found[0].message.contains("full collections leave 600 MiB in use"), "{}", found[0].message);
        assert_eq!(
            found[0].advice,
            [
                "set a heap that fits what full collections left in use, as the GC logs of all executors measured it: \
              --conf spark.executor.memory=1280m (now 4g)"
            ]
        );
    }

    #[test]
    fn without_peaks_the_rule_is_not_evaluated() {
        let mut app = elephant_sample::app(&[]);
        elephant_sample::peaks(elephant_sample::executor(&mut app, "1"), &[(JvmHeapMemory, 0)]);
        assert_eq!(elephant_sample::severity(&app, ID, false), None);
        assert_eq!(elephant_sample::severity(&app, ID, true), None);
    }
}
