//! Reads every history below paths in parallel and passes each application to a closure. Results are in the
//! order of the sources, whatever the number of threads.

mod assemble;
mod beside;
mod configure;
mod distinct;
mod gathered;
mod gc_logs;
mod source;

use std::path::PathBuf;
use std::time::Instant;

use rayon::prelude::*;
use rustc_hash::FxHashSet;

use super::copies::RunCopy;
use super::read::{Extent, Wanted};
use super::{Filter, Progress, process_logs, progress};
use crate::results::{SourceProblem, Summary};
use crate::storages;
pub(super) use beside::{Beside, BesideKind, Fate};
use elephant_base::limits::Limits;
use elephant_base::state::State;
use elephant_base::units::Bytes;
use elephant_input::discover;
use elephant_input::inventory::{Inventory, Source};
use elephant_input::kind::{Identify, SourceKind};
use elephant_input::named::Named;
use elephant_input::part::Part;
use elephant_input::trace_table::TraceFormat;
use elephant_model::model::Application;
use elephant_parse::{OtherCounters, identify, insisting};
pub(crate) use gathered::Gathered;
pub(super) use gathered::Unfit;
use gathered::{HistoryRead, single};
use source::{Share, Uniqueness, id_of, look_into};
pub(super) use source::{error_problem, may_be_superseded};

/// Event logs with at least this many stored bytes are read by all threads.
const LARGE_LOG: u64 = 32 << 20;

/// The code of the problem that reports a copy.
pub const DUPLICATE: &str = "duplicate";

/// The code of the problem that reports a history that a later one repeats.
pub const SUPERSEDED: &str = "superseded";

/// Histories that need more than their share of the memory are read again, this many times fewer at once.
const FEWER_AT_ONCE: usize = 4;

/// The result of a visit.
#[derive(Debug, Clone)]
#[non_exhaustive]
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

/// The result for one application.
#[derive(Debug, Clone, State)]
pub struct Visit<T> {
    /// The application's id.
    pub id: String,
    pub(super) copy: Box<RunCopy>,
    /// The files it was read from, the history first.
    pub sources: Vec<String>,
    /// The value that `look` returned.
    pub value: T,
}

/// Finds all files below `paths` (files, folders, `-` for standard input) and detects what they hold, with
/// default limits.
#[must_use]
pub fn discover(paths: &[PathBuf]) -> Inventory {
    let limits = Limits::default();
    let storages = storages::all(&limits);
    discover::discover(Named { storages: Some(&storages), ..paths.into() }, &limits, identify)
}

/// Finds the histories below `paths` and passes each application to `look`, with the files it was read
/// from. Each application is dropped after `look` returns.
#[must_use]
pub fn visit<T: Send>(paths: &[PathBuf], look: impl Fn(&Application, &[String]) -> T + Sync) -> Visited<T> {
    visit_with(paths, &Filter::default(), &Limits::default(), &Progress::default(), look)
}

/// Like [`visit`], only for applications that `filter` selects, and with `limits` on each history. Reports how far it is
/// to `progress`.
#[must_use]
pub fn visit_with<T: Send>(
    paths: &[PathBuf],
    filter: &Filter,
    limits: &Limits,
    progress: &Progress,
    look: impl Fn(&Application, &[String]) -> T + Sync,
) -> Visited<T> {
    let extent = Extent { wanted: Wanted::All, limits, filter };
    visit_in_turn(paths.into(), extent, progress, |app, sources, _| Some(look(app, sources)))
}

/// Like [`visit_with`], for callers that need only the data that built-in rules use, and only one of several copies.
pub fn visit_for_rules<T: Send>(
    named: Named<'_>,
    filter: &Filter,
    limits: &Limits,
    progress: &Progress,
    look: impl Fn(&Application, &[String]) -> T + Sync,
) -> Visited<T> {
    let extent = Extent { wanted: Wanted::ForRules(OtherCounters::Dropped), limits, filter };
    visit_in_turn(named, extent, progress, |app, sources, _| Some(look(app, sources))).distinct()
}

/// Like [`visit_for_rules`], and returns the cluster traces among them, for `visit_traces`; other commands skip
/// them. `insisted` says which trace the files other than histories are from.
pub fn visit_beside_traces<T: Send>(
    named: Named<'_>,
    insisted: Option<TraceFormat>,
    (filter, limits): (&Filter, &Limits),
    progress: &Progress,
    look: impl Fn(&Application, &[String]) -> T + Sync,
) -> (Visited<T>, Vec<Source>) {
    let extent = Extent { wanted: Wanted::ForRules(OtherCounters::Dropped), limits, filter };
    let mut inventory = inventory(named, (filter, limits), insisting(insisted));
    let traces = std::mem::take(&mut inventory.traces);
    let look = |app: &Application, sources: &[String], _| Some(look(app, sources));
    let visited = visit_all((&inventory, &traces), extent, progress, Ids::IfSeveral(None), look);
    (visited.distinct(), traces)
}

