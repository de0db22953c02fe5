//! Results of other tools on the same logs.

use elephant_base::units::Millis;
use elephant_model::model::Application;
use elephant_model::model::counters::Counter;
use elephant_model::model::spark::{Executor, JobResult, StageAttempt};
use elephant_model::model::table::{Attempts, Outcome, TaskGroup};

use super::corpus::model;

/// A table of the RAPIDS tools: each row by column name. Messages contain commas, so only the cells before them
/// count.
fn table(name: &str) -> Option<Vec<Vec<(String, String)>>> {
    let folder = "corpus/oracle/NVIDIA__spark-rapids-tools";
    let path = elephant_testing::shared(&format!("{folder}/{name}_expectation.csv"))?;
    let text = std::fs::read_to_string(path).unwrap();
    let mut lines = text.lines();
    let header: Vec<&str> = lines.next().unwrap().split(',').collect();
    let row = |line: &str| {
        let cells = line.split(',').map(|cell| cell.trim_matches('"').to_owned());
        header.iter().map(|title| (*title).to_owned()).zip(cells).collect()
    };
    Some(lines.map(row).collect())
}

fn cell<'a>(row: &'a [(String, String)], title: &str) -> &'a str {
    &row.iter().find(|(known, _)| known == title).unwrap().1
}

fn number(row: &[(String, String)], title: &str) -> u64 {
    cell(row, title).parse().unwrap()
}

fn stage_group(app: &Application, stage: u32) -> &TaskGroup {
    let stage = app.spark.as_ref().unwrap().stage(StageAttempt { stage, attempt: 0 }).unwrap();
    &app.groups[stage.group.unwrap()]
}

#[test]
fn stage_sums_match_the_rapids_tools() {
    let Some(rows) = table("rapids_join_eventlog_stagemetricsagg") else { return };
    let log = "spark-compressed/NVIDIA__spark-rapids-tools/profiling/rapids_join_eventlog.zstd";
    let Some(app) = model(log) else { return };
    for row in rows {
        let id = u32::try_from(number(&row, "id")).unwrap();
        let attempts = &stage_group(&app, id).attempts;
        let times: Vec<u64> =
            (0..attempts.len()).filter_map(|row| attempts.run_time(row)).map(Millis::get).collect();
        assert_eq!(number(&row, "numTasks"), attempts.len() as u64, "stage {id}");
        assert_eq!(number(&row, "durationSum"), times.iter().sum::<u64>(), "stage {id}");
        assert_eq!(number(&row, "durationMax"), *times.iter().max().unwrap(), "stage {id}");
        assert_eq!(number(&row, "durationMin"), *times.iter().min().unwrap(), "stage {id}");
        for (title, counter) in [
            ("executorRunTimeSum", Counter::ExecutorRunTime),
            ("executorDeserializeTimeSum", Counter::ExecutorDeserializeTime),
            ("jvmGCTimeSum", Counter::GcTimeMillis),
            ("inputBytesReadSum", Counter::InputBytes),
            ("memoryBytesSpilledSum", Counter::MemoryBytesSpilled),
            ("diskBytesSpilledSum", Counter::DiskBytesSpilled),
            ("outputBytesWrittenSum", Counter::OutputBytes),
            ("swBytesWrittenSum", Counter::ShuffleBytesWritten),
        ] {
            let sum: u64 = (0..attempts.len()).filter_map(|row| attempts.count(row, counter)).sum();
            if row.iter().any(|(known, _)| known == title) {
                assert_eq!(number(&row, title), sum, "stage {id}: {title}");
            }
        }
    }
}

#[test]
fn failures_match_the_rapids_tools() {
    let log =
        "spark-compressed/NVIDIA__spark-rapids-tools/profiling/tasks_executors_fail_compressed_eventlog.zstd";
    let Some(app) = model(log) else { return };
    let spark = app.spark.as_ref().unwrap();
    let Some(executors) = table("executors_removed_eventlog") else { return };
    let removed: Vec<(String, i64)> = spark
        .executors
        .iter()
        .filter_map(|executor| Some((executor.id.clone(), executor.removed_at?.as_millis())))
        .collect();
    let expected: Vec<(String, i64)> = executors
        .iter()
        .map(|row| (cell(row, "executorId").to_owned(), cell(row, "time").parse().unwrap()))
        .collect();
    assert_eq!(removed, expected);
    assert!(spark.executors.iter().filter(|e| e.removed_at.is_some()).all(Executor::was_lost));

    let Some(jobs) = table("jobs_failure_eventlog") else { return };
    let failed = spark.jobs.iter().filter(|job| job.result == Some(JobResult::Failed));
    let expected: Vec<u64> = jobs.iter().map(|row| number(row, "jobID")).collect();
    assert_eq!(failed.map(|job| u64::from(job.id)).collect::<Vec<_>>(), expected);

    let Some(tasks) = table("tasks_failure_eventlog") else { return };
    let expected: Vec<u64> =
        tasks.iter().filter(|row| cell(row, "stageId") == "238").map(|row| number(row, "taskId")).collect();
    let attempts = &stage_group(&app, 238).attempts;
    let mut failed: Vec<u64> = (0..attempts.len())
        .filter(|&row| attempts.outcome(row) == Outcome::Failed)
        .filter_map(|row| attempts.id(row))
        .collect();
    failed.sort_unstable();
    assert_eq!(failed, expected);
}

#[test]
fn application_sums_match_sparklens() {
    let Some(path) =
        elephant_testing::shared("corpus/oracle/qubole__sparklens/local-1532512550423.sparklens.json")
    else {
        return;
    };
    let expected: serde_json::Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    let Some(app) = model("spark-plain/qubole__sparklens/local-1532512550423") else { return };
    let expected = &expected["appMetrics"];
    let attempts = || app.groups.iter().map(|group| &group.attempts);
    let number = attempts().map(Attempts::len).sum::<usize>();
    assert_eq!(expected["count"], number);
    let times = attempts().flat_map(|attempts| (0..attempts.len()).filter_map(|row| attempts.run_time(row)));
    assert_eq!(expected["map"]["taskDuration"]["value"], times.map(Millis::get).sum::<u64>());
    for (name, counter) in [
        ("executorRuntime", Counter::ExecutorRunTime),
        ("resultSize", Counter::ResultSize),
        ("memoryBytesSpilled", Counter::MemoryBytesSpilled),
        ("shuffleReadRecordsRead", Counter::ShuffleRecordsRead),
    ] {
        let counts = attempts().flat_map(|a| (0..a.len()).filter_map(|row| a.count(row, counter)));
        assert_eq!(expected["map"][name]["value"], counts.sum::<u64>(), "{name}");
    }
}
