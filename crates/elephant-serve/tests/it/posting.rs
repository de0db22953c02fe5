//! Histories that are sent.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use elephant_serve::{Done, Ingest, Kept, Options, Posted, Posting, Unkept};
use elephant_store::Store;

use super::client::{Answer, Running, options};
use super::stores;

const TOKEN: &str = "0123456789abcdef";
const RIGHT: &str = "Authorization: Bearer 0123456789abcdef\r\n";

/// A server that keeps histories like this.
fn server(keep: impl Fn(Posted) -> Kept + Send + Sync + 'static) -> (Running, tempfile::TempDir) {
    let folder = tempfile::tempdir().unwrap();
    let place = stores::place(&folder);
    drop(Store::create(&place).unwrap());
    let posting = Some(Posting::new(TOKEN.to_owned(), keep).unwrap());
    (Running::start(Options { posting, ..options(place) }), folder)
}

fn post(server: &Running, path: &str, lines: &str, body: &str) -> Answer {
    let host = if lines.contains("Host:") { "" } else { "Host: localhost\r\n" };
    let length = body.len();
    server.send(&format!(
        "POST {path} HTTP/1.1\r\n{host}{lines}Content-Length: {length}\r\nConnection: close\r\n\r\n{body}"
    ))
}

#[test]
fn a_history_is_passed_on_with_its_name() {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let shared = Arc::clone(&seen);
    let (server, _folder) = server(move |posted| {
        let text = String::from_utf8(posted.bytes).unwrap();
        shared.lock().unwrap().push((posted.name, text));
        Ok(b"{\"stored_count\": 1}".to_vec())
    });
    let answer = post(&server, "/api/v1/histories?name=app-1.zst", RIGHT, "history");
    assert_eq!((answer.status, answer.json()["stored_count"].as_u64()), (201, Some(1)));
    assert_eq!(post(&server, "/api/v1/histories", RIGHT, "").status, 201);
    let expected = [(Some("app-1.zst".to_owned()), "history".to_owned()), (None, String::new())];
    assert_eq!(*seen.lock().unwrap(), expected);
    let metrics = server.get("/metrics").body;
    assert!(metrics.contains("route=\"/api/v1/histories\",status=\"2xx\"} 2"), "{metrics}");
}

#[test]
fn only_who_knows_the_token_may_send() {
    let (server, _folder) = server(|_| panic!("no history is kept without the token"));
    for lines in [
        "",
        "Authorization: Bearer 0123456789abcde\r\n",
        "Authorization: Bearer 0123456789abcdeF\r\n",
        "Authorization: Bearer 0123456789abcdef0\r\n",
        "Authorization: Bearer\r\n",
        "Authorization: Basic 0123456789abcdef\r\n",
        "Authorization: 0123456789abcdef\r\n",
    ] {
        let refused = post(&server, "/api/v1/histories", lines, "x");
        assert_eq!((refused.status, refused.header("www-authenticate")), (401, "Bearer"), "{lines}");
    }
    // A page of another site has no token, and another name is refused before it is read.
    let elsewhere = format!("{RIGHT}Host: evil.example\r\n");
    assert_eq!(post(&server, "/api/v1/histories", &elsewhere, "x").status, 403);
    assert_eq!(server.get("/api/v1/histories").status, 405);
    assert_eq!(server.get("/api/v1/histories").header("allow"), "POST");
}

#[test]
fn histories_are_refused_unless_the_operator_accepts_them() {
    let folder = tempfile::tempdir().unwrap();
    let place = stores::place(&folder);
    drop(Store::create(&place).unwrap());
    let server = Running::start(options(place));
    for path in ["/api/v1/histories", "/api/v1/ingest"] {
        let refused = post(&server, path, RIGHT, "");
        assert_eq!(refused.status, 404, "{refused:?}");
        assert!(refused.body.contains("--token-file"), "{refused:?}");
    }
    for token in ["", "short", "with spaces in between"] {
        assert!(Posting::new(token.to_owned(), |_| Ok(Vec::new())).is_err(), "{token}");
    }
}

