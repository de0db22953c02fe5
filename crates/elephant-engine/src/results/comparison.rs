//! The result of a comparison with a baseline: plain data for reports.

use super::ApplicationReport;
use super::change::{Absence, Absent, FindingChange};
use super::metric::{LimitGrowth, Metric, Range};
use super::trouble_change::TroubleChange;
use crate::fingerprint::JobKey;
use elephant_base::severity::Severity;
use elephant_rule::finding::Finding;

/// An analysis next to a baseline.
#[derive(Debug, Clone, PartialEq, Default)]
#[non_exhaustive]
pub struct Comparison {
    /// All jobs of the analysis and the baseline: those that fail first, each group in key order.
    pub jobs: Vec<JobComparison>,
    /// Sums over all jobs.
    pub counts: Counts,
    /// Whether the accepted runs are from a store and not from a file.
    pub of_store: bool,
    /// Whether the baseline was rewritten, which accepts everything in this comparison.
    pub updated: bool,
    /// Whether a finding of at least the user's severity, or a metric, is new or worse.
    pub worse: bool,
    /// Expired suppressions, as `file:line (rules)`.
    pub expired: Vec<String>,
    /// The paths of accepted histories that were emptied or overwritten.
    pub lost: Vec<String>,
    /// Why the run itself failed; the comparison then covers only a part.
    pub unfinished: Option<&'static str>,
    /// Whether accepted jobs that did not run fail the check.
    pub requires_all: bool,
    /// Whether the check failed: something is worse, a suppression has expired, an accepted history was emptied or overwritten, or a
    /// required job did not run.
    pub failed: bool,
    /// Whether the check does not pass because some run could not be judged.
    pub undecided: bool,
}

/// One job definition.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct JobComparison {
    /// The job.
    pub key: JobKey,
    /// Whether the analysis, the baseline or both contain it.
    pub state: JobState,
    /// The ids of its runs in the analysis, in the order of the analysis.
    pub applications: Vec<String>,
    /// The number of its runs in the baseline.
    pub accepted_runs: usize,
    /// Its troubles in the analysis, new ones first, then worse, not judged, unchanged and better ones, each by severity.
    pub troubles: Vec<TroubleChange>,
    /// Accepted findings that the analysis does not have.
    pub absent: Vec<Absent>,
    /// The costs of its runs next to the accepted ones: the worst run of each metric.
    pub metrics: Vec<MetricChange>,
    /// Runs whose costs were not compared.
    pub not_compared: Vec<NotCompared>,
    /// Runs with incomplete histories.
    pub incomplete: Vec<IncompleteRun>,
    /// When the first regressed run started, RFC 3339 in UTC.
    pub regressed_since: Option<String>,
}

/// Whether the analysis, the baseline or both contain a job.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum JobState {
    /// Only in the analysis: all its findings are new.
    New,
    /// In both.
    Known,
    /// In the analysis, in histories that lost the name of their job. Whether the baseline contains it is
    /// unknown.
    Unnamed,
    /// Only in the baseline: it is not judged.
    Absent,
}

#[doc(hidden)]
impl JobState {
    /// The word in reports.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::New => "new",
            Self::Known => "known",
            Self::Unnamed => "unnamed",
            Self::Absent => "absent",
        }
    }
}

/// How a metric compares with the accepted runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum MetricVerdict {
    /// Higher than accepted.
    Regressed,
    /// Within the range.
    Steady,
    /// Lower than all accepted runs.
    Improved,
}

#[doc(hidden)]
impl MetricVerdict {
    /// The word in reports.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Regressed => "regressed",
            Self::Steady => "steady",
            Self::Improved => "improved",
        }
    }
}

/// A metric of the worst run next to the accepted ones.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct MetricChange {
    /// The metric.
    pub metric: Metric,
    /// How it compares.
    pub verdict: MetricVerdict,
    /// The run.
    pub application: String,
    /// Its value.
    pub value: f64,
    /// Whether the history is incomplete, so that the value is a lower limit.
    pub at_least: bool,
    /// The accepted range, including the growth of the input.
    pub range: Range,
    /// Its input as a multiple of the accepted runs' input; `None` if either is unknown.
    pub input_growth: Option<f64>,
    /// How far the limit rises because of that.
    pub limit_growth: LimitGrowth,
    /// How many runs were compared.
    pub runs: usize,
    /// How many of them regressed.
    pub regressed_runs: usize,
}

/// A run whose costs were not compared.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NotCompared {
    /// The run.
    pub application: String,
    /// Why.
    pub reason: &'static str,
    /// Whether the run cannot be compared at all: it failed, its history is incomplete, or no accepted run has costs.
    pub unfit: bool,
}

/// A run with an incomplete history.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct IncompleteRun {
    /// The run.
    pub application: String,
    /// Its name in a baseline.
    pub run: String,
    /// Why its history is incomplete.
    pub reason: String,
    /// Whether the run could be judged. Without the name of its job it cannot, because the accepted
    /// findings are unknown.
    pub judged: bool,
}

