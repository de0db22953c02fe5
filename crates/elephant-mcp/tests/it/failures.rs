//! What goes wrong, and what the agent is told.

use std::fs;
use std::sync::mpsc;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use elephant_mcp::{Histories, Options};
use elephant_store::Place;
use serde_json::{Value, json};

use super::client::Client;
use super::library::{self, copy, ingest, of_histories, of_paths, of_store, testdata};

#[test]
fn an_argument_never_opens_a_file() {
    let (options, folder) = of_store(&["done"]);
    let mut client = Client::start(options);
    let history = folder.path().join("histories/done");
    let here = history.to_str().unwrap();
    for id in [
        "../../etc/passwd",
        "/etc/passwd",
        "file:///etc/passwd",
        here,
        "-",
        "fleet.db",
        "\0",
        "a\nb",
        "*",
        "/.*/",
    ] {
        let application = json!({ "application": id });
        for tool in ["diagnose", "evidence", "whatif", "explain_failure", "job_history"] {
            let message = client.fails(tool, &application);
            assert!(message.starts_with("there is no application \""), "{tool} {id:?}: {message}");
        }
        assert!(client.fails("compare", &json!({ "a": id, "b": id })).starts_with("there is no application"));
        assert!(client.fails("job_history", &json!({ "job": id })).starts_with("there is no job"));
        assert!(
            client
                .fails("explain_failure", &json!({ "kind": id }))
                .starts_with("there is no kind of failure")
        );
        assert!(client.fails("explain_rule", &json!({ "rule": id })).contains("rule"));
        let listed = client.told("list_applications", &json!({ "text": id })).structured;
        assert!(listed["applications"].as_array().unwrap().len() <= 20);
    }
}

#[test]
fn bad_arguments_are_told_to_the_agent() {
    let (options, _folder) = of_histories();
    let mut client = Client::start(options);
    let id = "app-20261121094226-0000";
    for (tool, arguments, message) in [
        ("diagnose", json!({}), "missing field `application`"),
        ("diagnose", json!({ "application": 1 }), "invalid type: integer `1`"),
        ("diagnose", json!({ "application": "" }), "a text has 1 to 1000 bytes here"),
        ("diagnose", json!({ "application": "x".repeat(1001) }), "a text has 1 to 1000 bytes here"),
        ("diagnose", json!({ "application": id, "path": "/etc" }), "unknown field `path`"),
        ("diagnose", json!({ "application": id, "which": 0 }), "which is a number from 1 to 20"),
        ("diagnose", json!({ "application": id, "which": 2 }), "is that of 1 applications"),
        ("diagnose", json!({ "application": id, "cursor": "x" }), "cursor is not the `next` of an answer"),
        ("diagnose", json!({ "application": id, "cursor": "-1" }), "cursor is not the `next` of an answer"),
        ("list_applications", json!({ "cursor": "1" }), "cursor is of no use"),
        ("list_applications", json!({ "since": "yesterday" }), "since must be a time such as 2026-11-20"),
        ("list_applications", json!({ "user": "/(/" }), "user: "),
        ("list_applications", json!({ "sort": "name" }), "unknown variant `name`"),
        ("list_applications", json!({ "source": "store" }), "there is no store here"),
        (
            "whatif",
            json!({ "application": id, "executors": 0 }),
            "executors is a whole number from 1 to 1000000",
        ),
        (
            "whatif",
            json!({ "application": id, "executors": 4_000_000_000_u64 }),
            "executors is a whole number",
        ),
        ("whatif", json!({ "application": id, "memory": "much" }), "memory: expected a size"),
        ("whatif", json!({ "application": id, "slow_start": 1.5 }), "slow_start is a share between 0 and 1"),
        ("whatif", json!({ "application": id, "without": ["gc"] }), "unknown variant `gc`"),
        (
            "evidence",
            json!({ "application": id, "rule": "spark-x" }),
            "there is no finding of the rule \"spark-x\"",
        ),
        ("job_history", json!({}), "give either job or application"),
        (
            "explain_failure",
            json!({ "application": id, "kind": "heap-space" }),
            "give either application or kind",
        ),
        ("explain_failure", json!({ "kind": "heapspace" }), "did you mean \"heap-space\"?"),
    ] {
        let told = client.fails(tool, &arguments);
        assert!(told.contains(message) && told.len() <= 1000, "{tool} {arguments}: {told}");
    }
}

