//! Kinds of operators, by the names of their nodes.

use std::collections::HashMap;
use std::sync::LazyLock;

/// What runs an operator.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum OperatorEngine {
    /// Spark's own code, in the JVM.
    Jvm,
    /// Databricks Photon.
    Photon,
    /// RAPIDS Accelerator: GPUs.
    Rapids,
    /// Apache Gluten, with Velox or `ClickHouse`.
    Gluten,
    /// Apache `DataFusion` Comet.
    Comet,
}

/// How two inputs are joined.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum JoinKind {
    /// Both sides are shuffled and sorted.
    SortMerge,
    /// Both sides are shuffled, one becomes a hash table.
    ShuffledHash,
    /// One side is sent to all tasks, as a hash table.
    BroadcastHash,
    /// One side is sent to all tasks, and every pair of rows is compared.
    BroadcastNestedLoop,
    /// Every pair of partitions is joined by one task.
    Cartesian,
}

/// What an operator does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum OperatorKind {
    /// Reads data from outside the application.
    Scan,
    /// Reads a cached table.
    CachedScan,
    /// Makes rows without reading anything: a range, a local table, an RDD.
    Source,
    /// Shuffles rows.
    Exchange,
    /// Sends all rows to all executors.
    Broadcast,
    /// Collects the rows of a subquery in the driver, for a condition of the operator above it: a value, or the keys that
    /// choose the partitions of a scan (dynamic partition pruning). Its rows are no input of that operator.
    Subquery,
    /// Joins two inputs.
    Join(JoinKind),
    /// Groups rows.
    Aggregate,
    /// Sorts rows.
    Sort,
    /// Computes over windows of rows.
    Window,
    /// Keeps some rows.
    Filter,
    /// Computes columns.
    Project,
    /// Makes several rows of one.
    Expand,
    /// Puts inputs one after the other.
    Union,
    /// Keeps a number of rows.
    Limit,
    /// Runs Python functions.
    Python,
    /// Keeps state between batches of a stream.
    State,
    /// Writes data, or another command.
    Write,
    /// Converts rows between engines, or between rows and columns.
    Transition,
    /// A generated pipeline around the operators below it.
    Pipeline,
    /// Stands for another operator: a stage of adaptive execution, a reused exchange, its reader, an adapter.
    Reference,
    /// Anything else.
    Other,
}

use JoinKind as J;
use OperatorKind as K;

