//! `ingest` of a store whose connections break off: only what was read to its end is stored, and nothing is read twice.

use std::process::Stdio;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use super::s3::{fake_of, is_object, with_endpoint};
use super::{RangeServer, Reply, errors, history, output};

/// A store in a new folder.
struct Store(tempfile::TempDir);

impl Store {
    fn path(&self) -> String {
        self.0.path().join("x.db").to_str().unwrap().to_owned()
    }

    /// What is printed by an ingest of `s3://bucket/logs`, and its exit code.
    fn ingest(&self, server: &RangeServer) -> (String, Option<i32>, String) {
        let store = self.path();
        let args = ["ingest", "--no-progress", "--store", &store, "s3://bucket/logs"];
        let output = with_endpoint(&server.url(""), &args);
        (String::from_utf8(output.stdout.clone()).unwrap(), output.status.code(), errors(&output))
    }

    fn history(&self) -> String {
        let output = output(super::command(&["history", "--store", &self.path(), "--format", "csv"]));
        assert!(output.status.success(), "{}", errors(&output));
        String::from_utf8(output.stdout).unwrap()
    }
}

fn store() -> Store {
    Store(tempfile::tempdir().unwrap())
}

fn objects_read(server: &RangeServer) -> usize {
    server.requests().iter().filter(|asked| is_object(asked)).count()
}

/// A history that takes several ranges to read.
fn long_history() -> Vec<u8> {
    let text = String::from_utf8(history()).unwrap();
    let mut lines: Vec<&str> = text.lines().collect();
    let repeated = lines[2];
    assert!(repeated.contains("JOB_PRIORITY"));
    lines.splice(3..3, std::iter::repeat_n(repeated, 6000));
    let text = lines.join("\n") + "\n";
    assert!(text.len() > 256 << 10);
    text.into_bytes()
}

#[test]
fn an_object_that_breaks_off_is_not_stored_in_part_and_read_again() {
    let fails = Arc::new(AtomicBool::new(true));
    let failing = Arc::clone(&fails);
    let server = fake_of(long_history(), move |request, reply| {
        let is_rest = is_object(request) && request.range.is_some_and(|(start, _)| start > 0);
        // Not answered again, so that the test need not wait.
        if is_rest && failing.load(Ordering::Relaxed) { Reply::status(400) } else { reply }
    });
    let (partial, whole) = (store(), store());
    let (line, code, told) = partial.ingest(&server);
    assert!(
        line.contains("0 applications stored, 1 not read whole, which the next run reads again;"),
        "{line}"
    );
    assert!(code == Some(2) && told.contains("status 400"), "{told}");
    fails.store(false, Ordering::Relaxed);
    for (store, expected) in [(&partial, "1 application stored"), (&whole, "1 application stored")] {
        assert!(store.ingest(&server).0.contains(expected));
    }
    assert_eq!(partial.history(), whole.history());
    let before = objects_read(&server);
    assert!(partial.ingest(&server).0.contains("1 unchanged"));
    assert_eq!(objects_read(&server), before);
}

#[test]
fn a_damaged_object_is_read_once_and_again_when_its_content_has_another_name() {
    let is_other = Arc::new(AtomicBool::new(false));
    let other = Arc::clone(&is_other);
    // It starts like gzip.
    let damaged = [&b"\x1f\x8b\x08\x00"[..], &[0xff; 2000]].concat();
    let server = fake_of(damaged, move |_, mut reply| {
        if other.load(Ordering::Relaxed) {
            for (name, value) in &mut reply.headers {
                if *name == "ETag" {
                    "\"v2\"".clone_into(value);
                }
            }
            let text = String::from_utf8_lossy(&reply.body);
            if text.contains("<ETag>") {
                reply.body = text.replace("\"v1\"", "\"v2\"").into_bytes();
            }
        }
        reply
    });
    let store = store();
    let (line, code, told) = store.ingest(&server);
    assert!(line.contains("1 failed") && code == Some(2), "{line}");
    assert!(told.contains("cannot decompress") || told.contains("is truncated or damaged"), "{told}");
    let before = objects_read(&server);
    let (line, _, _) = store.ingest(&server);
    assert!(line.contains("1 unchanged"), "{line}");
    assert_eq!(objects_read(&server), before);
    // Size and time are the same.
    is_other.store(true, Ordering::Relaxed);
    let (line, _, _) = store.ingest(&server);
    assert!(line.contains("1 failed"), "{line}");
    assert!(objects_read(&server) > before);
}

#[test]
fn others_write_to_the_store_while_an_ingest_waits_for_a_server() {
    let is_open = Arc::new(AtomicBool::new(false));
    let (gate, is_asked) = (Arc::clone(&is_open), Arc::new(AtomicBool::new(false)));
    let asked = Arc::clone(&is_asked);
    let server = fake_of(history(), move |request, reply| {
        while is_object(request) && !gate.load(Ordering::Relaxed) {
            asked.store(true, Ordering::Relaxed);
            std::thread::sleep(Duration::from_millis(5));
        }
        reply
    });
    let store = store();
    let path = store.path();
    let mut waiting = super::command(&["ingest", "--quiet", "--store", &path, "s3://bucket/logs"]);
    waiting.env("AWS_ENDPOINT_URL", server.url("")).env("AWS_REGION", "us-east-1");
    waiting.env("AWS_ACCESS_KEY_ID", "id").env("AWS_SECRET_ACCESS_KEY", "secret");
    let waiting = waiting.stderr(Stdio::inherit()).spawn().unwrap();
    let begun = std::time::Instant::now();
    while !is_asked.load(Ordering::Relaxed) {
        assert!(begun.elapsed() < super::PATIENCE);
        std::thread::sleep(Duration::from_millis(5));
    }
    let other = output(super::command(&["ingest", "--quiet", "--store", &path, "testdata/hadoop1"]));
    is_open.store(true, Ordering::Relaxed);
    assert!(other.status.success(), "{}", errors(&other));
    let waited = waiting.wait_with_output().unwrap();
    let line = String::from_utf8(waited.stdout).unwrap();
    assert!(waited.status.success() && line.contains("1 application stored"), "{line}");
}
