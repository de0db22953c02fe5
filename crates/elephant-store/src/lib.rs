//! A database of applications: what was found in their histories, over months and over many runs of this program.
//!
//! [`Store::keep_changed`] stores what is found in histories; the other functions answer questions without opening one.
//! A record is one application in one file: ids are not unique across clusters and copies.

mod accepted;
mod address;
mod alerts;
mod answer;
mod configured;
mod copies;
mod costs;
mod database;
mod day;
mod export;
mod fleet;
mod flows;
mod groups;
mod ingest;
mod levels;
mod listing;
mod members;
mod nodes;
mod outcome;
mod per_month;
mod periods;
mod phases;
mod place;
mod priced;
mod pruned;
mod realised;
mod record;
mod remedies;
mod replaced;
mod runs;
mod saved;
mod schema;
mod search;
mod selection;
mod steps;
mod stored_report;
mod sums;
#[cfg(test)]
mod testing;
mod together;
mod unjudged;
mod visible;
mod whole_record;
mod writer;

use rusqlite::ErrorCode;
use thiserror::Error;

use database::Database;

use elephant_verdict::savings::Prices;

pub use accepted::{AcceptedRuns, Lack};
pub use address::local_path;
pub use alerts::WaitingAlert;
pub use answer::{Answer, Asked, Question, View};
pub use database::Interrupter;
#[cfg(feature = "postgres")]
pub use database::postgres::ServerError;
pub use export::{Column, Kind, TABLES, Table, Value};
pub use fleet::{Fleet, InPeriod, Ranked, Unread};
pub use flows::{Execution, FlowHistory, JobInTwo, OneExecution, Task};
pub use groups::{Group, Grouped, Grouping};
pub use ingest::Read;
pub use members::{LONGEST_MS, Member, MemberOf};
pub use nodes::{NodeSums, Nodes};
pub use per_month::PerMonth;
pub use periods::{OverTime, Periods};
pub use place::Place;
pub use realised::{Changed, Confidence, Realised};
pub use remedies::{Direction, Remedy};
pub use runs::{Change, Measure, Run, Runs, SettingChange};
pub use search::{Cursor, Matches, Matching, NoCursor, Order, Search};
pub use selection::Only;
pub use stored_report::AsJson;
pub use unjudged::{Unjudged, UnjudgedRun, UnreadFile};
pub use visible::Visible;
pub use whole_record::{
    JobHistory, RuleInRuns, StoredApplication, StoredFinding, StoredSetting, StoredTrouble,
};
pub use writer::Stored;

const MS_PER_HOUR: f64 = 3_600_000.0;
const MB_SECONDS_PER_GB_HOUR: f64 = 1024.0 * 3600.0;

/// Memory over time as the tables have it, in GB·h.
fn gb_hours(mb_seconds: u64) -> f64 {
    mb_seconds as f64 / MB_SECONDS_PER_GB_HOUR
}

/// Why a store cannot be used.
#[derive(Debug, Error)]
pub enum StoreError {
    /// There is no such file, or the database has no tables.
    #[error("there is no store {0}; `elephant-rs ingest --store {0} PATH…` makes it")]
    Missing(String),
    /// It is a database of another program.
    #[error("it is a database of another program; name another one")]
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
    /// There are changes that cannot be read without permission to write.
    #[error(
        "it has changes in {0}, which can be read only with permission to write to its folder; run the command as a \
         user who has it"
    )]
    Unfinished(String),
    /// Its tables are older, and cannot be changed.
    #[error(
        "its tables are those of an earlier version, and this user may not write to it; run the command once as a \
         user who may"
    )]
    Older,
    /// The address is of another kind.
    #[error("{0}:// is not a store of this program; name a file, or postgres://USER@HOST/NAME")]
    Unknown(String),
    /// This build has no client for PostgreSQL.
    #[cfg(not(feature = "postgres"))]
    #[error("this program was built without PostgreSQL; install one with the feature postgres")]
    NoClient,
    /// SQLite reports an error.
    #[error("{error}{remedy}", error = .0, remedy = remedy(.0))]
    Database(#[from] rusqlite::Error),
    /// The server reports an error.
    #[cfg(feature = "postgres")]
    #[error("{0}")]
    Server(#[from] database::postgres::ServerError),
    /// Stored settings are not in the form that this program writes.
    #[error(
        "the settings of an application cannot be read: {0}; another program changed them, so make a new store"
    )]
    Settings(serde_json::Error),
    /// Stored phases are not in the form that this program writes.
    #[error(
        "the phases of an application cannot be read: {0}; another program changed them, so make a new store"
    )]
    Phases(serde_json::Error),
    /// The server crashed, and an application that was stored is gone.
    #[error("the server crashed and lost the last applications that it had stored; run the command again")]
    Forgotten,
    /// Inserting a row returned no id.
    #[error("the database did not confirm a new row; run the command again")]
    Incomplete,
}

