//! Reads every history below paths in parallel and passes each application to a closure. Results are in the
//! order of the sources, whatever the number of threads.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::time::Instant;

use rayon::prelude::*;

use super::read::{Extent, Wanted};
use super::{Progress, progress, read};
use crate::input::discover;
use crate::input::inventory::{Inventory, Skipped, Source};
use crate::input::job_id::{job_id_in, master_attempt_in};
use crate::input::kind::{Reason, SourceKind};
use crate::input::part::Part;
use crate::input::window::ByteWindow;
use crate::limits::{Limits, REACHED};
use crate::model::conf::{Conf, ConfKey};
use crate::model::{Application, Engine, Status};
use crate::parse::{Level, Parsed, Problem, identify, jobconf};
use crate::results::{SourceProblem, Summary};
use crate::units::Timestamp;

/// Configurations longer than this are cut. Real ones have about 200 KiB.
const MAX_CONF_LEN: u64 = 64 << 20;

/// Event logs with at least this many stored bytes are read by all threads.
const LARGE_LOG: u64 = 32 << 20;

/// The result of a visit.
#[derive(Debug, Clone)]
pub struct Visited<T> {
    /// Counts of files and applications. Findings are not counted here.
    pub summary: Summary,
    /// One entry per application, in the order of the sources.
    pub applications: Vec<Visit<T>>,
    /// Problems, by source.
    pub problems: Vec<SourceProblem>,
    /// Files that are not histories, by reason.
    pub skipped: Vec<(&'static str, u64)>,
    /// Whether an input that the user named could not be read.
    pub named_input_failed: bool,
}

impl<T> Visited<T> {
    /// Removes applications that occur twice, in another folder or another format, because statistics over
    /// many jobs would count them twice. The first complete copy stays; each removed one is reported as a
    /// problem.
    #[must_use]
    pub fn distinct(mut self) -> Self {
        let key = |visit: &Visit<T>| (visit.id.clone(), visit.attempt.clone(), visit.submitted_at);
        let mut kept: BTreeMap<_, usize> = BTreeMap::new();
        for (place, visit) in self.applications.iter().enumerate() {
            let best = kept.entry(key(visit)).or_insert(place);
            let known_complete = self.applications.get(*best).is_some_and(|known| known.complete);
            if !known_complete && visit.complete {
                *best = place;
            }
        }
        let source = |visit: &Visit<T>| visit.sources.first().cloned().unwrap_or_default();
        let names: Vec<String> = self.applications.iter().map(source).collect();
        let mut place = 0;
        let problems = &mut self.problems;
        self.applications.retain(|visit| {
            let best = kept.get(&key(visit)).copied().unwrap_or(place);
            let stays = best == place;
            if !stays {
                let other = names.get(best).map_or("", String::as_str);
                let message = format!("{} is also in {other}; it is counted once", visit.id);
                let problem =
                    Problem { level: Level::Info, code: "duplicate", position: None, message, count: 1 };
                problems.push(SourceProblem { source: source(visit), problem });
            }
            place += 1;
            stays
        });
        self.summary.applications = self.applications.len() as u64;
        self
    }
}

/// The result for one application.
#[derive(Debug, Clone)]
pub struct Visit<T> {
    /// The application's id.
    pub id: String,
    /// The application's attempt, if its cluster manager counts attempts.
    attempt: Option<String>,
    submitted_at: Option<Timestamp>,
    complete: bool,
    /// The files it was read from, the history first.
    pub sources: Vec<String>,
    /// The value that `look` returned.
    pub value: T,
}

/// Finds all files below `paths` (files, folders, `-` for standard input) and detects what they hold, with
/// default limits.
#[must_use]
pub fn discover(paths: &[PathBuf]) -> Inventory {
    crate::input::discover::discover(paths, &Limits::default(), identify)
}

/// Finds the histories below `paths` and passes each application to `look`, with the files it was read
/// from. Each application is dropped after `look` returns.
#[must_use]
pub fn visit<T: Send>(paths: &[PathBuf], look: impl Fn(&Application, &[String]) -> T + Sync) -> Visited<T> {
    visit_with(paths, &Limits::default(), &Progress::default(), look)
}

/// Like [`visit`], with `limits` on each history. Reports how far it is to `progress`.
#[must_use]
pub fn visit_with<T: Send>(
    paths: &[PathBuf],
    limits: &Limits,
    progress: &Progress,
    look: impl Fn(&Application, &[String]) -> T + Sync,
) -> Visited<T> {
    visit_in_turn(paths, Extent { wanted: Wanted::All, limits }, progress, |app, sources, _| {
        Some(look(app, sources))
    })
}

/// Like [`visit_with`], for callers that need only the data that rules use.
pub(crate) fn visit_for_rules<T: Send>(
    paths: &[PathBuf],
    limits: &Limits,
    progress: &Progress,
    look: impl Fn(&Application, &[String]) -> T + Sync,
) -> Visited<T> {
    let extent = Extent { wanted: Wanted::ForRules, limits };
    visit_in_turn(paths, extent, progress, |app, sources, _| Some(look(app, sources)))
}

/// The rank of an application among all, independent of threads: the index of its source, and its index
/// within that source.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Turn(usize, usize);

#[cfg(test)]
impl Turn {
    /// The first application of the source at this index.
    pub(super) const fn of_place(place: usize) -> Self {
        Self(place, 0)
    }
}

/// Like [`visit_with`], with the data that `extent` asks for, and with each application's turn for `look`.
/// If `look` returns `None`, the application is counted and uses no memory. An application that [may be
/// superseded] later needs a value.
///
/// [may be superseded]: may_be_superseded
pub(super) fn visit_in_turn<T: Send>(
    paths: &[PathBuf],
    extent: Extent<'_>,
    progress: &Progress,
    look: impl Fn(&Application, &[String], Turn) -> Option<T> + Sync,
) -> Visited<T> {
    let started = Instant::now();
    let mut inventory = discover::discover(paths, extent.limits, identify);
    inventory.look_at_streams(extent.limits, identify);
    log_inventory(&inventory, started);
    let stored: Vec<u64> = inventory.histories.iter().map(progress::stored).collect();
    progress.found(&stored);
    let started = Instant::now();
    let look_into = |place: usize, source: &Source, stored: u64| {
        let in_turn = |app: &Application, sources: &[String], nth| look(app, sources, Turn(place, nth));
        let outcome = look_into(source, &inventory, extent, in_turn);
        progress.read(stored);
        outcome
    };
    // All threads read one large event log at a time. Reading several in parallel would only need more
    // memory.
    let mut outcomes: Vec<Option<SourceOutcome<'_, T>>> = inventory
        .histories
        .iter()
        .zip(&stored)
        .enumerate()
        .map(|(place, (source, &stored))| {
            is_large_event_log(source, stored).then(|| look_into(place, source, stored))
        })
        .collect();
    let sources = inventory.histories.par_iter().zip(&stored);
    sources.zip(&mut outcomes).enumerate().for_each(|(place, ((source, &stored), outcome))| {
        outcome.get_or_insert_with(|| look_into(place, source, stored));
    });
    let visited = assemble(&inventory, outcomes.into_iter().flatten());
    log::info!("read in {:.1?}; applications: {}", started.elapsed(), visited.summary.applications);
    visited
}

/// Logs how many files were found, and the detected type of each.
fn log_inventory(inventory: &Inventory, started: Instant) {
    let Inventory { histories, confs, found, failures, .. } = inventory;
    log::info!(
        "found {found} files in {:.1?}; histories: {}, configurations: {}, unreadable: {}",
        started.elapsed(),
        histories.len(),
        confs.len(),
        failures.len()
    );
    for source in histories {
        let kind = source.kind.map_or("a stream of unknown type", SourceKind::text);
        log::debug!("{}: detected as {kind}, parts: {}", source.path, source.parts.len());
    }
    for conf in confs {
        let job = conf.job_id.as_deref().unwrap_or("an unknown job");
        log::debug!("{}: detected as the configuration of {job}", conf.path.display());
    }
}

fn is_large_event_log(source: &Source, stored: u64) -> bool {
    source.kind == Some(SourceKind::SparkEventLog) && stored >= LARGE_LOG
}

/// The result for one history.
struct SourceOutcome<'a, T> {
    /// Applications with a value.
    applications: Vec<Visit<T>>,
    /// The number of applications without a value.
    passed: usize,
    problems: Vec<SourceProblem>,
    /// Files used in addition to those of the source.
    confs: Vec<&'a Path>,
}

