//! The applications that a question is about.

use rusqlite::functions::FunctionFlags;
use rusqlite::{Connection, ToSql};

use super::StoreError;
use crate::engine::{Filter, Identity};
use crate::units::Timestamp;

/// The condition of a query, and the values in it.
pub(super) struct Selection {
    pub(super) condition: String,
    pub(super) values: Vec<Box<dyn ToSql>>,
}

impl Selection {
    /// The applications that `filter` admits, each once. Patterns are matched by a function that the database calls.
    pub(super) fn of(connection: &Connection, filter: &Filter) -> Result<Self, StoreError> {
        let mut selection = Self { condition: "application.counts = 1".to_owned(), values: Vec::new() };
        if let Some(engine) = filter.engine {
            selection.and("application.engine =", engine.name());
        }
        if let Some(since) = filter.since {
            selection.and("application.submitted >=", since.as_millis());
        }
        if let Some(until) = filter.until {
            selection.and("application.submitted <", until.as_millis());
        }
        if filter.has_patterns() {
            admit(connection, Filter { engine: None, since: None, until: None, ..filter.clone() })?;
            selection.condition += " AND admits(application.engine, application.id, application.user, application.queue, application.name)";
        }
        Ok(selection)
    }

    pub(super) fn and(&mut self, condition: &str, value: impl ToSql + 'static) {
        self.values.push(Box::new(value));
        self.condition = format!("{} AND {condition} ?{}", self.condition, self.values.len());
    }

    /// Only those of which `column` is one of these.
    pub(super) fn among<'a>(&mut self, column: &str, keys: impl Iterator<Item = Option<&'a str>>) {
        let mut places: Vec<String> = Vec::new();
        let mut any = String::new();
        for key in keys {
            match key {
                Some(key) => {
                    self.values.push(Box::new(key.to_owned()));
                    places.push(format!("?{}", self.values.len()));
                }
                None => any = format!(" OR {column} IS NULL"),
            }
        }
        self.condition = format!("{} AND ({column} IN ({}){any})", self.condition, places.join(", "));
    }

    pub(super) fn values(&self) -> Vec<&dyn ToSql> {
        self.values.iter().map(|value| &**value).collect()
    }
}

/// Makes the function `admits` for this filter.
fn admit(connection: &Connection, filter: Filter) -> Result<(), StoreError> {
    let flags = FunctionFlags::SQLITE_UTF8 | FunctionFlags::SQLITE_DETERMINISTIC;
    connection.create_scalar_function("admits", 5, flags, move |row| {
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
    Ok(())
}
