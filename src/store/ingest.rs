//! Reads new and changed histories into a store.

use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use rusqlite::{Connection, params};
use rustc_hash::FxHashMap;

use super::{Store, StoreError, listing, record};
use crate::engine::{self, Options, Progress};
use crate::input::discover::{self, FileState};
use crate::input::named::Named;
use crate::limits;
use crate::results::{ApplicationReport, Report, SourceProblem};
use crate::troubles::Basis;
use crate::units::Timestamp;

/// The version of this program: figures of another one may differ.
const TOOL: &str = env!("CARGO_PKG_VERSION");
/// Applications between two commits. A killed run reads these again.
const PER_COMMIT: usize = 256;

/// What an ingest did.
#[derive(Debug)]
pub(crate) struct Ingested {
    /// The report on what was read, without its applications.
    pub(crate) report: Report,
    /// Files that were not opened, because they had not changed.
    pub(crate) unchanged: u64,
    /// All applications in the store, each once.
    pub(crate) applications: u64,
}

impl Store {
    /// Reads the histories below `named` that are new or changed since they were last read with this version and these
    /// rules. A killed run keeps what it committed, and the next one reads the rest.
    pub(crate) fn ingest(
        &mut self,
        named: Named<'_>,
        basis: Basis<'_>,
        options: Options,
        progress: &Progress,
        now: Timestamp,
    ) -> Result<Ingested, StoreError> {
        let listed = discover::list(named, &options.limits);
        let rules_hash = basis.rules.hash();
        let mut unchanged = listing::unchanged(&self.connection, &listed, (TOOL, rules_hash))?;
        let known = unchanged.len() as u64;
        // Closing a file of the database would release the locks that SQLite has on it.
        unchanged.extend(listed.iter().filter(|file| self.is_own(&file.path)).map(|file| file.path.clone()));
        self.connection.execute(
            "INSERT INTO run (started, tool, rules_hash) VALUES (?1, ?2, ?3)",
            params![now.as_millis(), TOOL, rules_hash],
        )?;
        let run = self.connection.last_insert_rowid();
        let states = listed.into_iter().map(|file| (file.path, file.state));
        let states: FxHashMap<PathBuf, FileState> =
            states.filter(|(path, _)| !unchanged.contains(path)).collect();
        let writer = Mutex::new(Writer::new(&mut self.connection, run, states)?);
        let lock = || writer.lock().unwrap_or_else(PoisonError::into_inner);
        let render = |app: &ApplicationReport| {
            lock().application(app);
            Ok(Vec::new())
        };
        let named = Named { unchanged: Some(&unchanged), ..named };
        // The configuration of each application is stored.
        let options = Options { details: true, ..options };
        let (report, _) = engine::analyze_in_pieces(named, basis, options, progress, &render);
        let writer = writer.into_inner().unwrap_or_else(PoisonError::into_inner);
        writer.finish(&report.problems, now)?;
        let applications =
            self.connection
                .query_row("SELECT count(*) FROM application WHERE counts", [], |row| row.get::<_, i64>(0))?;
        Ok(Ingested { report, unchanged: known, applications: applications.cast_unsigned() })
    }
}

impl Store {
    /// Whether this is a file of the database itself.
    fn is_own(&self, path: &Path) -> bool {
        let name = |path: &Path| path.file_name().map(|name| name.as_encoded_bytes().to_vec());
        let Some(own) = self.connection.path().map(Path::new) else { return false };
        let belongs = name(own).zip(name(path)).is_some_and(|(own, other)| {
            let rest = other.strip_prefix(own.as_slice());
            rest.is_some_and(|rest| [&b""[..], b"-wal", b"-shm", b"-journal"].contains(&rest))
        });
        let folder =
            |path: &Path| fs::canonicalize(path).ok().and_then(|path| path.parent().map(Path::to_path_buf));
        belongs && folder(own).is_some_and(|own| folder(path) == Some(own))
    }
}

/// Writes while histories are read, a group of applications at a time.
struct Writer<'c> {
    connection: &'c mut Connection,
    run: i64,
    /// The files listed and not yet recorded.
    states: FxHashMap<PathBuf, FileState>,
    since_commit: usize,
    committed: Instant,
    failure: Option<StoreError>,
}

