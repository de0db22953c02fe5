//! Runs of `ingest`, and the files that each of them read.

use std::path::Path;

use super::TOOL;
use crate::StoreError;
use crate::database::{Database, values};
use elephant_base::units::Timestamp;
use elephant_input::discover::FileState;

/// The runs to which files belong.
pub(crate) struct Runs<'r> {
    pub(crate) run: i64,
    pub(crate) now: Timestamp,
    /// The rules with the limits: the run of files that limits cut.
    pub(crate) within_limits: &'r str,
    /// That run, once there is such a file.
    pub(super) limited: Option<i64>,
}

impl<'r> Runs<'r> {
    /// A new run with these rules, and with these limits for files that they cut.
    pub(crate) fn start(
        database: &Database,
        now: Timestamp,
        (rules_hash, within_limits): (&str, &'r str),
    ) -> Result<Self, StoreError> {
        let run = database.writing(|| start(database, now, rules_hash))?;
        Ok(Self { run, now, within_limits, limited: None })
    }

    /// The run of a file that limits cut or did not cut.
    pub(super) fn of_file(&mut self, database: &Database, is_limited: bool) -> Result<i64, StoreError> {
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

/// Records the end of a run.
pub(super) fn end(database: &Database, runs: &Runs<'_>, now: Timestamp) -> Result<(), StoreError> {
    database.execute(
        "UPDATE run SET finished = ?3 WHERE run IN (?1, ?2)",
        &values![runs.run, runs.limited.unwrap_or(runs.run), now.as_millis()],
    )?;
    // Remove runs to which no file and no application belongs.
    database.execute(
        "DELETE FROM run WHERE finished IS NOT NULL AND run NOT IN (SELECT run FROM file UNION SELECT run FROM \
         application)",
        &[],
    )?;
    Ok(())
}

/// Records that the file with this address was read in this state.
pub(super) fn record_file(
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

/// Forgets a path that an earlier version stored as the user had named it, once nothing is recorded of it.
pub(super) fn forget_relative(database: &Database, path: &[u8]) -> Result<(), StoreError> {
    let source = String::from_utf8_lossy(path);
    let query =
        "DELETE FROM file WHERE path = ?1 AND NOT EXISTS (SELECT 1 FROM application WHERE source = ?2)";
    database.send(query, &values![path, &*source])
}

/// Records files as if they had been read.
pub(crate) fn record_files(database: &Database, run: i64, sources: &[String]) -> Result<(), StoreError> {
    let state = FileState { size: 1_000_000, modified: Some(run), etag: None };
    sources.iter().try_for_each(|source| record_file(database, run, (Path::new(source), &state), None))
}
