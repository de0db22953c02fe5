//! The tables of a store, and their versions.

use rusqlite::Connection;

use super::StoreError;

/// Marks a file as a store, so that no other database is changed: "elep" in ASCII.
const APPLICATION_ID: i32 = 0x656c_6570;

/// The statements that lead from each version of the schema to the next. Released ones never change.
const MIGRATIONS: &[&str] = &[FIRST];

/// Version 1. Times are milliseconds since 1970 in UTC, durations milliseconds, memory over time MiB·s,
/// cores over time core milliseconds: whole numbers, so that no sum depends on the order. Unknown is NULL.
const FIRST: &str = "
CREATE TABLE run (
    run INTEGER PRIMARY KEY,
    started INTEGER NOT NULL,
    tool TEXT NOT NULL,
    rules_hash TEXT NOT NULL,
    finished INTEGER
);
CREATE TABLE file (
    path BLOB PRIMARY KEY,
    size INTEGER NOT NULL,
    modified INTEGER,
    run INTEGER NOT NULL REFERENCES run,
    problem TEXT
) WITHOUT ROWID;
CREATE TABLE job (
    job INTEGER PRIMARY KEY,
    key TEXT NOT NULL UNIQUE,
    engine TEXT NOT NULL,
    name TEXT
);
CREATE TABLE application (
    application INTEGER PRIMARY KEY,
    id TEXT NOT NULL,
    attempt TEXT NOT NULL,
    source TEXT NOT NULL,
    -- How many files it was read from.
    files INTEGER NOT NULL,
    run INTEGER NOT NULL REFERENCES run,
    job INTEGER NOT NULL REFERENCES job,
    engine TEXT NOT NULL,
    name TEXT,
    user TEXT,
    queue TEXT,
    status TEXT NOT NULL,
    complete INTEGER NOT NULL,
    judged INTEGER NOT NULL,
    -- Of several copies of one run, in other folders or encodings, one counts.
    counts INTEGER NOT NULL DEFAULT 1,
    submitted INTEGER,
    finished INTEGER,
    run_time INTEGER,
    severity INTEGER NOT NULL,
    score INTEGER NOT NULL,
    tasks INTEGER,
    used INTEGER,
    wasted INTEGER,
    core_time INTEGER,
    saved_time INTEGER,
    saved_memory INTEGER,
    saved_core_time INTEGER,
    UNIQUE (id, attempt, source)
);
CREATE INDEX application_of_job ON application (job, submitted);
CREATE INDEX application_by_time ON application (submitted);
CREATE INDEX application_by_source ON application (source);
-- Sums read this, not the rows.
CREATE INDEX application_sums ON application (counts, user, queue, job, engine, status, submitted, judged, run_time, used,
    wasted, core_time, saved_memory, saved_time, severity, score);
CREATE TABLE finding (
    application INTEGER NOT NULL REFERENCES application ON DELETE CASCADE,
    n INTEGER NOT NULL,
    rule TEXT NOT NULL,
    severity INTEGER NOT NULL,
    subject TEXT NOT NULL,
    message TEXT NOT NULL,
    PRIMARY KEY (application, n)
) WITHOUT ROWID;
CREATE TABLE trouble (
    application INTEGER NOT NULL REFERENCES application ON DELETE CASCADE,
    n INTEGER NOT NULL,
    kind TEXT NOT NULL,
    severity INTEGER NOT NULL,
    cause TEXT NOT NULL,
    remedy TEXT,
    -- The shares of the savings; NULL is unknown.
    saved_time INTEGER,
    saved_memory INTEGER,
    PRIMARY KEY (application, n)
) WITHOUT ROWID;
CREATE TABLE setting (
    application INTEGER NOT NULL REFERENCES application ON DELETE CASCADE,
    n INTEGER NOT NULL,
    name TEXT NOT NULL,
    old TEXT,
    new TEXT NOT NULL,
    PRIMARY KEY (application, n)
) WITHOUT ROWID;
";

/// Brings the tables up to date.
pub(super) fn migrate(connection: &mut Connection) -> Result<(), StoreError> {
    let latest = i64::try_from(MIGRATIONS.len()).unwrap_or(i64::MAX);
    // Two programs may open a new store at the same time: only one of them makes the tables.
    let changes = connection.transaction_with_behavior(rusqlite::TransactionBehavior::Immediate)?;
    let number =
        |pragma: &str| changes.query_row(&format!("PRAGMA {pragma}"), [], |row| row.get::<_, i64>(0));
    let (owner, version) = (number("application_id")?, number("user_version")?);
    let tables: i64 = changes.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))?;
    if owner != i64::from(APPLICATION_ID) && (owner != 0 || version != 0 || tables != 0) {
        return Err(StoreError::Foreign);
    }
    if version > latest {
        return Err(StoreError::Newer { version, latest });
    }
    for statements in MIGRATIONS.iter().skip(usize::try_from(version).unwrap_or_default()) {
        changes.execute_batch(statements)?;
    }
    if version < latest || owner == 0 {
        changes.execute_batch(&format!(
            "PRAGMA application_id = {APPLICATION_ID}; PRAGMA user_version = {latest}"
        ))?;
    }
    changes.commit()?;
    Ok(())
}
