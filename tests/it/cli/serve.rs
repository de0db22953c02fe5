//! `elephant-rs serve`: how it starts, what it refuses, and how it ends.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use super::store::{histories, printed, run, text};

/// A server that ends when it is dropped.
pub(crate) struct Served {
    child: Child,
    /// Such as `127.0.0.1:40123`.
    pub address: String,
}

impl Served {
    /// Starts a server on a free port, and waits until it listens.
    pub(crate) fn start(arguments: &[&str]) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_elephant-rs"));
        command.env("LC_ALL", "C.UTF-8").args(["serve", "--listen", "127.0.0.1:0"]).args(arguments);
        let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
        let (_, address) = line.trim_end().split_once(" is at http://").unwrap_or_else(|| panic!("{line:?}"));
        Self { child, address: address.trim_end_matches('/').to_owned() }
    }

    pub(crate) fn get(&self, path: &str) -> String {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        let request = format!("GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
        stream.write_all(request.as_bytes()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer
    }

    /// Waits until a page has this text.
    fn wait_for(&self, path: &str, text: &str) {
        let begin = Instant::now();
        while !self.get(path).contains(text) {
            assert!(begin.elapsed() < Duration::from_secs(60), "{path} has no {text}: {}", self.get(path));
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// Sends a signal, and returns the exit status.
    #[cfg(unix)]
    fn end(mut self, signal: &str) -> Option<i32> {
        let kill = Command::new("kill").args([signal, &self.child.id().to_string()]).status().unwrap();
        assert!(kill.success());
        self.child.wait().unwrap().code()
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[cfg(unix)]
#[test]
fn a_signal_ends_the_server_without_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let store = text(&folder.path().join("fleet.db"));
    printed(&["ingest", "--quiet", "--store", &store, "testdata/hadoop1"]);
    for signal in ["-TERM", "-INT"] {
        let server = Served::start(&["--store", &store]);
        assert!(server.get("/healthz").starts_with("HTTP/1.1 200"));
        // A connection that stays open does not delay the end.
        let open = TcpStream::connect(&server.address).unwrap();
        let begin = Instant::now();
        assert_eq!(server.end(signal), Some(0), "{signal}");
        assert!(begin.elapsed() < Duration::from_secs(10));
        drop(open);
    }
}

#[test]
fn histories_are_read_again_and_again() {
    let (input, folder) = (histories(), tempfile::tempdir().unwrap());
    let store = text(&folder.path().join("fleet.db"));
    let paths = ["done", "hadoop1"].map(|part| text(&input.path().join(part)));
    let server = Served::start(&["--store", &store, "--ingest", &paths[0], &paths[1], "--every", "50ms"]);
    server.wait_for("/readyz", "ready");
    server.wait_for("/", "stored, ");
    let count = |store: &str| {
        let json = super::store::json(&["history", "--store", store, "--by", "status"]);
        json["total"]["applications_count"].as_u64().unwrap()
    };
    let before = count(&store);
    assert!(before > 5, "{before}");
    // A history that comes later is found, and one that did not change is not read again.
    let late = Path::new("testdata/heuristics/mapper-speed");
    for file in elephant_testing::files_below(late) {
        std::fs::copy(&file, input.path().join("done").join(file.file_name().unwrap())).unwrap();
    }
    let all = printed(&[
        "ingest",
        "--quiet",
        "--store",
        &text(&folder.path().join("other.db")),
        &paths[0],
        &paths[1],
    ]);
    let all = all.rsplit_once("has ").unwrap().1.trim().to_owned();
    server.wait_for("/", &format!("0 applications stored, {all} in all"));
    assert_eq!(count(&store).to_string(), all);
    assert!(server.get("/metrics").contains("elephant_ingest_failures_total 0\n"));
}

/// Sends the bytes of a history, and returns the answer.
pub(crate) fn post(server: &Served, name: &str, history: &[u8]) -> String {
    let mut stream = TcpStream::connect(&server.address).unwrap();
    let head = format!(
        "POST /api/v1/histories{name} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {TOKEN}\r\nContent-Length: \
         {}\r\nConnection: close\r\n\r\n",
        history.len()
    );
    stream.write_all(head.as_bytes()).unwrap();
    stream.write_all(history).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}

pub(crate) const TOKEN: &str = "0123456789abcdef0123456789abcdef";

#[test]
fn a_history_that_is_sent_is_judged_and_stored_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let (store, token) = (text(&folder.path().join("fleet.db")), text(&folder.path().join("token")));
    std::fs::write(&token, format!("{TOKEN}\n")).unwrap();
    let server = Served::start(&["--store", &store, "--token-file", &token, "--cluster", "north"]);
    let file = elephant_testing::files_below(Path::new("testdata/heuristics/spark-skew")).remove(0);
    let history = std::fs::read(&file).unwrap();
    let answer = post(&server, "", &history);
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    assert!(head.starts_with("HTTP/1.1 201"), "{answer}");
    let found: serde_json::Value = serde_json::from_str(body).unwrap();
    assert_eq!(
        (&found["stored_count"], found["applications"].as_array().map(Vec::len)),
        (&1.into(), Some(1))
    );
    let id = found["applications"][0]["id"].as_str().unwrap();
    let page = server.get(&format!("/application/{id}"));
    assert!(page.contains("posted://histories/") && page.contains("cluster north"), "{page}");
    // The same report as that of the file.
    let analysed = super::store::json(&["analyze", &text(&file)]);
    assert_eq!(found["applications"][0]["findings"], analysed["applications"][0]["findings"]);
    // A hook that sends it again changes nothing.
    let again = post(&server, "", &history);
    assert!(again.starts_with("HTTP/1.1 201") && again.contains("\"stored_count\": 0"), "{again}");
    // Part of a log is replaced by the whole one with its name, as a file would be.
    let half = &history[..history.len() / 2];
    let part = post(&server, "?name=log", half);
    assert!(part.starts_with("HTTP/1.1 201") || part.starts_with("HTTP/1.1 422"), "{part}");
    assert!(post(&server, "?name=log", &history).starts_with("HTTP/1.1 201"));
    let count = super::store::json(&["history", "--store", &store, "--by", "status"]);
    assert_eq!(count["total"]["applications_count"], 1);
    for nonsense in [&b""[..], b"no history", &[0x28, 0xb5, 0x2f, 0xfd, 0xff, 0xff]] {
        let refused = post(&server, "", nonsense);
        assert!(refused.starts_with("HTTP/1.1 422"), "{refused}");
    }
}

#[test]
fn what_cannot_be_served_is_refused_with_advice() {
    let folder = tempfile::tempdir().unwrap();
    let store = text(&folder.path().join("fleet.db"));
    let refused = |arguments: &[&str]| {
        let output = run(&[&["serve", "--store", &store], arguments].concat());
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        String::from_utf8(output.stderr).unwrap()
    };
    let missing = refused(&[]);
    assert!(
        missing.contains("there is no store") && missing.contains("elephant-rs ingest --store"),
        "{missing}"
    );
    printed(&["ingest", "--quiet", "--store", &store, "testdata/hadoop1"]);
    for listen in ["0.0.0.0:0", "[::]:0", "192.0.2.1:8750"] {
        let open = refused(&["--listen", listen]);
        assert!(open.contains("has no login") && open.contains("--trust-proxy ADDRESS"), "{open}");
    }
    let (weak, rows) = (text(&folder.path().join("weak")), text(&folder.path().join("rows.yaml")));
    std::fs::write(&weak, "secret").unwrap();
    std::fs::write(&rows, "- viewers: [a]\n  que: [b]\n").unwrap();
    let proxy = ["--trust-proxy", "127.0.0.1", "--user-header", "X-Forwarded-User"];
    for (arguments, why) in [
        (vec!["--token-file", &weak], "at least 16 letters"),
        (vec!["--token-file", "missing"], "cannot read the token"),
        (vec!["--public-url", "https://a/b"], "without a path"),
        (vec!["--user-header", "X-User"], "--trust-proxy"),
        (vec!["--trust-proxy", "127.0.0.1", "--rows", &rows], "--user-header"),
        ([&proxy[..], &["--rows", &rows]].concat(), "unknown field `que`"),
        ([&proxy[..], &["--rows", "missing"]].concat(), "cannot read the rules"),
    ] {
        let told = refused(&arguments);
        assert!(told.contains(why), "{arguments:?}: {told}");
    }
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let taken = refused(&["--listen", &taken.local_addr().unwrap().to_string()]);
    assert!(
        taken.contains("cannot listen on 127.0.0.1") && taken.contains("is another server there?"),
        "{taken}"
    );
    assert!(refused(&["--every", "1m"]).contains("--ingest"));
}
