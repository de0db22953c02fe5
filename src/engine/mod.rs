//! Histories × rules → report. Files are read in parallel; the result does not depend on how many threads.

mod job_type;
mod rank;
mod read;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use rayon::prelude::*;

use crate::finding::{Finding, NotEvaluated};
use crate::input::discover;
use crate::input::inventory::{Inventory, Source};
use crate::input::job_id::{job_id_in, master_attempt_in};
use crate::input::kind::SourceKind;
use crate::input::part::Part;
use crate::metrics::Metrics;
use crate::model::conf::{Conf, ConfKey};
use crate::model::{Application, Engine, Status};
use crate::parse::{Level, Parsed, Problem, jobconf};
use crate::rules::RuleSet;
use crate::severity::Severity;
use crate::units::Timestamp;

pub use job_type::job_type;

/// Configurations beyond this many bytes are cut: real ones have some 200 KiB.
const MAX_CONF_LEN: u64 = 64 << 20;

/// Event logs from so many stored bytes on are worth all threads.
const LARGE_LOG: u64 = 32 << 20;

/// What [`analyze`] keeps.
#[derive(Debug, Clone, Copy)]
pub struct Options {
    /// Findings below this are counted, not kept.
    pub min_severity: Severity,
    /// Only this many applications are kept, the worst ones; all are counted.
    pub top: Option<usize>,
}

impl Default for Options {
    fn default() -> Self {
        Self { min_severity: Severity::Low, top: None }
    }
}

/// Everything that a report shows.
#[derive(Debug, Clone, Default)]
pub struct Report {
    /// Counts over the whole run.
    pub summary: Summary,
    /// The applications, worst first.
    pub applications: Vec<ApplicationReport>,
    /// What went wrong, by source.
    pub problems: Vec<SourceProblem>,
    /// Files that are no histories, by reason.
    pub skipped: Vec<(&'static str, u64)>,
    /// Whether something that the user named could not be read.
    pub named_input_failed: bool,
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
    /// How many findings there are, by severity value.
    pub counts: [u64; 5],
    /// Findings from the wanted severity on, worst first.
    pub findings: Vec<Finding>,
    /// Rules whose data is missing.
    pub not_evaluated: Vec<NotEvaluated>,
}

/// A problem and where it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourceProblem {
    /// The file.
    pub source: String,
    /// What is wrong with it.
    pub problem: Problem,
}

/// Finds the histories below `paths` and judges them by `rules`.
#[must_use]
pub fn analyze(paths: &[PathBuf], rules: &RuleSet, options: Options) -> Report {
    let mut inventory = discover::discover(paths);
    inventory.look_at_streams();
    let judge = |source: &Source| judge(source, &inventory, rules, options);
    // Large event logs are read by all threads, one log at a time: side by side they would only take more memory.
    let mut outcomes: Vec<Option<SourceOutcome>> =
        inventory.histories.iter().map(|source| is_large_event_log(source).then(|| judge(source))).collect();
    let sources = inventory.histories.par_iter();
    sources.zip(&mut outcomes).for_each(|(source, outcome)| {
        outcome.get_or_insert_with(|| judge(source));
    });
    let outcomes = outcomes.into_iter().map(Option::unwrap_or_default).collect();
    assemble(&inventory, outcomes, options)
}

fn is_large_event_log(source: &Source) -> bool {
    let stored: u64 = source.parts.iter().filter_map(Part::stored_len).sum();
    source.kind == Some(SourceKind::SparkEventLog) && stored >= LARGE_LOG
}

/// What became of one history.
#[derive(Default)]
struct SourceOutcome {
    applications: Vec<ApplicationReport>,
    problems: Vec<SourceProblem>,
    /// Files beyond those of the source that were used.
    confs: Vec<PathBuf>,
    failed: bool,
}

