//! Reads new and changed histories into a store.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use rustc_hash::{FxHashMap, FxHashSet};

use super::address::{Addresses, Relative};
use super::place::ENDINGS;
use super::together::Together;
use super::writer::{Runs, Sources, Stored, TOOL, Writer};
use super::{Store, StoreError, listing, stored_report};
use elephant_base::limits::Limits;
use elephant_base::units::Timestamp;
use elephant_engine::engine::Keeper;
use elephant_engine::nodes::work_by_node;
use elephant_engine::results::{ApplicationReport, Report, SourceProblem, Summary};
use elephant_engine::storages;
use elephant_input::discover::{self, FileState, Listed};
use elephant_input::named::Named;
use elephant_input::storage::{BrokenOff, Storages};
use elephant_input::unit::Unit;
use elephant_parse::Level;

/// Many files are read in at most this many turns, because each turn lists the folders again.
const MAX_TURNS: usize = 10;

/// The fewest files of a turn, unless there are no more. Tests have several turns with few files.
const MIN_IN_TURN: usize = if cfg!(test) { 2 } else { 1000 };

/// The files below the paths, without those of the database.
struct Listing {
    files: Vec<Listed>,
    /// Those that did not change since they were read with the same rules.
    known: FxHashSet<PathBuf>,
    own: Vec<PathBuf>,
    /// The addresses of files that could not be read when they were there.
    gone: Vec<PathBuf>,
    addresses: Addresses,
    /// Paths that earlier versions stored.
    relative: Relative,
}

impl Listing {
    /// The files to read, in turns; what is read together is in one turn. There is at least one turn, so that problems of
    /// the paths are reported.
    fn turns(&self, named: Named<'_>) -> Vec<FxHashSet<&Path>> {
        let new = || self.files.iter().map(|file| &*file.path).filter(|path| !self.known.contains(*path));
        // A stream can be read only once.
        let in_turn =
            if named.has_streams() { usize::MAX } else { MIN_IN_TURN.max(new().count().div_ceil(MAX_TURNS)) };
        let mut units: Vec<Vec<&Path>> = Vec::new();
        let mut places: FxHashMap<Unit<'_>, usize> = FxHashMap::default();
        for path in new() {
            let place = *places.entry(Unit::of(path)).or_insert(units.len());
            match units.get_mut(place) {
                Some(unit) => unit.push(path),
                None => units.push(vec![path]),
            }
        }
        let (mut turns, mut turn) = (Vec::new(), FxHashSet::default());
        for unit in units {
            if turn.len() >= in_turn {
                turns.push(std::mem::take(&mut turn));
            }
            turn.extend(unit);
        }
        turns.push(turn);
        turns
    }
}

/// What was read in all turns.
#[derive(Debug, Default)]
pub struct Read {
    /// The sums of all turns.
    pub summary: Summary,
    /// Problems, each once.
    pub problems: Vec<SourceProblem>,
    /// Whether an input that the user named could not be read.
    pub named_input_failed: bool,
}

impl Read {
    fn add(&mut self, report: Report) {
        let Summary { files_found, files_analysed, files_skipped, files_failed, applications, .. } =
            report.summary;
        // Folders that cannot be read fail in each turn.
        let known: FxHashSet<(&str, &str)> =
            self.problems.iter().map(|it| (it.source.as_str(), it.problem.message.as_str())).collect();
        let is_known =
            |it: &SourceProblem| known.contains(&(it.source.as_str(), it.problem.message.as_str()));
        let (again, new): (Vec<_>, Vec<_>) = report.problems.into_iter().partition(is_known);
        let again = again.iter().filter(|it| it.problem.level == Level::Error).count() as u64;
        self.problems.extend(new);
        self.named_input_failed |= report.named_input_failed;
        let sums = &mut self.summary;
        sums.files_found += files_found.saturating_sub(again);
        sums.files_analysed += files_analysed;
        sums.files_skipped += files_skipped;
        sums.files_failed += files_failed.saturating_sub(again);
        sums.applications += applications;
    }
}

