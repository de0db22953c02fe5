//! Messages of agents.

use std::time::Duration;

use elephant_serve::{Limits, Options};
use serde_json::{Value, json};

use super::client::{Answer, Running, options};
use super::stores;

const KIND: &str = "Content-Type: application/json\r\nAccept: application/json, text/event-stream\r\n";

fn post(server: &Running, lines: &str, body: &str) -> Answer {
    let host = if lines.contains("Host:") { "" } else { "Host: localhost\r\n" };
    let length = body.len();
    server.send(&format!(
        "POST /mcp HTTP/1.1\r\n{host}{lines}Content-Length: {length}\r\nConnection: close\r\n\r\n{body}"
    ))
}

fn message(method: &str, params: &Value) -> String {
    json!({ "jsonrpc": "2.0", "id": 7, "method": method, "params": params }).to_string()
}

/// The result of a request.
fn asked(server: &Running, method: &str, params: &Value) -> Value {
    let lines = format!("{KIND}MCP-Protocol-Version: 2025-11-25\r\n");
    let answer = post(server, &lines, &message(method, params));
    assert_eq!((answer.status, answer.header("content-type")), (200, "application/json"), "{answer:?}");
    let answer = answer.json();
    assert_eq!((&answer["jsonrpc"], &answer["id"]), (&json!("2.0"), &json!(7)), "{answer}");
    answer["result"].clone()
}

#[test]
fn agents_are_answered_from_the_store() {
    let (place, _folder) = stores::of_histories();
    let server = Running::start(options(place));
    let about = json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": { "name": "t", "version": "0" } });
    let first = asked(&server, "initialize", &about);
    assert_eq!(
        (&first["protocolVersion"], &first["serverInfo"]["name"]),
        (&json!("2025-11-25"), &json!("elephant-rs"))
    );
    let done =
        post(&server, KIND, &json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }).to_string());
    assert_eq!((done.status, done.body.as_str()), (202, ""));
    assert_eq!(asked(&server, "tools/list", &json!({}))["tools"].as_array().map(Vec::len), Some(8));
    let id = "app-20261121090043-0000";
    let call = |tool: &str, arguments: &Value| {
        asked(&server, "tools/call", &json!({ "name": tool, "arguments": arguments }))
    };
    let listed = call("list_applications", &json!({ "text": id }))["structuredContent"].clone();
    assert_eq!((&listed["source"], &listed["applications"][0]["id"]), (&json!("store"), &json!(id)));
    let told = call("diagnose", &json!({ "application": id }))["structuredContent"].clone();
    assert_eq!((&told["from"], &told["whose_turn"]), (&json!("history"), &json!("developers")));
    let refused = call("diagnose", &json!({ "application": "../../etc/passwd" }));
    assert_eq!(refused["isError"], true);
    let metrics = server.get("/metrics").body;
    assert!(metrics.contains("elephant_http_answers_total{route=\"/mcp\",status=\"2xx\"} 6"), "{metrics}");
}

#[test]
fn only_messages_are_admitted_and_only_from_here() {
    let (place, _folder) = stores::of_histories();
    let server = Running::start(options(place));
    let ping = message("ping", &json!({}));
    let own = format!("Host: {0}\r\nOrigin: http://{0}\r\n", server.address);
    for (lines, body, status) in [
        (KIND.to_owned(), ping.as_str(), 200),
        (format!("{KIND}{own}"), &ping, 200),
        (format!("{KIND}Origin: https://evil.example\r\n"), &ping, 403),
        (format!("{KIND}Origin: null\r\n"), &ping, 403),
        (format!("{KIND}Host: evil.example\r\nOrigin: http://evil.example\r\n"), &ping, 403),
        ("Content-Type: text/plain\r\n".to_owned(), &ping, 400),
        (String::new(), &ping, 400),
        (format!("{KIND}MCP-Protocol-Version: 1999-01-01\r\n"), &ping, 400),
        (KIND.to_owned(), "{", 400),
        (KIND.to_owned(), "", 400),
        (KIND.to_owned(), "[]", 400),
        (KIND.to_owned(), &" ".repeat(64 * 1024 + 1), 413),
    ] {
        let answer = post(&server, &lines, body);
        assert_eq!(answer.status, status, "{lines} {answer:?}");
        let kind = if status == 200 { "application/json" } else { "application/problem+json" };
        assert_eq!(answer.header("content-type"), kind, "{lines}");
    }
    for method in ["GET", "DELETE"] {
        let answer = server.ask(method, "/mcp", "");
        assert_eq!((answer.status, answer.header("allow")), (405, "POST"), "{method}");
    }
    // Elsewhere, there is still no body.
    let answer =
        server.send("GET / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}");
    assert_eq!(answer.status, 413);
}

#[test]
fn a_question_without_a_turn_is_told_to_the_agent() {
    let (place, _folder) = stores::of_histories();
    let limits = Limits { questions: 0, turn: Duration::from_millis(10), ..Limits::default() };
    let server = Running::start(Options { limits, ..options(place) });
    let told = asked(&server, "tools/call", &json!({ "name": "list_applications", "arguments": {} }));
    assert_eq!(told["isError"], true);
    assert_eq!(told["content"][0]["text"], "too many questions are being asked; ask again in a moment");
    // What needs no store is answered.
    assert_eq!(asked(&server, "ping", &json!({})), json!({}));
}
