//! Parameters that are not of a rule: how costs are measured, and how `check` compares them. They are the same for all
//! applications.

use crate::metrics::{MetricParams, SparkMetricParams};
use crate::params::quantity::{Count, Duration, MemoryTime, Quantity, Ratio};
use crate::params::{Key, Params, rule_params};

rule_params! {
    /// Parameters of the comparison with a baseline.
    pub(crate) struct GateParams / GateParamsLayer {
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

/// One set of parameters in rule files.
pub(crate) struct Settings {
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

/// Of the metrics of MapReduce jobs.
pub(crate) const METRICS: Settings = Settings {
    id: "metrics",
    title: "Metrics",
    page: include_str!("../../rules/metrics.md"),
    defaults: include_str!("../../rules/metrics.yaml"),
    keys: MetricParams::keys,
};

/// Of the metrics of Spark applications.
pub(crate) const SPARK_METRICS: Settings = Settings {
    id: "spark-metrics",
    title: "Spark Metrics",
    page: include_str!("../../rules/spark-metrics.md"),
    defaults: include_str!("../../rules/spark-metrics.yaml"),
    keys: SparkMetricParams::keys,
};

/// Of the comparison with a baseline.
pub(crate) const GATE: Settings = Settings {
    id: "gate",
    title: "Gate",
    page: include_str!("../../rules/gate.md"),
    defaults: include_str!("../../rules/gate.yaml"),
    keys: GateParams::keys,
};

/// All of them, in the order of the documentation.
pub(crate) const ALL: [&Settings; 3] = [&METRICS, &SPARK_METRICS, &GATE];
