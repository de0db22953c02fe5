//! The tables of a store in SQLite.

use super::alerts::alert_tables;
use super::{
    ELEVENTH, NINTH, TENTH, THIRTEENTH, cost_columns, eighteenth, fifteenth, fourteenth, node_columns,
    seventeenth, sum_columns,
};

/// The statements that lead from each version of the schema to the next. Released ones never change.
pub(crate) const MIGRATIONS: &[&str] = &[
    FIRST,
    SECOND,
    THIRD,
    FOURTH,
    FIFTH,
    SIXTH,
    SEVENTH,
    EIGHTH,
    NINTH,
    TENTH,
    ELEVENTH,
    TWELFTH,
    THIRTEENTH,
    FOURTEENTH,
    FIFTEENTH,
    ALERTS,
    SEVENTEENTH,
    EIGHTEENTH,
];

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

/// Version 3: the etags of objects. Objects that were read before are compared by size and time.
const THIRD: &str = "ALTER TABLE file ADD COLUMN etag TEXT";

/// Version 4: the applications that waste most are found without sorting all of them.
const FOURTH: &str = "CREATE INDEX application_by_waste ON application (counts, wasted DESC, score DESC)";

/// A trigger that adds rows to the sums by node and day.
macro_rules! adds_to_node_day {
    ($event:literal, $rows:literal) => {
        concat!(
            "CREATE TRIGGER ",
            $event,
            " BEGIN INSERT INTO node_day ",
            $rows,
            " ON CONFLICT (node, day, engine) DO UPDATE SET applications = applications + excluded.applications, attempts = \
             attempts + excluded.attempts, failed = failed + excluded.failed, task_time = task_time + \
             excluded.task_time, timed = timed + excluded.timed, lost_executors = lost_executors + \
             excluded.lost_executors, node_failures = node_failures + excluded.node_failures, compared = compared + \
             excluded.compared, stragglers = stragglers + excluded.stragglers, score = score + excluded.score, \
             squares = squares + excluded.squares; END;"
        )
    };
}

/// Version 5: what each application did on each node, and what the gate compares with later runs. What earlier versions
/// stored is read again.
///
/// Sums over all applications on a node would read many millions of rows. So `node_day` has them by day of submission.
/// Triggers keep it up to date when code adds, removes or chooses an application. Its rows are added with the sign of
/// the change. Day -1 is that of unknown submissions.
const FIFTH: &str = concat!(
    "
ALTER TABLE application ADD COLUMN task_time INTEGER;
ALTER TABLE application ADD COLUMN failed_attempts INTEGER;
ALTER TABLE application ADD COLUMN input INTEGER;
-- How many nodes are known.
ALTER TABLE application ADD COLUMN nodes INTEGER;
ALTER TABLE finding ADD COLUMN measure TEXT;
ALTER TABLE finding ADD COLUMN value REAL;
CREATE INDEX application_without_nodes ON application (counts, submitted) WHERE nodes IS NULL;
CREATE TABLE node (
    node INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE
);
CREATE TABLE node_work (
    application INTEGER NOT NULL REFERENCES application ON DELETE CASCADE,
    node INTEGER NOT NULL REFERENCES node,
    attempts INTEGER NOT NULL,
    failed INTEGER NOT NULL,
    task_time INTEGER,
    lost_executors INTEGER NOT NULL,
    node_failures INTEGER NOT NULL,
    compared INTEGER NOT NULL,
    stragglers INTEGER NOT NULL,
    score INTEGER NOT NULL,
    squares INTEGER NOT NULL,
    PRIMARY KEY (application, node)
) WITHOUT ROWID;
CREATE TABLE node_day (
    node INTEGER NOT NULL REFERENCES node,
    day INTEGER NOT NULL,
    engine TEXT NOT NULL,
    applications INTEGER NOT NULL,
    attempts INTEGER NOT NULL,
    failed INTEGER NOT NULL,
    -- Of the applications whose times are known.
    task_time INTEGER NOT NULL,
    timed INTEGER NOT NULL,
    lost_executors INTEGER NOT NULL,
    node_failures INTEGER NOT NULL,
    compared INTEGER NOT NULL,
    stragglers INTEGER NOT NULL,
    score INTEGER NOT NULL,
    squares INTEGER NOT NULL,
    PRIMARY KEY (node, day, engine)
) WITHOUT ROWID;
",
    adds_to_node_day!(
        "node_work_added AFTER INSERT ON node_work",
        "SELECT NEW.node, coalesce(submitted / 86400000, -1), engine, 1, NEW.attempts, NEW.failed, coalesce(NEW.task_time, 0), \
         NEW.task_time IS NOT NULL, NEW.lost_executors, NEW.node_failures, NEW.compared, NEW.stragglers, NEW.score, \
         NEW.squares FROM application WHERE application = NEW.application AND counts"
    ),
    adds_to_node_day!(
        "application_removed BEFORE DELETE ON application WHEN OLD.counts",
        "SELECT node, coalesce(OLD.submitted / 86400000, -1), OLD.engine, -1, -attempts, -failed, -coalesce(task_time, 0), \
         -(task_time IS NOT NULL), -lost_executors, -node_failures, -compared, -stragglers, -score, -squares FROM \
         node_work WHERE application = OLD.application"
    ),
    adds_to_node_day!(
        "application_chosen AFTER UPDATE OF counts ON application WHEN OLD.counts <> NEW.counts",
        "SELECT node, coalesce(NEW.submitted / 86400000, -1), NEW.engine, sign, sign * attempts, sign * failed, sign * \
         coalesce(task_time, 0), sign * (task_time IS NOT NULL), sign * lost_executors, sign * node_failures, sign * \
         compared, sign * stragglers, sign * score, sign * squares FROM node_work, (SELECT NEW.counts - OLD.counts AS \
         sign) WHERE application = NEW.application"
    ),
    "UPDATE run SET tool = '';"
);

