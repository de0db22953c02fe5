//! The limits, and the results when one is reached.

use std::fs;
use std::path::PathBuf;

use serde_json::Value;
use tempfile::TempDir;

use crate::make::{MIB, gzip, jhist, spark_end, spark_start, stage};
use crate::run::{analyze, codes, elephant, kept_tasks, run};

fn file(name: &str, bytes: impl AsRef<[u8]>) -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    fs::write(&path, bytes).unwrap();
    (folder, path)
}

fn stages(count: u64) -> String {
    spark_start() + &(0..count).map(|id| stage(id, 0)).collect::<String>() + &spark_end()
}

/// The application in a report; it is present even though it is incomplete.
fn incomplete(report: &Value) -> &Value {
    assert_eq!(report["applications"].as_array().unwrap().len(), 1, "{report:#}");
    let app = &report["applications"][0];
    assert_eq!(app["complete"], false, "{app:#}");
    app
}

#[test]
fn every_limit_is_reported_once_and_keeps_the_data_read() {
    let (_folder, spark) = file("app-1", stages(2000));
    let (_folder, packed) = file("app-1.gz", gzip(stages(2000).as_bytes()));
    let (_folder, hadoop) = file("job_1500000000000_0001.jhist", jhist(500));
    let cases = [
        (
            &spark,
            "--max-decoded=1MiB",
            "more than 1 MiB after decompression; raise the limit with --max-decoded",
        ),
        (
            &packed,
            "--max-decoded=1MiB",
            "more than 1 MiB after decompression; raise the limit with --max-decoded",
        ),
        (
            &hadoop,
            "--max-decoded=100KiB",
            "more than 100 KiB after decompression; raise the limit with --max-decoded",
        ),
        (&spark, "--max-tasks=700", "more than 700 tasks"),
        (&hadoop, "--max-tasks=100", "more than 100 tasks"),
    ];
    for (path, option, words) in cases {
        let (whole, _) = analyze(path, &["--min-severity=none"]);
        assert!(codes(&whole).iter().all(|code| *code != "limit-reached"), "{whole:#}");
        let (report, ran) = analyze(path, &["--min-severity=none", option]);
        assert_eq!(ran.code, Some(0), "{}", ran.stderr);
        assert_eq!(codes(&report).iter().filter(|code| **code == "limit-reached").count(), 1, "{option}");
        assert_eq!(ran.stderr.matches(words).count(), 1, "{option}: {}", ran.stderr);
        let phases = whole["applications"][0]["phases"].as_array().unwrap();
        let all: u64 = phases.iter().filter_map(|phase| phase["tasks"]["total_count"].as_u64()).sum();
        let kept = kept_tasks(incomplete(&report)).unwrap();
        // The number after the limit is unknown.
        let counts = report["applications"][0]["metrics"]["tasks"].as_object().unwrap();
        assert!(counts.values().all(|kind| kind["total_count"].is_null()), "{option}: {counts:?}");
        assert!(kept > 50 && kept < all, "{option}: {report:#}");
        assert!(report["applications"][0]["phases"][0]["started_at"].is_string(), "{option}: {report:#}");
        // A second run gives the same: results do not depend on thread timing.
        assert_eq!(analyze(path, &["--min-severity=none", option]).0, report, "{option}");
        assert_eq!(analyze(path, &["--strict", option]).1.code, Some(2));
        let lifted = option.split_once('=').unwrap().0.to_owned() + "=none";
        assert_eq!(analyze(path, &["--min-severity=none", &lifted]).0, whole);
    }
}

#[test]
fn overlong_line_is_skipped_and_other_lines_count() {
    let long = format!("{{\"Event\":\"SparkListenerTaskEnd\",\"x\":\"{}\"}}\n", "y".repeat(MIB));
    let (_folder, spark) = file(
        "app-1",
        stages(3).replacen("{\"Event\":\"SparkListenerAppl", &(long + "{\"Event\":\"SparkListenerAppl"), 1),
    );
    let job = jhist(3);
    let (head, rest) =
        job.split_at(job.find("{\"event\":{\"org").unwrap_or_else(|| job.find("{\"type\":\"JOB").unwrap()));
    let long = format!("{{\"type\":\"TASK_UPDATED\",\"event\":{{\"x\":\"{}\"}}}}\n", "y".repeat(MIB));
    let (_folder, hadoop) = file("job_1500000000000_0001.jhist", [head, &long, rest].concat());
    for path in [spark, hadoop] {
        let (report, ran) = analyze(&path, &["--max-line=1MiB"]);
        assert_eq!(codes(&report).iter().filter(|code| **code == "line-too-long").count(), 1, "{report:#}");
        assert!(
            ran.stderr.contains("longer than 1 MiB") && ran.stderr.contains("--max-line"),
            "{}",
            ran.stderr
        );
        let tasks = &incomplete(&report)["metrics"]["tasks"];
        assert_eq!(tasks.as_object().unwrap().values().next().unwrap()["total_count"], 3);
    }
}

#[test]
fn every_command_that_reads_histories_has_the_limits() {
    let (_folder, path) = file("app-1", stages(50));
    let path = path.to_str().unwrap();
    let baseline = format!("{path}.yaml");
    for command in [
        &["analyze", path][..],
        &["check", "--update", "--baseline", &baseline, path],
        &["diff", path, path],
        &["stragglers", path],
        &["nodes", path],
    ] {
        let ran = run(elephant().args(command).arg("--max-tasks=7"));
        assert!(ran.stderr.contains("more than 7 tasks"), "{command:?}: {}", ran.stderr);
        assert_eq!(run(elephant().args(command).arg("--max-line=0")).code, Some(2));
    }
}
