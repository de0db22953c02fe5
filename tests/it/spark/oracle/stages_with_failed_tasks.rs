//! `spark-stages-with-failed-tasks`: a task error becomes an attempt that fails with that message.

use elephant_rs::finding::Subject;
use serde_json::Value;

use super::{check, entries};
use elephant_sample::judge::{judge, rules};
use elephant_testing::spark_log::{App, Ending, Job, Stage, Task};

const RULE: &str = "spark-stages-with-failed-tasks";

fn stage(inputs: &Value) -> Stage {
    let done = inputs["num_complete_tasks"].as_u64().unwrap();
    let mut tasks: Vec<Task> = (0..done).map(|_| Task::new("1", 1000)).collect();
    for (index, error) in (0..).zip(inputs["task_errors"].as_array().unwrap()) {
        let ending = match error.as_str().unwrap() {
            "java.lang.OutOfMemoryError" => {
                Ending::Exception("java.lang.OutOfMemoryError", "Java heap space")
            }
            "" => Ending::Exception("java.io.IOException", "gone"),
            _ => Ending::ExecutorLost("Container killed by YARN for exceeding memory limits."),
        };
        tasks.push(Task { index: Some(index), attempt: 1, ..Task::new("1", 1000).ending(ending) });
    }
    let failed = inputs["status"] == "FAILED";
    let id = u32::try_from(inputs["stage_id"].as_u64().unwrap()).unwrap();
    Stage { failure: failed.then(|| "Job aborted".to_owned()), ..Stage::new(id, tasks) }
}

fn application(inputs: &Value) -> App {
    let stages = inputs["stages"].as_array().unwrap().iter().map(stage);
    let job = |(id, stage)| Job { id, stages: vec![stage], ..Job::default() };
    App { jobs: (0..).zip(stages).map(job).collect(), ..App::with(&[], 1, 1) }
}

#[test]
fn oracle_stages_with_failed_tasks() {
    let Some(entries) = entries("customSHSWork", "Stages with failed tasks") else { return };
    check(&entries, RULE, &["dr-elephant", "dr-elephant-shs"], |entry| {
        (application(&entry["inputs"]), String::new())
    });
    let report = judge(&application(&entries[0]["inputs"]), &rules(&["dr-elephant", "dr-elephant-shs"], ""));
    let found = report.findings.iter().filter(|finding| finding.rule == RULE);
    let stages = found.filter(|finding| matches!(finding.subject, Subject::Stage(_))).count();
    assert_eq!(stages, 3);
}
