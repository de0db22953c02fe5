//! Parameters that do not belong to a rule: how costs are measured, how `check` compares them, the order of reports,
//! and which nodes are called slow. They are the same for all applications.

use elephant_analysis::metrics::{MetricParams, SparkMetricParams};
use elephant_base::severity::Severity;
use elephant_rule::params::quantity::{Count, Duration, MemoryTime, Quantity, Ratio};
use elephant_rule::params::{Key, Params, choice, rule_params};

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

/// All of them, in the order of the documentation.
pub const ALL: [&Settings; 5] = [&METRICS, &SPARK_METRICS, &GATE, &ORDER, &NODES];

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