impl<T> SourceOutcome<'_, T> {
    fn all(&self) -> usize {
        self.applications.len() + self.passed
    }
}

fn look_into<'a, T>(
    source: &Source,
    inventory: &'a Inventory,
    extent: Extent<'_>,
    look: impl Fn(&Application, &[String], usize) -> Option<T>,
) -> SourceOutcome<'a, T> {
    let name = source.path.to_string();
    let mut outcome =
        SourceOutcome { applications: Vec::new(), passed: 0, problems: Vec::new(), confs: Vec::new() };
    let started = Instant::now();
    let parsed = match read::read(source, extent) {
        Ok(parsed) => parsed,
        Err(error) => {
            outcome.problems.push(error_problem(name, "unreadable", error.to_string()));
            return outcome;
        }
    };
    log_parsed(&name, &parsed, started);
    let Parsed { applications, confs, problems, part_problems } = parsed;
    for (part, problems) in part_problems {
        let keep = |problem| SourceProblem { source: part.clone(), problem };
        outcome.problems.extend(problems.into_vec().into_iter().map(keep));
    }
    let keep = |problem| SourceProblem { source: name.clone(), problem };
    outcome.problems.extend(problems.into_vec().into_iter().map(keep));
    // A reached limit explains what is missing, so it comes first.
    outcome.problems.sort_by_key(|entry| entry.problem.code != REACHED);
    let told_why = outcome.problems.iter().any(|entry| entry.problem.level == Level::Error);
    if applications.is_empty() && !told_why {
        let message = "the history has no job events; it was skipped".to_owned();
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
            let message = "the history has no job events; it was skipped".to_owned();
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
        let Some(value) = look(&app, &sources, outcome.all()) else {
            outcome.passed += 1;
            continue;
        };
        let attempt = app.spark.as_ref().and_then(|spark| spark.attempt.clone());
        let (submitted_at, complete) = (app.submitted_at, app.complete);
        outcome.applications.push(Visit { id: app.id, attempt, submitted_at, complete, sources, value });
    }
    // Nearly always there is one application, and a vector allocates room for four.
    outcome.applications.shrink_to_fit();
    outcome
}

