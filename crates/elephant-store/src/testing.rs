//! Stores for tests, in each database.

use super::database::Database;
use super::database::sqlite::Sqlite;
use super::{Answer, Asked, Only, Place, Question, Read, Store, Stored, record};
use elephant_base::limits::Limits;
use elephant_base::units::Timestamp;
use elephant_engine::engine::{self, Filter, Keeper, Options, Progress};
use elephant_engine::results::{ApplicationReport, Report};
use elephant_input::named::Named;
use elephant_ruleset::{RuleFile, RuleSet};
use elephant_verdict::savings::Prices;
use elephant_verdict::troubles::Basis;

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
    store.answer(question, Asked { filter, only: Only::ALL, sort: None, most }).unwrap()
}

#[track_caller]
pub(super) fn stores(apps: &[ApplicationReport]) -> Vec<Store> {
    let stores = databases().into_iter().map(|database| {
        let store = Store::with(database).unwrap();
        store.database.execute("INSERT INTO run VALUES (1, 0, 'x', 'y', NULL)", &[]).unwrap();
        // One transaction, so that the server need not answer for each application.
        let record =
            || apps.iter().try_for_each(|app| record::application(&store.database, 1, app).map(drop));
        store.database.writing(record).unwrap();
        store.choose_among_copies().unwrap();
        store
    });
    stores.collect()
}

/// Empty databases.
#[track_caller]
pub(super) fn databases() -> Vec<Database> {
    let sqlite = Sqlite::with(rusqlite::Connection::open_in_memory().unwrap()).unwrap();
    [Database::new(sqlite)].into_iter().chain(on_server().map(|place| place.create().unwrap())).collect()
}

/// An empty database on a server, if this program knows PostgreSQL and it is installed.
#[track_caller]
fn on_server() -> Option<Place> {
    #[cfg(all(feature = "postgres", unix))]
    return Some(std::ffi::OsString::from(elephant_testing::postgres::server()?.database()).into());
    #[cfg(not(all(feature = "postgres", unix)))]
    None
}

/// The places of empty databases that several stores may open, and the folder of those in files.
#[track_caller]
pub(super) fn places() -> (Vec<Place>, tempfile::TempDir) {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("fleet.db").into_os_string().into();
    let places = [file].into_iter().chain(on_server());
    (places.collect(), folder)
}

/// Ingests what is named; `by` calls the function that reads it.
pub(super) fn ingest_by(
    store: &mut Store,
    named: Named<'_>,
    limits: Limits,
    by: &dyn Fn(&dyn Fn() -> Report) -> Report,
) -> (Read, Stored) {
    let rules = RuleSet::new(elephant_heuristics::BUILT_IN).unwrap();
    let options = Options { top: Some(0), limits, ..Options::default() };
    let basis = Basis { rules: &rules, prices: None };
    let read = |named: Named<'_>, keeper: Keeper<'_>| {
        by(&|| engine::analyze_keeping(named, basis, &options, &Progress::default(), (keeper, None)).0)
    };
    let now = Timestamp::from_millis(0);
    let (read, stored) = store.keep_changed(named, &options.limits, (rules.hash(), now), read).unwrap();
    (read, stored.unwrap())
}
