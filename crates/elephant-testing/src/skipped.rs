//! Counts skipped tests for one closing line of `cargo test`.
//!
//! A test cannot know whether it is the last one, and each test program is a separate process. So every skipped test
//! adds a line to `skipped-tests.tsv` in the build folder (`target/debug`). `tests/skipped.rs`, one of the last
//! programs that cargo runs, counts the lines of this run and removes the file. A run is identified by its `cargo test` process,
//! the parent of all its test programs, so lines of an earlier failed run are not counted.
//!
//! Cargo stops at the first program with a failed test; then nothing is counted.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{File, read_to_string, remove_file};
use std::io::Write as _;
use std::panic::Location;
use std::path::PathBuf;

/// Records that the calling test is skipped.
#[track_caller]
pub fn note(reason: &str) {
    println!("skipped: {reason}");
    let thread = std::thread::current();
    // With `--test-threads=1` all tests run on the main thread.
    let test = thread.name().filter(|name| *name != "main").map(str::to_owned);
    let test = test.unwrap_or_else(|| Location::caller().to_string());
    let line = format!("{}\t{reason}\t{test}\n", run());
    let file = File::options().append(true).create(true).open(place());
    // One write, because tests run in parallel.
    file.and_then(|mut file| file.write_all(line.as_bytes())).unwrap();
}

/// The closing line for the skipped tests of this run. Removes the records of this and earlier runs.
pub fn take_summary() -> String {
    let noted = read_to_string(place()).unwrap_or_default();
    let _ = remove_file(place());
    summary(&noted, run())
}

/// The summary of these lines for one run.
pub fn summary(noted: &str, run: u32) -> String {
    let mut reasons: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for line in noted.lines() {
        let mut cells = line.split('\t');
        if let (Some(of), Some(reason), Some(test)) = (cells.next(), cells.next(), cells.next())
            && of.parse() == Ok(run)
        {
            reasons.entry(reason).or_default().insert(test);
        }
    }
    let tests: BTreeSet<&str> = reasons.values().flatten().copied().collect();
    let text = match tests.len() {
        0 => return "0 tests skipped".to_owned(),
        1 => "1 test skipped",
        count => &format!("{count} tests skipped"),
    };
    let reasons: Vec<String> =
        reasons.iter().map(|(reason, tests)| format!("{reason} ({})", tests.len())).collect();
    format!("{text}: {}", reasons.join(", "))
}

/// The process id of `cargo test`, which starts all test programs of a run.
fn run() -> u32 {
    #[cfg(unix)]
    return std::os::unix::process::parent_id();
    #[cfg(not(unix))]
    return 0;
}

/// `target/debug/skipped-tests.tsv`; test programs are in `target/debug/deps`.
fn place() -> PathBuf {
    let program = std::env::current_exe().unwrap();
    program.ancestors().nth(2).unwrap().join("skipped-tests.tsv")
}