fn log_parsed(name: &str, parsed: &Parsed, started: Instant) {
    let groups = || parsed.applications.iter().flat_map(|app| &app.groups);
    log::debug!(
        "{name}: parsed in {:.1?}; applications: {}, tasks: {}, attempts: {}",
        started.elapsed(),
        parsed.applications.len(),
        groups().map(|group| group.tasks.len()).sum::<usize>(),
        groups().map(|group| group.attempts.len()).sum::<usize>(),
    );
}

/// The id for a history that does not contain its own: the job id in the file name, or the whole name for
/// Spark.
fn id_from_name(source: &Source, engine: Engine) -> String {
    let Some(name) = source.path.as_path().file_name() else { return String::new() };
    match engine {
        Engine::MapReduce => job_id_in(name).unwrap_or_default(),
        Engine::Spark => name.to_string_lossy().into_owned(),
    }
}

/// Reads the configuration file of the job, if it exists.
fn attach_conf<'a, T>(
    app: &mut Application,
    source: &Source,
    inventory: &'a Inventory,
    sources: &mut Vec<String>,
    outcome: &mut SourceOutcome<'a, T>,
) {
    let Some(file) = inventory.conf_for(source.path.as_path(), &app.id) else { return };
    let shown = file.path.display().to_string();
    match read_conf(&file.part) {
        Ok((conf, problems)) => {
            app.conf = conf;
            let keep = |problem| SourceProblem { source: shown.clone(), problem };
            outcome.problems.extend(problems.into_iter().map(keep));
            sources.push(shown);
            outcome.confs.push(file.part.file());
        }
        Err(message) => outcome.problems.push(error_problem(shown, "unreadable", message)),
    }
}