#[test]
fn only_faults_of_the_protocol_are_errors_of_the_protocol() {
    let mut client = Client::start(library::empty());
    let unknown = client.request("tools/call", &json!({ "name": "delete\u{1b}[2J", "arguments": {} }));
    assert_eq!(unknown["error"]["code"], -32602);
    assert_eq!(unknown["error"]["message"], "unknown tool: delete [2J; tools/list has all of them");
    assert_eq!(client.request("tools/none", &json!({}))["error"]["code"], -32601);
    for line in [
        "{",
        "nonsense",
        "[1,2]",
        "{\"jsonrpc\":\"2.0\"}",
        "\u{1b}",
        "{\"jsonrpc\":\"2.0\",\"id\":9,\"method\":\"tools/call\",\"params\":[]}",
    ] {
        client.send(line);
    }
    // Whatever it says of these, it goes on.
    let id = client.ask("ping", &json!({}));
    loop {
        let message = client.message();
        if message["id"] == id {
            assert_eq!(message["result"], json!({}));
            break;
        }
        assert!(message["error"]["code"].is_i64(), "{message}");
    }
    client.close().unwrap();
}

#[test]
fn without_a_history_the_store_tells_what_it_has() {
    let (options, folder) = of_store(&["spark/3.5.9/failures"]);
    let mut client = Client::start(options);
    let application = json!({ "application": "app-20261121090043-0000" });
    assert_eq!(client.told("diagnose", &application).structured["from"], "history");
    fs::remove_dir_all(folder.path().join("histories")).unwrap();
    // What was read counts for an hour here.
    assert_eq!(client.told("diagnose", &application).structured["from"], "history");
    client.close().unwrap();
    let options = Options { store: Some(library::place(&folder)), ..library::empty() };
    let mut client = Client::start(options);
    let told = client.told("diagnose", &application).structured;
    assert_eq!((&told["from"], &told["whose_turn"]), (&json!("store"), &Value::Null));
    assert!(told["missing"].as_str().unwrap().contains("is gone"), "{told}");
    // The report was stored.
    assert!(told["troubles"][0]["confidence"].is_string() && told["run_time_parts"][0].is_object(), "{told}");
    let numbers = client.told("evidence", &application).structured;
    assert_eq!((&numbers["from"], &numbers["findings"][0]["rule"].is_string()), (&json!("store"), &true));
    let failure = client.told("explain_failure", &application).structured;
    assert!(failure["failures"][0]["kind"].is_null() && failure["missing"].is_string(), "{failure}");
    assert_eq!(client.told("job_history", &application).structured["runs_count"], 1);
    let message = client.fails("whatif", &application);
    assert!(message.contains("needs the history file:///") && message.contains("is gone"), "{message}");
    let message =
        client.fails("compare", &json!({ "a": application["application"], "b": application["application"] }));
    assert!(message.contains("is gone"), "{message}");
}

#[test]
fn a_history_that_was_replaced_is_not_taken_for_the_application() {
    let (options, folder) = of_store(&["spark/3.5.9/failures"]);
    let mut client = Client::start(options);
    let copies = folder.path().join("histories/spark/3.5.9/failures");
    let [file] = elephant_testing::files_below(&copies).try_into().unwrap();
    let other = elephant_testing::files_below(&testdata("spark/3.5.9/execkill"));
    fs::copy(&other[0], file).unwrap();
    let application = json!({ "application": "app-20261121090043-0000" });
    let told = client.told("diagnose", &application).structured;
    assert_eq!(told["from"], "store");
    assert!(told["missing"].as_str().unwrap().contains("no longer has this application"), "{told}");
    assert_eq!(client.told("evidence", &application).structured["from"], "store");
}