impl<'c> Writer<'c> {
    fn new(
        connection: &'c mut Connection,
        run: i64,
        states: FxHashMap<PathBuf, FileState>,
    ) -> Result<Self, StoreError> {
        connection.execute_batch("BEGIN IMMEDIATE")?;
        Ok(Self { connection, run, states, since_commit: 0, committed: Instant::now(), failure: None })
    }

    /// Records an application with its files. After a failure, nothing more is recorded.
    fn application(&mut self, app: &ApplicationReport) {
        if self.failure.is_none() {
            self.failure = self.add(app).err();
        }
    }

    fn add(&mut self, app: &ApplicationReport) -> Result<(), StoreError> {
        record::application(self.connection, self.run, app)?;
        // Members of an archive are not files: the archive is recorded at the end, when all of them are.
        for source in &app.sources {
            if let Some((path, state)) = self.states.remove_entry(Path::new(source)) {
                file(self.connection, self.run, (&path, state), None)?;
                forget_others(self.connection, self.run, &path)?;
            }
        }
        self.since_commit += 1;
        if self.since_commit >= PER_COMMIT {
            self.since_commit = 0;
            self.connection.execute_batch("COMMIT; BEGIN IMMEDIATE")?;
            log::debug!("committed after {:.1?}", self.committed.elapsed());
            self.committed = Instant::now();
        }
        Ok(())
    }

    /// Records all other files, and the end of the run.
    fn finish(self, problems: &[SourceProblem], now: Timestamp) -> Result<(), StoreError> {
        let Self { connection, run, states, failure, .. } = self;
        if let Some(failure) = failure {
            // What was committed before stays.
            connection.execute_batch("ROLLBACK")?;
            return Err(failure);
        }
        let told: FxHashMap<&Path, &SourceProblem> =
            problems.iter().rev().map(|told| (Path::new(&told.source), told)).collect();
        let mut states: Vec<(PathBuf, FileState)> = states.into_iter().collect();
        states.sort_unstable_by(|(a, _), (b, _)| a.cmp(b));
        for (path, state) in states {
            match told.get(path.as_path()) {
                // Another try may succeed: with another limit, or when the file can be read again.
                Some(told) if told.problem.code == limits::REACHED || !can_be_read(&path) => {}
                Some(told) => file(connection, run, (&path, state), Some(&told.problem.message))?,
                None => {
                    file(connection, run, (&path, state), None)?;
                    forget_others(connection, run, &path)?;
                }
            }
        }
        connection.execute("UPDATE run SET finished = ?2 WHERE run = ?1", params![run, now.as_millis()])?;
        record::choose_again(connection)?;
        // Runs of which no file and no application is left tell nothing.
        connection.execute_batch(
            "DELETE FROM run WHERE finished IS NOT NULL AND run NOT IN (SELECT run FROM file UNION SELECT run FROM \
             application); COMMIT",
        )?;
        Ok(())
    }
}

fn can_be_read(path: &Path) -> bool {
    File::open(path).and_then(|mut file| file.read(&mut [0])).is_ok()
}

/// Removes what a file, or a member of an archive, contained before it changed.
fn forget_others(connection: &Connection, run: i64, path: &Path) -> Result<(), StoreError> {
    let source = path.to_string_lossy();
    connection
        .prepare_cached(
            "DELETE FROM application WHERE run <> ?1 AND (source = ?2 OR (source >= ?2 || '!' AND source < ?2 || char(34)))",
        )?
        .execute(params![run, source])?;
    Ok(())
}

/// Records that a file was read in this state.
fn file(
    connection: &Connection,
    run: i64,
    (path, state): (&Path, FileState),
    problem: Option<&str>,
) -> Result<(), StoreError> {
    let path = path.as_os_str().as_encoded_bytes();
    let size = i64::try_from(state.size).unwrap_or(i64::MAX);
    connection
        .prepare_cached(
            "INSERT OR REPLACE INTO file (path, size, modified, run, problem) VALUES (?1, ?2, ?3, ?4, ?5)",
        )?
        .execute(params![path, size, state.modified, run, problem])?;
    Ok(())
}
