//! Reads one history, and what belongs to it.

use std::borrow::Cow;
use std::path::Path;
use std::time::Instant;

use super::configure::{configure_dag, configure_job};
use super::{Visit, gc_logs};
use crate::engine::copies::RunCopy;
use crate::engine::read::{self, Extent};
use crate::results::SourceProblem;
use elephant_base::limits::{Limits, REACHED};
use elephant_base::state::State;
use elephant_base::units::Bytes;
use elephant_input::inventory::{Inventory, Source};
use elephant_input::job_id::{job_id_in, master_attempt_in};
use elephant_input::kind::SourceKind;
use elephant_input::part::Part;
use elephant_input::unit::history_name;
use elephant_model::model::{Application, Engine, Status};
use elephant_parse::{Level, Parsed, Problem, Problems};

/// The start of the application is within this many bytes of an event log.
const BEGINNING: Bytes = Bytes::from_mib(1);

/// The id of a history is nearly always within this many bytes.
const FIRST_EVENTS: Bytes = Bytes::new(256 << 10);

/// The beginning of shorter event logs is not read before the rest.
const SHORT_LOG: u64 = 2 << 20;

/// A log with several applications has many parts at most by mistake; each application names this many of them.
const PARTS_OF_EACH: usize = 16;

/// The part of a run's memory that a history may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Share {
    /// Its part, while others are read at the same time.
    Part,
    All,
}

/// What the ids of all histories say about the copies of one.
#[derive(Debug, Clone, Copy)]
pub(super) struct Uniqueness<'a> {
    /// Whether it is the only history.
    pub(super) is_alone: bool,
    /// Its id, if no other history has it.
    pub(super) single_id: Option<&'a str>,
}

impl Uniqueness<'_> {
    /// Whether no other history can be a copy of the application at place `nth` in this one.
    pub(super) fn is_single(self, app: &Application, nth: usize) -> bool {
        nth == 0 && (self.is_alone || self.single_id == Some(&app.id))
    }
}

/// The result for one history.
#[derive(State)]
pub(super) struct SourceOutcome<'a, T> {
    /// Applications with a value.
    pub(super) applications: Vec<Visit<T>>,
    /// The number of applications without a value.
    pub(super) passed: usize,
    /// The number of applications that the filter does not select, and of which this is the only history.
    pub(super) left_out: usize,
    /// Applications that the filter does not select, but of which there may be several histories.
    pub(super) left_out_copies: Vec<Visit<()>>,
    pub(super) problems: Vec<SourceProblem>,
    /// Files used in addition to those of the source.
    pub(super) confs: Vec<Cow<'a, Path>>,
}

impl<T> SourceOutcome<'_, T> {
    fn nothing() -> Self {
        Self {
            applications: Vec::new(),
            passed: 0,
            left_out: 0,
            left_out_copies: Vec::new(),
            problems: Vec::new(),
            confs: Vec::new(),
        }
    }

    /// Counts an application that the filter does not select.
    fn leave_out(&mut self, app: Application, sources: Vec<String>, uniqueness: Uniqueness<'_>) {
        if uniqueness.is_single(&app, self.all()) && !may_be_superseded(&sources) {
            self.left_out += 1;
            return;
        }
        let copy = Box::new(RunCopy::of(&app, &sources));
        self.left_out_copies.push(Visit { id: app.id, copy, sources, value: () });
    }

    /// The number of applications, with those that are left out.
    pub(super) fn all(&self) -> usize {
        self.applications.len() + self.passed + self.all_left_out()
    }

    fn all_left_out(&self) -> usize {
        self.left_out + self.left_out_copies.len()
    }

    /// Whether there are applications, and all are left out.
    pub(super) fn is_left_out(&self) -> bool {
        self.all_left_out() > 0 && self.all_left_out() == self.all()
    }
}

/// Reads a history and shows each of its applications to `look`; `None` if it needs more than its share of the memory.
pub(super) fn look_into<'a, T>(
    source: &Source,
    inventory: &'a Inventory,
    (extent, share): (Extent<'_>, Share),
    uniqueness: Uniqueness<'_>,
    look: impl Fn(&Application, &[String], usize) -> Option<T>,
) -> Option<SourceOutcome<'a, T>> {
    if let Some(outcome) = left_out_early(source, extent, uniqueness) {
        log::debug!("{}: left out by the filters", source.path);
        return Some(outcome);
    }
    let outcome = look_into_all(source, inventory, (extent, share), uniqueness, look)?;
    if outcome.is_left_out() {
        // Problems of applications that were not asked for would hide others, and fail `--strict`.
        let SourceOutcome { left_out, left_out_copies, .. } = outcome;
        return Some(SourceOutcome { left_out, left_out_copies, ..SourceOutcome::nothing() });
    }
    Some(outcome)
}

