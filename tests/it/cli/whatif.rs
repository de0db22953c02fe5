//! `elephant-rs whatif` on recordings.

use assert_cmd::Command;
use predicates::prelude::*;
use serde_json::Value;

const SKEW: &str = "testdata/spark/3.5.9/skew";

fn command(arguments: &[&str]) -> assert_cmd::assert::Assert {
    let mut command = Command::cargo_bin("elephant-rs").unwrap();
    command.env("LC_ALL", "C.UTF-8");
    command.current_dir(env!("CARGO_MANIFEST_DIR")).arg("whatif").args(arguments).assert()
}

fn text(arguments: &[&str]) -> String {
    let output = command(arguments).success();
    String::from_utf8(output.get_output().stdout.clone()).unwrap()
}

fn json(arguments: &[&str]) -> Value {
    serde_json::from_str(&text(&[arguments, &["--format", "json"]].concat())).unwrap()
}

#[test]
fn report_names_the_error_and_each_change() {
    elephant_testing::with_snapshots("reports", || {
        insta::assert_snapshot!("whatif_spark", text(&["testdata/spark/3.5.9", "--color", "never"]));
    });
}

#[test]
fn stages_of_the_critical_path_are_named_without_folders() {
    let report = text(&[SKEW, "--executors", "20"]);
    let report = report.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(report.contains("critical path of the recorded run: stage 0.0 (collect at"), "{report}");
    assert!(report.contains("mk_spark_logs.py:160") && !report.contains("/opt/"), "{report}");
}

#[test]
fn options_combine_into_one_change() {
    let report = json(&[SKEW, "--executors", "3", "--memory", "2g", "--without", "skew,failures"]);
    let scenarios = report["applications"][0]["replay"]["scenarios"].as_array().unwrap();
    assert_eq!(scenarios.len(), 1);
    let change = &scenarios[0]["change"];
    assert_eq!(change["executors_count"], 3);
    assert_eq!(change["executor_memory_bytes"], 2u64 << 30);
    assert_eq!(change["without"], serde_json::json!(["skew", "failures"]));
}

#[test]
fn memory_changes_the_cost_and_not_the_time() {
    let report = json(&[SKEW, "--memory", "4g"]);
    let scenario = &report["applications"][0]["replay"]["scenarios"][0];
    assert_eq!(scenario["saves"]["wall_ms"]["point"], 0.0);
    assert!(scenario["saves"]["gb_hours"]["point"].as_f64().unwrap() < 0.0, "{scenario}");
}

#[test]
fn memory_is_compared_with_the_peaks_of_executors_and_tasks() {
    let fits = |path: &str, memory: &str| -> Vec<(String, String)> {
        let report = json(&[path, "--memory", memory]);
        let apps = report["applications"].as_array().unwrap().iter();
        let memory = apps.filter_map(|app| app["replay"]["scenarios"].get(0).map(|it| it["memory"].clone()));
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        memory.map(|memory| (text(&memory["fit"]), text(&memory["of"]))).collect()
    };
    let of = |fit: &str, of: &str| vec![(fit.to_owned(), of.to_owned())];
    // The largest heap of an executor was 218 MiB.
    assert_eq!(fits(SKEW, "400m"), of("would_break", ""), "Spark does not start");
    assert_eq!(fits(SKEW, "512m"), of("near", "executor_heap"));
    assert_eq!(fits(SKEW, "1g"), of("safe", "executor_heap"));
    let jobs = fits("testdata/done", "100m");
    assert!(jobs.contains(&("would_break".to_owned(), "map_container".to_owned())), "{jobs:?}");
    let shown = text(&[SKEW, "--memory", "512m"]);
    assert!(shown.contains("near the limit: an executor used up to 218 MiB of its heap"), "{shown}");
    assert!(shown.contains("same time") && shown.contains("0.0167 GB·h less"), "{shown}");
}

