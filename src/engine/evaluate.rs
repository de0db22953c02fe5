//! Judges one application: findings, troubles, savings, and its place among others.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::Options;
use super::rank::{self, Place};
use super::worst_charts::WorstCharts;
use crate::charts::Charts;
use crate::finding::{Finding, Name, Suppressed};
use crate::fingerprint::StageName;
use crate::metrics::Metrics;
use crate::model::{Application, Phase, Status, job_type};
use crate::results::{ApplicationReport, Leading, Work};
use crate::rules::{Evaluation, RuleSet};
use crate::severity::Severity;
use crate::troubles::{Basis, Diagnosed, diagnose};

/// The report on one application, and the index of the suppression for each suppressed finding.
pub(super) fn evaluate(
    app: &Application,
    sources: &[String],
    basis: Basis<'_>,
    options: Options,
    worst_charts: &WorstCharts,
) -> (ApplicationReport, Vec<usize>) {
    let rules = basis.rules;
    let evaluation = rules.evaluate(app);
    let suppressed_by = evaluation.suppressed.iter().map(|(place, _)| *place).collect();
    let evaluated = evaluated(&evaluation);
    let work = Work::of(app);
    let judged = app.complete || (evaluation.judges_work && work.task_time.is_some());
    // The part beyond a limit may add to every sum.
    let work = if app.limit.is_some() { Work::default() } else { work };
    let metrics = evaluation.metrics.unwrap_or_else(|| rules.measure(app));
    let at_most = most_severe(app, &metrics, rules);
    let suppressed = suppressed_from(options.min_severity, at_most, evaluation.suppressed);
    let mut findings = evaluation.findings;
    findings.iter_mut().for_each(|finding| finding.severity = finding.severity.min(at_most));
    let diagnosed = diagnose(app, basis, &metrics, &mut findings);
    let Diagnosed { mut troubles, configuration, savings } = diagnosed;
    troubles.retain(|trouble| trouble.severity >= options.min_severity);
    let counts = counts_by_severity(&findings);
    let severity = findings.iter().map(|finding| finding.severity).max().unwrap_or_default();
    let raw_severity = findings.iter().map(|finding| finding.raw_severity).max().unwrap_or_default();
    let score = findings.iter().fold(0u64, |sum, finding| sum.saturating_add(finding.score));
    let leading = Leading::of(app, &metrics, savings.as_ref(), basis, options.sort);
    let place = Place { leading: &leading, severity, score, wasted: metrics.wasted, id: &app.id, sources };
    worst_charts.offer(place, || Charts::of(app, rules, &findings));
    keep_at_least(options.min_severity, &mut findings);
    let silenced = suppressed.iter().map(|suppressed| &suppressed.finding);
    let stage_names = StageName::of_findings(app, findings.iter().chain(silenced));
    let report = ApplicationReport {
        id: app.id.clone(),
        attempt: app.spark.as_ref().and_then(|spark| spark.attempt.clone()),
        engine: app.engine,
        engine_version: app.engine_version.clone(),
        name: app.name.clone(),
        user: app.user.clone(),
        queue: app.queue.clone(),
        job_type: job_type(app),
        status: app.status,
        complete: app.complete,
        incomplete: app.why_incomplete(),
        judged,
        sources: sources.to_vec(),
        submitted_at: app.submitted_at,
        started_at: app.launched_at,
        finished_at: app.finished_at,
        severity,
        raw_severity,
        score,
        leading,
        metrics,
        work,
        counts,
        troubles,
        recommended: configuration,
        savings,
        findings,
        suppressed,
        evaluated,
        not_evaluated: evaluation.not_evaluated,
        stage_names,
        phases: options.details.then(|| Phase::all(app)),
        configuration: (options.details && !app.conf.is_empty()).then(|| Box::new(app.conf.clone())),
        charts: None,
    };
    (report, suppressed_by)
}

/// The highest severity that findings may have: less where there is little to save.
fn most_severe(app: &Application, metrics: &Metrics, rules: &RuleSet) -> Severity {
    let order = rules.order();
    let short = metrics.run_time.is_some_and(|time| time.as_f64() < order.small_run_time.get());
    let little = metrics.used.is_some_and(|used| used.as_gb_hours() < order.small_run_memory.get());
    let may_be_small = matches!(app.status, Status::Succeeded | Status::Killed);
    if short && little && may_be_small { order.small_run_at_most } else { Severity::Critical }
}

/// The suppressed findings with at least this severity, ranked, with severities of at most another.
fn suppressed_from(
    severity: Severity,
    at_most: Severity,
    suppressed: Vec<(usize, Suppressed)>,
) -> Vec<Suppressed> {
    let suppressed = suppressed.into_iter().map(|(_, mut suppressed)| {
        suppressed.finding.severity = suppressed.finding.severity.min(at_most);
        suppressed
    });
    let mut suppressed: Vec<Suppressed> =
        suppressed.filter(|suppressed| suppressed.finding.severity >= severity).collect();
    suppressed.sort_by(|a, b| rank::findings(&a.finding, &b.finding));
    suppressed
}

/// The number of findings per severity, by its value.
fn counts_by_severity(findings: &[Finding]) -> [u64; 5] {
    let mut counts = [0; 5];
    for finding in findings {
        if let Some(count) = usize::try_from(finding.severity.value()).ok().and_then(|i| counts.get_mut(i)) {
            *count += 1;
        }
    }
    counts
}

/// Removes findings below a severity and ranks the others.
fn keep_at_least(severity: Severity, findings: &mut Vec<Finding>) {
    findings.retain(|finding| finding.severity >= severity);
    // Most rules find nothing, so the unused capacity would be half of the memory that a small application
    // keeps.
    findings.shrink_to_fit();
    findings.sort_by(rank::findings);
}

fn evaluated(evaluation: &Evaluation) -> Arc<[Name]> {
    let suppressed = evaluation.suppressed.iter().map(|(_, suppressed)| &suppressed.finding);
    let findings = evaluation.findings.iter().chain(suppressed);
    findings.map(|finding| &finding.rule).collect::<BTreeSet<_>>().into_iter().cloned().collect()
}
