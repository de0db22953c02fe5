//! The filters of all commands, on recordings.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Output;

use assert_cmd::Command;
use serde_json::Value;

use elephant_testing::files_below;

const INPUT: [&str; 3] = ["testdata/done", "testdata/hadoop1", "testdata/spark/3.5.9"];
const COMMANDS: [&str; 4] = ["analyze", "nodes", "stragglers", "whatif"];

fn run(args: &[&str]) -> Output {
    let mut command = Command::cargo_bin("elephant-rs").unwrap();
    command.current_dir(env!("CARGO_MANIFEST_DIR")).env_remove("NO_COLOR").args(args).output().unwrap()
}

/// The exit status and standard error.
fn failure(args: &[&str]) -> (i32, String) {
    let output = run(args);
    (output.status.code().unwrap(), String::from_utf8(output.stderr).unwrap())
}

fn analyze(args: &[&str]) -> Value {
    let output = run(&[&["analyze", "--quiet", "--format", "json"], args, &INPUT].concat());
    assert_eq!(output.status.code(), Some(0), "{args:?}");
    serde_json::from_slice(&output.stdout).unwrap()
}

fn ids(report: &Value) -> BTreeSet<String> {
    let apps = report["applications"].as_array().unwrap().iter();
    apps.map(|app| app["id"].as_str().unwrap().to_owned()).collect()
}

