//! Numbers and times that no clock or counter produces: none of them may reach the results.

use std::fs;

use serde_json::{Value, json};

use crate::run::{analyze, elephant, run};
use elephant_testing::make::{jhist, lines, spark_end, spark_start, stage, task_end, task_start};

/// Numbers as they may occur in a file.
const NUMBERS: [&str; 16] = [
    "9223372036854775807",
    "-9223372036854775808",
    "9223372036854775808",
    "18446744073709551616",
    "99999999999999999999999999999999999999",
    "1e400",
    "-1e400",
    "1e-400",
    "-0",
    "-1",
    "253402300800000",
    "8640000000000001",
    "-62135596800001",
    "\"NaN\"",
    "null",
    "true",
];

/// Fails if a number in the report is larger than sane inputs can produce.
fn assert_sane(value: &Value, path: &str) {
    match value {
        Value::Number(number) => {
            let number = number.as_f64().unwrap();
            // 2^63 in any unit would give more; sane numbers are small here.
            assert!(number.is_finite() && number.abs() < 1e17, "{path} is {number}");
        }
        Value::Array(items) => items.iter().for_each(|item| assert_sane(item, path)),
        Value::Object(members) => {
            members.iter().for_each(|(key, member)| assert_sane(member, &format!("{path}.{key}")));
        }
        _ => {}
    }
}

/// Replaces the value of `key` everywhere.
fn with(text: &str, key: &str, value: &str) -> String {
    let mark = format!("\"{key}\":");
    let mut parts = text.split(mark.as_str());
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let end = part.find([',', '}']).unwrap_or(part.len());
        out += &mark;
        out += value;
        out += &part[end..];
    }
    out
}

#[test]
fn extreme_input_numbers_never_become_absurd_results() {
    let folder = tempfile::tempdir().unwrap();
    let spark = spark_start() + &stage(0, 0) + &stage(1, 0) + &spark_end();
    let hadoop = jhist(3);
    let keys = [
        (
            &spark,
            "app",
            &[
                "Timestamp",
                "Launch Time",
                "Finish Time",
                "Submission Time",
                "Completion Time",
                "Executor Run Time",
                "JVM GC Time",
                "Number of Tasks",
                "Stage ID",
                "Task ID",
                "Index",
                "Total Cores",
            ][..],
        ),
        (
            &hadoop,
            "job_1500000000000_0001.jhist",
            &["submitTime", "startTime", "finishTime", "value", "finishedMaps"][..],
        ),
    ];
    for (text, name, keys) in keys {
        for key in keys {
            assert!(text.contains(&format!("\"{key}\":")) || *key == "value", "{key}");
            let below = folder.path().join(format!("{name}-{}", key.replace(' ', "")));
            fs::create_dir(&below).unwrap();
            for (place, number) in NUMBERS.iter().enumerate() {
                let own = below.join(place.to_string());
                fs::create_dir(&own).unwrap();
                fs::write(own.join(name), with(text, key, number)).unwrap();
            }
            let (report, ran) = analyze(&below, &["--min-severity=none"]);
            assert_eq!(ran.code, Some(0), "{key}: {}", ran.stderr);
            for app in report["applications"].as_array().unwrap() {
                for part in ["metrics", "findings", "phases", "submitted_at", "started_at", "finished_at"] {
                    assert_sane(&app[part], &format!("{key} in {}: {part}", app["sources"][0]));
                }
            }
            for command in [
                &["stragglers"][..],
                &["nodes"],
                &["analyze", "--format=html"],
                &["analyze", "--format=openmetrics"],
            ] {
                let ran = run(elephant().args(command).arg(&below));
                assert_eq!(ran.code, Some(0), "{key}, {command:?}: {}", ran.stderr);
                for word in ["NaN", "inf ", "-9223372036854775808", "18446744073709551615"] {
                    assert!(!ran.stdout.contains(word), "{key}, {command:?} shows {word}");
                }
            }
        }
    }
}

#[test]
fn end_before_start_gives_no_duration() {
    let mut end = task_end(0, 0, 0);
    end["Task Info"]["Finish Time"] = json!(1_600_000_000_000_u64);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("app");
    let events = lines(&[task_start(0, 0, 0), end]);
    let app_end =
        lines(&[json!({"Event": "SparkListenerApplicationEnd", "Timestamp": 1_600_000_000_000_u64})]);
    fs::write(&path, spark_start() + &events + &app_end).unwrap();
    let (report, ran) = analyze(&path, &[]);
    assert_eq!(report["applications"][0]["metrics"]["runtime_ms"], Value::Null, "{report:#}");
    assert!(!ran.stdout.contains("-100000"), "{}", ran.stdout);
}

#[test]
fn duplicate_and_contradicting_events_count_once() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("app");
    let whole = stage(0, 0);
    let mut failed = task_end(0, 0, 0);
    failed["Task End Reason"] = json!({"Reason": "ExceptionFailure", "Class Name": "E"});
    let text =
        spark_start() + &whole + &whole + &lines(&[failed, task_start(0, 0, 0)]) + &whole + &spark_end();
    fs::write(&path, text).unwrap();
    let (report, _) = analyze(&path, &[]);
    let tasks = &report["applications"][0]["metrics"]["tasks"]["task"];
    let counts = ["total_count", "succeeded_count", "failed_count", "attempts_count"]
        .map(|key| tasks[key].as_u64().unwrap());
    assert_eq!(counts, [1, 1, 0, 1], "{report:#}");
}
