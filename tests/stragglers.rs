//! `elephant-rs stragglers` as users run it, and over everything that was recorded.

// Helpers of tests are not tests to clippy.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic)]

mod common;

use std::io::Write as _;
use std::path::{Path, PathBuf};

use assert_cmd::Command;
use elephant_rs::report::TextOptions;
use elephant_rs::report::stragglers::{Shown, Table, write_csv, write_json, write_text};
use elephant_rs::stragglers::cause::Cause;
use elephant_rs::survey::{self, ApplicationStragglers, Settings, StragglerReport};
use serde_json::Value;
use unicode_width::UnicodeWidthStr as _;

fn stragglers(arguments: &[&str]) -> String {
    let mut command = Command::cargo_bin("elephant-rs").unwrap();
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
        insta::with_settings!({
            snapshot_path => "../snapshots/reports", prepend_module_to_snapshot => false, omit_expression => true,
        }, {
            insta::assert_snapshot!(name, text);
        });
    }
}

/// Keys name their unit, shares are shares, counts fit together.
fn assert_possible(key: &str, value: &Value) {
    match value {
        Value::Object(map) => map.iter().for_each(|(key, value)| assert_possible(key, value)),
        Value::Array(list) => list.iter().for_each(|value| assert_possible(key, value)),
        Value::Number(number) => {
            let number = number.as_f64().unwrap();
            let may_be_negative = ["skewness", "correlation", "value"].iter().any(|end| key.ends_with(end));
            assert!(may_be_negative || number >= 0.0, "{key} is {number}");
            let is_share = key.ends_with("_percent")
                || key.ends_with("precision_ratio")
                || key.ends_with("recall_ratio");
            assert!(!is_share || number <= 100.0 + 1e-9, "{key} is {number}");
        }
        _ => {}
    }
}

#[test]
fn json_is_for_scripts() {
    let json: Value = serde_json::from_str(&stragglers(&["testdata/done", "--format", "json"])).unwrap();
    assert_eq!(json["schema_version"], 1);
    assert_possible("", &json);
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
fn node_metrics_name_what_the_node_was_busy_with() {
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
fn node_metrics_that_fit_nothing_are_told() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("seconds.csv");
    let text = "ts_ms,node,cpu_util,disk_util,dfs_latency_ms,net_retrans_pct\n1732147200,node002,99,,,\n";
    std::fs::write(&path, text).unwrap();
    let mut command = Command::cargo_bin("elephant-rs").unwrap();
    command.current_dir(env!("CARGO_MANIFEST_DIR")).args(["stragglers", "testdata/done", "--no-replay"]);
    let assert = command.arg("--node-metrics").arg(&path).assert().success();
    let warnings = String::from_utf8(assert.get_output().stderr.clone()).unwrap();
    assert!(warnings.contains("none of 6 stragglers ran on a host and at a time"), "{warnings}");
}

#[test]
fn settings_of_spark_are_swept_on_request() {
    let text = stragglers(&["testdata/done", "--sweep"]);
    assert_eq!(text.lines().filter(|line| line.starts_with("  spark-sweep 0.")).count(), 12, "{text}");
}

#[test]
fn an_empty_folder_and_a_missing_one() {
    let folder = tempfile::tempdir().unwrap();
    let empty = stragglers(&[folder.path().to_str().unwrap()]);
    assert!(empty.contains("No task can be judged"), "{empty}");
    let missing = folder.path().join("nothing here");
    let mut command = Command::cargo_bin("elephant-rs").unwrap();
    command.arg("stragglers").arg(&missing).assert().code(2);
    command = Command::cargo_bin("elephant-rs").unwrap();
    let metrics = ["--node-metrics", missing.to_str().unwrap()];
    command.arg("stragglers").arg(folder.path()).args(metrics).assert().code(2);
}

fn survey_of(paths: &[PathBuf]) -> StragglerReport {
    survey::report(paths, &Settings::default(), None)
}

/// All formats, one behind the other.
fn rendered(report: &StragglerReport) -> Vec<u8> {
    let mut out = Vec::new();
    let shown = Shown::default();
    write_text(report, TextOptions::default(), shown, &mut out).unwrap();
    write_json(report, shown, &mut out).unwrap();
    for table in [Table::Stragglers, Table::Detectors, Table::Applications] {
        write_csv(report, table, shown, &mut out).unwrap();
    }
    out
}

#[test]
fn the_same_bytes_whatever_the_threads() {
    let with = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| rendered(&survey_of(&["testdata".into()])))
    };
    let one = with(1);
    assert!(one == with(2) && one == with(8));
}

