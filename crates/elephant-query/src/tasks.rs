//! What fixes the number of tasks of a stage.

use crate::purpose::{is_part, is_receiver};
use crate::query::is_metric_of_reader;
use crate::taker::runs_in;
use elephant_model::model::Application;
use elephant_model::model::spark::{OperatorKind, Origin, Plan, Spark, SqlExecution, Stage};

/// What fixes the number of tasks of a stage, where the plan or the RDDs tell.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum FixedBy {
    /// The ranges of a column that a database is asked for (`numPartitions`); one without them.
    Jdbc,
    /// The partitions of a topic of Kafka, unless `minPartitions` asks for more.
    Kafka,
    /// The regions of a table of `HBase`.
    Regions,
    /// The buckets of a table (`bucketBy`).
    Buckets,
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
        if is_receiver(spark, stage) {
            return Some(Self::Receivers);
        }
        if is_part(spark, stage) {
            return Some(Self::Retry);
        }
        if stage.is_barrier {
            return Some(Self::Barrier);
        }
        let execution = spark.job_of(stage).and_then(|job| job.sql_execution);
        match execution.and_then(|id| spark.query(id)) {
            Some(execution) => of_query(app, execution, stage),
            None => of_code(stage),
        }
    }

    /// Whether another number of tasks is possible, and makes sense.
    #[must_use]
    pub const fn can_change(self) -> bool {
        !matches!(
            self,
            Self::Retry | Self::Barrier | Self::Receivers | Self::Single(Single::Aggregate | Single::Limit)
        )
    }
}

/// What the RDDs of code tell. `repartition` shuffles and then merges (`CoalescedRDD`).
fn of_code(stage: &Stage) -> Option<FixedBy> {
    let has = |origin| stage.origins.has(origin);
    match (has(Origin::Repartitioned), has(Origin::Shuffle), has(Origin::Coalesced)) {
        (true, true, _) => Some(FixedBy::Repartition),
        (false, _, true) => Some(FixedBy::Coalesce),
        (_, true, _) => None,
        _ => of_source(stage).or_else(|| has(Origin::Parallelized).then_some(FixedBy::Parallelized)),
    }
}

/// The source that a stage reads, if it decides.
fn of_source(stage: &Stage) -> Option<FixedBy> {
    let sources =
        [(Origin::Jdbc, FixedBy::Jdbc), (Origin::Kafka, FixedBy::Kafka), (Origin::HBase, FixedBy::Regions)];
    sources.into_iter().find(|(origin, _)| stage.origins.has(*origin)).map(|(_, source)| source)
}

fn of_query(app: &Application, execution: &SqlExecution, stage: &Stage) -> Option<FixedBy> {
    let by_plan = by_plan(app, execution, stage).or_else(|| {
        let merges = stage.origins.has(Origin::Coalesced) && !stage.origins.has(Origin::Shuffle);
        merges.then_some(FixedBy::Coalesce)
    });
    let source = of_source(stage).filter(|_| !stage.origins.has(Origin::Shuffle));
    let is_made = stage.origins.has(Origin::Parallelized) && !stage.origins.has(Origin::Shuffle);
    let merged = by_plan == Some(FixedBy::Coalesce) && !reads_database_by(app, execution, stage);
    source.filter(|_| !merged).or(by_plan).or_else(|| is_made.then_some(FixedBy::Parallelized))
}

/// Whether a database is read by as many tasks as the stage has: merging them is not what makes them few.
fn reads_database_by(app: &Application, execution: &SqlExecution, stage: &Stage) -> bool {
    let ranges = |name: &str| -> Option<u64> {
        let (_, after) = name.split_once("JDBC")?.1.split_once("[numPartitions=")?;
        after.split(']').next()?.trim().parse().ok()
    };
    let names = execution.plan.operators.iter().filter_map(|operator| app.strings.get(operator.name));
    names.filter_map(ranges).any(|ranges| Some(ranges) == stage.announced_tasks)
}

