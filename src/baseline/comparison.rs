//! What a comparison with a baseline says: plain data for reports.

use crate::engine::ApplicationReport;
use crate::finding::Finding;
use crate::fingerprint::{Fingerprint, JobKey, fingerprint};
use crate::severity::Severity;

use super::metric::Metric;
use super::spread::Range;

/// An analysis beside a baseline.
#[derive(Debug, Clone, PartialEq, Default)]
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
    /// Its findings in the analysis, new ones first, then worse, unchanged and better ones, each by severity.
    pub findings: Vec<FindingChange>,
    /// Accepted findings that the analysis does not have.
    pub absent: Vec<Absent>,
    /// What its runs cost beside the accepted ones: the worst run of each metric.
    pub metrics: Vec<MetricChange>,
    /// Runs whose costs were not compared.
    pub not_compared: Vec<NotCompared>,
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
            Self::Absent => "absent",
        }
    }
}

/// How a finding stands to the accepted one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Change {
    /// It is not accepted.
    New,
    /// It is accepted, and its severity is higher now, or its key measure is beyond the tolerance.
    Worse,
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
    /// The accepted severity, unless it is new.
    pub accepted_severity: Option<Severity>,
    /// Its key measure, where the rule has one and the value is known.
    pub measure: Option<MeasureChange>,
    /// The finding.
    pub finding: Finding,
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

/// Sums over all jobs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[allow(missing_docs)] // the words are those of `Change`, `Absence`, `MetricVerdict` and `JobState`
pub struct Counts {
    pub new: u64,
    pub worse: u64,
    pub unchanged: u64,
    pub better: u64,
    pub gone: u64,
    pub regressed: u64,
    pub improved: u64,
    pub new_jobs: u64,
    pub absent_jobs: u64,
}

impl Comparison {
    /// How a finding of the analysis stands; `None` for one of severity none.
    #[must_use]
    pub fn of(&self, app: &ApplicationReport, finding: &Finding) -> Option<&FindingChange> {
        let (key, wanted) = (JobKey::of(app), fingerprint(app, finding));
        let job = self.jobs.iter().find(|job| job.key == key)?;
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

    /// Whether something is new or worse: findings from `limit` on, and every metric that regressed. No limit means that
    /// nothing fails.
    #[must_use]
    pub fn is_worse(&self, limit: Option<Severity>) -> bool {
        limit.is_some_and(|limit| self.jobs.iter().any(|job| job.is_worse(limit)))
    }
}

impl JobComparison {
    /// Whether something of this job is new or worse, findings from `limit` on.
    #[must_use]
    pub fn is_worse(&self, limit: Severity) -> bool {
        self.findings.iter().any(|change| change.change.is_bad() && change.finding.severity >= limit)
            || self.metrics.iter().any(|metric| metric.verdict == MetricVerdict::Regressed)
    }
}
