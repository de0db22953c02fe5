//! `spark-configuration`: settings that waste resources or risk failures (Dr. Elephant
//! `ConfigurationHeuristic`, and `BestPropertiesConventionHeuristic` of 2.0.9).

mod allocation;
mod shuffle;
mod sizes;

use std::sync::Arc;

use super::support::application::spark;
use crate::declare::spark as rule;
use elephant_base::severity::Severity;
use elephant_catalogue::{AdviceParams, Advised, Check, Rule, load_advised};
use elephant_model::model::Application;
use elephant_model::model::conf::ConfKey;
use elephant_model::model::spark::{ClusterManager, Spark};
use elephant_rule::finding::{Advice, Judgement, Measure, Phrase, Subject, Verdict};
use elephant_rule::params::cutoffs::Ascending;
use elephant_rule::params::quantity::{Count, Quantity, Ratio, Size};
use elephant_rule::params::{choice, rule_params};

choice! {
    /// The cores of executors if `spark.executor.cores` is not set.
    pub(super) enum UnsetCores {
        /// Those that executors announce.
        Announced = "announced",
        /// One, as Dr. Elephant 2.0.9 assumes.
        One = "one",
        /// Zero, as Dr. Elephant assumes since then.
        Zero = "zero",
    }
}

rule_params! {
    /// Parameters of `spark-configuration`.
    pub(super) struct Settings / SettingsLayer {
        /// Severity if no serializer is set, so Java's is used.
        unset_serializer: Severity,
        /// Severity if a serializer other than Kryo is set.
        other_serializer: Severity,
        /// The serializer is judged only if RDDs shuffle this much. SQL and DataFrames do not use it.
        serializer_shuffle: Quantity<Size>,
        /// Severity if a shuffle manager other than "sort" is set. Remote shuffle services bring their
        /// own.
        other_shuffle_manager: Severity,
        /// Severity if dynamic allocation is on and shuffle files are lost with removed executors.
        lost_shuffle_files: Severity,
        /// Severity if there is neither dynamic allocation nor a shuffle service.
        no_shuffle_service: Severity,
        /// Whether shuffle tracking, decommissioning and shuffle plugins count like a shuffle service.
        tracking_helps: bool,
        /// Heap per executor.
        executor_memory: Ascending<Size>,
        /// Cores per executor.
        executor_cores: Ascending<Count>,
        /// The cores of executors if spark.executor.cores is not set: those that executors announce, or a
        /// number that Dr. Elephant assumes.
        unset_cores: UnsetCores,
        /// Memory overhead per executor, if it is set.
        overhead: Ascending<Size>,
        /// Memory overhead / heap.
        overhead_ratio: Ascending<Ratio>,
        /// Minimum number of executors under dynamic allocation.
        min_executors: Ascending<Count>,
        /// Average share of these executors that were idle.
        idle_ratio: Ascending<Ratio>,
        /// Maximum number of executors under dynamic allocation.
        max_executors: Ascending<Count>,
        /// Whether spark.executor.instances is judged by max_executors, too.
        judge_instances: bool,
        /// Whether limits of dynamic allocation are judged although it is off.
        judge_inactive: bool,
        /// Severity of an asterisk in spark.yarn.secondary.jars.
        star_in_jars: Severity,
        /// Whether heap, cores and overhead of the driver are judged. spark-driver-metrics judges them by
        /// actual use.
        judge_driver: bool,
        /// Heap of the driver.
        driver_memory: Ascending<Size>,
        /// Cores of the driver.
        driver_cores: Ascending<Count>,
        /// Advice on large heaps halves them, or goes down to this: up to this size, garbage collection works well
        /// and references are short.
        good_heap: Quantity<Size>,
        /// Advice on many cores halves them, or goes down to this: up to this many tasks share a JVM and its
        /// connections to the storage well.
        good_cores: Quantity<Count>,
    }
}

pub(super) const RULE: Rule = rule!(
    DrElephant { version: "2.0.9" },
    "spark-configuration",
    "Spark Configuration", tells Settings,
    Settings,
    |layers, advice| load_advised(layers, advice, Configuration)
);

/// The message if no setting needs a change.
const NO_ISSUE: &str = "no setting needs a change";

/// The message of a finding. Each issue has a template next to the code that finds it.
const ISSUES: &str = "{issues}";

