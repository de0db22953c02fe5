//! A store in a file of SQLite.

use std::borrow::Cow;
use std::cell::Cell;
use std::ffi::OsString;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use rusqlite::config::DbConfig;
use rusqlite::functions::FunctionFlags;
use rusqlite::{Connection, ErrorCode, OpenFlags, params_from_iter};

use super::super::{StoreError, schema};
use super::{Backend, Contents, Interrupter, Mode, PATIENCE, Row, Value, Visit};
use elephant_base::units::Timestamp;
use elephant_engine::engine::{Filter, Identity};
use elephant_ruleset::Pattern;

/// Marks a file as a store, so that no other database is changed: "elep" in ASCII.
pub(crate) const APPLICATION_ID: i32 = 0x656c_6570;

/// Number of prepared statements that are kept.
const MOST_STATEMENTS: usize = 200;
/// Users or queues that one statement names.
const MOST_LISTED: usize = 1000;

pub(crate) struct Sqlite {
    connection: Connection,
    /// How many tables of admitted applications were created.
    admitted: Cell<u32>,
}

impl Sqlite {
    /// Opens a file, and makes it if there is none.
    pub(crate) fn create(path: &Path) -> Result<Self, StoreError> {
        Self::with(Connection::open(path)?)
    }

    /// Opens a file that must exist. Whoever may not write can still read.
    pub(crate) fn open(path: &Path) -> Result<Self, StoreError> {
        if !path.exists() {
            return Err(StoreError::Missing(path.display().to_string()));
        }
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let opened = Connection::open_with_flags(path, flags).map_err(StoreError::from);
        let tried = opened.and_then(Self::set_up).and_then(|sqlite| sqlite.tried(path));
        match tried.and_then(Self::writing) {
            Err(StoreError::Database(error)) if needs_permission(&error) => Self::open_to_read(path),
            opened => opened,
        }
    }

    /// Opens a file without permission to write.
    fn open_to_read(path: &Path) -> Result<Self, StoreError> {
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let opened = Connection::open_with_flags(path, flags).map_err(StoreError::from);
        match opened.and_then(Self::set_up).and_then(|sqlite| sqlite.tried(path)) {
            Err(StoreError::Database(error)) if needs_permission(&error) => Self::open_unchanging(path),
            opened => opened,
        }
    }

    /// Opens a file that no program has open to write.
    fn open_unchanging(path: &Path) -> Result<Self, StoreError> {
        // SQLite needs to write next to the file to agree with writers, unless it is told that there are none.
        let target = fs::canonicalize(path).unwrap_or_else(|_| path.to_path_buf());
        let log =
            PathBuf::from([target.clone().into_os_string(), "-wal".into()].into_iter().collect::<OsString>());
        if fs::metadata(&log).is_ok_and(|log| log.len() > 0) {
            return Err(StoreError::Unfinished(log.display().to_string()));
        }
        let flags =
            OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX | OpenFlags::SQLITE_OPEN_URI;
        Self::set_up(Connection::open_with_flags(unchanging(&target), flags)?)?.tried(path)
    }

    /// Reads, because SQLite opens files late. An empty file is a database without tables.
    fn tried(self, path: &Path) -> Result<Self, StoreError> {
        match self.contents()? {
            Contents::Nothing => Err(StoreError::Missing(path.display().to_string())),
            _ => Ok(self),
        }
    }

    pub(crate) fn with(connection: Connection) -> Result<Self, StoreError> {
        Self::set_up(connection)?.writing()
    }

    /// Settings that need permission to write.
    fn writing(self) -> Result<Self, StoreError> {
        let connection = &self.connection;
        // Readers are never blocked by a writer, and a killed writer leaves the last commit.
        connection.pragma_update(None, "journal_mode", "WAL")?;
        connection.pragma_update(None, "synchronous", "NORMAL")?;
        // Pages between two checkpoints: each of these waits for the disk.
        connection.pragma_update(None, "wal_autocheckpoint", 4000)?;
        Ok(self)
    }

    /// Settings that need no permission to write.
    fn set_up(connection: Connection) -> Result<Self, StoreError> {
        connection.busy_timeout(PATIENCE)?;
        connection.pragma_update(None, "foreign_keys", true)?;
        // 64 MiB (a negative number is in KiB), because a new application changes rows all over the sums.
        connection.pragma_update(None, "cache_size", -65536)?;
        // Otherwise a statement is prepared again for other values, which takes longer than running it.
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
        connection.set_prepared_statement_cache_capacity(MOST_STATEMENTS);
        Ok(Self { connection, admitted: Cell::new(0) })
    }

