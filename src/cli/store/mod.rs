//! Commands on a database of applications.

pub(super) mod export;
pub(super) mod history;
pub(super) mod ingest;
pub(super) mod prune;

use std::error::Error;

use clap::Args;
use clap::builder::{OsStringValueParser, TypedValueParser};

use crate::store::{Place, Store, StoreError};

/// The message for users.
pub(super) fn failed(place: &Place, what: &str, error: &StoreError) -> Box<dyn Error> {
    match error {
        StoreError::Missing(_) => error.to_string().into(),
        _ => format!("cannot {what} the store {place}: {error}").into(),
    }
}

/// Reads where a store is. Every text names a place, so no message of the parser repeats a password.
pub(super) fn place_parser() -> impl TypedValueParser<Value = Place> {
    OsStringValueParser::new().map(Place::from)
}

/// Where the database is.
#[derive(Debug, Args)]
pub(super) struct StoreArgs {
    /// The database file; ingest creates it
    #[cfg_attr(
        feature = "postgres",
        arg(help = "The database: a file, which ingest creates, or postgres://USER@HOST/NAME")
    )]
    #[arg(long, value_name = "STORE", value_parser = place_parser(), value_hint = clap::ValueHint::FilePath)]
    store: Place,
}

impl StoreArgs {
    fn create(&self) -> Result<Store, Box<dyn Error>> {
        Store::create(&self.store).map_err(|error| self.failed("open", &error))
    }

    fn open(&self) -> Result<Store, Box<dyn Error>> {
        Store::open(&self.store).map_err(|error| self.failed("open", &error))
    }

    fn failed(&self, what: &str, error: &StoreError) -> Box<dyn Error> {
        failed(&self.store, what, error)
    }
}
