//! `elephant-rs watch` as users run it: on finished logs, on logs that grow, and killed in between.

use std::fs::{self, File, OpenOptions};
use std::io::Write as _;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;
use tempfile::TempDir;

const LOG: &str = "testdata/spark/3.5.9/skew/app-20261121094318-0000.zstd";
/// Settings that flag several tasks of the log.
const EAGER: [&str; 4] = ["--quantile", "0.3", "--multiplier", "1.05"];
/// Far more than any machine needs.
const PATIENCE: Duration = Duration::from_secs(120);

fn decoded() -> Vec<u8> {
    zstd::decode_all(File::open(Path::new(env!("CARGO_MANIFEST_DIR")).join(LOG)).unwrap()).unwrap()
}

fn watch(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_elephant-rs"));
    command.current_dir(env!("CARGO_MANIFEST_DIR")).env("LC_ALL", "C.UTF-8").arg("watch").args(EAGER);
    command.args(arguments).stdin(Stdio::null());
    command
}

fn output(arguments: &[&str]) -> (Option<i32>, String, String) {
    let output = watch(arguments).output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (output.status.code(), text(output.stdout), text(output.stderr))
}

/// The lines of a kind, without what depends on when the log was read.
fn lines(text: &str, kind: &str) -> Vec<Value> {
    let lines = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let mut lines: Vec<Value> = lines.filter(|line| line["type"] == kind).collect();
    for line in &mut lines {
        line.as_object_mut().unwrap().remove("known_until");
    }
    lines.sort_by_key(ToString::to_string);
    lines
}

/// The flags of the finished log.
fn expected() -> Vec<Value> {
    let (status, text, _) = output(&["--format", "ndjson", LOG]);
    assert_eq!(status, Some(0));
    let flags = lines(&text, "flag");
    assert!(flags.len() > 4, "{text}");
    flags
}

/// A watcher that is killed when it is dropped.
struct Watcher(Child);

impl Watcher {
    fn start(folder: &Path, arguments: &[&str]) -> Self {
        let said = OpenOptions::new().append(true).create(true).open(folder.join("said")).unwrap();
        let fast = ["--format", "ndjson", "--log-time", "--interval", "10ms"];
        Self(watch(&fast).args(arguments).stdout(said).spawn().unwrap())
    }

    /// Waits for its end.
    fn end(&mut self) {
        let begun = Instant::now();
        while self.0.try_wait().unwrap().is_none() {
            assert!(begun.elapsed() < PATIENCE, "it does not end");
            std::thread::sleep(Duration::from_millis(10));
        }
    }
}