/// The same, whatever is known before reading.
fn look_into_all<'a, T>(
    source: &Source,
    inventory: &'a Inventory,
    (extent, share): (Extent<'_>, Share),
    uniqueness: Uniqueness<'_>,
    look: impl Fn(&Application, &[String], usize) -> Option<T>,
) -> Option<SourceOutcome<'a, T>> {
    let name = source.path.to_string();
    let mut outcome = SourceOutcome::nothing();
    let started = Instant::now();
    let parsed = match read::read(source, extent) {
        Ok(parsed) => parsed,
        Err(error) => {
            outcome.problems.push(error_problem(name, "unreadable", error.to_string()));
            return Some(outcome);
        }
    };
    if parsed.beyond_memory && share == Share::Part {
        log::debug!("{name}: needs more than its share of the memory; it is read again, alone");
        return None;
    }
    log_parsed(&name, &parsed, started);
    let Parsed { applications, confs: mut embedded, problems, part_problems, beyond_memory: _ } = parsed;
    outcome.problems = all_problems(&name, problems, part_problems);
    if applications.is_empty() && !tells_why_empty(source, &outcome.problems) {
        outcome.problems.push(no_events(&name));
    }
    let parts = part_names(source, applications.len() > 1);
    for mut app in applications {
        if app.id.is_empty() {
            app.id = id_from_name(source, app.engine);
        }
        if tells_nothing(&app) {
            outcome.problems.push(no_events(&name));
            continue;
        }
        let mut sources = parts.clone();
        match app.engine {
            Engine::Spark => {}
            Engine::Tez => configure_dag(&mut app, &embedded),
            Engine::MapReduce => {
                configure_job(&mut app, (&mut embedded, source, inventory), &mut sources, &mut outcome);
            }
        }
        if !extent.filter.selects(&app) {
            outcome.leave_out(app, sources, uniqueness);
            continue;
        }
        gc_logs::attach(&mut app, inventory, extent.limits, &mut outcome);
        let Some(value) = look(&app, &sources, outcome.all()) else {
            outcome.passed += 1;
            continue;
        };
        let copy = Box::new(RunCopy::of(&app, &sources));
        outcome.applications.push(Visit { id: app.id, copy, sources, value });
    }
    // Nearly always there is one application, and a vector allocates room for four.
    outcome.applications.shrink_to_fit();
    Some(outcome)
}

/// Whether problems say why a history has no application. Answers of servers may be about other engines.
fn tells_why_empty(source: &Source, problems: &[SourceProblem]) -> bool {
    let is_about_others = source.kind == Some(SourceKind::Answers) && !problems.is_empty();
    is_about_others || problems.iter().any(|entry| entry.problem.level == Level::Error)
}

/// The names of the parts of a history. If it has several applications, each of them keeps this list.
fn part_names(source: &Source, of_several: bool) -> Vec<String> {
    let most = if of_several { PARTS_OF_EACH } else { source.parts.len() };
    source.parts.iter().take(most).map(Part::name).collect()
}

/// The result for a history of which the kind, or the beginning of a large event log, shows that the filter leaves it
/// out, so that it need not be read. Only a log with the name that Spark gave it surely has no second application.
fn left_out_early<'a, T>(
    source: &Source,
    extent: Extent<'_>,
    uniqueness: Uniqueness<'_>,
) -> Option<SourceOutcome<'a, T>> {
    let Extent { filter, limits, wanted } = extent;
    let kind = source.kind.filter(|_| !filter.is_everything())?;
    let is_stream = source.parts.iter().any(Part::is_stream);
    let is_other_kind = filter.leaves_out_kind(kind);
    let is_single = uniqueness.is_alone || uniqueness.single_id.is_some();
    if is_other_kind && (is_stream || is_single) {
        return Some(SourceOutcome { left_out: 1, ..SourceOutcome::nothing() });
    }
    let id = source.log.application_id.as_ref();
    let stored: Option<u64> = source.parts.iter().map(Part::stored_len).sum();
    let is_long = id.is_some() && stored.is_some_and(|stored| stored >= SHORT_LOG);
    if is_stream || !(is_other_kind || is_long && kind == SourceKind::SparkEventLog) {
        return None;
    }
    // Copies of a history have the same beginning, so that only one of them is counted.
    let limits = Limits { decoded: Some(BEGINNING), ..*limits };
    let beginning = read::read(source, Extent { wanted, limits: &limits, filter });
    let apps = beginning.map(|parsed| parsed.applications).unwrap_or_default();
    let is_left_out = |app: &Application| id == Some(&app.id) && filter.leaves_out_beginning(app);
    if !is_other_kind && !matches!(apps.as_slice(), [app] if is_left_out(app)) {
        return None;
    }
    let mut outcome = SourceOutcome::nothing();
    for mut app in apps {
        if app.id.is_empty() {
            app.id = id_from_name(source, app.engine);
        }
        outcome.leave_out(app, source.parts.iter().map(Part::name).collect(), uniqueness);
    }
    if outcome.all() == 0 {
        outcome.left_out = 1;
    }
    Some(outcome)
}

