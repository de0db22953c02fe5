//! Dr. Elephant's routes, as its code answers them. What is expected was written down from that code.

mod details;
mod exceptions;
mod executions;
mod graphs;
mod old_pages;
mod routes;
mod searching;
mod summaries;

use elephant_heuristics::BUILT_IN;
use elephant_ruleset::RuleSet;
use serde_json::{Value, json};
use tempfile::TempDir;

use super::client::{Answer, Running, options};
use super::stores;

/// MiB·s of a gibibyte that is held for an hour.
const GB_HOUR: u64 = 1024 * 3600;

/// A server over the store of two executions.
fn of_executions() -> (Running, TempDir) {
    let (place, folder) = stores::of(stores::executions());
    (Running::start(options(place)), folder)
}

/// The status and the text of an answer in Dr. Elephant's words.
fn told(answer: &Answer) -> (u16, &str, &str) {
    (answer.status, answer.header("content-type"), &answer.body)
}

const TEXT: &str = "text/plain; charset=utf-8";

/// The parts of an object that are called this.
fn only(value: &Value, keys: &str) -> Value {
    keys.split_whitespace().map(|key| (key.to_owned(), value[key].clone())).collect()
}

/// The names of the fields of an object, in order.
fn keys(value: &Value) -> Vec<&str> {
    value.as_object().unwrap().keys().map(String::as_str).collect()
}

#[test]
fn an_application_has_the_fields_of_dr_elephant() {
    let (place, _folder) = stores::of_histories();
    let server = Running::start(options(place));
    let app = server.get("/rest/job?id=job_1795256319232_0001").json();
    assert_eq!(app, server.get("/rest/search?id=application_1795256319232_0001").json());
    let fields = "id name username queueName startTime finishTime trackingUrl jobType severity score workflowDepth \
        scheduler jobName jobExecId flowExecId jobDefId flowDefId jobExecUrl flowExecUrl jobDefUrl flowDefUrl \
        resourceUsed resourceWasted totalDelay yarnAppHeuristicResults";
    assert_eq!(keys(&app), fields.split_whitespace().collect::<Vec<_>>());
    assert_eq!(app["id"], "application_1795256319232_0001");
    assert_eq!((&app["username"], &app["queueName"]), (&json!("alice"), &json!("root.default")));
    assert_eq!((&app["startTime"], &app["severity"]), (&json!(1_795_256_318_470_u64), &json!("LOW")));
    // MiB·s: 0.0052 GB·h of the job in `the_summary…`, times 3,686,400.
    assert_eq!((&app["resourceUsed"], &app["resourceWasted"]), (&json!(19_298), &json!(0)));
    // What is not known is not 0.
    assert_eq!((&app["trackingUrl"], &app["flowExecId"]), (&Value::Null, &Value::Null));
    let report = server.get("/api/v1/applications/job_1795256319232_0001").json();
    let report = &report["applications"][0]["report"];
    assert!(report["metrics"]["wait_ms"].is_u64());
    assert_eq!(app["totalDelay"], report["metrics"]["wait_ms"]);
    let heuristics = app["yarnAppHeuristicResults"].as_array().unwrap();
    let sum = |scores: &[Value], of: &str| scores.iter().map(|it| it[of].as_u64().unwrap()).sum::<u64>();
    assert_eq!(sum(heuristics, "score"), sum(report["findings"].as_array().unwrap(), "score"));
    // Rules that found nothing are there, too, but those of the other engine are not.
    let silent = heuristics.iter().filter(|it| it["severity"] == "NONE").count();
    assert!(silent > 5 && silent < heuristics.len(), "{heuristics:?}");
    let named = |name: &str| heuristics.iter().any(|it| it["heuristicName"] == name);
    assert!(named("Mapper Skew") && !named("Spark Skew"), "{heuristics:?}");
    let heuristic = &heuristics[0];
    let fields = "heuristicClass heuristicName severity score yarnAppHeuristicResultDetails";
    assert_eq!(keys(heuristic), fields.split_whitespace().collect::<Vec<_>>());
    assert_eq!(keys(&heuristic["yarnAppHeuristicResultDetails"][0]), ["name", "value", "details"]);
}

