//! Reads new and changed histories into a store.

use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use rustc_hash::{FxHashMap, FxHashSet};

use super::database::{Database, values};
use super::place::ENDINGS;
use super::record::Written;
use super::{Store, StoreError, listing, record};
use crate::engine::Keeper;
use crate::input::discover::{self, FileState};
use crate::input::named::Named;
use crate::input::storage::{BrokenOff, Storages};
use crate::input::unit;
use crate::limits::{self, Limits};
use crate::nodes::work_by_node;
use crate::results::{ApplicationReport, Report, SourceProblem};
use crate::units::Timestamp;

/// The version of this program: figures of another one may differ.
pub(super) const TOOL: &str = env!("CARGO_PKG_VERSION");

/// What was stored of a run.
#[derive(Debug)]
pub(crate) struct Stored {
    /// Files that had not changed. [`Files::Changed`] does not open them.
    pub(crate) unchanged: u64,
    /// Applications that were stored.
    pub(crate) added: u64,
    /// Applications that were not stored, because one of their objects was not read to its end.
    pub(crate) cut: u64,
    /// All applications in the store, each once.
    pub(crate) applications: u64,
}

/// The files to read. In both cases, only applications in new or changed files are stored. A file that was last read
/// with another version or other rules counts as changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Files {
    Changed,
    All,
}

impl Store {
    /// Stores what `read` finds in the histories below `named`. A killed run keeps what it committed, and what was found is
    /// returned even if it could not be stored.
    pub(crate) fn keep<T>(
        &mut self,
        named: Named<'_>,
        (files, limits): (Files, &Limits),
        rules_hash: &str,
        now: Timestamp,
        read: impl FnOnce(Named<'_>, Keeper<'_>) -> (Report, T),
    ) -> Result<(Report, T, Result<Stored, StoreError>), StoreError> {
        let broken_off = BrokenOff::default();
        let storages = named.storages.cloned().unwrap_or_else(|| Storages::built_in(limits));
        let storages = storages.watched(&broken_off);
        let named = Named { storages: Some(&storages), ..named };
        let listed = discover::list(named, limits);
        let database = &self.database;
        let known = database.reading(|| listing::unchanged(database, &listed, (TOOL, rules_hash)))?;
        let unchanged = known.len() as u64;
        let mut left_out = match files {
            Files::Changed => known.clone(),
            Files::All => FxHashSet::default(),
        };
        // Closing a file of the database would release the locks that SQLite has on it.
        left_out.extend(listed.iter().filter(|file| self.is_own(&file.path)).map(|file| file.path.clone()));
        let run = database.writing(|| {
            database.insert(
                "INSERT INTO run (started, tool, rules_hash) VALUES (?1, ?2, ?3) RETURNING run",
                &values![now.as_millis(), TOOL, rules_hash],
            )
        })?;
        let states = listed.into_iter().map(|file| (file.path, file.state));
        let states: FxHashMap<PathBuf, FileState> =
            states.filter(|(path, _)| !left_out.contains(path) && !known.contains(path)).collect();
        let sources = Sources { storages: &storages, broken_off };
        let writer = Mutex::new(Writer {
            database: &mut self.database,
            run,
            known,
            states,
            sources,
            last: None,
            added: 0,
            cut: 0,
            failure: None,
        });
        let keep = |app: &ApplicationReport| {
            writer.lock().unwrap_or_else(PoisonError::into_inner).application(app);
        };
        let keeper = Keeper { by_node: work_by_node, keep: &keep };
        let (report, read) = read(Named { unchanged: Some(&left_out), ..named }, keeper);
        let writer = writer.into_inner().unwrap_or_else(PoisonError::into_inner);
        let (added, cut) = (writer.added, writer.cut);
        let finished = writer.finish(&report.problems, now);
        let count = || self.database.count("SELECT count(*) FROM application WHERE counts = TRUE", &[]);
        let stored = finished.and_then(|()| self.compare_again()).and_then(|()| {
            let applications = self.database.reading(count)?;
            Ok(Stored { unchanged, added, cut, applications })
        });
        Ok((report, read, stored))
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

/// Where files come from.
struct Sources<'s> {
    storages: &'s Storages,
    /// Objects that were not read to their ends.
    broken_off: BrokenOff,
}

impl Sources<'_> {
    /// Whether a file was read, and not only a part of it.
    fn was_read(&self, path: &Path) -> bool {
        if self.storages.has(path) { !self.broken_off.has(path) } else { can_be_read(path) }
    }
}

/// Writes while histories are read. Each application is one transaction with its files, so that the lock of a writer is
/// held for a moment only, and a killed run loses none that it stored.
struct Writer<'c> {
    // Writers of several threads take turns.
    database: &'c mut Database,
    run: i64,
    /// Files whose applications the store has, or had until they were removed as old.
    known: FxHashSet<PathBuf>,
    /// The files listed and not yet recorded.
    states: FxHashMap<PathBuf, FileState>,
    sources: Sources<'c>,
    /// The last application that was recorded. If the server crashed and lost others before it, it is gone, too.
    last: Option<Written>,
    /// Applications that were recorded.
    added: u64,
    /// Applications that were not recorded, because one of their objects was not read to its end.
    cut: u64,
    failure: Option<StoreError>,
}

