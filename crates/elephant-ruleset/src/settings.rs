//! Parameters that do not belong to a rule: how costs are measured, how `check` compares them, the order of reports,
//! and which nodes are called slow. They are the same for all applications.

use elephant_analysis::metrics::{MetricParams, SparkMetricParams};
use elephant_base::severity::Severity;
use elephant_catalogue::AdviceParams;
use elephant_rule::params::quantity::{Count, Duration, MemoryTime, Quantity, Ratio};
use elephant_rule::params::{Key, Params, Positive, choice, rule_params};

choice! {
    /// The order of reports.
    pub enum OrderBy {
        /// What is saved.
        Saving = "saving",
        /// The severity.
        Severity = "severity",
    }
}

rule_params! {
    /// Parameters of the comparison with a baseline.
    pub struct GateParams / GateParamsLayer {
        /// The allowed increase of costs and of key measures, as a share of the accepted value.
        tolerance: Quantity<Ratio>,
        /// Smaller differences of run time do not count.
        run_time_floor: Quantity<Duration>,
        /// Smaller differences of memory used or wasted do not count.
        memory_floor: Quantity<MemoryTime>,
        /// Smaller differences of task time do not count.
        task_time_floor: Quantity<Duration>,
        /// Smaller differences of failed attempts do not count.
        failed_attempts_floor: Quantity<Count>,
    }
}

rule_params! {
    /// Parameters of the order of reports, and of small applications.
    pub struct OrderParams / OrderParamsLayer {
        /// The order of applications and troubles: saving or severity.
        by: OrderBy,
        /// What a core-hour counts in the order by saving.
        core_hour_weight: Quantity<Count>,
        /// What a GB-hour counts in the order by saving.
        gb_hour_weight: Quantity<Count>,
        /// A small application took less time than this.
        small_run_time: Quantity<Duration>,
        /// A small application held less memory over time than this.
        small_run_memory: Quantity<MemoryTime>,
        /// The highest severity of a small application that did not fail.
        small_run_at_most: Severity,
        /// The highest severity of what only takes long, in an application that did not fail.
        long_run_at_most: Severity,
        /// The highest severity of slow, few, skewed or straggling tasks that wait by design.
        waiting_at_most: Severity,
        /// Stragglers and skewed tasks, or failed attempts, explain idle executors from this share of the idle time on.
        idle_by_stragglers: Quantity<Ratio>,
        /// An application in which no task ran for this share of the time did next to nothing.
        idle_application: Quantity<Ratio>,
        /// Whether rules judge heaps and collections even if a native engine or a concurrent collector does the work.
        trust_jvms: bool,
    }
}

rule_params! {
    /// Parameters of the ranking of nodes.
    pub struct NodeParams / NodeParamsLayer {
        /// A slow node has at least this mean z-score, or the next.
        slow_mean: Quantity<Ratio>,
        /// A slow node has at least this multiple of the other nodes' share of stragglers.
        slow_straggler_ratio: Quantity<Ratio>,
        /// A node with too few tasks to be ranked is suspected from this number on.
        suspect_tasks: Quantity<Count>,
        /// It is suspected if at least this share of its tasks are stragglers, significantly more than on other nodes.
        suspect_share: Quantity<Ratio>,
        /// A node failed if it lost at least this many executors, and the next.
        failed_executors: Quantity<Count>,
        /// A node failed if it lost at least this share of its executors, significantly more than other nodes.
        failed_share: Quantity<Ratio>,
        /// A straggler is taken out of service only if it was seen in this many applications.
        exclude_applications: Quantity<Count>,
    }
}

rule_params! {
    /// How findings are put together to troubles, and which remedies are worth what they take.
    pub struct TroubleParams / TroubleParamsLayer {
        /// A finding on a straggler and one on skew are about the same task if the longest run time of the
        /// stage is at least this share of the straggler's time from launch to end.
        same_task_share: Quantity<Ratio>,
        /// Stragglers are a consequence of failures if tasks that failed took at least this share of the
        /// time that stragglers took beyond the usual, ...
        stragglers_of_failures: Quantity<Ratio>,
        /// ... and if stragglers failed at least this many times as often as other tasks. Otherwise both
        /// may be chance: if half of all tasks fail once, half of the stragglers do, too.
        stragglers_fail_times: Quantity<Ratio>,
        /// From this share of spare executors on, these are a trouble of their own next to too few tasks:
        /// more tasks are not the only remedy.
        spare_executors: Quantity<Ratio>,
        /// The share of garbage collection that is normal, if the rule that finds more has no limit, and
        /// with executors of other sizes.
        usual_collections: Quantity<Ratio>,
        /// A later start of reduce tasks helps if tasks hold their containers for this much less time, as a
        /// share of all.
        less_held: Quantity<Ratio>,
        /// More memory than this share of what a run used is not worth it after rare failures that its
        /// retries made good.
        much_more_memory: Quantity<Ratio>,
        /// Failures are rare up to this share of the tasks of a stage, ...
        rare_failed_tasks: Quantity<Ratio>,
        /// ... and losses up to this share of all executors.
        rare_lost_executors: Quantity<Ratio>,
        /// The command whatif gives a stage more tasks only if they are even: the longest takes at most
        /// this multiple of the mean, ...
        even_tasks: Quantity<Ratio>,
        /// ... only if none takes less than this, ...
        least_task_time: Positive<Duration>,
        /// ... and at most this many for each slot: then slots end at about the same time.
        tasks_per_slot: Quantity<Count>,
    }
}

