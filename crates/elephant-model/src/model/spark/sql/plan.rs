//! Physical plans (`org.apache.spark.sql.execution.SparkPlanInfo`).

use super::{OperatorKind, SqlCounter};
use crate::model::Symbol;

/// A physical plan: its operators, parents before children, with their metrics and facts.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Plan {
    /// Its operators.
    pub operators: Vec<Operator>,
    /// The metrics of the operators, by operator.
    pub metrics: Vec<PlanMetric>,
    /// What the plan says about its scans, by operator.
    pub facts: Vec<PlanFact>,
    /// The texts of operators and facts.
    pub texts: String,
}

/// An operator of a plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Operator {
    /// Its name (`nodeName`): `HashAggregate`, `Exchange`, …; empty if the plan does not name it.
    pub name: Symbol,
    /// What it does.
    pub kind: OperatorKind,
    /// The operator that takes its rows, as an index into [`Plan::operators`].
    pub parent: Option<u32>,
    /// Its name, keys and expressions in one line (`simpleString`). Spark cuts long lists ("... 12 more fields").
    pub text: PlanText,
}

/// A metric of an operator (`SQLMetricInfo`). Its accumulator holds the value: see [`super::super::Stage::accumulables`] and
/// [`super::SqlExecution::driver_updates`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PlanMetric {
    /// The operator, as an index into [`Plan::operators`].
    pub operator: u32,
    /// A readable name: "number of output rows".
    pub name: Symbol,
    /// `sum`, `size`, `timing`, `nsTiming` or `average`.
    pub kind: Symbol,
    /// Ours; `None` if no rule needs it.
    pub counter: Option<SqlCounter>,
    /// The accumulator that holds its value.
    pub accumulator: u64,
}

/// A fact about a scan (`SparkPlanInfo.metadata`): its location, format, schema or filters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PlanFact {
    /// The operator, as an index into [`Plan::operators`].
    pub operator: u32,
    /// `Location`, `Format`, `ReadSchema`, `PartitionFilters`, `PushedFilters`, `DataFilters`, ….
    pub key: Symbol,
    /// Its value, truncated.
    pub value: PlanText,
}

/// A range of [`Plan::texts`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct PlanText {
    /// Its first byte.
    pub start: u32,
    /// The byte after its last one.
    pub end: u32,
}

impl Plan {
    /// A plan without operators.
    pub const EMPTY: Self =
        Self { operators: Vec::new(), metrics: Vec::new(), facts: Vec::new(), texts: String::new() };

    /// A text of this plan.
    #[must_use]
    pub fn text(&self, of: PlanText) -> &str {
        self.texts.get(of.start as usize..of.end as usize).unwrap_or_default()
    }

    /// The metrics of an operator.
    #[must_use]
    pub fn metrics_of(&self, operator: u32) -> &[PlanMetric] {
        of_operator(&self.metrics, operator, |metric| metric.operator)
    }

    /// The facts about an operator.
    #[must_use]
    pub fn facts_of(&self, operator: u32) -> &[PlanFact] {
        of_operator(&self.facts, operator, |fact| fact.operator)
    }
}

/// The part of a list, ordered by operator, that belongs to one operator.
fn of_operator<T>(list: &[T], operator: u32, operator_of: impl Fn(&T) -> u32) -> &[T] {
    let start = list.partition_point(|entry| operator_of(entry) < operator);
    let rest = list.get(start..).unwrap_or_default();
    // An operator has a few of them.
    let count = rest.iter().take_while(|entry| operator_of(entry) == operator).count();
    rest.get(..count).unwrap_or_default()
}
