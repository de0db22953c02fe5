//! A database of applications: what was found in their histories, over months and over many runs of this program.
//!
//! [`Store::ingest`] reads the histories that are new or changed; the other functions answer questions without opening a
//! history. A record is one application in one file: ids are not unique across clusters and copies.

mod accepted;
mod answer;
mod configured;
mod costs;
mod export;
mod fleet;
mod groups;
mod ingest;
mod listing;
mod nodes;
mod periods;
mod realised;
mod record;
mod runs;
mod schema;
mod selection;

use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::{Connection, OpenFlags};
use thiserror::Error;

use crate::units::Timestamp;

pub(crate) use accepted::Lack;
pub(crate) use answer::{Answer, Question, View};
#[cfg(feature = "parquet")]
pub(crate) use export::Column;
pub(crate) use export::{Kind, TABLES, Table, Value};
pub(crate) use fleet::{Fleet, Ranked, Remedy, Unread};
pub(crate) use groups::{Group, Grouped, Grouping};
pub(crate) use ingest::Ingested;
pub(crate) use nodes::{NodeSums, Nodes};
pub(crate) use periods::{OverTime, Periods};
pub(crate) use realised::{Changed, Realised};
pub(crate) use runs::{Change, Measure, Run, Runs};

const MS_PER_HOUR: f64 = 3_600_000.0;
const MB_SECONDS_PER_GB_HOUR: f64 = 1024.0 * 3600.0;

/// Memory over time as the tables have it, in GB·h.
fn gb_hours(mb_seconds: u64) -> f64 {
    mb_seconds as f64 / MB_SECONDS_PER_GB_HOUR
}

/// How long a writer waits for another.
const PATIENCE: Duration = Duration::from_secs(60);

/// Why a store cannot be used.
#[derive(Debug, Error)]
pub(crate) enum StoreError {
    /// There is no such file.
    #[error("there is no store {path}; `elephant-rs ingest --store {path} PATH…` makes it", path = .0.display())]
    Missing(PathBuf),
    /// It is a database of another program.
    #[error("it is a database of another program; name another file")]
    Foreign,
    /// It was written by a later version of this program.
    #[error(
        "its tables have version {version}, and this program knows versions up to {latest}; install a newer one"
    )]
    Newer {
        /// Its version.
        version: i64,
        /// The latest known version.
        latest: i64,
    },
    /// The database refuses.
    #[error("{0}; if the file is damaged, remove it and ingest the histories again")]
    Database(#[from] rusqlite::Error),
}

/// An open store.
pub(crate) struct Store {
    connection: Connection,
    /// The currency of the prices, if there are any.
    currency: Option<String>,
}

impl Store {
    /// Opens a store to write to it, and makes it if there is none.
    pub(crate) fn create(path: &Path) -> Result<Self, StoreError> {
        Self::with(Connection::open(path)?)
    }

    /// Opens a store that must exist. Older tables are brought up to date.
    pub(crate) fn open(path: &Path) -> Result<Self, StoreError> {
        if !path.exists() {
            return Err(StoreError::Missing(path.to_path_buf()));
        }
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        Self::with(Connection::open_with_flags(path, flags)?)
    }

    fn with(mut connection: Connection) -> Result<Self, StoreError> {
        connection.busy_timeout(PATIENCE)?;
        // Readers are never blocked by a writer, and a killed writer leaves the last commit.
        connection.pragma_update(None, "journal_mode", "WAL")?;
        connection.pragma_update(None, "synchronous", "NORMAL")?;
        // Pages between two copies from the log to the file: each of these waits for the disk.
        connection.pragma_update(None, "wal_autocheckpoint", 4000)?;
        connection.pragma_update(None, "foreign_keys", true)?;
        schema::migrate(&mut connection)?;
        Ok(Self { connection, currency: None })
    }

    /// Writes applications that no history has, `a_commit` of them in one transaction, for measurements.
    #[cfg(any(test, feature = "internals"))]
    pub(crate) fn fill(
        &mut self,
        mut applications: impl Iterator<Item = crate::results::ApplicationReport>,
        a_commit: usize,
    ) -> Result<(), StoreError> {
        self.connection.execute("INSERT INTO run (started, tool, rules_hash) VALUES (0, 'none', '')", [])?;
        let run = self.connection.last_insert_rowid();
        loop {
            let changes = self.connection.transaction()?;
            let mut written = 0;
            for app in applications.by_ref().take(a_commit) {
                record::application(&changes, run, &app)?;
                ingest::record_files(&changes, run, &app.sources)?;
                written += 1;
            }
            changes.commit()?;
            if written < a_commit {
                return Ok(());
            }
        }
    }

    /// Removes the applications that were submitted before `moment`, or, if that is unknown, whose history is older. Their
    /// files stay known, so that they are not read again. Returns how many were removed.
    pub(crate) fn prune(&mut self, moment: Timestamp) -> Result<u64, StoreError> {
        let changes = self.connection.transaction()?;
        let removed = changes.execute(
            "DELETE FROM application WHERE coalesce(submitted, finished, (SELECT started FROM run WHERE run.run = \
             application.run)) < ?1",
            [moment.as_millis()],
        )?;
        changes.execute_batch(
            "DELETE FROM node_day WHERE applications = 0; DELETE FROM node WHERE node NOT IN (SELECT node FROM node_work); \
             DELETE FROM job WHERE job NOT IN (SELECT job FROM application); DELETE FROM configuration WHERE \
             configuration NOT IN (SELECT configuration FROM application WHERE configuration IS NOT NULL)",
        )?;
        changes.commit()?;
        // The file shrinks only if its free pages are released.
        self.connection.execute_batch("VACUUM")?;
        Ok(removed as u64)
    }
}
