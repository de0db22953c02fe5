//! Nesting depth, widths and bytes that no writer produces, in every kind of file.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use serde_json::json;

use crate::run::{Ran, analyze, codes, elephant, run};
use elephant_testing::make::{MIB, jhist, lines, spark_end, spark_start, stage, task_end, task_start};

/// Deep enough to overflow the stack of any recursion.
const DEEP: usize = 200_000;

fn nested(open: &str, close: &str) -> String {
    open.repeat(DEEP) + "1" + &close.repeat(DEEP)
}

#[test]
fn deep_nesting_loses_at_most_its_line() {
    let folder = tempfile::tempdir().unwrap();
    let event = |name: &str, rest: &str| format!("{{\"Event\":\"{name}\",{rest}}}\n");
    let (array, object) = (nested("[", "]"), nested("{\"a\":", "}"));
    let plan = nested("{\"nodeName\":\"a\",\"children\":[", "]}");
    let spark = [
        spark_start(),
        event("SparkListenerTaskEnd", &format!("\"x\":{array}")),
        event("SparkListenerJobStart", &format!("\"Job ID\":1,\"Properties\":{object}")),
        event("SparkListenerStageSubmitted", &format!("\"Stage Info\":{array}")),
        event(
            "org.apache.spark.sql.execution.ui.SparkListenerSQLExecutionStart",
            &format!("\"executionId\":1,\"sparkPlanInfo\":{plan}"),
        ),
        event("com.vendor.Other", &format!("\"x\":{object}")),
        array.clone() + "\n",
        stage(0, 0),
        spark_end(),
    ];
    let mut hadoop = jhist(2);
    writeln!(hadoop, "{{\"type\":\"TASK_UPDATED\",\"event\":{object}}}").unwrap();
    for (name, text, task) in
        [("app", spark.concat(), "task"), ("job_1500000000000_0001.jhist", hadoop, "map")]
    {
        let path = folder.path().join(name);
        fs::write(&path, text).unwrap();
        let (report, ran) = analyze(&path, &[]);
        assert_eq!(ran.code, Some(0), "{}", ran.stderr);
        let tasks = &report["applications"][0]["metrics"]["tasks"][task]["total_count"];
        assert_eq!(tasks, if task == "task" { 1 } else { 2 }, "{report:#}");
        assert!(ran.peak_mib < 150, "{name}: {} MiB", ran.peak_mib);
    }
}

#[test]
fn non_text_bytes_lose_only_their_line() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("app");
    let mut bytes = spark_start().into_bytes();
    bytes.extend(
        b"\0\0\0\n\xff\xfe{\"Event\":\"SparkListenerTaskEnd\"}\n{\"Event\":\"SparkListener\xc3\x28\"}\n",
    );
    bytes.extend(stage(0, 0).replace("\"h1\"", "\"h\\u0000\\u001b[31m\\ud800\"").into_bytes());
    bytes.extend(stage(1, 0).replace("s1", "s\u{202e}1").into_bytes());
    bytes.extend(spark_end().into_bytes());
    fs::write(&path, bytes).unwrap();
    let (report, ran) = analyze(&path, &[]);
    assert_eq!(report["applications"][0]["metrics"]["tasks"]["task"]["total_count"], 2, "{report:#}");
    assert_eq!(codes(&report).iter().filter(|code| **code == "malformed-event").count(), 1, "{report:#}");
    assert!(ran.stderr.lines().count() < 8 && !ran.stderr.contains(['\0', '\u{1b}']), "{}", ran.stderr);
    let text = run(elephant().arg("analyze").arg("--min-severity=none").arg(&path)).stdout;
    assert!(!text.contains(['\0', '\u{1b}']), "{text:?}");
}

