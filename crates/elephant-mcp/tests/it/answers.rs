//! Answers about the histories of this repository.

use std::collections::BTreeSet;

use elephant_engine::engine::Filter;
use elephant_store::{Only, Order, Search, Store};
use serde_json::{Value, json};

use super::client::Client;
use super::library::{self, of_histories, of_store};

/// Each application once: its id, and which of those with this id.
fn applications(client: &mut Client) -> Vec<(String, usize)> {
    let listed = client.all("list_applications", &json!({ "sort": "waste" }), "applications");
    let ids: Vec<String> = listed.iter().map(|app| app["id"].as_str().unwrap().to_owned()).collect();
    let which = |at: usize| ids[..at].iter().filter(|id| **id == ids[at]).count() + 1;
    (0..ids.len()).map(|at| (ids[at].clone(), which(at))).collect()
}

#[test]
fn every_application_is_told_within_the_bound() {
    let (options, _folder) = of_histories();
    let mut client = Client::start(options);
    let (mut causes, mut measured, mut told) = (BTreeSet::new(), 0, 0);
    for (id, which) in applications(&mut client) {
        let application = json!({ "application": id, "which": which });
        for part in client.parts("diagnose", &application) {
            let troubles = part.structured["troubles"].as_array().unwrap();
            causes.extend(troubles.iter().map(|trouble| trouble["kind"].as_str().unwrap().to_owned()));
            assert_eq!(part.structured["application"]["id"], id);
        }
        client.parts("explain_failure", &application);
        for finding in client.all("evidence", &application, "findings") {
            let mut wanted = application.clone();
            (wanted["rule"], wanted["subject"]) = (finding["rule"].clone(), finding["subject"].clone());
            let parts = client.parts("evidence", &wanted);
            assert_eq!(parts[0].structured["finding"]["rule"], finding["rule"]);
            assert_eq!(parts[0].structured["finding"]["subject"], finding["subject"]);
            measured +=
                parts.iter().map(|part| part.structured["measured"].as_array().unwrap().len()).sum::<usize>();
        }
        client.parts("whatif", &application);
        client.parts("queries", &application);
        client.parts("stragglers", &application);
        client.parts("job_history", &json!({ "application": id }));
        told += 1;
    }
    assert!(told > 20 && measured > 100 && causes.len() > 5, "{told} {measured} {causes:?}");
    client.close().unwrap();
}

#[test]
fn parts_of_the_list_are_the_list_of_the_store() {
    let (options, _folder) = of_store(&["done", "hadoop1", "heuristics"]);
    let store = Store::open(options.store.as_ref().unwrap()).unwrap();
    let mut client = Client::start(options);
    for order in Order::ALL {
        let filter = Filter::default();
        let search = Search::of(&filter, Only::ALL, (order, 1000));
        let expected: Vec<String> =
            store.search(&search).unwrap().runs.into_iter().map(|run| run.id).collect();
        assert!(expected.len() > 100);
        let listed = client.all("list_applications", &json!({ "sort": order.name() }), "applications");
        let listed: Vec<&str> = listed.iter().map(|app| app["id"].as_str().unwrap()).collect();
        assert_eq!(listed, expected, "{order:?}");
    }
}

#[test]
fn filters_are_those_of_the_store() {
    let (options, _folder) = of_histories();
    let mut client = Client::start(options);
    let mut count = |arguments: Value| {
        let listed = client.told("list_applications", &arguments).structured;
        listed["applications_count"].as_u64().unwrap()
    };
    let all = count(json!({}));
    let failed = count(json!({ "status": "failed" }));
    assert!(failed > 0 && failed < all);
    for (narrow, at_most) in [
        (json!({ "user": "alice" }), all - 1),
        (json!({ "user": "/^al/", "status": "failed" }), failed),
        (json!({ "severity": "critical" }), all - 1),
        (json!({ "rule": "spark-cache" }), all - 1),
        (json!({ "text": "FAILURES-3" }), failed),
        (json!({ "since": "2026-11-21", "until": "2026-11-21T09:30:00Z" }), all - 1),
    ] {
        assert!((1..=at_most).contains(&count(narrow.clone())), "{narrow}");
    }
    assert_eq!(count(json!({ "user": "nobody" })), 0);
    assert_eq!(count(json!({ "source": "histories", "cursor": null })), all);
}

