//! The data of a report: what an analysis found, and how it compares with an accepted state.

mod application;
mod change;
mod comparison;
mod metric;
pub(crate) mod secrets;
mod totals;
mod work;
mod worst;

use chrono::NaiveDate;

use crate::parse::Problem;
use crate::rules::RuleInfo;
use crate::severity::Severity;

pub use application::ApplicationReport;
pub use change::{Absence, Absent, Accepted, Change, FindingChange, MeasureChange};
pub use comparison::{
    Comparison, Counts, IncompleteRun, JobComparison, JobState, MetricChange, MetricVerdict, NotCompared,
};
pub use metric::{Metric, Range};
pub use totals::{NotEvaluatedTotal, RuleTotal, Totals};
pub use work::Work;
pub use worst::WorstFinding;

/// Everything that a report shows.
#[derive(Debug, Clone, Default)]
pub struct Report {
    /// The rules that were switched on, in the order of the catalogue.
    pub rules: Vec<RuleInfo>,
    /// What rule files silence, in their order.
    pub suppressions: Vec<SuppressionUse>,
    /// Counts over the whole run.
    pub summary: Summary,
    /// What all applications cost together, also those that are not kept.
    pub totals: Totals,
    /// The applications, worst first.
    pub applications: Vec<ApplicationReport>,
    /// What went wrong, by source.
    pub problems: Vec<SourceProblem>,
    /// Files that are no histories, by reason.
    pub skipped: Vec<(&'static str, u64)>,
    /// Whether something that the user named could not be read.
    pub named_input_failed: bool,
    /// How it stands to an accepted state, where it was compared with one.
    pub comparison: Option<Comparison>,
}

impl Report {
    /// Leaves out findings below this severity and all but the first applications; counts stay.
    pub fn narrow(&mut self, min_severity: Severity, top: Option<usize>) {
        for app in &mut self.applications {
            app.findings.retain(|finding| finding.severity >= min_severity);
            app.suppressed.retain(|suppressed| suppressed.finding.severity >= min_severity);
        }
        let top = top.unwrap_or(usize::MAX);
        self.applications.truncate(top);
        if let Some(comparison) = &mut self.comparison {
            comparison.narrow(min_severity, top);
        }
    }
}

/// What became of a suppression.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SuppressionUse {
    /// Where it is written, `file:line`.
    pub origin: String,
    /// The rules that it is about.
    pub rules: String,
    /// Why it is there.
    pub reason: String,
    /// Its last day.
    pub until: Option<NaiveDate>,
    /// Whether that day has passed, so that it silences nothing more.
    pub expired: bool,
    /// How many findings it silenced, of any severity.
    pub findings: u64,
}

/// Counts over the whole run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Summary {
    /// Files below the paths.
    pub files_found: u64,
    /// Files that were read and used.
    pub files_analysed: u64,
    /// Files that are something else.
    pub files_skipped: u64,
    /// Files that could not be read.
    pub files_failed: u64,
    /// Applications.
    pub applications: u64,
    /// Findings by severity value, 0 (none) to 4 (critical).
    pub findings: [u64; 5],
}

/// A problem and where it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourceProblem {
    /// The file.
    pub source: String,
    /// What is wrong with it.
    pub problem: Problem,
}