/// Like [`visit_beside_traces`], but passes what was read to `then` before copies are left out, for results that are
/// merged later.
///
/// # Errors
/// The first cluster trace: its jobs are in several files, which cannot be read apart.
pub(crate) fn gather_beside_traces<T: Send, R>(
    named: Named<'_>,
    insisted: Option<TraceFormat>,
    (filter, limits): (&Filter, &Limits),
    progress: &Progress,
    look: impl Fn(&Application, &[String]) -> T + Sync,
    then: impl FnOnce(Gathered<'_, T>) -> R,
) -> Result<R, PathBuf> {
    let extent = Extent { wanted: Wanted::ForRules(OtherCounters::Dropped), limits, filter };
    let inventory = inventory(named, (filter, limits), insisting(insisted));
    if let Some(trace) = inventory.traces.first() {
        return Err(trace.path.as_path().to_path_buf());
    }
    let look = |app: &Application, sources: &[String], _| Some(look(app, sources));
    let gathered = gather(&inventory, &[], extent, progress, Ids::ForMerging, look);
    Ok(then(gathered.with_confs(&inventory)))
}

/// Like [`visit_in_turn`], for histories that are found already; returns what was read before copies are left out.
pub(super) fn gather_in_turn<'a, T: Send>(
    inventory: &'a Inventory,
    extent: Extent<'_>,
    progress: &Progress,
    look: impl Fn(&Application, &[String], Turn) -> T + Sync,
) -> Gathered<'a, T> {
    let look = |app: &Application, sources: &[String], turn| Some(look(app, sources, turn));
    gather(inventory, &[], extent, progress, Ids::ForMerging, look).with_confs(inventory)
}

/// The rank of an application among all, independent of threads: the index of its source, and its index
/// within that source.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub(super) struct Turn {
    place: usize,
    pub(super) nth: usize,
    /// Whether another history may be a copy of this one.
    pub(super) may_be_copied: bool,
}

#[cfg(test)]
impl Turn {
    /// The first application of the source at this index.
    pub(super) const fn of_place(place: usize) -> Self {
        Self { place, nth: 0, may_be_copied: false }
    }
}

/// Like [`visit_with`], with the data that `extent` asks for, and with each application's turn for `look`.
/// If `look` returns `None`, the application is counted and uses no memory. An application that [may be
/// superseded] later needs a value.
///
/// [may be superseded]: may_be_superseded
pub(super) fn visit_in_turn<T: Send>(
    named: Named<'_>,
    extent: Extent<'_>,
    progress: &Progress,
    look: impl Fn(&Application, &[String], Turn) -> Option<T> + Sync,
) -> Visited<T> {
    let inventory = histories(named, extent);
    visit_all((&inventory, &[]), extent, progress, Ids::IfSeveral(None), look)
}

/// Finds the histories below the paths, and the logs of processes among the other files.
pub(super) fn histories_with_logs(named: Named<'_>, extent: Extent<'_>) -> Inventory {
    let mut inventory = inventory(named, (extent.filter, extent.limits), process_logs::identify);
    inventory.skip_traces();
    inventory
}

/// Finds the histories below the paths.
pub(super) fn histories(named: Named<'_>, extent: Extent<'_>) -> Inventory {
    let mut inventory = inventory(named, (extent.filter, extent.limits), identify);
    inventory.skip_traces();
    inventory
}

/// Like [`visit_in_turn`], for histories that are found already, some of which have the `repeated` ids.
pub(super) fn visit_again<T: Send>(
    inventory: &Inventory,
    extent: Extent<'_>,
    progress: &Progress,
    repeated: &FxHashSet<String>,
    look: impl Fn(&Application, &[String], Turn) -> Option<T> + Sync,
) -> Visited<T> {
    // A stream cannot be read again, so nothing is reported before all copies are known.
    let has_stream = inventory.histories.iter().flat_map(|source| &source.parts).any(Part::is_stream);
    let ids = if has_stream { Ids::OfNone } else { Ids::IfSeveral(Some(repeated)) };
    visit_all((inventory, &[]), extent, progress, ids, look)
}

fn inventory(named: Named<'_>, (filter, limits): (&Filter, &Limits), identify: Identify) -> Inventory {
    let started = Instant::now();
    let storages = storages::of(named, limits);
    let named = Named { wanted: Some(filter), storages: Some(&storages), ..named };
    let mut inventory = discover::discover(named, limits, identify);
    inventory.look_at_streams(limits, identify);
    log_inventory(&inventory, started);
    inventory
}

/// Visits the histories of an inventory; `traces` are read afterwards.
fn visit_all<T: Send>(
    (inventory, traces): (&Inventory, &[Source]),
    extent: Extent<'_>,
    progress: &Progress,
    ids: Ids<'_>,
    look: impl Fn(&Application, &[String], Turn) -> Option<T> + Sync,
) -> Visited<T> {
    let started = Instant::now();
    let gathered = gather(inventory, traces, extent, progress, ids, look);
    let visited = gathered.visited();
    let Summary { applications, left_out, .. } = visited.summary;
    log::info!("read in {:.1?}; applications: {applications}, left out: {left_out}", started.elapsed());
    visited
}

