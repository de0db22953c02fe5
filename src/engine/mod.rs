//! Histories × rules → report. Files are read in parallel; the result does not depend on how many threads.

mod charted;
mod job_type;
mod kept;
mod phases;
mod progress;
mod rank;
mod read;
mod stage_names;
mod totals;
mod visit;
mod work;

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

use chrono::NaiveDate;

use crate::baseline::Comparison;
use crate::charts::Charts;
use crate::finding::{Finding, Name, NotEvaluated, Suppressed};
use crate::limits::Limits;
use crate::metrics::Metrics;
use crate::model::conf::Conf;
use crate::model::{Application, Engine, Status};
use crate::rules::{Evaluation, RuleInfo, RuleSet, Suppression};
use crate::severity::Severity;
use crate::units::Timestamp;

use charted::Charted;
use kept::{Judged, Keepsake, Kept};
use rank::Place;
use read::{Extent, Wanted};
use visit::{may_be_superseded, visit_in_turn};

pub use job_type::job_type;
pub use phases::Phase;
pub use progress::{Progress, SoFar};
pub use stage_names::StageName;
pub use totals::{NotEvaluatedTotal, RuleTotal, Totals, WorstFinding};
pub(crate) use visit::visit_for_rules;
pub use visit::{SourceProblem, Visit, Visited, visit, visit_with};
pub use work::Work;

/// What [`analyze`] keeps.
#[derive(Debug, Clone, Copy)]
pub struct Options {
    /// Findings below this are counted, not kept.
    pub min_severity: Severity,
    /// Only this many applications are kept, the worst ones; all are counted.
    pub top: Option<usize>,
    /// Whether phases and the configuration are kept, which take memory for each stage and property.
    pub details: bool,
    /// So many applications have charts, the worst ones.
    pub charts: usize,
    /// What each history may cost.
    pub limits: Limits,
}

impl Default for Options {
    fn default() -> Self {
        Self { min_severity: Severity::Low, top: None, details: false, charts: 0, limits: Limits::default() }
    }
}

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

/// One application with what the rules say about it.
#[derive(Debug, Clone)]
#[allow(missing_docs)] // as in `Application`
pub struct ApplicationReport {
    pub id: String,
    /// Which attempt of the application it is, where its cluster manager counts them.
    pub attempt: Option<String>,
    pub engine: Engine,
    pub engine_version: Option<String>,
    pub name: Option<String>,
    pub user: Option<String>,
    pub queue: Option<String>,
    pub job_type: Option<&'static str>,
    pub status: Status,
    pub complete: bool,
    /// Why the history is incomplete, in words to follow "because" or a colon; `None` where it is complete.
    pub incomplete: Option<String>,
    /// Whether anything could be judged of what it did: of a history that is complete, always; of another one, where it
    /// shows the end of an attempt and a rule about tasks, stages or jobs was evaluated.
    pub judged: bool,
    /// The files it was read from, the history first.
    pub sources: Vec<String>,
    pub submitted_at: Option<Timestamp>,
    pub started_at: Option<Timestamp>,
    pub finished_at: Option<Timestamp>,
    /// The worst severity of its findings.
    pub severity: Severity,
    /// The sum of its findings' scores.
    pub score: u64,
    pub metrics: Metrics,
    /// What its attempts did together; nothing of it is known where a limit has left a part.
    pub work: Work,
    /// How many findings there are, by severity value.
    pub counts: [u64; 5],
    /// Findings from the wanted severity on, worst first.
    pub findings: Vec<Finding>,
    /// Findings that a rule file silences, from the wanted severity on; they count nowhere.
    pub suppressed: Vec<Suppressed>,
    /// Rules that were evaluated, whatever they found, by id. For most applications they are the same.
    pub evaluated: Arc<[Name]>,
    /// Rules whose data is missing.
    pub not_evaluated: Vec<NotEvaluated>,
    /// The names of the stages that findings are about, by id.
    pub stage_names: Vec<StageName>,
    /// Its phases, where [`Options::details`] asks for them.
    pub phases: Option<Vec<Phase>>,
    /// Its configuration, where [`Options::details`] asks for it and the history has one.
    pub configuration: Option<Box<Conf>>,
    /// Its charts, where [`Options::charts`] asks for them.
    pub charts: Option<Box<Charts>>,
}