impl Writer<'_> {
    /// Records an application with its files. After a failure, nothing more is recorded.
    fn application(&mut self, app: &ApplicationReport) {
        if self.failure.is_none() {
            self.failure = self.add(app).err();
        }
    }

    fn add(&mut self, app: &ApplicationReport) -> Result<(), StoreError> {
        if !app.sources.is_empty() && app.sources.iter().all(|source| self.is_known(source)) {
            return Ok(());
        }
        // Do not record an application if one of its objects was not read to its end: the next ingest reads it again.
        if app.sources.iter().any(|source| self.sources.broken_off.has(Path::new(source))) {
            self.cut += 1;
            return Ok(());
        }
        // Members of an archive are not files: the archive is recorded at the end, when all of them are.
        let sources = app.sources.iter().map(Path::new);
        let files: Vec<(&Path, &FileState)> =
            sources.filter_map(|source| Some((source, self.states.get(source)?))).collect();
        let is_gone = |earlier: &str| self.was_continued(earlier, app);
        let (database, run, last) = (&*self.database, self.run, self.last);
        let place = database.writing_part(|| {
            record::check_last(database, run, last)?;
            let place = record::replacing(database, run, app, &is_gone)?;
            for (path, state) in &files {
                file(database, run, (path, state), None)?;
                forget_others(database, run, path)?;
            }
            Ok(place)
        })?;
        self.last = Some(Written { place, reconnections: database.backend().reconnections() });
        for source in &app.sources {
            self.states.remove(Path::new(source));
        }
        self.added += 1;
        Ok(())
    }

    /// Whether this file, or the archive of this member, has not changed.
    fn is_known(&self, source: &str) -> bool {
        let archive = source.split_once('!').map(|(archive, _)| archive);
        [Some(source), archive].into_iter().flatten().any(|path| self.known.contains(Path::new(path)))
    }

    /// Whether an earlier record of an application is from a file that is gone because its log goes on in another one:
    /// Spark renames a log at its end, and replaces parts by a compacted one.
    fn was_continued(&self, earlier: &str, app: &ApplicationReport) -> bool {
        let Some(now) = app.sources.first().filter(|now| *now != earlier) else { return false };
        let path = Path::new(earlier);
        let is_listed = self.known.contains(path) || self.states.contains_key(path);
        unit::is_same_log(path, Path::new(now))
            && !is_listed
            && (self.sources.storages.has(path) || !path.exists())
    }

    /// Records all other files, and the end of the run.
    fn finish(self, problems: &[SourceProblem], now: Timestamp) -> Result<(), StoreError> {
        let Self { database, run, states, sources, last, failure, .. } = self;
        if let Some(failure) = failure {
            // What was committed before stays.
            return Err(failure);
        }
        let told: FxHashMap<&Path, &SourceProblem> =
            problems.iter().rev().map(|told| (Path::new(&told.source), told)).collect();
        let mut states: Vec<(PathBuf, FileState)> = states.into_iter().collect();
        states.sort_unstable_by(|(a, _), (b, _)| a.cmp(b));
        database.writing(|| {
            record::check_last(database, run, last)?;
            for (path, state) in &states {
                let told = told.get(path.as_path());
                // Another try may succeed: with another limit, or when the file can be read again.
                let may_pass =
                    told.is_some_and(|told| told.problem.code == limits::REACHED || !sources.was_read(path));
                if may_pass || sources.broken_off.has(path) {
                    continue;
                }
                file(database, run, (path, state), told.map(|told| told.problem.message.as_str()))?;
                if told.is_none() {
                    forget_others(database, run, path)?;
                }
            }
            database.execute(
                "UPDATE run SET finished = ?2 WHERE run = ?1",
                &values![run, now.as_millis()],
            )?;
            record::choose_again(database)?;
            // Remove runs to which no file and no application belongs.
            database.execute(
                "DELETE FROM run WHERE finished IS NOT NULL AND run NOT IN (SELECT run FROM file UNION SELECT run FROM \
                 application)",
                &[],
            )?;
            Ok(())
        })
    }
}

fn can_be_read(path: &Path) -> bool {
    File::open(path).and_then(|mut file| file.read(&mut [0])).is_ok()
}

/// Removes what a file, or a member of an archive, contained before it changed.
fn forget_others(database: &Database, run: i64, path: &Path) -> Result<(), StoreError> {
    let source = path.to_string_lossy();
    // A member's name follows the archive's and `!`, and `"` is the next character after `!`. PostgreSQL indexes only
    // the beginnings.
    record::remove(
        database,
        "run <> ?1 AND substr(source, 1, 500) >= substr(?2, 1, 500) AND substr(source, 1, 500) <= substr(?4, 1, 500) AND \
         (source = ?2 OR (source >= ?3 AND source < ?4))",
        &values![run, &*source, format!("{source}!"), format!("{source}\"")],
    )?;
    Ok(())
}

/// Records that a file was read in this state.
fn file(
    database: &Database,
    run: i64,
    (path, state): (&Path, &FileState),
    problem: Option<&str>,
) -> Result<(), StoreError> {
    let path = path.as_os_str().as_encoded_bytes();
    let size = i64::try_from(state.size).unwrap_or(i64::MAX);
    database.send("DELETE FROM file WHERE path = ?1", &values![path])?;
    database.send(
        "INSERT INTO file (path, size, modified, run, problem, etag) VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
        &values![path, size, state.modified, run, problem, state.etag.as_deref()],
    )
}

/// Records files as if they had been read.
#[cfg(any(test, feature = "internals"))]
pub(super) fn record_files(database: &Database, run: i64, sources: &[String]) -> Result<(), StoreError> {
    let state = FileState { size: 1_000_000, modified: Some(run), etag: None };
    sources.iter().try_for_each(|source| file(database, run, (Path::new(source), &state), None))
}
