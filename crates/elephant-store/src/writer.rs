//! Writes what is found in histories into a store, while they are read.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use rustc_hash::{FxHashMap, FxHashSet};

use super::database::{Database, values};
use super::outcome::{Outcome, Outcomes, file_of};
use super::record::Written;
use super::replaced::{Found, forget_others, sources_of};
use super::together::Together;
use super::{StoreError, record};
use elephant_base::limits;
use elephant_base::units::Timestamp;
use elephant_engine::results::{ApplicationReport, SourceProblem};
use elephant_input::discover::FileState;
use elephant_input::storage::{BrokenOff, Storages};
use elephant_input::unit::{self, Unit};

/// The version of this program: figures of another one may differ.
pub(super) const TOOL: &str = env!("CARGO_PKG_VERSION");

/// What was stored of a run.
#[derive(Debug, Clone, Copy, Default)]
pub struct Stored {
    /// Files that had not changed. They are not opened if only changed files are read.
    pub unchanged: u64,
    /// Applications that were stored.
    pub added: u64,
    /// Applications that were not stored, because one of their objects was not read to its end, or because one of their
    /// files cannot be opened, and the store has what was found in all of them.
    pub cut: u64,
    /// Applications that were not stored, because a limit kept a part of them out, and the store has more of them.
    pub kept: u64,
    /// All applications in the store, each once.
    pub applications: u64,
}

impl Stored {
    /// Adds what was stored in another turn.
    pub(super) fn add(&mut self, turn: Self) {
        self.added += turn.added;
        self.cut += turn.cut;
        self.kept += turn.kept;
    }
}

/// Where files come from.
pub(super) struct Sources<'s> {
    pub(super) storages: &'s Storages,
    /// Objects that were not read to their ends.
    pub(super) broken_off: BrokenOff,
}

impl Sources<'_> {
    /// Whether all bytes of a file can be read, so that a failure is due to its content.
    fn can_be_read(&self, path: &Path) -> bool {
        let read_to_end = |path| io::copy(&mut File::open(path)?, &mut io::sink());
        if self.storages.has(path) { !self.broken_off.has(path) } else { read_to_end(path).is_ok() }
    }

    /// Whether a file can be opened, or an object has not broken off.
    fn can_be_opened(&self, path: &Path) -> bool {
        let read_byte = |path| File::open(path)?.read(&mut [0]);
        if self.storages.has(path) { !self.broken_off.has(path) } else { read_byte(path).is_ok() }
    }
}

/// Writes while histories are read. Each application is one transaction with its files, so that the lock of a writer is
/// held for a moment only, and a killed run loses none that it stored.
pub(super) struct Writer<'c> {
    // Writers of several threads take turns.
    database: &'c mut Database,
    runs: Runs<'c>,
    /// Files whose applications the store has, or had until they were removed as old.
    known: &'c FxHashSet<PathBuf>,
    /// All files below the paths.
    listed: &'c FxHashSet<&'c Path>,
    /// The files of this turn that are not yet recorded.
    states: FxHashMap<PathBuf, FileState>,
    /// Those of this turn that are read together.
    together: Together<'c>,
    sources: Sources<'c>,
    /// The applications that were recorded.
    found: Found,
    /// Files of this turn that are left to the next run.
    left: FxHashSet<PathBuf>,
    /// Archives from which an application was recorded.
    read_in_part: FxHashSet<PathBuf>,
    /// Archives with an application of which a limit kept a part out.
    limited: FxHashSet<PathBuf>,
    /// The last application that was recorded. If the server crashed and lost others before it, it is gone, too.
    last: Option<Written>,
    stored: Stored,
    failure: Option<StoreError>,
}

/// The runs to which files belong.
pub(crate) struct Runs<'r> {
    pub(super) run: i64,
    pub(super) now: Timestamp,
    /// The rules with the limits: the run of files that limits cut.
    pub(super) within_limits: &'r str,
    /// That run, once there is such a file.
    limited: Option<i64>,
}

