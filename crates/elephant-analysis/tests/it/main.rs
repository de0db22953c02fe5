//! Straggler analytics against the oracle, and metrics of nodes.

// Clippy does not recognise test helpers as test code.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::string_slice,
    unreachable_pub
)]

mod at_least;
mod node_metrics;
mod spark_metrics;
mod stragglers;