#[test]
fn new_histories_are_found_when_what_was_read_is_old() {
    let (folder, store) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    copy(&testdata("done"), &folder.path().join("done"));
    let options = |fresh| Options { fresh, ..of_paths(vec![folder.path().to_path_buf()], &store) };
    let count = |client: &mut Client| {
        client.told("list_applications", &json!({})).structured["applications_count"].as_u64().unwrap()
    };
    let (mut lazy, mut eager) =
        (Client::start(options(Duration::from_secs(3600))), Client::start(options(Duration::ZERO)));
    let first = count(&mut lazy);
    assert_eq!(count(&mut eager), first);
    copy(&testdata("spark/3.5.9/failures"), &folder.path().join("failures"));
    assert_eq!(count(&mut lazy), first);
    assert_eq!(count(&mut eager), first + 1);
}

#[test]
fn paths_that_cannot_be_read_are_told() {
    let folder = tempfile::tempdir().unwrap();
    let mut client = Client::start(of_paths(vec![folder.path().join("nowhere")], &folder));
    for _ in 0..2 {
        let message = client.fails("list_applications", &json!({}));
        assert_eq!(message, "the histories cannot be read: a path cannot be read");
    }
    let none = Client::start(library::empty()).fails("list_applications", &json!({}));
    assert_eq!(none, "there is no store and no folder here");
    let place = Place::File(folder.path().join("none.db"));
    let options = Options { store: Some(place), ..library::empty() };
    assert!(Client::start(options).fails("list_applications", &json!({})).contains("there is no store"));
}

/// Histories that are read when the test allows it.
fn slow() -> (Options, mpsc::Sender<()>, tempfile::TempDir) {
    let (allow, allowed) = mpsc::channel();
    let folder = tempfile::tempdir().unwrap();
    let (place, allowed) = (library::place(&folder), Arc::new(Mutex::new(allowed)));
    let to = place.clone();
    let turn = move || {
        let _ = allowed.lock().unwrap().recv();
        ingest(&to, &[testdata("done")])
    };
    let histories = Histories { place, turn: Box::new(turn) };
    (Options { histories: Some(histories), ..library::empty() }, allow, folder)
}

#[test]
fn a_slow_question_delays_no_ping_and_can_be_cancelled() {
    let (options, allow, _folder) = slow();
    let mut client = Client::start(options);
    let list = || json!({ "name": "list_applications", "arguments": {} });
    // More than are answered at the same time.
    let slow: Vec<i64> = (0..6).map(|_| client.ask("tools/call", &list())).collect();
    assert_eq!(client.request("ping", &json!({}))["result"], json!({}));
    let cancelled = json!({ "requestId": slow[0], "reason": "enough" });
    client.send(
        &json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": cancelled }).to_string(),
    );
    assert_eq!(client.request("ping", &json!({}))["result"], json!({}));
    drop(allow);
    let mut answered: Vec<i64> = (1..6).map(|_| client.message()["id"].as_i64().unwrap()).collect();
    answered.sort_unstable();
    assert_eq!(answered, slow[1..]);
    client.close().unwrap();
}

#[test]
fn a_client_that_goes_ends_the_server_without_an_error() {
    let (options, allow, _folder) = slow();
    let mut client = Client::start(options);
    client.ask("tools/call", &json!({ "name": "list_applications", "arguments": {} }));
    client.close().unwrap();
    drop(allow);
    // Before it said anything, in the middle of a line, and with nonsense.
    Client::connect(library::empty()).close().unwrap();
    let mut client = Client::connect(library::empty());
    client.send("{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}");
    assert!(
        client
            .close()
            .unwrap_err()
            .to_string()
            .starts_with("the client does not speak the Model Context Protocol")
    );
}

#[test]
fn a_server_that_is_told_to_stop_ends() {
    let client = Client::start(library::empty());
    client.stopper.stop();
    client.ended().unwrap();
}
