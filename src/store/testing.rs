//! Stores for tests, in each database.

use super::database::Database;
use super::database::sqlite::Sqlite;
use super::{Answer, Asked, Question, Store, record};
use crate::engine::Filter;
use crate::results::ApplicationReport;
use crate::rules::RuleFile;
use crate::savings::Prices;

/// Calls a test with a store that contains these applications: in SQLite, and in PostgreSQL if this program knows it and
/// it is installed.
#[track_caller]
pub(super) fn with_stores(apps: &[ApplicationReport], test: impl Fn(&Store)) {
    stores(apps).iter().for_each(test);
}

/// The same with the prices in this YAML.
#[track_caller]
pub(super) fn with_prices(apps: &[ApplicationReport], yaml: &str, test: impl Fn(&Store)) {
    for mut store in stores(apps) {
        let file = RuleFile { name: "prices.yaml".to_owned(), text: yaml.to_owned() };
        store.set_prices(Prices::of(file).unwrap());
        test(&store);
    }
}

/// The answer about all applications that `filter` admits, in the usual order.
pub(super) fn answer(store: &Store, question: &Question, filter: &Filter, most: usize) -> Option<Answer> {
    store.answer(question, Asked { filter, rules: &[], sort: None, most }).unwrap()
}

#[track_caller]
fn stores(apps: &[ApplicationReport]) -> Vec<Store> {
    let stores = databases().into_iter().map(|database| {
        let store = Store::with(database).unwrap();
        store.database.execute("INSERT INTO run VALUES (1, 0, 'x', 'y', NULL)", &[]).unwrap();
        // One transaction, so that the server need not answer for each application.
        let record =
            || apps.iter().try_for_each(|app| record::application(&store.database, 1, app).map(drop));
        store.database.writing(record).unwrap();
        store
    });
    stores.collect()
}

/// Empty databases.
#[track_caller]
pub(super) fn databases() -> Vec<Database> {
    let sqlite = Sqlite::with(rusqlite::Connection::open_in_memory().unwrap()).unwrap();
    #[allow(unused_mut)]
    let mut databases = vec![Database::new(sqlite)];
    #[cfg(all(feature = "postgres", unix))]
    if let Some(server) = crate::internal::common::postgres::server() {
        let database = super::database::postgres::Postgres::connect(&server.database()).unwrap();
        databases.push(Database::new(database));
    }
    databases
}
