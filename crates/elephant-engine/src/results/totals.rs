//! Sums over all applications of a report, and the rules with most findings.

use super::{CauseTotal, JobTotal, Rollups};
use elephant_base::severity::Severity;
use elephant_base::units::MbMillis;
use elephant_rule::finding::Name;
use elephant_verdict::savings::Sums;

/// Sums over all applications.
#[derive(Debug, Clone, PartialEq, Default)]
#[non_exhaustive]
pub struct Totals {
    /// Allocated memory over time, of the applications where it is known.
    pub used: MbMillis,
    /// The part of it that was not needed, of the applications where it is known.
    pub wasted: MbMillis,
    /// Allocated memory of the applications whose waste is known.
    pub used_where_waste_is_known: MbMillis,
    /// Applications whose allocated memory is unknown.
    pub used_unknown: u64,
    /// Applications whose wasted memory is unknown.
    pub wasted_unknown: u64,
    /// Applications by their worst finding, by severity value.
    pub applications: [u64; 5],
    /// Applications with an incomplete history.
    pub incomplete: u64,
    /// What the remedies of all troubles save.
    pub savings: Sums,
    /// What the remedies of the first jobs save; `None` if there are not more jobs than that.
    pub first_savings: Option<Sums>,
    /// The jobs, in the order of the report.
    pub jobs: Vec<JobTotal>,
    /// The kinds of trouble, those first whose remedies save most.
    pub causes: Vec<CauseTotal>,
    /// What groups of applications used and wasted.
    pub rollups: Rollups,
    /// The rules with findings, worst first.
    pub rules: Vec<RuleTotal>,
    /// Rules that were not evaluated, with the reason; most applications first.
    pub not_evaluated: Vec<NotEvaluatedTotal>,
}

/// How many applications a rule was not evaluated in, for one reason.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct NotEvaluatedTotal {
    /// The rule's id.
    pub rule: Name,
    /// What data is missing.
    pub reason: String,
    /// The number of applications.
    pub applications: u64,
}

/// The totals of one rule over all applications.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct RuleTotal {
    /// The rule's id.
    pub rule: Name,
    /// The rule's display name.
    pub title: Name,
    /// The severity of its worst finding.
    pub worst: Severity,
    /// The number of applications with a finding of this rule.
    pub applications: u64,
    /// Its findings by severity value.
    pub findings: [u64; 5],
    /// The sum of its scores.
    pub score: u64,
}

impl Totals {
    /// The number of jobs in [`first_savings`](Self::first_savings).
    pub const FIRST_JOBS: usize = 3;

    /// The wasted part in percent, over the applications whose waste is known.
    #[must_use]
    pub fn wasted_percent(&self) -> Option<f64> {
        self.wasted.share_of(self.used_where_waste_is_known).map(|share| share * 100.0)
    }
}
