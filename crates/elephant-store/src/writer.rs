//! Writes what is found in histories into a store, while they are read.

mod run;

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use rustc_hash::{FxHashMap, FxHashSet};

use super::address::{Addresses, Relative};
use super::database::{Database, values};
use super::outcome::{Outcome, Outcomes, file_of};
use super::record::{Origin, Replaces, Written};
use super::replaced::{Found, forget_others, sources_of};
use super::together::Together;
use super::{StoreError, pruned, record, stored_report};
use elephant_base::limits;
use elephant_engine::results::{ApplicationReport, SourceProblem};
use elephant_input::discover::FileState;
use elephant_input::storage::{BrokenOff, Storages};
use elephant_input::unit::{self, Unit};
pub(crate) use run::{Runs, record_files};
use run::{end, forget_relative, record_file};

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
    /// How the store calls them.
    pub(super) addresses: &'s Addresses,
    /// The cluster that the user named.
    pub(super) cluster: Option<&'s str>,
    /// Paths that earlier versions stored.
    pub(super) relative: &'s Relative,
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
    /// The applications that were recorded, or left out because they were removed as old.
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

    /// Records an application with its files, and with its packed report. After a failure, nothing more is recorded. One that does not count is a
    /// copy of another one.
    pub(super) fn application(&mut self, app: &ApplicationReport, report: Option<&[u8]>, counts: bool) {
        if self.failure.is_none() {
            self.failure = self.add(app, report, counts).err();
        }
    }

    fn add(
        &mut self,
        app: &ApplicationReport,
        report: Option<&[u8]>,
        counts: bool,
    ) -> Result<(), StoreError> {
        if !app.sources.is_empty() && app.sources.iter().all(|source| self.is_known(source)) {
            return Ok(());
        }
        let source = self.address_of(app);
        // Its files are recorded at the end, so that they need not be read again.
        if self.database.asking(|| pruned::was_pruned(self.database, app))? || self.must_wait(app, &source)? {
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
        let called = self.called_earlier(app, &source);
        let replaces = |earlier: &str| called.as_deref() == Some(earlier) || self.was_continued(earlier, app);
        let replaces = Replaces { has: &replaces, any: called.is_some() };
        let origin = Origin { source: &source, cluster: self.sources.cluster, replaces };
        let (database, run, last) = (&*self.database, self.runs.run, self.last);
        let Sources { addresses, relative, .. } = self.sources;
        let place = database.writing_part(|| {
            record::check_last(database, run, last)?;
            let place = record::replacing(database, run, app, &origin)?;
            report.map_or(Ok(()), |report| stored_report::write(database, place, report))?;
            for (path, state) in &files {
                let file = (*path, &*addresses.of(path));
                let is_own = forget_others(database, (run, &self.found), self.listed, file)?;
                if let Some(run) = run_of_files.filter(|_| is_own) {
                    record_file(database, run, (file.1, state), None)?;
                }
                if let Some(earlier) = relative.of(file.1) {
                    forget_relative(database, earlier)?;
                }
            }
            Ok(place)
        })?;
        self.last = Some(Written { place, reconnections: database.backend().reconnections() });
        let counted_before = self.found.add(app, &source, counts);
        self.note_archives(app);
        match app.limit.as_deref() {
            Some(limits::TIME) => self.leave(app),
            _ => app.sources.iter().for_each(|source| drop(self.states.remove(Path::new(source)))),
        }
        self.stored.added += u64::from(counts);
        self.stored.added = self.stored.added.saturating_sub(u64::from(counted_before));
        Ok(())
    }

    /// Notes the archives that an application is in.
    fn note_archives(&mut self, app: &ApplicationReport) {
        for file in app.sources.iter().map(|source| file_of(self.listed, source)) {
            if app.sources.iter().all(|source| Path::new(source) != file) {
                self.read_in_part.insert(file.to_path_buf());
                if app.limit.is_some() {
                    self.limited.insert(file.to_path_buf());
                }
            }
        }
    }

    /// Whether an application must not be stored, because not all of it was read, and the store may have more. The next
    /// run reads it again.
    fn must_wait(&mut self, app: &ApplicationReport, source: &str) -> Result<bool, StoreError> {
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
        if app.limit.is_some() && record::is_better_known(self.database, app, source)? {
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

    /// The address of the first file of an application, or of the member of an archive.
    fn address_of(&self, app: &ApplicationReport) -> String {
        let source = app.sources.first().map(String::as_str).unwrap_or_default();
        self.sources.addresses.of_source(self.listed, source)
    }

    /// Whether the store has this application as it was found when all files of its history could be read.
    fn was_whole(&self, app: &ApplicationReport) -> Result<bool, StoreError> {
        let addresses: Vec<String> =
            app.sources.iter().map(|source| self.sources.addresses.of_source(self.listed, source)).collect();
        let units: FxHashSet<Unit<'_>> = addresses.iter().map(|source| Unit::of(Path::new(source))).collect();
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
        let Some(now) = app.sources.first().map(Path::new) else { return false };
        let earlier = Path::new(earlier);
        // Both are in one folder.
        let Some(called) = earlier.file_name().map(|name| now.with_file_name(name)) else { return false };
        unit::is_same_log(&called, now)
            && self.sources.addresses.of(&called) == earlier
            && !self.listed.contains(called.as_path())
            && (self.sources.storages.has(&called) || !called.exists())
    }

    /// What an earlier version called the source with this address: as the user had named it.
    fn called_earlier(&self, app: &ApplicationReport, source: &str) -> Option<String> {
        let file = self.sources.addresses.of(file_of(self.listed, app.sources.first()?));
        let earlier = String::from_utf8_lossy(self.sources.relative.of(&file)?);
        Some(format!("{earlier}{}", source.strip_prefix(file.to_str()?)?))
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
                let address = sources.addresses.of(path);
                let path = address.as_os_str().as_encoded_bytes();
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
                let file = (*path, &*sources.addresses.of(path));
                if forget_others(database, (run, &found), listed, file)? {
                    record_file(database, run_of_file, (file.1, state), problem)?;
                }
                if let Some(earlier) = sources.relative.of(file.1) {
                    forget_relative(database, earlier)?;
                }
            }
            end(database, &runs, now)
        })
    }
}
