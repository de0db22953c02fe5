//! A store on a server of PostgreSQL.

mod address;
mod failure;
mod tls;
mod value;

use std::cell::{RefCell, RefMut};
use std::path::Path;
use std::thread::sleep;
use std::time::Duration;

use ::postgres::fallible_iterator::FallibleIterator;
use ::postgres::types::ToSql;
use ::postgres::{Client, Config, Statement};
use rustc_hash::FxHashMap;

use super::super::{StoreError, schema};
use super::{Backend, Contents, Mode, PATIENCE, Row, Value, Visit};
use crate::engine::{Filter, Identity};
use crate::units::Timestamp;

pub(in crate::store) use address::shown;
pub(crate) use failure::ServerError;
pub(super) use failure::failure;

/// The lock that writers of a store take: "elep" in ASCII.
const LOCK: i64 = 0x656c_6570;

/// How often a lost connection is made again: for ten seconds.
const MOST_CONNECTIONS: u32 = 9;
/// How long a try waits, times the number of tries.
const PAUSE: Duration = Duration::from_millis(200);

pub(in crate::store) struct Postgres {
    config: Config,
    client: RefCell<Client>,
    statements: RefCell<FxHashMap<String, Statement>>,
}

impl Postgres {
    pub(in crate::store) fn connect(address: &str) -> Result<Self, StoreError> {
        let config = address::config(address)?;
        let client = session(&config)?;
        Ok(Self { config, client: RefCell::new(client), statements: RefCell::default() })
    }

    fn connect_again(&self) -> Result<(), StoreError> {
        *self.client()? = session(&self.config)?;
        self.statements.borrow_mut().clear();
        Ok(())
    }

    /// Whether there is no table yet.
    pub(in crate::store) fn is_empty(&self) -> Result<bool, StoreError> {
        Ok(self.contents()? == Contents::Nothing)
    }

    /// The client, unless a query is still being read.
    fn client(&self) -> Result<RefMut<'_, Client>, StoreError> {
        self.client.try_borrow_mut().map_err(|_| ServerError::Busy.into())
    }

    fn statement(&self, sql: &str) -> Result<Statement, StoreError> {
        if let Some(known) = self.statements.borrow().get(sql) {
            return Ok(known.clone());
        }
        // No text of a statement contains a question mark.
        let statement = self.client()?.prepare(&sql.replace('?', "$")).map_err(failure)?;
        self.statements.borrow_mut().insert(sql.to_owned(), statement.clone());
        Ok(statement)
    }

    /// Names of files and applications have letters of all languages.
    fn check_encoding(&self) -> Result<(), StoreError> {
        let mut encoding = String::new();
        self.visit("SELECT current_setting('server_encoding')", &[], &mut |row| {
            encoding = row.get(0)?;
            Ok(false)
        })?;
        if encoding == "UTF8" { Ok(()) } else { Err(ServerError::Encoding(encoding).into()) }
    }

    fn number(&self, sql: &str) -> Result<Option<i64>, StoreError> {
        let mut number = None;
        self.visit(sql, &[], &mut |row| {
            number = row.get(0)?;
            Ok(false)
        })?;
        Ok(number)
    }
}

/// Connects to the server.
fn session(config: &Config) -> Result<Client, StoreError> {
    let mut client =
        config.connect(tls::Tls).map_err(|error| failure::of_connecting(&error, &address::of(config)))?;
    let seconds = PATIENCE.as_secs();
    // A client that is gone must not keep the lock of writers. Compiling a query takes longer than running it.
    let settings = format!(
        "SET lock_timeout = '{seconds}s'; SET idle_in_transaction_session_timeout = '{}s'; SET jit = off; SET \
         client_min_messages = warning",
        2 * seconds
    );
    client.batch_execute(&settings).map_err(failure)?;
    Ok(client)
}

