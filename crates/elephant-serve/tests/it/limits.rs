//! What a server refuses, and how it ends.

use std::io::{Read as _, Write as _};
use std::time::{Duration, Instant};

use elephant_serve::{Access, Done, Ingest, Limits, Options, ServeError, Server};
use elephant_store::Store;

use super::client::{Running, options};
use super::stores;

fn empty() -> (Options, tempfile::TempDir) {
    let folder = tempfile::tempdir().unwrap();
    let place = stores::place(&folder);
    drop(Store::create(&place).unwrap());
    (options(place), folder)
}

#[test]
fn other_machines_are_answered_only_if_that_is_asked_for() {
    let (open, _folder) = empty();
    let refused = Server::bind(Options { listen: "0.0.0.0:0".parse().unwrap(), ..open }).err().unwrap();
    assert!(matches!(refused, ServeError::Open(_)));
    assert!(
        refused.to_string().contains("--trust-proxy ADDRESS")
            && refused.to_string().contains("--allow-anyone")
    );
    let (behind, _folder) = empty();
    let access = Access { proxies: vec!["192.0.2.1".parse().unwrap()], ..Access::default() };
    let server = Running::start(Options { listen: "0.0.0.0:0".parse().unwrap(), access, ..behind });
    // This machine is always answered.
    let port = server.address.port();
    let mut here = std::net::TcpStream::connect(("127.0.0.1", port)).unwrap();
    here.write_all(b"GET /healthz HTTP/1.1\r\nHost: fleet.example\r\nConnection: close\r\n\r\n").unwrap();
    let mut answer = String::new();
    here.read_to_string(&mut answer).unwrap();
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
}

#[test]
fn a_name_that_another_site_let_lead_here_is_refused() {
    let (options, _folder) = empty();
    let server = Running::start(options);
    for host in ["Host: evil.example\r\n", "Host: evil.example:8750\r\n"] {
        let answer = server.ask("GET", "/api/v1/summary", host);
        assert_eq!(
            (answer.status, answer.header("content-type")),
            (403, "application/problem+json"),
            "{host}"
        );
    }
    assert_eq!(server.ask("GET", "/", "Host: 127.0.0.1:8750\r\n").status, 200);
}

#[test]
fn large_requests_are_refused() {
    let (options, _folder) = empty();
    let server = Running::start(options);
    assert_eq!(server.ask("GET", "/", "Content-Length: 5\r\n").status, 413);
    assert_eq!(server.ask("GET", "/", "Transfer-Encoding: chunked\r\n").status, 413);
    assert_eq!(server.ask("GET", "/", "Content-Length: 0\r\n").status, 200);
    let long = "a".repeat(20_000);
    for answer in
        [server.ask("GET", "/", &format!("X: {long}\r\n")), server.get(&format!("/search?q={long}"))]
    {
        assert!([414, 431].contains(&answer.status), "{answer:?}");
    }
    let many = "X: 1\r\n".repeat(200);
    assert_eq!(server.ask("GET", "/", &many).status, 431);
    assert_eq!(server.get(&format!("/search?q={}", "a".repeat(2000))).status, 400);
    for nonsense in ["", "GET\r\n\r\n", "\u{0}\u{1}\u{2}\r\n\r\n", "GET / HTTP/9.9\r\n\r\n"] {
        let answer = server.send(nonsense);
        assert!([0, 400, 505].contains(&answer.status), "{nonsense:?}: {answer:?}");
    }
    assert_eq!(server.get("/healthz").status, 200);
}