#[test]
fn names_are_no_paths() {
    let (server, _folder) = server(|_| panic!("these names are refused"));
    for name in ["..", ".hidden", "a/b", "..%2F..%2Fetc%2Fpasswd", "a%00b", "a%0Ab", "file:%2F%2Fx", "ä?b"] {
        let refused = post(&server, &format!("/api/v1/histories?name={name}"), RIGHT, "x");
        assert_eq!(refused.status, 400, "{name}: {refused:?}");
    }
    let unknown = post(&server, "/api/v1/histories?path=x", RIGHT, "x");
    assert_eq!(unknown.status, 400);
}

#[test]
fn problems_have_their_status() {
    let (server, _folder) = server(|posted| match posted.bytes.as_slice() {
        b"store" => Err(Unkept::Store("the disk /secret is full".to_owned())),
        _ => Err(Unkept::Unread("it is neither a job history nor a Spark event log".to_owned())),
    });
    let unread = post(&server, "/api/v1/histories", RIGHT, "text");
    assert_eq!(unread.status, 422);
    assert!(unread.body.contains("neither a job history"), "{unread:?}");
    let unstored = post(&server, "/api/v1/histories", RIGHT, "store");
    assert_eq!((unstored.status, unstored.header("retry-after")), (503, "30"));
    assert!(!unstored.body.contains("secret"), "only the operator is told");
    let head = format!("Content-Length: {}\r\n", (64 << 20) + 1);
    let large = server.ask("POST", "/api/v1/histories", &format!("{RIGHT}{head}"));
    assert_eq!(large.status, 413, "{large:?}");
}

#[test]
fn one_history_is_read_at_a_time() {
    let (begin, begun) = std::sync::mpsc::channel();
    let (end, ended) = std::sync::mpsc::channel::<()>();
    let (begin, ended) = (Mutex::new(begin), Mutex::new(ended));
    let (server, _folder) = server(move |_| {
        begin.lock().unwrap().send(()).unwrap();
        let _ = ended.lock().unwrap().recv();
        Ok(b"{}".to_vec())
    });
    std::thread::scope(|scope| {
        let first = scope.spawn(|| post(&server, "/api/v1/histories", RIGHT, "1"));
        begun.recv_timeout(Duration::from_secs(30)).unwrap();
        let second = post(&server, "/api/v1/histories", RIGHT, "2");
        assert_eq!((second.status, second.header("retry-after")), (503, "2"));
        assert_eq!(server.get("/api/v1/summary").status, 200, "pages are answered meanwhile");
        drop(end);
        assert_eq!(first.join().unwrap().status, 201);
    });
}

#[test]
fn a_turn_of_reading_is_begun_by_a_hook() {
    let folder = tempfile::tempdir().unwrap();
    let place = stores::place(&folder);
    drop(Store::create(&place).unwrap());
    let turns = Arc::new(AtomicU64::new(0));
    let shared = Arc::clone(&turns);
    let turn = move || {
        let sentence = format!("turn {}", shared.fetch_add(1, Ordering::SeqCst));
        Ok(Done { sentence, ..Done::default() })
    };
    let ingest = Some(Ingest { every: Duration::from_secs(3600), turn: Box::new(turn) });
    let posting = Some(Posting::new(TOKEN.to_owned(), |_| Ok(Vec::new())).unwrap());
    let server = Running::start(Options { ingest, posting, ..options(place) });
    let reached = |count: u64| {
        let begin = Instant::now();
        while turns.load(Ordering::SeqCst) < count {
            assert!(begin.elapsed() < Duration::from_secs(30), "{count}");
            std::thread::sleep(Duration::from_millis(2));
        }
    };
    reached(1);
    for count in 2..5 {
        assert_eq!(post(&server, "/api/v1/ingest", RIGHT, "").status, 202);
        reached(count);
    }
    assert_eq!(post(&server, "/api/v1/ingest", "", "").status, 401);
    assert_eq!(post(&server, "/api/v1/ingest", RIGHT, "{\"location\": \"/etc\"}").status, 413);
}
