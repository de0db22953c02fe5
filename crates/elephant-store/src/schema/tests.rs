use rusqlite::Connection;

use super::sqlite::MIGRATIONS;
use super::*;
use crate::database::sqlite::{APPLICATION_ID, Sqlite};
use crate::database::values;
use crate::testing::databases;

/// A store of this version of SQLite, with the rows that these statements insert.
fn old(version: usize, rows: &str) -> Database {
    let connection = Connection::open_in_memory().unwrap();
    for statements in MIGRATIONS.iter().take(version) {
        connection.execute_batch(statements).unwrap();
    }
    let mark = format!("PRAGMA application_id = {APPLICATION_ID}; PRAGMA user_version = {version}; {rows}");
    connection.execute_batch(&mark).unwrap();
    Database::new(Sqlite::with(connection).unwrap())
}

const RUN: &str = "INSERT INTO run VALUES (1, 0, '0.1.0', 'hash', 5);";

#[test]
fn a_store_of_the_first_version_is_brought_up_to_date_and_read_again() {
    let database = old(1, RUN);
    migrate(&database).unwrap();
    migrate(&database).unwrap();
    assert_eq!(database.backend().contents().unwrap(), Contents::Store(18));
    // No version of this program is empty, so every file counts as changed.
    assert_eq!(database.count("SELECT count(*) FROM run WHERE tool = ''", &[]).unwrap(), 1);
    database.execute("INSERT INTO configuration (settings) VALUES ('{}')", &[]).unwrap();
}

#[test]
fn a_store_of_the_fourth_version_keeps_its_applications_and_is_read_again() {
    let rows = format!(
        "{RUN} INSERT INTO job VALUES (1, 'spark · etl', 'spark', 'etl'); INSERT INTO application (id, attempt, source, \
         files, run, job, engine, status, complete, judged, submitted, severity, score) VALUES ('app_1', '', 'logs/app_1', \
         1, 1, 1, 'spark', 'succeeded', 1, 1, 86400000, 1, 2); INSERT INTO finding VALUES (1, 0, 'spark-executor-gc', 1, \
         '', 'slow');"
    );
    let database = old(4, &rows);
    migrate(&database).unwrap();
    let count = |query: &str| database.count(&format!("SELECT count(*) FROM {query}"), &[]).unwrap();
    assert_eq!(count("run WHERE tool = ''"), 1);
    // Unknown until the file is read again.
    assert_eq!(count("application WHERE nodes IS NULL"), 1);
    assert_eq!(count("finding WHERE value IS NULL"), 1);
    assert_eq!(
        count("group_day WHERE kind = 'rule' AND key = 'spark-executor-gc' AND day = 1 AND low = 1"),
        1
    );
    assert_eq!(count("job_sum WHERE job = 1 AND applications = 1"), 1);
}

#[test]
fn sums_of_a_store_of_the_fifth_version_are_computed() {
    let rows = format!(
        "{RUN} INSERT INTO job VALUES (1, 'spark · etl', 'spark', 'etl'); INSERT INTO node VALUES (7, 'n7'); INSERT INTO \
         application (id, attempt, source, files, run, job, engine, status, complete, judged, severity, score) VALUES \
         ('app_1', '', 'logs/app_1', 1, 1, 1, 'spark', 'succeeded', 1, 1, 1, 2), ('app_2', '', 'logs/app_2', 1, 1, 1, \
         'spark', 'failed', 1, 1, 1, 2); INSERT INTO node_work VALUES (1, 7, 9, 2, 5, 0, 0, 7, 1, 3, 4), (2, 7, 1, 1, NULL, \
         0, 0, 0, 0, 0, 0);"
    );
    let database = old(5, &rows);
    migrate(&database).unwrap();
    let count = |query: &str| database.count(&format!("SELECT count(*) FROM {query}"), &[]).unwrap();
    assert_eq!(
        count("node_sum WHERE node = 7 AND applications = 2 AND attempts = 10 AND failed = 3 AND timed = 1"),
        1
    );
    assert_eq!(count("node_day WHERE day = -1 AND task_time = 5"), 1);
    assert_eq!(count("group_sum WHERE kind = 'status' AND key = 'failed' AND failed = 1"), 1);
}

#[test]
fn other_and_newer_databases_are_left_alone() {
    for database in databases() {
        database.backend().batch("CREATE TABLE notes (note TEXT)").unwrap();
        assert!(matches!(migrate(&database), Err(StoreError::Foreign)));
        assert_eq!(database.count("SELECT count(*) FROM notes", &[]).unwrap(), 0);
    }
    for database in databases() {
        migrate(&database).unwrap();
        database.backend().set_version(99).unwrap();
        assert!(matches!(migrate(&database), Err(StoreError::Newer { version: 99, latest: 18 })));
    }
}

/// The columns of each table, in the order of the tables' names.
fn columns(database: &Database, query: &str) -> Vec<(String, String)> {
    let mut columns =
        database.rows(query, &[], |row| Ok((row.get::<String>(0)?, row.get::<String>(1)?))).unwrap();
    columns.sort();
    columns
}

#[test]
fn both_databases_have_the_same_tables() {
    let queries = [
        "SELECT t.name, c.name FROM sqlite_schema AS t, pragma_table_info(t.name) AS c WHERE t.type = 'table'",
        "SELECT CAST(table_name AS TEXT), CAST(column_name AS TEXT) FROM information_schema.columns WHERE table_schema = \
         'public' AND table_name <> 'store'",
    ];
    let tables: Vec<_> = databases()
        .iter()
        .zip(queries)
        .map(|(database, query)| {
            migrate(database).unwrap();
            columns(database, query)
        })
        .collect();
    assert!(tables[0].len() > 100);
    assert!(tables.windows(2).all(|pair| pair[0] == pair[1]), "{tables:?}");
}

#[test]
fn changes_are_made_together_or_not_at_all() {
    for database in databases() {
        migrate(&database).unwrap();
        let insert = || {
            database.insert(
                "INSERT INTO job (key, engine, name) VALUES (?1, ?2, ?3) RETURNING job",
                &values!["etl", "spark", None::<&str>],
            )
        };
        let failed = database.writing(|| {
            insert()?;
            // The key is unique.
            insert()
        });
        assert!(failed.is_err());
        assert_eq!(database.count("SELECT count(*) FROM job", &[]).unwrap(), 0);
        database.writing(insert).unwrap();
        assert_eq!(database.count("SELECT count(*) FROM job WHERE name IS NULL", &[]).unwrap(), 1);
    }
}