#[test]
fn memory_of_runs_that_cannot_be_replayed_is_judged_too() {
    let checks = |path: &str, memory: &str| -> Vec<(String, String)> {
        let report = json(&[path, "--memory", memory]);
        let apps = report["applications"].as_array().unwrap().iter().filter(|app| app["replay"].is_null());
        let checks = apps.flat_map(|app| app["memory_checks"].as_array().expect("a check").clone());
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        checks.map(|check| (text(&check["memory"]["fit"]), text(&check["memory"]["of"]))).collect()
    };
    let dags = "testdata/heuristics/tez-mapper-memory";
    let smaller = checks(dags, "1m");
    assert!(smaller.len() > 3);
    assert!(smaller.iter().all(|(fit, of)| fit == "would_break" && of == "task_container"), "{smaller:?}");
    let larger = checks(dags, "1t");
    assert!(larger.iter().all(|(fit, _)| fit == "safe"), "{larger:?}");
    // A failed job may have needed more than it used.
    let failed = checks("testdata/heuristics/job-exception", "1t");
    assert!(!failed.is_empty() && failed.iter().all(|(fit, _)| fit == "unknown"), "{failed:?}");
    let shown = text(&[dags, "--memory", "1m", "--details"]);
    assert!(shown.contains("with 1 MiB of memory: would break: a task used up to"), "{shown}");
    assert!(shown.contains("would break 5 applications"), "{shown}");
    let without = json(&[dags, "--reducers", "3"]);
    assert_eq!(without["applications"][0].get("memory_checks"), None);
}

#[test]
fn containers_of_tasks_change_the_cost_of_a_job() {
    let report = json(&["testdata/done", "--memory", "256m"]);
    let replays = report["applications"].as_array().unwrap().iter().map(|app| &app["replay"]);
    let mut compared = 0;
    for replay in replays.filter(|replay| !replay.is_null()) {
        let takes = replay["scenarios"][0]["takes"]["gb_hours"]["point"].as_f64().unwrap();
        assert!(takes < replay["took"]["gb_hours"]["point"].as_f64().unwrap(), "{replay:#}");
        compared += 1;
    }
    assert!(compared > 0);
}

#[test]
fn the_run_as_it_was_comes_first_and_has_its_price() {
    let shown = text(&[SKEW, "--prices", "testdata/prices.yaml"]);
    let rows: Vec<&str> = shown.lines().skip_while(|line| !line.starts_with("with ")).take(2).collect();
    assert!(rows[0].ends_with("EUR") && rows[1].starts_with("as it was "), "{shown}");
    let report = json(&[SKEW, "--executors", "6", "--prices", "testdata/prices.yaml"]);
    assert_eq!(report["currency"], "EUR");
    let replay = &report["applications"][0]["replay"];
    let cost = |amounts: &Value| amounts["cost"]["point"].as_f64().unwrap();
    let (before, scenario) = (cost(&replay["took"]), &replay["scenarios"][0]);
    assert!((before - cost(&scenario["takes"]) - cost(&scenario["saves"])).abs() < 1e-9, "{scenario:#}");
    assert!(cost(&scenario["takes"]) > before, "{scenario:#}");
    command(&[SKEW, "--prices", "nowhere.yaml"]).code(2).stderr(predicate::str::contains("nowhere.yaml"));
}

#[test]
fn what_cannot_be_predicted_has_a_reason() {
    let report = json(&[SKEW, "--reducers", "7"]);
    let scenario = &report["applications"][0]["replay"]["scenarios"][0];
    assert_eq!((&scenario["status"], &scenario["takes"]), (&"unknown".into(), &Value::Null));
    assert!(scenario["reason"].as_str().unwrap().contains("Spark"), "{scenario}");
    let running = json(&["testdata/spark/3.5.9/inprogress-lz4"]);
    assert_eq!(running["applications"][0]["replay"], Value::Null);
    assert!(running["applications"][0]["unknown"].as_str().unwrap().contains("incomplete"));
}

#[test]
fn splits_that_would_make_millions_of_tasks_are_refused() {
    let report = json(&["testdata/done", "--split-size", "1b"]);
    for app in report["applications"].as_array().unwrap() {
        let Some(scenario) = app["replay"]["scenarios"].get(0) else { continue };
        assert_eq!(scenario["takes"], Value::Null, "{scenario}");
    }
    assert!(report.to_string().contains("more than a million tasks"), "{report:#}");
}