/// A setting in messages about issues.
const SET: &str = "{name} is {value}";

/// The same if the application does not set it.
const UNSET: &str = "{name} is not set";

/// An issue with the value of a setting.
const LIMITED: &str = "{setting} ({limit})";

struct Configuration(Settings, Arc<AdviceParams>);

/// A setting worth reporting.
struct Issue {
    severity: Severity,
    message: Phrase,
    /// The change to make; `None` if the advice on another setting includes it.
    advice: Option<Advice>,
}

impl Check for Configuration {
    fn check(&self, app: &Application) -> Verdict {
        let app = &Advised { app, advice: &self.1 };
        let Some(spark) = spark(app) else { return Verdict::NotApplicable };
        if app.conf.is_empty() {
            return Verdict::NotEvaluated("the event log has no configuration".to_owned());
        }
        let mut issues = self.issues(app, spark);
        issues.retain(|issue| issue.severity > Severity::None);
        // The sort is stable: equally bad settings stay in the order of the page.
        issues.sort_by_key(|issue| std::cmp::Reverse(issue.severity));
        let template = if issues.is_empty() { NO_ISSUE } else { ISSUES };
        let messages = Phrase::list("; ", issues.iter().map(|issue| issue.message.clone()));
        Judgement::of(Subject::Application, issues.first().map_or(Severity::None, |issue| issue.severity))
            .tasks(spark.executors.len() as u64)
            .facts(evidence(app))
            .message(template, &[("issues", &messages)])
            .advice(|| issues.iter().filter_map(|issue| issue.advice.clone()).collect())
            .into()
    }
}

impl Configuration {
    fn issues(&self, app: &Advised<'_>, spark: &Spark) -> Vec<Issue> {
        let params = &self.0;
        let mut issues = Vec::new();
        issues.extend(shuffle::serializer(params, app, spark));
        issues.extend(shuffle::manager(params, app));
        // Local mode has no executors, whatever the settings say.
        if ClusterManager::of_application(app) != Some(ClusterManager::Local) {
            issues.extend(allocation::shuffle_files(params, app));
            issues.extend(sizes::executor(params, app, spark));
            issues.extend(allocation::min_executors(params, app, spark));
            issues.extend(allocation::max_executors(params, app));
        }
        issues.extend(sizes::star_in_jars(params, app));
        if params.judge_driver {
            issues.extend(sizes::driver(params, app));
        }
        issues
    }
}

/// The judged settings that the application sets.
fn evidence(app: &Application) -> Vec<(&'static str, Measure)> {
    let size = |key| app.conf.spark_memory(key).map(Measure::Size);
    let count = |key| whole(app, key).map(Measure::Count);
    let text = |key| app.conf.text(key).map(Measure::Text);
    let all = [
        ("executor_memory_bytes", size(ConfKey::ExecutorMemory)),
        ("executor_overhead_bytes", size(ConfKey::ExecutorMemoryOverhead)),
        ("executor_cores_count", count(ConfKey::ExecutorCores)),
        ("executor_instances_count", count(ConfKey::ExecutorInstances)),
        ("driver_memory_bytes", size(ConfKey::DriverMemory)),
        ("driver_overhead_bytes", size(ConfKey::DriverMemoryOverhead)),
        ("driver_cores_count", count(ConfKey::DriverCores)),
        ("dynamic_allocation_text", text(ConfKey::DynamicAllocation)),
        ("min_executors_count", count(ConfKey::DynamicAllocationMin)),
        ("max_executors_count", count(ConfKey::DynamicAllocationMax)),
        ("shuffle_service_text", text(ConfKey::ShuffleService)),
        ("serializer_text", text(ConfKey::Serializer)),
    ];
    all.into_iter().filter_map(|(key, measure)| Some((key, measure?))).collect()
}

/// A setting that is a count.
fn whole(app: &Application, key: ConfKey) -> Option<u64> {
    app.conf.integer(key).and_then(|count| u64::try_from(count).ok())
}

/// The name and value of a setting as the application wrote them.
fn setting(app: &Application, key: ConfKey) -> Phrase {
    match app.conf.find(key) {
        Some((name, value)) => Phrase::new(SET, &[("name", &name), ("value", &value)]),
        None => Phrase::new(UNSET, &[("name", &key.name())]),
    }
}
