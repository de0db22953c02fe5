//! `elephant-rs stragglers` as users run it.

use std::io::Write as _;
use std::path::Path;

use assert_cmd::Command;
use serde_json::Value;
use unicode_width::UnicodeWidthStr as _;

use crate::common;

fn stragglers(arguments: &[&str]) -> String {
    let mut command = Command::cargo_bin("elephant-rs").unwrap();
    command.env("LC_ALL", "C.UTF-8");
    command.current_dir(env!("CARGO_MANIFEST_DIR")).arg("stragglers").args(arguments).arg("--quiet");
    String::from_utf8(command.assert().success().get_output().stdout.clone()).unwrap()
}

#[test]
fn reports() {
    let job = "testdata/done";
    let reports = [
        ("stragglers.txt", stragglers(&[job])),
        ("stragglers-usual.txt", stragglers(&[job, "--label", "usual", "--no-replay"])),
        ("stragglers.csv", stragglers(&[job, "--format", "csv"])),
        ("stragglers-applications.csv", stragglers(&[job, "--format", "csv", "--table", "applications"])),
    ];
    for (name, text) in reports {
        if Path::new(name).extension().is_some_and(|extension| extension == "txt") {
            let wide: Vec<&str> = text.lines().filter(|line| line.width() > 80).collect();
            assert!(wide.is_empty(), "{wide:#?}");
        }
        common::with_snapshots("reports", || {
            insta::assert_snapshot!(name, text);
        });
    }
}

#[test]
fn json_has_the_fields_that_scripts_need() {
    let json: Value = serde_json::from_str(&stragglers(&["testdata/done", "--format", "json"])).unwrap();
    assert_eq!(json["schema_version"], 1);
    common::assert_possible("", &json);
    let app = json["applications"]
        .as_array()
        .unwrap()
        .iter()
        .find(|app| app["id"] == "job_1732147200000_0004")
        .unwrap();
    let maps = &app["groups"][0];
    assert_eq!(maps["subject"], "map");
    let nodes: Vec<&str> =
        maps["stragglers"].as_array().unwrap().iter().map(|it| it["node"].as_str().unwrap()).collect();
    assert_eq!(nodes, ["node002.example.com"; 4]);
    let detectors = json["total"]["engines"]["mapreduce"]["detectors"].as_array().unwrap();
    assert_eq!(detectors[0]["id"], "actual");
    assert!(detectors.len() > 15, "{}", detectors.len());
}

#[test]
fn node_metrics_show_the_load_of_the_node() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("nodes.csv");
    let mut file = std::fs::File::create(&path).unwrap();
    writeln!(file, "ts_ms,node,cpu_util,disk_util,dfs_latency_ms,net_retrans_pct").unwrap();
    for second in (0..400).step_by(10) {
        let at = 1_732_147_200_000_i64 + 1000 * second;
        writeln!(file, "{at},node002,12.5,97,20,0.1\n{at},node001,10,5,20,0.1").unwrap();
    }
    drop(file);
    let table = stragglers(&["testdata/done", "--format", "csv", "--node-metrics", path.to_str().unwrap()]);
    let of_the_node: Vec<&str> = table.lines().filter(|line| line.contains("node002.example.com")).collect();
    assert_eq!(of_the_node.len(), 4);
    assert!(of_the_node.iter().all(|line| line.contains(",disk,measured,")), "{of_the_node:#?}");
}

#[test]
fn unmatched_node_metrics_are_reported() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("seconds.csv");
    let text = "ts_ms,node,cpu_util,disk_util,dfs_latency_ms,net_retrans_pct\n1732147200,node002,99,,,\n";
    std::fs::write(&path, text).unwrap();
    let mut command = Command::cargo_bin("elephant-rs").unwrap();
    command.env("LC_ALL", "C.UTF-8");
    command.current_dir(env!("CARGO_MANIFEST_DIR")).args(["stragglers", "testdata/done", "--no-replay"]);
    let assert = command.arg("--node-metrics").arg(&path).assert().success();
    let warnings = String::from_utf8(assert.get_output().stderr.clone()).unwrap();
    assert!(warnings.contains("the node metrics match none of 6 stragglers"), "{warnings}");
}

#[test]
fn spark_speculation_settings_are_swept_on_request() {
    let text = stragglers(&["testdata/done", "--sweep", "--details"]);
    assert_eq!(text.lines().filter(|line| line.starts_with("  spark-sweep 0.")).count(), 12, "{text}");
}

#[test]
fn empty_and_missing_folders_fail() {
    let folder = tempfile::tempdir().unwrap();
    let empty = stragglers(&[folder.path().to_str().unwrap(), "--allow-empty"]);
    assert!(empty.contains("No task can be judged"), "{empty}");
    let missing = folder.path().join("nothing here");
    let mut command = Command::cargo_bin("elephant-rs").unwrap();
    command.env("LC_ALL", "C.UTF-8");
    command.arg("stragglers").arg(&missing).assert().code(2);
    command = Command::cargo_bin("elephant-rs").unwrap();
    let metrics = ["--node-metrics", missing.to_str().unwrap()];
    command.arg("stragglers").arg(folder.path()).args(metrics).assert().code(2);
}
