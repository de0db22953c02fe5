//! Work in progress.
#[doc(hidden)]
pub mod cli;
pub mod engine;
pub mod finding;
pub mod heuristics;
pub mod input;
pub mod metrics;
pub mod model;
pub mod parse;
pub mod report;
pub mod rules;
pub mod severity;
pub mod stats;
pub mod units;
