//! `spark-configuration`: settings that waste or endanger (Dr. Elephant `ConfigurationHeuristic`, and
//! `BestPropertiesConventionHeuristic` of 2.0.9).

mod allocation;
mod shuffle;
mod sizes;

use super::{rule, spark};
use crate::finding::{Judgement, Measure, Subject, Verdict};
use crate::heuristics::{Check, Rule, load};
use crate::model::Application;
use crate::model::conf::ConfKey;
use crate::model::spark::{ClusterManager, Spark};
use crate::params::cutoffs::Ascending;
use crate::params::quantity::{Count, Quantity, Ratio, Size};
use crate::params::rule_params;
use crate::severity::Severity;

rule_params! {
    /// Parameters of `spark-configuration`.
    pub(super) struct Settings / SettingsLayer {
        /// No serializer is set, so Java's is used.
        unset_serializer: Severity,
        /// A serializer other than Kryo is set.
        other_serializer: Severity,
        /// Less shuffle data of RDDs than this is no reason to think about serializers.
        serializer_shuffle: Quantity<Size>,
        /// A shuffle manager other than `sort` is set.
        other_shuffle_manager: Severity,
        /// Executors come and go, and nothing keeps their shuffle files.
        lost_shuffle_files: Severity,
        /// There is no shuffle service, and no dynamic allocation either.
        no_shuffle_service: Severity,
        /// Whether Spark's other ways to keep shuffle files do as well as a shuffle service.
        tracking_helps: bool,
        /// Heap of an executor.
        executor_memory: Ascending<Size>,
        /// Cores of an executor.
        executor_cores: Ascending<Count>,
        /// Memory of a container beyond its heap, where it is set.
        overhead: Ascending<Size>,
        /// The same over the heap.
        overhead_ratio: Ascending<Ratio>,
        /// Executors that dynamic allocation keeps whatever the load.
        min_executors: Ascending<Count>,
        /// The share of them that had nothing to do, on average.
        idle_ratio: Ascending<Ratio>,
        /// Executors that dynamic allocation may start.
        max_executors: Ascending<Count>,
        /// Whether a fixed number of executors is judged by the same list.
        judge_instances: bool,
        /// An asterisk in the list of secondary jars, which Spark 1 does not expand.
        star_in_jars: Severity,
        /// Whether the driver's sizes are judged.
        judge_driver: bool,
        /// Heap of the driver.
        driver_memory: Ascending<Size>,
        /// Cores of the driver.
        driver_cores: Ascending<Count>,
    }
}

pub(super) const RULE: Rule = rule!(
    DrElephant { version: "2.0.9" },
    "spark-configuration",
    "Spark Configuration",
    Settings,
    |layers| load(layers, Configuration)
);

/// What the judgement says where no setting stands out.
const NO_ISSUE: &str = "no setting stands out";

struct Configuration(Settings);

/// A setting that stands out.
struct Issue {
    severity: Severity,
    text: String,
    /// What to set; `None` where another setting's advice says it.
    advice: Option<String>,
}

impl Check for Configuration {
    fn check(&self, app: &Application) -> Verdict {
        let Some(spark) = spark(app) else { return Verdict::NotApplicable };
        if app.conf.is_empty() {
            return Verdict::NotEvaluated("the log has no configuration".to_owned());
        }
        let mut issues = self.issues(app, spark);
        issues.retain(|issue| issue.severity > Severity::None);
        // Stable: of equally bad settings the first in the order of the page comes first.
        issues.sort_by_key(|issue| std::cmp::Reverse(issue.severity));
        let texts: Vec<&str> = issues.iter().map(|issue| issue.text.as_str()).collect();
        Judgement::of(Subject::Application, issues.first().map_or(Severity::None, |issue| issue.severity))
            .tasks(spark.executors.len() as u64)
            .facts(evidence(app))
            .worded(if texts.is_empty() { NO_ISSUE.to_owned() } else { texts.join("; ") })
            .advice(|| issues.iter().filter_map(|issue| issue.advice.clone()).collect())
            .into()
    }
}

impl Configuration {
    fn issues(&self, app: &Application, spark: &Spark) -> Vec<Issue> {
        let params = &self.0;
        let mut issues = Vec::new();
        issues.extend(shuffle::serializer(params, app, spark));
        issues.extend(shuffle::manager(params, app));
        // In local mode there are no executors, whatever their settings say.
        if ClusterManager::of(&app.conf) != Some(ClusterManager::Local) {
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

/// The settings that are judged, where the application sets them.
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

/// A setting that counts things.
fn whole(app: &Application, key: ConfKey) -> Option<u64> {
    app.conf.integer(key).and_then(|count| u64::try_from(count).ok())
}

/// The setting's value as the application wrote it, after its name.
fn setting(app: &Application, key: ConfKey) -> String {
    match app.conf.find(key) {
        Some((name, value)) => format!("{name} is {value}"),
        None => format!("{} is not set", key.name()),
    }
}
