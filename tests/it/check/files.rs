//! The baseline file: missing, damaged, from a newer version, on another machine.

use super::{Gate, healthy, named, on_day, skewed};

fn stderr(gate: &Gate, arguments: &[&str]) -> (Option<i32>, String) {
    let output = gate.run(arguments);
    (output.status.code(), String::from_utf8(output.stderr).unwrap())
}

#[test]
fn missing_baseline_exits_2_and_suggests_update() {
    let gate = Gate::new();
    gate.put(&[on_day(&healthy(8, 1_000), 1)]);
    let (code, error) = stderr(&gate, &[]);
    assert_eq!(code, Some(2));
    assert!(error.contains("there is no baseline baseline.yaml") && error.contains("--update"), "{error}");
    assert!(!gate.baseline().exists());
}

#[test]
fn damaged_baseline_exits_2_names_the_line_and_is_not_overwritten() {
    let gate = Gate::accepting(&[on_day(&skewed(healthy(40, 2_000)), 1)]);
    let good = gate.baseline_text();
    let line = |text: &str| text.lines().position(|line| line.contains("severity: ")).unwrap() + 1;
    for (damaged, expected) in [
        (good.replace("severity: ", "severity: very "), format!("baseline.yaml:{}:", line(&good))),
        (good.replace("version: 1", "version: 9"), "has version 9".to_owned()),
        (good.replace("  findings:", "  findngs:"), "unknown field `findngs`".to_owned()),
        (good.replace("jobs:", "jobs: ]"), "baseline.yaml:".to_owned()),
        (String::new(), "a baseline starts with".to_owned()),
        ("- 1\n".to_owned(), "baseline, which starts with".to_owned()),
    ] {
        std::fs::write(gate.baseline(), &damaged).unwrap();
        for arguments in [&[][..], &["--update"]] {
            let (code, error) = stderr(&gate, arguments);
            assert_eq!(code, Some(2), "{error}");
            assert!(error.contains(&expected), "{expected} is missing in {error}");
        }
        assert_eq!(gate.baseline_text(), damaged);
    }
}

#[test]
fn baseline_contains_nothing_about_the_machine() {
    let gate = Gate::accepting(&[on_day(&skewed(healthy(40, 2_000)), 1)]);
    let text = gate.baseline_text();
    let folder = gate.baseline().parent().unwrap().to_string_lossy().into_owned();
    for part in [folder.as_str(), "history", "log-0", "alice", "application_", "worker"] {
        assert!(!text.contains(part), "{part} is in\n{text}");
    }
    // On another machine, with another user and other hosts, the same job passes.
    let other = Gate::new();
    std::fs::write(other.baseline(), &text).unwrap();
    let run = on_day(&skewed(healthy(40, 2_000)), 2).replace("alice", "ci").replace("worker", "node");
    other.put(&[run]);
    let (code, printed) = other.check(&[]);
    assert_eq!(code, 0, "{printed}");
}

#[test]
fn jobs_missing_from_the_input_stay_unless_pruned() {
    let gate = Gate::accepting(&[on_day(&healthy(8, 1_000), 1), named(&healthy(8, 1_000), "weekly", 2)]);
    gate.put(&[on_day(&healthy(8, 1_000), 3)]);
    let (code, text) = gate.check(&[]);
    assert_eq!(code, 0);
    assert!(text.contains("1 accepted job did not run: spark · weekly"), "{text}");
    gate.run(&["--update"]);
    assert!(gate.baseline_text().contains("spark · weekly"));
    gate.run(&["--update", "--prune"]);
    assert!(!gate.baseline_text().contains("spark · weekly"));
}

#[test]
fn unreadable_input_is_not_accepted() {
    let gate = Gate::accepting(&[on_day(&healthy(8, 1_000), 1)]);
    let before = gate.baseline_text();
    gate.put(&[on_day(&healthy(8, 5_000), 2)]);
    let (code, _) = stderr(&gate, &["no/such/folder", "--update"]);
    assert_eq!(code, Some(2));
    assert_eq!(gate.baseline_text(), before);
}

#[test]
fn unwritable_baseline_exits_2_before_reading_input() {
    let gate = Gate::new();
    gate.put(&[on_day(&healthy(8, 1_000), 1)]);
    let output = gate.run(&["--update", "--baseline", "no/such/folder/baseline.yaml"]);
    assert_eq!(output.status.code(), Some(2));
    std::fs::create_dir(gate.baseline()).unwrap();
    let (code, error) = stderr(&gate, &["--update"]);
    assert_eq!(code, Some(2));
    assert!(error.contains("baseline.yaml"), "{error}");
}

