//! Histories × rules → report. Files are read in parallel; the result does not depend on the number of
//! threads.
//!
//! [`analyze`] evaluates rules and returns a [`Report`]. [`visit()`] passes each application to a function instead, for
//! figures of one's own:
//!
//! ```
//! use elephant_rs::engine::visit;
//!
//! let visited = visit(&["testdata/hadoop1".into()], |app, _files| app.task_count());
//! assert_eq!(visited.applications[0].id, "job_201311192236_0042");
//! assert!(visited.applications[0].value > 0);
//! ```
//!
//! Histories that cannot be read, or not to their end, are [`problems`](Visited::problems), never a panic.

mod collected;
mod pieces;
mod progress;
mod rank;
mod read;
mod totals;
mod visit;
mod worst;
mod worst_charts;

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

use crate::charts::Charts;
use crate::finding::{Finding, Name, Suppressed};
use crate::fingerprint::StageName;
use crate::limits::Limits;
use crate::model::{Application, Phase, job_type};
use crate::results::{ApplicationReport, Report, Summary, SuppressionUse, Work};
use crate::rules::{Evaluation, RuleSet, Suppression};
use crate::severity::Severity;
use crate::troubles::{Diagnosed, diagnose};

use collected::{Collected, Collector, Judged};
use rank::Place;
use read::{Extent, Wanted};
use visit::{may_be_superseded, visit_in_turn};
use worst_charts::WorstCharts;

pub(crate) use pieces::{Pieces, Render};
pub use progress::{Progress, SoFar};
pub use visit::{Visit, Visited, visit, visit_with};
pub(crate) use visit::{discover, visit_for_rules};

/// What [`analyze`] keeps.
#[derive(Debug, Clone, Copy)]
pub struct Options {
    /// Findings below this severity are counted, but not kept.
    pub min_severity: Severity,
    /// Only this many applications, the worst ones, are kept. All are counted.
    pub top: Option<usize>,
    /// Whether phases and the configuration are kept. They need memory for each stage and property.
    pub details: bool,
    /// This many applications, the worst ones, have charts.
    pub charts: usize,
    /// Limits on what reading one history may cost.
    pub limits: Limits,
}

impl Default for Options {
    fn default() -> Self {
        Self { min_severity: Severity::Low, top: None, details: false, charts: 0, limits: Limits::default() }
    }
}

/// Finds the histories below `paths` and runs `rules` on them.
#[must_use]
pub fn analyze(paths: &[PathBuf], rules: &RuleSet, options: Options) -> Report {
    analyze_with(paths, rules, options, &Progress::default())
}

/// Like [`analyze`], and reports how far it is to `progress`.
#[must_use]
pub fn analyze_with(paths: &[PathBuf], rules: &RuleSet, options: Options, progress: &Progress) -> Report {
    analyze_into(Collector::new(options.top), paths, rules, options, progress).0
}

/// Like [`analyze_with`], but renders each application as soon as it is judged. The report has no applications, and the
/// pieces are all of them: [`Options::top`] and [`Options::charts`] do not apply.
pub(crate) fn analyze_in_pieces(
    paths: &[PathBuf],
    rules: &RuleSet,
    options: Options,
    progress: &Progress,
    render: Render<'_>,
) -> (Report, Pieces) {
    let options = Options { top: None, charts: 0, ..options };
    analyze_into(Collector::rendering(render), paths, rules, options, progress)
}

fn analyze_into(
    collector: Collector<'_>,
    paths: &[PathBuf],
    rules: &RuleSet,
    options: Options,
    progress: &Progress,
) -> (Report, Pieces) {
    let worst_charts = WorstCharts::new(options.charts);
    let extent = Extent { wanted: Wanted::ForRules, limits: &options.limits };
    let visited = visit_in_turn(paths, extent, progress, |app, sources, turn| {
        let started = Instant::now();
        let (report, suppressed_by) = evaluate(app, sources, rules, options, &worst_charts);
        let judged = Judged { report, turn, suppressed_by };
        progress.findings(judged.report.counts.iter().skip(1).sum());
        log::debug!("{}: judged in {:.1?}", judged.report.id, started.elapsed());
        // A later attempt of the application master may replace this history. That is known after all files
        // are read.
        if may_be_superseded(sources) {
            return Some(judged);
        }
        collector.add(judged);
        None
    });
    for visit in visited.applications {
        collector.add(visit.value);
    }
    let Collected { mut applications, pieces, totals, findings, suppressed } = collector.finish();
    worst_charts.hand_out(&mut applications);
    let report = Report {
        rules: rules.infos(),
        suppressions: suppression_uses(rules, &suppressed),
        summary: Summary { findings, ..visited.summary },
        totals,
        applications,
        problems: visited.problems,
        skipped: visited.skipped,
        named_input_failed: visited.named_input_failed,
        comparison: None,
    };
    (report, pieces)
}

/// How many findings each suppression matched; `silenced` has these counts by the suppression's index.
fn suppression_uses(rules: &RuleSet, silenced: &[u64]) -> Vec<SuppressionUse> {
    let status = |(place, suppression): (usize, &Suppression)| SuppressionUse {
        origin: suppression.origin(),
        rules: suppression.rules.to_string(),
        reason: suppression.reason.clone(),
        until: suppression.until,
        expired: suppression.is_expired(rules.today()),
        findings: silenced.get(place).copied().unwrap_or_default(),
    };
    rules.suppressions().iter().enumerate().map(status).collect()
}

/// The report on one application, and the index of the suppression for each suppressed finding.
fn evaluate(
    app: &Application,
    sources: &[String],
    rules: &RuleSet,
    options: Options,
    worst_charts: &WorstCharts,
) -> (ApplicationReport, Vec<usize>) {
    let evaluation = rules.evaluate(app);
    let suppressed_by = evaluation.suppressed.iter().map(|(place, _)| *place).collect();
    let evaluated = evaluated(&evaluation);
    let work = Work::of(app);
    let judged = app.complete || (evaluation.judges_work && work.task_time.is_some());
    // The part beyond a limit may add to every sum.
    let work = if app.limit.is_some() { Work::default() } else { work };
    let suppressed = suppressed_from(options.min_severity, evaluation.suppressed);
    let mut findings = evaluation.findings;
    let Diagnosed { mut troubles, configuration } = diagnose(app, &mut findings);
    troubles.retain(|trouble| trouble.severity >= options.min_severity);
    let counts = counts_by_severity(&findings);
    let severity = findings.iter().map(|finding| finding.severity).max().unwrap_or_default();
    let score = findings.iter().fold(0u64, |sum, finding| sum.saturating_add(finding.score));
    let metrics = evaluation.metrics.unwrap_or_else(|| rules.measure(app));
    let place = Place { severity, score, wasted: metrics.wasted, id: &app.id, sources };
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
        score,
        metrics,
        work,
        counts,
        troubles,
        recommended: configuration,
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

/// The suppressed findings with at least this severity, ranked.
fn suppressed_from(severity: Severity, suppressed: Vec<(usize, Suppressed)>) -> Vec<Suppressed> {
    let suppressed = suppressed.into_iter().map(|(_, suppressed)| suppressed);
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
