//! Folder entries that are not plain files, or that change.

use std::fs::{self, File, Permissions};
use std::io::Write;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::os::unix::net::UnixListener;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::run::{analyze, codes, elephant, run};
use elephant_testing::make::{jhist, spark_end, spark_start, stage};

fn mkfifo(path: &Path) {
    assert!(Command::new("mkfifo").arg(path).status().unwrap().success());
}

#[test]
fn folder_of_special_files_is_read_within_limits() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    fs::write(root.join("job_1500000000000_0001.jhist"), jhist(2)).unwrap();
    // Opening it would block forever.
    mkfifo(&root.join("pipe.jhist"));
    let _socket = UnixListener::bind(root.join("socket.jhist")).unwrap();
    symlink(root, root.join("loop")).unwrap();
    symlink("b", root.join("a")).unwrap();
    symlink("a", root.join("b")).unwrap();
    symlink("/dev/zero", root.join("endless")).unwrap();
    symlink("/dev/full", root.join("full")).unwrap();
    symlink("nowhere", root.join("dangling")).unwrap();
    fs::create_dir(root.join("secret")).unwrap();
    fs::write(root.join("secret/x.jhist"), jhist(1)).unwrap();
    fs::write(root.join("locked.jhist"), jhist(1)).unwrap();
    for name in ["secret", "locked.jhist"] {
        fs::set_permissions(root.join(name), Permissions::from_mode(0o000)).unwrap();
    }
    let may_read_all = File::open(root.join("locked.jhist")).is_ok();
    let (report, ran) = analyze(root, &[]);
    fs::set_permissions(root.join("secret"), Permissions::from_mode(0o700)).unwrap();
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let applications = report["applications"].as_array().unwrap().len();
    // The two that may be unreadable are copies.
    assert_eq!(applications, if may_read_all { 2 } else { 1 }, "{report:#}");
    // The links in a loop, the broken link, and the copy or the unreadable entries.
    let troubles = if may_read_all { 4 } else { 5 };
    assert_eq!(ran.stderr.lines().count(), troubles, "{}", ran.stderr);
    assert!(report["summary"]["files"]["skipped"].as_u64() >= Some(2), "{report:#}");
}

#[test]
fn named_pipes_and_devices_are_read_as_streams() {
    let folder = tempfile::tempdir().unwrap();
    let pipe = folder.path().join("pipe");
    mkfifo(&pipe);
    let log = spark_start() + &stage(0, 0) + &spark_end();
    let writer = std::thread::spawn({
        let pipe = pipe.clone();
        move || fs::write(pipe, log).unwrap()
    });
    let (report, _) = analyze(&pipe, &[]);
    writer.join().unwrap();
    assert_eq!(report["applications"][0]["id"], "app-1");
    // Endless zeros: after 64 KiB this is known not to be a history.
    let ran = run(elephant().args(["analyze", "/dev/zero"]));
    assert_ne!(ran.code, Some(0), "{}", ran.stdout);
    assert!(ran.peak_mib < 100, "{} MiB", ran.peak_mib);
    assert_eq!(run(elephant().args(["analyze", "/dev/null"])).code, Some(2));
}

/// Runs a command that must not block forever.
fn run_with_time_limit(command: &mut Command) -> crate::run::Ran {
    run(command.args(["--format=json", "--max-time=1500ms"]))
}

