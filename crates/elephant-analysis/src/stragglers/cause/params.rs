//! Limits of the rules, with their sources.

use crate::node_metrics::NodeMetric;

/// Limits of the rules.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Params {
    /// A task is slow from this many times the group's median: for its duration, its time per input, and both
    /// without a component (S2 section 4: 1.5).
    pub slow_factor: f64,
    /// Input is large from this many times the group's median (our choice: this makes a straggler of a task
    /// whose time grows with its input).
    pub input_factor: f64,
    /// CPU time per input is high from this many times the group's median (our choice, as above).
    pub more_cpu_factor: f64,
    /// CPU time per input is normal up to this many times the group's median (S0 section 6.1: runs on idle
    /// nodes differ by a factor of up to 1.2).
    pub same_cpu_factor: f64,
    /// A task that ran next to a straggler took as long as usual up to this many times the group's median (S0
    /// section 6.1, as above).
    pub neighbour_factor: f64,
    /// A task that lost less than this did not wait for its node (our choice: logs count milliseconds, and threads wait for
    /// tens of them on idle nodes, too).
    pub contention_seconds: f64,
    /// Spilling is high from this many times the group's median (our choice, as above).
    pub spill_factor: f64,
    /// CPU utilisation of the node is high from this percentage (S2 table 3).
    pub cpu_util: f64,
    /// Disk utilisation of the node is high from this percentage (S2 table 3).
    pub disk_util: f64,
    /// Requests to the file system are slow above this many milliseconds (S2 table 3).
    pub dfs_latency_ms: f64,
    /// The retransmission rate is high from this percentage (S2 gives no number; our choice).
    pub net_retrans_pct: f64,
    /// Nodes with fewer tasks are not tested.
    pub node_min_tasks: u64,
    /// Accepted share of nodes called slow by chance (Benjamini and Hochberg 1995).
    pub false_discovery_rate: f64,
    /// A node is slow from this many times the straggler share of the others (our choice, as above).
    pub node_rate_factor: f64,
    /// A node is slow if at least this share of its tasks are stragglers (our choice).
    pub node_straggler_share: f64,
    /// A component is reported from this share of a straggler's delay, even if it does not explain the
    /// straggler.
    pub reported_share: f64,
}

impl Default for Params {
    fn default() -> Self {
        Self {
            slow_factor: 1.5,
            input_factor: 1.5,
            more_cpu_factor: 1.5,
            same_cpu_factor: 1.2,
            neighbour_factor: 1.2,
            contention_seconds: 0.1,
            spill_factor: 1.5,
            cpu_util: 80.0,
            disk_util: 80.0,
            dfs_latency_ms: 400.0,
            net_retrans_pct: 1.0,
            node_min_tasks: 3,
            false_discovery_rate: 0.05,
            node_rate_factor: 1.5,
            node_straggler_share: 0.2,
            reported_share: 0.1,
        }
    }
}

impl Params {
    /// The limit of a node metric, in its own unit.
    #[must_use]
    pub(crate) const fn node_limit(&self, metric: NodeMetric) -> f64 {
        match metric {
            NodeMetric::CpuUtil => self.cpu_util,
            NodeMetric::DiskUtil => self.disk_util,
            NodeMetric::DfsLatency => self.dfs_latency_ms,
            NodeMetric::NetRetrans => self.net_retrans_pct,
        }
    }

    /// Whether a node metric exceeds its limit. In S2 latencies must be above the limit; the other metrics
    /// may equal it.
    #[must_use]
    pub(crate) fn is_loaded(&self, metric: NodeMetric, value: f64) -> bool {
        let limit = self.node_limit(metric);
        if metric == NodeMetric::DfsLatency { value > limit } else { value >= limit }
    }
}
