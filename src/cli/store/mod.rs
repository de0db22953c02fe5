//! Commands on a database of applications.

pub(super) mod export;
pub(super) mod history;
pub(super) mod ingest;
pub(super) mod prune;

use std::error::Error;
use std::path::{Path, PathBuf};

use clap::Args;

use crate::store::{Store, StoreError};

/// The message for users.
pub(super) fn failed(path: &Path, what: &str, error: &StoreError) -> Box<dyn Error> {
    match error {
        StoreError::Missing(_) => error.to_string().into(),
        _ => format!("cannot {what} the store {}: {error}", path.display()).into(),
    }
}

/// Where the database is.
#[derive(Debug, Args)]
pub(super) struct StoreArgs {
    /// The database file; ingest creates it
    #[arg(long, value_name = "FILE")]
    store: PathBuf,
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