/// A log that contains `count` items of a kind.
fn many(kind: &str, count: u64) -> String {
    let mut text = spark_start();
    for id in 0..count {
        text += &match kind {
            // The task's index needs no memory for the indices below it.
            "stages" => stage(id, 4095),
            "jobs of one stage" => lines(&[
                json!({"Event": "SparkListenerJobStart", "Job ID": id, "Submission Time": 1_700_000_000_000_u64 + id, "Stage IDs": [0]}),
            ]),
            "attempts of a stage" => {
                let info = |completed: Option<u64>| {
                    json!({"Stage ID": 0, "Stage Attempt ID": id, "Number of Tasks": 1,
                    "Submission Time": 1_700_000_000_000_u64 - id, "Completion Time": completed, "Failure Reason": "it failed"})
                };
                lines(&[
                    json!({"Event": "SparkListenerStageSubmitted", "Stage Info": info(None)}),
                    json!({"Event": "SparkListenerStageCompleted", "Stage Info": info(Some(1_700_000_002_000))}),
                ])
            }
            "executors" => lines(&[
                json!({"Event": "SparkListenerExecutorAdded", "Timestamp": 1, "Executor ID": id.to_string(), "Executor Info": {"Host": format!("h{id}"), "Total Cores": 4}}),
            ]),
            "excluded nodes" => lines(&[
                json!({"Event": "SparkListenerNodeExcluded", "time": 1, "hostId": format!("h{id}"), "executorFailures": 1}),
                json!({"Event": "SparkListenerNodeUnexcluded", "time": 1, "hostId": format!("h{}", id / 2)}),
            ]),
            "profiles" => {
                lines(&[json!({"Event": "SparkListenerResourceProfileAdded", "Resource Profile Id": id})])
            }
            "queries" => lines(&[
                json!({"Event": "org.apache.spark.sql.execution.ui.SparkListenerSQLExecutionStart", "executionId": id, "description": "d"}),
            ]),
            "hosts and messages" => {
                let mut end = task_end(0, id, id);
                end["Task Info"]["Host"] = json!(format!("h{id}"));
                end["Task Info"]["Executor ID"] = json!(id.to_string());
                end["Task End Reason"] = json!({"Reason": "ExceptionFailure", "Class Name": format!("E{id}"), "Description": "", "Full Stack Trace": format!("E{id}")});
                lines(&[task_start(0, id, id), end])
            }
            _ => lines(&[
                json!({"Event": "SparkListenerApplicationStart", "App Name": "x", "App ID": format!("app-{id}"), "Timestamp": 1}),
                json!({"Event": "SparkListenerApplicationEnd", "Timestamp": 2}),
            ]),
        };
    }
    text + &stage(0, 0) + &spark_end()
}

#[test]
fn memory_is_proportional_to_the_number_of_items() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("app");
    let kinds = [
        "stages",
        "jobs of one stage",
        "attempts of a stage",
        "executors",
        "excluded nodes",
        "profiles",
        "queries",
        "hosts and messages",
    ];
    for kind in kinds {
        fs::write(&path, many(kind, 4000)).unwrap();
        let (report, ran) = analyze(&path, &[]);
        assert_eq!(report["applications"].as_array().unwrap().len(), 1, "{kind}");
        let lines = ran.stderr.lines().count();
        assert!(lines < 10, "{kind}: {}", ran.stderr);
        assert!(ran.peak_mib < 100, "{kind}: {} MiB", ran.peak_mib);
    }
}

#[test]
fn applications_per_log_are_limited() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("app");
    fs::write(&path, many("applications", 17_000)).unwrap();
    let ran = run(elephant().args(["nodes", "--format=json"]).arg(&path));
    assert_eq!(ran.stderr.matches("more than 16384 applications").count(), 1, "{}", ran.stderr);
    assert!(ran.peak_mib < 300, "{} MiB", ran.peak_mib);
}

fn with_rules(folder: &Path, text: &str) -> Ran {
    let path = folder.join("rules.yaml");
    fs::write(&path, text).unwrap();
    run(elephant().args(["rules", "check"]).arg(&path))
}