#[test]
fn slow_clients_are_cut_off() {
    let (options, _folder) = empty();
    let head = Duration::from_millis(200);
    let server = Running::start(Options { limits: Limits { head, ..options.limits }, ..options });
    let begin = Instant::now();
    let mut slow = server.connect();
    slow.write_all(b"GET / HTTP/1.1\r\nHost: ").unwrap();
    let mut rest = Vec::new();
    let _ = slow.read_to_end(&mut rest);
    assert!(begin.elapsed() >= head && begin.elapsed() < Duration::from_secs(30));
    assert!(!rest.starts_with(b"HTTP/1.1 200"));
    // A connection without a request, too.
    let mut silent = server.connect();
    let _ = silent.read_to_end(&mut rest);
    // And one that was used.
    let mut used = server.connect();
    used.write_all(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n").unwrap();
    rest.clear();
    let _ = used.read_to_end(&mut rest);
    assert!(rest.starts_with(b"HTTP/1.1 200"));
}

#[test]
fn connections_wait_for_a_free_place() {
    let (options, _folder) = empty();
    let limits = Limits { connections: 2, head: Duration::from_millis(300), ..options.limits };
    let server = Running::start(Options { limits, ..options });
    let begin = Instant::now();
    let idle = [server.connect(), server.connect()];
    // The server gives both places away before it answers the third connection.
    assert_eq!(server.get("/healthz").status, 200);
    assert!(begin.elapsed() >= Duration::from_millis(200), "{:?}", begin.elapsed());
    drop(idle);
}

#[test]
fn a_connection_that_stays_open_is_closed() {
    let (options, _folder) = empty();
    let limits = Limits { connection: Duration::from_millis(200), ..options.limits };
    let server = Running::start(Options { limits, ..options });
    let mut open = server.connect();
    open.write_all(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n").unwrap();
    let mut rest = Vec::new();
    open.read_to_end(&mut rest).unwrap();
    assert!(rest.starts_with(b"HTTP/1.1 200"));
}

#[test]
fn a_server_that_is_stopped_ends_what_has_begun() {
    let (options, _folder) = empty();
    let server = Running::start(options);
    let open = server.connect();
    assert_eq!(server.get("/").status, 200);
    let begin = Instant::now();
    server.stopper.stop();
    let address = server.address;
    server.ended().unwrap();
    assert!(begin.elapsed() < Duration::from_secs(5), "an idle connection is not waited for");
    assert!(std::net::TcpStream::connect(address).is_err());
    drop(open);
}

#[test]
fn the_state_of_reading_histories_is_visible() {
    let (options, _folder) = empty();
    let mut turns = 0;
    let turn = move || {
        turns += 1;
        if turns == 1 {
            Err("the disk is full".to_owned())
        } else {
            let sentence = "3 applications stored, 3 in all".to_owned();
            Ok(Done { sentence, unreadable: 2, lag: Some(Duration::from_millis(1500)) })
        }
    };
    let ingest = Ingest { every: Duration::from_millis(400), turn: Box::new(turn) };
    let server = Running::start(Options { ingest: Some(ingest), ..options });
    let shows = |text: &str| {
        let begin = Instant::now();
        while !server.get("/").body.contains(text) {
            assert!(begin.elapsed() < Duration::from_secs(30), "{text}");
        }
    };
    shows("The histories could not be read at");
    shows("3 applications stored, 3 in all");
    assert_eq!(server.get("/readyz").status, 200);
    let metrics = server.get("/metrics").body;
    assert!(metrics.contains("elephant_ingest_failures_total 1\n"), "{metrics}");
    assert!(metrics.contains("elephant_ingest_success_timestamp_seconds "), "{metrics}");
    assert!(metrics.contains("elephant_ingest_lag_seconds 1.5\n"), "{metrics}");
    let unreadable =
        metrics.lines().find_map(|line| line.strip_prefix("elephant_ingest_unreadable_files_total "));
    assert!(unreadable.is_some_and(|count| count.parse::<u64>().unwrap() >= 2), "{metrics}");
}

#[test]
fn a_server_whose_histories_cannot_be_read_is_not_ready() {
    let (options, _folder) = empty();
    let ingest =
        Ingest { every: Duration::from_millis(50), turn: Box::new(|| Err("no such folder".to_owned())) };
    let server = Running::start(Options { ingest: Some(ingest), ..options });
    let begin = Instant::now();
    while server.get("/readyz").status != 503 {
        assert!(begin.elapsed() < Duration::from_secs(30));
    }
    assert_eq!(server.get("/healthz").status, 200);
}

#[test]
fn a_server_needs_a_store() {
    let (options, folder) = empty();
    drop(folder);
    assert!(matches!(Server::bind(options), Err(ServeError::Store(_))));
}