#[test]
fn options_without_their_required_option_are_rejected() {
    let gate = Gate::accepting(&[on_day(&healthy(8, 1_000), 1)]);
    for arguments in [
        &["--prune"][..],
        &["--keep-runs", "3"],
        &["--tolerance", "much"],
        &["--tolerance", "-5"],
        &["--tolerance", "speed=5"],
    ] {
        let (code, error) = stderr(&gate, arguments);
        assert_eq!(code, Some(2), "{error}");
    }
}

#[test]
fn expired_suppression_fails_the_check() {
    let gate = Gate::accepting(&[on_day(&skewed(healthy(40, 2_000)), 1)]);
    let rules = gate.baseline().with_file_name("rules.yaml");
    std::fs::write(&rules, "suppress: \"*\"\nreason: known\nuntil: 2026-11-30\n").unwrap();
    let check = |day: &str| gate.check(&["--rules", "rules.yaml", "--today", day]);
    let (code, text) = check("2026-11-20");
    assert_eq!(code, 0, "{text}");
    assert!(text.contains("SILENCED"), "{text}");
    let (code, text) = check("2026-12-01");
    assert_eq!(code, 1, "{text}");
    assert!(text.contains("a suppression has expired"), "{text}");
}

#[test]
fn ci_reports_show_the_expired_suppression_as_the_failure() {
    let gate = Gate::accepting(&[on_day(&skewed(healthy(40, 2_000)), 1)]);
    let rules = gate.baseline().with_file_name("rules.yaml");
    std::fs::write(&rules, "suppress: mapper-spill\nreason: known\nuntil: 2026-11-30\n").unwrap();
    let check = |format: &str, more: &[&str]| {
        let arguments =
            [&["--rules", "rules.yaml", "--today", "2026-12-01", "--format", format], more].concat();
        gate.check(&arguments)
    };
    let (code, junit) = check("junit", &[]);
    let suite = "<testsuite name=\"suppressions\" tests=\"1\" failures=\"1\" errors=\"0\" skipped=\"0\">";
    assert!(code == 1 && junit.contains(suite), "{junit}");
    assert!(junit.contains("name=\"rules.yaml:1 (mapper-spill)\""), "{junit}");
    // Only the expired suppression fails.
    let root = junit.lines().find(|line| line.contains("<testsuites")).unwrap();
    assert!(root.contains("failures=\"1\" errors=\"0\""), "{root}");
    let (code, sarif) = check("sarif", &[]);
    let report: serde_json::Value = serde_json::from_str(&sarif).unwrap();
    let notifications = report["runs"][0]["invocations"][0]["toolExecutionNotifications"].as_array().unwrap();
    let expired: Vec<_> =
        notifications.iter().filter(|it| it["descriptor"]["id"] == "suppression-expired").collect();
    assert!(code == 1 && expired.len() == 1 && expired[0]["level"] == "error", "{sarif}");
    let (code, junit) = check("junit", &["--update"]);
    assert!(code == 0 && !junit.contains("suppressions"), "{junit}");
}

#[test]
fn empty_input_does_not_pass_and_is_not_accepted() {
    let gate = Gate::accepting(&[on_day(&skewed(healthy(40, 2_000)), 1)]);
    let accepted = std::fs::read_to_string(gate.baseline()).unwrap();
    gate.put(&[]);
    for arguments in [&[][..], &["--update"], &["--update", "--prune"]] {
        let (code, text) = gate.check(arguments);
        assert_eq!(code, 2, "{text}");
        assert!(text.contains("NOT PASSED") && !text.contains("PASSED\n"), "{text}");
        assert_eq!(std::fs::read_to_string(gate.baseline()).unwrap(), accepted);
    }
}

#[test]
fn report_does_not_overwrite_the_baseline() {
    let gate = Gate::accepting(&[on_day(&skewed(healthy(40, 2_000)), 1)]);
    let accepted = std::fs::read_to_string(gate.baseline()).unwrap();
    let baseline = gate.baseline();
    let (code, error) = stderr(&gate, &["--output", baseline.to_str().unwrap()]);
    assert_eq!(code, Some(2), "{error}");
    assert!(error.contains("would overwrite"), "{error}");
    assert_eq!(std::fs::read_to_string(gate.baseline()).unwrap(), accepted);
}