fn judge(source: &Source, inventory: &Inventory, rules: &RuleSet, options: Options) -> SourceOutcome {
    let name = source.path.to_string();
    let mut outcome = SourceOutcome::default();
    let parsed = match read::read(source) {
        Ok(parsed) => parsed,
        Err(error) => {
            outcome.failed = true;
            outcome.problems.push(error_problem(name, "unreadable", error.to_string()));
            return outcome;
        }
    };
    let Parsed { applications, confs, problems, part_problems } = parsed;
    for (part, problems) in part_problems {
        let keep = |problem| SourceProblem { source: part.clone(), problem };
        outcome.problems.extend(problems.into_vec().into_iter().map(keep));
    }
    let keep = |problem| SourceProblem { source: name.clone(), problem };
    outcome.problems.extend(problems.into_vec().into_iter().map(keep));
    let told_why = outcome.problems.iter().any(|entry| entry.problem.level == Level::Error);
    if applications.is_empty() && !told_why {
        let message = "the history tells nothing about a job; it was left out".to_owned();
        outcome.problems.push(error_problem(name.clone(), "no-events", message));
    }
    let mut embedded = confs;
    for mut app in applications {
        if app.id.is_empty() {
            app.id = id_from_name(source, app.engine);
        }
        let open = matches!(app.status, Status::Running | Status::Unknown);
        if open
            && app.engine == Engine::MapReduce
            && app.groups.is_empty()
            && app.submitted_at.is_none()
            && app.name.is_none()
        {
            let message = "the history tells nothing about a job; it was left out".to_owned();
            outcome.problems.push(error_problem(name.clone(), "no-events", message));
            continue;
        }
        let mut sources: Vec<String> = source.parts.iter().map(Part::name).collect();
        if app.engine == Engine::MapReduce {
            match embedded.iter().position(|(id, _)| *id == app.id) {
                Some(at) => app.conf = embedded.swap_remove(at).1,
                None => attach_conf(&mut app, source, inventory, &mut sources, &mut outcome),
            }
            complete_from_conf(&mut app);
        }
        let report = evaluate(&app, sources, rules, options);
        outcome.applications.push(report);
    }
    outcome.failed = outcome.applications.is_empty();
    outcome
}

/// What the file's name tells where the history does not tell its own id: a job's id, or the whole name.
fn id_from_name(source: &Source, engine: Engine) -> String {
    let Some(name) = source.path.as_path().file_name() else { return String::new() };
    match engine {
        Engine::MapReduce => job_id_in(name).unwrap_or_default(),
        Engine::Spark => name.to_string_lossy().into_owned(),
    }
}

/// Reads the configuration file of the job, if there is one.
fn attach_conf(
    app: &mut Application,
    source: &Source,
    inventory: &Inventory,
    sources: &mut Vec<String>,
    outcome: &mut SourceOutcome,
) {
    let Some(file) = inventory.conf_for(source.path.as_path(), &app.id) else { return };
    let shown = file.path.display().to_string();
    match read_conf(&file.part) {
        Ok((conf, problems)) => {
            app.conf = conf;
            let keep = |problem| SourceProblem { source: shown.clone(), problem };
            outcome.problems.extend(problems.into_iter().map(keep));
            sources.push(shown);
            outcome.confs.push(file.part.file().to_path_buf());
        }
        Err(message) => outcome.problems.push(error_problem(shown, "unreadable", message)),
    }
}

fn read_conf(part: &Part) -> Result<(Conf, Vec<Problem>), String> {
    use std::io::Read;
    let stream = part.open().map_err(|error| error.to_string())?;
    let mut bytes = Vec::new();
    // What comes before a read error is parsed; the parser says that the end is missing.
    if let Err(error) = stream.take(MAX_CONF_LEN).read_to_end(&mut bytes)
        && bytes.is_empty()
    {
        return Err(error.to_string());
    }
    let (conf, problems) = jobconf::parse(&bytes);
    Ok((conf, problems.into_vec()))
}

fn complete_from_conf(app: &mut Application) {
    app.name = app.name.take().or_else(|| app.conf.text(ConfKey::JobName));
    app.user = app.user.take().or_else(|| app.conf.text(ConfKey::User));
    app.queue = app.queue.take().or_else(|| app.conf.text(ConfKey::Queue));
}