#[test]
fn waiting_for_a_pipe_writer_ends_at_the_time_limit() {
    let folder = tempfile::tempdir().unwrap();
    let (unopened, silent, half) =
        (folder.path().join("unopened"), folder.path().join("silent"), folder.path().join("half"));
    for pipe in [&unopened, &silent, &half] {
        mkfifo(pipe);
    }
    // Both ends are open, so that neither open call blocks.
    let open = |path: &Path| File::options().read(true).write(true).open(path).unwrap();
    let (_silent, mut writer) = (open(&silent), open(&half));
    writer.write_all((spark_start() + &stage(0, 0)).as_bytes()).unwrap();
    for pipe in [&unopened, &silent] {
        // The other named path is read.
        let ran = run_with_time_limit(elephant().arg("analyze").arg(pipe).arg("testdata/hadoop1"));
        assert_eq!(ran.code, Some(2), "{}", ran.stderr);
        assert!(
            ran.stderr.contains("longer than 1.5 s") && ran.stderr.contains("--max-time"),
            "{}",
            ran.stderr
        );
        let report: serde_json::Value = serde_json::from_str(&ran.stdout).unwrap();
        assert_eq!(codes(&report), ["limit-reached"]);
        assert_eq!(report["applications"].as_array().unwrap().len(), 1);
    }
    // The data received so far is used.
    let ran = run_with_time_limit(elephant().arg("analyze").arg(&half));
    let report: serde_json::Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(codes(&report).iter().filter(|code| **code == "limit-reached").count(), 1, "{}", ran.stderr);
    assert_eq!(report["applications"][0]["id"], "app-1");
    assert_eq!(report["applications"][0]["complete"], false);
}

#[test]
fn endless_standard_input_ends_at_the_time_limit() {
    for sent in [String::new(), spark_start() + &stage(0, 0)] {
        let mut command = elephant();
        command.args(["analyze", "-", "--format=json", "--max-time=1500ms"]);
        let mut child =
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        // Waiting for the child would close it.
        let mut input = child.stdin.take().unwrap();
        input.write_all(sent.as_bytes()).unwrap();
        let output = child.wait_with_output().unwrap();
        drop(input);
        let stderr = String::from_utf8(output.stderr).unwrap();
        let report: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(codes(&report).iter().filter(|code| **code == "limit-reached").count(), 1, "{stderr}");
        assert_eq!(output.status.code(), Some(if sent.is_empty() { 2 } else { 0 }), "{stderr}");
        assert_eq!(report["applications"].as_array().unwrap().len(), usize::from(!sent.is_empty()));
    }
}

#[test]
fn thousands_of_files_are_read_with_few_open_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let log = spark_start() + &spark_end();
    for part in 0..3000 {
        let below = folder.path().join(format!("{}", part % 7));
        fs::create_dir_all(&below).unwrap();
        let (name, text) =
            if part % 10 == 0 { (format!("app-{part}"), log.as_str()) } else { (format!("{part}.txt"), "x") };
        let text = text.replace("app-1", &format!("app-{part}"));
        fs::write(below.join(name), text).unwrap();
    }
    let mut shell = Command::new("sh");
    shell.args([
        "-c",
        "ulimit -n 32; exec \"$@\"",
        "sh",
        env!("CARGO_BIN_EXE_elephant-rs"),
        "analyze",
        "--format=json",
        "--quiet",
    ]);
    let ran = run(shell.arg(folder.path()));
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let report: serde_json::Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(report["summary"]["files"]["found"], 3000);
    assert_eq!(report["applications"].as_array().unwrap().len(), 300);
    assert!(!codes(&report).contains(&"unreadable"));
}

#[test]
fn names_with_line_feeds_and_escapes_stay_on_one_line() {
    let folder = tempfile::tempdir().unwrap();
    let log = spark_start() + "{broken\n" + &spark_end();
    fs::write(folder.path().join("a\nelephant-rs: error: forged\u{1b}]0;x\u{7}\u{202e}"), log).unwrap();
    let (report, ran) = analyze(folder.path(), &[]);
    assert_eq!(ran.stderr.lines().count(), codes(&report).len(), "{}", ran.stderr);
    assert!(!ran.stderr.contains(['\u{1b}', '\u{7}']), "{:?}", ran.stderr);
    let text = run(elephant().arg("analyze").arg(folder.path())).stdout;
    assert!(!text.contains('\u{1b}'), "{text:?}");
}
