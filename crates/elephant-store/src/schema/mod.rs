//! The tables of a store, and their versions.

mod alerts;
#[cfg(feature = "postgres")]
pub(super) mod postgres;
pub(super) mod sqlite;

use super::database::{Contents, Database};
use super::{StoreError, sums};

/// The columns of sums over nodes, the same in both databases.
macro_rules! node_columns {
    () => {
        "
    applications BIGINT NOT NULL,
    attempts BIGINT NOT NULL,
    failed BIGINT NOT NULL,
    -- Of the applications whose times are known.
    task_time BIGINT NOT NULL,
    timed BIGINT NOT NULL,
    lost_executors BIGINT NOT NULL,
    node_failures BIGINT NOT NULL,
    compared BIGINT NOT NULL,
    stragglers BIGINT NOT NULL,
    score BIGINT NOT NULL,
    squares BIGINT NOT NULL"
    };
}
use node_columns;

/// The columns of sums over applications, the same in both databases.
macro_rules! sum_columns {
    () => {
        "
    applications BIGINT NOT NULL,
    failed BIGINT NOT NULL,
    unjudged BIGINT NOT NULL,
    -- Sums of what is known, and of how many applications it is.
    run_time BIGINT NOT NULL,
    timed BIGINT NOT NULL,
    used BIGINT NOT NULL,
    measured BIGINT NOT NULL,
    wasted BIGINT NOT NULL,
    compared BIGINT NOT NULL,
    core_time BIGINT NOT NULL,
    counted BIGINT NOT NULL,
    saved_memory BIGINT NOT NULL,
    saved_time BIGINT NOT NULL,
    -- Applications by their severity.
    low BIGINT NOT NULL,
    moderate BIGINT NOT NULL,
    severe BIGINT NOT NULL,
    critical BIGINT NOT NULL"
    };
}
use sum_columns;

macro_rules! more_sums {
    ($table:literal) => {
        concat!(
            "ALTER TABLE ",
            $table,
            " ADD COLUMN compared_used BIGINT NOT NULL DEFAULT 0;",
            "ALTER TABLE ",
            $table,
            " ADD COLUMN saving_memory BIGINT NOT NULL DEFAULT 0;",
            "ALTER TABLE ",
            $table,
            " ADD COLUMN saving_time BIGINT NOT NULL DEFAULT 0;",
        )
    };
}

/// Version 9, the same in both databases: the memory of applications whose waste is known, and of how many applications the
/// savings are known.
const NINTH: &str = concat!(more_sums!("group_day"), more_sums!("group_sum"), more_sums!("job_sum"),);

/// Version 10, the same in both databases: when a change was undone, its settings, and the core-hours of a run before and
/// after, from which its cost follows. All jobs are compared again.
const TENTH: &str = "
ALTER TABLE job_change ADD COLUMN settings TEXT NOT NULL DEFAULT '';
ALTER TABLE job_change ADD COLUMN undone BIGINT;
ALTER TABLE job_change ADD COLUMN cores_before DOUBLE PRECISION;
ALTER TABLE job_change ADD COLUMN cores_after DOUBLE PRECISION;
DELETE FROM job_change;
DELETE FROM stale_job;
INSERT INTO stale_job SELECT DISTINCT job FROM application WHERE configuration IS NOT NULL;
";