impl Drop for Watcher {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn said(folder: &TempDir) -> String {
    let mut text = fs::read_to_string(folder.path().join("said")).unwrap_or_default();
    // A kill may cut the last line.
    text.truncate(text.rfind('\n').map_or(0, |end| end + 1));
    text
}

fn wait_for(folder: &TempDir, what: &str, count: usize) {
    let begun = Instant::now();
    while said(folder).matches(what).count() < count {
        assert!(begun.elapsed() < PATIENCE, "{what} is missing in\n{}", said(folder));
        std::thread::sleep(Duration::from_millis(10));
    }
}

fn append(path: &Path, bytes: &[u8]) {
    OpenOptions::new().append(true).create(true).open(path).unwrap().write_all(bytes).unwrap();
}

#[test]
fn a_log_that_grows_gives_the_flags_of_the_finished_log() {
    let folder = tempfile::tempdir().unwrap();
    let begun = folder.path().join("app.inprogress");
    File::create(&begun).unwrap();
    let mut watcher = Watcher::start(folder.path(), &[begun.to_str().unwrap()]);
    // Pieces end within lines.
    for piece in decoded().chunks(10_007) {
        append(&begun, piece);
        std::thread::sleep(Duration::from_millis(3));
    }
    fs::rename(&begun, folder.path().join("app")).unwrap();
    watcher.end();
    let said = said(&folder);
    assert_eq!(lines(&said, "flag"), expected());
    assert_eq!(lines(&said, "end").len(), 1);
}

#[test]
fn a_compressed_log_that_grows_gives_the_same_flags() {
    let folder = tempfile::tempdir().unwrap();
    let begun = folder.path().join("app.zstd.inprogress");
    File::create(&begun).unwrap();
    let mut watcher = Watcher::start(folder.path(), &[begun.to_str().unwrap()]);
    // Spark closes a frame when it flushes.
    for frame in decoded().chunks(50_000) {
        for piece in zstd::encode_all(frame, 3).unwrap().chunks(701) {
            append(&begun, piece);
        }
        std::thread::sleep(Duration::from_millis(3));
    }
    fs::rename(&begun, folder.path().join("app.zstd")).unwrap();
    watcher.end();
    assert_eq!(lines(&said(&folder), "flag"), expected());
}

#[test]
fn a_rolling_log_that_grows_gives_the_same_flags() {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("eventlog_v2_app-1");
    fs::create_dir(&log).unwrap();
    let marker = log.join("appstatus_app-1.inprogress");
    File::create(&marker).unwrap();
    let mut watcher = Watcher::start(folder.path(), &[log.to_str().unwrap()]);
    let text = decoded();
    let ends: Vec<usize> =
        text.iter().enumerate().filter(|(_, byte)| **byte == b'\n').map(|(at, _)| at + 1).collect();
    let mut begin = 0;
    for (number, end) in ends.iter().copied().filter(|end| end % 7 == 0).chain([text.len()]).enumerate() {
        append(&log.join(format!("events_{}_app-1", number + 1)), &text[begin..end]);
        begin = end;
    }
    fs::rename(&marker, log.join("appstatus_app-1")).unwrap();
    watcher.end();
    assert_eq!(lines(&said(&folder), "flag"), expected());
}

#[test]
fn a_watcher_that_is_killed_goes_on_where_it_was() {
    let folder = tempfile::tempdir().unwrap();
    let logs = folder.path().join("logs");
    fs::create_dir(&logs).unwrap();
    let begun = logs.join("app.inprogress");
    let state = folder.path().join("state");
    let arguments = ["--state", state.to_str().unwrap(), logs.to_str().unwrap()];
    let text = decoded();
    let mut kills = 0;
    for piece in text.chunks(text.len() / 4 + 1) {
        append(&begun, piece);
        let watcher = Watcher::start(folder.path(), &arguments);
        kills += 1;
        wait_for(&folder, "\"type\":\"watch\"", kills);
        std::thread::sleep(Duration::from_millis(60));
        drop(watcher);
    }
    // The log ended while no watcher ran.
    fs::rename(&begun, logs.join("app")).unwrap();
    let watcher = Watcher::start(folder.path(), &arguments);
    wait_for(&folder, "\"type\":\"end\"", 1);
    drop(watcher);
    let mut flags = lines(&said(&folder), "flag");
    // A kill between a line and its note in the state repeats that line.
    let all = flags.len();
    flags.dedup();
    assert!(all - flags.len() <= kills, "{all}");
    assert_eq!(flags, expected());

    // Nothing is reported again.
    let watcher =
        Watcher::start(folder.path(), &[&arguments[..2], &[logs.join("app").to_str().unwrap()]].concat());
    wait_for(&folder, "\"type\":\"end\"", 2);
    drop(watcher);
    assert_eq!(lines(&said(&folder), "flag").len(), all);
}

#[test]
fn a_log_that_is_written_anew_is_watched_again() {
    let folder = tempfile::tempdir().unwrap();
    let logs = folder.path().join("logs");
    fs::create_dir(&logs).unwrap();
    let begun = logs.join("app.inprogress");
    let text = decoded();
    append(&begun, &text[..text.len() / 2]);
    // A line that a full disk has cut.
    append(&folder.path().join("lines"), b"{\"type\":\"fl");
    let lines_file = folder.path().join("lines");
    let arguments = ["--output", lines_file.to_str().unwrap(), logs.to_str().unwrap()];
    let watcher = Watcher::start(folder.path(), &arguments);
    let told = |what: &str| {
        let begun = Instant::now();
        while !fs::read_to_string(&lines_file).unwrap().contains(what) {
            assert!(begun.elapsed() < PATIENCE, "{what}");
            std::thread::sleep(Duration::from_millis(10));
        }
    };
    told("\"type\":\"application\"");
    OpenOptions::new().write(true).open(&begun).unwrap().set_len(0).unwrap();
    told("it became shorter");
    append(&begun, &text);
    fs::rename(&begun, logs.join("app")).unwrap();
    told("\"type\":\"end\"");
    drop(watcher);
    let said = fs::read_to_string(&lines_file).unwrap();
    let (cut, whole) = said.split_once('\n').unwrap();
    assert_eq!(cut, "{\"type\":\"fl");
    assert_eq!(lines(whole, "flag"), expected());
}

#[test]
fn flags_of_tasks_that_had_ended_are_withdrawn() {
    // The end of a task is written late: time has passed by our clock.
    let folder = tempfile::tempdir().unwrap();
    let begun = folder.path().join("app.inprogress");
    let task = |id: u64, kind: &str, end: u64| {
        format!(
            "{{\"Event\":\"SparkListenerTask{kind}\",\"Stage ID\":0,\"Stage Attempt ID\":0,\"Task End Reason\":\
             {{\"Reason\":\"Success\"}},\"Task Info\":{{\"Task ID\":{id},\"Index\":{id},\"Attempt\":0,\"Launch Time\":\
             1000,\"Executor ID\":\"1\",\"Host\":\"a\",\"Speculative\":false,\"Finish Time\":{end}}}}}\n"
        )
    };
    let mut text = "{\"Event\":\"SparkListenerApplicationStart\",\"App Name\":\"a\",\"App ID\":\"a\",\"Timestamp\":\
                    900,\"User\":\"u\"}\n{\"Event\":\"SparkListenerStageSubmitted\",\"Stage Info\":{\"Stage ID\":0,\
                    \"Stage Attempt ID\":0,\"Stage Name\":\"s\",\"Number of Tasks\":6,\"Submission Time\":950}}\n"
        .to_owned();
    (0..6).for_each(|id| text += &task(id, "Start", 0));
    (0..5).for_each(|id| text += &task(id, "End", 1200));
    fs::write(&begun, &text).unwrap();
    let said = File::create(folder.path().join("said")).unwrap();
    let arguments = ["--format", "ndjson", "--interval", "10ms", "--settle", "0ms", begun.to_str().unwrap()];
    let mut watcher = Watcher(watch(&arguments).stdout(said).spawn().unwrap());
    wait_for(&folder, "\"type\":\"flag\"", 1);
    append(&begun, task(5, "End", 1205).as_bytes());
    wait_for(&folder, "\"type\":\"withdrawn\"", 1);
    append(&begun, b"{\"Event\":\"SparkListenerApplicationEnd\",\"Timestamp\":1300}\n");
    watcher.end();
    let said = fs::read_to_string(folder.path().join("said")).unwrap();
    let withdrawn = &lines(&said, "withdrawn")[0];
    assert_eq!(
        (&withdrawn["task"], &withdrawn["had_ended_at"]),
        (&5.into(), &"1970-01-01T00:00:01.205Z".into())
    );
}

#[test]
fn what_cannot_be_watched_is_said() {
    let (status, _, errors) = output(&["--detector", "late", LOG]);
    assert_eq!(status, Some(2));
    assert!(
        errors.contains("needs data on running tasks (progress)") && errors.contains("spark-3"),
        "{errors}"
    );
    let (status, _, errors) = output(&["--detector", "nope", LOG]);
    assert_eq!(status, Some(2));
    assert!(errors.contains("there is no detector nope"), "{errors}");
    let (status, _, errors) = output(&["--detector", "offline", LOG]);
    assert_eq!(status, Some(2));
    assert!(errors.contains("needs data on running tasks (progress and models of earlier runs)"), "{errors}");
    let (status, _, errors) = output(&["--models", "no-such-file", LOG]);
    assert_eq!(status, Some(2));
    assert!(errors.contains("cannot read the models no-such-file"), "{errors}");
    let (status, _, errors) = output(&["no-such-log"]);
    assert_eq!(status, Some(2));
    assert!(errors.contains("no-such-log: cannot watch it") && errors.contains("no application"), "{errors}");
    let folder = tempfile::tempdir().unwrap();
    let (status, _, errors) = output(&["--once", folder.path().to_str().unwrap()]);
    assert_eq!(status, Some(2), "{errors}");
    let lz4 = folder.path().join("app.lz4.inprogress");
    fs::write(&lz4, b"LZ4Block\x25rest of the block").unwrap();
    let (status, _, errors) = output(&[lz4.to_str().unwrap()]);
    assert_eq!(status, Some(2));
    assert!(errors.contains("spark.eventLog.compression.codec=zstd"), "{errors}");
}

#[test]
fn a_job_history_leads_to_its_application_master() {
    let folder = tempfile::tempdir().unwrap();
    let history = folder.path().join("job_1_2.jhist");
    fs::write(&history, "Avro-Json\n{\"type\":\"record\"}\n").unwrap();
    let (status, text, errors) = output(&["--format", "ndjson", history.to_str().unwrap()]);
    assert_eq!(status, Some(2), "{errors}");
    assert!(lines(&text, "problem")[0]["message"].as_str().unwrap().contains("application master"), "{text}");
}

#[test]
fn what_began_and_ended_between_two_runs_is_told_once() {
    let folder = tempfile::tempdir().unwrap();
    let logs = folder.path().join("logs");
    fs::create_dir(&logs).unwrap();
    let state = folder.path().join("state");
    let run = |logs: &Path| {
        let (state, logs) = (state.to_str().unwrap(), logs.to_str().unwrap());
        let (status, text, errors) = output(&["--once", "--format", "ndjson", "--state", state, logs]);
        assert_eq!(errors.contains("no application"), status == Some(2), "{errors}");
        (status, text)
    };
    // Logs that had ended before the first run are not reported, nor are files that are not logs.
    append(&logs.join("first"), &decoded());
    assert_eq!(lines(&run(&logs).1, "flag").len(), 0);
    append(&logs.join("second"), &decoded());
    append(&logs.join("notes"), b"buy milk\n");
    let (_, text) = run(&logs);
    assert_eq!(lines(&text, "flag"), expected());
    assert_eq!((lines(&text, "application").len(), lines(&text, "problem").len()), (1, 0));
    // The same folder, written in another way.
    let (status, again) = run(&logs.join("..").join("logs"));
    // It is not a failure if there is nothing new.
    assert_eq!(status, Some(0), "{again}");
    assert!(lines(&again, "flag").is_empty() && lines(&again, "application").is_empty(), "{again}");
}

#[test]
fn applications_that_take_too_much_memory_are_given_up() {
    let folder = tempfile::tempdir().unwrap();
    let begun = folder.path().join("app.inprogress");
    let text = decoded();
    append(&begun, &text[..text.len() / 2]);
    let arguments = ["--once", "--format", "ndjson", "--max-memory", "1KiB", begun.to_str().unwrap()];
    let (status, text, _) = output(&arguments);
    assert_eq!(status, Some(0), "{text}");
    let message = lines(&text, "problem")[0]["message"].as_str().unwrap().to_owned();
    assert!(message.contains("--max-memory"), "{message}");
}

#[test]
fn text_names_the_task_its_time_and_the_limit() {
    let (status, text, _) = output(&[LOG]);
    assert_eq!(status, Some(0));
    elephant_testing::with_snapshots("reports", || insta::assert_snapshot!("watch.txt", text));
}
