//! Parsers, decompression and rules on bytes in memory.

use std::hint::black_box;
use std::io::{Cursor, Read};

use elephant_analysis::metrics::Metrics;
use elephant_catalogue::Shared;
use elephant_input::codec;
use elephant_input::window::ByteWindow;
use elephant_model::model::Application;
use elephant_model::model::conf::Conf;
use elephant_parse::spark::{self, Completeness, Feed, Log, Names, Part};
use elephant_parse::{Parsed, hadoop1 as hadoop1_history, jhist, jobconf};
use elephant_rule::finding::{Name, Verdict};
use elephant_ruleset::RuleSet;

/// The applications of a history; `black_box` keeps the problems from being optimised away.
fn applications(parsed: Parsed) -> Vec<Application> {
    black_box(parsed).applications
}

/// Parses a job history in Avro JSON.
pub(crate) fn avro_json(bytes: &[u8]) -> Vec<Application> {
    applications(jhist::json::parse(ByteWindow::new(bytes)))
}

/// Parses a job history in Avro binary.
pub(crate) fn avro_binary(bytes: &[u8]) -> Vec<Application> {
    applications(jhist::avro::parse(ByteWindow::new(bytes)))
}

/// Parses a job history of Hadoop 1.
pub(crate) fn hadoop1(bytes: &[u8]) -> Vec<Application> {
    applications(hadoop1_history::parse(ByteWindow::new(bytes)))
}

/// Parses a Spark event log.
pub(crate) fn spark_log(bytes: &[u8]) -> Vec<Application> {
    let open = || Ok(Feed::Stream(Box::new(Cursor::new(bytes.to_vec()))));
    let parts = vec![Part { name: "log".to_owned(), open: Box::new(open) }];
    applications(spark::parse(&Log { parts, names: Names::default(), completeness: Completeness::default() }))
}

/// Parses a job configuration.
pub(crate) fn configuration(bytes: &[u8]) -> Conf {
    jobconf::parse(bytes).0
}

/// Decompresses bytes in any codec.
pub(crate) fn decode(bytes: Vec<u8>) -> impl Read {
    codec::decode(Box::new(Cursor::new(bytes)))
}

/// An application and rules to evaluate on it one by one.
pub(crate) struct Judging {
    app: Application,
    rules: RuleSet,
    metrics: Metrics,
}

impl Judging {
    /// Measures the application once, for all rules.
    pub(crate) fn new(app: Application, rules: RuleSet) -> Self {
        let metrics = rules.measure(&app);
        Self { app, rules, metrics }
    }

    /// The ids of the rules.
    pub(crate) fn ids(&self) -> impl Iterator<Item = &str> {
        self.rules.rules().iter().map(|rule| rule.info.id.as_ref())
    }

    /// The verdict of one rule; `None` if there is no such rule.
    pub(crate) fn verdict(&self, id: &str) -> Option<Verdict<Name>> {
        let rule = self.rules.rules().iter().find(|rule| rule.info.id == id)?;
        Some(rule.verdict(black_box(&self.app), &Shared::of(&self.app).with_metrics(&|| &self.metrics)))
    }
}
