//! SQL executions and their plans.

use crate::model::Symbol;
use crate::units::{Millis, Timestamp};

/// One SQL execution (`SparkListenerSQLExecutionStart`, `…End`).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SqlExecution {
    /// Its id.
    pub id: u64,
    /// What the user or the call site calls it.
    pub description: Option<String>,
    /// When it started.
    pub started_at: Option<Timestamp>,
    /// When it ended.
    pub finished_at: Option<Timestamp>,
    /// The error it ended with; an empty message is none.
    pub error: Option<String>,
    /// Its last known plan, parents before children.
    pub plan: Vec<PlanNode>,
    /// What the nodes of that plan measure, by node.
    pub metrics: Vec<PlanMetric>,
    /// What the driver reported for accumulators (`SparkListenerDriverAccumUpdates`), in the order of the log.
    pub driver_updates: Vec<(u64, i64)>,
}

impl SqlExecution {
    /// An execution of which nothing else is known.
    #[must_use]
    pub const fn new(id: u64) -> Self {
        Self {
            id,
            description: None,
            started_at: None,
            finished_at: None,
            error: None,
            plan: Vec::new(),
            metrics: Vec::new(),
            driver_updates: Vec::new(),
        }
    }

    /// From start to end.
    #[must_use]
    pub fn duration(&self) -> Option<Millis> {
        Millis::between(self.started_at?, self.finished_at?)
    }
}

/// A node of a physical plan (`SparkPlanInfo`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PlanNode {
    /// The operator: `HashAggregate`, `Exchange`, …; empty where the plan does not name it.
    pub name: Symbol,
    /// The node's parent: its place in [`SqlExecution::plan`].
    pub parent: Option<u32>,
}

/// A metric of a plan node (`SQLMetricInfo`). Its value is that of its accumulator: see
/// [`super::Stage::accumulables`] and [`SqlExecution::driver_updates`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PlanMetric {
    /// The node: its place in [`SqlExecution::plan`].
    pub node: u32,
    /// For people: "number of output rows".
    pub name: Symbol,
    /// `sum`, `size`, `timing`, `nsTiming` or `average`.
    pub kind: Symbol,
    /// The accumulator that holds its value.
    pub accumulator: u64,
}
