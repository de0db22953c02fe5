//! Outputs that are full, closed or interrupted.

use std::fs::{self, File, Permissions};
use std::io::Write;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use crate::run::{elephant, run};
use elephant_testing::make::{spark_end, spark_start, stage};

/// Files that a run left next to the report.
fn leftover_files(folder: &Path) -> Vec<String> {
    let names = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    names.filter(|name| name.starts_with(".elephant-rs-")).collect()
}

/// Starts a run that waits for the rest of its input; its temporary file is in `folder`.
fn waiting(command: &mut Command, folder: &Path) -> Child {
    let mut child = command.stdin(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    child.stdin.as_mut().unwrap().write_all(spark_start().as_bytes()).unwrap();
    while leftover_files(folder).is_empty() {
        assert_eq!(child.try_wait().unwrap(), None, "it ended too early");
        std::thread::sleep(Duration::from_millis(5));
    }
    child
}

/// Whether the test itself ignores a signal, like background processes do; the program then ignores it, too.
fn is_ignored(number: u32) -> bool {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:")).unwrap_or("0");
    u64::from_str_radix(mask.trim(), 16).unwrap() >> (number - 1) & 1 == 1
}

fn signal(child: &Child, name: &str) {
    assert!(Command::new("kill").args(["-s", name, &child.id().to_string()]).status().unwrap().success());
}

#[test]
fn interrupted_run_leaves_no_files_and_keeps_the_old_report() {
    let cases = [
        ("INT", 2),
        ("TERM", 15),
        ("HUP", 1),
        ("QUIT", 3),
        ("XCPU", 24),
        ("ALRM", 14),
        ("USR1", 10),
        ("USR2", 12),
    ];
    for (name, number) in cases.into_iter().filter(|(_, number)| !is_ignored(*number)) {
        for arguments in
            [&["analyze", "-o"][..], &["check", "--update", "--baseline"], &["nodes", "--exclude-list"]]
        {
            let folder = tempfile::tempdir().unwrap();
            let place = folder.path().join("report");
            if arguments[0] != "check" {
                fs::write(&place, "the old one").unwrap();
            }
            let before = fs::read(&place).ok();
            let mut command = elephant();
            let mut child = waiting(command.args(arguments).arg(&place).arg("-"), folder.path());
            // Waiting would close it, and the run would continue.
            let input = child.stdin.take();
            signal(&child, name);
            assert_eq!(
                child.wait().unwrap().signal(),
                i32::try_from(number).ok(),
                "{arguments:?} and {name}"
            );
            drop(input);
            assert_eq!(leftover_files(folder.path()), [""; 0], "{arguments:?} and {name}");
            assert_eq!(fs::read(&place).ok(), before);
        }
    }
}

#[test]
fn ignored_signals_stay_ignored() {
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path().join("report");
    let mut shell = Command::new("sh");
    let script = "trap '' HUP; exec \"$0\" \"$@\"";
    shell.args(["-c", script, env!("CARGO_BIN_EXE_elephant-rs"), "analyze", "-", "-o"]).arg(&place);
    let mut child = waiting(&mut shell, folder.path());
    signal(&child, "HUP");
    let mut stdin = child.stdin.take().unwrap();
    stdin.write_all((stage(0, 0) + &spark_end()).as_bytes()).unwrap();
    drop(stdin);
    assert_eq!(child.wait().unwrap().code(), Some(0));
    assert!(fs::read_to_string(&place).unwrap().contains("1 application"));
}

#[test]
fn full_disk_is_an_error_and_leaves_no_files() {
    if !Path::new("/dev/full").exists() {
        return;
    }
    let full = || File::options().write(true).open("/dev/full").unwrap();
    for arguments in [
        &["analyze", "testdata/hadoop1"][..],
        &["analyze", "--format=html", "testdata/hadoop1"],
        &["--help"],
        &["analyze", "--help"],
        &["--version"],
        &["rules", "list"],
        &["rules", "schema"],
        &["completions", "bash"],
        &["man"],
    ] {
        let output = elephant().args(arguments).stdout(full()).output().unwrap();
        let error = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {error}");
        assert!(error.contains("No space left") || error.contains("no space left"), "{arguments:?}: {error}");
    }
    let ran = run(elephant().args(["analyze", "-o", "/dev/full", "testdata/hadoop1"]));
    assert_eq!(ran.code, Some(2), "{}", ran.stderr);
    assert!(fs::metadata("/dev/full").unwrap().permissions().mode() & 0o777 > 0);
}

#[test]
fn unwritable_output_is_an_error() {
    for arguments in
        [&["analyze", "testdata/hadoop1"][..], &["--help"], &["--version"], &["rules", "list"], &["man"]]
    {
        // Opened for reading only.
        let output = elephant().args(arguments).stdout(File::open("/dev/null").unwrap()).output().unwrap();
        let error = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {error}");
        assert!(error.to_lowercase().contains("bad file descriptor"), "{arguments:?}: {error}");
    }
}

#[test]
fn file_size_limit_is_an_error_and_leaves_no_files() {
    let folder = tempfile::tempdir().unwrap();
    let mut shell = Command::new("sh");
    // Blocks of 512 or 1024 bytes.
    let script = "ulimit -f 1; exec \"$0\" \"$@\"";
    shell.current_dir(env!("CARGO_MANIFEST_DIR"));
    shell.args([
        "-c",
        script,
        env!("CARGO_BIN_EXE_elephant-rs"),
        "analyze",
        "testdata/hadoop1",
        "--format=json",
        "-o",
    ]);
    // The test's own files are not limited.
    let output = shell.arg(folder.path().join("report")).output().unwrap();
    let error = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{error}");
    assert!(error.to_lowercase().contains("file too large"), "{error}");
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
}

#[test]
fn invalid_output_path_is_reported_before_reading_input() {
    let folder = tempfile::tempdir().unwrap();
    let place = |name: &str| folder.path().join(name).into_os_string().into_string().unwrap();
    for (place, words) in [
        (place("new/"), "is a directory"),
        (place("no/such/place"), "no such file"),
        (place(""), "is a directory"),
    ] {
        let ran = run(elephant().args(["analyze", "no-such-history", "-o", &place]));
        assert_eq!(ran.code, Some(2));
        let error = ran.stderr.to_lowercase();
        assert!(error.contains(words) && !error.contains("no-such-history"), "{place}: {error}");
        assert!(!error.contains(".elephant-rs-"), "{error}");
    }
    // Standard output by its path, which may be a pipe.
    let output = elephant().args(["analyze", "testdata/hadoop1", "-o", "/dev/stdout"]).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    assert!(String::from_utf8(output.stdout).unwrap().contains("Too much memory"));
    // As with `>>`.
    let log = folder.path().join("log");
    fs::write(&log, "kept\n").unwrap();
    let appended = File::options().append(true).open(&log).unwrap();
    let mut command = elephant();
    let status =
        command.args(["analyze", "testdata/hadoop1", "-o", "/dev/stdout"]).stdout(appended).status().unwrap();
    assert_eq!(status.code(), Some(0));
    let written = fs::read_to_string(&log).unwrap();
    assert!(written.starts_with("kept\n") && written.contains("Too much memory"), "{written}");
}

#[test]
fn closed_pipe_exits_0_without_a_message() {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("app-1");
    fs::write(&log, spark_start() + &(0..500).map(|id| stage(id, 0)).collect::<String>() + &spark_end())
        .unwrap();
    for arguments in [
        &["analyze", "--format=html"][..],
        &["stragglers", "--format=json"],
        &["--help"],
        &["man"],
        &["rules", "schema"],
    ] {
        let mut command = elephant();
        command.args(arguments);
        if arguments.len() == 2 && !arguments.contains(&"schema") {
            command.arg(&log);
        }
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        drop(child.stdout.take());
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{arguments:?}");
        assert_eq!(
            String::from_utf8(output.stderr).unwrap().lines().filter(|line| line.contains("error")).count(),
            0
        );
    }
}

#[test]
fn report_replaces_file_contents_but_keeps_mode_and_link() {
    let folder = tempfile::tempdir().unwrap();
    let (real, link) = (folder.path().join("real"), folder.path().join("link"));
    fs::create_dir(folder.path().join("sub")).unwrap();
    let dangling = folder.path().join("dangling");
    fs::write(&real, "old").unwrap();
    fs::set_permissions(&real, Permissions::from_mode(0o640)).unwrap();
    symlink("real", &link).unwrap();
    symlink("sub/new", &dangling).unwrap();
    for place in [&link, &dangling] {
        let ran = run(elephant().args(["analyze", "testdata/hadoop1", "-o"]).arg(place));
        assert_eq!(ran.code, Some(0), "{}", ran.stderr);
        assert!(fs::symlink_metadata(place).unwrap().is_symlink());
        assert!(fs::read_to_string(place).unwrap().contains("Too much memory"));
    }
    assert_eq!(fs::metadata(&real).unwrap().permissions().mode() & 0o777, 0o640);
    assert!(folder.path().join("sub/new").is_file());
    let looping = folder.path().join("looping");
    symlink("looping", &looping).unwrap();
    let ran = run(elephant().args(["analyze", "testdata/hadoop1", "-o"]).arg(&looping));
    assert_eq!(ran.code, Some(2), "{}", ran.stderr);
    // A file that may not be written may not be replaced either.
    fs::set_permissions(&real, Permissions::from_mode(0o440)).unwrap();
    if File::options().write(true).open(&real).is_err() {
        let ran = run(elephant().args(["analyze", "testdata/hadoop1", "-o"]).arg(&real));
        assert_eq!(ran.code, Some(2), "{}", ran.stderr);
    }
    assert_eq!(leftover_files(folder.path()), [""; 0]);
}

#[test]
fn named_file_without_a_history_is_reported() {
    let ran = run(elephant().args(["analyze", "testdata/hadoop1", "Cargo.toml"]));
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    assert!(
        ran.stderr.contains("Cargo.toml") && ran.stderr.contains("not an event log or job history"),
        "{}",
        ran.stderr
    );
    assert_eq!(run(elephant().args(["analyze", "--strict", "testdata/hadoop1", "Cargo.toml"])).code, Some(2));
    let ran = run(elephant().args(["analyze", "testdata/hadoop1"]).env("ELEPHANT_LOG", "infoo"));
    assert!(ran.stderr.contains("infoo is not a level"), "{}", ran.stderr);
}