fn evaluate(app: &Application, sources: Vec<String>, rules: &RuleSet, options: Options) -> ApplicationReport {
    let evaluation = rules.evaluate(app);
    let mut findings = evaluation.findings;
    let mut counts = [0; 5];
    for finding in &findings {
        if let Some(count) = usize::try_from(finding.severity.value()).ok().and_then(|i| counts.get_mut(i)) {
            *count += 1;
        }
    }
    let severity = findings.iter().map(|finding| finding.severity).max().unwrap_or_default();
    let score = findings.iter().fold(0u64, |sum, finding| sum.saturating_add(finding.score));
    findings.retain(|finding| finding.severity >= options.min_severity);
    findings.sort_by(rank::findings);
    ApplicationReport {
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
        sources,
        submitted_at: app.submitted_at,
        started_at: app.launched_at,
        finished_at: app.finished_at,
        severity,
        score,
        metrics: rules.measure(app),
        counts,
        findings,
        not_evaluated: evaluation.not_evaluated,
    }
}

fn assemble(inventory: &Inventory, outcomes: Vec<SourceOutcome>, options: Options) -> Report {
    let mut report = Report::default();
    // An archive with several logs is one file, and so is one of which a part could not be read.
    let (mut analysed, mut failed) = (BTreeSet::new(), BTreeSet::new());
    for failure in &inventory.failures {
        report.named_input_failed |= failure.named_by_user;
        failed.insert(failure.file.clone());
        let source = failure.error.path().display().to_string();
        report.problems.push(error_problem(source, failure.error.code(), failure.error.to_string()));
    }
    for (source, outcome) in inventory.histories.iter().zip(outcomes) {
        report.named_input_failed |= outcome.failed && source.named_by_user;
        let files = if outcome.failed { &mut failed } else { &mut analysed };
        files.extend(source.files().map(Path::to_path_buf));
        report.applications.extend(outcome.applications);
        report.problems.extend(outcome.problems);
        analysed.extend(outcome.confs);
    }
    report.summary.files_analysed = analysed.len() as u64;
    report.summary.files_failed = failed.difference(&analysed).count() as u64;
    report.summary.files_found = inventory.found;
    report.summary.files_skipped =
        inventory.found.saturating_sub(report.summary.files_analysed + report.summary.files_failed);
    report.skipped = inventory.skipped.iter().map(|skipped| (skipped.reason.text(), skipped.count)).collect();
    supersede(&mut report);
    report.summary.applications = report.applications.len() as u64;
    for app in &report.applications {
        for (sum, count) in report.summary.findings.iter_mut().zip(app.counts) {
            *sum += count;
        }
    }
    report.applications.sort_by(rank::applications);
    if let Some(top) = options.top {
        report.applications.truncate(top);
    }
    report
}

/// Each attempt of a job's master leaves a history of its own in the staging folder, and the later one
/// repeats what it recovered of the earlier: only the last one tells how the job went on.
fn supersede(report: &mut Report) {
    let attempt = |app: &ApplicationReport| -> Option<(PathBuf, String, u32)> {
        let path = Path::new(app.sources.first()?);
        let number = master_attempt_in(path.file_name()?)?;
        Some((path.parent()?.to_owned(), app.id.clone(), number))
    };
    let mut last: BTreeMap<(PathBuf, String), u32> = BTreeMap::new();
    for (folder, id, number) in report.applications.iter().filter_map(attempt) {
        let latest = last.entry((folder, id)).or_default();
        *latest = number.max(*latest);
    }
    let mut superseded = Vec::new();
    report.applications.retain(|app| {
        let Some((folder, id, number)) = attempt(app) else { return true };
        let latest = last.get(&(folder, id)).copied().unwrap_or_default();
        if number < latest {
            superseded.push((app.sources.first().cloned().unwrap_or_default(), latest));
        }
        number >= latest
    });
    for (source, latest) in superseded {
        let message = format!("attempt {latest} of the job's master tells more; this history was left out");
        let problem = Problem { level: Level::Info, code: "superseded", position: None, message, count: 1 };
        report.problems.push(SourceProblem { source, problem });
    }
}

fn error_problem(source: String, code: &'static str, message: String) -> SourceProblem {
    let problem = Problem { level: Level::Error, code, position: None, message, count: 1 };
    SourceProblem { source, problem }
}
