//! The plan of every query: scan, aggregate, sort and write, with an exchange after each of the first two.

use std::fmt::Write;

use super::figures::Amount;
use super::json::Json;
use super::kind::Kind;

struct Metric {
    name: &'static str,
    unit: &'static str,
    /// The stage whose tasks count it, with the metric; `None` if the driver counts it.
    counted: Option<(Kind, Amount)>,
}

struct Node {
    name: &'static str,
    simple: &'static str,
    /// Whether it is only in the final plan.
    only_final: bool,
    metadata: &'static [(&'static str, &'static str)],
    metrics: &'static [Metric],
}

const fn by(kind: Kind, name: &'static str, unit: &'static str, amount: Amount) -> Metric {
    Metric { name, unit, counted: Some((kind, amount)) }
}

const fn by_driver(name: &'static str, unit: &'static str) -> Metric {
    Metric { name, unit, counted: None }
}

const fn node(name: &'static str, simple: &'static str, metrics: &'static [Metric]) -> Node {
    Node { name, simple, only_final: false, metadata: &[], metrics }
}

const fn final_node(name: &'static str, metrics: &'static [Metric]) -> Node {
    Node { name, simple: name, only_final: true, metadata: &[], metrics }
}

/// Metrics of an exchange: the stage below writes it, the one above reads it.
const fn exchange(writer: Kind, reader: Kind) -> [Metric; 22] {
    [
        by(writer, "data size", "size", Amount::DataSize),
        by_driver("number of partitions", "sum"),
        by(reader, "remote blocks read", "sum", Amount::RemoteBlocks),
        by(reader, "local blocks read", "sum", Amount::LocalBlocks),
        by(reader, "remote bytes read", "size", Amount::RemoteBytes),
        by_driver("remote bytes read to disk", "size"),
        by(reader, "local bytes read", "size", Amount::LocalBytes),
        by(reader, "fetch wait time", "timing", Amount::FetchWait),
        by(reader, "records read", "sum", Amount::RecordsRead),
        by_driver("corrupt merged block chunks", "sum"),
        by_driver("merged fetch fallback count", "sum"),
        by_driver("remote merged blocks fetched", "sum"),
        by_driver("local merged blocks fetched", "sum"),
        by_driver("remote merged chunks fetched", "sum"),
        by_driver("local merged chunks fetched", "sum"),
        by_driver("remote merged bytes read", "size"),
        by_driver("local merged bytes read", "size"),
        by(reader, "remote reqs duration", "timing", Amount::RemoteRequests),
        by_driver("remote merged reqs duration", "timing"),
        by(writer, "shuffle bytes written", "size", Amount::BytesWritten),
        by(writer, "shuffle records written", "sum", Amount::RecordsWritten),
        by(writer, "shuffle write time", "nsTiming", Amount::WriteTime),
    ]
}

const fn aggregate(kind: Kind) -> [Metric; 6] {
    [
        by(kind, "number of output rows", "sum", Amount::RecordsWritten),
        by_driver("peak memory", "size"),
        by_driver("spill size", "size"),
        by(kind, "time in aggregation build", "timing", Amount::BuildTime),
        by_driver("avg hash probes per key", "average"),
        by_driver("number of sort fallback tasks", "sum"),
    ]
}

const fn pipeline(kind: Kind) -> [Metric; 1] {
    [by(kind, "duration", "timing", Amount::PipelineTime)]
}

