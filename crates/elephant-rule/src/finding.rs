//! Findings of rules about an application: plain data, created by heuristics and shown by reports.
//!
//! A rule returns a [`Verdict`], built with [`Judgement`]: facts with their units, a message that shows them, and advice.

mod advice;
mod cap;
mod facts;
mod failure;
mod judging;
mod template;
mod trouble;
mod when;

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use chrono::NaiveDate;

use elephant_base::severity::Severity;
use elephant_base::state::State;
use elephant_base::units::{Bytes, BytesPerSecond, Millis, three_digits};
use elephant_model::model::spark::StageAttempt;

pub use advice::{Advice, Serving, SettingChange, drop_repeated};
pub use cap::{Cap, CapReason, Caps};
pub use elephant_model::model::Subject;
pub use facts::{ChartLimit, ComparedWith, Container, KeyMeasure, Provenance, RuleFacts, Worse};
pub use failure::Failure;
pub use judging::and_more;
pub use template::{Phrase, Word, multiple, percent};
pub use trouble::TroubleKind;
pub use when::When;

/// The id, title or key of a rule: a static string for built-in rules, an owned one for rules from files.
pub type Name = Cow<'static, str>;

/// A measured value. Its key ends with the unit: `_ms`, `_bytes`, `_count`, `_ratio`.
#[derive(Debug, Clone, PartialEq, State)]
pub enum Measure {
    /// A plain count.
    Count(u64),
    /// A span of time.
    Time(Millis),
    /// A size.
    Size(Bytes),
    /// A setting in MiB, as Hadoop counts memory.
    Mebibytes(u64),
    /// A speed.
    Speed(BytesPerSecond),
    /// A ratio; `None` if it is infinite.
    Ratio(Option<f64>),
    /// A number, possibly negative, in the unit given by the key suffix; `None` if unknown.
    Number(Option<f64>, Name),
    /// A logged name or message.
    Text(String),
}

#[doc(hidden)]
impl Measure {
    /// The suffix of JSON keys that gives the unit.
    #[must_use]
    pub fn key_ending(&self) -> &str {
        match self {
            Self::Count(_) => "_count",
            Self::Time(_) => "_ms",
            Self::Size(_) => "_bytes",
            Self::Mebibytes(_) => "_mb",
            Self::Speed(_) => "_bytes_per_second",
            Self::Ratio(_) => "_ratio",
            Self::Number(_, ending) => ending,
            Self::Text(_) => "_text",
        }
    }
}

impl fmt::Display for Measure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Count(count) => count.fmt(f),
            Self::Time(time) => time.fmt(f),
            Self::Size(size) => size.fmt(f),
            Self::Mebibytes(size) => write!(f, "{size} MiB"),
            Self::Speed(speed) => speed.fmt(f),
            Self::Ratio(Some(ratio)) => f.write_str(&three_digits(*ratio)),
            Self::Ratio(None) => f.write_str("infinite"),
            Self::Number(Some(number), _) => f.write_str(&three_digits(*number)),
            Self::Number(None, _) => f.write_str("unknown"),
            Self::Text(text) => f.write_str(text),
        }
    }
}

/// Stages of Spark, or tasks of a job, whose work should be divided into another number of tasks.
#[derive(Debug, Clone, PartialEq, Eq, State)]
pub struct Repartition {
    /// The stage attempts; none in MapReduce, where the subject of the finding says which tasks.
    pub stages: Vec<StageAttempt>,
    /// The number of tasks of each.
    pub tasks: u32,
}

/// A query of Spark SQL that a finding is about, or an operator of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, State)]
pub struct InQuery {
    /// The id of the SQL execution.
    pub query: u64,
    /// The place among its operators; `None` if the finding is about the query as a whole.
    pub operator: Option<u32>,
}

