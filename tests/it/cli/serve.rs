//! `elephant-rs serve`: how it starts, what it refuses, and how it ends.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use super::store::{histories, printed, run, text};

/// A server that ends when it is dropped.
pub struct Served {
    child: Child,
    /// Such as `127.0.0.1:40123`.
    pub address: String,
}

impl Served {
    /// Starts a server on a free port, and waits until it listens.
    pub fn start(arguments: &[&str]) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_elephant-rs"));
        command.env("LC_ALL", "C.UTF-8").args(["serve", "--listen", "127.0.0.1:0"]).args(arguments);
        let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
        let (_, address) = line.trim_end().split_once(" is at http://").unwrap_or_else(|| panic!("{line:?}"));
        Self { child, address: address.trim_end_matches('/').to_owned() }
    }

    pub fn get(&self, path: &str) -> String {
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
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let taken = refused(&["--listen", &taken.local_addr().unwrap().to_string()]);
    assert!(
        taken.contains("cannot listen on 127.0.0.1") && taken.contains("is another server there?"),
        "{taken}"
    );
    assert!(refused(&["--every", "1m"]).contains("--ingest"));
}
