//! Responses of Spark's own history server for some of the logs (`HistoryServerSuite`).

use elephant_base::units::{Bytes, Millis, Timestamp};
use elephant_model::model::Application;
use elephant_model::model::counters::Counter;
use elephant_model::model::spark::{Executor, JobResult, Spark, Stage, StageAttempt, StageStatus};
use elephant_model::model::table::{Outcome, TaskGroup, TimePoint};
use serde_json::Value;

use super::corpus::model;

const LOGS: &str = "spark-plain/apache__spark";

/// A response, as a list, with the model of its log.
fn answer(name: &str, log: &str) -> Option<(Vec<Value>, Application)> {
    let path = elephant_testing::shared(&format!("corpus/spark-rest/apache__spark/{name}_expectation.json"))?;
    let answer: Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    let list = answer.as_array().cloned().unwrap_or_else(|| vec![answer]);
    Some((list, model(&format!("{LOGS}/{log}"))?))
}

/// Collects differences; the history server writes 0 for unknown values.
struct Differences {
    about: String,
    found: Vec<String>,
}

impl Differences {
    fn about(what: impl Into<String>) -> Self {
        Self { about: what.into(), found: Vec::new() }
    }

    fn number(&mut self, expected: &Value, key: &str, found: u64) {
        let Some(wanted) = expected[key].as_u64() else { return };
        if wanted != found {
            self.found.push(format!("{}: {key} is {found} instead of {wanted}", self.about));
        }
    }

    fn time(&mut self, expected: &Value, key: &str, found: Option<Timestamp>) {
        let Some(wanted) = expected[key].as_str() else { return };
        let shown = found.and_then(Timestamp::to_rfc3339).unwrap_or_default();
        if wanted.replace("GMT", "Z") != shown {
            self.found.push(format!("{}: {key} is {shown} instead of {wanted}", self.about));
        }
    }

    fn text(&mut self, expected: &Value, key: &str, found: &str) {
        if expected[key] != found {
            self.found.push(format!("{}: {key} is {found} instead of {}", self.about, expected[key]));
        }
    }

    fn end(self) {
        assert!(self.found.is_empty(), "{}", self.found.join("\n"));
    }
}

fn spark(app: &Application) -> &Spark {
    app.spark.as_deref().unwrap()
}

fn group<'a>(app: &'a Application, stage: &Stage) -> Option<&'a TaskGroup> {
    app.groups.get(stage.group?)
}

fn count(group: Option<&TaskGroup>, outcome: Outcome) -> u64 {
    let Some(TaskGroup { attempts, .. }) = group else { return 0 };
    (0..attempts.len()).filter(|&row| attempts.outcome(row) == outcome).count() as u64
}

fn sum(group: Option<&TaskGroup>, counter: Counter) -> u64 {
    let Some(TaskGroup { attempts, .. }) = group else { return 0 };
    (0..attempts.len()).filter_map(|row| attempts.count(row, counter)).sum()
}

const COUNTERS: [(&str, Counter); 16] = [
    ("executorDeserializeTime", Counter::ExecutorDeserializeTime),
    ("executorRunTime", Counter::ExecutorRunTime),
    ("resultSize", Counter::ResultSize),
    ("jvmGcTime", Counter::GcTimeMillis),
    ("resultSerializationTime", Counter::ResultSerializationTime),
    ("memoryBytesSpilled", Counter::MemoryBytesSpilled),
    ("diskBytesSpilled", Counter::DiskBytesSpilled),
    ("peakExecutionMemory", Counter::PeakExecutionMemory),
    ("inputBytes", Counter::InputBytes),
    ("inputRecords", Counter::InputRecords),
    ("outputBytes", Counter::OutputBytes),
    ("shuffleRemoteBytesRead", Counter::ShuffleRemoteBytesRead),
    ("shuffleLocalBytesRead", Counter::ShuffleLocalBytesRead),
    ("shuffleReadRecords", Counter::ShuffleRecordsRead),
    ("shuffleWriteBytes", Counter::ShuffleBytesWritten),
    ("shuffleWriteRecords", Counter::ShuffleRecordsWritten),
];

#[test]
fn stages() {
    for (name, log) in [
        ("stage_list_json", "local-1422981780767"),
        ("one_stage_attempt_json", "local-1422981780767"),
        ("stage_list_with_accumulable_json", "local-1426533911241"),
        ("stage_list_with_peak_metrics", "app-20200706201101-0003"),
        ("stage_with_speculation_summary", "application_1628109047826_1317105"),
        ("excludeOnFailure_for_stage", "app-20180109111548-0000"),
        ("excludeOnFailure_node_for_stage", "application_1516285256255_0012"),
    ] {
        let Some((list, app)) = answer(name, log) else { return };
        for expected in list {
            let number = |key: &str| u32::try_from(expected[key].as_u64().unwrap()).unwrap();
            let id = StageAttempt { stage: number("stageId"), attempt: number("attemptId") };
            let mut differences = Differences::about(format!("{name}, {log}, stage {id}"));
            let Some(stage) = spark(&app).stage(id) else {
                // A stage that never ran is not in the model.
                assert_eq!(expected["status"], "SKIPPED", "{name}, stage {id}");
                continue;
            };
            let status = match stage.status {
                StageStatus::Complete => "COMPLETE",
                StageStatus::Failed => "FAILED",
                StageStatus::Unfinished => "ACTIVE",
            };
            differences.text(&expected, "status", status);
            differences.text(&expected, "name", stage.name.as_deref().unwrap_or_default());
            differences.number(&expected, "numTasks", stage.announced_tasks.unwrap());
            differences.time(&expected, "submissionTime", stage.submitted_at);
            differences.time(&expected, "completionTime", stage.completed_at);
            let group = group(&app, stage);
            differences.number(&expected, "numCompleteTasks", count(group, Outcome::Succeeded));
            differences.number(&expected, "numFailedTasks", count(group, Outcome::Failed));
            differences.number(&expected, "numKilledTasks", count(group, Outcome::Killed));
            let launches = group.map(|group| &group.attempts).into_iter().flat_map(|attempts| {
                (0..attempts.len()).filter_map(|row| attempts.time(row, TimePoint::Start))
            });
            differences.time(&expected, "firstTaskLaunchedTime", launches.min());
            for (key, counter) in COUNTERS {
                differences.number(&expected, key, sum(group, counter));
            }
            differences.end();
        }
    }
}