/// From the root to the leaf; the plan has no branches.
static NODES: &[Node] = &[
    node("AdaptiveSparkPlan", "AdaptiveSparkPlan isFinalPlan=", &[]),
    node(
        "Execute InsertIntoHadoopFsRelationCommand",
        "Execute InsertIntoHadoopFsRelationCommand hdfs://nameservice1/warehouse/sales.db/daily_totals, false, \
         [day#38], Parquet, [path=hdfs://nameservice1/warehouse/sales.db/daily_totals], Overwrite, \
         [store_id, item_id, revenue, buyers, day]",
        &[
            by_driver("number of written files", "sum"),
            by_driver("written output", "size"),
            by_driver("number of output rows", "sum"),
            by_driver("number of dynamic part", "sum"),
            by(Kind::Write, "task commit time", "timing", Amount::CommitTime),
            by_driver("job commit time", "timing"),
        ],
    ),
    node("WriteFiles", "WriteFiles", &[]),
    final_node("WholeStageCodegen (3)", &pipeline(Kind::Write)),
    node(
        "Sort",
        "Sort [day#38 ASC NULLS FIRST, revenue#61 DESC NULLS LAST], false, 0",
        &[
            by(Kind::Write, "sort time", "timing", Amount::SortTime),
            by(Kind::Write, "peak memory", "size", Amount::PeakMemory),
            by(Kind::Write, "spill size", "size", Amount::MemorySpilled),
        ],
    ),
    final_node("InputAdapter", &[]),
    final_node("ShuffleQueryStage 1", &[]),
    node(
        "Exchange",
        "Exchange rangepartitioning(day#38 ASC NULLS FIRST, revenue#61 DESC NULLS LAST, 480), \
         ENSURE_REQUIREMENTS, [plan_id=244]",
        &exchange(Kind::Aggregate, Kind::Write),
    ),
    final_node("WholeStageCodegen (2)", &pipeline(Kind::Aggregate)),
    node(
        "HashAggregate",
        "HashAggregate(keys=[store_id#31L, item_id#32L, day#38], functions=[sum(revenue#35), \
         count(distinct customer_id#33L)])",
        &aggregate(Kind::Aggregate),
    ),
    final_node("InputAdapter", &[]),
    final_node("ShuffleQueryStage 0", &[]),
    node(
        "Exchange",
        "Exchange hashpartitioning(store_id#31L, item_id#32L, day#38, 800), ENSURE_REQUIREMENTS, [plan_id=238]",
        &exchange(Kind::Scan, Kind::Aggregate),
    ),
    final_node("WholeStageCodegen (1)", &pipeline(Kind::Scan)),
    node(
        "HashAggregate",
        "HashAggregate(keys=[store_id#31L, item_id#32L, day#38], functions=[partial_sum(revenue#35), \
         partial_count(distinct customer_id#33L)])",
        &aggregate(Kind::Scan),
    ),
    node("Project", "Project [store_id#31L, item_id#32L, customer_id#33L, revenue#35, day#38]", &[]),
    node(
        "Filter",
        "Filter ((isnotnull(state#36) AND isnotnull(revenue#35)) AND NOT (state#36 = cancelled))",
        &[by_driver("number of output rows", "sum")],
    ),
    node(
        "ColumnarToRow",
        "ColumnarToRow",
        &[by_driver("number of output rows", "sum"), by_driver("number of input batches", "sum")],
    ),
    final_node("InputAdapter", &[]),
    Node {
        name: "Scan parquet sales.orders",
        simple: "FileScan parquet sales.orders[store_id#31L,item_id#32L,customer_id#33L,revenue#35,state#36,day#38] \
                 Batched: true, DataFilters: [isnotnull(state#36), isnotnull(revenue#35), NOT (state#36 = \
                 cancelled)], Format: Parquet, Location: \
                 InMemoryFileIndex(31 paths)[hdfs://nameservice1/warehouse/sales.db/orders/day=2024-10-01, hdfs:..., \
                 PartitionFilters: [], PushedFilters: [IsNotNull(state), IsNotNull(revenue), \
                 Not(EqualTo(state,cancelled))], ReadSchema: struct<store_id:bigint,item_id:bigint,...",
        only_final: false,
        metadata: &[
            (
                "Location",
                "InMemoryFileIndex(31 paths)[hdfs://nameservice1/warehouse/sales.db/orders/day=2024-10-01, \
                 hdfs://nameservice1/warehouse/sales.db/orders/day=2024-10-02, ... 29 entries]",
            ),
            (
                "ReadSchema",
                "struct<store_id:bigint,item_id:bigint,customer_id:bigint,revenue:double,state:string>",
            ),
            ("Format", "Parquet"),
            ("Batched", "true"),
            ("PartitionFilters", "[]"),
            ("PushedFilters", "[IsNotNull(state), IsNotNull(revenue), Not(EqualTo(state,cancelled))]"),
            ("DataFilters", "[isnotnull(state#36), isnotnull(revenue#35), NOT (state#36 = cancelled)]"),
        ],
        metrics: &[
            by(Kind::Scan, "number of output rows", "sum", Amount::InputRecords),
            by(Kind::Scan, "scan time", "timing", Amount::ScanTime),
            by_driver("number of files read", "sum"),
            by_driver("metadata time", "timing"),
            by_driver("size of files read", "size"),
        ],
    },
];