/// One set of parameters in rule files.
pub struct Settings {
    /// The id in rule files.
    pub id: &'static str,
    /// The display name.
    pub title: &'static str,
    /// The page in Markdown.
    pub page: &'static str,
    /// The built-in parameters.
    pub defaults: &'static str,
    /// The keys of the parameters.
    pub keys: fn() -> &'static [Key],
}

/// Parameters of the metrics of MapReduce jobs.
pub(crate) const METRICS: Settings = Settings {
    id: "metrics",
    title: "Metrics",
    page: include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/rules/metrics.md")),
    defaults: include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/rules/metrics.yaml")),
    keys: MetricParams::keys,
};

/// Parameters of the metrics of Spark applications.
pub(crate) const SPARK_METRICS: Settings = Settings {
    id: "spark-metrics",
    title: "Spark Metrics",
    page: include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/rules/spark-metrics.md")),
    defaults: include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/rules/spark-metrics.yaml")),
    keys: SparkMetricParams::keys,
};

/// Parameters of the comparison with a baseline.
pub(crate) const GATE: Settings = Settings {
    id: "gate",
    title: "Gate",
    page: include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/rules/gate.md")),
    defaults: include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/rules/gate.yaml")),
    keys: GateParams::keys,
};

/// Parameters of the order of reports.
pub(crate) const ORDER: Settings = Settings {
    id: "order",
    title: "Order",
    page: include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/rules/order.md")),
    defaults: include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/rules/order.yaml")),
    keys: OrderParams::keys,
};

/// Parameters of the ranking of nodes.
pub(crate) const NODES: Settings = Settings {
    id: "nodes",
    title: "Nodes",
    page: include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/rules/nodes.md")),
    defaults: include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/rules/nodes.yaml")),
    keys: NodeParams::keys,
};

/// Parameters of advice that several rules give.
pub(crate) const ADVICE: Settings = Settings {
    id: "advice",
    title: "Advice",
    page: include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/rules/advice.md")),
    defaults: include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/rules/advice.yaml")),
    keys: AdviceParams::keys,
};

/// Parameters of troubles.
pub(crate) const TROUBLES: Settings = Settings {
    id: "troubles",
    title: "Troubles",
    page: include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/rules/troubles.md")),
    defaults: include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/rules/troubles.yaml")),
    keys: TroubleParams::keys,
};

/// All of them, in the order of the documentation.
pub const ALL: [&Settings; 7] = [&METRICS, &SPARK_METRICS, &GATE, &ORDER, &ADVICE, &TROUBLES, &NODES];

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::{RuleFile, RuleSet};

    #[test]
    fn presets_of_dr_elephant_order_by_severity_and_cap_nothing() {
        let order = |files: &[RuleFile]| {
            let rules = RuleSet::with_files(elephant_heuristics::BUILT_IN, files).unwrap();
            (rules.order().by, rules.order().small_run_at_most)
        };
        assert_eq!(order(&[]), (OrderBy::Saving, Severity::Moderate));
        for preset in ["dr-elephant", "dr-elephant-0.4"] {
            let files = crate::find_files(Path::new(preset)).unwrap();
            assert_eq!(order(&files), (OrderBy::Severity, Severity::Critical), "{preset}");
        }
        let built_in = RuleSet::new(elephant_heuristics::BUILT_IN).unwrap();
        let limits = built_in.order();
        assert!((limits.small_run_time.get() - 120_000.0).abs() < 1e-9);
        assert!((limits.small_run_memory.get() - 0.1).abs() < 1e-9);
        assert!((limits.gb_hour_weight.get() - 0.125).abs() < 1e-9);
    }
}
