//! The database of a store: a file of SQLite, or a server of PostgreSQL.
//!
//! Statements are written once, in the SQL that both understand: `?1` for values, `RETURNING`, `ON CONFLICT`,
//! `IS NOT DISTINCT FROM`, explicit `NULLS FIRST` or `LAST`, whole numbers as `BIGINT`, and `"user"` in quotes. Whatever
//! differs is a function of [`Backend`].

#[cfg(feature = "postgres")]
pub(super) mod postgres;
mod row;
pub(super) mod sqlite;
mod value;

use std::borrow::Cow;
use std::path::Path;
use std::time::Duration;

use super::StoreError;
use elephant_engine::engine::Filter;

pub(super) use row::Row;
pub(super) use value::{Value, values};

/// How long a writer waits for another one.
const PATIENCE: Duration = Duration::from_secs(60);

/// How often a transaction is tried if it fails for a transient reason.
const MOST_TRIES: u32 = 5;

/// Rows that one statement inserts. Statements are kept by their text, so there is one for each number of rows.
const ROWS_AT_ONCE: usize = 64;

/// The mode of a transaction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mode {
    /// All its queries see the same state.
    Read,
    /// Only one at a time: other writers wait, readers do not.
    Write,
    /// As `Write`, but without waiting for the disk: if the server crashes, the last of these may be lost. The next
    /// `Write` makes all of them durable.
    Part,
}

/// What a database contains.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Contents {
    Nothing,
    /// Tables of another program.
    Foreign,
    /// A store whose tables have this version.
    Store(i64),
}

