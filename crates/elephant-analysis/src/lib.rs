//! What is normal and what is not: costs, stragglers, replays under changed conditions, and metrics of nodes.

pub mod executors;
pub mod fixed_cost;
pub mod memory_fit;
pub mod metrics;
pub mod node_metrics;
pub mod replay;
pub mod root_cause;
pub mod stragglers;
pub mod task_time;
