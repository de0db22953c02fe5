//! A store on a server of PostgreSQL.

mod address;
mod failure;
mod session;
mod tls;
mod value;

use std::borrow::Cow;
use std::cell::{Cell, RefCell, RefMut};
use std::path::Path;
use std::thread::sleep;
use std::time::Duration;

use tokio_postgres::Config;

use super::super::{StoreError, schema};
use super::{Backend, Contents, Interrupter, Mode, PATIENCE, Value, Visit};
use elephant_engine::engine::{Filter, Identity};

pub(crate) use address::shown;
pub use failure::ServerError;
pub(super) use failure::failure;
use session::Session;

/// The lock that writers of a store take: "elep" in ASCII.
const LOCK: i64 = 0x656c_6570;

/// How often a lost connection is re-established: over about nine seconds.
const MOST_CONNECTIONS: u32 = 9;
/// The pause before a try is this, times the number of the try.
const PAUSE: Duration = Duration::from_millis(200);

/// Up to this number, applications are looked up by their ids.
const MOST_LOOKED_UP: usize = 20_000;

pub(crate) struct Postgres {
    config: Config,
    session: RefCell<Session>,
    reconnections: Cell<u32>,
}

impl Postgres {
    pub(crate) fn connect(address: &str) -> Result<Self, StoreError> {
        let config = address::config(address)?;
        let session = RefCell::new(session(&config)?);
        Ok(Self { config, session, reconnections: Cell::new(0) })
    }

    fn connect_again(&self) -> Result<(), StoreError> {
        *self.session()? = session(&self.config)?;
        self.reconnections.update(|count| count.wrapping_add(1));
        Ok(())
    }

    /// Whether there is no table yet.
    pub(crate) fn is_empty(&self) -> Result<bool, StoreError> {
        Ok(self.contents()? == Contents::Nothing)
    }

    /// The session, unless a query is still being read.
    fn session(&self) -> Result<RefMut<'_, Session>, StoreError> {
        self.session.try_borrow_mut().map_err(|_| ServerError::Busy.into())
    }

    /// Requires UTF-8, because names of files and applications have letters of all languages.
    fn check_encoding(&self) -> Result<(), StoreError> {
        let mut encoding = String::new();
        self.visit("SELECT current_setting('server_encoding')", &[], &mut |row| {
            encoding = row.get(0)?;
            Ok(false)
        })?;
        if encoding == "UTF8" { Ok(()) } else { Err(ServerError::Encoding(encoding).into()) }
    }

    /// The texts of a query that fit.
    fn texts(&self, sql: &str, fits: impl Fn(&str) -> bool) -> Result<Vec<Cow<'static, str>>, StoreError> {
        let mut texts = Vec::new();
        self.visit(sql, &[], &mut |row| {
            texts.extend(Some(row.get::<String>(0)?).filter(|text| fits(text)).map(Cow::Owned));
            Ok(true)
        })?;
        Ok(texts)
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

/// An application of which only engine and id are known.
fn identity<'i>(engine: &'i str, id: &'i str) -> Identity<'i> {
    Identity { engine, id, user: None, queue: None, name: None, start: None }
}

/// Connects to the server.
fn session(config: &Config) -> Result<Session, StoreError> {
    let mut session = Session::connect(config)?;
    let seconds = PATIENCE.as_secs();
    // The timeouts: a client that is gone must not keep the lock of writers. `jit`: compiling a query takes longer than
    // running it. `random_page_cost`: the sums are in memory, and an SSD reads any page as fast as the next one; with
    // the default of 4, whole tables would be read for a few rows.
    session.send_batch(format!(
        "SET lock_timeout = '{seconds}s'; SET idle_in_transaction_session_timeout = '{}s'; SET jit = off; SET \
         random_page_cost = 1.1; SET client_min_messages = warning",
        2 * seconds
    ))?;
    Ok(session)
}

