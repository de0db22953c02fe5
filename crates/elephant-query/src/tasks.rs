//! What fixes the number of tasks of a stage.

use crate::operator::OperatorKind;
use crate::purpose::Purpose;
use crate::query::is_metric_of_reader;
use elephant_model::model::Application;
use elephant_model::model::spark::{Origin, Plan, Spark, SqlExecution, Stage};

/// What fixes the number of tasks of a stage, where the plan or the RDDs tell.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum FixedBy {
    /// The ranges of a column that a database is asked for (`numPartitions`); one without them.
    Jdbc,
    /// The partitions of a topic of Kafka.
    Kafka,
    /// The number of slices of a collection of the driver.
    Parallelized,
    /// A number in the code (`repartition(n)`, a hint).
    Repartition,
    /// A number in the code that partitions are merged to (`coalesce(n)`).
    Coalesce,
    /// The plan needs all rows in one task.
    Single(Single),
    /// Only lost partitions are computed again.
    Retry,
    /// All tasks must run at once.
    Barrier,
    /// As many receivers as the code starts.
    Receivers,
}

/// Why a plan needs all rows in one task (`SinglePartition`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Single {
    /// An aggregate without keys: one row comes out.
    Aggregate,
    /// A window without a partition.
    Window,
    /// A limit, with or without an order.
    Limit,
    /// Something else.
    Other,
}

impl FixedBy {
    /// What fixes the number of tasks of a stage; `None` if settings, files or adaptive execution do, or if it is unknown.
    #[must_use]
    pub fn of(app: &Application, spark: &Spark, stage: &Stage) -> Option<Self> {
        match Purpose::of(spark, stage) {
            Purpose::Receiver => return Some(Self::Receivers),
            Purpose::Retry => return Some(Self::Retry),
            _ if stage.is_barrier => return Some(Self::Barrier),
            _ => {}
        }
        let origins = stage.origins;
        if !origins.has(Origin::Shuffle) {
            if origins.has(Origin::Jdbc) {
                return Some(Self::Jdbc);
            }
            if origins.has(Origin::Kafka) {
                return Some(Self::Kafka);
            }
        }
        let execution = spark.job_of(stage).and_then(|job| job.sql_execution);
        let Some(execution) = execution.and_then(|id| spark.query(id)) else {
            return origins.has(Origin::Coalesced).then_some(Self::Coalesce);
        };
        by_plan(app, execution, stage)
            .or_else(|| origins.has(Origin::Parallelized).then_some(Self::Parallelized))
    }
}

fn by_plan(app: &Application, execution: &SqlExecution, stage: &Stage) -> Option<FixedBy> {
    let in_stage =
        |accumulator: u64| stage.accumulables.binary_search_by_key(&accumulator, |(id, _)| *id).is_ok();
    let name = |symbol| app.strings.get(symbol).unwrap_or_default();
    for plan in [&execution.plan, &execution.replaced] {
        for (place, operator) in (0_u32..).zip(&plan.operators) {
            let kind = OperatorKind::of(name(operator.name));
            let mut metrics = plan.metrics_of(place).iter();
            if kind == OperatorKind::Exchange
                && metrics
                    .any(|metric| in_stage(metric.accumulator) && is_metric_of_reader(name(metric.name)))
            {
                return by_exchange(plan.text(operator.text), || single(app, plan, place));
            }
            // `Coalesce` has no metrics, so it is where the operator above it runs.
            if name(operator.name) == "Coalesce" && runs_above(app, plan, place, in_stage) {
                return Some(FixedBy::Coalesce);
            }
        }
    }
    None
}

/// What an exchange says about its partitions (`ShuffleExchangeExec.simpleString`).
fn by_exchange(text: &str, single: impl FnOnce() -> Single) -> Option<FixedBy> {
    if text.contains("SinglePartition") {
        return Some(FixedBy::Single(single()));
    }
    let chosen = ["REPARTITION_BY_NUM", "RoundRobinPartitioning"];
    chosen.iter().any(|sign| text.contains(sign)).then_some(FixedBy::Repartition)
}

/// What is the first operator above an exchange that needs all rows together.
fn single(app: &Application, plan: &Plan, exchange: u32) -> Single {
    let mut above = plan.operators.get(exchange as usize).and_then(|operator| operator.parent);
    while let Some(operator) = above.and_then(|place| plan.operators.get(place as usize)) {
        match OperatorKind::of(app.strings.get(operator.name).unwrap_or_default()) {
            OperatorKind::Aggregate => return Single::Aggregate,
            OperatorKind::Window => return Single::Window,
            OperatorKind::Limit => return Single::Limit,
            kind if kind.moves_rows() => break,
            _ => above = operator.parent,
        }
    }
    Single::Other
}

/// Whether an operator above this one, up to the next exchange, has a value in the stage.
fn runs_above(app: &Application, plan: &Plan, place: u32, in_stage: impl Fn(u64) -> bool) -> bool {
    let mut above = plan.operators.get(place as usize).and_then(|operator| operator.parent);
    while let Some((at, operator)) = above.and_then(|at| Some((at, plan.operators.get(at as usize)?))) {
        if plan.metrics_of(at).iter().any(|metric| in_stage(metric.accumulator)) {
            return true;
        }
        let kind = OperatorKind::of(app.strings.get(operator.name).unwrap_or_default());
        above = operator.parent.filter(|_| !kind.moves_rows());
    }
    false
}