#[test]
fn jobs() {
    for (name, log) in [
        ("job_list_json", "local-1422981780767"),
        ("one_job_json", "local-1422981780767"),
        ("job_list_from_multi_attempt_app_json_1_", "local-1426533911241"),
    ] {
        let Some((list, app)) = answer(name, log) else { return };
        for expected in list {
            let job = spark(&app).jobs.iter().find(|job| expected["jobId"] == job.id).unwrap();
            let mut differences = Differences::about(format!("{name}, {log}, job {}", job.id));
            let status = match job.result {
                Some(JobResult::Succeeded) => "SUCCEEDED",
                Some(JobResult::Failed) => "FAILED",
                None => "RUNNING",
            };
            differences.text(&expected, "status", status);
            let stages: Vec<&Stage> =
                spark(&app).stages.iter().filter(|stage| job.stages.contains(&stage.id.stage)).collect();
            let ended = |status| stages.iter().filter(|stage| stage.status == status).count() as u64;
            differences.number(&expected, "numCompletedStages", ended(StageStatus::Complete));
            differences.number(&expected, "numFailedStages", ended(StageStatus::Failed));
            let never_ran = |id: &&u32| stages.iter().all(|stage| stage.id.stage != **id);
            let skipped = job.stages.iter().filter(never_ran).count() as u64;
            differences.number(&expected, "numSkippedStages", skipped);
            let tasks = |outcome| stages.iter().map(|stage| count(group(&app, stage), outcome)).sum::<u64>();
            differences.number(&expected, "numCompletedTasks", tasks(Outcome::Succeeded));
            differences.number(&expected, "numFailedTasks", tasks(Outcome::Failed));
            differences.number(&expected, "numKilledTasks", tasks(Outcome::Killed));
            differences.end();
        }
    }
}

#[test]
fn executors() {
    for (name, log) in [
        ("executor_list_json", "local-1422981780767"),
        ("executor_node_excludeOnFailure_unexcluding", "app-20161115172038-0000"),
    ] {
        let Some((list, app)) = answer(name, log) else { return };
        let spark = spark(&app);
        assert_eq!(list.len(), spark.executors.len() + 1, "{name}: all executors and the driver");
        for expected in list {
            let id = expected["id"].as_str().unwrap();
            let named = |executor: &&Executor| executor.id == id;
            let executor = spark.executors.iter().find(named).unwrap_or(&spark.driver);
            let totals = &executor.totals;
            let mut differences = Differences::about(format!("{name}, {log}, executor {id}"));
            let millis = |value: Option<Millis>| value.map_or(0, Millis::get);
            let bytes = |value: Option<Bytes>| value.map_or(0, Bytes::get);
            for (key, found) in [
                ("totalTasks", totals.tasks),
                ("completedTasks", totals.succeeded),
                ("failedTasks", totals.failed),
                ("totalInputBytes", bytes(totals.input)),
                ("totalShuffleRead", bytes(totals.shuffle_read)),
                ("totalShuffleWrite", bytes(totals.shuffle_write)),
                ("maxMemory", bytes(executor.storage.total)),
                ("totalCores", u64::from(executor.cores.unwrap_or_default())),
            ] {
                differences.number(&expected, key, found);
            }
            // Since Spark 3 the driver's time is its lifetime and its GC time comes from its own metrics; here both
            // are sums over its tasks, as for executors.
            if id != "driver" {
                differences.number(&expected, "totalGCTime", millis(totals.gc_time));
                differences.number(&expected, "totalDuration", millis(totals.task_time));
            }
            differences.time(&expected, "addTime", executor.added_at);
            differences.end();
        }
    }
}

#[test]
fn applications() {
    let Some((list, _)) = answer("application_list_json", "local-1422981780767") else { return };
    let mut compared = 0;
    for expected in list {
        let id = expected["id"].as_str().unwrap();
        for attempt in expected["attempts"].as_array().unwrap() {
            let number = attempt["attemptId"].as_str().map(|n| format!("_{n}")).unwrap_or_default();
            let path = format!("corpus/{LOGS}/{id}{number}");
            let root = elephant_testing::shared("corpus").unwrap();
            if !root.parent().unwrap().join(path).exists() {
                continue;
            }
            let app = model(&format!("{LOGS}/{id}{number}")).unwrap();
            let mut differences = Differences::about(format!("{id}{number}"));
            differences.text(&expected, "id", &app.id);
            differences.text(&expected, "name", app.name.as_deref().unwrap_or_default());
            differences.text(attempt, "sparkUser", app.user.as_deref().unwrap_or_default());
            differences.time(attempt, "startTime", app.submitted_at);
            differences.time(attempt, "endTime", app.finished_at);
            differences.text(attempt, "appSparkVersion", app.engine_version.as_deref().unwrap_or_default());
            differences.end();
            compared += 1;
        }
    }
    assert!(compared >= 8, "{compared}");
}
