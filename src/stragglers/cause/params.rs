//! Limits of the rules, with where they come from.

use crate::node_metrics::NodeMetric;

/// Limits of the rules.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Params {
    /// A task is slow from this many times the group's median on: its duration, its time per input, and what is left of
    /// them without a component (S2 section 4: 1.5).
    pub slow_factor: f64,
    /// Input is much from this many times the group's median on (ours: what makes a straggler of a task whose time
    /// grows with its input).
    pub input_factor: f64,
    /// CPU time per input is much from this many times the group's median on (ours, as above).
    pub more_cpu_factor: f64,
    /// CPU time per input is that of the others up to this many times the group's median (S0 section 6.1: a factor of
    /// 1.2 is what runs on idle nodes differ by).
    pub same_cpu_factor: f64,
    /// Spilling is much from this many times the group's median on (ours, as above).
    pub spill_factor: f64,
    /// The node's CPU utilisation is high from this many percent on (S2 table 3).
    pub cpu_util: f64,
    /// The node's disk utilisation is high from this many percent on (S2 table 3).
    pub disk_util: f64,
    /// Requests to the file system are slow above this many milliseconds (S2 table 3).
    pub dfs_latency_ms: f64,
    /// Retransmissions are many from this many percent on (S2 gives no number; ours).
    pub net_retrans_pct: f64,
    /// Nodes with fewer tasks are not tested.
    pub node_min_tasks: u64,
    /// The share of nodes called slow that may be called so by chance (Benjamini and Hochberg 1995).
    pub false_discovery_rate: f64,
    /// A component is told from this share of a straggler's delay on, whether or not it explains it.
    pub told_share: f64,
}

impl Default for Params {
    fn default() -> Self {
        Self {
            slow_factor: 1.5,
            input_factor: 1.5,
            more_cpu_factor: 1.5,
            same_cpu_factor: 1.2,
            spill_factor: 1.5,
            cpu_util: 80.0,
            disk_util: 80.0,
            dfs_latency_ms: 400.0,
            net_retrans_pct: 1.0,
            node_min_tasks: 3,
            false_discovery_rate: 0.05,
            told_share: 0.1,
        }
    }
}

impl Params {
    /// The limit of a node metric, in its own unit.
    #[must_use]
    pub const fn node_limit(&self, metric: NodeMetric) -> f64 {
        match metric {
            NodeMetric::CpuUtil => self.cpu_util,
            NodeMetric::DiskUtil => self.disk_util,
            NodeMetric::DfsLatency => self.dfs_latency_ms,
            NodeMetric::NetRetrans => self.net_retrans_pct,
        }
    }

    /// Whether a node metric has passed its limit. S2 has latencies above it, the others from it on.
    #[must_use]
    pub fn is_loaded(&self, metric: NodeMetric, value: f64) -> bool {
        let limit = self.node_limit(metric);
        if metric == NodeMetric::DfsLatency { value > limit } else { value >= limit }
    }
}
