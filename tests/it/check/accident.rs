//! A gate that cannot pass by accident: nothing read, jobs that did not run, costs that were not compared.

use assert_cmd::Command;

use super::{Gate, healthy, named, on_day};

fn run(day: u32, ms: i64) -> String {
    on_day(&healthy(40, ms), day)
}

/// Baseline of two jobs, and the input of one of them.
fn without_the_weekly_job() -> Gate {
    let gate = Gate::accepting(&[run(1, 1_000), named(&healthy(8, 1_000), "weekly", 2)]);
    gate.put(&[run(3, 1_000)]);
    gate
}

fn words(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn no_command_passes_if_nothing_was_read() {
    let folder = tempfile::tempdir().unwrap();
    let other = folder.path().join("other");
    std::fs::create_dir(&other).unwrap();
    std::fs::write(other.join("notes.txt"), "no history").unwrap();
    let gate = Gate::accepting(&[run(1, 1_000)]);
    let baseline = gate.baseline();
    for (input, why) in [
        (folder.path().join("empty"), "the input has no files"),
        (other, "neither event log nor job history: 1"),
    ] {
        std::fs::create_dir_all(&input).unwrap();
        for command in [
            &["analyze"][..],
            &["stragglers"],
            &["nodes"],
            &["whatif"],
            &["check", "--baseline", baseline.to_str().unwrap()],
        ] {
            let elephant = || {
                let mut elephant = Command::cargo_bin("elephant-rs").unwrap();
                elephant.args(command).arg(&input);
                elephant
            };
            let output = elephant().output().unwrap();
            let error = String::from_utf8(output.stderr).unwrap();
            assert_eq!(output.status.code(), Some(2), "{command:?}: {error}");
            assert!(error.contains("no application was read") && error.contains(why), "{command:?}: {error}");
            elephant().arg("--allow-empty").assert().code(0);
        }
    }
    let diff = |option: &[&str]| {
        let mut elephant = Command::cargo_bin("elephant-rs").unwrap();
        let empty = folder.path().join("empty");
        elephant.arg("diff").args([&empty, &gate.folder.path().join("history")]).args(option).assert()
    };
    diff(&[]).code(2);
    diff(&["--allow-empty"]).code(0);
    // Nothing is accepted, either.
    gate.put(&[]);
    let before = gate.baseline_text();
    assert_eq!(gate.check(&["--update"]).0, 2);
    assert_eq!(gate.baseline_text(), before);
}

#[test]
fn missing_jobs_are_the_first_line_and_fail_if_all_are_required() {
    let gate = without_the_weekly_job();
    let (code, text) = gate.check(&[]);
    assert_eq!(code, 0, "{text}");
    assert_eq!(text.lines().next(), Some("1 accepted job did not run: spark · weekly"), "{text}");

    let (code, text) = gate.check(&["--require-all"]);
    assert_eq!(code, 1, "{text}");
    assert!(words(&text).ends_with(
        "FAILED: 1 accepted job did not run: spark · weekly; run them, or remove them from the baseline with --update \
         --prune."
    ));
    let (code, report) = gate.json(&["--require-all"]);
    assert_eq!((code, &report["baseline"]["failed"]), (1, &true.into()));
    let shown = |format| gate.check(&["--require-all", "--format", format]).1;
    assert!(shown("junit").contains("<testsuite name=\"accepted jobs\" tests=\"1\" failures=\"1\""));
    assert!(shown("sarif").contains("\"job-missing\""));
    assert!(shown("markdown").contains("- **FAILED** 1 accepted job did not run"));
    assert!(shown("html").contains("<strong>Failed</strong>: <bdi>1 accepted job did not run"));

    gate.put(&[run(3, 1_000), named(&healthy(8, 1_000), "weekly", 4)]);
    assert_eq!(gate.check(&["--require-all"]).0, 0);
}

#[test]
fn costs_fail_unless_told_otherwise() {
    let gate = Gate::accepting(&[run(1, 10_000)]);
    gate.put(&[run(2, 20_000)]);
    for (arguments, code, is_shown) in [
        (&["--fail-on", "critical"][..], 1, true),
        (&["--fail-on", "critical", "--costs", "show"], 0, true),
        (&["--fail-on", "critical", "--costs", "ignore"], 0, false),
        (&["--fail-on", "critical", "--no-metrics"], 0, false),
        (&["--fail-on", "none"], 0, true),
        (&["--fail-on", "none", "--costs", "fail"], 1, true),
    ] {
        let (exit, text) = gate.check(arguments);
        assert_eq!(exit, code, "{arguments:?}: {text}");
        assert_eq!(text.contains("WORSE     run time"), is_shown, "{arguments:?}: {text}");
    }
}

#[test]
fn floors_are_parameters_and_are_named() {
    let gate = Gate::accepting(&[run(1, 1_000)]);
    gate.put(&[run(2, 1_300)]);
    let (code, text) = gate.check(&[]);
    assert_eq!(code, 0, "{text}");
    let rules = "rule: gate\nrun_time_floor: 100ms\ntolerance: 1%\n";
    std::fs::write(gate.baseline().with_file_name("ours.yaml"), rules).unwrap();
    let (code, text) = gate.check(&["--rules", "ours.yaml"]);
    assert_eq!(code, 1, "{text}");
    assert!(text.contains("and the tolerance") && !text.contains("WORSE     task time"), "{text}");
    gate.put(&[run(2, 9_000)]);
    let (code, text) = gate.check(&[]);
    assert_eq!(code, 1, "{text}");
    assert!(words(&text).contains("; differences below 10 s do not count)"), "{text}");
}

#[test]
fn tolerance_of_0_is_0_and_no_message_shows_equal_numbers() {
    // A millisecond more for each task: less than the text shows.
    let gate = Gate::accepting(&[run(1, 100_000)]);
    gate.put(&[run(2, 100_001)]);
    assert_eq!(gate.check(&[]).0, 0);
    let (code, text) = gate.check(&["--tolerance", "0"]);
    assert_eq!(code, 1, "{text}");
    let text = words(&text);
    let (_, rest) = text.split_once("WORSE run time ").unwrap();
    let (value, rest) = rest.split_once("; up to ").unwrap();
    let (limit, _) = rest.split_once(" is accepted").unwrap();
    assert!(value != limit && value.ends_with(" ms"), "{value} and {limit}");
    gate.put(&[run(3, 100_000)]);
    assert_eq!(gate.check(&["--tolerance", "0"]).0, 0, "an equal run is not worse");
}
