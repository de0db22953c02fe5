//! The rules of Spark, one file per heuristic, and their shared functions.

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
pub(super) use support::memory::no_peaks;
pub(super) use support::remedies::{against_kinds, look_at};
pub(super) use support::root::{Root, in_words};
pub(super) use support::waiting::{Missing, slow_requests, waiting_advice};

use super::Rule;
use super::wording::{change, percent};
use elephant_model::model::conf::ConfKey;
use elephant_model::model::spark::{Spark, Stage};
use elephant_model::model::{Application, Engine};
use elephant_rule::finding::SettingChange;

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

macro_rules! rule {
    ($($fact:tt)+) => {
        $crate::rule!("spark", $($fact)+)
    };
}
use rule;

/// The Spark part of the application; `None` for another engine.
fn spark(app: &Application) -> Option<&Spark> {
    app.spark.as_deref().filter(|_| app.engine == Engine::Spark)
}

/// Whether executors or tasks of the application ended for lack of memory.
pub(super) fn is_short_of_memory(app: &Application) -> bool {
    spark(app).is_some_and(|spark| support::memory::was_short(app, spark))
}

/// Whether the stage belongs to a query of Spark SQL.
fn runs_sql(spark: &Spark, stage: &Stage) -> bool {
    spark.job_of(stage).is_some_and(|job| job.sql_execution.is_some())
}

/// The change of a setting; `None` if it already has this value.
fn change_to(app: &Application, key: ConfKey, new: impl std::fmt::Display) -> Option<SettingChange> {
    let change = change(app, key, new);
    let is_set = change.from.as_deref().is_some_and(|now| now.eq_ignore_ascii_case(&change.to));
    (!is_set).then_some(change)
}
