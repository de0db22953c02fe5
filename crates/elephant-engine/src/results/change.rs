//! How the findings of an analysis compare with accepted findings: plain data for reports.

use std::ops::Not;

use serde::{Deserialize, Serialize};

use super::trouble_change::Told;
use crate::fingerprint::Fingerprint;
use elephant_base::severity::Severity;
use elephant_rule::finding::Finding;

/// How a finding compares with the accepted one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Change {
    /// It is not accepted.
    New,
    /// It is accepted, but its severity has risen, or its key measure is beyond the tolerance.
    Worse,
    /// It looks better, but no complete run confirms that ([`FindingChange::doubt`]); or the job is
    /// unknown.
    NotJudged,
    /// It is as accepted.
    Unchanged,
    /// Its severity has fallen, or its key measure has improved by more than the tolerance.
    Better,
}

#[doc(hidden)]
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

/// A finding of the analysis next to the accepted one. If several runs have it, the worst of them.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct FindingChange {
    /// Its identity across runs.
    pub fingerprint: Fingerprint,
    /// How it compares with the accepted finding.
    pub change: Change,
    /// The application that has it.
    pub application: String,
    /// How many of the job's runs have it.
    pub runs: usize,
    /// What it is about, without ids that change from run to run.
    pub subject: String,
    /// The accepted finding; `None` if this one is new.
    pub accepted: Option<Accepted>,
    /// Why the application does not prove that a finding is better or gone: its history is incomplete, or
    /// it failed.
    pub doubt: Option<String>,
    /// Whether the application's history is incomplete.
    pub incomplete: bool,
    /// Its key measure, if the rule has one and the value is known.
    pub measure: Option<MeasureChange>,
    /// The trouble that it is about; `None` if it belongs to none.
    pub told: Option<Told>,
    /// The finding.
    pub finding: Finding,
}

#[doc(hidden)]
impl FindingChange {
    /// The accepted severity; `None` if the finding is new.
    #[must_use]
    pub fn accepted_severity(&self) -> Option<Severity> {
        self.accepted.as_ref().map(|accepted| accepted.severity)
    }

    /// Whether an update keeps the accepted finding. An incomplete run never replaces what a complete run
    /// has shown.
    #[must_use]
    pub(crate) fn keeps_accepted(&self) -> bool {
        let of_whole_run = self.accepted.as_ref().is_some_and(|accepted| !accepted.incomplete);
        self.change == Change::NotJudged || (self.change == Change::Worse && self.incomplete && of_whole_run)
    }
}

/// A key measure next to the accepted one.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct MeasureChange {
    /// The key of the evidence.
    pub key: &'static str,
    /// The current value.
    pub value: f64,
    /// The accepted value, if there is one.
    pub accepted: Option<f64>,
}

/// An accepted finding that the analysis does not have.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Absent {
    /// Its identity across runs.
    pub fingerprint: Fingerprint,
    /// The rule's id.
    pub rule: String,
    /// What it was about.
    pub subject: String,
    /// The accepted severity.
    pub severity: Severity,
    /// The trouble that it was about, if the file says so.
    pub trouble: Option<String>,
    /// Why it is absent.
    pub absence: Absence,
}

/// Why an accepted finding is absent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Absence {
    /// The rule was evaluated and did not find it.
    Gone,
    /// The rule is switched off.
    RuleOff,
    /// A rule file suppresses it.
    Suppressed,
    /// The rule could not be evaluated, or the history is incomplete. Contains the reason.
    NotJudged(String),
}

#[doc(hidden)]
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
    /// What it is about, without ids that change from run to run.
    pub subject: String,
    /// Its severity.
    pub severity: Severity,
    /// The severity that it would have in an application that is not small; a file has it only if it is another one. `None`
    /// if it is unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub severity_in_larger_run: Option<Severity>,
    /// The rule's key measure, by the key of its evidence.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub measure: Option<String>,
    /// The value of the key measure.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<f64>,
    /// Whether the run that showed it has an incomplete history.
    #[serde(default, skip_serializing_if = "Not::not")]
    pub incomplete: bool,
    /// The trouble that it is about; `None` if it belongs to none, or if an earlier version wrote the file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trouble: Option<String>,
    /// The finding's [`crate::fingerprint::Fingerprint`].
    pub fingerprint: String,
}
