//! Rules and metrics of Spark, on logs that tests write and on recordings.

mod codecs;
mod memory_and_runtime;
mod metrics;
mod oracle;
mod rules;
mod stage_rules;
