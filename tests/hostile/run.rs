//! Runs the program and measures its memory.

use std::fs::{self, File};
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::Value;
use wait4::Wait4;

/// The result of a run.
#[derive(Debug)]
pub(crate) struct Ran {
    /// `None` if a signal ended it.
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
    /// Peak memory, or 0 if it was no more than the test's own.
    pub(crate) peak_mib: u64,
}

/// The program, without the test's environment variables.
pub(crate) fn elephant() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_elephant-rs"));
    command.current_dir(env!("CARGO_MANIFEST_DIR")).stdin(Stdio::null());
    for name in ["NO_COLOR", "CLICOLOR_FORCE", "ELEPHANT_LOG", "RUST_LOG"] {
        command.env_remove(name);
    }
    // The resources of a run must not depend on the machine.
    command.env("RAYON_NUM_THREADS", "2");
    command
}

/// Runs it to its end. Its output goes to files, so it never blocks on a reader.
pub(crate) fn run(command: &mut Command) -> Ran {
    let folder = tempfile::tempdir().unwrap();
    let (out, err) = (folder.path().join("out"), folder.path().join("err"));
    command.stdout(File::create(&out).unwrap()).stderr(File::create(&err).unwrap());
    let ended = command.spawn().unwrap().wait4().unwrap();
    Ran {
        code: ended.status.code(),
        stdout: fs::read_to_string(&out).unwrap(),
        stderr: fs::read_to_string(&err).unwrap(),
        // A process starts with the peak of its parent, which says nothing about its own memory.
        peak_mib: Some(ended.rusage.maxrss >> 20).filter(|peak| *peak > own_peak_mib()).unwrap_or(0),
    }
}

/// Peak memory of the test itself.
fn own_peak_mib() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap_or_default();
    line.trim().trim_end_matches(" kB").trim().parse::<u64>().unwrap_or_default() >> 10
}

/// The JSON report on `path`, and the other results of the run.
pub(crate) fn analyze(path: &Path, options: &[&str]) -> (Value, Ran) {
    let ran = run(elephant().args(["analyze", "--format", "json", "--details"]).args(options).arg(path));
    assert_ne!(ran.code, None, "killed: {}", ran.stderr);
    assert_ne!(ran.code, Some(101), "panicked: {}", ran.stderr);
    assert!(!ran.stderr.contains("panicked"), "{}", ran.stderr);
    let report = serde_json::from_str(&ran.stdout)
        .unwrap_or_else(|error| panic!("no report: {error}\n{}\n{}", ran.stdout, ran.stderr));
    (report, ran)
}

/// The problem codes of a report.
pub(crate) fn codes(report: &Value) -> Vec<&str> {
    report["problems"].as_array().unwrap().iter().map(|problem| problem["code"].as_str().unwrap()).collect()
}

/// The number of tasks of an application that a limit kept, from its report.
pub(crate) fn kept_tasks(app: &Value) -> Option<u64> {
    let reasons = app["not_evaluated"].as_array()?.iter().filter_map(|entry| entry["reason"].as_str());
    let count = |reason: &str| {
        let (option, kept) = reason.split_once(" kept ")?;
        let kept = kept.strip_prefix("only part of the log: ").unwrap_or(kept);
        option.starts_with("--max-").then_some(kept)?.split(' ').next()?.parse().ok()
    };
    reasons.into_iter().find_map(count)
}