impl Store {
    /// Stores what `read` finds in all histories below `named` that are new or changed; `read` gets the others, too. A
    /// killed run keeps what it committed, and what was found is returned even if it could not be stored.
    pub fn keep_of_all<T>(
        &mut self,
        named: Named<'_>,
        limits: &Limits,
        (rules_hash, now): (&str, Timestamp),
        read: impl FnOnce(Named<'_>, Keeper<'_>) -> (Report, T),
    ) -> Result<(Report, T, Result<Stored, StoreError>), StoreError> {
        let (storages, broken_off) = watched(named, limits);
        let named = Named { storages: Some(&storages), ..named };
        let hashes = [rules_hash, &format!("{rules_hash} {}", limits.written())];
        let listing = self.listing(named, limits, hashes)?;
        let all = listing.files.iter().map(|file| &*file.path).collect();
        let (report, read, stored) =
            self.keep_turn((named, (&storages, broken_off)), (&listing, &all), (hashes, now), read)?;
        Ok((report, read, stored.and_then(|stored| self.finished(&listing, stored))))
    }

    /// Stores what `read` finds in the histories below `named` that are new or changed. Many are read in turns: what was
    /// found in one is stored before the files of the next one are opened, even if the run is killed then.
    pub fn keep_changed(
        &mut self,
        named: Named<'_>,
        limits: &Limits,
        (rules_hash, now): (&str, Timestamp),
        read: impl Fn(Named<'_>, Keeper<'_>) -> Report,
    ) -> Result<(Read, Result<Stored, StoreError>), StoreError> {
        let (storages, broken_off) = watched(named, limits);
        let named = Named { storages: Some(&storages), ..named };
        let hashes = [rules_hash, &format!("{rules_hash} {}", limits.written())];
        let listing = self.listing(named, limits, hashes)?;
        let (mut all, mut stored) = (Read::default(), Stored::default());
        for turn in listing.turns(named) {
            let read = |named: Named<'_>, keeper: Keeper<'_>| (read(named, keeper), ());
            let (report, (), in_turn) = self.keep_turn(
                (named, (&storages, broken_off.clone())),
                (&listing, &turn),
                (hashes, now),
                read,
            )?;
            all.add(report);
            match in_turn {
                Ok(in_turn) => stored.add(in_turn),
                Err(error) => return Ok((all, Err(error))),
            }
        }
        Ok((all, self.finished(&listing, stored)))
    }

    fn listing(&self, named: Named<'_>, limits: &Limits, hashes: [&str; 2]) -> Result<Listing, StoreError> {
        // Closing a file of the database would release the locks that SQLite has on it.
        let storages = storages::of(named, limits);
        let mut list = discover::list(Named { storages: Some(&storages), ..named }, limits);
        let (own, files) =
            std::mem::take(&mut list.files).into_iter().partition(|file| self.is_own(&file.path));
        let own: Vec<Listed> = own;
        list.files = files;
        let database = &self.database;
        let addresses = Addresses::of_files(&list.files, self.cluster.as_deref(), &storages);
        let (known, gone) = database.reading(|| {
            let known = listing::unchanged(database, (&list.files, &addresses), (TOOL, hashes))?;
            Ok((known, listing::gone(database, (&list, &addresses))?))
        })?;
        listing::rename(database, &known.renamed, self.cluster.as_deref())?;
        let own = own.into_iter().map(|file| file.path).collect();
        let (known, relative) = (known.unchanged, known.relative);
        Ok(Listing { files: list.files, known, own, gone, addresses, relative })
    }