    fn number(&self, sql: &str) -> Result<i64, StoreError> {
        Ok(self.connection.query_row(sql, [], |row| row.get(0))?)
    }

    /// The users or queues that match any of the patterns; `None` if there are no patterns, or too many that match.
    fn few_that_match(&self, kind: &str, patterns: &[Pattern]) -> Result<Option<Vec<String>>, StoreError> {
        if patterns.is_empty() {
            return Ok(None);
        }
        let mut keys = Vec::new();
        let query = format!("SELECT DISTINCT key FROM group_sum WHERE kind = '{kind}' AND known");
        self.visit(&query, &[], &mut |row| {
            let key: String = row.get(0)?;
            if patterns.iter().any(|pattern| pattern.matches(&key)) {
                keys.push(key);
            }
            Ok(keys.len() <= MOST_LISTED)
        })?;
        Ok(Some(keys).filter(|keys| keys.len() <= MOST_LISTED))
    }
}

/// Whether another user may succeed.
fn needs_permission(error: &rusqlite::Error) -> bool {
    let code = error.sqlite_error_code();
    matches!(code, Some(ErrorCode::ReadOnly | ErrorCode::CannotOpen | ErrorCode::PermissionDenied))
}

/// The address by which SQLite opens a file as one that does not change.
fn unchanging(path: &Path) -> String {
    let mut address = "file://".to_owned();
    for byte in path.as_os_str().as_encoded_bytes() {
        match byte {
            b'/' | b'.' | b'-' | b'_' => address.push(char::from(*byte)),
            byte if byte.is_ascii_alphanumeric() => address.push(char::from(*byte)),
            // Writing to a text does not fail.
            byte => drop(write!(address, "%{byte:02X}")),
        }
    }
    address + "?immutable=1"
}

