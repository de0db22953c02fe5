//! SQL executions and their plans.

use crate::model::Symbol;
use elephant_base::units::{Millis, Timestamp};

/// One SQL execution (`SparkListenerSQLExecutionStart`, `…End`).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SqlExecution {
    /// Its id.
    pub id: u64,
    /// Its description, or its call site.
    pub description: Option<String>,
    /// When it started.
    pub started_at: Option<Timestamp>,
    /// When it ended.
    pub finished_at: Option<Timestamp>,
    /// The error it ended with; an empty message is `None`.
    pub error: Option<String>,
    /// Its last known plan, parents before children.
    pub plan: Vec<PlanNode>,
    /// The metrics of that plan's nodes, by node.
    pub metrics: Vec<PlanMetric>,
    /// Accumulator values reported by the driver (`SparkListenerDriverAccumUpdates`), in the order of the
    /// log.
    pub driver_updates: Vec<(u64, i64)>,
}

impl SqlExecution {
    /// An execution with an id and nothing else.
    #[must_use]
    #[doc(hidden)]
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
    /// The operator: `HashAggregate`, `Exchange`, …; empty if the plan does not name it.
    pub name: Symbol,
    /// The node's parent, as an index into [`SqlExecution::plan`].
    pub parent: Option<u32>,
}

/// A metric of a plan node (`SQLMetricInfo`). Its accumulator holds the value: see
/// [`super::Stage::accumulables`] and [`SqlExecution::driver_updates`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PlanMetric {
    /// The node, as an index into [`SqlExecution::plan`].
    pub node: u32,
    /// A readable name: "number of output rows".
    pub name: Symbol,
    /// `sum`, `size`, `timing`, `nsTiming` or `average`.
    pub kind: Symbol,
    /// The accumulator that holds its value.
    pub accumulator: u64,
}