/// The columns of the sums to which prices are applied, the same in both databases.
macro_rules! cost_columns {
    () => {
        "
    -- Which amounts, and whether user and queue, are known: what they cost depends on it.
    known BIGINT NOT NULL,
    applications BIGINT NOT NULL,
    core_time BIGINT NOT NULL,
    used BIGINT NOT NULL,
    saved_core_time BIGINT NOT NULL,
    saved_memory BIGINT NOT NULL,
    PRIMARY KEY (kind, key, engine, status, \"user\", queue, known)"
    };
}
use cost_columns;

/// Version 11, the same in both databases: the times of which only an upper limit is known are apart from the savings
/// that are expected. What earlier versions stored is read again.
const ELEVENTH: &str = "
ALTER TABLE application ADD COLUMN limit_time BIGINT;
ALTER TABLE trouble ADD COLUMN limit_time BIGINT;
ALTER TABLE group_day ADD COLUMN limit_time BIGINT NOT NULL DEFAULT 0;
ALTER TABLE group_sum ADD COLUMN limit_time BIGINT NOT NULL DEFAULT 0;
ALTER TABLE job_sum ADD COLUMN limit_time BIGINT NOT NULL DEFAULT 0;
UPDATE run SET tool = '';
";

/// Version 13, the same in both databases: what each advised setting saves. What earlier versions stored is read again.
const THIRTEENTH: &str = "
ALTER TABLE setting ADD COLUMN saved_memory BIGINT;
ALTER TABLE setting ADD COLUMN saved_time BIGINT;
ALTER TABLE setting_sum ADD COLUMN saved_memory BIGINT NOT NULL DEFAULT 0;
ALTER TABLE setting_sum ADD COLUMN saved_time BIGINT NOT NULL DEFAULT 0;
ALTER TABLE setting_sum ADD COLUMN saving_memory BIGINT NOT NULL DEFAULT 0;
ALTER TABLE setting_sum ADD COLUMN saving_time BIGINT NOT NULL DEFAULT 0;
UPDATE run SET tool = '';
";

/// Version 14, the same in both databases: the cluster of each application, the attempts of its tasks and what its phases
/// read; whole reports; severities in a larger run; copies among which to choose, and hashes of applications that were removed as old;
/// and how sure a change is, and what a run read before and after. Files have absolute addresses. What earlier versions
/// stored is read again.
macro_rules! fourteenth {
    ($text:literal, $bytes:literal, $file:literal) => {
        concat!(
            "
ALTER TABLE application ADD COLUMN cluster ",
            $text,
            ";
ALTER TABLE application ADD COLUMN attempts BIGINT;
ALTER TABLE application ADD COLUMN phases ",
            $text,
            ";
ALTER TABLE finding ADD COLUMN in_larger_run BIGINT;
CREATE TABLE undecided (
    id ",
            $text,
            " NOT NULL,
    attempt ",
            $text,
            " NOT NULL,
    PRIMARY KEY (id, attempt)
);
CREATE TABLE pruned (application BIGINT NOT NULL PRIMARY KEY);
CREATE TABLE report (
    application BIGINT NOT NULL PRIMARY KEY REFERENCES application ON DELETE CASCADE,
    json ",
            $bytes,
            " NOT NULL
);
ALTER TABLE job_change ADD COLUMN p DOUBLE PRECISION;
ALTER TABLE job_change ADD COLUMN input_before DOUBLE PRECISION;
ALTER TABLE job_change ADD COLUMN input_after DOUBLE PRECISION;
UPDATE application SET source = 'file://' || source WHERE substr(source, 1, 1) = '/';
",
            $file,
            "
DELETE FROM job_change;
DELETE FROM stale_job;
INSERT INTO stale_job SELECT DISTINCT job FROM application WHERE configuration IS NOT NULL;
UPDATE run SET tool = '';
"
        )
    };
}
use fourteenth;

/// Version 15, the same in both databases: what a scheduler calls each application, why a history is incomplete, the kinds
/// of failures, and killed applications in sums. What earlier versions stored is read again.
macro_rules! fifteenth {
    ($text:literal) => {
        concat!(
            "ALTER TABLE application ADD COLUMN scheduler ",
            $text,
            ";ALTER TABLE application ADD COLUMN flow ",
            $text,
            ";ALTER TABLE application ADD COLUMN flow_run ",
            $text,
            ";ALTER TABLE application ADD COLUMN task ",
            $text,
            ";ALTER TABLE application ADD COLUMN owner ",
            $text,
            ";ALTER TABLE application ADD COLUMN link ",
            $text,
            ";ALTER TABLE application ADD COLUMN incomplete ",
            $text,
            ";ALTER TABLE trouble ADD COLUMN failure ",
            $text,
            ";
ALTER TABLE group_day ADD COLUMN killed BIGINT NOT NULL DEFAULT 0;
ALTER TABLE group_sum ADD COLUMN killed BIGINT NOT NULL DEFAULT 0;
ALTER TABLE job_sum ADD COLUMN killed BIGINT NOT NULL DEFAULT 0;
CREATE INDEX application_of_flow ON application (flow, submitted) WHERE flow IS NOT NULL;
CREATE INDEX application_unjudged ON application (counts, submitted) WHERE NOT judged;
UPDATE run SET tool = '';
"
        )
    };
}
use fifteenth;

/// Version 17, the same in both databases: changes of a job are those on one cluster, so that all jobs are compared again.
macro_rules! seventeenth {
    ($text:literal) => {
        concat!(
            "ALTER TABLE job_change ADD COLUMN cluster ",
            $text,
            ";
DELETE FROM job_change;
DELETE FROM stale_job;
INSERT INTO stale_job SELECT DISTINCT job FROM application WHERE configuration IS NOT NULL;
"
        )
    };
}
use seventeenth;

/// Version 18, the same in both databases: the queries of each application that took longest. What earlier versions stored
/// is read again.
macro_rules! eighteenth {
    ($text:literal, $whole:literal, $end:literal) => {
        concat!(
            "CREATE TABLE query (
    application ",
            $whole,
            " NOT NULL REFERENCES application ON DELETE CASCADE,
    n ",
            $whole,
            " NOT NULL,
    id ",
            $whole,
            " NOT NULL,
    root ",
            $whole,
            ",
    name ",
            $text,
            " NOT NULL,
    -- A hash of what it computes.
    computes ",
            $text,
            ",
    started ",
            $whole,
            ",
    -- From its start to its end, and the parts of it.
    wall ",
            $whole,
            ",
    planning ",
            $whole,
            ",
    jobs ",
            $whole,
            ",
    between_jobs ",
            $whole,
            ",
    after_jobs ",
            $whole,
            ",
    task_time ",
            $whole,
            ",
    input ",
            $whole,
            ",
    shuffled ",
            $whole,
            ",
    spilled ",
            $whole,
            ",
    output ",
            $whole,
            ",
    stages ",
            $whole,
            " NOT NULL,
    error ",
            $text,
            ",
    PRIMARY KEY (application, n)
)",
            $end,
            ";
UPDATE run SET tool = '';
"
        )
    };
}
use eighteenth;

