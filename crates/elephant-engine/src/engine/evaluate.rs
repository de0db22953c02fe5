//! Judges one application: findings, troubles, savings, and its place among others.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::Options;
use super::copies::RunCopy;
use super::process_logs::ProcessLogs;
use super::rank::{self, Place};
use super::visit::{Turn, may_be_superseded};
use super::waiting;
use super::worst_charts::{Copied, WorstCharts};
use crate::fingerprint::StageName;
use crate::results::{ApplicationReport, Leading, PhaseWork, Work};
use elephant_analysis::metrics::{AtLeast, Metrics};
use elephant_analysis::replay::spark::RecordedOnce;
use elephant_base::severity::Severity;
use elephant_model::model::spark::NativeEngine;
use elephant_model::model::{Application, Phase, Status};
use elephant_query::{Extent, Ground, QuerySummary};
use elephant_rule::finding::{Cap, CapReason, Finding, Name, Suppressed, TroubleKind};
use elephant_ruleset::{Evaluation, RuleSet};
use elephant_verdict::account::Account;
use elephant_verdict::charts::Charts;
use elephant_verdict::troubles::{Basis, Diagnosed, diagnose};

/// The report on one application, and the index of the suppression for each suppressed finding.
pub(super) fn evaluate(
    app: &Application,
    (sources, turn): (&[String], Turn),
    (basis, logs): (Basis<'_>, &ProcessLogs),
    options: &Options,
    worst_charts: &WorstCharts,
) -> (ApplicationReport, Vec<usize>) {
    let (rules, recorded) = (basis.rules, RecordedOnce::default());
    let mut evaluation = rules.evaluate_recorded(app, &recorded, extent_of_queries(options));
    let evaluated = evaluated(&evaluation);
    let (work, judged) = work(app, evaluation.judges_work);
    let metrics = evaluation.metrics.take().unwrap_or_else(|| rules.measure(app));
    let at_least = at_least(app, &metrics, rules);
    cap(&mut evaluation, app, rules, most_severe(app, (&metrics, at_least), rules));
    let (suppressed_by, suppressed) = suppressed_from(options.min_severity, evaluation.suppressed);
    let mut findings = evaluation.findings;
    let mut diagnosed = diagnose(app, basis, (&metrics, recorded), &mut findings);
    logs.explain(app, &mut diagnosed.troubles, &mut findings);
    let Diagnosed { mut troubles, configuration, savings } = diagnosed;
    troubles.retain(|trouble| trouble.severity >= options.min_severity);
    let counts = counts_by_severity(&findings);
    let Overall { severity, raw_severity, severity_in_larger_run, score } = Overall::of(&findings);
    let leading = Leading::of(app, &metrics, savings.as_ref(), basis, options.sort);
    let place = Place::new(&leading, (severity, score), metrics.wasted, (&app.id, sources));
    if options.charts > 0 {
        let copied = Copied::of(&RunCopy::of(app, sources), turn, place, may_be_superseded(sources));
        worst_charts
            .offer(place, turn, copied, || charts(app, rules, (&findings, &evaluation.queries), options));
    }
    keep_at_least(options.min_severity, &mut findings);
    let report = ApplicationReport {
        stage_names: stage_names(app, &findings, &suppressed),
        judged,
        severity,
        raw_severity,
        severity_in_larger_run,
        score,
        leading,
        metrics,
        work,
        phase_work: phase_work(app, options),
        at_least,
        counts,
        account: account(app, &evaluation.queries),
        troubles,
        recommended: configuration,
        savings,
        findings,
        suppressed,
        evaluated,
        not_evaluated: evaluation.not_evaluated,
        identity: rules.identity(app),
        native_share: native_share(app),
        queries: reported(evaluation.queries, options),
        phases: options.details.then(|| Phase::all(app)),
        configuration: (options.details && !app.conf.is_empty()).then(|| Box::new(app.conf.clone())),
        ..ApplicationReport::of(app, sources)
    };
    (report, suppressed_by)
}

/// The names of the stages that findings are about, whether or not they are suppressed.
fn stage_names(app: &Application, findings: &[Finding], suppressed: &[Suppressed]) -> Vec<StageName> {
    StageName::of_findings(app, findings.iter().chain(suppressed.iter().map(|it| &it.finding)))
}

/// The share of the time of tasks of queries in which a native engine worked.
fn native_share(app: &Application) -> Option<f64> {
    NativeEngine::at_work(app)?;
    Ground::of(app)?.native_share()
}

fn charts(
    app: &Application,
    rules: &RuleSet,
    (findings, queries): (&[Finding], &[QuerySummary]),
    options: &Options,
) -> Charts {
    Charts::of(app, rules, findings).with_queries(app, queries, options.plans)
}

/// The most queries that reports name without details.
const QUERIES: usize = 3;

/// Charts need all queries, whether or not the application turns out to be among the worst.
fn extent_of_queries(options: &Options) -> Extent {
    if options.details || options.charts > 0 {
        Extent { queries: usize::MAX, operators: true }
    } else {
        Extent { queries: QUERIES, operators: false }
    }
}

/// What the largest phases read. It is only kept for comparing runs.
fn phase_work(app: &Application, options: &Options) -> Vec<PhaseWork> {
    if options.phase_work { PhaseWork::of(app) } else { Vec::new() }
}

/// Where the run time went. It names operators of the same queries in every format.
fn account(app: &Application, queries: &[QuerySummary]) -> Option<Account> {
    let named: Vec<QuerySummary> =
        queries.iter().take(QUERIES).cloned().map(QuerySummary::with_few_operators).collect();
    Account::of(app, &named)
}

/// The queries that the report on an application has without its charts.
fn reported(mut queries: Vec<QuerySummary>, options: &Options) -> Vec<QuerySummary> {
    if options.details || options.charts == 0 {
        return queries;
    }
    queries.truncate(QUERIES);
    queries.into_iter().map(QuerySummary::with_few_operators).collect()
}

/// The severity and score of all findings of an application.
struct Overall {
    severity: Severity,
    raw_severity: Severity,
    severity_in_larger_run: Severity,
    score: u64,
}

impl Overall {
    fn of(findings: &[Finding]) -> Self {
        let highest = |of: fn(&Finding) -> Severity| findings.iter().map(of).max().unwrap_or_default();
        Self {
            severity: highest(|finding| finding.severity),
            raw_severity: highest(|finding| finding.raw_severity),
            severity_in_larger_run: highest(Finding::severity_in_larger_run),
            score: findings.iter().fold(0, |sum: u64, finding| sum.saturating_add(finding.score)),
        }
    }
}

/// Lowers the severity of findings in a small application, and of those that tell of no loss.
fn cap(evaluation: &mut Evaluation, app: &Application, rules: &RuleSet, at_most: Severity) {
    let small = Cap { at_most, why: CapReason::SmallRun };
    all_findings(evaluation).for_each(|finding| finding.cap(small.clone()));
    cap_long_runs(evaluation, app, rules);
    cap_waiting(evaluation, app, rules);
}

/// Lowers the severity of findings that only say that something took long: work that was done without loss is no trouble.
fn cap_long_runs(evaluation: &mut Evaluation, app: &Application, rules: &RuleSet) {
    if app.status == Status::Failed {
        return;
    }
    // A larger run would be no worse.
    let cap = Cap { at_most: rules.order().long_run_at_most, why: CapReason::TookLong };
    let took_long = [TroubleKind::LongRun, TroubleKind::FewExecutors];
    for finding in all_findings(evaluation).filter(|finding| took_long.contains(&finding.tells)) {
        finding.cap(cap.clone());
    }
}

/// Lowers the severity of findings on tasks that wait by design.
fn cap_waiting(evaluation: &mut Evaluation, app: &Application, rules: &RuleSet) {
    let cap = Cap { at_most: rules.order().waiting_at_most, why: CapReason::WaitsByDesign };
    for finding in all_findings(evaluation).filter(|finding| waiting::only_waits(app, finding)) {
        finding.cap(cap.clone());
    }
}

/// All findings, also those that users suppress.
fn all_findings(evaluation: &mut Evaluation) -> impl Iterator<Item = &mut Finding> {
    let suppressed = evaluation.suppressed.iter_mut().map(|(_, suppressed)| &mut suppressed.finding);
    evaluation.findings.iter_mut().chain(suppressed)
}

/// The sums over the attempts of an application, and whether it could be judged.
fn work(app: &Application, judges_work: bool) -> (Work, bool) {
    let work = Work::of(app);
    let judged = app.complete || (judges_work && work.task_time.is_some());
    // The part of a history beyond a limit may add to every sum, so the sums are unknown.
    (if app.limit.is_some() { Work::default() } else { work }, judged)
}

/// What an application with an incomplete history cost at least. Nothing says how much of it is beyond a limit.
fn at_least(app: &Application, metrics: &Metrics, rules: &RuleSet) -> AtLeast {
    if app.complete || app.limit.is_some() {
        return AtLeast::default();
    }
    AtLeast::of(app, metrics, (rules.metrics(), rules.spark_metrics()))
}

/// The highest severity that findings may have: less where there is little to save. Of an incomplete history, the part
/// that was read decides, because a single lost line must not make findings worse.
fn most_severe(app: &Application, (metrics, at_least): (&Metrics, AtLeast), rules: &RuleSet) -> Severity {
    let order = rules.order();
    let (time, used) = (metrics.run_time.or(at_least.run_time), metrics.used.or(at_least.used));
    let short = time.is_some_and(|time| time.as_f64() < order.small_run_time.get());
    let little = used.is_some_and(|used| used.as_gb_hours() < order.small_run_memory.get());
    let may_be_small = match app.status {
        Status::Succeeded | Status::Killed => true,
        Status::Running | Status::Unknown => !app.complete,
        Status::Failed => false,
    };
    if short && little && may_be_small { order.small_run_at_most } else { Severity::Critical }
}

/// The indices of the suppressions, and the suppressed findings with at least this severity, ranked.
fn suppressed_from(
    severity: Severity,
    suppressed: Vec<(usize, Suppressed)>,
) -> (Vec<usize>, Vec<Suppressed>) {
    let (places, mut suppressed): (Vec<usize>, Vec<Suppressed>) = suppressed.into_iter().unzip();
    suppressed.retain(|suppressed| suppressed.finding.severity >= severity);
    suppressed.sort_by(|a, b| rank::findings(&a.finding, &b.finding));
    (places, suppressed)
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

#[cfg(test)]
mod tests {
    use super::*;
    use elephant_base::units::{Bytes, MbMillis, Millis};
    use elephant_model::model::Engine;

    #[test]
    fn the_part_that_was_read_decides_whether_a_run_is_small() {
        let rules = RuleSet::new(elephant_heuristics::BUILT_IN).unwrap();
        let used = |minutes: u64| Some(MbMillis::of(Bytes::from_mib(1024), Millis::from_secs(60 * minutes)));
        let app = |status, complete| Application { status, complete, ..Application::new(Engine::Spark) };
        let at_least = |minutes| AtLeast { run_time: Some(Millis::from_secs(60)), used: used(minutes) };
        let nothing = Metrics::default();
        for (status, minutes, wanted) in [
            (Status::Succeeded, 1, Severity::Moderate),
            (Status::Running, 1, Severity::Moderate),
            (Status::Succeeded, 60, Severity::Critical),
            (Status::Failed, 1, Severity::Critical),
        ] {
            let limit = most_severe(&app(status, false), (&nothing, at_least(minutes)), &rules);
            assert_eq!(limit, wanted, "{status:?}, {minutes}");
        }
        // Nothing is known, or the application goes on.
        let unknown = most_severe(&app(Status::Succeeded, false), (&nothing, AtLeast::default()), &rules);
        let running = most_severe(&app(Status::Running, true), (&nothing, at_least(1)), &rules);
        assert_eq!((unknown, running), (Severity::Critical, Severity::Critical));
    }
}