/// Takes a row, and returns whether it wants more.
pub(super) type Visit<'v> = &'v mut dyn FnMut(&Row<'_>) -> Result<bool, StoreError>;

/// Stops the statement that a database is running, from another thread; it fails then.
pub type Interrupter = Box<dyn Fn() + Send>;

/// The differences between databases.
pub(super) trait Backend: Send {
    /// Runs a statement, and returns how many rows it changed.
    fn execute(&self, sql: &str, values: &[Value<'_>]) -> Result<u64, StoreError>;
    /// Runs a statement. A failure may be reported by a later call, at the latest by the one that ends the transaction.
    fn send(&self, sql: &str, values: &[Value<'_>]) -> Result<(), StoreError>;
    /// Passes the rows of a query to `visit`, which may not use the database.
    fn visit(&self, sql: &str, values: &[Value<'_>], visit: Visit<'_>) -> Result<(), StoreError>;
    /// Runs several statements without values.
    fn batch(&self, sql: &str) -> Result<(), StoreError>;
    fn begin(&self, mode: Mode) -> Result<(), StoreError>;
    /// How often a lost connection was re-established.
    fn reconnections(&self) -> u32;
    /// Whether the failed transaction may succeed if it is tried again. Reconnects if the connection was lost.
    fn recovers_from(&self, error: &StoreError) -> bool;
    fn contents(&self) -> Result<Contents, StoreError>;
    /// Marks the database as a store of this version.
    fn set_version(&self, version: i64) -> Result<(), StoreError>;
    /// The version before the first migration, and the statements that lead from each version to the next.
    fn migrations(&self) -> (i64, &'static [&'static str]);
    /// The SQL after a column that must have one of these ids, and its values. The statement must have no other values.
    fn among_ids(&self, ids: &[i64]) -> (String, Vec<Value<'static>>);
    /// The same for texts.
    fn among_texts<'v>(&self, texts: Vec<Cow<'v, str>>) -> (String, Vec<Value<'v>>);
    /// A condition, with its values, for the applications that meet the condition `among` and match the patterns of
    /// `filter`.
    fn admitted(
        &self,
        filter: Filter,
        among: (&str, &[Value<'static>]),
    ) -> Result<(String, Vec<Value<'static>>), StoreError>;
    /// The SQL after a column with the id of an application that must meet `condition`, and its values. The statement
    /// must have no other values.
    fn chosen(
        &self,
        condition: &str,
        values: &[Value<'static>],
    ) -> Result<(String, Vec<Value<'static>>), StoreError> {
        Ok((chosen_by(condition), values.to_vec()))
    }
    /// What stops the statement that runs.
    fn interrupter(&self) -> Result<Interrupter, StoreError>;
    /// Releases the space of removed rows.
    fn compact(&self) -> Result<(), StoreError>;
    /// The file, if the database is one.
    fn file(&self) -> Option<&Path>;
}

/// The SQL after a column with the id of an application that must meet a condition.
fn chosen_by(condition: &str) -> String {
    format!("IN (SELECT application.application FROM application WHERE {condition})")
}

/// An open database.
pub(super) struct Database(Box<dyn Backend>);

impl Database {
    pub(super) fn new(backend: impl Backend + 'static) -> Self {
        Self(Box::new(backend))
    }

    pub(super) fn backend(&self) -> &dyn Backend {
        &*self.0
    }

    /// Runs a statement, and returns how many rows it changed.
    pub(super) fn execute(&self, sql: &str, values: &[Value<'_>]) -> Result<u64, StoreError> {
        self.0.execute(sql, values)
    }

    /// Runs a statement in a transaction without waiting for a server. A failure is reported by this or a later call,
    /// at the latest by the end of the transaction.
    pub(super) fn send(&self, sql: &str, values: &[Value<'_>]) -> Result<(), StoreError> {
        self.0.send(sql, values)
    }

    /// Passes the rows of a query to `visit`, which may not use the database.
    pub(super) fn visit(
        &self,
        sql: &str,
        values: &[Value<'_>],
        mut visit: impl FnMut(&Row<'_>) -> Result<bool, StoreError>,
    ) -> Result<(), StoreError> {
        self.0.visit(sql, values, &mut visit)
    }

    /// The rows of a query.
    pub(super) fn rows<T>(
        &self,
        sql: &str,
        values: &[Value<'_>],
        mut of: impl FnMut(&Row<'_>) -> Result<T, StoreError>,
    ) -> Result<Vec<T>, StoreError> {
        let mut rows = Vec::new();
        self.visit(sql, values, |row| {
            rows.push(of(row)?);
            Ok(true)
        })?;
        Ok(rows)
    }

    /// The first row of a query, if there is any.
    pub(super) fn first<T>(
        &self,
        sql: &str,
        values: &[Value<'_>],
        mut of: impl FnMut(&Row<'_>) -> Result<T, StoreError>,
    ) -> Result<Option<T>, StoreError> {
        let mut first = None;
        self.visit(sql, values, |row| {
            first = Some(of(row)?);
            Ok(false)
        })?;
        Ok(first)
    }

    /// The number that a query counts.
    pub(super) fn count(&self, sql: &str, values: &[Value<'_>]) -> Result<u64, StoreError> {
        let count: Option<i64> = self.first(sql, values, |row| row.get(0))?;
        Ok(count.unwrap_or_default().max(0).cast_unsigned())
    }

    /// The ids that a query finds.
    pub(super) fn ids(&self, sql: &str, values: &[Value<'_>]) -> Result<Vec<i64>, StoreError> {
        self.rows(sql, values, |row| row.get(0))
    }

    /// Inserts a row with a statement that ends in `RETURNING`, and returns its id.
    pub(super) fn insert(&self, sql: &str, values: &[Value<'_>]) -> Result<i64, StoreError> {
        self.first(sql, values, |row| row.get(0))?.ok_or(StoreError::Incomplete)
    }

    /// Inserts a row of named columns, and returns its id, which the column `id` has.
    pub(super) fn insert_row<'v>(
        &self,
        (table, id): (&str, &str),
        columns: impl IntoIterator<Item = (&'static str, Value<'v>)>,
    ) -> Result<i64, StoreError> {
        let (names, values): (Vec<&str>, Vec<Value<'v>>) = columns.into_iter().unzip();
        let places: Vec<String> = (1..=names.len()).map(|place| format!("?{place}")).collect();
        let (names, places) = (names.join(", "), places.join(", "));
        let sql = format!("INSERT INTO {table} ({names}) VALUES ({places}) RETURNING {id}");
        self.insert(&sql, &values)
    }

    /// Inserts rows with as few statements as possible, which are [sent](Self::send). `into` is `table (columns)`.
    pub(super) fn insert_all<const N: usize>(
        &self,
        into: &str,
        rows: &[[Value<'_>; N]],
    ) -> Result<(), StoreError> {
        for rows in rows.chunks(ROWS_AT_ONCE) {
            let row = |first: usize| {
                let places: Vec<String> = (first..first + N).map(|place| format!("?{place}")).collect();
                format!("({})", places.join(", "))
            };
            let places: Vec<String> = (0..rows.len()).map(|at| row(at * N + 1)).collect();
            let values: Vec<Value<'_>> = rows.iter().flatten().cloned().collect();
            self.send(&format!("INSERT INTO {into} VALUES {}", places.join(", ")), &values)?;
        }
        Ok(())
    }

    /// Runs queries that all see the same state. `work` may be called several times.
    pub(super) fn reading<T>(&self, work: impl FnMut() -> Result<T, StoreError>) -> Result<T, StoreError> {
        self.transaction(Mode::Read, work)
    }

    /// Runs a single query, outside of a transaction. `work` may be called several times.
    pub(super) fn asking<T>(&self, work: impl FnMut() -> Result<T, StoreError>) -> Result<T, StoreError> {
        self.tried_again(work)
    }

    /// Runs queries that all see the same state, and whose answers are passed on before all are known.
    pub(super) fn reading_once<T>(
        &self,
        mut work: impl FnMut() -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        self.attempt(Mode::Read, &mut work)
    }

    /// Makes changes together or not at all. `work` may be called several times, so it must change nothing outside the
    /// database.
    pub(super) fn writing<T>(&self, work: impl FnMut() -> Result<T, StoreError>) -> Result<T, StoreError> {
        self.transaction(Mode::Write, work)
    }

    /// Like [`Self::writing`], for one of many parts: if a server crashes, the last parts may be lost until `writing`
    /// is called. A part is lost as a whole, together with all later ones.
    pub(super) fn writing_part<T>(
        &self,
        work: impl FnMut() -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        self.transaction(Mode::Part, work)
    }

    fn transaction<T>(
        &self,
        mode: Mode,
        mut work: impl FnMut() -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        self.tried_again(|| self.attempt(mode, &mut work))
    }

    /// The contents of the database. Tried again, because a new connection may break immediately.
    pub(super) fn contents(&self) -> Result<Contents, StoreError> {
        self.tried_again(|| self.0.contents())
    }

    fn tried_again<T>(&self, mut work: impl FnMut() -> Result<T, StoreError>) -> Result<T, StoreError> {
        let mut tries = 1;
        loop {
            match work() {
                Err(error) if tries < MOST_TRIES && self.0.recovers_from(&error) => tries += 1,
                done => return done,
            }
        }
    }

    fn attempt<T>(
        &self,
        mode: Mode,
        work: &mut impl FnMut() -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        self.0.begin(mode)?;
        let done = work().and_then(|value| self.0.batch("COMMIT").map(|()| value));
        if done.is_err() {
            // Return the first failure, not that of the rollback. Without a connection there is nothing to roll back.
            let _ = self.0.batch("ROLLBACK");
        }
        done
    }
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use crate::testing::databases;

    use super::*;

    #[test]
    fn a_statement_is_stopped_from_another_thread() {
        for database in databases() {
            let stop = database.backend().interrupter().unwrap();
            let endless =
                "WITH RECURSIVE n (x) AS (SELECT 1 UNION ALL SELECT 1 FROM n) SELECT count(*) FROM n";
            let asking = std::thread::spawn(move || database.count(endless, &[]).map(drop));
            let begin = Instant::now();
            while !asking.is_finished() {
                assert!(begin.elapsed() < Duration::from_secs(60), "it is still running");
                std::thread::sleep(Duration::from_millis(20));
                stop();
            }
            assert!(asking.join().unwrap().is_err());
        }
    }
}
