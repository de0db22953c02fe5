//! What an application did on one node: sums that can be added up over many applications.

use crate::state::state;
use crate::units::Millis;

/// Sums of one application on one node. Whole numbers, so that no sum depends on the order.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct NodeWork {
    /// The node as logged.
    pub(crate) node: String,
    /// Attempts that ran there.
    pub(crate) attempts: u64,
    pub(crate) failed: u64,
    /// Total run time of the attempts; `None` if the log has the times of none.
    pub(crate) task_time: Option<Millis>,
    /// Executors that were lost, not because of memory and not on purpose.
    pub(crate) lost_executors: u64,
    /// Other failures that messages blame on the node.
    pub(crate) node_failures: u64,
    /// Attempts that can be compared with others: they succeeded, in a group with enough tasks.
    pub(crate) compared: u64,
    /// How many of those are stragglers.
    pub(crate) stragglers: u64,
    /// The sum of their z-scores, and of the squares of these, in millionths.
    pub(crate) score: i64,
    pub(crate) squares: i64,
}

state!(struct NodeWork { node, attempts, failed, task_time, lost_executors, node_failures, compared, stragglers, score,
    squares });
