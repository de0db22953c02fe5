//! Spark rules and metrics, on generated logs and on recordings.

mod codecs;
mod memory_and_runtime;
mod metrics;
mod oracle;
mod rules;
mod stage_rules;
