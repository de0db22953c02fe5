//! `elephant-rs diff` as a user runs it.

use std::path::Path;
use std::process::Output;

use assert_cmd::Command;
use elephant_testing::spark_log::{App, Stage, Task};
use serde_json::Value;

const SKEW: &str = "testdata/spark/3.5.9/skew";
const GC: &str = "testdata/spark/3.5.9/gc";

fn elephant(arguments: &[&str]) -> Output {
    let mut command = Command::cargo_bin("elephant-rs").unwrap();
    command.env("LC_ALL", "C.UTF-8");
    command.current_dir(env!("CARGO_MANIFEST_DIR")).env_remove("NO_COLOR").args(arguments).output().unwrap()
}

fn diff(arguments: &[&str]) -> String {
    let output = elephant(&[&["diff"], arguments].concat());
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

fn json(arguments: &[&str]) -> Value {
    serde_json::from_str(&diff(&[&["--format", "json"], arguments].concat())).unwrap()
}

/// The path of this job's history in the Hadoop recordings.
fn history(job: &str) -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let files = elephant_testing::files_below(&root.join("testdata/done"));
    let wanted = format!("-{job}-");
    let file = files.iter().find(|file| file.to_string_lossy().contains(&wanted)).unwrap();
    file.strip_prefix(root).unwrap().to_str().unwrap().to_owned()
}

#[test]
fn reports() {
    let reports = [
        ("spark.txt", diff(&[SKEW, GC])),
        ("spark.md", diff(&[SKEW, GC, "--format", "markdown"])),
        ("spark.json", diff(&[SKEW, GC, "--format", "json"])),
        ("mapreduce.txt", diff(&[&history("healthy"), &history("retries")])),
        ("folders.txt", diff(&["testdata/done", "testdata/hadoop1"])),
    ];
    for (name, text) in reports {
        if Path::new(name).extension().is_some_and(|extension| extension == "txt") {
            let wide: Vec<&str> = text.lines().filter(|line| line.chars().count() > 80).collect();
            assert!(wide.is_empty(), "{wide:#?}");
        }
        elephant_testing::with_snapshots("reports/diff", || {
            insta::assert_snapshot!(name, text);
        });
    }
}

#[test]
fn history_has_no_difference_from_itself() {
    let report = json(&[SKEW, SKEW]);
    let pair = &report["pairs"][0];
    for figure in pair["figures"].as_object().unwrap().values() {
        assert_eq!(figure["a"], figure["b"]);
    }
    assert_eq!(pair["configuration"]["settings"].as_array().unwrap().len(), 0);
    assert!(pair["findings"].as_array().unwrap().iter().all(|finding| finding["change"] == "same"));
    assert!(pair["phases"].as_array().unwrap().iter().all(|phase| phase["a"] == phase["b"]));
    assert!(diff(&[SKEW, SKEW]).contains("\nNo setting differs"));
}

#[test]
fn saved_report_compares_like_its_history() {
    let folder = tempfile::tempdir().unwrap();
    let kept = folder.path().join("kept.json");
    let kept = kept.to_str().unwrap();
    let keep = |more: &[&str]| {
        let status =
            elephant(&[&["analyze", "--format", "json", "--output", kept, SKEW], more].concat()).status;
        assert!(status.success());
    };
    keep(&["--details"]);
    assert_eq!(json(&[kept, GC]), json(&[SKEW, GC]));
    keep(&[]);
    let text = diff(&[kept, GC]);
    assert!(text.contains("A is a report without details"), "{text}");
    assert!(text.contains("run time") && text.contains("spark-executor-gc"), "{text}");
}

#[test]
fn findings_missing_from_a_truncated_log_are_neither_gone_nor_new() {
    let folder = tempfile::tempdir().unwrap();
    let file = &elephant_testing::files_below(&Path::new(env!("CARGO_MANIFEST_DIR")).join(SKEW))[0];
    let whole = zstd::decode_all(std::fs::File::open(file).unwrap()).unwrap();
    let cut = folder.path().join("cut.log");
    std::fs::write(&cut, &whole[..whole.len() * 60 / 100]).unwrap();
    let cut = cut.to_str().unwrap();
    for sides in [[SKEW, cut], [cut, SKEW]] {
        let report = json(&sides);
        let findings = report["pairs"][0]["findings"].as_array().unwrap();
        let changes: Vec<&str> = findings.iter().map(|finding| finding["change"].as_str().unwrap()).collect();
        assert_eq!(changes, ["not-judged", "same"], "{findings:#?}");
    }
    let reports = [("cut.txt", diff(&[SKEW, cut])), ("cut.md", diff(&[SKEW, cut, "--format", "markdown"]))];
    for (name, text) in reports {
        elephant_testing::with_snapshots("reports/diff", || {
            insta::assert_snapshot!(name, text);
        });
    }
}

/// Writes a log of one stage to its own folder.
fn log(app: &App, folder: &Path, name: &str) -> String {
    let path = folder.join(name);
    std::fs::write(&path, app.text()).unwrap();
    path.to_str().unwrap().to_owned()
}

fn app(conf: &[(&str, &str)], stages: &[(&str, i64)]) -> App {
    let mut app = App::with(conf, 2, 1);
    for (place, (name, ms)) in stages.iter().enumerate() {
        app = app.stage(vec![Task::new("1", *ms), Task::new("2", *ms)]);
        let stage: &mut Stage = &mut app.jobs[place].stages[0];
        (*name).clone_into(&mut stage.name);
    }
    app
}

