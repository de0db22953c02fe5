//! Runs of one job in several folders are one entry of each text report, and the answer comes first.

use std::path::Path;

use assert_cmd::Command;
use serde_json::Value;

use elephant_testing::spark_log::{App, Task};

const RUNS: i64 = 4;

/// A run with two stages of three waves on four cores. The last task of each is a straggler, `slow` milliseconds longer
/// than the others.
fn log(number: i64, usual: i64, slow: i64) -> String {
    let tasks = || {
        let task = |place: i64| {
            let executor = if place % 4 < 2 { "1" } else { "2" };
            let duration = if place == 11 { usual + slow } else { usual };
            Task { launch: place / 4 * usual, ..Task::new(executor, duration) }
        };
        (0..12).map(task).collect::<Vec<_>>()
    };
    let text = App::with(&[], 2, 2).stage(tasks()).stage(tasks()).text();
    text.replace("word count", "nightly").replace("_0001", &format!("_{number:04}"))
}

/// Two folders with runs of one job. Those of `b` are slower: the last one most, and the first one has the longest
/// stragglers.
fn folders(root: &Path) -> [String; 2] {
    [("a", 0, 4_000, 0), ("b", 100, 4_000, 2_500)].map(|(side, first, usual, more)| {
        let folder = root.join(side);
        std::fs::create_dir(&folder).unwrap();
        for run in 1..=RUNS {
            let longer = if first > 0 { 2_000 * run } else { 0 };
            let slow = 60_000 + 5_000 * (RUNS - run) + more;
            std::fs::write(folder.join(format!("log{run}")), log(first + run, usual + longer, slow)).unwrap();
        }
        folder.to_str().unwrap().to_owned()
    })
}

fn text(args: &[&str]) -> String {
    let mut command = Command::cargo_bin("elephant-rs").unwrap();
    let output = command.env("LC_ALL", "C.UTF-8").args(args).arg("--quiet").output().unwrap();
    assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

fn json(args: &[&str]) -> Value {
    serde_json::from_str(&text(&[args, &["--format", "json"]].concat())).unwrap()
}

#[test]
fn diff_has_one_row_with_the_largest_change() {
    let folder = tempfile::tempdir().unwrap();
    let [a, b] = &folders(folder.path());
    let shown = text(&["diff", a, b]);
    assert!(shown.starts_with("Worse: B took "), "{shown}");
    assert_eq!(shown.matches("spark · nightly").count(), 2, "the row and the tables: {shown}");
    assert!(shown.contains("\n  run times from +"), "{shown}");
    // Lines end anywhere.
    let words = shown.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains("largest change: application_1700000000000_0004 took"), "{shown}");
    assert!(words.contains(", application_1700000000000_0104 took"), "{shown}");
    let summary = text(&["diff", "--summary", a, b]);
    assert!(summary.starts_with("Worse: B took ") && summary.contains("4 of 4 pairs slower"), "{summary}");
    let better = text(&["diff", "--summary", b, a]);
    assert!(better.starts_with("Better: B took "), "{better}");
    let report = json(&["diff", a, b]);
    assert_eq!(report["pairs"].as_array().map(Vec::len), Some(4));
    assert!(report["total"]["runtime_ms"]["change_ratio"].as_f64() > Some(0.05), "{}", report["total"]);
    // Every pair of the job is in the tables only with all details.
    let pairs = |text: &str| text.matches("\n  A: ").count();
    let details = text(&["diff", "--details", "--top", "1", a, b]);
    assert_eq!((pairs(&shown), pairs(&details)), (1, 4), "{details}");
    text(&["diff", "--top", "1", "--format", "markdown", a, b]);
}

#[test]
fn whatif_and_stragglers_begin_with_the_answer_and_have_one_row() {
    let folder = tempfile::tempdir().unwrap();
    let [a, b] = &folders(folder.path());
    let shown = text(&["whatif", a, b]);
    assert!(shown.starts_with("8 of 8 applications replayed; they took "), "{shown}");
    assert_eq!(shown.matches("\nnightly           8 ").count(), 1, "{shown}");
    assert!(shown.contains("saves") && shown.contains("core-hours") && shown.lines().count() < 30, "{shown}");
    assert_eq!(text(&["whatif", "--details", a, b]).matches("\napplication_").count(), 8);
    assert_eq!(json(&["whatif", a, b])["applications"].as_array().map(Vec::len), Some(8));
    let shown = text(&["stragglers", a, b]);
    assert!(shown.contains("\nin 8 of 8 applications.\n8 applications waited "), "{shown}");
    assert_eq!(shown.matches("\nnightly           8 ").count(), 1, "{shown}");
    assert_eq!(json(&["stragglers", a, b])["applications"].as_array().map(Vec::len), Some(8));
}

#[test]
fn the_run_that_is_shown_is_the_one_that_its_heading_says() {
    let folder = tempfile::tempdir().unwrap();
    let [a, b] = &folders(folder.path());
    let report = json(&["analyze", a, b]);
    let saving = |app: &Value| app["savings"]["joint"]["core_hours"]["point"].as_f64();
    let apps = report["applications"].as_array().unwrap();
    let most = apps.iter().max_by(|a, b| saving(a).partial_cmp(&saving(b)).unwrap()).unwrap();
    assert!(saving(most) > Some(0.0), "{report:#}");
    let shown = text(&["analyze", a, b]);
    let id = most["id"].as_str().unwrap();
    assert!(shown.contains(&format!("{id}  the run with the most to save")), "{id}: {shown}");
    let longest = text(&["analyze", "--sort", "runtime", a, b]);
    assert!(longest.contains("application_1700000000000_0104  the longest run"), "{longest}");
}