#[test]
fn cores_are_charged_even_if_no_task_can_use_them() {
    let hours = |arguments: &[&str]| {
        let report = json(&[&[SKEW], arguments].concat());
        report["applications"][0]["replay"]["scenarios"][0]["takes"]["core_hours"]["point"].as_f64().unwrap()
    };
    let (four, eight) = (hours(&["--cores", "4"]), hours(&["--cores", "8"]));
    assert!(eight > four, "{eight} core-hours with eight cores, {four} with four");
}

#[test]
fn no_application_is_ideally_slower_than_replayed() {
    let report = json(&["testdata/spark", "testdata/done"]);
    let replays = report["applications"].as_array().unwrap().iter().map(|app| &app["replay"]);
    for replay in replays.filter(|replay| !replay.is_null()) {
        assert!(replay["ideal_ms"].as_u64() <= replay["replayed_ms"].as_u64(), "{replay:#}");
        assert!(replay["critical_path_ms"].as_u64() <= replay["replayed_ms"].as_u64(), "{replay:#}");
    }
}

#[test]
fn wrong_options_are_explained() {
    for (option, value, said) in [
        ("--executors", "0", "expected a whole number from 1"),
        ("--partitions", "4", "such as 4=400"),
        ("--memory", "much", "much"),
        ("--slow-start", "2", "between 0 and 1"),
    ] {
        command(&[SKEW, option, value]).code(2).stderr(predicate::str::contains(said));
    }
    let empty = tempfile::tempdir().unwrap();
    command(&[empty.path().to_str().unwrap()]).code(2).stderr(predicate::str::contains("no application"));
}

#[test]
fn report_is_the_same_for_any_number_of_threads() {
    assert_eq!(text(&["testdata/spark", "--jobs", "1"]), text(&["testdata/spark", "--jobs", "4"]));
}

/// How the application scales: more executors never take longer, and the requested number is one of the points.
#[test]
fn curve_has_the_present_and_the_requested_number() {
    let report = json(&[SKEW, "--executors", "7"]);
    let scaling = &report["applications"][0]["replay"]["scaling"];
    assert_eq!((&scaling["resource"], &scaling["proposed_count"]), (&"executors".into(), &7.into()));
    let points = scaling["points"].as_array().unwrap();
    let counts: Vec<u64> = points.iter().map(|point| point["count"].as_u64().unwrap()).collect();
    assert!(
        counts.is_sorted() && counts.contains(&7) && counts.contains(&scaling["now_count"].as_u64().unwrap())
    );
    let wall = |point: &Value| point["takes"]["wall_ms"]["point"].as_f64().unwrap();
    assert!(points.iter().map(wall).is_sorted_by(|fewer, more| fewer >= more), "{scaling}");
    let cost = |point: &Value| point["takes"]["core_hours"]["point"].as_f64().unwrap();
    assert!(cost(&points[0]) < cost(points.last().unwrap()), "{scaling}");
    // The same as the scenario with this number.
    let scenario = &report["applications"][0]["replay"]["scenarios"][0];
    let requested = points.iter().find(|point| point["count"] == 7).unwrap();
    assert_eq!(scenario["takes"], requested["takes"]);
}

/// A job is varied by its reduces. What else is requested applies to each number.
#[test]
fn curve_of_a_job_is_about_reduces() {
    let resources = |arguments: &[&str]| -> Vec<String> {
        let report = json(arguments);
        let replays = report["applications"].as_array().unwrap().iter().map(|app| &app["replay"]["scaling"]);
        replays.filter_map(|scaling| Some(scaling["resource"].as_str()?.to_owned())).collect()
    };
    let found = resources(&["testdata/done"]);
    assert!(found.iter().any(|resource| resource == "reducers"), "{found:?}");
    assert!(resources(&["testdata/spark/3.5.9", "--reducers", "3"]).is_empty());
}
