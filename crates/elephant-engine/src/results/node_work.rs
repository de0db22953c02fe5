//! What an application did on one node: sums that can be added up over many applications.

use elephant_base::state::State;
use elephant_base::units::Millis;

/// Sums of one application on one node. Whole numbers, so that no sum depends on the order.
#[derive(Debug, Clone, PartialEq, Eq, Default, State)]
pub struct NodeWork {
    /// The node as logged.
    pub node: String,
    /// Attempts that ran there.
    pub attempts: u64,
    /// Those of them that failed.
    pub failed: u64,
    /// Total run time of the attempts; `None` if the log has the times of none.
    pub task_time: Option<Millis>,
    /// Executors that were lost, not because of memory and not on purpose.
    pub lost_executors: u64,
    /// Other failures that messages blame on the node.
    pub node_failures: u64,
    /// Attempts that can be compared with others: they succeeded, in a group with enough tasks.
    pub compared: u64,
    /// How many of those are stragglers.
    pub stragglers: u64,
    /// The sum of their z-scores, in millionths.
    pub score: i64,
    /// The sum of the squares of their z-scores, in millionths.
    pub squares: i64,
}
