//! SQL executions and their plans.

mod counter;
mod operator;
mod plan;

pub use counter::{SqlCounter, Unit, counter_of, names_of_counters, plain_name};
pub use operator::{JoinKind, OperatorEngine, OperatorKind, is_reuse};
pub use plan::{Operator, Plan, PlanFact, PlanMetric, PlanText};

use elephant_base::units::{Millis, Timestamp};

/// One SQL execution (`SparkListenerSQLExecutionStart`, `…End`).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SqlExecution {
    /// Its id.
    pub id: u64,
    /// The execution that the user started, if this one is a part of it: the building of a cached table, an inner read of a
    /// command (`rootExecutionId`, Spark 3.4 and newer).
    pub root: Option<u64>,
    /// Its description, or its call site.
    pub description: Option<String>,
    /// The call stack that started it, innermost call first, truncated (`details`).
    pub call_stack: Option<String>,
    /// The tags of its jobs (`jobTags`, Spark 3.5 and newer).
    pub tags: Vec<String>,
    /// When it started.
    pub started_at: Option<Timestamp>,
    /// When it ended.
    pub finished_at: Option<Timestamp>,
    /// The error it ended with; an empty message is `None`.
    pub error: Option<String>,
    /// Its last known plan, parents before children.
    pub plan: Plan,
    /// Operators of earlier plans that adaptive execution replaced, without parents. Those that ran have values.
    pub replaced: Plan,
    /// Metrics of subqueries that the plan does not contain (`SparkListenerSQLAdaptiveSQLMetricUpdates`), one operator for
    /// each event.
    pub subqueries: Plan,
    /// Accumulator values reported by the driver (`SparkListenerDriverAccumUpdates`), in the order of the
    /// log.
    pub driver_updates: Vec<(u64, i64)>,
    /// Why operators ran in the JVM and not in Gluten (`GlutenPlanFallbackEvent`), of the last plan that it tells of.
    pub fallbacks: Vec<Fallback>,
}

/// An operator that a native engine did not run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fallback {
    /// Its name.
    pub operator: String,
    /// Why, in the engine's words.
    pub reason: String,
}

impl SqlExecution {
    /// An execution with an id and nothing else.
    #[must_use]
    #[doc(hidden)]
    pub const fn new(id: u64) -> Self {
        Self {
            id,
            root: None,
            description: None,
            call_stack: None,
            tags: Vec::new(),
            started_at: None,
            finished_at: None,
            error: None,
            plan: Plan::EMPTY,
            replaced: Plan::EMPTY,
            subqueries: Plan::EMPTY,
            driver_updates: Vec::new(),
            fallbacks: Vec::new(),
        }
    }

    /// From start to end.
    #[must_use]
    pub fn duration(&self) -> Option<Millis> {
        Millis::between(self.started_at?, self.finished_at?)
    }
}
