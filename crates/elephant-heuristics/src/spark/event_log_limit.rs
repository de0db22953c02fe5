//! `spark-event-log-limit`: event logs that are too large for history servers (seed: Dr. Elephant's wiki,
//! "Spark Event Log Limit").

use super::support::application::spark;
use crate::declare::spark as rule;
use elephant_base::severity::Severity;
use elephant_base::units::Bytes;
use elephant_catalogue::{Check, Rule, load};
use elephant_model::model::Application;
use elephant_model::model::conf::ConfKey;
use elephant_model::model::spark::LogFacts;
use elephant_rule::finding::{Advice, Judgement, Measure, Subject, Verdict};
use elephant_rule::params::cutoffs::Ascending;
use elephant_rule::params::quantity::Size;
use elephant_rule::params::{choice, rule_params};
use elephant_rule::wording::change;

choice! {
    /// Which size of a log is judged.
    pub(super) enum Measured {
        /// The decompressed size, which readers have to parse.
        Decoded = "decoded",
        /// The size on disk.
        Stored = "stored",
    }
}

rule_params! {
    /// Parameters of `spark-event-log-limit`.
    pub(super) struct Limit / LimitLayer {
        /// Size of the event log.
        size: Ascending<Size>,
        /// Which size is judged: decoded (JSON to parse) or stored (bytes on disk).
        measured: Measured,
        /// Whether rolling logs (spark.eventLog.rolling.enabled) are judged, too.
        judge_rolling: bool,
    }
}

pub(super) const RULE: Rule = rule!(
    DrElephant { version: "2.0.9" },
    "spark-event-log-limit",
    "Spark Event Log Limit", tells Cluster,
    Limit,
    |layers, _| load(layers, LogSize)
);

/// The message of a finding.
const MESSAGE: &str = "the event log is {size} ({limit})";

/// The message for a rolling log, if those are not judged.
const IN_PARTS: &str = "the event log is rolling, so its size of {size} is not judged";

struct LogSize(Limit);

impl Check for LogSize {
    fn check(&self, app: &Application) -> Verdict {
        let Some(spark) = spark(app) else { return Verdict::NotApplicable };
        let Some(size) = self.size(&spark.log) else {
            return Verdict::NotEvaluated("the size of the event log is unknown".to_owned());
        };
        let judged = self.0.judge_rolling || !spark.log.rolling;
        let severity = if judged { self.0.size.severity(size.as_f64()) } else { Severity::None };
        let mut evidence = vec![("decoded_bytes", Measure::Size(spark.log.decoded))];
        evidence.extend(spark.log.stored.map(|stored| ("stored_bytes", Measure::Size(stored))));
        // One log, whatever its number of tasks.
        Judgement::of(Subject::Application, severity)
            .facts(evidence)
            .message(
                if judged { MESSAGE } else { IN_PARTS },
                &[("size", &size), ("limit", &self.0.size.describe(severity))],
            )
            .advice(|| advice(app, &spark.log))
            .into()
    }
}

impl LogSize {
    fn size(&self, log: &LogFacts) -> Option<Bytes> {
        match self.0.measured {
            Measured::Decoded => Some(log.decoded),
            Measured::Stored => log.stored,
        }
    }
}

fn advice(app: &Application, log: &LogFacts) -> Vec<Advice> {
    let mut advice = Vec::new();
    if log.rolling {
        advice.push(
            "let the history server compact old parts: spark.history.fs.eventLog.rolling.maxFilesToRetain=10 \
             in its own configuration"
                .into(),
        );
    } else {
        advice.push(Advice::new("use rolling event logs").set_for_first([
            change(app, ConfKey::EventLogRolling, true),
            change(app, ConfKey::EventLogRollingMaxFileSize, "128m"),
        ]));
    }
    if app.conf.flag(ConfKey::EventLogBlockUpdates) == Some(true) {
        let off = change(app, ConfKey::EventLogBlockUpdates, false);
        advice.push(Advice::new("do not log block updates").set([off]));
    }
    advice
}