#[test]
fn rules_whose_data_is_missing_have_no_result() {
    let (place, _folder) = stores::of_histories();
    let server = Running::start(options(place));
    let rules = RuleSet::new(BUILT_IN).unwrap();
    let mut missing = 0;
    for app in server.get("/rest/search").json().as_array().unwrap() {
        let id = app["id"].as_str().unwrap();
        let stored = server.get(&format!("/api/v1/applications/{id}")).json()["applications"][0].clone();
        let has_finding =
            |rule: &str| stored["findings"].as_array().unwrap().iter().any(|it| it["rule"] == rule);
        let one = server.get(&format!("/rest/job?id={id}")).json();
        let results = one["yarnAppHeuristicResults"].as_array().unwrap();
        for rule in stored["report"]["not_evaluated"].as_array().unwrap() {
            let rule = rules.rule(rule["rule"].as_str().unwrap()).unwrap();
            let is_there = results.iter().any(|it| it["heuristicName"] == *rule.info.title);
            assert_eq!(is_there, has_finding(&rule.info.id), "{id} {}", rule.info.id);
            missing += usize::from(!is_there);
        }
        let is_judged = stored["judged"] == true;
        assert!(is_judged || results.iter().all(|it| it["severity"] != "NONE"), "{id}");
    }
    assert!(missing > 0);
}

#[test]
fn a_search_has_its_conditions_and_pages() {
    let (place, _folder) = stores::of_histories();
    let server = Running::start(options(place));
    let found = |query: &str| {
        let answer = server.get(&format!("/rest/search?{query}"));
        if answer.status == 404 { 0 } else { answer.json().as_array().unwrap().len() }
    };
    let all = found("");
    assert!((20..=100).contains(&all), "{all}");
    assert!(found("username=alice") > 0 && found("username=alice") <= all);
    assert_eq!((found("username=alic*"), found("page=2")), (0, 0));
    let severe = found("severity=3");
    assert!(severe > 0 && severe < all);
    // Both ends of a time belong to it.
    let only = "started-time-begin=1795256318470&started-time-end=1795256318470";
    assert_eq!(found(only), 1);
    assert_eq!(server.get("/rest/search?severity=5").status, 400);
    assert_eq!(server.get("/rest/search?started-time-end=today").status, 400);
}

#[test]
fn users_have_sums_of_a_time() {
    let (place, _folder) = stores::of_histories();
    let server = Running::start(options(place));
    let users = server.get("/rest/resourceusagedatabyuser?startTime=2026-11-21&endTime=2026-11-22").json();
    let users = users.as_array().unwrap();
    assert_eq!(keys(&users[0]), ["user", "resourceUsed", "resourceWasted"]);
    assert!(users.iter().any(|user| user["user"] == "alice" && user["resourceUsed"].as_f64() > Some(0.0)));
    let hours =
        server.get("/rest/resourceusagedatabyuser?startTime=2026-11-21-00&endTime=2026-11-22-00").json();
    assert_eq!(hours.as_array().unwrap(), users);
    let none = server.get("/rest/resourceusagedatabyuser?startTime=2001-11-21&endTime=2001-11-22").json();
    assert_eq!(none, json!([]));
    // Dr. Elephant's status for times that it could not read.
    for (query, status) in [
        ("", 400),
        ("?startTime=2026-11-21", 400),
        ("?startTime=x&endTime=y", 300),
        ("?startTime=2026-11-21&endTime=2026-11-22-00", 300),
        ("?startTime=2026-11-41&endTime=2026-11-42", 300),
    ] {
        assert_eq!(server.get(&format!("/rest/resourceusagedatabyuser{query}")).status, status, "{query}");
    }
}
