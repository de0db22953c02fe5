//! What all applications of a report cost together, and which rules find most.

use crate::finding::Name;
use crate::severity::Severity;
use crate::units::MbMillis;

/// Sums over all applications.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Totals {
    /// Memory that was held, of the applications that tell it.
    pub used: MbMillis,
    /// The part of it that nobody needed, of the applications that tell it.
    pub wasted: MbMillis,
    /// Memory that was held by the applications whose waste is known.
    pub used_where_waste_is_known: MbMillis,
    /// Applications whose held memory is unknown.
    pub used_unknown: u64,
    /// Applications whose wasted memory is unknown.
    pub wasted_unknown: u64,
    /// Applications by their worst finding, by severity value.
    pub applications: [u64; 5],
    /// Applications whose history is incomplete.
    pub incomplete: u64,
    /// The rules with findings, worst first.
    pub rules: Vec<RuleTotal>,
    /// Rules that were not evaluated, with the reason: those of most applications first.
    pub not_evaluated: Vec<NotEvaluatedTotal>,
}

/// In how many applications a rule was not evaluated for one reason.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NotEvaluatedTotal {
    /// The rule's id.
    pub rule: Name,
    /// What data is missing.
    pub reason: String,
    /// Applications.
    pub applications: u64,
}

/// What one rule says about all applications.
#[derive(Debug, Clone, PartialEq)]
pub struct RuleTotal {
    /// The rule's id.
    pub rule: Name,
    /// The rule's name for people.
    pub title: Name,
    /// Its worst finding.
    pub worst: Severity,
    /// Applications with a finding of it.
    pub applications: u64,
    /// Its findings by severity value.
    pub findings: [u64; 5],
    /// The sum of its scores.
    pub score: u64,
}

impl Totals {
    /// The wasted part in percent, over the applications whose waste is known.
    #[must_use]
    pub fn wasted_percent(&self) -> Option<f64> {
        self.wasted.share_of(self.used_where_waste_is_known).map(|share| share * 100.0)
    }
}