fn metrics() -> impl Iterator<Item = (i64, &'static Metric)> {
    (0..).zip(NODES.iter().flat_map(|node| node.metrics))
}

/// The number of identifiers that a plan needs for its metrics.
pub(super) fn metric_count() -> i64 {
    metrics().map(|_| 1).sum()
}

/// Plan metrics counted by the tasks of a stage: offset, name and amount.
pub(super) fn task_metrics(kind: Kind) -> impl Iterator<Item = (i64, &'static str, Amount)> {
    metrics().filter_map(move |(offset, metric)| match metric.counted {
        Some((of, amount)) if of == kind => Some((offset, metric.name, amount)),
        _ => None,
    })
}

/// The offset of a driver metric.
pub(super) fn driver_metric(name: &str) -> i64 {
    metrics()
        .find(|(_, metric)| metric.counted.is_none() && metric.name == name)
        .map_or(0, |(offset, _)| offset)
}

/// A plan: the initial or the final one.
#[derive(Clone, Copy)]
pub(super) struct Plan {
    /// The identifier of its first metric.
    pub(super) first_metric: i64,
    pub(super) is_final: bool,
}

impl Plan {
    /// Each node with the identifier of its first metric.
    fn nodes(self) -> impl Iterator<Item = (i64, &'static Node)> + Clone {
        let with_id = NODES.iter().scan(self.first_metric, |next, node| {
            let first = *next;
            *next += node.metrics.iter().map(|_| 1).sum::<i64>();
            Some((first, node))
        });
        with_id.filter(move |(_, node)| self.is_final || !node.only_final)
    }

    /// `physicalPlanDescription`: the tree, then a paragraph per node.
    pub(super) fn describe(self) -> String {
        let described =
            |node: &&Node| !node.name.starts_with("WholeStageCodegen") && node.name != "InputAdapter";
        let nodes: Vec<_> = self.nodes().map(|(_, node)| node).filter(described).collect();
        let mut text = "== Physical Plan ==\n".to_owned();
        for (depth, node) in nodes.iter().enumerate() {
            let (indent, branch) =
                ("   ".repeat(depth.saturating_sub(1)), if depth == 0 { "" } else { "+- " });
            // Writing to a string cannot fail.
            let _ = writeln!(text, "{indent}{branch}{} ({})", node.name, nodes.len() - depth);
        }
        for (number, node) in (1..).zip(nodes.iter().rev()) {
            let _ = write!(
                text,
                "\n\n({number}) {}\nInput [5]: [store_id#31L, item_id#32L, customer_id#33L, revenue#35, day#38]\n\
                 Arguments: {}\n",
                node.name, node.simple
            );
        }
        text.push_str("\n\n");
        text
    }

    /// `sparkPlanInfo`.
    pub(super) fn write(self, event: &mut Json) {
        event.object("sparkPlanInfo", |root| self.write_node(self.nodes(), root));
    }

    fn write_node(self, mut nodes: impl Iterator<Item = (i64, &'static Node)> + Clone, object: &mut Json) {
        let Some((first_metric, node)) = nodes.next() else { return };
        object.text("nodeName", node.name);
        if node.name == "AdaptiveSparkPlan" {
            object.text("simpleString", &format!("{}{}", node.simple, self.is_final));
        } else {
            object.text("simpleString", node.simple);
        }
        object.array("children", |children| {
            if nodes.clone().next().is_some() {
                children.braces(|child| self.write_node(nodes, child));
            }
        });
        object.texts("metadata", node.metadata);
        object.array("metrics", |list| node.write_metrics(first_metric, list));
    }
}

impl Node {
    fn write_metrics(&self, first: i64, list: &mut Json) {
        for (id, metric) in (first..).zip(self.metrics) {
            list.braces(|object| {
                object.text("name", metric.name);
                object.number("accumulatorId", id).text("metricType", metric.unit);
            });
        }
    }
}