/// When the ids of histories are looked up before the histories are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Ids<'i> {
    /// If there are several histories, which may have the same id. These ids are known to be those of several.
    IfSeveral(Option<&'i FxHashSet<String>>),
    /// Always, because other parts have histories, too.
    ForMerging,
    /// Never.
    OfNone,
}

/// Reads the histories of an inventory.
fn gather<'a, T: Send>(
    inventory: &'a Inventory,
    traces: &[Source],
    extent: Extent<'_>,
    progress: &Progress,
    ids: Ids<'_>,
    look: impl Fn(&Application, &[String], Turn) -> Option<T> + Sync,
) -> Gathered<'a, T> {
    let histories = &inventory.histories;
    let mut stored: Vec<u64> = histories.iter().chain(traces).map(progress::stored).collect();
    progress.found(&stored);
    stored.truncate(histories.len());
    let (are_needed, repeated) = match ids {
        Ids::IfSeveral(repeated) => (histories.len() > 1, repeated),
        Ids::ForMerging => (true, None),
        Ids::OfNone => (false, None),
    };
    let is_repeated = |id: &str| repeated.is_some_and(|repeated| repeated.contains(id));
    let ids: Vec<Option<String>> = if are_needed {
        histories.par_iter().map(|source| id_of(source, extent)).collect()
    } else {
        vec![None; histories.len()]
    };
    let single = single(ids.iter().map(Option::as_deref));
    let is_alone = histories.len() == 1;
    let uniqueness = |place: usize| {
        let id = ids.get(place).and_then(Option::as_deref);
        let is_single = |id: &&str| single.get(place) == Some(&true) && !is_repeated(id);
        Uniqueness { is_alone, single_id: id.filter(is_single) }
    };
    let read = |place: usize, source: &Source, (extent, share): (Extent<'_>, Share)| {
        let uniqueness = uniqueness(place);
        let in_turn = |app: &Application, sources: &[String], nth| {
            look(app, sources, Turn { place, nth, may_be_copied: !uniqueness.is_single(app, nth) })
        };
        let outcome = look_into(source, inventory, (extent, share), uniqueness, in_turn);
        if outcome.is_some() {
            progress.read(stored.get(place).copied().unwrap_or_default());
        }
        outcome
    };
    let outcomes = read_all(histories, &stored, extent, read);
    let read = histories.iter().zip(ids).zip(outcomes);
    let read = read.filter_map(|((source, id), outcome)| Some(HistoryRead::of(source, id, outcome?)));
    let gathered = Gathered::of(inventory, read.collect());
    let joined = gathered.joined();
    gathered.with_logs(gc_logs::beside(inventory, &joined, extent))
}

/// Reads all histories so that those that are in memory at the same time share what the limit allows.
fn read_all<O: Send>(
    histories: &[Source],
    stored: &[u64],
    extent: Extent<'_>,
    read: impl Fn(usize, &Source, (Extent<'_>, Share)) -> Option<O> + Sync,
) -> Vec<Option<O>> {
    let is_alone: Vec<bool> =
        histories.iter().zip(stored).map(|(source, &stored)| is_alone(source, stored)).collect();
    // All threads read one large event log at a time. Reading several in parallel would only need more
    // memory. A stream cannot be read again if it needs more than a share of the memory.
    let mut outcomes: Vec<Option<O>> = histories
        .iter()
        .zip(&is_alone)
        .enumerate()
        .map(|(place, (source, is_alone))| is_alone.then(|| read(place, source, (extent, Share::All)))?)
        .collect();
    let mut at_once =
        rayon::current_num_threads().min(is_alone.iter().filter(|is_alone| !**is_alone).count());
    let mut left: Vec<(usize, (&Source, &mut Option<O>))> = histories
        .iter()
        .zip(&mut outcomes)
        .enumerate()
        .filter(|(_, (_, outcome))| outcome.is_none())
        .collect();
    let mut chunk_len = left.len();
    // Histories that need more than their share are read again, fewer at once and at last alone, because the results
    // must not depend on the number of threads.
    while !left.is_empty() {
        at_once = at_once.max(1);
        let memory = extent.limits.memory.map(|memory| Bytes::new(memory.get() / at_once as u64));
        let part = Extent { limits: &Limits { memory, ..*extent.limits }, ..extent };
        let share = if at_once > 1 { Share::Part } else { Share::All };
        for chunk in left.chunks_mut(chunk_len.max(1)) {
            chunk.par_iter_mut().for_each(|(place, (source, outcome))| {
                **outcome = read(*place, source, (part, share));
            });
        }
        left.retain(|(_, (_, outcome))| outcome.is_none() && share == Share::Part);
        at_once /= FEWER_AT_ONCE;
        chunk_len = at_once;
    }
    outcomes
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

/// Whether a history is read before the others, with all threads and all memory: a large event log, or a stream.
fn is_alone(source: &Source, stored: u64) -> bool {
    source.kind == Some(SourceKind::SparkEventLog) && stored >= LARGE_LOG
        || source.parts.iter().any(Part::is_stream)
}
