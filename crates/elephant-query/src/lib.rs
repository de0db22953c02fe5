//! What the tasks of a Spark application did: its queries (SQL executions), the operators of their plans, the stages in
//! which each operator ran, and where the time went.
//!
//! Spark logs a plan as a tree of operators whose metrics are accumulators, and the values of accumulators with the stages
//! that changed them. So an operator ran in the stages that hold one of its accumulators; nothing is guessed from the shape
//! of the plan. Invariants, held by tests over real logs:
//! - The parts of a stage add up to the time of its tasks exactly, and no operator has more than its stage.
//! - The parts of a query's wall time add up to it exactly.

mod amount;
mod caches;
mod drawn;
mod dynamic_pruning;
mod fallback;
mod feeders;
mod ground;
mod pipeline;
mod plan_text;
mod pruning;
mod purpose;
mod query;
mod reuse;
#[cfg(test)]
mod sample;
mod summary;
mod taker;
mod tasks;
mod told;
mod values;
mod wall;
mod words;

pub use elephant_model::model::spark::{JoinKind, OperatorKind, SqlCounter, plain_name};

pub use amount::{Amount, amount_of, metric_names};
pub use caches::CachedTable;
pub use drawn::{Drawn, DrawnOperator};
pub use dynamic_pruning::{DynamicPruning, dynamic_pruning, feeds_pruning};
pub use fallback::{in_the_jvm, transitions};
pub use ground::{Cost, Ground, TaskTime};
pub use pipeline::{Part, StageWork};
pub use pruning::{Unpruned, WhyUnpruned, chooses_partitions, filter_above, partition_columns, unpruned};
pub use purpose::Purpose;
pub use query::{PlacedOperator, Queries, Query, Value};
pub use summary::{Extent, OperatorSummary, PrunedBy, QuerySummary};
pub use tasks::{FixedBy, Single};
pub use told::Told;
pub use wall::Wall;
pub use words::{
    below, feeding, name_of_operator, name_of_query, name_of_source, short_name_of_query, sources_below,
    without_numbers,
};
