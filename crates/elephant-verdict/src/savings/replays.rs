//! Replays of one application, whatever its engine.

use std::cell::{Cell, OnceCell};

use super::mapreduce::MapReduceReplays;
use super::predict::Unknown;
use super::spark::SparkReplays;
use elephant_analysis::metrics::Metrics;
use elephant_analysis::replay::spark::RecordedOnce;
use elephant_model::model::{Application, Engine};
use elephant_ruleset::RuleSet;

/// The replays of an application. They take time, so they are computed once, when they are first needed.
pub struct ReplaysOnce<'a> {
    pub(super) app: &'a Application,
    rules: &'a RuleSet,
    pub(super) metrics: &'a Metrics,
    /// Taken when replays are made.
    recorded: Cell<RecordedOnce>,
    replays: OnceCell<Result<Replays<'a>, Unknown>>,
}

impl<'a> ReplaysOnce<'a> {
    /// Replays that are made when they are first needed.
    pub const fn new(
        app: &'a Application,
        rules: &'a RuleSet,
        metrics: &'a Metrics,
        recorded: RecordedOnce,
    ) -> Self {
        Self { app, rules, metrics, recorded: Cell::new(recorded), replays: OnceCell::new() }
    }

    /// # Errors
    /// If the application cannot be replayed.
    pub(super) fn get(&self) -> Result<&Replays<'a>, &Unknown> {
        self.replays
            .get_or_init(|| Replays::of(self.app, self.rules, self.metrics, self.recorded.take()))
            .as_ref()
    }

    /// The replays of a Spark application; `None` for another engine, or if it cannot be replayed.
    pub(crate) fn spark(&self) -> Option<&SparkReplays<'a>> {
        match self.get() {
            Ok(Replays::Spark(replays)) => Some(replays),
            _ => None,
        }
    }

    /// The replays of a MapReduce job; `None` for another engine, or if it cannot be replayed.
    pub(crate) fn mapreduce(&self) -> Option<&MapReduceReplays> {
        match self.get() {
            Ok(Replays::MapReduce(replays)) => Some(replays),
            _ => None,
        }
    }
}

/// Replays of an application.
pub enum Replays<'a> {
    /// Those of a Spark application.
    Spark(SparkReplays<'a>),
    /// Those of a MapReduce job.
    MapReduce(MapReduceReplays),
}

impl<'a> Replays<'a> {
    /// Replays the application without a change.
    ///
    /// # Errors
    /// If it cannot be replayed.
    pub fn of(
        app: &'a Application,
        rules: &'a RuleSet,
        metrics: &Metrics,
        recorded: RecordedOnce,
    ) -> Result<Self, Unknown> {
        match app.engine {
            Engine::Spark => SparkReplays::of(app, rules, metrics, recorded).map(Self::Spark),
            Engine::MapReduce => MapReduceReplays::of(app, rules.metrics(), metrics).map(Self::MapReduce),
            Engine::Tez => Err(Unknown::Tez),
        }
    }
}
