//! `analyze --explain` and `analyze --redact` as users call them.

use std::fs;

use assert_cmd::Command;
use predicates::prelude::*;
use predicates::str::contains;
use serde_json::Value;

const SKEW: &str = "testdata/spark/3.5.9/skew";

fn analyze(arguments: &[&str]) -> assert_cmd::assert::Assert {
    let mut command = Command::cargo_bin("elephant-rs").unwrap();
    command.env("LC_ALL", "C.UTF-8").current_dir(env!("CARGO_MANIFEST_DIR"));
    command.arg("analyze").args(arguments).assert()
}

fn text(arguments: &[&str]) -> String {
    String::from_utf8(analyze(arguments).get_output().stdout.clone()).unwrap()
}

#[test]
fn a_finding_is_explained_in_text_json_and_html() {
    let shown = text(&["--explain", "mapper-gc", "testdata/heuristics/mapper-gc"]);
    let explained = shown.split("Explained: mapper-gc of map").nth(1).unwrap();
    for part in [
        "avg_gc_time_ms: the mean of counters.GC_TIME_MILLIS of 4 succeeded",
        "line 6, byte ",
        "JOB_FINISHED",
    ] {
        assert!(explained.contains(part), "{part}: {explained}");
    }
    assert!(
        shown.lines().all(|line| line.chars().count() <= 100),
        "paths alone may be wider than the terminal"
    );
    let json: Value = serde_json::from_str(&text(&["--explain", "all", "--format", "json", SKEW])).unwrap();
    let app = &json["applications"][0];
    let explained = app["explanations"].as_array().unwrap();
    assert_eq!(explained.len(), app["findings"].as_array().unwrap().len());
    let figures = explained.iter().flat_map(|it| it["figures"].as_array().unwrap());
    let told = figures.filter(|it| it["values"][0]["terms"][0]["line"].is_u64()).count();
    assert!(told > 3, "{told}: {explained:?}");
    let html = text(&["--explain", "all", "--format", "html", SKEW]);
    assert!(html.contains("Where these figures come from"));
    assert!(!text(&["--format", "html", SKEW]).contains("Where these figures come from"));
}

#[test]
fn what_cannot_be_explained_is_told() {
    analyze(&["--explain", "no-such-rule", SKEW]).code(2).stderr(contains("no-such-rule"));
    analyze(&["--explain", "mapper-gc", SKEW]).stderr(contains("the report has no such finding"));
    analyze(&["--explain", "all", "-"]).code(2).stderr(contains("standard input can be read only once"));
}

#[test]
fn a_redacted_report_has_no_names_and_the_same_findings() {
    let folder = tempfile::tempdir().unwrap();
    let key = folder.path().join("key");
    fs::write(&key, "secret\n").unwrap();
    let key = key.to_str().unwrap();
    let log = "testdata/done";
    let redacted = |format: &str| text(&["--redact", "--key-file", key, "--format", format, log]);
    let (plain, json) = (text(&["--format", "json", log]), redacted("json"));
    assert_eq!(json, redacted("json"), "the same key gives the same bytes");
    let [plain, json]: [Value; 2] = [plain, json].map(|text| serde_json::from_str(&text).unwrap());
    let findings = |report: &Value| {
        let apps = report["applications"].as_array().unwrap().iter();
        let all = apps.flat_map(|app| app["findings"].as_array().unwrap());
        let mut all: Vec<String> =
            all.map(|it| format!("{} {} {}", it["rule"], it["severity"], it["evidence"])).collect();
        all.sort();
        all
    };
    assert_eq!(findings(&plain).len(), findings(&json).len());
    let shown = ["text", "html", "markdown", "csv"].map(|format| (format, redacted(format)));
    let names = |report: &Value, key: &str| -> Vec<String> {
        let apps = report["applications"].as_array().unwrap().iter();
        apps.map(|app| app[key].as_str().or(app[key][0].as_str()).unwrap().to_owned()).collect()
    };
    for key in ["name", "user", "sources"] {
        let masked = names(&json, key);
        for name in names(&plain, key) {
            assert!(!masked.contains(&name), "{name}");
            // Names of jobs are words of rules' pages, too; paths are not.
            for (format, shown) in shown.iter().filter(|_| key == "sources") {
                assert!(!shown.contains(&name), "{name} in {format}");
            }
        }
    }
    analyze(&["--key-file", key, log]).code(2).stderr(contains("--redact"));
    analyze(&["--redact", "README.md"]).stderr(contains("no event log and no job history"));
    analyze(&["--redact", "--explain", "all", log])
        .stdout(contains("Explained:").and(contains("/tmp/").not()));
}