#[cfg(test)]
impl ApplicationReport {
    /// A Spark application that did nothing.
    pub(crate) fn blank(id: &str) -> Self {
        Self {
            id: id.to_owned(),
            attempt: None,
            engine: Engine::Spark,
            engine_version: None,
            name: None,
            user: None,
            queue: None,
            job_type: None,
            status: Status::Succeeded,
            complete: true,
            incomplete: None,
            judged: true,
            sources: Vec::new(),
            submitted_at: None,
            started_at: None,
            finished_at: None,
            severity: Severity::None,
            score: 0,
            metrics: Metrics::default(),
            work: Work::default(),
            counts: [0; 5],
            findings: Vec::new(),
            suppressed: Vec::new(),
            evaluated: Arc::default(),
            not_evaluated: Vec::new(),
            stage_names: Vec::new(),
            phases: None,
            configuration: None,
            charts: None,
        }
    }
}

/// Finds the histories below `paths` and judges them by `rules`.
#[must_use]
pub fn analyze(paths: &[PathBuf], rules: &RuleSet, options: Options) -> Report {
    analyze_with(paths, rules, options, &Progress::default())
}

/// The same, telling `progress` how far it is.
#[must_use]
pub fn analyze_with(paths: &[PathBuf], rules: &RuleSet, options: Options, progress: &Progress) -> Report {
    let charted = Charted::new(options.charts);
    let kept = Kept::new(options.top);
    let extent = Extent { wanted: Wanted::ForRules, limits: &options.limits };
    let visited = visit_in_turn(paths, extent, progress, |app, sources, turn| {
        let started = Instant::now();
        let (report, suppressed_by) = evaluate(app, sources, rules, options, &charted);
        let judged = Judged { report, turn, suppressed_by };
        progress.findings(judged.report.counts.iter().skip(1).sum());
        log::debug!("{}: judged in {:.1?}", judged.report.id, started.elapsed());
        // Whether a later attempt of a job's master tells more is known when all is read.
        if may_be_superseded(sources) {
            return Some(judged);
        }
        kept.take(judged);
        None
    });
    for visit in visited.applications {
        kept.take(visit.value);
    }
    let Keepsake { mut applications, totals, findings, suppressed } = kept.finish();
    charted.hand_out(&mut applications);
    Report {
        rules: rules.infos(),
        suppressions: suppression_uses(rules, &suppressed),
        summary: Summary { findings, ..visited.summary },
        totals,
        applications,
        problems: visited.problems,
        skipped: visited.skipped,
        named_input_failed: visited.named_input_failed,
        comparison: None,
    }
}

/// What became of each suppression; `silenced` counts findings by the suppression's place.
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

/// The report on one application, and for each of its findings that a rule file silences the place of the suppression.
fn evaluate(
    app: &Application,
    sources: &[String],
    rules: &RuleSet,
    options: Options,
    charted: &Charted,
) -> (ApplicationReport, Vec<usize>) {
    let evaluation = rules.evaluate(app);
    let suppressed_by = evaluation.suppressed.iter().map(|(place, _)| *place).collect();
    let evaluated = evaluated(&evaluation);
    let work = Work::of(app);
    let judged = app.complete || (evaluation.judges_work && work.task_time.is_some());
    // Behind a limit there may be more of everything.
    let work = if app.limit.is_some() { Work::default() } else { work };
    let suppressed = evaluation.suppressed.into_iter().map(|(_, suppressed)| suppressed);
    let mut suppressed: Vec<Suppressed> =
        suppressed.filter(|suppressed| suppressed.finding.severity >= options.min_severity).collect();
    suppressed.sort_by(|a, b| rank::findings(&a.finding, &b.finding));
    let mut findings = evaluation.findings;
    let mut counts = [0; 5];
    for finding in &findings {
        if let Some(count) = usize::try_from(finding.severity.value()).ok().and_then(|i| counts.get_mut(i)) {
            *count += 1;
        }
    }
    let severity = findings.iter().map(|finding| finding.severity).max().unwrap_or_default();
    let score = findings.iter().fold(0u64, |sum, finding| sum.saturating_add(finding.score));
    let metrics = evaluation.metrics.unwrap_or_else(|| rules.measure(app));
    let place = Place { severity, score, wasted: metrics.wasted, id: &app.id, sources };
    charted.offer(place, || Charts::of(app, rules, &findings));
    findings.retain(|finding| finding.severity >= options.min_severity);
    // Most rules find nothing: the places of their verdicts would be half of what a small application leaves in memory.
    findings.shrink_to_fit();
    findings.sort_by(rank::findings);
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

fn evaluated(evaluation: &Evaluation) -> Arc<[Name]> {
    let suppressed = evaluation.suppressed.iter().map(|(_, suppressed)| &suppressed.finding);
    let findings = evaluation.findings.iter().chain(suppressed);
    findings.map(|finding| &finding.rule).collect::<BTreeSet<_>>().into_iter().cloned().collect()
}