#[test]
fn rule_files_and_baselines_are_bounded() {
    let folder = tempfile::tempdir().unwrap();
    let mut aliases = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n".to_owned();
    for level in 1..30 {
        let before = format!("*a{}, ", level - 1).repeat(10);
        writeln!(aliases, "a{level}: &a{level} [{before}]").unwrap();
    }
    let rule = |params: &str| format!("rule: mine\nengine: spark\n{params}\n");
    let expression = |text: &str| rule(&format!("values:\n  x: {text:?}\nseverity: {{x: [1, 2, 3, 4]}}"));
    let texts = [
        aliases.clone(),
        "[".repeat(DEEP),
        "a: ".repeat(DEEP),
        "- ".repeat(DEEP),
        "rule: mapper-skew\n".repeat(20_000),
        "x".repeat(40 * MIB),
        (0..50_000).fold(rule("values:"), |text, value| text + &format!("  v{value}: 1\n")),
        expression(&"(".repeat(20_000)),
        expression(&("1".to_owned() + &" + 1".repeat(50_000))),
        expression(&"-".repeat(50_000)),
        expression(&"!".repeat(50_000)),
        rule(
            "scopes:\n  - match: {name: '(((((a{1,1000}){1,1000}){1,1000}){1,1000}){1,1000})'}\n    severity: low",
        ),
    ];
    for text in texts {
        let ran = with_rules(folder.path(), &text);
        let start: String = text.chars().take(40).collect();
        assert_eq!(
            ran.code,
            Some(2),
            "{start}: {:?}\n{}",
            ran.code,
            ran.stderr.chars().take(500).collect::<String>()
        );
        assert!(!ran.stderr.contains("panicked"), "{start}: {}", ran.stderr);
        assert!(ran.peak_mib < 1000, "{start}: {} MiB", ran.peak_mib);
        assert!(ran.stderr.len() < 2 * MIB, "{start}: {} bytes of messages", ran.stderr.len());
    }
    let log = folder.path().join("app");
    fs::write(&log, spark_start() + &spark_end()).unwrap();
    for text in [aliases, "[".repeat(DEEP / 20), "a: ".repeat(DEEP), "jobs: ".to_owned() + &"x".repeat(MIB)] {
        let baseline = folder.path().join("baseline.yaml");
        fs::write(&baseline, text).unwrap();
        let ran = run(elephant().args(["check", "--baseline"]).arg(&baseline).arg(&log));
        assert_eq!(ran.code, Some(2), "{}", ran.stderr.chars().take(500).collect::<String>());
        assert!(ran.peak_mib < 300, "{} MiB", ran.peak_mib);
    }
}

#[test]
fn configurations_and_reports_are_bounded() {
    let folder = tempfile::tempdir().unwrap();
    let mut laughs = "<?xml version=\"1.0\"?><!DOCTYPE configuration [<!ENTITY l0 \"lol\">".to_owned();
    for level in 1..30 {
        let before = format!("&l{};", level - 1).repeat(10);
        write!(laughs, "<!ENTITY l{level} \"{before}\">").unwrap();
    }
    laughs += "]><configuration><property><name>a</name><value>&l29;</value></property></configuration>";
    let property = "<property><name>mapreduce.job.name</name><value>right</value></property>";
    let confs = [
        laughs,
        "<configuration>".to_owned() + property + &"<a>".repeat(DEEP),
        format!("<configuration>{property}<property x=\"{}\"/></configuration>", "y".repeat(4 * MIB)),
        format!("<configuration>{property}<property><name>{}</name></property>", "y".repeat(4 * MIB)),
    ];
    let history = folder.path().join("job_1500000000000_0001.jhist");
    fs::write(&history, jhist(2)).unwrap();
    for conf in confs {
        fs::write(folder.path().join("job_1500000000000_0001_conf.xml"), &conf).unwrap();
        let (report, ran) = analyze(folder.path(), &[]);
        assert_eq!(report["applications"][0]["metrics"]["tasks"]["map"]["total_count"], 2, "{report:#}");
        assert!(
            codes(&report).len() <= 2 && ran.stderr.len() < 2000,
            "{}",
            ran.stderr.chars().take(500).collect::<String>()
        );
        assert!(ran.peak_mib < 150, "{} MiB", ran.peak_mib);
    }
    for text in [
        "[".repeat(DEEP),
        "{\"applications\":".repeat(DEEP),
        "{\"schema_version\":1,\"applications\":[".to_owned() + &"{},".repeat(100_000),
    ] {
        let report = folder.path().join("report.json");
        fs::write(&report, text).unwrap();
        let ran = run(elephant().arg("diff").arg(&report).arg(&history));
        assert_eq!(ran.code, Some(2), "{}", ran.stderr);
        assert!(
            ran.stderr.lines().count() <= 2 && ran.peak_mib < 150,
            "{} MiB, {}",
            ran.peak_mib,
            ran.stderr
        );
    }
}
