//! The `analyze` command as a user runs it: exit status, streams, files.

use std::path::{Path, PathBuf};
use std::process::{Command as StdCommand, Stdio};

use assert_cmd::Command;
use predicates::prelude::*;

const DONE: &str = "testdata/done";

fn elephant() -> Command {
    let mut command = Command::cargo_bin("elephant-rs").unwrap();
    command.env("LC_ALL", "C.UTF-8");
    command.current_dir(env!("CARGO_MANIFEST_DIR")).env_remove("NO_COLOR").env_remove("CLICOLOR_FORCE");
    command
}

fn failed_job() -> PathBuf {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata/done/2026/11/21/000000");
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    entries.into_iter().find(|path| path.to_string_lossy().contains("-FAILED-")).unwrap()
}

#[test]
fn successful_run_ends_with_a_summary() {
    elephant().args(["analyze", DONE]).assert().code(0).stdout(predicate::str::contains("files read"));
}

#[test]
fn fail_on_sets_the_exit_status() {
    let with = |level: &str| {
        elephant().args(["analyze", "--fail-on", level, DONE]).assert().get_output().status.code()
    };
    assert_eq!(with("moderate"), Some(1));
    assert_eq!(with("critical"), Some(0));
}

#[test]
fn missing_path_is_reported_and_other_paths_are_read() {
    let assert = elephant().args(["analyze", "no/such/folder", DONE]).assert().code(2);
    assert
        .stderr(predicate::str::contains("no/such/folder").and(predicate::str::contains("no such file")))
        .stdout(predicate::str::contains("job-failed"));
}

#[test]
fn empty_folder_fails_and_says_so() {
    let folder = tempfile::tempdir().unwrap();
    elephant().arg("analyze").arg(folder.path()).assert().code(2).stdout(
        predicate::str::contains("0 files read").and(predicate::str::contains("The paths contain no files.")),
    );
}

#[test]
fn invalid_options_exit_2() {
    for args in [
        &["analyze"][..],
        &["analyze", "--format", "papyrus", DONE],
        &["analyse", DONE],
        &["analyze", "--jobs", "0", DONE],
    ] {
        elephant().args(args).assert().code(2).stdout("");
    }
}

#[test]
fn help_and_version_succeed() {
    for args in [&["--help"][..], &["--version"], &["analyze", "--help"], &["rules", "--help"]] {
        elephant().args(args).assert().code(0).stderr("");
    }
}

#[test]
fn json_file_is_written_completely_or_not_at_all() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("a report.json");
    let run = || {
        let mut command = elephant();
        command.args(["analyze", "--format", "json", "--output"]).arg(&file).arg(DONE);
        command
    };
    run().assert().code(0).stdout("");
    let first = std::fs::read(&file).unwrap();
    let report: serde_json::Value = serde_json::from_slice(&first).unwrap();
    assert_eq!(report["schema_version"], 1);
    run().assert().code(0);
    assert_eq!(std::fs::read(&file).unwrap(), first);
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1, "a temporary file remains");
    elephant()
        .args(["analyze", "--output", "/no/such/folder/report.json", DONE])
        .assert()
        .code(2)
        .stdout("")
        .stderr(predicate::str::contains("--output"));
}

#[test]
fn history_can_be_read_from_standard_input() {
    let history = std::fs::read(failed_job()).unwrap();
    elephant()
        .args(["analyze", "-"])
        .write_stdin(history)
        .assert()
        .code(0)
        .stdout(predicate::str::contains("job_1795255938536_0001"));
}

#[test]
fn output_does_not_depend_on_the_number_of_threads() {
    let with = |threads: &str| {
        let output =
            elephant().args(["analyze", "--format", "json", "--jobs", threads, "testdata"]).output().unwrap();
        assert!(output.status.success());
        output.stdout
    };
    let one = with("1");
    assert_eq!(one, with("2"));
    assert_eq!(one, with("8"));
}

