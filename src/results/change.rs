//! How findings of an analysis and accepted ones stand to each other: plain data for reports.

use serde::{Deserialize, Serialize};

use crate::finding::Finding;
use crate::fingerprint::Fingerprint;
use crate::severity::Severity;

/// How a finding stands to the accepted one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Change {
    /// It is not accepted.
    New,
    /// It is accepted, and its severity is higher now, or its key measure is beyond the tolerance.
    Worse,
    /// It looks better, but in no whole run ([`FindingChange::doubt`]), or the job is not known.
    NotJudged,
    /// It is as accepted.
    Unchanged,
    /// Its severity is lower now, or its key measure is better by more than the tolerance.
    Better,
}

impl Change {
    /// The word in reports.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::New => "new",
            Self::Worse => "worse",
            Self::NotJudged => "not-judged",
            Self::Unchanged => "unchanged",
            Self::Better => "better",
        }
    }

    /// Whether it makes a check fail.
    #[must_use]
    pub const fn is_bad(self) -> bool {
        matches!(self, Self::New | Self::Worse)
    }
}

/// A finding of the analysis beside the accepted one. Where several runs have it, the worst of them.
#[derive(Debug, Clone, PartialEq)]
pub struct FindingChange {
    /// Its identity over runs.
    pub fingerprint: Fingerprint,
    /// How it stands.
    pub change: Change,
    /// The application that has it.
    pub application: String,
    /// How many of the job's runs have it.
    pub runs: usize,
    /// What it is about, without ids of one run.
    pub subject: String,
    /// The accepted one, unless it is new.
    pub accepted: Option<Accepted>,
    /// Why the application does not prove that something is better or gone: its history is incomplete, or it failed.
    pub doubt: Option<String>,
    /// Whether the application's history is incomplete.
    pub incomplete: bool,
    /// Its key measure, where the rule has one and the value is known.
    pub measure: Option<MeasureChange>,
    /// The finding.
    pub finding: Finding,
}

impl FindingChange {
    /// The accepted severity, unless it is new.
    #[must_use]
    pub fn accepted_severity(&self) -> Option<Severity> {
        self.accepted.as_ref().map(|accepted| accepted.severity)
    }

    /// Whether an update keeps what was accepted: of a part, nothing is accepted in the place of what a whole run has
    /// shown.
    #[must_use]
    pub fn keeps_accepted(&self) -> bool {
        let of_whole_run = self.accepted.as_ref().is_some_and(|accepted| !accepted.incomplete);
        self.change == Change::NotJudged || (self.change == Change::Worse && self.incomplete && of_whole_run)
    }
}

/// A key measure beside the accepted one.
#[derive(Debug, Clone, PartialEq)]
pub struct MeasureChange {
    /// The key of the evidence.
    pub key: &'static str,
    /// The value now.
    pub value: f64,
    /// The accepted value, where there is one.
    pub accepted: Option<f64>,
}

/// An accepted finding that the analysis does not have.
#[derive(Debug, Clone, PartialEq)]
pub struct Absent {
    /// Its identity over runs.
    pub fingerprint: Fingerprint,
    /// The rule's id.
    pub rule: String,
    /// What it was about.
    pub subject: String,
    /// The accepted severity.
    pub severity: Severity,
    /// Why it is not there.
    pub absence: Absence,
}

/// Why an accepted finding is not there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Absence {
    /// The rule was evaluated and did not find it.
    Gone,
    /// The rule is switched off.
    RuleOff,
    /// A rule file silences it.
    Suppressed,
    /// The rule could not be evaluated, or the history is incomplete; says why.
    NotJudged(String),
}

impl Absence {
    /// The word in reports.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Gone => "gone",
            Self::RuleOff => "rule-off",
            Self::Suppressed => "suppressed",
            Self::NotJudged(_) => "not-judged",
        }
    }
}

/// An accepted finding.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Accepted {
    /// The rule's id.
    pub rule: String,
    /// What it is about, without ids of one run.
    pub subject: String,
    /// How bad it is.
    pub severity: Severity,
    /// The key measure of the rule, by the key of its evidence.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub measure: Option<String>,
    /// Its value.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<f64>,
    /// Whether the run that showed it has an incomplete history.
    #[serde(default, skip_serializing_if = "is_false")]
    pub incomplete: bool,
    /// The finding's [`crate::fingerprint::Fingerprint`].
    pub fingerprint: String,
}

#[allow(clippy::trivially_copy_pass_by_ref)] // serde hands out references
const fn is_false(value: &bool) -> bool {
    !*value
}