fn read_conf(part: &Part) -> Result<(Conf, Vec<Problem>), String> {
    use std::io::Read;
    let stream = part.open().map_err(|error| error.to_string())?;
    // Bytes before a read error are parsed; the parser reports that the end is missing.
    let window = ByteWindow::expecting(stream.plain_len(), stream.take(MAX_CONF_LEN));
    let (bytes, failure) = window.into_rest();
    if let Some(error) = failure.as_ref().filter(|_| bytes.is_empty()) {
        return Err(error.to_string());
    }
    let (conf, mut problems) = jobconf::parse(bytes);
    if let Some(error) = failure.filter(|_| !problems.any_at_least(Level::Warning)) {
        problems.warn("truncated", None, || {
            format!(
                "all properties of the configuration were read, but its file breaks off after them: {error}"
            )
        });
    }
    Ok((conf, problems.into_vec()))
}

fn complete_from_conf(app: &mut Application) {
    app.name = app.name.take().or_else(|| app.conf.text(ConfKey::JobName));
    app.user = app.user.take().or_else(|| app.conf.text(ConfKey::User));
    app.queue = app.queue.take().or_else(|| app.conf.text(ConfKey::Queue));
}

fn assemble<'a, T>(
    inventory: &'a Inventory,
    outcomes: impl Iterator<Item = SourceOutcome<'a, T>>,
) -> Visited<T> {
    let mut visited = Visited {
        summary: Summary { files_found: inventory.found, ..Summary::default() },
        applications: Vec::new(),
        problems: Vec::new(),
        skipped: inventory.skipped.iter().map(|skipped| (skipped.reason.text(), skipped.count)).collect(),
        named_input_failed: false,
    };
    // An archive with several logs is one file, and so is a log with an unreadable part.
    let (mut analysed, mut failed) = (BTreeSet::<&Path>::new(), BTreeSet::<&Path>::new());
    let mut passed = 0;
    for failure in &inventory.failures {
        visited.named_input_failed |= failure.named_by_user;
        failed.insert(&failure.file);
        let source = failure.error.path().display().to_string();
        visited.problems.push(error_problem(source, failure.error.code(), failure.error.to_string()));
    }
    visited.problems.extend(inventory.skipped.iter().filter_map(named_without_history));
    for (source, outcome) in inventory.histories.iter().zip(outcomes) {
        let tells_nothing = outcome.all() == 0;
        visited.named_input_failed |= tells_nothing && source.named_by_user;
        let files = if tells_nothing { &mut failed } else { &mut analysed };
        files.extend(source.files());
        passed += outcome.passed;
        visited.applications.extend(outcome.applications);
        visited.problems.extend(outcome.problems);
        analysed.extend(outcome.confs);
    }
    let summary = &mut visited.summary;
    summary.files_analysed = analysed.len() as u64;
    summary.files_failed = failed.difference(&analysed).count() as u64;
    summary.files_skipped = inventory.found.saturating_sub(summary.files_analysed + summary.files_failed);
    supersede(&mut visited);
    visited.summary.applications = (visited.applications.len() + passed) as u64;
    visited
}