/// Kinds by the name of the operator without the prefix of its engine.
const KINDS: [(&str, OperatorKind); 82] = [
    ("Scan", K::Scan),
    ("BatchScan", K::Scan),
    ("FileScan", K::Scan),
    ("FileSourceScan", K::Scan),
    ("FileNativeScan", K::Scan),
    ("NativeScan", K::Scan),
    ("HiveTableScan", K::Scan),
    ("MicroBatchScan", K::Scan),
    ("ContinuousScan", K::Scan),
    ("RowDataSourceScan", K::Scan),
    ("InMemoryTableScan", K::CachedScan),
    ("Range", K::Source),
    ("LocalTableScan", K::Source),
    ("ExternalRDDScan", K::Source),
    ("Exchange", K::Exchange),
    ("ShuffleExchange", K::Exchange),
    ("ColumnarExchange", K::Exchange),
    ("ColumnarShuffleExchange", K::Exchange),
    ("BroadcastExchange", K::Broadcast),
    ("ColumnarBroadcastExchange", K::Broadcast),
    ("Subquery", K::Subquery),
    ("SubqueryBroadcast", K::Subquery),
    ("SubqueryAdaptiveBroadcast", K::Subquery),
    ("ColumnarSubqueryBroadcast", K::Subquery),
    ("SortMergeJoin", K::Join(J::SortMerge)),
    ("ShuffledHashJoin", K::Join(J::ShuffledHash)),
    ("ShuffledSymmetricHashJoin", K::Join(J::ShuffledHash)),
    ("HashJoin", K::Join(J::ShuffledHash)),
    ("StreamingSymmetricHashJoin", K::Join(J::ShuffledHash)),
    ("BroadcastHashJoin", K::Join(J::BroadcastHash)),
    ("BroadcastNestedLoopJoin", K::Join(J::BroadcastNestedLoop)),
    ("CartesianProduct", K::Join(J::Cartesian)),
    ("HashAggregate", K::Aggregate),
    ("ObjectHashAggregate", K::Aggregate),
    ("SortAggregate", K::Aggregate),
    ("RegularHashAggregate", K::Aggregate),
    ("FlushableHashAggregate", K::Aggregate),
    ("GroupingAgg", K::Aggregate),
    ("Agg", K::Aggregate),
    ("Sort", K::Sort),
    ("TopK", K::Limit),
    ("TakeOrderedAndProject", K::Limit),
    ("Window", K::Window),
    ("RunningWindowFunction", K::Window),
    ("RunningWindow", K::Window),
    ("WindowGroupLimit", K::Window),
    ("Filter", K::Filter),
    ("Project", K::Project),
    ("Expand", K::Expand),
    ("Generate", K::Expand),
    ("Union", K::Union),
    ("LocalLimit", K::Limit),
    ("GlobalLimit", K::Limit),
    ("CollectLimit", K::Limit),
    ("CollectTail", K::Limit),
    ("BatchEvalPython", K::Python),
    ("ArrowEvalPython", K::Python),
    ("ArrowEvalPythonUDTF", K::Python),
    ("BatchEvalPythonUDTF", K::Python),
    ("MapInPandas", K::Python),
    ("MapInArrow", K::Python),
    ("PythonMapInArrow", K::Python),
    ("AggregateInPandas", K::Python),
    ("ArrowAggregatePython", K::Python),
    ("WindowInPandas", K::Python),
    ("ArrowWindowPython", K::Python),
    ("FlatMapGroupsInPandas", K::Python),
    ("FlatMapGroupsInArrow", K::Python),
    ("FlatMapCoGroupsInPandas", K::Python),
    ("FlatMapCoGroupsInArrow", K::Python),
    ("StateStoreSave", K::State),
    ("StateStoreRestore", K::State),
    ("FlatMapGroupsWithState", K::State),
    ("TransformWithState", K::State),
    ("WriteFiles", K::Write),
    ("OverwriteByExpression", K::Write),
    ("WriteToDataSourceV2", K::Write),
    ("AppendData", K::Write),
    ("ReplaceData", K::Write),
    ("WriteDelta", K::Write),
    ("SerializeFromObject", K::Transition),
    ("DeserializeToObject", K::Transition),
];

/// [`KINDS`], to look up the operators of thousands of plans.
static BY_NAME: LazyLock<HashMap<&str, OperatorKind>> = LazyLock::new(|| KINDS.into_iter().collect());

/// Operators that stand for what they wrap or reuse.
const REFERENCES: [&str; 10] = [
    "AQEShuffleRead",
    "CustomShuffleReader",
    "ShuffleQueryStage",
    "BroadcastQueryStage",
    "TableCacheQueryStage",
    "ResultQueryStage",
    "InputAdapter",
    "ReusedExchange",
    "ReusedSubquery",
    "AdaptiveSparkPlan",
];

/// Whether an operator uses the rows of another part of the plan again, by the name of its node.
#[must_use]
pub fn is_reuse(name: &str) -> bool {
    name.starts_with("Reused")
}

impl OperatorKind {
    /// The kind of an operator by the name of its node.
    #[must_use]
    pub fn of(name: &str) -> Self {
        let name = name.strip_prefix("DataFlint").unwrap_or(name);
        if name.starts_with("WholeStageCodegen") {
            return Self::Pipeline;
        }
        let word = name.split([' ', '(']).next().unwrap_or_default();
        if REFERENCES.contains(&word) {
            return Self::Reference;
        }
        let (_, plain) = split_engine(word);
        if let Some(&kind) = BY_NAME.get(plain) {
            return kind;
        }
        match word {
            "Execute" => Self::Write,
            _ if word.contains("ToRow") || word.contains("ToColumnar") || word.contains("RowTo") => {
                Self::Transition
            }
            _ if plain.ends_with("CoalesceBatches") || plain.ends_with("ShuffleCoalesce") => Self::Transition,
            _ => Self::Other,
        }
    }