#[test]
fn an_envelope_tells_what_was_read_and_what_not() {
    let report = |arguments: &[&str]| {
        let mut command = elephant();
        command.args([
            "analyze",
            "--quiet",
            "--format",
            "ndjson",
            "--envelope",
            "testdata/broken",
            "testdata/hadoop1",
        ]);
        let output = command.args(arguments).assert().success();
        String::from_utf8(output.get_output().stdout.clone()).unwrap()
    };
    let lines: Vec<serde_json::Value> =
        report(&[]).lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let of = |name: &str| lines.iter().filter(|line| line["type"] == name).count();
    assert!(of("application") > 0 && of("problem") > 0);
    assert_eq!((&lines[0]["type"], &lines[lines.len() - 1]["type"]), (&"run".into(), &"end".into()));
    assert_eq!(report(&["--jobs", "1"]), report(&["--jobs", "7"]));
    // With --top, reports are written in another way.
    assert_eq!(report(&["--top", "1000"]), report(&[]));
    let refused = elephant().args(["analyze", "--envelope", "testdata"]).assert().code(2);
    refused.stderr(predicate::str::contains("--envelope applies to the format ndjson"));
}

#[test]
fn colour_is_off_unless_requested() {
    let escapes = |color: &str| {
        let output = elephant().args(["analyze", "--color", color, DONE]).output().unwrap();
        output.stdout.contains(&0x1b)
    };
    assert!(!escapes("auto"));
    assert!(escapes("always"));
    assert!(!escapes("never"));
}

#[test]
fn text_report_lines_fit_in_80_columns() {
    let output = elephant().args(["analyze", "--min-severity", "none", "testdata"]).output().unwrap();
    for line in String::from_utf8(output.stdout).unwrap().lines() {
        let columns = line.chars().count();
        // A single word, such as a setting, is never split.
        assert!(columns <= 80 || line.trim().split(' ').count() <= 2, "{columns}: {line}");
    }
}