/// Version 6: sums of groups, by day and over all days, and of nodes over all days. The program keeps them up to date
/// itself, because triggers differ between databases. It fills them after these statements.
const SIXTH: &str = concat!(
    "
DROP TRIGGER node_work_added;
DROP TRIGGER application_removed;
DROP TRIGGER application_chosen;
DROP INDEX application_by_time;
CREATE INDEX application_by_time ON application (counts, submitted);
CREATE TABLE node_sum (
    node INTEGER NOT NULL REFERENCES node,
    engine TEXT NOT NULL,",
    node_columns!(),
    ",
    PRIMARY KEY (node, engine)
) WITHOUT ROWID;
CREATE TABLE job_sum (
    job INTEGER NOT NULL PRIMARY KEY REFERENCES job,",
    sum_columns!(),
    "
) WITHOUT ROWID;
-- By user, queue, status, kind of trouble or rule, or of all applications. Unknown keys are empty and not known.
CREATE TABLE group_sum (
    kind TEXT NOT NULL,
    known INTEGER NOT NULL,
    key TEXT NOT NULL,
    engine TEXT NOT NULL,",
    sum_columns!(),
    ",
    PRIMARY KEY (kind, known, key, engine)
) WITHOUT ROWID;
CREATE TABLE group_day (
    kind TEXT NOT NULL,
    known INTEGER NOT NULL,
    key TEXT NOT NULL,
    day INTEGER NOT NULL,
    engine TEXT NOT NULL,",
    sum_columns!(),
    ",
    PRIMARY KEY (kind, known, key, day, engine)
) WITHOUT ROWID;
"
);

/// Version 7: what is recommended to the applications of each job, and with which configurations they ran. The program
/// fills these sums, too.
const SEVENTH: &str = "
CREATE INDEX long_setting ON setting (application)
    WHERE (length(name) > 200 OR length(coalesce(old, '')) > 200 OR length(new) > 200);
CREATE TABLE setting_sum (
    job INTEGER NOT NULL,
    name TEXT NOT NULL,
    -- Whether the setting has a value now; otherwise `old` is empty.
    known INTEGER NOT NULL,
    old TEXT NOT NULL,
    new TEXT NOT NULL,
    applications INTEGER NOT NULL,
    PRIMARY KEY (job, name, known, old, new)
) WITHOUT ROWID;
CREATE TABLE configuration_sum (
    job INTEGER NOT NULL,
    configuration INTEGER NOT NULL,
    applications INTEGER NOT NULL,
    PRIMARY KEY (job, configuration)
) WITHOUT ROWID;
";

/// Version 8: the changes of configurations after which jobs cost more or less, and the jobs that must be compared again
/// because they got or lost runs. All of them have, at first.
const EIGHTH: &str = "
CREATE INDEX unread_file ON file (run) WHERE problem IS NOT NULL;
CREATE TABLE stale_job (job INTEGER NOT NULL PRIMARY KEY) WITHOUT ROWID;
INSERT INTO stale_job SELECT DISTINCT job FROM application WHERE configuration IS NOT NULL;
CREATE TABLE job_change (
    job INTEGER NOT NULL,
    n INTEGER NOT NULL,
    old INTEGER NOT NULL,
    new INTEGER NOT NULL,
    -- The first run with the new configuration.
    first TEXT NOT NULL,
    since INTEGER,
    -- Runs that are compared, and their medians: memory in GB·h, and milliseconds.
    runs_before INTEGER NOT NULL,
    runs_after INTEGER NOT NULL,
    used_before REAL NOT NULL,
    used_after REAL NOT NULL,
    time_before INTEGER,
    time_after INTEGER,
    PRIMARY KEY (job, n)
) WITHOUT ROWID;
";

/// Version 12: sums for prices by job and status, kind of trouble, or rule, which the program fills; and the applications
/// with findings of a rule are found without reading all findings.
const TWELFTH: &str = concat!(
    r#"
CREATE INDEX finding_by_rule ON finding (rule);
CREATE TABLE cost_sum (
    kind TEXT NOT NULL,
    key TEXT NOT NULL,
    engine TEXT NOT NULL,
    status TEXT NOT NULL,
    "user" TEXT NOT NULL,
    queue TEXT NOT NULL,"#,
    cost_columns!(),
    "
) WITHOUT ROWID;
"
);

const FOURTEENTH: &str = fourteenth!(
    "TEXT",
    "BLOB",
    "UPDATE file SET path = CAST('file://' || path AS BLOB) WHERE substr(path, 1, 1) = x'2f';"
);

const FIFTEENTH: &str = fifteenth!("TEXT");

/// Version 16: alerts.
const ALERTS: &str = alert_tables!("TEXT");

const SEVENTEENTH: &str = seventeenth!("TEXT");

const EIGHTEENTH: &str = eighteenth!("TEXT", "INTEGER", " WITHOUT ROWID");
