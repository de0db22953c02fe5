//! The limits, and the results when one is reached.

use std::fs::{self, File};
use std::io::Write;
use std::path::PathBuf;

use flate2::Compression;
use flate2::write::GzEncoder;
use serde_json::Value;
use tempfile::TempDir;

use crate::run::{analyze, codes, elephant, kept_tasks, run};
use elephant_testing::make::{MIB, gzip, jhist, spark_end, spark_start, stage};

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
        (&spark, "--max-memory=1MiB", "takes more than 1 MiB of memory; raise the limit with --max-memory"),
        (&packed, "--max-memory=1MiB", "takes more than 1 MiB of memory; raise the limit with --max-memory"),
        (&hadoop, "--max-memory=8KiB", "takes more than 8 KiB of memory; raise the limit with --max-memory"),
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

/// A stage without tasks, twice: its submission and its end.
fn empty_stage(id: u64) -> String {
    let event = |event: &str, ended: &str| {
        format!(
            "{{\"Event\":\"SparkListenerStage{event}\",\"Stage Info\":{{\"Stage ID\":{id},\"Stage Attempt ID\":0,\
             \"Stage Name\":\"count at A.scala:{}\",\"Number of Tasks\":0,\"Parent IDs\":[],\
             \"Submission Time\":1700000001000{ended}}}}}\n",
            id % 50
        )
    };
    event("Submitted", "") + &event("Completed", ",\"Completion Time\":1700000002000")
}

#[test]
fn stages_without_tasks_take_less_than_300_bytes() {
    let peak = |count: u64| {
        // The peak of a program is only known above that of the test, so the test does not hold the whole log.
        let (_folder, path) = file("app-1.gz", "");
        let mut log = GzEncoder::new(File::create(&path).unwrap(), Compression::fast());
        log.write_all(spark_start().as_bytes()).unwrap();
        (0..count).for_each(|id| log.write_all(empty_stage(id).as_bytes()).unwrap());
        log.write_all(spark_end().as_bytes()).unwrap();
        log.finish().unwrap();
        let ran = run(elephant().args(["analyze", "--format", "ndjson"]).arg(&path));
        assert_eq!(ran.code, Some(0), "{}", ran.stderr);
        ran.peak_mib << 20
    };
    let (many, few) = (1_200_000, 600_000);
    let (of_many, of_few) = (peak(many), peak(few));
    let each = of_many.saturating_sub(of_few) / (many - few);
    assert!(of_few > 0 && each < 300, "{each} bytes each: {of_few} for {few} stages, {of_many} for {many}");
}

#[test]
fn histories_read_at_the_same_time_share_the_memory_and_read_the_same_on_any_number_of_threads() {
    let folder = tempfile::tempdir().unwrap();
    for number in 1..=4 {
        // The last one is beyond the limit for a run, and the others beyond a share of it.
        let text = stages(if number == 4 { 4000 } else { 1500 }).replace("app-1", &format!("app-{number}"));
        fs::write(folder.path().join(format!("app-{number}")), text).unwrap();
    }
    fs::write(folder.path().join("job_1500000000000_0001.jhist"), jhist(50)).unwrap();
    let with_jobs = |jobs| analyze(folder.path(), &["--min-severity=none", "--max-memory=5MiB", jobs]).0;
    let report = with_jobs("--jobs=1");
    let reached = codes(&report).iter().filter(|code| **code == "limit-reached").count();
    let complete = |app: &&Value| app["complete"] == true;
    let apps = report["applications"].as_array().unwrap();
    assert_eq!((reached, apps.len(), apps.iter().filter(complete).count()), (1, 5, 4), "{report:#}");
    for jobs in ["--jobs=2", "--jobs=4", "--jobs=8"] {
        assert_eq!(with_jobs(jobs), report, "{jobs}");
    }
}

#[test]
fn what_applications_before_it_in_a_log_take_counts_too() {
    let logs: String = (0..40).map(|id| stages(100).replace("app-1", &format!("app-{id}"))).collect();
    let (_folder, path) = file("app-0", logs);
    let (report, ran) = analyze(&path, &["--max-memory=1MiB"]);
    assert!(ran.stderr.contains("--max-memory"), "{}", ran.stderr);
    let apps = report["applications"].as_array().unwrap();
    assert!(apps.len() > 3 && apps.len() < 20, "{}", apps.len());
    let incomplete = apps.iter().filter(|app| app["complete"] == false).count();
    assert_eq!((incomplete, &apps[apps.len() - 1]["complete"]), (1, &Value::Bool(false)));
}

#[test]
fn events_with_endless_lists_are_skipped() {
    let ids = "0,".repeat((1 << 20) + 1) + "0";
    let job = format!("{{\"Event\":\"SparkListenerJobStart\",\"Job ID\":0,\"Stage IDs\":[{ids}]}}\n");
    let (_folder, path) = file("app-1", spark_start() + &job + &stage(0, 0) + &spark_end());
    let (report, ran) = analyze(&path, &[]);
    assert_eq!(codes(&report).iter().filter(|code| **code == "limit-reached").count(), 1, "{report:#}");
    assert!(ran.stderr.contains("a list of more than 1048576 elements"), "{}", ran.stderr);
    assert_eq!(incomplete(&report)["metrics"]["tasks"]["task"]["total_count"], 1);
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