/// A list of cut-offs that a finding was judged by, with its name in the rule file.
#[derive(Debug, Clone, PartialEq, State)]
pub struct Threshold {
    /// The key in the rule file, including the unit suffix.
    pub key: String,
    /// Low, moderate, severe, critical.
    pub cutoffs: [f64; 4],
}

/// What a condition of a rule measures, for the charts of a phase.
#[derive(Debug, Clone, Copy, PartialEq, Eq, State)]
pub enum Measured {
    /// Run times of tasks.
    RunTime,
    /// Bytes that tasks read.
    Bytes,
}

/// A condition that must hold in addition to the limit that a chart draws, judged at the severity of the finding.
#[derive(Debug, Clone, PartialEq, Eq, State)]
pub struct Condition {
    /// The key of the drawn threshold, with the unit's ending.
    pub limit: Name,
    /// The quantity of the chart.
    pub of: Measured,
    /// "share of the time lost: 2 %, low from 5 %".
    pub text: String,
    /// Whether it holds.
    pub holds: bool,
}

/// One rule's judgement on one subject.
#[derive(Debug, Clone, PartialEq, State)]
pub struct Finding {
    /// The rule's id.
    pub rule: Name,
    /// The rule's name for readers.
    pub title: Name,
    /// Facts about the rule.
    #[state(skip = RuleFacts::USER)]
    pub rule_facts: &'static RuleFacts,
    /// The kind of trouble that it indicates.
    pub tells: TroubleKind,
    /// Its severity: the raw one, lowered to the lowest cap. Only [`Finding::cap`] lowers it.
    pub severity: Severity,
    /// The severity that the rule's thresholds and the rule file give.
    pub raw_severity: Severity,
    /// What lowers its severity.
    pub caps: Caps,
    /// Raw severity value × number of tasks of the subject; 0 below moderate.
    pub score: u64,
    /// The part of the application it is about.
    pub subject: Subject,
    /// One sentence with the measured value and the limit it passed.
    pub message: String,
    /// The same without the limit, and without what restricts it.
    pub statement: String,
    /// The measured values, by key.
    pub evidence: Vec<(Name, Measure)>,
    /// The effective cut-offs.
    pub thresholds: Arc<[Threshold]>,
    /// Advice, each item with a setting and a value; empty if nothing was found.
    pub advice: Vec<Advice>,
    /// Other numbers of tasks that would remove the trouble.
    pub repartition: Option<Repartition>,
    /// Whether it is also about parts without a judgement of their own.
    pub of_more_parts: bool,
    /// Other parts of the application that the trouble shows in, or comes from.
    pub also_about: Vec<Subject>,
    /// The queries and operators that it is about; none if it is about stages or the application, whatever ran in them.
    pub in_queries: Vec<InQuery>,
    /// The conditions in addition to the limits that charts draw.
    pub conditions: Vec<Condition>,
    /// The root cause, if it is about a failure.
    pub failure: Option<Failure>,
}

#[doc(hidden)]
impl Finding {
    /// A measurement of its evidence.
    #[must_use]
    pub fn measure(&self, key: &str) -> Option<&Measure> {
        self.evidence.iter().find(|(name, _)| *name == key).map(|(_, measure)| measure)
    }

    /// A number of things of its evidence.
    #[must_use]
    pub fn count(&self, key: &str) -> Option<u64> {
        match self.measure(key)? {
            Measure::Count(count) => Some(*count),
            _ => None,
        }
    }

    /// A time of its evidence.
    #[must_use]
    pub fn time(&self, key: &str) -> Option<Millis> {
        match self.measure(key)? {
            Measure::Time(time) => Some(*time),
            _ => None,
        }
    }

    /// The severity that it would have in an application that is not small.
    #[must_use]
    pub fn severity_in_larger_run(&self) -> Severity {
        if self.caps.hold_in_larger_runs() { self.severity } else { self.raw_severity }
    }

