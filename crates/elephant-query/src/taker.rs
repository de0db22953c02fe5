//! What takes the rows of a stage: the operator above it that moves them to other tasks, or keeps them.

use std::collections::BTreeSet;

use elephant_model::model::Application;
use elephant_model::model::counters::Counter;
use elephant_model::model::spark::{OperatorKind, Plan, SqlExecution, Stage};

/// What takes the rows that an operator makes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Taker {
    /// An exchange that divides them by ranges of values.
    Ranges,
    /// Another exchange.
    Exchange,
    /// All executors get them.
    Broadcast,
    /// A cached table.
    Cache,
    /// They are the result of a subquery, which the driver collects.
    Subquery,
    /// They are the result of the query.
    Result,
}

impl Taker {
    /// The takers of what a stage makes; empty if no operator is known to run in it.
    pub(crate) fn of(execution: &SqlExecution, stage: &Stage) -> BTreeSet<Self> {
        let plan = &execution.plan;
        let runs = |place: u32| runs_in(plan, place, stage);
        let own = (0_u32..)
            .zip(&plan.operators)
            .filter(|(place, operator)| !operator.kind.moves_rows() && runs(*place));
        own.map(|(place, _)| Self::above(plan, place)).collect()
    }

    fn above(plan: &Plan, place: u32) -> Self {
        let parent = |place: u32| plan.operators.get(place as usize).and_then(|operator| operator.parent);
        let mut above = parent(place);
        while let Some((at, operator)) = above.and_then(|at| Some((at, plan.operators.get(at as usize)?))) {
            match operator.kind {
                OperatorKind::Exchange if plan.text(operator.text).contains("rangepartitioning") => {
                    return Self::Ranges;
                }
                OperatorKind::Exchange => return Self::Exchange,
                OperatorKind::Broadcast => return Self::Broadcast,
                OperatorKind::Subquery => return Self::Subquery,
                OperatorKind::CachedScan => return Self::Cache,
                _ => above = parent(at),
            }
        }
        Self::Result
    }
}

/// Whether an operator has a value in the stage.
pub(crate) fn runs_in(plan: &Plan, operator: u32, stage: &Stage) -> bool {
    let has = |accumulator: u64| stage.accumulables.binary_search_by_key(&accumulator, |(id, _)| *id).is_ok();
    plan.metrics_of(operator).iter().any(|metric| has(metric.accumulator))
}

/// Whether the tasks of a stage wrote a shuffle.
pub(crate) fn writes_shuffle(app: &Application, stage: &Stage) -> bool {
    let group = stage.group.and_then(|group| app.groups.get(group));
    let written = group.and_then(|group| group.attempts.sum(&[Counter::ShuffleBytesWritten]));
    written.is_some_and(|bytes| bytes > 0)
}