/// The warning for files that the user named but that hold no history. Side files of histories get no
/// warning, because a pattern such as `history/*` includes them.
fn named_without_history(skipped: &Skipped) -> Option<SourceProblem> {
    let Skipped { reason, named_by_user, count, path } = skipped;
    let is_side_file = matches!(
        reason,
        Reason::Checksum
            | Reason::SuccessMarker
            | Reason::JobSummary
            | Reason::LogMarker
            | Reason::SupersededPart
            | Reason::DuplicatePart
    );
    (*named_by_user && !is_side_file).then(|| SourceProblem {
        source: path.display().to_string(),
        problem: Problem {
            level: Level::Warning,
            code: "no-history",
            position: None,
            message: format!("not an event log or job history ({reason})"),
            count: *count,
        },
    })
}

/// Keeps only the last attempt of each MapReduce application master. Each attempt leaves its own history in
/// the staging folder, and the later one repeats what it recovered from the earlier.
fn supersede<T>(visited: &mut Visited<T>) {
    let attempt = |app: &Visit<T>| -> Option<(PathBuf, String, u32)> {
        let (folder, number) = master_attempt(&app.sources)?;
        Some((folder.to_owned(), app.id.clone(), number))
    };
    let mut last: BTreeMap<(PathBuf, String), u32> = BTreeMap::new();
    for (folder, id, number) in visited.applications.iter().filter_map(attempt) {
        let latest = last.entry((folder, id)).or_default();
        *latest = number.max(*latest);
    }
    let mut superseded = Vec::new();
    visited.applications.retain(|app| {
        let Some((folder, id, number)) = attempt(app) else { return true };
        let latest = last.get(&(folder, id)).copied().unwrap_or_default();
        if number < latest {
            superseded.push((app.sources.first().cloned().unwrap_or_default(), latest));
        }
        number >= latest
    });
    for (source, latest) in superseded {
        let message = format!(
            "attempt {latest} of the application master has a more complete history; this one was skipped"
        );
        let problem = Problem { level: Level::Info, code: "superseded", position: None, message, count: 1 };
        visited.problems.push(SourceProblem { source, problem });
    }
}

/// Whether the name of a history says that it is in a staging folder, so that [`supersede`] may remove it.
pub(super) fn may_be_superseded(sources: &[String]) -> bool {
    master_attempt(sources).is_some()
}

/// The folder of a staging history, and the attempt of the application master that wrote it.
fn master_attempt(sources: &[String]) -> Option<(&Path, u32)> {
    let path = Path::new(sources.first()?);
    let number = master_attempt_in(path.file_name()?)?;
    Some((path.parent()?, number))
}

fn error_problem(source: String, code: &'static str, message: String) -> SourceProblem {
    let problem = Problem { level: Level::Error, code, position: None, message, count: 1 };
    SourceProblem { source, problem }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn visitors_see_plans_and_rules_do_not_need_them() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("application_1700000000000_0001");
        let log = r#"{"Event":"SparkListenerLogStart","Spark Version":"3.5.9"}
{"Event":"SparkListenerApplicationStart","App Name":"a","App ID":"application_1700000000000_0001","Timestamp":1700000000000}
{"Event":"org.apache.spark.sql.execution.ui.SparkListenerSQLExecutionStart","executionId":1,"sparkPlanInfo":{"nodeName":"Sort","children":[],"metrics":[]},"time":1700000000001}
"#;
        std::fs::write(&path, log).unwrap();
        let nodes = |app: &Application| -> usize {
            app.spark.iter().flat_map(|spark| &spark.sql).map(|sql| sql.plan.len()).sum()
        };
        let (paths, limits, progress) = ([path], Limits::default(), Progress::default());
        let seen = visit(&paths, |app, _| nodes(app));
        assert_eq!(seen.applications.iter().map(|visit| visit.value).collect::<Vec<_>>(), [1]);
        let seen = visit_for_rules(&paths, &limits, &progress, |app, _| nodes(app));
        assert_eq!(seen.applications.iter().map(|visit| visit.value).collect::<Vec<_>>(), [0]);
    }
}
