//! `elephant-rs mcp`: how it starts, what it prints where, and how it ends.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Command, Output, Stdio};

use serde_json::{Value, json};

use super::store::{printed, run, text};

fn start() -> String {
    let about = json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": { "name": "t", "version": "0" } });
    let first = json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": about });
    format!("{first}\n{}\n", json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }))
}

fn call(id: u64, tool: &str, arguments: &Value) -> String {
    let params = json!({ "name": tool, "arguments": arguments });
    format!("{}\n", json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params }))
}

fn command(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_elephant-rs"));
    command.env("LC_ALL", "C.UTF-8").arg("mcp").args(arguments);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

/// What it answers to these lines, until standard input is closed.
fn told(arguments: &[&str], lines: &str) -> Output {
    let mut child = command(arguments).spawn().unwrap();
    child.stdin.take().unwrap().write_all(lines.as_bytes()).unwrap();
    child.wait_with_output().unwrap()
}

#[test]
fn questions_about_histories_and_a_store_are_answered() {
    let folder = tempfile::tempdir().unwrap();
    let store = text(&folder.path().join("fleet.db"));
    printed(&["ingest", "--quiet", "--store", &store, "testdata/hadoop1"]);
    let id = "app-20261121090043-0000";
    let lines = [
        start(),
        call(1, "list_applications", &json!({ "source": "store" })),
        call(2, "diagnose", &json!({ "application": id })),
        call(3, "explain_rule", &json!({ "rule": "spark-skew" })),
    ];
    let output = told(&["--store", &store, "testdata/spark/3.5.9", "testdata/broken"], &lines.concat());
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    // Standard output has the protocol alone, warnings go to standard error.
    let mut answers: Vec<Value> =
        output.stdout.lines().map(|line| serde_json::from_str(&line.unwrap()).unwrap()).collect();
    answers.sort_by_key(|answer| answer["id"].as_u64());
    assert_eq!(answers.len(), 4);
    let structured = |at: usize| &answers[at]["result"]["structuredContent"];
    assert_eq!(structured(1)["applications"][0]["id"], "job_201311192236_0042");
    assert_eq!(
        (&structured(2)["application"]["id"], &structured(2)["whose_turn"]),
        (&json!(id), &json!("developers"))
    );
    assert_eq!(structured(3)["rule"], "spark-skew");
    let warnings = String::from_utf8(output.stderr).unwrap();
    assert!(warnings.lines().all(|line| line.starts_with("elephant-rs: ")), "{warnings}");
}

#[test]
fn what_cannot_be_asked_about_is_refused_at_once() {
    for (arguments, message) in [
        (&["mcp"][..], "required"),
        (&["mcp", "--store", "nowhere.db"], "there is no store nowhere.db"),
        (&["mcp", "-"], "standard input has the questions"),
        (&["mcp", "--rules", "nowhere.yaml", "testdata/done"], "nowhere.yaml"),
    ] {
        let output = run(arguments);
        let error = String::from_utf8(output.stderr).unwrap();
        assert_eq!((output.status.code(), output.stdout.len()), (Some(2), 0), "{arguments:?}: {error}");
        assert!(error.contains(message), "{arguments:?}: {error}");
    }
    let output = told(&["testdata/done"], "");
    assert_eq!((output.status.code(), output.stdout.len(), output.stderr.len()), (Some(0), 0, 0));
}

#[cfg(unix)]
#[test]
fn a_signal_ends_it_and_leaves_nothing_behind() {
    for signal in ["-TERM", "-INT"] {
        let folder = tempfile::tempdir().unwrap();
        let mut child = command(&["testdata/done"]).env("TMPDIR", folder.path()).spawn().unwrap();
        let mut input = child.stdin.take().unwrap();
        input.write_all((start() + &call(1, "list_applications", &json!({}))).as_bytes()).unwrap();
        let mut answers = BufReader::new(child.stdout.take().unwrap()).lines();
        assert!(answers.nth(1).unwrap().unwrap().contains("applications_count"));
        assert!(folder.path().read_dir().unwrap().next().is_some());
        let kill = Command::new("kill").args([signal, &child.id().to_string()]).status().unwrap();
        assert!(kill.success());
        assert_eq!(child.wait().unwrap().code(), Some(0), "{signal}");
        assert!(folder.path().read_dir().unwrap().next().is_none(), "{signal}");
        drop(input);
    }
}