impl Backend for Postgres {
    fn execute(&self, sql: &str, values: &[Value<'_>]) -> Result<u64, StoreError> {
        self.session()?.execute(sql, values)
    }

    fn send(&self, sql: &str, values: &[Value<'_>]) -> Result<(), StoreError> {
        self.session()?.send(sql, values)
    }

    fn visit(&self, sql: &str, values: &[Value<'_>], visit: Visit<'_>) -> Result<(), StoreError> {
        self.session()?.visit(sql, values, visit)
    }

    fn batch(&self, sql: &str) -> Result<(), StoreError> {
        self.session()?.batch(sql)
    }

    fn begin(&self, mode: Mode) -> Result<(), StoreError> {
        // The same statements write each application: planning them again takes longer than running them.
        let write = "BEGIN; SET LOCAL plan_cache_mode = force_generic_plan";
        let lock = format!("SELECT pg_advisory_xact_lock({LOCK})");
        self.session()?.send_batch(match mode {
            Mode::Read => "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY".to_owned(),
            Mode::Write => format!("{write}; {lock}"),
            Mode::Part => format!("{write}; SET LOCAL synchronous_commit = off; {lock}"),
        })
    }

    fn reconnections(&self) -> u32 {
        self.reconnections.get()
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
        let query = "SELECT count(*), count(*) FILTER (WHERE relkind = 'r' AND relname IN ('store', 'node_work', 'group_sum')) \
                     FROM pg_class WHERE relnamespace = current_schema()::regnamespace AND relkind IN ('r', 'p')";
        let mut found = (0_i64, 0_i64);
        self.visit(query, &[], &mut |row| {
            found = (row.get(0)?, row.get(1)?);
            Ok(false)
        })?;
        Ok(match found {
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

    fn among_ids(&self, ids: &[i64]) -> (String, Vec<Value<'static>>) {
        ("= ANY(?1)".to_owned(), vec![Value::Ids(ids.to_vec())])
    }

    fn among_texts<'v>(&self, texts: Vec<Cow<'v, str>>) -> (String, Vec<Value<'v>>) {
        ("= ANY(?1)".to_owned(), vec![Value::Texts(texts)])
    }

    /// PostgreSQL's regular expressions differ from ours, so the patterns are matched here, once for each different
    /// text.
    fn admitted(
        &self,
        filter: Filter,
        (condition, values): (&str, &[Value<'static>]),
    ) -> Result<(String, Vec<Value<'static>>), StoreError> {
        let (mut condition, mut values) = (condition.to_owned(), values.to_vec());
        for (column, source, patterns) in [
            ("\"user\"", "key FROM group_sum WHERE kind = 'user' AND known", &filter.users),
            ("queue", "key FROM group_sum WHERE kind = 'queue' AND known", &filter.queues),
            ("name", "name FROM application WHERE name IS NOT NULL", &filter.names),
        ] {
            if !patterns.is_empty() {
                let fits = |text: &str| patterns.iter().any(|pattern| pattern.matches(text));
                values.push(Value::Texts(self.texts(&format!("SELECT DISTINCT {source}"), fits)?));
                condition = format!("{condition} AND application.{column} = ANY(?{})", values.len());
            }
        }
        if filter.ids.is_empty() {
            return Ok((condition, values));
        }
        let by_id = Filter { ids: filter.ids, ..Filter::default() };
        let mut admitted = Vec::new();
        let query = format!("SELECT application, engine, id FROM application WHERE {condition}");
        self.visit(&query, &values, &mut |row| {
            if by_id.admits(identity(&row.get::<String>(1)?, &row.get::<String>(2)?)) {
                admitted.push(row.get(0)?);
            }
            Ok(true)
        })?;
        Ok(("application.application = ANY(?1)".to_owned(), vec![Value::Ids(admitted)]))
    }

    /// Looking up a list of ids is twice as fast as a join, unless the list is long.
    fn chosen(
        &self,
        condition: &str,
        values: &[Value<'static>],
    ) -> Result<(String, Vec<Value<'static>>), StoreError> {
        let mut ids = Vec::new();
        let few =
            format!("SELECT application FROM application WHERE {condition} LIMIT {}", MOST_LOOKED_UP + 1);
        self.visit(&few, values, &mut |row| {
            ids.push(row.get(0)?);
            Ok(true)
        })?;
        Ok(if ids.len() > MOST_LOOKED_UP {
            (super::chosen_by(condition), values.to_vec())
        } else {
            self.among_ids(&ids)
        })
    }

    fn interrupter(&self) -> Result<Interrupter, StoreError> {
        Ok(self.session()?.interrupter())
    }

    fn compact(&self) -> Result<(), StoreError> {
        // Autovacuum would do so a minute later, and plans would be worse until then.
        self.batch("VACUUM (ANALYZE)")
    }

    fn file(&self) -> Option<&Path> {
        None
    }
}
