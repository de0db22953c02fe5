//! The tables of a store, and their versions.

use rusqlite::Connection;

use super::StoreError;

/// Marks a file as a store, so that no other database is changed: "elep" in ASCII.
const APPLICATION_ID: i32 = 0x656c_6570;

/// The statements that lead from each version of the schema to the next. Released ones never change.
const MIGRATIONS: &[&str] = &[FIRST, SECOND, THIRD, FOURTH];

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

/// Version 2: the settings that each application ran with, as far as they decide what it costs. Applications with the same
/// ones share them. What version 1 stored is read again.
const SECOND: &str = "
CREATE TABLE configuration (
    configuration INTEGER PRIMARY KEY,
    -- Names and values as JSON, in order of the names.
    settings TEXT NOT NULL UNIQUE
);
ALTER TABLE application ADD COLUMN configuration INTEGER REFERENCES configuration;
CREATE INDEX application_by_configuration ON application (job, configuration);
UPDATE run SET tool = '';
";

/// Version 3: what a storage calls the content of an object. Objects that were read before count by size and time.
const THIRD: &str = "ALTER TABLE file ADD COLUMN etag TEXT";

/// Version 4: the applications that waste most are found without sorting all of them.
const FOURTH: &str = "CREATE INDEX application_by_waste ON application (counts, wasted DESC, score DESC)";

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_store_of_the_first_version_is_brought_up_to_date_and_read_again() {
        let mut connection = Connection::open_in_memory().unwrap();
        connection.execute_batch(FIRST).unwrap();
        connection
            .execute_batch(&format!("PRAGMA application_id = {APPLICATION_ID}; PRAGMA user_version = 1"))
            .unwrap();
        connection.execute("INSERT INTO run VALUES (1, 0, '0.1.0', 'hash', 5)", []).unwrap();
        migrate(&mut connection).unwrap();
        migrate(&mut connection).unwrap();
        let version: i64 = connection.query_row("PRAGMA user_version", [], |row| row.get(0)).unwrap();
        assert_eq!(version, 4);
        // No version of this program is empty, so every file counts as changed.
        let tool: String = connection.query_row("SELECT tool FROM run", [], |row| row.get(0)).unwrap();
        assert_eq!(tool, "");
        connection.execute("INSERT INTO configuration (settings) VALUES ('{}')", []).unwrap();
    }
}
