//! The comparison as JSON: the object `baseline` of the report.

use std::ops::Not;

use serde::Serialize;

use super::super::json::{Each, Number};
use super::super::words::title;
use super::words::cause;
use elephant_base::severity::Severity;
use elephant_engine::results::{
    Absence, Absent, Change, Comparison, Counts, FindingChange, GrownPhase, IncompleteRun, JobComparison,
    MetricChange, NotCompared, TroubleChange,
};

#[derive(Serialize)]
pub(crate) struct BaselineView<'a> {
    failed: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    unfinished: Option<&'static str>,
    requires_all: bool,
    undecided: bool,
    updated: bool,
    expired_suppressions: &'a [String],
    lost_histories: &'a [String],
    summary: SummaryView,
    jobs: Each<'a, JobComparison, JobView<'a>>,
}

pub(crate) fn baseline(comparison: &Comparison) -> BaselineView<'_> {
    BaselineView {
        failed: comparison.failed || comparison.undecided || comparison.unfinished.is_some(),
        unfinished: comparison.unfinished,
        requires_all: comparison.requires_all,
        undecided: comparison.undecided,
        updated: comparison.updated,
        expired_suppressions: &comparison.expired,
        lost_histories: &comparison.lost,
        summary: summary(comparison.counts),
        jobs: Each(&comparison.jobs, job),
    }
}

#[derive(Serialize)]
struct SummaryView {
    new_count: u64,
    worse_count: u64,
    unchanged_count: u64,
    better_count: u64,
    gone_count: u64,
    not_judged_count: u64,
    regressed_metrics_count: u64,
    improved_metrics_count: u64,
    new_jobs_count: u64,
    absent_jobs_count: u64,
    incomplete_runs_count: u64,
    unjudged_runs_count: u64,
}

fn summary(counts: Counts) -> SummaryView {
    SummaryView {
        new_count: counts.new,
        worse_count: counts.worse,
        unchanged_count: counts.unchanged,
        better_count: counts.better,
        gone_count: counts.gone,
        not_judged_count: counts.not_judged,
        regressed_metrics_count: counts.regressed,
        improved_metrics_count: counts.improved,
        new_jobs_count: counts.new_jobs,
        absent_jobs_count: counts.absent_jobs,
        incomplete_runs_count: counts.incomplete_runs,
        unjudged_runs_count: counts.unjudged_runs,
    }
}

#[derive(Serialize)]
struct JobView<'a> {
    job: &'a str,
    state: &'static str,
    applications: &'a [String],
    accepted_runs_count: usize,
    troubles: Each<'a, TroubleChange, TroubleView<'a>>,
    findings: Vec<FindingView<'a>>,
    absent: Each<'a, Absent, AbsentView<'a>>,
    metrics: Each<'a, MetricChange, MetricView<'a>>,
    not_compared: Each<'a, NotCompared, NotComparedView<'a>>,
    incomplete: Each<'a, IncompleteRun, IncompleteRunView<'a>>,
}

fn job(job: &JobComparison) -> JobView<'_> {
    JobView {
        job: job.key.as_str(),
        state: job.state.name(),
        applications: &job.applications,
        accepted_runs_count: job.accepted_runs,
        troubles: Each(&job.troubles, trouble),
        findings: findings(job),
        absent: Each(&job.absent, absent),
        metrics: Each(&job.metrics, metric),
        not_compared: Each(&job.not_compared, not_compared),
        incomplete: Each(&job.incomplete, incomplete),
    }
}

#[derive(Serialize)]
struct TroubleView<'a> {
    trouble: Option<&'a str>,
    change: &'static str,
    title: Option<String>,
    severity: Severity,
    cause: &'a str,
    application: Option<&'a str>,
    fingerprints: Vec<&'a str>,
}

fn trouble(trouble: &TroubleChange) -> TroubleView<'_> {
    let told = trouble.told.as_ref();
    TroubleView {
        trouble: told.map(|told| told.key.as_str()),
        change: trouble.change.name(),
        title: told.map(|told| title(&told.trouble)),
        severity: trouble.severity(),
        cause: cause(trouble),
        application: trouble.findings.first().map(|found| found.application.as_str()),
        fingerprints: trouble.findings.iter().map(|found| found.fingerprint.as_str()).collect(),
    }
}