#[test]
fn everything_that_was_recorded_gives_possible_numbers() {
    let Some(corpus) = common::shared("corpus") else { return };
    let report = survey_of(&[corpus, common::shared("runs").unwrap()]);
    assert!(report.applications.len() > 100, "{}", report.applications.len());
    let mut json = Vec::new();
    write_json(&report, Shown::default(), &mut json).unwrap();
    assert_possible("", &serde_json::from_slice(&json).unwrap());
    for app in &report.applications {
        for group in &app.groups {
            let told = group.judged + group.skipped_unfinished;
            assert_eq!(told, group.tasks, "{} {:?}", app.id, group.kind);
            assert!(group.stragglers.len() as u64 <= group.judged, "{}", app.id);
        }
    }
    for pooled in report.total.engines.iter().flat_map(|engine| &engine.detectors) {
        let quality = &pooled.total.quality;
        assert!(quality.true_positives <= quality.detected.min(quality.stragglers), "{}", pooled.total.id);
        assert!(quality.fakes <= quality.true_positives, "{}", pooled.total.id);
    }
}

fn recording(folder: &str) -> Option<StragglerReport> {
    Some(survey_of(&[common::shared("runs")?.join(folder)]))
}

/// A history that is there twice, in both forms of Avro.
#[test]
fn a_job_that_is_there_twice_counts_once() {
    let Some(runs) = common::shared("runs") else { return };
    let folders =
        ["hadoop-2.7.3/speculation", "hadoop-2.7.3-avro-binary/speculation"].map(|name| runs.join(name));
    let report = survey_of(&folders);
    assert_eq!((report.applications.len(), report.total.by_median.stragglers), (1, 1));
    assert!(report.problems.iter().any(|entry| entry.problem.code == "duplicate"), "{:?}", report.problems);
}

#[test]
fn planted_stragglers_are_found_and_blamed() {
    if common::shared("runs").is_none() {
        return;
    }
    let blamed = |folder: &str| -> Vec<(String, Cause)> {
        let Some(report) = recording(folder) else { return Vec::new() };
        let app = &report.applications[0];
        let stragglers = app.groups.iter().flat_map(|group| &group.stragglers);
        stragglers
            .map(|it| (it.node.clone().unwrap_or_default(), it.cause.as_ref().unwrap().primary))
            .collect()
    };
    for folder in ["hadoop-synthetic-avro-json/slownode", "hadoop-synthetic-avro-binary/slownode"] {
        let slow = blamed(folder);
        assert_eq!(slow.len(), 4, "{slow:?}");
        assert!(
            slow.iter().all(|(node, cause)| node.starts_with("node002") && *cause == Cause::Hardware),
            "{slow:?}"
        );
    }
    for folder in ["hadoop-2.7.3/speculation", "hadoop-2.7.3-avro-binary/speculation"] {
        assert_eq!(blamed(folder), [("node4.example.com".to_owned(), Cause::Contention)]);
        assert_eq!(recording(folder).unwrap().applications[0].copies.won, 1);
    }
    let overtaken = |app: &ApplicationStragglers| {
        app.groups.iter().flat_map(|group| &group.stragglers).filter(|it| it.overtaken).count()
    };
    assert_eq!(overtaken(&recording("spark-3.5.9/speculation").unwrap().applications[0]), 1);
    let skewed = blamed("hadoop-synthetic-avro-json/mapskew");
    assert!(skewed.iter().any(|(_, cause)| *cause == Cause::DataSkew), "{skewed:?}");
}
