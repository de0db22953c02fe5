//! `--sort` and `--summary` of the commands that do not evaluate rules, and of `diff`.

use assert_cmd::Command;
use serde_json::Value;

const INPUT: [&str; 2] = ["testdata/done", "testdata/spark/3.5.9"];

fn run(args: &[&str]) -> (Option<i32>, String, String) {
    let mut command = Command::cargo_bin("elephant-rs").unwrap();
    command.current_dir(env!("CARGO_MANIFEST_DIR")).env("LC_ALL", "C.UTF-8").args(args).arg("--quiet");
    let output = command.output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (output.status.code(), text(output.stdout), text(output.stderr))
}

fn text(args: &[&str]) -> String {
    let (status, text, errors) = run(args);
    assert_eq!(status, Some(0), "{args:?}: {errors}");
    text
}

fn json(args: &[&str]) -> Value {
    serde_json::from_str(&text(&[args, &["--format", "json"]].concat())).unwrap()
}

/// The values of a key in the order of the report.
fn values<T>(report: &Value, list: &str, value: impl Fn(&Value) -> T) -> Vec<T> {
    let values: Vec<T> = report[list].as_array().unwrap().iter().map(value).collect();
    assert!(values.len() > 2, "{list}");
    values
}

#[test]
fn applications_are_ordered_by_stragglers() {
    let sorted = |order: &str| json(&[&["stragglers", "--no-replay", "--sort", order], &INPUT[..]].concat());
    let name = |app: &Value| app["name"].as_str().unwrap().to_owned();
    assert!(values(&sorted("name"), "applications", name).is_sorted());
    let count = |app: &Value| {
        let groups = app["groups"].as_array().unwrap().iter();
        std::cmp::Reverse(groups.map(|group| group["stragglers"].as_array().unwrap().len()).sum::<usize>())
    };
    assert!(values(&sorted("severity"), "applications", count).is_sorted());
    let default = json(&[&["stragglers", "--no-replay"], &INPUT[..]].concat());
    assert_eq!(sorted("saving"), default);
    assert_ne!(sorted("runtime")["applications"], default["applications"]);
}

#[test]
fn replays_are_ordered_by_what_they_save_or_took() {
    let sorted = |order: &str| json(&[&["whatif", "--sort", order], &INPUT[..]].concat());
    let recorded = |app: &Value| std::cmp::Reverse(app["replay"]["recorded_ms"].as_u64());
    assert!(values(&sorted("runtime"), "applications", recorded).is_sorted());
    let name = |app: &Value| app["name"].as_str().unwrap().to_owned();
    assert!(values(&sorted("name"), "applications", name).is_sorted());
}

#[test]
fn nodes_have_an_alphabetical_order_and_the_old_name_of_the_option_works() {
    let name = |node: &Value| node["node"].as_str().unwrap().to_owned();
    assert!(values(&json(&["nodes", "--sort", "name", INPUT[0]]), "nodes", name).is_sorted());
    let by_mean = json(&["nodes", "--sort", "mean", INPUT[0]]);
    assert_eq!(by_mean, json(&["nodes", "--order", "mean", INPUT[0]]));
    assert_eq!(by_mean["settings"]["order"], "mean");
}

#[test]
fn pairs_are_ordered_by_name_or_change() {
    let sorted = |order: &str| json(&["diff", "--sort", order, "testdata/done", "testdata/done"]);
    let job = |pair: &Value| pair["b"]["job"].as_str().unwrap().to_owned();
    assert!(values(&sorted("name"), "pairs", job).is_sorted());
    let new = json(&["diff", "--sort", "severity", "testdata/heuristics/mapper-skew", "testdata/done"]);
    assert_eq!(
        new["changed_count"].as_u64().map(|count| count <= new["pairs_count"].as_u64().unwrap()),
        Some(true)
    );
}

#[test]
fn summaries_have_the_answer_and_no_list() {
    for (name, list) in [("stragglers", "applications"), ("nodes", "nodes"), ("whatif", "applications")] {
        let all = json(&[&[name], &INPUT[..]].concat());
        let summary = json(&[&[name, "--summary"], &INPUT[..]].concat());
        assert_eq!(summary[list], serde_json::json!([]), "{name}");
        assert_eq!(summary["applications_count"], all["applications_count"], "{name}");
        for key in ["total", "summary"].into_iter().filter(|key| !all[*key].is_null()) {
            assert_eq!(summary[key], all[key], "{name}");
        }
        let shown = text(&[&[name, "--summary"], &INPUT[..]].concat());
        assert!(shown.lines().count() < 20, "{name}: {shown}");
        assert!(shown.contains("files read"), "{name}: {shown}");
    }
    let diff = ["diff", "--summary", "testdata/done", "testdata/hadoop1"];
    let shown = text(&diff);
    assert!(shown.lines().count() < 5 && shown.contains("only in A"), "{shown}");
    let report = json(&diff);
    assert_eq!(report["only_a"], serde_json::json!([]));
    assert!(report["only_a_count"].as_u64() > Some(0), "{report}");
}

#[test]
fn a_summary_says_what_changes_save_together() {
    let shown = text(&["whatif", "--summary", "testdata/spark/3.5.9"]);
    assert!(shown.contains("applications replayed; they took"), "{shown}");
    assert!(shown.contains("no skew; no stragglers; no speculation: saves nothing"), "{shown}");
    let total = &json(&["whatif", "testdata/spark/3.5.9"])["total"];
    let failures = &total["changes"][2];
    assert_eq!(failures["change"]["without"], serde_json::json!(["failures"]));
    assert!(failures["saves_ms"].as_f64() > Some(1000.0), "{total}");
    assert_eq!(failures["shortened_count"], 1);
}

#[test]
fn tables_have_no_summary() {
    for args in [&["stragglers", "--format", "csv"][..], &["nodes", "--format", "csv"]] {
        let (status, _, errors) = run(&[args, &["--summary", INPUT[0]]].concat());
        assert_eq!(status, Some(2));
        assert!(errors.contains("--summary applies to the formats text and json"), "{errors}");
    }
    let (status, _, errors) = run(&["diff", "--summary", "--format", "markdown", INPUT[0], INPUT[0]]);
    assert!(status == Some(2) && errors.contains("--summary applies"), "{errors}");
}