    /// Reads the files of a turn, and stores what is found in those that are new or changed.
    fn keep_turn<T>(
        &mut self,
        (named, (storages, broken_off)): (Named<'_>, (&Storages, BrokenOff)),
        (listing, turn): (&Listing, &FxHashSet<&Path>),
        ([rules_hash, within_limits], now): ([&str; 2], Timestamp),
        read: impl FnOnce(Named<'_>, Keeper<'_>) -> (Report, T),
    ) -> Result<(Report, T, Result<Stored, StoreError>), StoreError> {
        let Listing { files, known, own, addresses, relative, .. } = listing;
        let (cluster, as_json) = (self.cluster.clone(), self.as_json);
        let cluster = cluster.as_deref();
        let sources = Sources { storages, addresses, cluster, relative, broken_off };
        let runs = Runs::start(&self.database, now, (rules_hash, within_limits))?;
        let others = files.iter().map(|file| &file.path).filter(|path| !turn.contains(path.as_path()));
        let left_out: FxHashSet<PathBuf> = others.chain(own).cloned().collect();
        let is_new = |file: &&Listed| turn.contains(file.path.as_path()) && !known.contains(&file.path);
        let states = files.iter().filter(is_new).map(|file| (file.path.clone(), file.state.clone()));
        let states: FxHashMap<PathBuf, FileState> = states.collect();
        let together = Together::of(files.iter().filter(is_new).map(|file| file.path.as_path()));
        let listed = files.iter().map(|file| file.path.as_path()).collect();
        let (unread, others) = ((states, together), (known, &listed));
        let writer = Mutex::new(Writer::new(&mut self.database, runs, others, unread, sources));
        let write = |app: &ApplicationReport, counts: bool| {
            let json = as_json.and_then(|as_json| as_json(app).ok());
            let report = json.and_then(|json| stored_report::packed(&json));
            let mut writer = writer.lock().unwrap_or_else(PoisonError::into_inner);
            writer.application(app, report.as_deref(), counts);
        };
        let (keep, keep_copy) = (|app: &_| write(app, true), |app: &_| write(app, false));
        let keeper = Keeper { by_node: work_by_node, keep: &keep, keep_copy: &keep_copy };
        let (report, read) = read(Named { unchanged: Some(&left_out), ..named }, keeper);
        let writer = writer.into_inner().unwrap_or_else(PoisonError::into_inner);
        let (stored, finished) = writer.finish(&report.problems);
        Ok((report, read, finished.map(|()| stored)))
    }

    /// Compares the runs of the jobs that changed, and counts what the store has now.
    fn finished(&mut self, listing: &Listing, stored: Stored) -> Result<Stored, StoreError> {
        listing::forget(&self.database, &listing.gone)?;
        self.choose_among_copies()?;
        self.compare_again()?;
        let count = || self.database.count("SELECT count(*) FROM application WHERE counts = TRUE", &[]);
        let (unchanged, applications) = (listing.known.len() as u64, self.database.reading(count)?);
        Ok(Stored { unchanged, applications, ..stored })
    }

    /// Whether this is a file of the database itself.
    fn is_own(&self, path: &Path) -> bool {
        let name = |path: &Path| path.file_name().map(|name| name.as_encoded_bytes().to_vec());
        let Some(own) = self.database.backend().file() else { return false };
        let belongs = name(own).zip(name(path)).is_some_and(|(own, other)| {
            let rest = other.strip_prefix(own.as_slice());
            rest.is_some_and(|rest| ENDINGS.iter().any(|ending| ending.as_bytes() == rest))
        });
        let folder =
            |path: &Path| fs::canonicalize(path).ok().and_then(|path| path.parent().map(Path::to_path_buf));
        belongs && folder(own).is_some_and(|own| folder(path) == Some(own))
    }
}

/// The storages of `named`, which note the objects that were not read to their ends.
fn watched(named: Named<'_>, limits: &Limits) -> (Storages, BrokenOff) {
    let broken_off = BrokenOff::default();
    let storages = storages::of(named, limits);
    (storages.watched(&broken_off), broken_off)
}

#[cfg(test)]
mod tests;
