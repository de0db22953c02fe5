//! `elephant-rs anonymise` on recordings.

use std::fs;
use std::path::Path;

use assert_cmd::Command;
use predicates::prelude::*;
use serde_json::Value;

fn elephant(arguments: &[&str]) -> assert_cmd::assert::Assert {
    let mut command = Command::cargo_bin("elephant-rs").unwrap();
    command.env("LC_ALL", "C.UTF-8");
    command.current_dir(env!("CARGO_MANIFEST_DIR")).args(arguments).assert()
}

fn findings(path: &str) -> Vec<(Value, Value, Value)> {
    let output = elephant(&["analyze", "--format", "json", "--quiet", path]).success();
    let report: Value = serde_json::from_slice(&output.get_output().stdout).unwrap();
    let apps = report["applications"].as_array().unwrap().iter();
    let mut all: Vec<_> = apps
        .flat_map(|app| app["findings"].as_array().unwrap().iter())
        .map(|finding| (finding["rule"].clone(), finding["severity"].clone(), finding["score"].clone()))
        .collect();
    all.sort_by_key(|finding| format!("{finding:?}"));
    all
}

#[test]
fn the_result_has_the_same_findings() {
    let folder = tempfile::tempdir().unwrap();
    let output = folder.path().join("out");
    let output = output.to_str().unwrap();
    elephant(&["anonymise", "--key", "k", "testdata/done", output])
        .success()
        .stdout(predicate::str::contains("Replaced by pseudonyms:"));
    assert_eq!(findings("testdata/done"), findings(output));
    // Nothing is written twice, unless asked for.
    elephant(&["anonymise", "testdata/done", output]).code(2).stderr(predicate::str::contains("--force"));
    elephant(&["anonymise", "--force", "--quiet", "testdata/done", output]).success().stdout("");
}

#[test]
fn the_key_decides() {
    let folder = tempfile::tempdir().unwrap();
    let key = folder.path().join("key");
    fs::write(&key, "from a file\n").unwrap();
    let log = "testdata/spark/3.5.9/skew/app-20261121094318-0000.zstd";
    let run = |name: &str, key: &[&str]| {
        let output = folder.path().join(name);
        let output = output.to_str().unwrap();
        elephant(&[&["anonymise", "--quiet", log, output][..], key].concat()).success();
        fs::read(Path::new(output)).unwrap()
    };
    let of_text = run("1", &["--key", "from a file"]);
    assert_eq!(of_text, run("2", &["--key-file", key.to_str().unwrap()]));
    assert_ne!(of_text, run("3", &["--key", "another"]));
    assert_ne!(run("4", &[]), run("5", &[]));
    elephant(&["anonymise", "--key", "", log, "x"])
        .code(2)
        .stderr(predicate::str::contains("the key is empty"));
}

#[test]
fn the_report_is_text_or_json() {
    let folder = tempfile::tempdir().unwrap();
    let output = folder.path().join("out");
    let log = "testdata/spark/3.5.9/skew/app-20261121094318-0000.zstd";
    let done = elephant(&["anonymise", "--format", "json", log, output.to_str().unwrap()]).success();
    let report: Value = serde_json::from_slice(&done.get_output().stdout).unwrap();
    assert_eq!(report["random_key"], true);
    assert_eq!(report["files"].as_array().unwrap().len(), 1);
    elephant(&["anonymise", "testdata/prices.yaml", "x"])
        .code(2)
        .stderr(predicate::str::contains("has no event log and no job history"));
    elephant(&["anonymise", "testdata/done", "testdata/done/x"])
        .code(2)
        .stderr(predicate::str::contains("inside"));
}