/// The id in the name of a history, else the one at its beginning.
pub(super) fn id_of(source: &Source, extent: Extent<'_>) -> Option<String> {
    let name = source.path.as_path().file_name();
    let named = match source.kind? {
        SourceKind::SparkEventLog => source.log.application_id.clone(),
        SourceKind::JhistJson | SourceKind::JhistBinary | SourceKind::Hadoop1History => {
            name.and_then(job_id_in)
        }
        // A source holds several DAGs or jobs.
        SourceKind::TezJson | SourceKind::TezProto | SourceKind::Answers => return None,
        SourceKind::JobConf
        | SourceKind::GcLog
        | SourceKind::ProcessLog
        | SourceKind::Trace(_)
        | SourceKind::Unrelated(_) => None,
    };
    let is_stream = source.parts.iter().any(Part::is_stream);
    if is_stream {
        return named;
    }
    named.or_else(|| {
        let limits = Limits { decoded: Some(FIRST_EVENTS), ..*extent.limits };
        let mut parsed = read::read(source, Extent { limits: &limits, ..extent }).ok()?;
        parsed.applications.pop().map(|app| app.id).filter(|id| !id.is_empty())
    })
}

/// The problems of a history and of its parts.
fn all_problems(name: &str, problems: Problems, parts: Vec<(String, Problems)>) -> Vec<SourceProblem> {
    let mut all = Vec::new();
    for (source, problems) in parts.into_iter().chain([(name.to_owned(), problems)]) {
        let keep = |problem| SourceProblem { source: source.clone(), problem };
        all.extend(problems.into_vec().into_iter().map(keep));
    }
    // A reached limit explains what is missing, so it comes first.
    all.sort_by_key(|entry| entry.problem.code != REACHED);
    all
}

/// Whether a job's history has no useful event.
fn tells_nothing(app: &Application) -> bool {
    matches!(app.status, Status::Running | Status::Unknown)
        && app.engine == Engine::MapReduce
        && app.groups.is_empty()
        && app.submitted_at.is_none()
        && app.name.is_none()
}

fn no_events(name: &str) -> SourceProblem {
    let message = "the history has no job events; it was skipped".to_owned();
    error_problem(name.to_owned(), "no-events", message)
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

/// The id for a history that does not contain its own: the job id in the file name, or for Spark the whole name, that of
/// the folder for a part of a log.
fn id_from_name(source: &Source, engine: Engine) -> String {
    let path = source.path.as_path();
    match engine {
        Engine::MapReduce => path.file_name().and_then(job_id_in).unwrap_or_default(),
        Engine::Spark => history_name(path).unwrap_or_default(),
        // Every record of Tez has an id.
        Engine::Tez => String::new(),
    }
}

/// A problem that makes a source unusable.
pub(in crate::engine) fn error_problem(source: String, code: &'static str, message: String) -> SourceProblem {
    let problem = Problem { level: Level::Error, code: code.into(), position: None, message, count: 1 };
    SourceProblem { source, problem }
}

/// Whether the name of a history says that it is in a staging folder, so that a later attempt may replace it.
pub(in crate::engine) fn may_be_superseded(sources: &[String]) -> bool {
    master_attempt(sources).is_some()
}

/// The folder of a staging history, and the attempt of the application master that wrote it.
pub(super) fn master_attempt(sources: &[String]) -> Option<(&Path, u32)> {
    let path = Path::new(sources.first()?);
    let number = master_attempt_in(path.file_name()?)?;
    Some((path.parent()?, number))
}