fn findings(job: &JobComparison) -> Vec<FindingView<'_>> {
    job.findings().map(finding).collect()
}

#[derive(Serialize)]
struct FindingView<'a> {
    fingerprint: &'a str,
    change: &'static str,
    rule: &'a str,
    subject: &'a str,
    application: &'a str,
    runs_count: usize,
    severity: Severity,
    accepted_severity: Option<Severity>,
    measure: Option<&'static str>,
    value: Option<Number>,
    accepted_value: Option<Number>,
    incomplete: bool,
    reason: Option<&'a str>,
    trouble: Option<&'a str>,
    message: &'a str,
}

fn finding(found: &FindingChange) -> FindingView<'_> {
    let measure = found.measure.as_ref();
    FindingView {
        fingerprint: found.fingerprint.as_str(),
        change: found.change.name(),
        rule: &found.finding.rule,
        subject: &found.subject,
        application: &found.application,
        runs_count: found.runs,
        severity: found.finding.severity,
        accepted_severity: found.accepted_severity(),
        measure: measure.map(|measure| measure.key),
        value: measure.map(|measure| Number(measure.value)),
        accepted_value: measure.and_then(|measure| measure.accepted).map(Number),
        incomplete: found.incomplete,
        reason: found.doubt.as_deref().filter(|_| found.change == Change::NotJudged),
        trouble: found.told.as_ref().map(|told| told.key.as_str()),
        message: &found.finding.message,
    }
}

#[derive(Serialize)]
struct AbsentView<'a> {
    fingerprint: &'a str,
    rule: &'a str,
    subject: &'a str,
    accepted_severity: Severity,
    trouble: Option<&'a str>,
    absence: &'static str,
    reason: Option<&'a str>,
}

fn absent(absent: &Absent) -> AbsentView<'_> {
    AbsentView {
        fingerprint: absent.fingerprint.as_str(),
        rule: &absent.rule,
        subject: &absent.subject,
        accepted_severity: absent.severity,
        trouble: absent.trouble.as_deref(),
        absence: absent.absence.name(),
        reason: match &absent.absence {
            Absence::NotJudged(why) => Some(why),
            _ => None,
        },
    }
}

#[derive(Serialize)]
struct MetricView<'a> {
    metric: &'static str,
    verdict: &'static str,
    application: &'a str,
    value: Number,
    #[serde(skip_serializing_if = "Not::not")]
    at_least: bool,
    median: Number,
    low: Number,
    high: Number,
    limits: &'static str,
    accepted_runs_count: usize,
    runs_count: usize,
    regressed_runs_count: usize,
    input_growth_ratio: Option<Number>,
    limit_growth_ratio: Number,
    grown_phases: Each<'a, GrownPhase, GrownPhaseView<'a>>,
}

#[derive(Serialize)]
struct GrownPhaseView<'a> {
    phase: &'a str,
    read_ratio: Number,
}

fn grown_phase(grown: &GrownPhase) -> GrownPhaseView<'_> {
    GrownPhaseView { phase: &grown.phase, read_ratio: Number(grown.read_ratio) }
}

fn metric(change: &MetricChange) -> MetricView<'_> {
    let range = change.range;
    MetricView {
        metric: change.metric.key(),
        verdict: change.verdict.name(),
        application: &change.application,
        value: Number(change.value),
        at_least: change.at_least,
        median: Number(range.median),
        low: Number(range.low),
        high: Number(range.high),
        limits: range.basis.name(),
        accepted_runs_count: range.runs,
        runs_count: change.runs,
        regressed_runs_count: change.regressed_runs,
        input_growth_ratio: change.input_growth.map(Number),
        limit_growth_ratio: Number(change.limit_growth.factor),
        grown_phases: Each(&change.limit_growth.phases, grown_phase),
    }
}

#[derive(Serialize)]
struct NotComparedView<'a> {
    application: &'a str,
    reason: &'static str,
}

fn not_compared(run: &NotCompared) -> NotComparedView<'_> {
    NotComparedView { application: &run.application, reason: run.reason }
}

#[derive(Serialize)]
struct IncompleteRunView<'a> {
    application: &'a str,
    reason: &'a str,
    judged: bool,
}

fn incomplete(run: &IncompleteRun) -> IncompleteRunView<'_> {
    IncompleteRunView { application: &run.application, reason: &run.reason, judged: run.judged }
}
