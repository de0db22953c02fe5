//! Straggler analytics against the oracle, and metrics of nodes.

// Tells clippy that helpers are test code, too.
#![cfg(test)]

mod at_least;
mod node_metrics;
mod spark_metrics;
mod stragglers;