#[test]
fn a_failure_has_its_innermost_cause_and_who_acts() {
    let (options, _folder) = of_histories();
    let mut client = Client::start(options);
    let failed = json!({ "application": "app-20261121090043-0000" });
    let told = client.told("explain_failure", &failed);
    let first = &told.structured["failures"][0];
    assert_eq!((&first["kind"], &first["exception"]), (&json!("python-error"), &json!("RuntimeError")));
    assert_eq!(
        (&told.structured["whose_turn"], &first["whose_turn"]),
        (&json!("developers"), &json!("developers"))
    );
    let followed: Vec<&str> =
        told.structured["followed"].as_array().unwrap().iter().filter_map(|it| it["rule"].as_str()).collect();
    assert!(followed.contains(&"spark-job-metrics"), "{followed:?}");
    assert!(told.text.contains("Whose turn: the developers"), "{}", told.text);
    // A run that succeeded has failures, but nobody's turn.
    let told = client.told("explain_failure", &json!({ "application": "app-20261121094226-0000" }));
    assert_eq!(
        (&told.structured["whose_turn"], &told.structured["failures"][0]["exit_code"]),
        (&Value::Null, &json!(137))
    );
    let page = client.parts("explain_failure", &json!({ "kind": "heap-space" }));
    assert!(page[0].text.starts_with("The Java heap was full."), "{}", page[0].text);
    assert!(page[0].text.contains("spark.executor.memory"));
}

#[test]
fn damaged_histories_say_so() {
    let folder = tempfile::tempdir().unwrap();
    let mut client = Client::start(library::of_paths(vec![library::testdata("broken")], &folder));
    let told = client.told("diagnose", &json!({ "application": "job_1795255923144_0001" }));
    assert_eq!(told.structured["application"]["complete"], false);
    assert!(told.structured["missing"].as_str().unwrap().contains("incomplete"), "{}", told.structured);
}

#[test]
fn rules_have_their_pages() {
    let mut client = Client::start(library::empty());
    for rule in library::rules().rules() {
        let id = &*rule.info.id;
        let parts = client.parts("explain_rule", &json!({ "rule": id }));
        let lines = parts.iter().flat_map(|part| part.structured["page"].as_array().unwrap());
        let page: Vec<&str> = lines.map(|line| line.as_str().unwrap()).collect();
        assert_eq!(page.len(), rule.info.page.lines().count(), "{id}");
        let parameters: usize =
            parts.iter().map(|part| part.structured["parameters"].as_array().unwrap().len()).sum();
        assert_eq!(parameters, rule.params.len(), "{id}");
    }
    assert!(
        client
            .fails("explain_rule", &json!({ "rule": "spark-skw" }))
            .contains("did you mean \"spark-skew\"?")
    );
}

#[test]
fn applications_of_a_store_have_a_page_for_a_colleague() {
    let (options, _folder) = of_store(&["done"]);
    let link: elephant_mcp::Link = Box::new(|id| format!("https://elephant.example/application/{id}"));
    let mut client = Client::start(elephant_mcp::Options { link: Some(link), ..options });
    let (id, _) = applications(&mut client).remove(0);
    let told = client.told("diagnose", &json!({ "application": id }));
    let page = format!("https://elephant.example/application/{id}");
    assert_eq!(told.structured["application"]["link"], page);
    assert!(told.text.contains(&page), "{}", told.text);
    // No server shows what is only in a folder.
    let (options, _folder) = of_histories();
    let mut client = Client::start(options);
    let told = client.told("diagnose", &json!({ "application": "app-20261121090043-0000" }));
    assert_eq!(told.structured["application"]["link"], Value::Null);
}