#[test]
fn diff_shows_stages_and_settings_but_no_secrets() {
    let folder = tempfile::tempdir().unwrap();
    let a = app(
        &[
            ("spark.executor.memory", "4g"),
            ("spark.driver.port", "4040"),
            ("spark.my.password", "first-secret"),
            ("spark.yarn.stagingDir", "hdfs://nn/user/a/application_1700000000000_0001"),
        ],
        &[("load at A.scala:3", 1_000), ("count at A.scala:9", 2_000)],
    );
    let b = app(
        &[
            ("spark.executor.memory", "8g"),
            ("spark.driver.port", "4041"),
            ("spark.my.password", "second-secret"),
            ("spark.yarn.stagingDir", "hdfs://nn/user/a/application_1700000000000_0002"),
        ],
        &[("scan at A.scala:1", 500), ("load at A.scala:3", 1_000), ("count at A.scala:12", 8_000)],
    );
    let (a, b) = (log(&a, folder.path(), "a"), log(&b, folder.path(), "b"));
    for format in ["text", "json", "markdown"] {
        for all in [&[][..], &["--all-configuration"]] {
            let printed = diff(&[&[a.as_str(), b.as_str(), "--format", format], all].concat());
            assert!(!printed.contains("-secret"), "{printed}");
        }
    }
    let pair = &json(&[&a, &b])["pairs"][0];
    let settings = pair["configuration"]["settings"].as_array().unwrap();
    let names: Vec<&str> = settings.iter().map(|setting| setting["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["spark.executor.memory"], "{settings:#?}");
    let phases = pair["phases"].as_array().unwrap();
    let rows: Vec<_> = phases.iter().map(|phase| (phase["a"].as_str(), phase["b"].as_str())).collect();
    assert_eq!(
        rows,
        [
            (Some("stage 0.0"), Some("stage 1.0")),
            (Some("stage 1.0"), Some("stage 2.0")),
            (None, Some("stage 0.0"))
        ]
    );
    let text = diff(&[&a, &b]);
    assert!(text.contains("4g → 8g") && text.contains("only in B") && text.contains("4×"), "{text}");
    let all = json(&[&a, &b, "--all-configuration"]);
    assert_eq!(all["pairs"][0]["configuration"]["settings"].as_array().unwrap().len(), 3, "{all:#}");
}

#[test]
fn folders_are_matched_by_job() {
    let folder = tempfile::tempdir().unwrap();
    for (side, jobs) in [("a", &["x 2026-11-20", "gone"][..]), ("b", &["x 2026-11-21", "came"])] {
        let below = folder.path().join(side);
        std::fs::create_dir(&below).unwrap();
        for (place, job) in jobs.iter().enumerate() {
            let text = app(&[], &[("load at A.scala:3", 1_000)]).text();
            let text = text
                .replace("\"word count\"", &format!("\"{job}\""))
                .replace("_0001", &format!("_000{place}"));
            std::fs::write(below.join(format!("log{place}")), text).unwrap();
        }
    }
    let (a, b) = (folder.path().join("a"), folder.path().join("b"));
    let report = json(&[a.to_str().unwrap(), b.to_str().unwrap()]);
    assert_eq!(report["pairs"].as_array().unwrap().len(), 1);
    assert_eq!(report["pairs"][0]["a"]["job"], "spark · x <date>");
    assert_eq!(report["only_a"][0]["job"], "spark · gone");
    assert_eq!(report["only_b"][0]["job"], "spark · came");
    let text = diff(&[a.to_str().unwrap(), b.to_str().unwrap()]);
    assert!(text.contains("only in A") && text.contains("spark · came"), "{text}");
}

#[test]
fn folders_without_a_common_job_say_how_to_compare_runs() {
    let arguments = [SKEW, "testdata/spark/3.1.3"];
    // A single run on each side is a pair whatever its name.
    assert!(!diff(&arguments).contains("No job in common"));
    let arguments = ["testdata/spark/3.5.9", "testdata/spark/3.1.3"];
    let text = diff(&arguments).split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(text.contains("only in B Runs are paired by engine and name; to compare two runs"), "{text}");
    let page = diff(&[&["--format", "html"], &arguments[..]].concat());
    assert!(page.contains("with different names, pass their files"), "{page}");
}

#[test]
fn unreadable_input_exits_2_with_a_message() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str, text: &str| {
        let path = folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let cut = file("cut.json", "{\n  \"schema_version\": 1,\n  \"applications\": [\n");
    let newer = file("newer.json", r#"{"schema_version": 7, "applications": []}"#);
    let other = file("other.txt", "hello");
    for (arguments, message) in [
        (&[SKEW, &cut][..], "this JSON report cannot be used"),
        (&[&newer, SKEW], "schema version 7"),
        (&[SKEW, &other], "other.txt"),
        (&[SKEW, "no/such/file"], "no/such/file"),
        (&[SKEW], "2 values required"),
        (&[SKEW, SKEW, SKEW], "2 values required"),
    ] {
        let output = elephant(&[&["diff"], arguments].concat());
        let error = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{error}");
        assert!(error.contains(message), "{message} is missing in {error}");
    }
}

#[test]
fn hostile_names_do_not_break_the_output() {
    let folder = tempfile::tempdir().unwrap();
    let hostile = "<script>|\u{1b}[31m\u{202e}\n`*";
    let a = app(&[(hostile, hostile)], &[(hostile, 1_000)]);
    let b = app(&[], &[("x", 1_000)]);
    let (a, b) = (log(&a, folder.path(), "a"), log(&b, folder.path(), "b"));
    for format in ["text", "json", "markdown"] {
        let printed = diff(&[&a, &b, "--format", format]);
        assert!(!printed.contains(['\u{1b}', '\u{202e}']), "{printed:?}");
        assert!(format != "markdown" || !printed.contains("<script>"), "{printed}");
    }
}
