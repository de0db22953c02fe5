//! The gate passes what it has just accepted.

use std::path::{Path, PathBuf};

use elephant_base::severity::Severity;
use elephant_engine::baseline::{Baseline, Tolerance, compare, update};
use elephant_engine::engine::{Options, analyze};
use elephant_engine::results::Report;
use elephant_ruleset::RuleSet;
use elephant_testing::shared;
use elephant_testing::spark_log::{App, Task};

fn report(paths: &[PathBuf]) -> Report {
    let rules = RuleSet::new(elephant_heuristics::BUILT_IN).unwrap();
    analyze(paths, &rules, Options { min_severity: Severity::Low, phase_work: true, ..Options::default() })
}

/// Accepts a report, writes and reads the file, and compares the same report with it. Returns the file.
fn accepted(before: &Baseline, report: &Report, name: &str) -> Baseline {
    let tolerance = Tolerance::default();
    let updated = update(before, report, &compare(report, before, &tolerance), false);
    let text = updated.to_yaml().unwrap();
    let read = Baseline::parse(Path::new("accepted.yaml"), &text).unwrap();
    let again = compare(report, &read, &tolerance);
    for job in &again.jobs {
        for found in job.findings() {
            assert!(!found.change.is_bad(), "{name}: {} {:?}", found.finding.rule, found.change);
        }
    }
    assert!(!again.is_worse(Some(Severity::Low), true), "{name}: {:?}", again.jobs);
    assert!(!read.leaves_open(&again), "{name}");
    let twice = update(&read, report, &again, false).to_yaml().unwrap();
    assert_eq!(twice, text, "{name}: accepting the same report again changes nothing");
    read
}

/// The plain text of a history, as far as it is stored as text.
fn histories() -> Vec<(String, Vec<u8>)> {
    let folders = ["corpus/spark-plain", "runs/spark-3.5.9", "runs/hadoop-2.7.3", "runs/sql-spark-4.0.1"];
    let mut all = Vec::new();
    for folder in folders.into_iter().filter_map(shared) {
        for entry in walkdir::WalkDir::new(folder).sort_by_file_name().into_iter().filter_map(Result::ok) {
            let is_small = |len: u64| (1000..3_000_000).contains(&len);
            if entry.file_type().is_file() && is_small(entry.metadata().unwrap().len()) {
                let text = elephant_testing::contents(entry.path());
                all.push((entry.path().display().to_string(), text));
            }
        }
    }
    all
}

#[test]
fn what_was_accepted_passes_whole_or_cut() {
    let histories = histories();
    let folder = tempfile::tempdir().unwrap();
    let mut checked = 0;
    for (place, (name, text)) in histories.iter().enumerate().filter(|(place, _)| place % 4 == 0) {
        let path = folder.path().join(place.to_string()).join(Path::new(name).file_name().unwrap());
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, text).unwrap();
        let whole = report(std::slice::from_ref(&path));
        if whole.applications.is_empty() {
            continue;
        }
        checked += 1;
        let known = accepted(&Baseline::default(), &whole, name);
        // Places that differ from history to history.
        for part in [7, 37, 61, 83, 97] {
            let cut = text.len() * (part + place % 3) / 100;
            std::fs::write(&path, &text[..cut]).unwrap();
            let cut = report(std::slice::from_ref(&path));
            accepted(&Baseline::default(), &cut, &format!("{name}, {part} %"));
            accepted(&known, &cut, &format!("{name}, {part} % after the whole"));
        }
        std::fs::write(&path, text).unwrap();
    }
    assert!(histories.is_empty() || checked > 10, "{checked}");
    if checked > 0 {
        let all = report(&[folder.path().to_owned()]);
        accepted(&Baseline::default(), &all, "a folder");
    }
}

#[test]
fn runs_keep_what_their_largest_phases_read() {
    let Some(folder) = shared("runs/hadoop-2.7.3") else { return };
    let mapreduce = report(&[folder]);
    let keys: std::collections::BTreeSet<&str> = mapreduce
        .applications
        .iter()
        .flat_map(|app| &app.phase_work)
        .map(|phase| phase.key.as_str())
        .collect();
    assert_eq!(keys.into_iter().collect::<Vec<_>>(), ["map", "reduce"]);
    let folder = tempfile::tempdir().unwrap();
    let mut app = App::with(&[], 1, 1);
    for _ in 0..40 {
        let mut task = Task::new("1", 1_000);
        task.metrics.push(("Input Metrics.Bytes Read", 1 << 20));
        app = app.stage(vec![task]);
    }
    std::fs::write(folder.path().join("log"), app.text()).unwrap();
    let spark = report(&[folder.path().to_owned()]);
    assert_eq!(spark.applications.first().map(|app| app.phase_work.len()), Some(16));
    for phase in spark.applications.iter().flat_map(|app| &app.phase_work) {
        assert!(phase.input.is_some() || phase.shuffle_read.is_some(), "{phase:?}");
        assert!(phase.time.is_some() && phase.task_time.is_some(), "{phase:?}");
    }
}
