//! Replays of one application, whatever its engine.

use super::mapreduce::MapReduceReplays;
use super::predict::Unknown;
use super::spark::SparkReplays;
use crate::metrics::Metrics;
use crate::model::{Application, Engine};
use crate::rules::RuleSet;

/// Replays of an application.
pub(crate) enum Replays<'a> {
    Spark(SparkReplays<'a>),
    MapReduce(MapReduceReplays),
}

impl<'a> Replays<'a> {
    /// Replays the application without a change.
    ///
    /// # Errors
    /// If it cannot be replayed.
    pub(crate) fn of(app: &'a Application, rules: &'a RuleSet, metrics: &Metrics) -> Result<Self, Unknown> {
        match app.engine {
            Engine::Spark => SparkReplays::of(app, rules, metrics).map(Self::Spark),
            Engine::MapReduce => MapReduceReplays::of(app, metrics).map(Self::MapReduce),
        }
    }
}