    /// Whether it only wraps the operators below it, or stands for another one: it does nothing itself.
    #[must_use]
    pub const fn only_refers(self) -> bool {
        matches!(self, Self::Pipeline | Self::Reference)
    }

    /// Whether rows move to other tasks, or to the driver: the operators above run in other stages than those below.
    #[must_use]
    pub const fn moves_rows(self) -> bool {
        matches!(self, Self::Exchange | Self::Broadcast | Self::Subquery)
    }
}

impl OperatorEngine {
    /// The engine that runs an operator, by the name of its node.
    #[must_use]
    pub fn of(name: &str) -> Self {
        let word =
            name.strip_prefix("DataFlint").unwrap_or(name).split([' ', '(']).next().unwrap_or_default();
        split_engine(word).0
    }
}

/// The engine of an operator, and its name without the engine's prefix or suffix.
fn split_engine(word: &str) -> (OperatorEngine, &str) {
    let prefixes = [
        ("Photon", OperatorEngine::Photon),
        ("Gpu", OperatorEngine::Rapids),
        ("Comet", OperatorEngine::Comet),
        ("Velox", OperatorEngine::Gluten),
    ];
    for (prefix, engine) in prefixes {
        if let Some(plain) = word.strip_prefix(prefix) {
            return (engine, plain);
        }
    }
    let transformer = word.strip_suffix("ExecTransformer").or_else(|| word.strip_suffix("Transformer"));
    match transformer {
        Some(plain) => (OperatorEngine::Gluten, plain),
        None => (OperatorEngine::Jvm, word),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operators_are_known_by_their_names() {
        for (name, kind, engine) in [
            ("Scan parquet spark_catalog.default.sales", K::Scan, OperatorEngine::Jvm),
            ("Scan ExistingRDD", K::Scan, OperatorEngine::Jvm),
            ("WholeStageCodegen (12)", K::Pipeline, OperatorEngine::Jvm),
            ("SortMergeJoin(skew=true)", K::Join(J::SortMerge), OperatorEngine::Jvm),
            ("GpuShuffledHashJoin", K::Join(J::ShuffledHash), OperatorEngine::Rapids),
            ("PhotonGroupingAgg", K::Aggregate, OperatorEngine::Photon),
            ("PhotonBroadcastHashJoin", K::Join(J::BroadcastHash), OperatorEngine::Photon),
            ("ProjectExecTransformer", K::Project, OperatorEngine::Gluten),
            ("FileScanTransformer parquet default.sales", K::Scan, OperatorEngine::Gluten),
            ("VeloxColumnarToRow", K::Transition, OperatorEngine::Gluten),
            ("CometHashAggregate", K::Aggregate, OperatorEngine::Comet),
            ("GpuColumnarToRow", K::Transition, OperatorEngine::Rapids),
            ("ColumnarToRow", K::Transition, OperatorEngine::Jvm),
            ("Execute InsertIntoHadoopFsRelationCommand", K::Write, OperatorEngine::Jvm),
            ("AQEShuffleRead", K::Reference, OperatorEngine::Jvm),
            ("Subquery", K::Subquery, OperatorEngine::Jvm),
            ("ReusedSubquery", K::Reference, OperatorEngine::Jvm),
            ("GpuSubqueryBroadcast", K::Subquery, OperatorEngine::Rapids),
            ("BatchEvalPython", K::Python, OperatorEngine::Jvm),
            ("", K::Other, OperatorEngine::Jvm),
        ] {
            assert_eq!((OperatorKind::of(name), OperatorEngine::of(name)), (kind, engine), "{name}");
        }
    }
}
