//! The rules of Spark, one file per heuristic.

mod configuration;
mod configuration_parameters;
mod driver_metrics;
mod event_log_limit;
mod executor_gc;
mod executor_load_balance;
mod executor_metrics;
mod executor_spill;
mod fetch_wait;
mod job_metrics;
mod job_runtime;
mod jvm_used_memory;
mod memory_limit;
mod parallelism;
mod peak_unified_memory;
mod query;
mod skew;
mod stage_metrics;
mod stage_runtime;
mod stages_with_failed_tasks;
mod support;
#[cfg(test)]
mod tests;

pub(super) use query::RULES as QUERY_RULES;
pub(super) use support::beyond_heap::memory_to_reduce;
pub(super) use support::driver_alone::waits_by_design;
pub(super) use support::idle::Idleness;
pub(super) use support::memory::{is_short_of_memory, no_peaks};
pub(super) use support::remedies::{against_kinds, look_at};
pub(super) use support::root::{Root, in_words};
pub(super) use support::waiting::{Missing, slow_requests, waiting_advice};

use elephant_catalogue::Rule;

/// Every rule of Spark, in the order of the documentation.
pub(super) const RULES: &[Rule] = &[
    configuration::RULE,
    executor_metrics::RULE,
    job_metrics::RULE,
    stage_metrics::RULE,
    executor_gc::RULE,
    peak_unified_memory::RULE,
    jvm_used_memory::RULE,
    executor_spill::RULE,
    stages_with_failed_tasks::RULE,
    driver_metrics::RULE,
    configuration_parameters::RULE,
    event_log_limit::RULE,
    executor_load_balance::RULE,
    job_runtime::RULE,
    memory_limit::RULE,
    stage_runtime::RULE,
    parallelism::RULE,
    skew::RULE,
    fetch_wait::RULE,
];