fn by_plan(app: &Application, execution: &SqlExecution, stage: &Stage) -> Option<FixedBy> {
    let name = |symbol| app.strings.get(symbol).unwrap_or_default();
    for plan in [&execution.plan, &execution.replaced] {
        for (place, operator) in (0_u32..).zip(&plan.operators) {
            match operator.kind {
                OperatorKind::Exchange if is_read_by(app, plan, place, stage) => {
                    return by_exchange(plan.text(operator.text), || single(plan, place));
                }
                OperatorKind::Scan if runs_in(plan, place, stage) => {
                    let mut facts = plan.facts_of(place).iter();
                    if facts.any(|fact| name(fact.key) == "SelectedBucketsCount") {
                        return Some(FixedBy::Buckets);
                    }
                    if plan.text(operator.text).contains("Kafka") {
                        return Some(FixedBy::Kafka);
                    }
                }
                // `Coalesce` has no metrics, so it is where the operator above it runs.
                _ if name(operator.name) == "Coalesce" && runs_above(plan, place, stage) => {
                    return Some(FixedBy::Coalesce);
                }
                _ => {}
            }
        }
    }
    None
}

/// Whether a stage reads an exchange. Before Spark 3, an exchange counts only what is written into it.
fn is_read_by(app: &Application, plan: &Plan, exchange: u32, stage: &Stage) -> bool {
    let name = |symbol| app.strings.get(symbol).unwrap_or_default();
    let has = |accumulator: u64| stage.accumulables.binary_search_by_key(&accumulator, |(id, _)| *id).is_ok();
    let metrics = plan.metrics_of(exchange).iter();
    let mut read = metrics.filter(|metric| is_metric_of_reader(name(metric.name))).peekable();
    if read.peek().is_none() {
        return runs_above(plan, exchange, stage);
    }
    read.any(|metric| has(metric.accumulator))
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
fn single(plan: &Plan, exchange: u32) -> Single {
    let mut above = plan.operators.get(exchange as usize).and_then(|operator| operator.parent);
    while let Some(operator) = above.and_then(|place| plan.operators.get(place as usize)) {
        match operator.kind {
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
fn runs_above(plan: &Plan, place: u32, stage: &Stage) -> bool {
    let mut above = plan.operators.get(place as usize).and_then(|operator| operator.parent);
    while let Some((at, operator)) = above.and_then(|at| Some((at, plan.operators.get(at as usize)?))) {
        if operator.kind.moves_rows() {
            return false;
        }
        if runs_in(plan, at, stage) {
            return true;
        }
        above = operator.parent;
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::{self, Node};
    use elephant_model::model::spark::StageAttempt;

    /// What fixes the tasks of a stage that runs the accumulators 1 and 2 of this plan and has these RDDs.
    fn of(plan: Node, origins: &[Origin]) -> Option<FixedBy> {
        let (app, mut spark) = sample::query(plan, &[1, 2], 0);
        spark.stages[0].announced_tasks = Some(4);
        for &origin in origins {
            spark.stages[0].origins.add(origin);
        }
        FixedBy::of(&app, &spark, &spark.stages[0])
    }

    fn ran(name: &'static str) -> Node {
        Node::of(name).with_metric("number of output rows", 1)
    }

    fn exchange(text: &str) -> Node {
        Node::text("Exchange", &format!("Exchange {text}")).with_metric("records read", 2)
    }

    #[test]
    fn the_exchange_tells_why_there_is_one_task_or_which_number_was_asked_for() {
        let above = |name, text: &str| of(ran(name).above(exchange(text)), &[Origin::Shuffle]);
        let single = "SinglePartition, ENSURE_REQUIREMENTS, [plan_id=12]";
        assert_eq!(above("HashAggregate", single), Some(FixedBy::Single(Single::Aggregate)));
        assert_eq!(above("Window", single), Some(FixedBy::Single(Single::Window)));
        assert_eq!(above("CollectLimit", single), Some(FixedBy::Single(Single::Limit)));
        assert_eq!(above("Sort", single), Some(FixedBy::Single(Single::Other)));
        let by_number = "RoundRobinPartitioning(4), REPARTITION_BY_NUM, [plan_id=12]";
        assert_eq!(above("Project", by_number), Some(FixedBy::Repartition));
        assert_eq!(above("Project", "hashpartitioning(a#1, 4), REPARTITION_BY_COL"), None);
        assert_eq!(above("Project", "hashpartitioning(a#1, 4), ENSURE_REQUIREMENTS"), None);
    }

    #[test]
    fn an_exchange_without_metrics_of_its_readers_is_read_by_what_runs_above_it() {
        let old = || Node::text("Exchange", "Exchange SinglePartition").with_metric("data size", 9);
        let of_old = |above| of(Node::of(above).with_metric("sort time", 1).above(old()), &[]);
        assert_eq!(of_old("Window"), Some(FixedBy::Single(Single::Window)));
        let elsewhere = Node::of("Window").with_metric("sort time", 77).above(old());
        assert_eq!(of(elsewhere, &[]), None);
    }

    #[test]
    fn sources_decide_unless_their_partitions_are_merged() {
        let jdbc = |number: &'static str| ran("Project").above(Node::of("Coalesce").above(Node::of(number)));
        let one = ran("Scan JDBCRelation(orders) [numPartitions=1] ");
        assert_eq!(of(one, &[Origin::Jdbc]), Some(FixedBy::Jdbc));
        let many = jdbc("Scan JDBCRelation(orders) [numPartitions=64] ");
        assert_eq!(of(many, &[Origin::Jdbc, Origin::Coalesced]), Some(FixedBy::Coalesce));
        let few = jdbc("Scan JDBCRelation(orders) [numPartitions=4] ");
        assert_eq!(of(few, &[Origin::Jdbc, Origin::Coalesced]), Some(FixedBy::Jdbc));
        assert_eq!(of(ran("MicroBatchScan"), &[Origin::Kafka]), Some(FixedBy::Kafka));
        assert_eq!(of(ran("Scan HBaseRelation"), &[Origin::HBase]), Some(FixedBy::Regions));
        // Behind a shuffle, the source decides nothing.
        assert_eq!(of(ran("Project"), &[Origin::Kafka, Origin::Shuffle]), None);
        let buckets = ran("Scan parquet default.sales").with_fact("SelectedBucketsCount", "4 out of 4");
        assert_eq!(of(buckets, &[Origin::Files]), Some(FixedBy::Buckets));
        let scan =
            "MicroBatchScan[value#8] class org.apache.spark.sql.kafka010.KafkaSourceProvider$KafkaScan";
        let topic = Node::text("MicroBatchScan", scan).with_metric("number of output rows", 1);
        assert_eq!(of(topic, &[Origin::DataSource]), Some(FixedBy::Kafka));
        assert_eq!(of(ran("LocalTableScan"), &[Origin::Parallelized]), Some(FixedBy::Parallelized));
    }

    #[test]
    fn the_code_of_rdds_tells_by_its_operations() {
        use Origin::{Coalesced, Files, Jdbc, Kafka, Parallelized, Repartitioned, Shuffle};
        let of = |origins: &[Origin]| {
            let mut stage = Stage::new(StageAttempt { stage: 0, attempt: 0 });
            for &origin in origins {
                stage.origins.add(origin);
            }
            FixedBy::of(&sample::app(), &Spark::default(), &stage)
        };
        assert_eq!(of(&[Files]), None);
        assert_eq!(of(&[Shuffle]), None);
        assert_eq!(of(&[Files, Coalesced]), Some(FixedBy::Coalesce));
        assert_eq!(of(&[Shuffle, Coalesced]), Some(FixedBy::Coalesce));
        // The write side of `repartition` has the partitions of what it reads.
        assert_eq!(of(&[Files, Repartitioned]), None);
        assert_eq!(of(&[Shuffle, Coalesced, Repartitioned]), Some(FixedBy::Repartition));
        assert_eq!(of(&[Parallelized]), Some(FixedBy::Parallelized));
        assert_eq!(of(&[Kafka]), Some(FixedBy::Kafka));
        assert_eq!(of(&[Jdbc]), Some(FixedBy::Jdbc));
    }

    #[test]
    fn stages_that_wait_or_run_again_are_fixed_first() {
        let mut stage = Stage::new(StageAttempt { stage: 0, attempt: 0 });
        stage.origins.add(Origin::Jdbc);
        let of = |stage: &Stage| FixedBy::of(&sample::app(), &Spark::default(), stage);
        stage.is_barrier = true;
        assert_eq!(of(&stage), Some(FixedBy::Barrier));
        stage.id.attempt = 1;
        assert_eq!(of(&stage), Some(FixedBy::Retry));
        stage.origins.add(Origin::Receiver);
        assert_eq!(of(&stage), Some(FixedBy::Receivers));
        assert!(!FixedBy::Receivers.can_change() && FixedBy::Jdbc.can_change());
    }
}
