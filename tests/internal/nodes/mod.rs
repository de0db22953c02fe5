//! Node ranking and node metrics.

mod metrics;
mod oracle;
mod ranking;
