//! Shell completions, the manual, help and diagnostics.

use assert_cmd::Command;
use predicates::prelude::*;

const COMMANDS: [&str; 11] = [
    "analyze",
    "anonymise",
    "check",
    "diff",
    "nodes",
    "stragglers",
    "whatif",
    "simulate",
    "rules",
    "completions",
    "man",
];

fn elephant() -> Command {
    let mut command = Command::cargo_bin("elephant-rs").unwrap();
    command.env("LC_ALL", "C.UTF-8");
    command.current_dir(env!("CARGO_MANIFEST_DIR"));
    for name in ["NO_COLOR", "CLICOLOR_FORCE", "ELEPHANT_LOG", "RUST_LOG"] {
        command.env_remove(name);
    }
    command
}

fn stdout(args: &[&str]) -> String {
    let output = elephant().args(args).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{args:?}");
    assert!(output.stderr.is_empty(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn completion_scripts_contain_all_commands() {
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = stdout(&["completions", shell]);
        for word in COMMANDS.iter().chain(&["min-severity", "exclude-list"]) {
            assert!(script.contains(word), "{shell} lacks {word}");
        }
    }
    elephant().args(["completions", "cmd.exe"]).assert().code(2);
}

#[test]
fn manual_covers_all_commands_on_one_page_or_one_page_each() {
    let page = stdout(&["man"]);
    let folder = tempfile::tempdir().unwrap();
    let into = folder.path().join("share/man1");
    elephant().arg("man").arg("--output-dir").arg(&into).assert().code(0).stdout("").stderr("");
    for command in COMMANDS {
        let heading = format!(".SH \"ELEPHANT-RS {}\"", command.to_uppercase());
        assert!(page.contains(&heading), "{heading}");
        let own = std::fs::read_to_string(into.join(format!("elephant-rs-{command}.1"))).unwrap();
        assert!(own.starts_with(".ie") && own.contains(".SH SYNOPSIS"), "{command}");
    }
    for part in ["elephant-rs.1", "elephant-rs-rules-show.1"] {
        assert!(into.join(part).is_file(), "{part}");
    }
    elephant().args(["man", "--output-dir", "Cargo.toml/x"]).assert().code(2).stderr(
        predicate::str::contains("cannot create the folder Cargo.toml/x")
            .and(predicate::str::contains("--output-dir")),
    );
}

#[test]
fn every_command_shows_examples() {
    let parts = [&["rules", "list"][..], &["rules", "show"], &["rules", "check"]];
    let parts = parts.into_iter().chain([&["simulate", "cluster"][..], &["simulate", "patterns"]]);
    let commands = COMMANDS.iter().map(std::slice::from_ref).chain(parts).chain([&[][..]]);
    for command in commands {
        let help = stdout(&[command, &["--help"]].concat());
        let example =
            format!("\n  {}", ["elephant-rs"].iter().chain(command).copied().collect::<Vec<_>>().join(" "));
        assert!(help.contains("Examples:") && help.contains(&example), "{command:?}:\n{help}");
    }
}

#[test]
fn diagnostics_are_off_by_default() {
    let analyze = |name: Option<(&str, &str)>| {
        let mut command = elephant();
        command.envs(name).args(["analyze", "--quiet", "testdata/hadoop1", "Cargo.toml"]);
        let output = command.output().unwrap();
        (output.stdout, String::from_utf8(output.stderr).unwrap())
    };
    let (report, nothing) = analyze(None);
    assert_eq!(nothing, "");
    for name in ["ELEPHANT_LOG", "RUST_LOG"] {
        let (same, diagnostics) = analyze(Some((name, "debug")));
        assert_eq!(same, report);
        for words in [
            "info: found 3 files",
            "Cargo.toml: skipped: plain text",
            "detected as a Hadoop 1 job history",
            "detected as the configuration of job_201311192236_0042",
            "applications: 1, tasks: 5, attempts: 6",
            "job_201311192236_0042: judged in",
        ] {
            assert!(diagnostics.contains(words), "{words} is not in\n{diagnostics}");
        }
        assert!(diagnostics.lines().all(|line| line.starts_with("elephant-rs: ")), "{diagnostics}");
    }
    let (_, diagnostics) = analyze(Some(("ELEPHANT_LOG", "elephant_rs::input=debug")));
    assert!(diagnostics.contains("skipped") && !diagnostics.contains("judged"), "{diagnostics}");
}

#[test]
fn progress_bar_is_shown_only_on_a_terminal() {
    elephant().args(["analyze", "testdata/spark/3.5.9/skew"]).assert().code(0).stderr("");
}

#[test]
fn details_include_phases_and_configuration_without_secrets() {
    let folder = tempfile::tempdir().unwrap();
    for file in std::fs::read_dir("testdata/hadoop1").unwrap() {
        let file = file.unwrap();
        let mut text = std::fs::read_to_string(file.path()).unwrap();
        text = text.replace(
            "</configuration>",
            "<property><name>fs.s3a.secret.key</name><value>hunter2</value></property></configuration>",
        );
        std::fs::write(folder.path().join(file.file_name()), text).unwrap();
    }
    let path = folder.path().to_str().unwrap();
    let plain: serde_json::Value =
        serde_json::from_str(&stdout(&["analyze", "--format", "json", path])).unwrap();
    assert!(plain["applications"][0].get("phases").is_none());
    let text = stdout(&["analyze", "--format", "json", "--details", path]);
    assert!(!text.contains("hunter2"));
    let report: serde_json::Value = serde_json::from_str(&text).unwrap();
    let job = &report["applications"][0];
    assert_eq!(job["configuration"]["fs.s3a.secret.key"], "*********(redacted)");
    assert_eq!(job["configuration"]["mapred.job.map.memory.mb"], "${cluster.map.memory}", "as written");
    let phases = job["phases"].as_array().unwrap();
    let subjects: Vec<&str> = phases.iter().map(|phase| phase["subject"].as_str().unwrap()).collect();
    assert_eq!(subjects, ["map", "reduce"]);
    assert_eq!(phases[0]["tasks"]["total_count"], 2);
    assert!(phases[0]["duration_ms"].as_u64() > Some(0));
}

#[test]
fn report_never_overwrites_a_history() {
    let folder = tempfile::tempdir().unwrap();
    let (history, other) = (folder.path().join("application_1"), folder.path().join("other"));
    let text = "{\"Event\":\"SparkListenerLogStart\",\"Spark Version\":\"3.5.9\"}\n";
    std::fs::write(&history, text).unwrap();
    std::fs::hard_link(&history, &other).unwrap();
    for (target, input) in [(&history, folder.path()), (&other, &history)] {
        let mut command = elephant();
        command.args(["analyze", "--output"]).arg(target).arg(input).assert().code(2).stderr(
            predicate::str::contains("must not replace").or(predicate::str::contains("would overwrite")),
        );
        assert_eq!(std::fs::read_to_string(target).unwrap(), text);
    }
    // A report is not a history, so the next report may overwrite it.
    let report = folder.path().join("report.json");
    for _ in 0..2 {
        let mut command = elephant();
        command.args(["analyze", "--quiet", "--format", "json", "--output"]).arg(&report).arg(folder.path());
        command.assert().code(predicate::in_iter([0, 2]));
        assert!(report.exists());
    }
}
