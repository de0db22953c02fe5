//! The data of a report: the results of an analysis, and how they compare with an accepted state.
//!
//! Everything is sorted: applications by their worst finding, findings by severity. What a history does not contain is
//! `None`.

mod application;
mod causes;
mod change;
mod comparison;
mod jobs;
mod leading;
mod metric;
mod node_work;
mod phase_work;
mod query_work;
mod rollups;
mod totals;
mod trouble_change;
mod work;
mod worst;

use chrono::NaiveDate;

use elephant_base::severity::Severity;
use elephant_base::state::State;
use elephant_ruleset::RuleInfo;

pub use crate::fingerprint::{Fingerprint, JobKey, StageName};
pub use application::ApplicationReport;
pub(crate) use causes::CauseSums;
pub use causes::{CauseTotal, MostOf};
pub use change::{Absence, Absent, Accepted, Change, FindingChange, MeasureChange};
pub use comparison::{
    Comparison, Counts, IncompleteRun, JobComparison, JobState, MetricChange, MetricVerdict, NotCompared,
};
pub use elephant_analysis::metrics::{ExecutorCounts, JobCounts, Metrics, SparkCounts, StageCounts};
pub use elephant_parse::{Level, Position, Problem};
pub use elephant_verdict::account::{Account, Owner, Part, PhaseFact, What};
pub use elephant_verdict::charts::{
    Amount, Axis, Bucket, Charts, Durations, ExecutorSpan, Group, Groups, Histogram, Holder, Limit, Load,
    LoadOf, MeanOf, MemoryUse, NodeAttempts, PhaseRow, Phases, Point, Quantity, Rows, Scale, Scatter,
    Timeline,
};
pub use jobs::{JobGroup, JobSums, JobTotal, WorstRun};
pub use leading::{Leading, Sort};
pub use metric::{Floors, GrownPhase, LimitBasis, LimitGrowth, Metric, Range};
pub use node_work::NodeWork;
pub use phase_work::PhaseWork;
pub use query_work::QueryWork;
pub(crate) use rollups::RollupSums;
pub use rollups::{GroupName, Rollup, Rollups, Waste};
pub use totals::{NotEvaluatedTotal, RuleTotal, Totals};
pub use trouble_change::{Told, TroubleChange};
pub use work::Work;
pub use worst::{Candidate, WorstTrouble, WorstTroubles};

/// Everything that a report shows.
#[derive(Debug, Clone, Default)]
pub struct Report {
    /// The active rules, in the order of the catalogue.
    pub rules: Vec<RuleInfo>,
    /// A hash of them, which distinguishes results of different rules.
    pub rules_hash: String,
    /// The suppressions of the rule files, in file order.
    pub suppressions: Vec<SuppressionUse>,
    /// Counts over the whole run.
    pub summary: Summary,
    /// Sums over all applications, including those that are not kept.
    pub totals: Totals,
    /// The applications, worst first.
    pub applications: Vec<ApplicationReport>,
    /// Problems, by source.
    pub problems: Vec<SourceProblem>,
    /// Files that are not histories, by reason.
    pub skipped: Vec<(&'static str, u64)>,
    /// Whether an input that the user named could not be read.
    pub named_input_failed: bool,
    /// The currency of costs, if prices were given.
    pub currency: Option<String>,
    /// The comparison with an accepted state, if one was made.
    pub comparison: Option<Comparison>,
}

#[doc(hidden)]
impl Report {
    /// Removes findings below this severity and all but the first applications. Counts stay.
    pub fn narrow(&mut self, min_severity: Severity, top: Option<usize>) {
        for app in &mut self.applications {
            app.findings.retain(|finding| finding.severity >= min_severity);
            app.troubles.retain(|trouble| trouble.severity >= min_severity);
            app.suppressed.retain(|suppressed| suppressed.finding.severity >= min_severity);
        }
        let top = top.unwrap_or(usize::MAX);
        self.applications.truncate(top);
        if let Some(comparison) = &mut self.comparison {
            comparison.narrow(min_severity, top);
        }
    }
}

/// A suppression and how many findings it matched.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct SuppressionUse {
    /// Where it is written, `file:line`.
    pub origin: String,
    /// The rules that it applies to.
    pub rules: String,
    /// The reason that the rule file gives.
    pub reason: String,
    /// Its last day.
    pub until: Option<NaiveDate>,
    /// Whether that day has passed, so that it no longer suppresses findings.
    pub expired: bool,
    /// How many findings it suppressed, of any severity.
    pub findings: u64,
}

/// Counts over the whole run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Summary {
    /// Files below the paths.
    pub files_found: u64,
    /// Files that were read and used.
    pub files_analysed: u64,
    /// Files of another kind.
    pub files_skipped: u64,
    /// Files that could not be read.
    pub files_failed: u64,
    /// Applications, without those that were left out.
    pub applications: u64,
    /// Applications that the filter of the run did not select. Neither are they judged, nor their problems reported. A
    /// history that was not read at all, because of its engine, counts as one application.
    pub left_out: u64,
    /// Copies of histories that are counted once. Each is a problem with the code `duplicate`.
    pub copies: u64,
    /// Findings by severity value, 0 (none) to 4 (critical).
    pub findings: [u64; 5],
}

/// A problem and its source.
#[derive(Debug, Clone, PartialEq, Eq, State)]
pub struct SourceProblem {
    /// The file.
    pub source: String,
    /// The problem.
    pub problem: Problem,
}
