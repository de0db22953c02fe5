//! What a rule says about an application: plain data, made by heuristics, shown by reports.

mod facts;
mod judging;

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use chrono::NaiveDate;

use crate::severity::Severity;
use crate::units::{Bytes, BytesPerSecond, Millis, three_digits};

pub use crate::model::Subject;
pub use facts::{ChartLimit, ComparedWith, Container, KeyMeasure, Provenance, RuleFacts, Worse};
pub use judging::Word;
pub(crate) use judging::percent;

/// The id, title or key of a rule: of a built-in one a word of this program, of a user's rule a word of its file.
pub type Name = Cow<'static, str>;

/// A measured value. The key it stands under ends with [`Measure::key_ending`].
#[derive(Debug, Clone, PartialEq)]
pub enum Measure {
    /// A number of things.
    Count(u64),
    /// A span of time.
    Time(Millis),
    /// A size.
    Size(Bytes),
    /// A setting in MiB, as Hadoop counts memory.
    Mebibytes(u64),
    /// A speed.
    Speed(BytesPerSecond),
    /// A ratio; `None` where it has no finite value.
    Ratio(Option<f64>),
    /// A number in the unit that the ending names, where it may be negative; `None` where it is not known.
    Number(Option<f64>, &'static str),
    /// A name or a message of the history.
    Text(String),
}

impl Measure {
    /// The ending that tells the unit in JSON keys.
    #[must_use]
    pub const fn key_ending(&self) -> &'static str {
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

/// A cut-off list a finding was judged by, under its name in the rule file.
#[derive(Debug, Clone, PartialEq)]
pub struct Threshold {
    /// The key of the rule file, with the unit's ending.
    pub key: String,
    /// Low, moderate, severe, critical.
    pub cutoffs: [f64; 4],
}

/// One rule's judgement on one subject.
#[derive(Debug, Clone, PartialEq)]
pub struct Finding {
    /// The rule's id.
    pub rule: Name,
    /// The rule's name for people.
    pub title: Name,
    /// What else is known of the rule.
    pub rule_facts: &'static RuleFacts,
    /// How bad it is.
    pub severity: Severity,
    /// Severity value × tasks of the subject, 0 below moderate.
    pub score: u64,
    /// What it is about.
    pub subject: Subject,
    /// One sentence with the measured value and the limit it passed.
    pub message: String,
    /// The measured values, by key.
    pub evidence: Vec<(Name, Measure)>,
    /// The cut-offs in force.
    pub thresholds: Arc<[Threshold]>,
    /// What to change, each with a setting and a value; empty when nothing was found.
    pub advice: Vec<String>,
}

/// What a check found, before the rule's name and score are added. Keys of evidence are words of this program, or
/// [`Name`]s where a user's rule chose them.
#[derive(Debug, Clone, PartialEq)]
pub struct Judgement<K = &'static str> {
    /// How bad it is.
    pub severity: Severity,
    /// What it is about.
    pub subject: Subject,
    /// How many tasks the subject has.
    pub tasks: u64,
    /// One sentence with the measured value and the limit it passed.
    pub message: String,
    /// The measured values, by key.
    pub evidence: Vec<(K, Measure)>,
    /// What to change.
    pub advice: Vec<String>,
}

/// The outcome of a check.
#[derive(Debug, Clone, PartialEq)]
pub enum Verdict<K = &'static str> {
    /// The rule was evaluated; the severity may be none.
    Judged(Judgement<K>),
    /// The rule was evaluated on several subjects, each with a judgement of its own.
    Several(Vec<Judgement<K>>),
    /// The data that the rule needs is missing; says which.
    NotEvaluated(String),
    /// The rule has nothing to say about this application.
    NotApplicable,
}

impl Verdict {
    /// The same with keys as a user's rule has them.
    #[must_use]
    pub fn named(self) -> Verdict<Name> {
        let named = |judged: Judgement| Judgement {
            severity: judged.severity,
            subject: judged.subject,
            tasks: judged.tasks,
            message: judged.message,
            evidence: judged.evidence.into_iter().map(|(key, value)| (key.into(), value)).collect(),
            advice: judged.advice,
        };
        match self {
            Self::Judged(judged) => Verdict::Judged(named(judged)),
            Self::Several(judged) => Verdict::Several(judged.into_iter().map(named).collect()),
            Self::NotEvaluated(reason) => Verdict::NotEvaluated(reason),
            Self::NotApplicable => Verdict::NotApplicable,
        }
    }
}

/// A finding that a user's rule file silences, with the reason it gives.
#[derive(Debug, Clone, PartialEq)]
pub struct Suppressed {
    /// What would have been reported.
    pub finding: Finding,
    /// Why it is accepted.
    pub reason: String,
    /// The last day on which it is; `None` for good.
    pub until: Option<NaiveDate>,
    /// Where it is written, `file:line`.
    pub origin: String,
}

/// A rule that could not be evaluated.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NotEvaluated {
    /// The rule's id.
    pub rule: Name,
    /// What data is missing.
    pub reason: String,
}
