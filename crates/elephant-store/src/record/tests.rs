use super::*;
use crate::testing::with_stores;

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