/// The first version that keeps all sums. They are computed from the rows of earlier ones.
const FIRST_WITH_SUMS: i64 = 15;

/// Makes the tables, or brings older ones up to date. If they are up to date, nothing is written, so that readers need
/// no lock.
pub(super) fn migrate(database: &Database) -> Result<(), StoreError> {
    let (before_first, migrations) = database.backend().migrations();
    let latest = before_first + i64::try_from(migrations.len()).unwrap_or(i64::MAX);
    if check(database.contents()?, latest)? == Some(latest) {
        return Ok(());
    }
    // Two programs may open a new store at the same time: only one of them makes the tables.
    database.writing(|| {
        let version = check(database.backend().contents()?, latest)?.unwrap_or(before_first);
        let done = usize::try_from(version - before_first).unwrap_or_default();
        for statements in migrations.iter().skip(done) {
            database.backend().batch(statements)?;
        }
        if version < FIRST_WITH_SUMS {
            sums::compute(database)?;
        }
        database.backend().set_version(latest)
    })
}

/// Makes the empty tables of an earlier version.
#[cfg(test)]
pub(super) fn migrate_until(database: &Database, version: i64) -> Result<(), StoreError> {
    let (before_first, migrations) = database.backend().migrations();
    database.writing(|| {
        let count = usize::try_from(version - before_first).unwrap_or_default();
        migrations.iter().take(count).try_for_each(|statements| database.backend().batch(statements))?;
        database.backend().set_version(version)
    })
}

/// The version of a store, if there is one that this program can use.
fn check(contents: Contents, latest: i64) -> Result<Option<i64>, StoreError> {
    match contents {
        Contents::Nothing => Ok(None),
        Contents::Foreign => Err(StoreError::Foreign),
        Contents::Store(version) if version > latest => Err(StoreError::Newer { version, latest }),
        Contents::Store(version) => Ok(Some(version)),
    }
}

#[cfg(test)]
mod tests;