/// Sums over all jobs. One trouble counts once, however many findings tell of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Counts {
    /// Troubles that are not accepted.
    pub new: u64,
    /// Accepted troubles that are worse now.
    pub worse: u64,
    /// Accepted troubles that are as they were.
    pub unchanged: u64,
    /// Accepted troubles that are better now.
    pub better: u64,
    /// Accepted troubles that the analysis does not have any more.
    pub gone: u64,
    /// Troubles of the analysis or of the baseline that could not be judged.
    pub not_judged: u64,
    /// Runs with incomplete histories.
    pub incomplete_runs: u64,
    /// Incomplete runs that could not be judged.
    pub unjudged_runs: u64,
    /// Files that could not be read. They may be histories.
    pub unread_files: u64,
    /// Troubles that an update does not accept, because only an incomplete run made them worse.
    pub worse_in_part: u64,
    /// Metrics that are higher than accepted.
    pub regressed: u64,
    /// Metrics that are lower than in all accepted runs.
    pub improved: u64,
    /// Jobs without an accepted run.
    pub new_jobs: u64,
    /// Jobs of the baseline without a run in the analysis.
    pub absent_jobs: u64,
}

impl Comparison {
    /// How a finding of the analysis compares; `None` if its severity is none.
    #[must_use]
    #[doc(hidden)]
    pub fn of(&self, app: &ApplicationReport, finding: &Finding) -> Option<&FindingChange> {
        let wanted = app.fingerprint(finding);
        let trouble = self.trouble_of(app, finding)?;
        trouble.findings.iter().find(|change| change.fingerprint == wanted)
    }

    /// How the trouble that a finding of the analysis is about compares.
    #[must_use]
    #[doc(hidden)]
    pub fn trouble_of(&self, app: &ApplicationReport, finding: &Finding) -> Option<&TroubleChange> {
        let (key, unnamed, wanted) = (app.compared_job(), app.is_unnamed(), app.fingerprint(finding));
        let mut jobs = self.jobs.iter();
        let job = jobs.find(|job| job.key == key && (job.state == JobState::Unnamed) == unnamed)?;
        let has = |trouble: &&TroubleChange| trouble.findings.iter().any(|it| it.fingerprint == wanted);
        job.troubles.iter().find(has)
    }

    /// Removes findings below this severity and all but the first jobs of the analysis. Counts stay.
    pub(crate) fn narrow(&mut self, min_severity: Severity, top: usize) {
        for job in &mut self.jobs {
            for trouble in &mut job.troubles {
                trouble.findings.retain(|change| change.finding.severity >= min_severity);
            }
            job.troubles.retain(|trouble| !trouble.findings.is_empty());
        }
        let mut shown = 0;
        self.jobs.retain(|job| {
            shown += usize::from(job.state != JobState::Absent);
            job.state == JobState::Absent || shown <= top
        });
    }

    /// Keeps only jobs without runs that `expects` names, and only accepted findings of rules that `reports` names among
    /// those that the analysis does not have.
    #[doc(hidden)]
    pub fn select(&mut self, expects: impl Fn(&JobKey) -> bool, reports: impl Fn(&str) -> bool) {
        self.jobs.retain(|job| job.state != JobState::Absent || expects(&job.key));
        let absent = self.jobs.iter().filter(|job| job.state == JobState::Absent);
        self.counts.absent_jobs = absent.count() as u64;
        for job in &mut self.jobs {
            // Nothing is counted for rules that are not reported.
            job.absent.retain(|absent| absent.absence != Absence::RuleOff || reports(&absent.rule));
        }
    }

    /// Whether there are runs, but none could be judged.
    #[must_use]
    #[doc(hidden)]
    pub fn judges_nothing(&self) -> bool {
        let runs: u64 = self.jobs.iter().map(|job| job.applications.len() as u64).sum();
        runs > 0 && self.counts.unjudged_runs == runs
    }

    /// Whether something is new or worse: findings of at least `limit`, if there is one, and if `costs_count`, metrics
    /// that regressed.
    #[must_use]
    pub fn is_worse(&self, limit: Option<Severity>, costs_count: bool) -> bool {
        self.jobs.iter().any(|job| job.is_worse(limit, costs_count))
    }
}

#[doc(hidden)]
impl MetricChange {
    /// The limit of a run that reads as much as usual.
    #[must_use]
    pub fn usual_limit(&self) -> f64 {
        self.range.high / self.limit_growth.factor
    }

    /// Whether the run passes only because it read more.
    #[must_use]
    pub fn passes_by_growth(&self) -> bool {
        self.verdict == MetricVerdict::Steady && self.value > self.usual_limit()
    }
}

#[doc(hidden)]
impl JobComparison {
    /// Its findings in the analysis, by trouble.
    pub fn findings(&self) -> impl Iterator<Item = &FindingChange> {
        self.troubles.iter().flat_map(|trouble| &trouble.findings)
    }

    /// The runs that could not be judged.
    pub fn unjudged(&self) -> impl Iterator<Item = &IncompleteRun> {
        self.incomplete.iter().filter(|run| !run.judged)
    }

    /// Whether something in this job is new or worse, as in [`Comparison::is_worse`].
    #[must_use]
    pub(crate) fn is_worse(&self, limit: Option<Severity>, costs_count: bool) -> bool {
        self.troubles.iter().any(|trouble| limit.is_some_and(|limit| trouble.is_bad_from(limit)))
            || (costs_count && self.metrics.iter().any(|metric| metric.verdict == MetricVerdict::Regressed))
    }
}
