//! What the tasks of a Spark application did: its queries (SQL executions), the operators of their plans, the stages in
//! which each operator ran, and where the time went.
//!
//! Spark logs a plan as a tree of operators whose metrics are accumulators, and the values of accumulators with the stages
//! that changed them. So an operator ran in the stages that hold one of its accumulators; nothing is guessed from the shape
//! of the plan. Invariants, held by tests over real logs:
//! - The parts of a stage add up to the time of its tasks exactly, and no operator has more than its stage.
//! - The parts of a query's wall time add up to it exactly.

mod counter;
mod ground;
mod operator;
mod pipeline;
mod purpose;
mod query;
#[cfg(test)]
mod sample;
mod summary;
mod taker;
mod tasks;
mod values;
mod wall;
mod words;

pub use counter::{SqlCounter, counter_of};
pub use ground::{Cost, Ground, TaskTime};
pub use operator::{Engine, JoinKind, OperatorKind};
pub use pipeline::{Part, StageWork};
pub use purpose::Purpose;
pub use query::{PlacedOperator, Queries, Query, Value};
pub use summary::{Extent, OperatorSummary, QuerySummary};
pub use tasks::{FixedBy, Single};
pub use wall::Wall;
pub use words::{below, name_of_operator, name_of_query, name_of_source, sources_below, without_numbers};
