//! What a comparison with a baseline says: plain data for reports.

use super::ApplicationReport;
use super::change::{Absent, FindingChange};
use super::metric::{Metric, Range};
use crate::finding::Finding;
use crate::fingerprint::JobKey;
use crate::severity::Severity;

/// An analysis beside a baseline.
#[derive(Debug, Clone, PartialEq, Default)]
#[allow(clippy::struct_excessive_bools)] // facts that do not depend on each other
pub struct Comparison {
    /// The jobs of both: those that fail first, each group by key.
    pub jobs: Vec<JobComparison>,
    /// Sums over all jobs.
    pub counts: Counts,
    /// Whether the baseline was written anew, which accepts everything here.
    pub updated: bool,
    /// Whether something is new or worse from the severity on that the user chose.
    pub worse: bool,
    /// Suppressions whose last day has passed, `file:line (rules)`.
    pub expired: Vec<String>,
    /// Whether the run itself failed, so that the comparison is of a part only: why.
    pub unfinished: Option<&'static str>,
    /// Whether the check failed: something is worse, or a suppression has expired.
    pub failed: bool,
    /// Whether the check does not pass because nothing could be judged of some run.
    pub undecided: bool,
}

/// One job definition.
#[derive(Debug, Clone, PartialEq)]
pub struct JobComparison {
    /// The job.
    pub key: JobKey,
    /// Where it is.
    pub state: JobState,
    /// The ids of its runs in the analysis, in the order of the analysis.
    pub applications: Vec<String>,
    /// How many runs the baseline has.
    pub accepted_runs: usize,
    /// Its findings in the analysis, new ones first, then worse, not judged, unchanged and better ones, each by severity.
    pub findings: Vec<FindingChange>,
    /// Accepted findings that the analysis does not have.
    pub absent: Vec<Absent>,
    /// What its runs cost beside the accepted ones: the worst run of each metric.
    pub metrics: Vec<MetricChange>,
    /// Runs whose costs were not compared.
    pub not_compared: Vec<NotCompared>,
    /// Runs whose histories are incomplete.
    pub incomplete: Vec<IncompleteRun>,
    /// When the first of the runs that regressed started, RFC 3339 in UTC.
    pub regressed_since: Option<String>,
}

/// Where a job is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum JobState {
    /// In the analysis only: all its findings are new.
    New,
    /// In both.
    Known,
    /// In the analysis, where histories have lost the name of their job: whether the baseline has it, nobody knows.
    Unnamed,
    /// In the baseline only: nothing is said about it.
    Absent,
}

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

/// How a metric stands to those of the accepted runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum MetricVerdict {
    /// Higher than accepted.
    Regressed,
    /// Within the range.
    Steady,
    /// Lower than all that was accepted.
    Improved,
}

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

/// A metric of the worst run beside the accepted ones.
#[derive(Debug, Clone, PartialEq)]
pub struct MetricChange {
    /// Which one.
    pub metric: Metric,
    /// How it stands.
    pub verdict: MetricVerdict,
    /// The run.
    pub application: String,
    /// Its value.
    pub value: f64,
    /// What is accepted, the growth of the input included.
    pub range: Range,
    /// How many times the input of the accepted runs it read; `None` where either is unknown.
    pub input_growth: Option<f64>,
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
    /// Whether the run is of no use for a comparison: it failed, or its history is incomplete.
    pub unfit: bool,
}

/// A run whose history is incomplete.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IncompleteRun {
    /// The run.
    pub application: String,
    /// What a baseline calls it.
    pub run: String,
    /// Why its history is incomplete.
    pub reason: String,
    /// Whether anything could be judged of it. Without a name of its job nothing can, because nobody knows what is
    /// accepted.
    pub judged: bool,
}

/// Sums over all jobs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[allow(missing_docs)] // the words are those of `Change`, `Absence`, `MetricVerdict` and `JobState`
pub struct Counts {
    pub new: u64,
    pub worse: u64,
    pub unchanged: u64,
    pub better: u64,
    pub gone: u64,
    /// Findings of the analysis or of the baseline that could not be judged.
    pub not_judged: u64,
    /// Runs whose histories are incomplete.
    pub incomplete_runs: u64,
    /// Those of them of which nothing could be judged.
    pub unjudged_runs: u64,
    /// Findings that an update does not accept, because an incomplete run made them worse.
    pub worse_in_part: u64,
    pub regressed: u64,
    pub improved: u64,
    pub new_jobs: u64,
    pub absent_jobs: u64,
}

impl Comparison {
    /// How a finding of the analysis stands; `None` for one of severity none.
    #[must_use]
    pub fn of(&self, app: &ApplicationReport, finding: &Finding) -> Option<&FindingChange> {
        let (key, unnamed, wanted) = (app.compared_job(), app.is_unnamed(), app.fingerprint(finding));
        let mut jobs = self.jobs.iter();
        let job = jobs.find(|job| job.key == key && (job.state == JobState::Unnamed) == unnamed)?;
        job.findings.iter().find(|change| change.fingerprint == wanted)
    }

    /// Leaves out findings below this severity and all but the first jobs of the analysis; counts stay.
    pub(crate) fn narrow(&mut self, min_severity: Severity, top: usize) {
        for job in &mut self.jobs {
            job.findings.retain(|change| change.finding.severity >= min_severity);
        }
        let mut shown = 0;
        self.jobs.retain(|job| {
            shown += usize::from(job.state != JobState::Absent);
            job.state == JobState::Absent || shown <= top
        });
    }

    /// Whether there are runs, and nothing could be judged of any.
    #[must_use]
    pub fn judges_nothing(&self) -> bool {
        let runs: u64 = self.jobs.iter().map(|job| job.applications.len() as u64).sum();
        runs > 0 && self.counts.unjudged_runs == runs
    }

    /// Whether something is new or worse: findings from `limit` on, and every metric that regressed. No limit means that
    /// nothing fails.
    #[must_use]
    pub fn is_worse(&self, limit: Option<Severity>) -> bool {
        limit.is_some_and(|limit| self.jobs.iter().any(|job| job.is_worse(limit)))
    }
}

impl JobComparison {
    /// The runs of which nothing could be judged.
    pub fn unjudged(&self) -> impl Iterator<Item = &IncompleteRun> {
        self.incomplete.iter().filter(|run| !run.judged)
    }

    /// Whether something of this job is new or worse, findings from `limit` on.
    #[must_use]
    pub fn is_worse(&self, limit: Severity) -> bool {
        self.findings.iter().any(|change| change.change.is_bad() && change.finding.severity >= limit)
            || self.metrics.iter().any(|metric| metric.verdict == MetricVerdict::Regressed)
    }
}
