//! `elephant-rs nodes` on recordings.

use std::path::{Path, PathBuf};

use assert_cmd::Command;
use serde_json::Value;

fn command(arguments: &[&str], path: &Path) -> assert_cmd::assert::Assert {
    Command::cargo_bin("elephant-rs")
        .unwrap()
        .env("LC_ALL", "C.UTF-8")
        .arg("nodes")
        .args(arguments)
        .arg(path)
        .assert()
}

/// Recordings with a slow node.
fn slow_recordings() -> Vec<PathBuf> {
    let Some(runs) = elephant_testing::shared("runs") else { return Vec::new() };
    let folders = walkdir::WalkDir::new(runs).sort_by_file_name().into_iter().map(Result::unwrap);
    let slow = folders.filter(|entry| {
        entry.file_type().is_dir() && entry.file_name().to_string_lossy().starts_with("slownode")
    });
    let slow: Vec<PathBuf> = slow.map(walkdir::DirEntry::into_path).collect();
    assert!(!slow.is_empty());
    slow
}

#[test]
fn slow_node_of_a_recording_ranks_worst() {
    for folder in slow_recordings() {
        let output = command(&["--format", "json", "--min-node-tasks", "4"], &folder).success();
        let report: Value = serde_json::from_slice(&output.get_output().stdout).unwrap();
        let worst = &report["nodes"][0];
        assert!(worst["node"].as_str().unwrap().starts_with("node002"), "{}: {worst}", folder.display());
        assert_eq!((&worst["level"], &worst["straggler"]), (&0.into(), &true.into()));
        let others = report["nodes"].as_array().unwrap().iter().skip(1);
        assert!(others.clone().count() > 1);
        for other in others {
            assert_ne!(other["straggler"], true, "{other}");
        }
    }
}

#[test]
fn exclude_list_contains_only_stragglers() {
    for folder in slow_recordings() {
        let place = tempfile::tempdir().unwrap();
        let (list, rules) = (place.path().join("exclude.txt"), place.path().join("rules.yaml"));
        std::fs::write(&rules, "rule: nodes\nexclude_applications: 1\n").unwrap();
        let option = format!("--exclude-list={}", list.display());
        let rules = format!("--rules={}", rules.display());
        command(&[&option, &rules, "--min-node-tasks", "4"], &folder).success();
        let text = std::fs::read_to_string(&list).unwrap();
        assert!(text.starts_with("node002") && text.lines().count() == 1, "{text}");
        // One application is not enough evidence.
        command(&[&option, "--min-node-tasks", "4"], &folder).success();
        assert_eq!(std::fs::read_to_string(&list).unwrap(), "");
        // With the default settings four tasks are not enough evidence.
        command(&[&option], &folder).success();
        assert_eq!(std::fs::read_to_string(&list).unwrap(), "");
    }
}

#[test]
fn all_formats_show_the_same_nodes_for_any_number_of_threads() {
    let folder = Path::new("testdata");
    let report = |format: &str, jobs: &str| {
        let output =
            command(&["--quiet", "--format", format, "--min-node-tasks", "3", "--jobs", jobs], folder);
        output.get_output().stdout.clone()
    };
    for format in ["text", "json", "csv"] {
        assert_eq!(report(format, "1"), report(format, "7"), "{format}");
    }
    let json: Value = serde_json::from_slice(&report("json", "1")).unwrap();
    let nodes = json["nodes"].as_array().unwrap();
    let table = String::from_utf8(report("csv", "1")).unwrap();
    assert_eq!(table.lines().count(), nodes.len() + 1);
    assert_eq!(json["summary"]["nodes_count"], nodes.len());
    let text = String::from_utf8(report("text", "1")).unwrap();
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
}

#[test]
fn wrong_options_and_missing_paths_fail() {
    command(&["--quantile", "1"], Path::new("testdata")).code(2);
    command(&["--since", "yesterday"], Path::new("testdata")).code(2);
    let place = tempfile::tempdir().unwrap();
    let list = place.path().join("exclude.txt");
    command(&[&format!("--exclude-list={}", list.display())], Path::new("testdata/none")).code(2);
    assert!(!list.exists(), "no list is written if histories are missing");
}