/// Advice for an error of SQLite; empty if there is none.
fn remedy(error: &rusqlite::Error) -> &'static str {
    match error.sqlite_error_code() {
        Some(ErrorCode::NotADatabase) => "; name another file",
        Some(ErrorCode::DatabaseCorrupt) => "; remove the file and ingest the histories again",
        Some(ErrorCode::ReadOnly) => "; run the command as a user who may write to the file and its folder",
        Some(ErrorCode::CannotOpen) => "; check that its folder exists, and the permissions",
        Some(ErrorCode::DiskFull) => "; free some space and run the command again",
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => {
            "; another program writes to it, so run the command again later"
        }
        _ => "",
    }
}

/// An open store.
pub struct Store {
    database: Database,
    /// The prices of cores and memory, if there are any.
    prices: Option<Prices>,
    /// The cluster of all histories that are read, if the user named it.
    cluster: Option<String>,
    /// Writes the whole reports that are stored, too.
    as_json: Option<AsJson>,
    /// All that is told of, if not all applications are.
    visible: Option<Visible>,
}

impl Store {
    /// Opens a store to write to it, and makes it if there is none.
    pub fn create(place: &Place) -> Result<Self, StoreError> {
        Self::with(place.create()?)
    }

    /// Opens a store that must exist. Older tables are brought up to date.
    pub fn open(place: &Place) -> Result<Self, StoreError> {
        Self::with(place.open()?).map_err(|error| match error {
            StoreError::Database(error) if error.sqlite_error_code() == Some(ErrorCode::ReadOnly) => {
                StoreError::Older
            }
            error => error,
        })
    }

    fn with(database: Database) -> Result<Self, StoreError> {
        schema::migrate(&database)?;
        Ok(Self { database, prices: None, cluster: None, as_json: None, visible: None })
    }

    /// Answers questions also with what applications cost.
    pub fn set_prices(&mut self, prices: Prices) {
        self.prices = Some(prices);
    }

    /// What stops the question that is being asked, from another thread; the question fails then.
    pub fn interrupter(&self) -> Result<Interrupter, StoreError> {
        self.database.backend().interrupter()
    }

    /// Stores what is read as that of this cluster. Its files are others than those of the same name in another cluster.
    pub fn set_cluster(&mut self, cluster: Option<String>) {
        self.cluster = cluster;
    }

    /// Stores the whole report on each application that is read, as JSON that this function writes.
    pub fn set_reports(&mut self, as_json: AsJson) {
        self.as_json = Some(as_json);
    }

    /// Writes made-up applications, `a_commit` of them in one transaction, for measurements.
    pub fn fill(
        &self,
        mut applications: impl Iterator<Item = elephant_engine::results::ApplicationReport>,
        a_commit: usize,
    ) -> Result<(), StoreError> {
        let run = self.database.insert(
            "INSERT INTO run (started, tool, rules_hash) VALUES (0, 'none', '') RETURNING run",
            &[],
        )?;
        loop {
            let some: Vec<_> = applications.by_ref().take(a_commit).collect();
            self.database.writing_part(|| {
                for app in &some {
                    let place = record::application(&self.database, run, app)?;
                    let json = self.as_json.and_then(|as_json| as_json(app).ok());
                    if let Some(report) = json.and_then(|json| stored_report::packed(&json)) {
                        stored_report::write(&self.database, place, &report)?;
                    }
                    writer::record_files(&self.database, run, &app.sources)?;
                }
                Ok(())
            })?;
            if some.len() < a_commit {
                self.choose_among_copies()?;
                self.compare_again()?;
                return self.database.backend().compact();
            }
        }
    }
}