    /// Bounds the severity. A cap that is not below what the rule gives bounds nothing, and is not kept.
    pub fn cap(&mut self, cap: Cap) {
        if cap.at_most < self.raw_severity {
            self.caps.add(cap);
            self.severity = self.caps.fold(self.raw_severity);
        }
    }
}

/// The result of a check, before the rule's name and score are added. Keys of evidence are static strings, or
/// [`Name`]s if they come from a rule file.
#[derive(Debug, Clone, PartialEq)]
pub struct Judgement<K = &'static str> {
    /// Its severity.
    pub severity: Severity,
    /// The part of the application it is about.
    pub subject: Subject,
    /// Number of tasks of the subject.
    pub tasks: u64,
    /// One sentence with the measured value and the limit it passed.
    pub message: String,
    /// The same without limits.
    pub statement: String,
    /// The measured values, by key.
    pub evidence: Vec<(K, Measure)>,
    /// Advice.
    pub advice: Vec<Advice>,
    /// The kind of trouble that it indicates; `None` for the one that the rule is about.
    pub tells: Option<TroubleKind>,
    /// Other numbers of tasks that would remove the trouble.
    pub repartition: Option<Repartition>,
    /// Whether it is also about parts without a judgement of their own.
    pub of_more_parts: bool,
    /// Other parts of the application that the trouble shows in, or comes from.
    pub also_about: Vec<Subject>,
    /// The queries and operators that it is about, if it is about some in particular.
    pub in_queries: Vec<InQuery>,
    /// The conditions in addition to the limits that charts draw, if the rule provides them.
    pub conditions: Option<Box<[Condition]>>,
    /// The root cause, if it is about a failure.
    pub failure: Option<Failure>,
}

/// The outcome of a check.
#[derive(Debug, Clone, PartialEq)]
#[allow(clippy::large_enum_variant, reason = "most are judgements, and none is kept")]
pub enum Verdict<K = &'static str> {
    /// The rule was evaluated; the severity may be none.
    Judged(Judgement<K>),
    /// The rule was evaluated on several subjects, each with its own judgement.
    Several(Vec<Judgement<K>>),
    /// Required data is missing; the text names it.
    NotEvaluated(String),
    /// The rule does not apply to this application.
    NotApplicable,
}

#[doc(hidden)]
impl Verdict {
    /// The same with keys as [`Name`]s, as custom rules use them.
    #[must_use]
    pub fn named(self) -> Verdict<Name> {
        let named = |judged: Judgement| Judgement {
            severity: judged.severity,
            subject: judged.subject,
            tasks: judged.tasks,
            message: judged.message,
            statement: judged.statement,
            evidence: judged.evidence.into_iter().map(|(key, value)| (key.into(), value)).collect(),
            advice: judged.advice,
            tells: judged.tells,
            repartition: judged.repartition,
            of_more_parts: judged.of_more_parts,
            also_about: judged.also_about,
            in_queries: judged.in_queries,
            conditions: judged.conditions,
            failure: judged.failure,
        };
        match self {
            Self::Judged(judged) => Verdict::Judged(named(judged)),
            Self::Several(judged) => Verdict::Several(judged.into_iter().map(named).collect()),
            Self::NotEvaluated(reason) => Verdict::NotEvaluated(reason),
            Self::NotApplicable => Verdict::NotApplicable,
        }
    }
}

/// A finding suppressed by a user's rule file, with the reason given there.
#[derive(Debug, Clone, PartialEq, State)]
pub struct Suppressed {
    /// The finding that is not reported.
    pub finding: Finding,
    /// Why it is accepted.
    pub reason: String,
    /// The last day of the suppression; `None` if it does not expire.
    pub until: Option<NaiveDate>,
    /// Where the suppression is written, as `file:line`.
    pub origin: String,
}

/// A rule that could not be evaluated.
#[derive(Debug, Clone, PartialEq, Eq, State)]
pub struct NotEvaluated {
    /// The rule's id.
    pub rule: Name,
    /// The missing data.
    pub reason: String,
}
