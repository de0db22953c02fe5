//! `elephant-rs simulate` with few seeds. The orderings of the papers are tested next to the simulation.

use assert_cmd::Command;
use predicates::prelude::*;
use serde_json::Value;

fn command(arguments: &[&str]) -> assert_cmd::assert::Assert {
    let mut command = Command::cargo_bin("elephant-rs").unwrap();
    command.env("LC_ALL", "C.UTF-8");
    command.current_dir(env!("CARGO_MANIFEST_DIR")).args(arguments).assert()
}

fn text(arguments: &[&str]) -> String {
    let output = command(arguments).success();
    String::from_utf8(output.get_output().stdout.clone()).unwrap()
}

fn json(arguments: &[&str]) -> Value {
    serde_json::from_str(&text(&[arguments, &["--format", "json"]].concat())).unwrap()
}

fn same(value: f64, expected: f64, what: &str) {
    assert!((value - expected).abs() < 1e-9, "{what} is {value}, not {expected}");
}

/// Few seeds, one experiment.
const QUICK: [&str; 7] = ["simulate", "cluster", "C3", "--study", "characteristics", "--seeds", "2"];

#[test]
fn reports_contain_every_study_and_workload() {
    elephant_testing::with_snapshots("reports", || {
        let arguments = ["simulate", "cluster", "--seeds", "2", "--color", "never"];
        insta::assert_snapshot!("simulate_cluster", text(&arguments));
        let arguments = ["simulate", "patterns", "--seeds", "2", "--color", "never"];
        insta::assert_snapshot!("simulate_patterns", text(&arguments));
    });
}

#[test]
fn formats_have_the_same_values() {
    let report = json(&QUICK);
    let row = &report["studies"][0]["rows"][0];
    assert_eq!(
        (&row["scenario"], &row["policy"], &row["detector"]),
        (&"C3".into(), &"100".into(), &"default".into())
    );
    let precision = &row["metrics"]["precision_ratio"];
    let csv = text(&[&QUICK[..], &["--format", "csv"]].concat());
    let mut reader = csv::Reader::from_reader(csv.as_bytes());
    let records: Vec<csv::StringRecord> = reader.records().map(Result::unwrap).collect();
    assert_eq!(&records[0][5], "precision_ratio");
    for (column, name) in [(6, "mean"), (7, "sd"), (8, "min"), (9, "max"), (10, "seeds_count")] {
        same(records[0][column].parse().unwrap(), precision[name].as_f64().unwrap(), name);
    }
    assert!(text(&QUICK).contains(&format!("{:.2}", precision["mean"].as_f64().unwrap())));
}

#[test]
fn figures_are_one_picture_without_references() {
    let all = text(&["simulate", "cluster", "--seeds", "2", "--format", "svg"]);
    let patterns = text(&["simulate", "patterns", "--seeds", "1", "--format", "svg"]);
    for (picture, figures) in
        [(all, vec!["figure 3", "figure 4", "figure 5", "figure 6"]), (patterns, vec!["figure 12"])]
    {
        let mut reader = quick_xml::Reader::from_str(&picture);
        let mut rects = 0;
        loop {
            match reader.read_event().unwrap() {
                quick_xml::events::Event::Eof => break,
                quick_xml::events::Event::Empty(tag) => rects += usize::from(tag.name().as_ref() == "rect"),
                _ => {}
            }
        }
        assert!(rects > 10, "{rects}");
        assert!(!picture.contains("href") && !picture.contains("NaN") && !picture.contains("inf"));
        for figure in figures {
            assert!(picture.contains(figure), "{figure}");
        }
    }
}

#[test]
fn a_printed_scenario_is_the_same_scenario() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("mine.yaml");
    std::fs::write(&file, text(&["simulate", "cluster", "--print-scenario", "c3"])).unwrap();
    let mut arguments = QUICK;
    arguments[2] = file.to_str().unwrap();
    assert_eq!(json(&arguments), json(&QUICK));
    assert!(text(&["simulate", "cluster", "--list"]).contains("C4  C4 of Phan et al."));
    std::fs::write(&file, text(&["simulate", "patterns", "--print-scenario"])).unwrap();
    let own = ["simulate", "patterns", "--seeds", "1", file.to_str().unwrap()];
    assert_eq!(json(&own), json(&own[..4]));
}

#[test]
fn wrong_scenarios_fail_with_a_reason() {
    for (arguments, reason) in [
        (&["C9"][..], "there is no scenario \"C9\"; give a YAML file or a built-in scenario: C1, C2, C3, C4"),
        (&["Cargo.toml"], "Cargo.toml"),
        (&["--detector", "none"], "late-printed"),
        (&["--policy", "0"], "from 1 to 100"),
        (&["--seeds", "0"], "from 1 to"),
        (&["--print-scenario", "x"], "there is no scenario \"x\""),
    ] {
        command(&[&["simulate", "cluster"], arguments].concat())
            .code(2)
            .stderr(predicate::str::contains(reason));
    }
    command(&["simulate", "patterns", "Cargo.toml"]).code(2);
    command(&["simulate", "patterns", "--from", "docs"])
        .code(2)
        .stderr(predicate::str::contains("no application"));
}

/// `stragglers` reads from the written history what the simulation knows.
#[test]
fn a_written_history_is_read_as_it_ran() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().to_str().unwrap();
    let run = ["C3", "--study", "policies", "--policy", "90", "--detector", "hierarchical", "--seeds", "1"];
    let report = json(&[&["simulate", "cluster", "--write-histories", path], &run[..]].concat());
    let metrics = &report["studies"][0]["rows"][0]["metrics"];
    let history = json(&["stragglers", "--quiet", path]);
    let app = &history["applications"][0];
    assert_eq!((&app["name"], &app["status"]), (&"C3 hierarchical 90".into(), &"succeeded".into()));
    let count = |name: &str| metrics[name]["mean"].as_f64().unwrap();
    let copies = &app["speculation"];
    same(copies["copies_count"].as_f64().unwrap(), count("copies_count"), "copies");
    same(copies["copies_won_count"].as_f64().unwrap(), count("successful_copies_count"), "successful copies");
}

#[test]
fn patterns_are_learnt_from_histories() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().to_str().unwrap();
    command(&[&QUICK[..], &["--detector", "default", "--write-histories", path]].concat()).success();
    let report = json(&["simulate", "patterns", "--from", path, "--seeds", "1"]);
    let workload = &report["workloads"][0];
    assert_eq!(workload["name"], "job_1_0001 map");
    assert_eq!(workload["learnt_from"]["tasks_count"], 320);
    assert_eq!(workload["learnt_from"]["optimistic"], false);
    let end = |curve: &str| workload[curve].as_array().unwrap().last().unwrap()["time_s"].as_f64().unwrap();
    // A usual task takes 36 s; nodes with two cores take twice as long.
    assert!((32.0..40.0).contains(&end("usual")), "{}", end("usual"));
    assert!((56.0..160.0).contains(&end("straggler")), "{}", end("straggler"));
    let offline = &workload["detectors"][1];
    assert!(offline["recall_ratio"]["mean"].as_f64().unwrap() > 0.9, "{offline}");
}