impl<'r> Runs<'r> {
    /// A new run with these rules, and with these limits for files that they cut.
    pub(super) fn start(
        database: &Database,
        now: Timestamp,
        (rules_hash, within_limits): (&str, &'r str),
    ) -> Result<Self, StoreError> {
        let run = database.writing(|| start(database, now, rules_hash))?;
        Ok(Self { run, now, within_limits, limited: None })
    }

    /// The run of a file that limits cut or did not cut.
    fn of_file(&mut self, database: &Database, is_limited: bool) -> Result<i64, StoreError> {
        if !is_limited {
            return Ok(self.run);
        }
        if let Some(run) = self.limited {
            return Ok(run);
        }
        let run = database.writing(|| start(database, self.now, self.within_limits))?;
        Ok(*self.limited.insert(run))
    }
}

/// Inserts a run, and returns its number.
fn start(database: &Database, now: Timestamp, rules_hash: &str) -> Result<i64, StoreError> {
    database.insert(
        "INSERT INTO run (started, tool, rules_hash) VALUES (?1, ?2, ?3) RETURNING run",
        &values![now.as_millis(), TOOL, rules_hash],
    )
}

impl<'c> Writer<'c> {
    /// Writes into `database` what is found in the files of `states`, some of which are read `together`; those in `known`
    /// have not changed. `listed` has all of them, and those of other turns.
    pub(super) fn new(
        database: &'c mut Database,
        runs: Runs<'c>,
        (known, listed): (&'c FxHashSet<PathBuf>, &'c FxHashSet<&'c Path>),
        (states, together): (FxHashMap<PathBuf, FileState>, Together<'c>),
        sources: Sources<'c>,
    ) -> Self {
        let (found, left, read_in_part, limited, stored) = Default::default();
        Self {
            database,
            runs,
            known,
            listed,
            states,
            together,
            sources,
            found,
            left,
            read_in_part,
            limited,
            last: None,
            stored,
            failure: None,
        }
    }

    /// Records an application with its files. After a failure, nothing more is recorded. One that does not count is a
    /// copy of another one.
    pub(super) fn application(&mut self, app: &ApplicationReport, counts: bool) {
        if self.failure.is_none() {
            self.failure = self.add(app, counts).err();
        }
    }

    fn add(&mut self, app: &ApplicationReport, counts: bool) -> Result<(), StoreError> {
        if !app.sources.is_empty() && app.sources.iter().all(|source| self.is_known(source)) {
            return Ok(());
        }
        if self.must_wait(app)? {
            return Ok(());
        }
        // Members of an archive are not files: the archive is recorded at the end, when all of them are.
        let sources = app.sources.iter().map(Path::new);
        let files: Vec<(&Path, &FileState)> =
            sources.filter_map(|source| Some((source, self.states.get(source)?))).collect();
        // Where the time limit ended the reading, another try may read more.
        let run_of_files = match app.limit.as_deref() {
            Some(limits::TIME) => None,
            limit => Some(self.runs.of_file(self.database, limit.is_some())?),
        };
        let is_gone = |earlier: &str| self.was_continued(earlier, app);
        let (database, run, last) = (&*self.database, self.runs.run, self.last);
        let place = database.writing_part(|| {
            record::check_last(database, run, last)?;
            let place = record::replacing(database, run, app, &is_gone)?;
            for (path, state) in &files {
                let is_own = forget_others(database, (run, &self.found), self.listed, path)?;
                if let Some(run) = run_of_files.filter(|_| is_own) {
                    file(database, run, (path, state), None)?;
                }
            }
            Ok(place)
        })?;
        self.last = Some(Written { place, reconnections: database.backend().reconnections() });
        self.found.add(app);
        for file in app.sources.iter().map(|source| file_of(self.listed, source)) {
            if app.sources.iter().all(|source| Path::new(source) != file) {
                self.read_in_part.insert(file.to_path_buf());
                if app.limit.is_some() {
                    self.limited.insert(file.to_path_buf());
                }
            }
        }
        match app.limit.as_deref() {
            Some(limits::TIME) => self.leave(app),
            _ => app.sources.iter().for_each(|source| drop(self.states.remove(Path::new(source)))),
        }
        self.stored.added += u64::from(counts);
        Ok(())
    }

    /// Whether an application must not be stored, because not all of it was read, and the store may have more. The next
    /// run reads it again.
    fn must_wait(&mut self, app: &ApplicationReport) -> Result<bool, StoreError> {
        let files = self.files_of(app);
        let broken_off = |source: &String| self.sources.broken_off.has(Path::new(source));
        if app.sources.iter().any(broken_off) {
            self.leave(app);
            self.stored.cut += 1;
            return Ok(true);
        }
        // An empty file, which marks that a log is complete, says nothing by its content.
        let is_empty = |file: &Path| self.states.get(file).is_some_and(|state| state.size == 0);
        let is_there = |file: &&Path| is_empty(file) || self.sources.can_be_opened(file);
        if files.len() > 1 && !files.iter().all(is_there) {
            let was_whole = self.was_whole(app)?;
            self.leave(app);
            self.stored.cut += u64::from(was_whole);
            return Ok(was_whole);
        }
        if app.limit.is_some() && record::is_better_known(self.database, app)? {
            self.leave(app);
            self.stored.kept += 1;
            return Ok(true);
        }
        Ok(false)
    }

    /// The files of an application, with all that is read together with them, and the archives that they are in.
    fn files_of<'a>(&'a self, app: &'a ApplicationReport) -> FxHashSet<&'a Path> {
        self.together.with(app.sources.iter().map(|source| file_of(self.listed, source)))
    }

    /// Whether the store has this application as it was found when all files of its history could be read.
    fn was_whole(&self, app: &ApplicationReport) -> Result<bool, StoreError> {
        let units: FxHashSet<Unit<'_>> =
            app.sources.iter().map(|source| Unit::of(Path::new(source))).collect();
        for source in sources_of(self.database, app)? {
            let query = "SELECT count(*) FROM file WHERE path = ?1";
            if units.contains(&Unit::of(Path::new(&source)))
                && self.database.count(query, &values![source.as_bytes()])? > 0
            {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Leaves the files of an application to the next run.
    fn leave(&mut self, app: &ApplicationReport) {
        let files: Vec<PathBuf> = self.files_of(app).into_iter().map(Path::to_path_buf).collect();
        for path in files {
            self.states.remove(&path);
            self.left.insert(path);
        }
    }

    /// Whether this file, or the archive of this member, has not changed.
    fn is_known(&self, source: &str) -> bool {
        self.known.contains(file_of(self.listed, source))
    }

    /// Whether an earlier record of an application is from a file that is gone because its log goes on in another one:
    /// Spark renames a log at its end, and replaces parts by a compacted one.
    fn was_continued(&self, earlier: &str, app: &ApplicationReport) -> bool {
        let Some(now) = app.sources.first().filter(|now| *now != earlier) else { return false };
        let path = Path::new(earlier);
        unit::is_same_log(path, Path::new(now))
            && !self.listed.contains(path)
            && (self.sources.storages.has(path) || !path.exists())
    }

    /// Records all other files, and the end of the run.
    ///
    /// # Errors
    /// The first failure; what was committed before stays.
    pub(super) fn finish(self, problems: &[SourceProblem]) -> (Stored, Result<(), StoreError>) {
        let stored = self.stored;
        (stored, self.record_rest(problems))
    }

    fn record_rest(self, problems: &[SourceProblem]) -> Result<(), StoreError> {
        let Self { database, mut runs, listed, states, together, sources, found, left, .. } = self;
        let (run, now) = (runs.run, runs.now);
        if let Some(failure) = self.failure {
            return Err(failure);
        }
        let outcomes = Outcomes::of(problems, &self.read_in_part, listed);
        let limited_run = if self.limited.is_empty() { run } else { runs.of_file(database, true)? };
        // Another try may succeed: with another limit, or when the file can be read again. Until then, keep what is known of
        // it, and of what is read together with it.
        let must_wait = |path: &Path| match outcomes.of_file(path) {
            Outcome::LimitReached => true,
            _ if sources.broken_off.has(path) => true,
            Outcome::Failed(_) => !sources.can_be_read(path),
            Outcome::Read => false,
        };
        let unread = states.keys().map(PathBuf::as_path).filter(|path| must_wait(path));
        let left = together.with(left.iter().map(PathBuf::as_path).chain(unread));
        let mut states: Vec<(&Path, &FileState)> =
            states.iter().map(|(path, state)| (path.as_path(), state)).collect();
        states.retain(|(path, _)| !left.contains(path));
        states.sort_unstable_by_key(|(path, _)| *path);
        let mut left: Vec<&Path> = left.into_iter().collect();
        left.sort_unstable();
        database.writing(|| {
            record::check_last(database, run, self.last)?;
            for path in &left {
                let path = path.as_os_str().as_encoded_bytes();
                let query = "DELETE FROM file WHERE path = ?1 AND run IN (?2, ?3)";
                database.send(query, &values![path, run, runs.limited.unwrap_or(run)])?;
            }
            for (path, state) in &states {
                let run_of_file = if self.limited.contains(*path) { limited_run } else { run };
                let problem = match outcomes.of_file(path) {
                    Outcome::Failed(problem) => Some(problem),
                    Outcome::Read | Outcome::LimitReached => None,
                };
                // What it contained before is gone, even if it is damaged now, or a copy of another file.
                if forget_others(database, (run, &found), listed, path)? {
                    file(database, run_of_file, (path, state), problem)?;
                }
            }
            end(database, &runs, now)
        })
    }
}

/// Records the end of a run.
fn end(database: &Database, runs: &Runs<'_>, now: Timestamp) -> Result<(), StoreError> {
    database.execute(
        "UPDATE run SET finished = ?3 WHERE run IN (?1, ?2)",
        &values![runs.run, runs.limited.unwrap_or(runs.run), now.as_millis()],
    )?;
    record::choose_again(database)?;
    // Remove runs to which no file and no application belongs.
    database.execute(
        "DELETE FROM run WHERE finished IS NOT NULL AND run NOT IN (SELECT run FROM file UNION SELECT run FROM \
         application)",
        &[],
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
pub(super) fn record_files(database: &Database, run: i64, sources: &[String]) -> Result<(), StoreError> {
    let state = FileState { size: 1_000_000, modified: Some(run), etag: None };
    sources.iter().try_for_each(|source| file(database, run, (Path::new(source), &state), None))
}
