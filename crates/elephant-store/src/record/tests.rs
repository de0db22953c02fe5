use std::collections::BTreeMap;

use super::*;
use crate::TABLES;
use crate::testing::with_stores;
use elephant_engine::engine::Filter;
use elephant_engine::results::QueryWork;
use elephant_query::{QuerySummary, Wall};

#[test]
fn a_history_without_its_start_is_a_copy_of_one_that_has_it_and_contains_as_much() {
    let app = |source: &str, start: Option<i64>, complete| {
        let mut app = ApplicationReport::blank("app_1");
        (app.sources, app.complete) = (vec![source.to_owned()], complete);
        app.submitted_at = start.map(Timestamp::from_millis);
        app.name = start.map(|_| "etl".to_owned());
        app
    };
    let counted = |apps: &[ApplicationReport]| {
        let counted = std::cell::RefCell::new(Vec::new());
        with_stores(apps, |store| {
            let query = "SELECT source FROM application WHERE counts ORDER BY source";
            counted.borrow_mut().push(store.database.rows(query, &[], |row| row.get::<String>(0)).unwrap());
        });
        let mut counted = counted.into_inner();
        counted.dedup();
        assert_eq!(counted.len(), 1, "the databases agree");
        counted.pop().unwrap().concat()
    };
    let (phantom, whole) = (app("a", None, false), app("b", Some(5), true));
    assert_eq!(counted(&[phantom.clone(), whole.clone()]), "b");
    assert_eq!(counted(&[whole.clone(), phantom.clone()]), "b");
    assert_eq!(counted(&[phantom.clone(), app("c", Some(7), false)]), "c");
    // Another start or a complete history is another run.
    assert_eq!(counted(&[app("a", Some(7), false), whole.clone()]), "ab");
    assert_eq!(counted(&[app("a", None, true), whole]), "ab");
    let longer = ApplicationReport { finished_at: Some(Timestamp::from_millis(9)), ..phantom };
    assert_eq!(counted(&[longer, app("c", Some(7), false)]), "ac");
}

#[test]
fn an_application_that_a_crash_lost_is_missed() {
    with_stores(&[], |store| {
        let database = &store.database;
        let place = application(database, 1, &ApplicationReport::blank("app_1")).unwrap();
        let before = |reconnections| check_last(database, 1, Some(Written { place, reconnections }));
        let again = database.backend().reconnections().wrapping_sub(1);
        assert!(before(again).is_ok() && check_last(database, 1, None).is_ok());
        database.execute("DELETE FROM application", &[]).unwrap();
        assert!(matches!(before(again), Err(StoreError::Forgotten)));
        assert!(before(database.backend().reconnections()).is_ok());
    });
}

#[test]
fn a_failure_of_a_statement_that_is_not_waited_for_fails_the_transaction() {
    with_stores(&[], |store| {
        let database = &store.database;
        let blank = ApplicationReport::blank("app_1");
        let written = database.writing(|| {
            application(database, 1, &blank)?;
            database.send("INSERT INTO run VALUES (1, 0, 'x', 'y', NULL)", &[])?;
            application(database, 1, &blank)
        });
        let text = written.unwrap_err().to_string().to_lowercase();
        // The first failure is reported, not one that follows from it.
        assert!(text.contains("unique"), "{text}");
        assert_eq!(database.count("SELECT count(*) FROM application", &[]).unwrap(), 0);
        database.writing(|| application(database, 1, &blank)).unwrap();
        assert_eq!(database.count("SELECT count(*) FROM application", &[]).unwrap(), 1);
    });
}

#[test]
fn queries_are_stored_exported_and_removed_with_their_application() {
    let ms = Millis::new;
    let wall = Wall { total: ms(100), planning: ms(5), jobs: ms(80), gaps: ms(4), after: ms(11) };
    let whole = QuerySummary {
        wall: Some(wall),
        started_at: Some(Timestamp::from_millis(7)),
        task_time: Some(ms(300)),
        input: Some(Bytes::new(9)),
        ..QuerySummary::blank(12)
    };
    let failed =
        QuerySummary { root: Some(12), error: Some("no such table".to_owned()), ..QuerySummary::blank(13) };
    let mut app = ApplicationReport::blank("app_1");
    app.query_work = vec![
        QueryWork { query: whole, computes: Some("abc".to_owned()) },
        QueryWork { query: failed, computes: None },
    ];
    let table = TABLES.iter().find(|table| table.name == "queries").unwrap();
    with_stores(&[ApplicationReport::blank("app_0"), app], |store| {
        let rows = || {
            let mut rows = Vec::new();
            let filter = Filter::default();
            let take = |_: &str, row: Vec<Option<crate::Value>>| {
                let named = table.columns.iter().map(|column| column.name).zip(row);
                rows.push(named.filter_map(|(name, value)| Some((name, value?))).collect::<BTreeMap<_, _>>());
                true
            };
            store.rows(table, &filter, take).unwrap();
            rows
        };
        let (text, number) = (|text: &str| crate::Value::Text(text.to_owned()), crate::Value::Whole);
        let of = |row: &BTreeMap<&str, crate::Value>, names: &[&str]| -> Vec<Option<crate::Value>> {
            names.iter().map(|name| row.get(name).cloned()).collect()
        };
        let [one, other] = <[_; 2]>::try_from(rows()).unwrap();
        let times = ["wall_ms", "planning_ms", "jobs_ms", "between_jobs_ms", "after_jobs_ms", "task_time_ms"];
        assert_eq!(of(&one, &times), [100, 5, 80, 4, 11, 300].map(|time| Some(number(time))));
        let names = [
            "application",
            "query",
            "name",
            "computes",
            "status",
            "started_at",
            "input_bytes",
            "output_bytes",
        ];
        let expected = [
            text("app_1"),
            number(12),
            text("query 12"),
            text("abc"),
            text("succeeded"),
            number(7),
            number(9),
        ];
        assert_eq!(of(&one, &names), expected.map(Some).into_iter().chain([None]).collect::<Vec<_>>());
        let names = ["query", "root_query", "status", "error", "wall_ms", "computes"];
        let expected = [number(13), number(12), text("failed"), text("no such table")].map(Some);
        assert_eq!(of(&other, &names), expected.into_iter().chain([None, None]).collect::<Vec<_>>());
        remove(&store.database, "TRUE", &[]).unwrap();
        assert_eq!(rows(), []);
        assert_eq!(store.database.count("SELECT count(*) FROM query", &[]).unwrap(), 0);
    });
}
