//! Ranking of nodes, and measurements of nodes.

mod metrics;
mod oracle;
mod ranking;