/// The ids of the applications for which this holds without filters.
fn all_that(holds: impl Fn(&Value) -> bool) -> BTreeSet<String> {
    let report = analyze(&[]);
    let apps = report["applications"].as_array().unwrap().iter();
    apps.filter(|app| holds(app)).map(|app| app["id"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn each_filter_selects_what_it_says() {
    let all = all_that(|_| true);
    let starts_with =
        |app: &Value, key: &str, start: &str| app[key].as_str().is_some_and(|text| text.starts_with(start));
    let job = "job_1795255938536_0001";
    let cases: [(&[&str], BTreeSet<String>); 11] = [
        (&["--engine", "spark"], all_that(|app| app["engine"] == "spark")),
        (&["--engine", "mapreduce"], all_that(|app| app["engine"] == "mapreduce")),
        (&["--user", "alice"], all_that(|app| app["user"] == "alice")),
        (&["--user", "al?ce", "--user", "/^et/"], all.clone()),
        (&["--queue", "root.*"], all_that(|app| starts_with(app, "queue", "root."))),
        (
            &["--name", "/^(healthy|skew)/"],
            all_that(|app| starts_with(app, "name", "healthy") || starts_with(app, "name", "skew")),
        ),
        (&["--app", job], BTreeSet::from([job.to_owned()])),
        (&["--app", "application_1795255938536_0001"], BTreeSet::from([job.to_owned()])),
        (
            &["--app", "application_17952559*", "--app", "job_20*"],
            all_that(|app| starts_with(app, "id", "job_17952559") || starts_with(app, "id", "job_20")),
        ),
        (
            &["--since", "2026-11-21T09:42:19.802Z"],
            all_that(|app| app["submitted_at"].as_str() >= Some("2026-11-21T09:42:19.802Z")),
        ),
        (
            &["--since", "2024-11-21", "--until", "2026-11-21T10:42:19.802+01:00", "--engine", "mapreduce"],
            all_that(|app| {
                let start = app["submitted_at"].as_str();
                app["engine"] == "mapreduce"
                    && start >= Some("2024")
                    && start < Some("2026-11-21T09:42:19.802Z")
            }),
        ),
    ];
    for (filter, expected) in cases {
        assert!(!expected.is_empty(), "{filter:?}");
        let report = analyze(filter);
        assert_eq!(ids(&report), expected, "{filter:?}");
        assert_eq!(report["summary"]["applications"], expected.len(), "{filter:?}");
        assert_eq!(report["summary"]["applications_left_out"], all.len() - expected.len(), "{filter:?}");
        let files = &report["summary"]["files"];
        let count = |key: &str| files[key].as_u64().unwrap();
        assert_eq!(count("found"), count("analysed") + count("skipped") + count("failed"), "{files}");
    }
}

/// Each application counts once among those that are left out, however many copies of its history there are.
#[test]
fn copies_are_left_out_once() {
    let folder = tempfile::tempdir().unwrap();
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    for file in INPUT.into_iter().flat_map(|input| files_below(&root.join(input))) {
        let copy = folder.path().join(file.strip_prefix(root).unwrap());
        std::fs::create_dir_all(copy.parent().unwrap()).unwrap();
        std::fs::copy(&file, &copy).unwrap();
    }
    let copies = folder.path().to_str().unwrap();
    let all = ids(&analyze(&[])).len();
    let filters: [&[&str]; 8] = [
        &["--queue", "root.*"],
        &["--engine", "spark"],
        &["--engine", "mapreduce"],
        &["--user", "al*"],
        &["--name", "skew*"],
        &["--app", "job_1795255938536_0001"],
        &["--since", "2026-11-21T09:42:19.802Z"],
        &[],
    ];
    for filter in filters {
        let summary = analyze(&[filter, &[copies]].concat())["summary"].take();
        let count = |key: &str| summary[key].as_u64().unwrap();
        assert_eq!(count("applications") + count("applications_left_out"), all as u64, "{filter:?}");
    }
}

#[test]
fn applications_are_the_same_with_and_without_filters() {
    let (whole, part) = (analyze(&[]), analyze(&["--engine", "spark", "--name", "skew*"]));
    let part = part["applications"].as_array().unwrap();
    assert_eq!(part.len(), 1);
    assert!(whole["applications"].as_array().unwrap().contains(&part[0]));
}

#[test]
fn every_command_counts_what_its_filters_leave_out() {
    for command in COMMANDS {
        let input = ["--format", "json", "--name", "healthy*", "--quiet"];
        let output = run(&[&[command], &input[..], &INPUT].concat());
        let report: Value = serde_json::from_slice(&output.stdout).unwrap();
        let (key, rest) = match command {
            "analyze" => (&report["summary"]["applications"], &report["summary"]["applications_left_out"]),
            _ => (&report["applications_count"], &report["applications_left_out_count"]),
        };
        assert_eq!((key, rest.as_u64() > Some(3)), (&2.into(), true), "{command}");
        let text = run(&[&[command], &input[2..], &INPUT].concat()).stdout;
        let text = String::from_utf8(text).unwrap().replace('\n', " ");
        assert!(text.contains("applications match the filters"), "{command}: {text}");
    }
}

#[test]
fn no_match_is_a_failure_that_says_so() {
    for command in COMMANDS {
        let (code, error) = failure(&[&[command, "--user", "nobody"], &INPUT[..]].concat());
        assert_eq!(code, 2, "{command}");
        assert!(
            error.contains("not match the filters") || error.contains("the filters match none of the"),
            "{command}: {error}"
        );
        let (code, error) = failure(&[&[command, "--user", "nobody", "--allow-empty"], &INPUT[..]].concat());
        assert_eq!((code, error.contains("no application")), (0, false), "{command}: {error}");
    }
    let folder = tempfile::tempdir().unwrap();
    let (code, error) = failure(&["analyze", "--user", "nobody", folder.path().to_str().unwrap()]);
    assert_eq!((code, error.contains("the input has no files")), (2, true), "{error}");
    let (code, error) = failure(&["diff", "--user", "nobody", INPUT[0], INPUT[1]]);
    assert_eq!((code, error.contains("the filters match none of the 5 applications")), (2, true), "{error}");
}

#[test]
fn wrong_patterns_times_and_rules_are_refused_with_a_reason() {
    for (args, words) in [
        (&["--name", "/(/"], "invalid regular expression"),
        (&["--since", "yesterday"], "expected a time such as 2026-11-20"),
        (&["--engine", "flink"], "mapreduce, spark"),
        (&["--rule", "mapper-skw"], "did you mean \"mapper-skew\""),
        (&["--rule", "no-such-thing-at-all"], "rules list"),
    ] {
        let (code, error) = failure(&[&["analyze"], &args[..], &INPUT].concat());
        assert_eq!(code, 2, "{args:?}");
        assert!(error.contains(words), "{args:?}: {error}");
    }
}

#[test]
fn problems_of_applications_that_are_left_out_are_not_reported() {
    let folder = tempfile::tempdir().unwrap();
    for (name, user, end) in [("whole", "alice", "\n"), ("cut", "bob", "\n{\"Event\":\"Spark")] {
        let log = format!(
            "{{\"Event\":\"SparkListenerLogStart\",\"Spark Version\":\"3.5.9\"}}\n\
             {{\"Event\":\"SparkListenerEnvironmentUpdate\",\"JVM Information\":{{}},\"Spark Properties\":\
             {{\"spark.master\":\"yarn\"}},\"System Properties\":{{}},\"Classpath Entries\":{{}}}}\n\
             {{\"Event\":\"SparkListenerApplicationStart\",\"App Name\":\"{name}\",\"App ID\":\"app-{name}\",\
             \"Timestamp\":1700000000000,\"User\":\"{user}\"}}\n\
             {{\"Event\":\"SparkListenerApplicationEnd\",\"Timestamp\":1700000001000}}{end}"
        );
        std::fs::write(folder.path().join(format!("app-{name}")), log).unwrap();
    }
    let path = folder.path().to_str().unwrap();
    for (user, code) in [("alice", 0), ("bob", 2), ("*", 2)] {
        let output = run(&["analyze", "--strict", "--format", "json", "--user", user, path]);
        let report: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(output.status.code(), Some(code), "{user}");
        assert_eq!(report["problems"].as_array().unwrap().is_empty(), code == 0, "{user}");
    }
}

/// The log of an application of this user, with at least as many bytes.
fn log(id: &str, user: &str, bytes: usize) -> String {
    let mut log = format!(
        "{{\"Event\":\"SparkListenerLogStart\",\"Spark Version\":\"3.5.9\"}}\n\
         {{\"Event\":\"SparkListenerApplicationStart\",\"App Name\":\"big\",\"App ID\":\"{id}\",\
         \"Timestamp\":1700000000000,\"User\":\"{user}\"}}\n"
    );
    while log.len() < bytes {
        log.push_str("{\"Event\":\"SparkListenerUnpersistRDD\",\"RDD ID\":1}\n");
    }
    log
}

#[test]
fn a_large_file_of_several_applications_is_read_to_its_end() {
    let folder = tempfile::tempdir().unwrap();
    let logs = log("app-1-0001", "alice", 4 << 20) + &log("app-1-0002", "bob", 0);
    std::fs::write(folder.path().join("all.log"), logs).unwrap();
    for (user, id) in [("alice", "app-1-0001"), ("bob", "app-1-0002")] {
        let path = folder.path().to_str().unwrap();
        let output = run(&["analyze", "--quiet", "--format", "json", "--user", user, path]);
        let report: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(ids(&report), BTreeSet::from([id.to_owned()]));
        assert_eq!(report["summary"]["applications_left_out"], 1);
    }
}

/// If the filter leaves out a large log with the name that Spark gave it, only its beginning is read.
#[test]
fn a_large_log_is_left_out_by_its_beginning() {
    let folder = tempfile::tempdir().unwrap();
    let mut log = log("app-20231114221320-0001", "alice", 4 << 20);
    // The damage shows whether the end was read.
    log.push_str("{\"Event\":\"SparkListenerTaskEnd\",\"Stage ID\":");
    std::fs::write(folder.path().join("app-20231114221320-0001"), log).unwrap();
    let path = folder.path().to_str().unwrap();
    let report = |args: &[&str]| {
        let output = run(&[&["analyze", "--allow-empty", "--format", "json"], args, &[path]].concat());
        serde_json::from_slice::<Value>(&output.stdout).unwrap()
    };
    for (filter, matches) in [
        (["--user", "alice"], true),
        (["--user", "bob"], false),
        (["--app", "app-20231114221320-0001"], true),
        (["--app", "app-small"], false),
        (["--since", "2023-11-14"], true),
        (["--until", "2023-11-14"], false),
        (["--name", "/b/"], true),
        (["--engine", "mapreduce"], false),
        (["--queue", "*"], false),
    ] {
        let report = report(&filter);
        let (read, left_out) = if matches { (1, 0) } else { (0, 1) };
        assert_eq!(report["summary"]["applications"], read, "{filter:?}");
        assert_eq!(report["summary"]["applications_left_out"], left_out, "{filter:?}");
        assert_eq!(report["problems"].as_array().unwrap().is_empty(), !matches, "{filter:?}");
    }
}

#[test]
fn only_findings_troubles_and_savings_of_some_rules_are_reported() {
    let report = analyze(&["--details", "--rule", "spark-skew", "--rule", "mapper-spill"]);
    let mut rules = BTreeSet::new();
    for app in report["applications"].as_array().unwrap() {
        let of = |list: &Value| -> Vec<String> {
            let items = list.as_array().unwrap().iter();
            items.map(|item| item["rule"].as_str().unwrap().to_owned()).collect()
        };
        rules.extend(of(&app["findings"]));
        rules.extend(of(&app["not_evaluated"]));
        for trouble in app["troubles"].as_array().unwrap() {
            rules.extend(of(&trouble["findings"]));
        }
        assert_eq!(of(&app["findings"]).is_empty(), app["severity"] == "none");
    }
    assert_eq!(rules, BTreeSet::from(["mapper-spill".to_owned(), "spark-skew".to_owned()]));
    let all = analyze(&[]);
    let skewed = |report: &Value| {
        let apps = report["applications"].as_array().unwrap();
        let app = apps.iter().find(|app| app["name"] == "skew-3.5.9").unwrap();
        app["findings"].clone()
    };
    assert_eq!(skewed(&report), skewed(&all), "the findings themselves are the same");
}

#[test]
fn the_summary_has_totals_and_no_application() {
    let (whole, part) = (analyze(&[]), analyze(&["--summary"]));
    assert_eq!(part["applications"].as_array().unwrap().len(), 0);
    assert_eq!((&part["summary"], &part["problems"]), (&whole["summary"], &whole["problems"]));
    for format in ["text", "markdown"] {
        let output = run(&[&["analyze", "--quiet", "--summary", "--format", format], &INPUT[..]].concat());
        let text = String::from_utf8(output.stdout).unwrap();
        let count = format!("{} applications", part["summary"]["applications"]);
        assert!(text.contains(&count) && text.contains("severe"), "{text}");
        assert!(!text.contains("job_1795255938536_0001"), "{text}");
    }
    // A single application has an overview, too.
    let output = run(&["analyze", "--summary", INPUT[1]]);
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.starts_with("1 application · ") && !text.contains("sessions"), "{text}");
    let (code, error) = failure(&["analyze", "--summary", "--format", "csv", INPUT[1]]);
    assert_eq!((code, error.contains("text, json and markdown")), (2, true), "{error}");
    assert_eq!(failure(&["analyze", "--summary", "--top", "3", INPUT[1]]).0, 2);
}

#[test]
fn the_sides_of_a_diff_are_filtered() {
    let folder = tempfile::tempdir().unwrap();
    let stored = folder.path().join("a.json");
    let spark = INPUT[2];
    run(&["analyze", "--format", "json", "--details", "--output", stored.to_str().unwrap(), spark]);
    let diff = |a: &str, args: &[&str]| {
        let output = run(&[&["diff", "--format", "json"], args, &[a, spark]].concat());
        assert_eq!(output.status.code(), Some(0), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
        serde_json::from_slice::<Value>(&output.stdout).unwrap()
    };
    for a in [spark, stored.to_str().unwrap()] {
        let whole = diff(a, &[]);
        assert!(whole["pairs"].as_array().unwrap().len() > 2);
        let part = diff(a, &["--name", "skew*", "--since", "2026-11-21"]);
        assert_eq!(part["pairs"].as_array().unwrap().len(), 1);
        assert!(whole["pairs"].as_array().unwrap().contains(&part["pairs"][0]));
        let silent = diff(a, &["--name", "skew*", "--rule", "spark-executor-gc"]);
        assert!(!silent.to_string().contains("spark-skew"), "{silent}");
    }
}

#[cfg(not(feature = "remote"))]
#[test]
fn addresses_are_refused_with_the_command_that_fetches_them() {
    for (address, command) in [
        ("s3a://bucket/spark-events", "aws s3 cp --recursive s3://bucket/spark-events"),
        ("hdfs://nn:8020/mr-history", "hdfs dfs -get hdfs://nn:8020/mr-history"),
    ] {
        let output = run(&["analyze", address, INPUT[1]]);
        let error = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2));
        assert!(error.contains(command) && !error.contains("no such file"), "{error}");
        assert!(
            String::from_utf8(output.stdout).unwrap().contains("job_201311192236_0042"),
            "others are read"
        );
    }
    assert!(!std::path::Path::new("s3a:").exists());
}
