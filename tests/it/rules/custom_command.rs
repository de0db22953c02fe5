//! `elephant-rs rules test`.

use std::path::Path;

use assert_cmd::Command;

const RULE: &str = "\
rule: etl-long
over: map
values:
  run_time: max(task.run_time)
  queue: app.queue
thresholds:
  run_time: {rising: [1min, 2min, 3min, 4min]}
message: \"the longest map runs {run_time}\"
examples:
  - name: three minutes
    values: {run_time: 3min, queue: etl}
    severity: SEVERITY
  - history: hadoop1
    subject: map
    severity: critical
  - history: nowhere
    severity: none
";

fn run(severity: &str, history: &str) -> (Option<i32>, String) {
    let folder = tempfile::tempdir().unwrap();
    let testdata = Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata");
    let text = RULE
        .replace("SEVERITY", severity)
        .replace("hadoop1", &testdata.join("hadoop1").display().to_string());
    let text = text.replace("nowhere", &testdata.join(history).display().to_string());
    std::fs::write(folder.path().join("etl.yaml"), text).unwrap();
    let mut command = Command::cargo_bin("elephant-rs").unwrap();
    command.env("LC_ALL", "C.UTF-8");
    let output = command.current_dir(folder.path()).args(["rules", "test", "etl.yaml"]).output().unwrap();
    (output.status.code(), String::from_utf8(output.stdout).unwrap())
}

#[test]
fn passing_and_failing_examples_are_reported() {
    let (status, text) = run("severe", "spark/3.5.9/skew");
    assert_eq!(status, Some(1), "{text}");
    assert!(text.contains("etl.yaml:16: etl-long: expected none, does not apply\n"), "{text}");
    assert!(text.ends_with("3 examples of 1 rule, 1 failed\n"), "{text}");
    let (status, text) = run("low", "nothing-is-here");
    assert_eq!(status, Some(1), "{text}");
    let values = "etl.yaml:10: etl-long, \"three minutes\": expected low, got severe\n    run_time = 3m\n    queue = etl\n";
    assert!(text.contains(values), "{text}");
    assert!(text.contains("cannot be judged"), "{text}");
}

#[test]
fn invalid_files_are_not_failed_examples() {
    let (status, text) = run("sever", "spark/3.5.9/skew");
    assert_eq!((status, text.as_str()), (Some(2), ""));
}

#[test]
fn examples_of_built_in_rules_pass() {
    let mut command = Command::cargo_bin("elephant-rs").unwrap();
    command.env("LC_ALL", "C.UTF-8");
    command
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .args(["rules", "test", "rules/examples"])
        .assert()
        .success();
}

/// What a command prints under a locale.
fn printed(locale: &str, args: &[&str]) -> String {
    let mut command = Command::cargo_bin("elephant-rs").unwrap();
    let output = command.env("LC_ALL", locale).arg("rules").args(args).output().unwrap();
    assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn lists_and_the_reference_are_ascii_where_the_locale_is() {
    for args in [&["list"][..], &["reference"], &["list", "failures"], &["show", "mapper-skew"]] {
        assert!(printed("C", args).is_ascii(), "{args:?}");
    }
    assert!(!printed("C.UTF-8", &["reference"]).is_ascii());
}

#[test]
fn kinds_of_failures_have_pages_that_lists_find() {
    let page = printed("C.UTF-8", &["show", "heap-space"]);
    assert!(page.starts_with("# Heap Space\n") && page.contains("## What to change"), "{page}");
    let all = printed("C.UTF-8", &["list", "failures"]);
    let pages = std::fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("rules/failures")).unwrap();
    for page in pages {
        let name = page.unwrap().path().file_stem().unwrap().to_str().unwrap().to_owned();
        assert!(all.lines().any(|line| line.split(' ').next() == Some(name.as_str())), "{name}: {all}");
    }
    let found = printed("C.UTF-8", &["list", "kryo"]);
    assert!(found.contains("kryo-buffer") && !found.contains("disk-full"), "{found}");
}

#[test]
fn a_rule_of_ones_own_comes_before_a_kind_of_failure() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("own.yaml");
    std::fs::write(&file, RULE.replace("etl-long", "network").split("examples:").next().unwrap()).unwrap();
    let page = printed("C.UTF-8", &["show", "network", "--rules", file.to_str().unwrap()]);
    assert!(page.contains("max(task.run_time)"), "{page}");
}
