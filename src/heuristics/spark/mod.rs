//! The rules of Spark, one file per heuristic; what several share stands here.

mod configuration;
mod containers;
mod event_log_limit;
mod executor_gc;
mod executor_metrics;
mod failures;
mod job_metrics;
mod memory_limit;
mod stage_metrics;

use super::Rule;
use crate::model::conf::ConfKey;
use crate::model::spark::Spark;
use crate::model::{Application, Engine};

/// Every rule of Spark, in the order of the documentation.
pub(super) const RULES: &[Rule] = &[
    configuration::RULE,
    executor_metrics::RULE,
    job_metrics::RULE,
    stage_metrics::RULE,
    executor_gc::RULE,
    event_log_limit::RULE,
    memory_limit::RULE,
];

macro_rules! rule {
    ($id:literal, $title:literal, $load:expr) => {
        $crate::heuristics::rule!("spark", $id, $title, $load)
    };
}
use rule;

/// What only Spark applications have; `None` for another engine.
fn spark(app: &Application) -> Option<&Spark> {
    app.spark.as_deref().filter(|_| app.engine == Engine::Spark)
}

/// A share as people read it: "12.5 %".
fn percent(share: f64) -> String {
    format!("{} %", crate::units::three_digits(100.0 * share))
}

/// A setting to paste, with what it was: `--conf spark.executor.memory=6g (now 4g)`.
fn conf_line(app: &Application, key: ConfKey, new: impl std::fmt::Display) -> String {
    match app.conf.find(key) {
        Some((name, old)) => format!("--conf {name}={new} (now {old})"),
        None => format!("--conf {}={new}", key.name()),
    }
}