/// The report on these paths.
fn report(arguments: &[&str]) -> String {
    let output = elephant().args(["analyze", "--quiet"]).args(arguments).output().unwrap();
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn each_format_shows_savings_as_a_part_of_the_memory_used() {
    // Lines of text end anywhere.
    let text = report(&["testdata"]).split_whitespace().collect::<Vec<_>>().join(" ");
    let (_, saved) = text.split_once("the remedies save ").unwrap();
    let (_, parts) = saved.split_once('(').unwrap();
    let (parts, _) = parts.split_once(')').unwrap();
    let (share, _) = parts.split_once(" % of the memory used: ").unwrap();
    assert!((0.0..=100.0).contains(&share.parse::<f64>().unwrap()), "{parts}");
    assert!(parts.contains("by smaller memory") && parts.contains("by holding it for less time"), "{parts}");
    assert!(report(&["--format", "markdown", "testdata"]).contains(parts), "markdown lacks {parts:?}");
    let page = scraper::Html::parse_document(&report(&["--format", "html", "testdata"]));
    assert!(page.root_element().text().collect::<String>().contains(parts), "html lacks {parts:?}");
}

#[test]
fn later_jobs_show_what_they_save_the_run_and_the_remedy() {
    let text = report(&["testdata"]);
    let later = text.lines().skip_while(|line| !line.starts_with("11  ")).collect::<Vec<_>>();
    let mut jobs: Vec<Vec<&str>> = Vec::new();
    for line in later.into_iter().take_while(|line| !line.is_empty()) {
        match jobs.last_mut().filter(|_| line.starts_with(' ')) {
            Some(job) => job.push(line),
            None => jobs.push(vec![line]),
        }
    }
    assert_eq!(jobs.len(), 20);
    for (number, job) in (11..).zip(&jobs) {
        assert!(job[0].starts_with(&format!("{number}  saves ")), "{job:?}");
        // The run stands below what it saves if both do not fit.
        let head = &job[..2];
        let has_run =
            |line: &&str| ["application_", "job_", "app-", "local-"].iter().any(|id| line.contains(id));
        assert!(head.iter().any(has_run), "{job:?}");
        assert!(job[1..].iter().any(|line| line.starts_with("    ")), "{job:?}");
        // Every row has its remedy, below the trouble if both do not fit.
        assert!(job.len() <= 5 && job[1..].iter().any(|line| line.contains("→ ")), "{job:?}");
        assert!(job.iter().all(|line| line.chars().count() <= 80), "{job:?}");
    }
    assert!(jobs.iter().flatten().any(|line| line.contains("→ --conf spark.")), "{jobs:#?}");
}

#[test]
fn closed_pipe_exits_0_without_a_message() {
    let mut child = StdCommand::new(env!("CARGO_BIN_EXE_elephant-rs"))
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .args(["analyze", "--quiet", "--format", "json", "testdata"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(output.stderr.is_empty());
}

#[test]
fn quiet_and_strict_options_work() {
    let broken = "testdata/broken";
    elephant().args(["analyze", broken]).assert().code(0).stderr(predicate::str::contains("warning"));
    elephant().args(["analyze", "--quiet", broken]).assert().code(0).stderr("");
    elephant().args(["analyze", "--strict", broken]).assert().code(2);
    // What sets the exit status is told despite `--quiet`.
    let names = |name: &str| predicate::str::contains(name.to_owned());
    elephant().args(["analyze", "--quiet", "--strict", broken]).assert().code(2).stderr(names("broken"));
    for command in ["analyze", "nodes", "stragglers", "whatif"] {
        let missing = elephant().args([command, "--quiet", "no-such-file", "testdata/hadoop1"]).assert();
        missing.code(2).stderr(names("no-such-file").and(predicate::str::contains("warning").not()));
    }
}

#[test]
fn top_limits_what_is_shown_but_not_what_is_counted() {
    let output = elephant().args(["analyze", "--format", "json", "--top", "1", "testdata"]).output().unwrap();
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(report["applications"].as_array().unwrap().len(), 1);
    assert_eq!(report["applications"][0]["severity"], "critical");
    assert!(report["summary"]["applications"].as_u64().unwrap() > 50);
}

#[test]
fn rules_can_be_changed_and_errors_have_a_position() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| {
        let path = folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        path
    };
    let strict = write("strict.yaml", "rule: mapper-time\nlong_run_time: [1s, 2s, 3s, 10min]\n");
    elephant()
        .args(["analyze", "--rules"])
        .arg(&strict)
        .args(["--details", "--fail-on", "severe", DONE])
        .assert()
        .code(1)
        .stdout(predicate::str::contains("mapper-time"));
    for (text, place, what) in [
        ("rule: mapper-time\nlong_run_time: [1s, 2s, 3s]\n", ":2:16", "four cut-offs"),
        ("rule: mapper-time\nlong_run_time: [4s, 3s, 2s, 1s]\n", ":2:16", "must rise"),
        ("rule: mapper-time\nlong_run_tim: [1s, 2s, 3s, 4s]\n", ":2:1", "did you mean \"long_run_time\"?"),
        ("rule: mapper-time\n\nshort_run_time: [10min, five, 2min, 1min]\n", ":3:25", "a time with its unit"),
        ("# a comment\nrule: maper-time\n", ":2:7", "did you mean \"mapper-time\"?"),
        ("deviation: [1, 2, 3, 4]\n", "", "rule: <id>"),
        ("rule: [\n", ":", ""),
    ] {
        let file = write("wrong.yaml", text);
        let message =
            predicate::str::contains(format!("wrong.yaml{place}")).and(predicate::str::contains(what));
        elephant().args(["rules", "check"]).arg(&file).assert().code(2).stdout("").stderr(message);
    }
    elephant().args(["rules", "check"]).arg(&strict).assert().code(0);
    elephant()
        .args(["rules", "check", "no-such-preset"])
        .assert()
        .code(2)
        .stderr(predicate::str::contains("dr-elephant"));
}

#[test]
fn rule_page_shows_the_thresholds_in_effect() {
    elephant().args(["rules", "list"]).assert().code(0).stdout(predicate::str::contains("mapper-skew"));
    elephant().args(["rules", "show", "mapper-skew"]).assert().code(0).stdout(
        predicate::str::contains("# Mapper Skew").and(predicate::str::contains("deviation: [1, 1, 1, 1]")),
    );
    elephant().args(["rules", "show", "mapper-skew", "--rules", "dr-elephant"]).assert().code(0).stdout(
        predicate::str::contains("lost_time: off").and(predicate::str::contains("preset dr-elephant")),
    );
    elephant().args(["rules", "show", "mapper-scew"]).assert().code(2);
}

#[test]
fn histories_are_found_whatever_their_name_or_extension() {
    let folder = tempfile::tempdir().unwrap();
    let odd = folder.path().join("a folder with blanks").join("ünïcode");
    std::fs::create_dir_all(&odd).unwrap();
    std::fs::copy(failed_job(), odd.join("no suffix at all")).unwrap();
    elephant().arg("analyze").arg(folder.path()).assert().code(0).stdout(
        predicate::str::contains("job_1795255938536_0001").and(predicate::str::contains("1 file read")),
    );
}

/// Complete reports for the examples of the README.
#[test]
fn reports() {
    let of = |args: &[&str]| {
        let output = elephant().arg("analyze").args(args).output().unwrap();
        (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap())
    };
    elephant_testing::with_snapshots("reports", || {
        insta::assert_snapshot!("done.txt", of(&[DONE]).0);
        elephant_testing::assert_json_snapshots("done", &of(&["--format", "json", DONE]).0);
        let (text, warnings) =
            of(&["--min-severity", "none", "testdata/hadoop1", "testdata/intermediate", "testdata/broken"]);
        insta::assert_snapshot!("odd.txt", format!("{text}--- standard error\n{warnings}"));
        insta::assert_snapshot!("dr-elephant.txt", of(&["--rules", "dr-elephant", DONE]).0);
    });
}

/// A failed application master leaves a history; its successor's history repeats and continues it.
#[test]
fn only_the_last_application_master_attempt_counts() {
    let folder = tempfile::tempdir().unwrap();
    let died = Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata/intermediate/alice");
    for attempt in [1, 2] {
        let name = format!("job_1795255963617_0001_{attempt}.jhist");
        std::fs::copy(died.join("job_1795255963617_0001_1.jhist"), folder.path().join(name)).unwrap();
    }
    let output = elephant().args(["analyze", "--format", "json"]).arg(folder.path()).output().unwrap();
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let applications = report["applications"].as_array().unwrap();
    assert_eq!(applications.len(), 1);
    assert!(applications[0]["sources"][0].as_str().unwrap().ends_with("_2.jhist"));
    assert!(report["problems"].as_array().unwrap().iter().any(|problem| problem["code"] == "superseded"));
}

/// An event log with a job that spills, written by `tests/common`.
fn spark_log() -> String {
    use elephant_testing::spark_log::{App, GIB, Task};
    let spilling = |id: &str| {
        Task::new(id, 600_000).metric("Memory Bytes Spilled", 8 * GIB).metric("Disk Bytes Spilled", 2 * GIB)
    };
    App::with(&[("spark.executor.memory", "2g")], 2, 1).stage(vec![spilling("1"), spilling("2")]).text()
}

fn json(path: &Path) -> serde_json::Value {
    let output =
        elephant().args(["analyze", "--format", "json", "--sort", "severity"]).arg(path).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

#[test]
fn both_engines_share_one_ranked_list() {
    let folder = tempfile::tempdir().unwrap();
    for entry in std::fs::read_dir(failed_job().parent().unwrap()).unwrap() {
        let entry = entry.unwrap();
        std::fs::copy(entry.path(), folder.path().join(entry.file_name())).unwrap();
    }
    std::fs::write(folder.path().join("application_1700000000000_0001"), spark_log()).unwrap();
    let report = json(folder.path());
    let applications = report["applications"].as_array().unwrap();
    let mut engines: Vec<&str> = applications.iter().map(|app| app["engine"].as_str().unwrap()).collect();
    let rank = |app: &serde_json::Value| {
        let severities = ["none", "low", "moderate", "severe", "critical"];
        severities.iter().position(|name| app["severity"] == *name).unwrap()
    };
    assert!(applications.windows(2).all(|pair| rank(&pair[0]) >= rank(&pair[1])), "{report:#}");
    let ids: Vec<&str> = applications.iter().map(|app| app["id"].as_str().unwrap()).collect();
    let output = elephant().args(["analyze", "--sort", "severity"]).arg(folder.path()).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let shown: Vec<Option<usize>> = applications
        .iter()
        .zip(&ids)
        .filter(|(app, _)| rank(app) > 0)
        .map(|(_, id)| text.find(*id))
        .collect();
    assert!(shown.is_sorted() && shown.iter().all(Option::is_some), "{ids:?}\n{text}");
    engines.sort_unstable();
    engines.dedup();
    assert_eq!(engines, ["mapreduce", "spark"]);
    let spark = applications.iter().find(|app| app["engine"] == "spark").unwrap();
    assert!(rank(spark) > 0, "{spark:#}");
}

#[test]
fn event_log_can_be_read_from_standard_input() {
    let plain = spark_log().into_bytes();
    let packed = zstd::encode_all(&plain[..], 1).unwrap();
    for bytes in [plain, packed] {
        elephant().args(["analyze", "-"]).write_stdin(bytes).assert().code(0).stdout(
            predicate::str::contains("application_1700000000000_0001")
                .and(predicate::str::contains("Spill in")),
        );
    }
}

#[test]
fn rolling_log_that_just_started_does_not_fail_other_logs() {
    let folder = tempfile::tempdir().unwrap();
    let begun = folder.path().join("eventlog_v2_local-1");
    std::fs::create_dir(&begun).unwrap();
    std::fs::write(begun.join("appstatus_local-1.inprogress"), "").unwrap();
    std::fs::write(begun.join("events_1_local-1"), "").unwrap();
    std::fs::create_dir(folder.path().join("eventlog_v2_local-2")).unwrap();
    std::fs::write(folder.path().join("application_1700000000000_0001"), spark_log()).unwrap();
    let report = json(folder.path());
    let applications = report["applications"].as_array().unwrap();
    assert_eq!(applications.len(), 1, "{report:#}");
    assert_eq!(applications[0]["id"], "application_1700000000000_0001");
}

#[test]
fn log_in_progress_is_running_and_incomplete() {
    let folder = tempfile::tempdir().unwrap();
    let log = spark_log();
    let without_end = &log[..=log.trim_end().rfind('\n').unwrap()];
    let path = folder.path().join("application_1700000000000_0001.inprogress");
    std::fs::write(&path, without_end).unwrap();
    let report = json(&path);
    let app = &report["applications"][0];
    assert_eq!((&app["status"], &app["complete"]), (&"running".into(), &false.into()), "{report:#}");
    assert_eq!(app["metrics"]["tasks"]["task"]["succeeded_count"], 2);
    let problems = report["problems"].as_array().unwrap();
    assert!(problems.iter().any(|problem| problem["code"] == "no-application-end"), "{problems:?}");
}

/// Runs of two jobs, `nightly` of them of the first one, with ids in order.
fn runs_of_two_jobs(nightly: u32) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let run = |name: &str, id: String| {
        let log = spark_log().replace("application_1700000000000_0001", &id).replace("word count", name);
        std::fs::write(folder.path().join(&id), log).unwrap();
    };
    for day in 1..=nightly {
        run(&format!("nightly 2026-11-{day:02}"), format!("application_1700000000000_{day:04}"));
    }
    run("hourly", "application_1700000000000_9001".to_owned());
    folder
}

fn text(arguments: &[&str], path: &Path) -> String {
    let output = elephant().args(["analyze", "--quiet"]).args(arguments).arg(path).output().unwrap();
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn runs_of_a_job_are_one_entry() {
    let folder = runs_of_two_jobs(28);
    let short = text(&[], folder.path());
    assert!(short.contains("29 applications, 2 jobs"), "{short}");
    assert_eq!(short.matches("28 runs").count(), 1, "{short}");
    assert!(short.contains("last application_1700000000000_0028"), "{short}");
    assert!(short.contains("Spill in 28"), "{short}");
    assert!(short.lines().count() < 60, "{short}");
    let all = text(&["--details"], folder.path());
    assert_eq!(all.matches("/application_1700000000000_").count(), 29, "{all}");
    let first = text(&["--top", "1"], folder.path());
    assert!(first.contains("28 runs") && first.contains("1 more job with findings not shown"), "{first}");
}

#[test]
fn the_c_locale_gets_ascii() {
    let folder = runs_of_two_jobs(2);
    for format in ["analyze", "stragglers", "nodes", "whatif"] {
        let output = |locale: &str| {
            let mut command = elephant();
            command.env("LC_ALL", locale).args([format, "--quiet"]).arg(folder.path());
            String::from_utf8(command.output().unwrap().stdout).unwrap()
        };
        let (plain, unicode) = (output("C"), output("C.UTF-8"));
        assert!(plain.is_ascii() && !plain.contains('?'), "{plain}");
        assert!(plain.lines().all(|line| line.len() <= 80 || line.contains("--conf")), "{plain}");
        // Otherwise there would be nothing to convert.
        assert!(format != "analyze" || !unicode.is_ascii(), "{unicode}");
    }
}

#[test]
fn applications_with_the_same_id_show_their_path() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["nightly", "hourly"] {
        let log = spark_log().replace("\"word count\"", &format!("\"{name}\""));
        std::fs::write(folder.path().join(format!("{name}.log")), log).unwrap();
    }
    let short = text(&[], folder.path());
    assert_eq!(short.matches("application_1700000000000_0001").count(), 2, "{short}");
    assert_eq!(short.matches(".log").count(), 2, "{short}");
}