impl Backend for Postgres {
    fn execute(&self, sql: &str, values: &[Value<'_>]) -> Result<u64, StoreError> {
        let statement = self.statement(sql)?;
        let values: Vec<&(dyn ToSql + Sync)> = values.iter().map(|value| value as _).collect();
        self.client()?.execute(&statement, &values).map_err(failure)
    }

    fn visit(&self, sql: &str, values: &[Value<'_>], visit: Visit<'_>) -> Result<(), StoreError> {
        let statement = self.statement(sql)?;
        let mut client = self.client()?;
        let mut rows = client.query_raw(&statement, values).map_err(failure)?;
        while let Some(row) = rows.next().map_err(failure)? {
            if !visit(&Row::Postgres(&row))? {
                break;
            }
        }
        Ok(())
    }

    fn batch(&self, sql: &str) -> Result<(), StoreError> {
        self.client()?.batch_execute(sql).map_err(failure)
    }

    fn begin(&self, mode: Mode) -> Result<(), StoreError> {
        match mode {
            Mode::Read => self.batch("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"),
            Mode::Write => self.batch(&format!("BEGIN; SELECT pg_advisory_xact_lock({LOCK})")),
        }
    }

    fn recovers_from(&self, error: &StoreError) -> bool {
        match error {
            StoreError::Server(ServerError::Conflict(_)) => {
                sleep(PAUSE);
                true
            }
            // A server that is started again needs a moment.
            StoreError::Server(ServerError::Lost(_)) => (1..=MOST_CONNECTIONS).any(|tries| {
                sleep(PAUSE * tries);
                self.connect_again().is_ok()
            }),
            _ => false,
        }
    }

    fn contents(&self) -> Result<Contents, StoreError> {
        // Views belong to extensions; tables are those of a program.
        let tables = "SELECT count(*) FROM pg_class WHERE relnamespace = current_schema()::regnamespace AND relkind IN ('r', \
                      'p')";
        let own = "SELECT count(*) FROM pg_class WHERE relnamespace = current_schema()::regnamespace AND relkind = 'r' AND \
                   relname IN ('store', 'node_work', 'group_sum')";
        Ok(match (self.number(tables)?.unwrap_or_default(), self.number(own)?.unwrap_or_default()) {
            (0, _) => {
                self.check_encoding()?;
                Contents::Nothing
            }
            (_, 3) => self.number("SELECT version FROM store")?.map_or(Contents::Foreign, Contents::Store),
            _ => Contents::Foreign,
        })
    }

    fn set_version(&self, version: i64) -> Result<(), StoreError> {
        self.batch(&format!("DELETE FROM store; INSERT INTO store VALUES ({version})"))
    }

    fn migrations(&self) -> (i64, &'static [&'static str]) {
        (schema::postgres::BEFORE_FIRST, schema::postgres::MIGRATIONS)
    }

    /// Regular expressions of another kind would match other texts, so they are tested here.
    fn admitted(
        &self,
        filter: Filter,
        (condition, values): (&str, &[Value<'static>]),
    ) -> Result<(String, Vec<Value<'static>>), StoreError> {
        let mut admitted = Vec::new();
        let query = format!(
            "SELECT application, engine, id, \"user\", queue, name FROM application WHERE {condition}"
        );
        self.visit(&query, values, &mut |row| {
            let (engine, id): (String, String) = (row.get(1)?, row.get(2)?);
            let texts: [Option<String>; 3] = [row.get(3)?, row.get(4)?, row.get(5)?];
            let [user, queue, name] = texts.each_ref().map(Option::as_deref);
            let identity = Identity { engine: &engine, id: &id, user, queue, name, start: None::<Timestamp> };
            if filter.admits(identity) {
                admitted.push(row.get(0)?);
            }
            Ok(true)
        })?;
        Ok(("application.application = ANY(?1)".to_owned(), vec![Value::Ids(admitted)]))
    }

    fn compact(&self) -> Result<(), StoreError> {
        // Its own background process would do so a minute later, with worse plans until then.
        self.batch("VACUUM (ANALYZE)")
    }

    fn file(&self) -> Option<&Path> {
        None
    }
}
