//! The API.

use std::collections::BTreeSet;

use elephant_engine::engine::Filter;
use elephant_report::TextOptions;
use elephant_report::history::{HistoryFormat, write};
use elephant_store::{Asked, Only, Question, Store};
use serde_json::Value;

use super::client::{Running, options};
use super::stores;

#[test]
fn the_summary_is_that_of_history() {
    let (place, _folder) = stores::of_histories();
    let store = Store::open(&place).unwrap();
    let server = Running::start(options(place));
    let filter = Filter { users: vec!["alice".parse().unwrap()], ..Filter::default() };
    for (query, filter) in [("", Filter::default()), ("&user=alice", filter)] {
        let asked = Asked { filter: &filter, only: Only::ALL, sort: None, most: 7 };
        let answer = store.answer(&Question::Overview, asked).unwrap().unwrap();
        let mut expected = Vec::new();
        write(&answer, HistoryFormat::Json, TextOptions::default(), &mut expected).unwrap();
        let told = server.get(&format!("/api/v1/summary?limit=7{query}"));
        assert_eq!((told.status, told.header("content-type")), (200, "application/json"));
        assert_eq!(told.body, String::from_utf8(expected).unwrap());
    }
}

/// All items of a list, part by part.
fn all(server: &Running, path: &str, list: &str, key: &str) -> Vec<String> {
    let (mut items, mut after) = (Vec::new(), String::new());
    loop {
        let part = server.get(&format!("{path}?limit=7{after}")).json();
        let some = part[list].as_array().unwrap();
        assert!(some.len() <= 7);
        items.extend(some.iter().map(|item| format!("{} {}", item[key], item["source"])));
        let Some(next) = part["next"].as_str() else { return items };
        assert_eq!(some.len(), 7);
        let mut encoded = form_urlencoded::Serializer::new(String::new());
        after = format!("&{}", encoded.append_pair("after", next).finish());
    }
}

#[test]
fn parts_of_a_list_are_the_whole_list() {
    let (place, _folder) = stores::of_histories();
    let server = Running::start(options(place));
    for (path, list, key) in [("/api/v1/applications", "applications", "id"), ("/api/v1/jobs", "jobs", "key")]
    {
        let whole = server.get(&format!("{path}?limit=1000")).json();
        let whole: Vec<String> = whole[list]
            .as_array()
            .unwrap()
            .iter()
            .map(|item| format!("{} {}", item[key], item["source"]))
            .collect();
        let parts = all(&server, path, list, key);
        assert!(whole.len() > 20);
        assert_eq!(parts, whole, "{path}");
        assert_eq!(parts.iter().collect::<BTreeSet<_>>().len(), whole.len(), "{path}");
    }
}

#[test]
fn an_application_has_all_that_is_stored() {
    let (place, _folder) = stores::of_histories();
    let server = Running::start(options(place));
    let found = server.get("/api/v1/applications/app-20261121094226-0000").json();
    let [app] = found["applications"].as_array().unwrap().as_slice() else { panic!("{found}") };
    assert_eq!((app["name"].as_str(), app["engine"].as_str()), (Some("execkill-3.5.9"), Some("spark")));
    assert_eq!((&app["tasks_count"], &app["failed_attempts_count"]), (&29.into(), &4.into()));
    let troubles = app["troubles"].as_array().unwrap();
    assert_eq!(troubles[0]["kind"], "failures");
    assert_eq!(troubles[0]["cause"], app["trouble"]);
    let rules: BTreeSet<&str> =
        app["findings"].as_array().unwrap().iter().filter_map(|finding| finding["rule"].as_str()).collect();
    assert!(rules.contains("spark-stages-with-failed-tasks"), "{rules:?}");
    // What is unknown is null, and not 0.
    assert_eq!(app["queue"], Value::Null);
}

/// The path of a route with names in place of its parameters.
fn filled(path: &str) -> String {
    path.replace("{id}", "app-20261121094226-0000")
        .replace("{by}", "user")
        .replace("{key}", "spark%20%C2%B7%20execkill-%23.%23.%23")
}

#[test]
fn the_description_is_that_of_the_routes() {
    let (place, _folder) = stores::of_histories();
    let server = Running::start(options(place));
    let described = server.get("/api/v1/openapi.json").json();
    assert_eq!(described["openapi"], "3.1.0");
    let key =
        server.get("/api/v1/applications/app-20261121094226-0000").json()["applications"][0]["job"].clone();
    let mut encoded = String::new();
    form_urlencoded::byte_serialize(key.as_str().unwrap().as_bytes()).for_each(|part| encoded.push_str(part));
    let paths = described["paths"].as_object().unwrap();
    let (read, sent): (Vec<_>, Vec<_>) = paths.iter().partition(|(_, item)| item["get"].is_object());
    assert_eq!((read.len(), sent.len()), (9, 2));
    assert!(sent.iter().all(|(_, item)| item["post"]["security"][0]["token"].is_array()));
    let mut operations = BTreeSet::new();
    // No history here is of a flow: `flows.rs` has some that are.
    for (path, item) in read.into_iter().filter(|(path, _)| !path.contains("/flows/")) {
        let operation = &item["get"];
        assert!(operations.insert(operation["operationId"].as_str().unwrap().to_owned()));
        let address = path.replace("{key}", &encoded.replace('+', "%20"));
        let address = filled(&address);
        let statuses: BTreeSet<&str> =
            operation["responses"].as_object().unwrap().keys().map(String::as_str).collect();
        let answer = server.get(&address);
        assert_eq!((answer.status, answer.header("content-type")), (200, "application/json"), "{address}");
        assert!(statuses.contains("200"));
        let unknown = server.get(&format!("{address}?nonsense=1"));
        assert_eq!(
            unknown.header("content-type") == "application/problem+json",
            unknown.status == 400,
            "{address}"
        );
        for parameter in operation["parameters"].as_array().unwrap() {
            let name = parameter["name"].as_str().unwrap();
            let is_in_path = path.contains(&format!("{{{name}}}"));
            assert_eq!(parameter["in"] == "path", is_in_path, "{path} {name}");
            if is_in_path {
                continue;
            }
            let values = parameter["schema"]["enum"].as_array().cloned().unwrap_or_default();
            for value in &values {
                let answer = server.get(&format!("{address}?{name}={}", value.as_str().unwrap()));
                assert_eq!(answer.status, 200, "{address} {name}={value}");
            }
            let most = parameter["schema"]["maximum"].as_u64().unwrap_or_default();
            if !values.is_empty() || most > 0 {
                let answer = server.get(&format!("{address}?{name}={}", most + 1));
                assert_eq!(answer.status, 400, "{address} {name}");
            }
        }
        let missing = path.replace("{id}", "none").replace("{key}", "none");
        if missing != *path {
            assert_eq!(server.get(&missing).status, 404, "{missing}");
            assert!(statuses.contains("404"));
        }
    }
}