impl Backend for Sqlite {
    fn execute(&self, sql: &str, values: &[Value<'_>]) -> Result<u64, StoreError> {
        let changed = self.connection.prepare_cached(sql)?.execute(params_from_iter(values))?;
        Ok(changed as u64)
    }

    fn send(&self, sql: &str, values: &[Value<'_>]) -> Result<(), StoreError> {
        self.execute(sql, values).map(drop)
    }

    fn visit(&self, sql: &str, values: &[Value<'_>], visit: Visit<'_>) -> Result<(), StoreError> {
        let mut statement = self.connection.prepare_cached(sql)?;
        let mut rows = statement.query(params_from_iter(values))?;
        while let Some(row) = rows.next()? {
            if !visit(&Row::Sqlite(row))? {
                break;
            }
        }
        Ok(())
    }

    fn batch(&self, sql: &str) -> Result<(), StoreError> {
        Ok(self.connection.execute_batch(sql)?)
    }

    fn begin(&self, mode: Mode) -> Result<(), StoreError> {
        self.batch(match mode {
            Mode::Read => "BEGIN",
            // Take the lock at once: SQLite does not wait for it in a transaction that has already read.
            Mode::Write | Mode::Part => "BEGIN IMMEDIATE",
        })
    }

    fn reconnections(&self) -> u32 {
        0
    }

    fn recovers_from(&self, _error: &StoreError) -> bool {
        // SQLite has waited for other writers itself.
        false
    }

    fn contents(&self) -> Result<Contents, StoreError> {
        let (owner, version) = (self.number("PRAGMA application_id")?, self.number("PRAGMA user_version")?);
        let tables = self.number("SELECT count(*) FROM sqlite_schema")?;
        Ok(if owner == i64::from(APPLICATION_ID) {
            Contents::Store(version)
        } else if owner != 0 || version != 0 || tables != 0 {
            Contents::Foreign
        } else {
            Contents::Nothing
        })
    }

    fn set_version(&self, version: i64) -> Result<(), StoreError> {
        self.batch(&format!("PRAGMA application_id = {APPLICATION_ID}; PRAGMA user_version = {version}"))
    }

    fn migrations(&self) -> (i64, &'static [&'static str]) {
        (0, schema::sqlite::MIGRATIONS)
    }

    fn among_ids(&self, ids: &[i64]) -> (String, Vec<Value<'static>>) {
        let ids: Vec<String> = ids.iter().map(i64::to_string).collect();
        (format!("IN ({})", ids.join(", ")), Vec::new())
    }

    fn among_texts<'v>(&self, texts: Vec<Cow<'v, str>>) -> (String, Vec<Value<'v>>) {
        let places: Vec<String> = (1..=texts.len()).map(|place| format!("?{place}")).collect();
        (format!("IN ({})", places.join(", ")), texts.into_iter().map(Value::Text).collect())
    }

    /// SQLite calls a function for each application of the users and queues that match, and a temporary table keeps those
    /// that it admits.
    fn admitted(
        &self,
        filter: Filter,
        (among, values): (&str, &[Value<'static>]),
    ) -> Result<(String, Vec<Value<'static>>), StoreError> {
        let (mut among, mut values) = (among.to_owned(), values.to_vec());
        for (column, kind, patterns) in
            [("\"user\"", "user", &filter.users), ("queue", "queue", &filter.queues)]
        {
            let Some(keys) = self.few_that_match(kind, patterns)? else { continue };
            let places: Vec<String> = (1..=keys.len()).map(|at| format!("?{}", values.len() + at)).collect();
            among = format!("{among} AND application.{column} IN ({})", places.join(", "));
            values.extend(keys.into_iter().map(|key| Value::Text(Cow::Owned(key))));
        }
        let flags = FunctionFlags::SQLITE_UTF8 | FunctionFlags::SQLITE_DETERMINISTIC;
        self.connection.create_scalar_function("admits", 5, flags, move |row| {
            let text = |place: usize| row.get_raw(place).as_str_or_null().map_err(rusqlite::Error::from);
            Ok(filter.admits(Identity {
                engine: text(0)?.unwrap_or_default(),
                id: text(1)?.unwrap_or_default(),
                user: text(2)?,
                queue: text(3)?,
                name: text(4)?,
                start: None::<Timestamp>,
            }))
        })?;
        let columns =
            "application.engine, application.id, application.\"user\", application.queue, application.name";
        // A query may read the applications several times, and calling the function takes most of the time.
        let table = format!("admitted_{}", self.admitted.get());
        self.admitted.set(self.admitted.get().wrapping_add(1));
        self.batch(&format!("CREATE TEMP TABLE {table} (application INTEGER PRIMARY KEY)"))?;
        let chosen = format!(
            "INSERT INTO temp.{table} SELECT application FROM application WHERE {among} AND admits({columns})"
        );
        self.execute(&chosen, &values)?;
        Ok((format!("application.application IN (SELECT application FROM temp.{table})"), Vec::new()))
    }

    fn interrupter(&self) -> Result<Interrupter, StoreError> {
        let handle = self.connection.get_interrupt_handle();
        Ok(Box::new(move || handle.interrupt()))
    }

    fn compact(&self) -> Result<(), StoreError> {
        // The file shrinks only if its free pages are released.
        self.batch("VACUUM")
    }

    fn file(&self) -> Option<&Path> {
        self.connection.path().map(Path::new)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_empty_file_is_no_store_and_stays_empty() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("fleet.db");
        fs::write(&path, "").unwrap();
        for opened in [Sqlite::open(&path), Sqlite::open_to_read(&path), Sqlite::open_unchanging(&path)] {
            assert!(matches!(opened, Err(StoreError::Missing(_))));
        }
        assert_eq!(fs::metadata(&path).unwrap().len(), 0);
        assert!(Sqlite::create(&path).is_ok());
    }

    #[test]
    fn a_file_can_be_read_without_permission_to_write_while_nobody_writes() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a b%20?#ä.db");
        let count = |store: &Sqlite| store.number("SELECT count(*) FROM t").unwrap();
        let writer = Sqlite::create(&path).unwrap();
        writer.batch("CREATE TABLE t (x); INSERT INTO t VALUES (1)").unwrap();
        let error = Sqlite::open_unchanging(&path).err().unwrap();
        assert!(matches!(&error, StoreError::Unfinished(log) if log.ends_with(".db-wal")), "{error}");
        assert_eq!(count(&Sqlite::open_to_read(&path).unwrap()), 1);
        drop(writer);
        let reader = Sqlite::open_unchanging(&path).unwrap();
        assert_eq!(count(&reader), 1);
        // Filters keep what they admit in a temporary table.
        reader.batch("CREATE TEMP TABLE own (x); INSERT INTO temp.own VALUES (2)").unwrap();
        let StoreError::Database(error) = reader.batch("DELETE FROM t").err().unwrap() else { panic!() };
        assert!(needs_permission(&error), "{error}");
        drop(reader);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "nothing was written");
    }
}
