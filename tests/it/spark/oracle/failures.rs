//! `spark-job-metrics` and `spark-stage-metrics`: attempt counts become attempts.

use serde_json::Value;

use super::{check, entries, list, settings, worst};
use elephant_sample::judge::rules;
use elephant_testing::spark_log::{App, Ending, Executor, Job, Stage, Task};

/// As many attempts as an entry counts; the first one gets the run time.
fn tasks(counts: &Value) -> Vec<Task> {
    let number = |key: &str| usize::try_from(counts[key].as_u64().unwrap()).unwrap();
    let run_time = counts["executor_run_time_ms"].as_u64().unwrap_or_default();
    let failed = Ending::Exception("java.lang.IllegalStateException", "no");
    let endings = std::iter::repeat_n(Ending::Success, number("num_complete_tasks"))
        .chain(std::iter::repeat_n(failed, number("num_failed_tasks")));
    endings
        .enumerate()
        .map(|(place, ending)| {
            let time = if place == 0 { run_time } else { 0 };
            // The run time is a part of the task's time.
            let duration = i64::try_from(time).unwrap().max(1000);
            Task::new("1", duration).ending(ending).metric("Executor Run Time", time)
        })
        .collect()
}

fn stage(id: u32, counts: &Value) -> Stage {
    let failure = (counts["status"] == "FAILED").then(|| "Job aborted due to stage failure".to_owned());
    Stage { failure, ..Stage::new(id, tasks(counts)) }
}

fn id(counts: &Value, key: &str) -> u32 {
    u32::try_from(counts[key].as_u64().unwrap()).unwrap()
}

fn application(inputs: &Value, jobs: Vec<Job>) -> App {
    App { conf: settings(inputs), executors: vec![Executor::new("1", 1)], jobs, ..App::default() }
}

fn jobs(entry: &Value) -> (App, String) {
    let inputs = &entry["inputs"];
    let job = |counts: &Value| {
        let id = id(counts, "job_id");
        // A failed job needs no failed stage here: only its own end and its attempts count.
        let stages = vec![Stage { failure: None, ..stage(id, counts) }];
        Job { id, stages, failed: counts["status"] == "FAILED", ..Job::default() }
    };
    let jobs = inputs["jobs"].as_array().unwrap().iter().map(job).collect();
    let parameters = &entry["params"];
    let yaml = [
        ("job_failure_rate", "job_failure_rate_severity_thresholds"),
        ("task_failure_rate", "job_task_failure_rate_severity_thresholds"),
    ];
    let yaml = yaml.map(|(ours, theirs)| format!("{ours}: {}\n", list(&parameters[theirs], "")));
    (application(inputs, jobs), yaml.concat())
}

fn stages(entry: &Value) -> (App, String) {
    let inputs = &entry["inputs"];
    let stages =
        inputs["stages"].as_array().unwrap().iter().map(|counts| stage(id(counts, "stage_id"), counts));
    let parameters = &entry["params"];
    let yaml = [
        ("stage_failure_rate", "stage_failure_rate_severity_thresholds", ""),
        ("task_failure_rate", "stage_task_failure_rate_severity_thresholds", ""),
        ("run_time", "stage_runtime_minutes_severity_thresholds", "min"),
    ];
    let yaml = yaml.map(|(ours, theirs, unit)| format!("{ours}: {}\n", list(&parameters[theirs], unit)));
    let job = Job { stages: stages.collect(), ..Job::default() };
    (application(inputs, vec![job]), yaml.concat())
}

#[test]
fn oracle_job_metrics() {
    let Some(entries) = entries("master", "Spark Job Metrics") else { return };
    check(&entries, "spark-job-metrics", &["dr-elephant"], jobs);
}

#[test]
fn oracle_job_metrics_numbers() {
    let Some(entries) = entries("master", "Spark Job Metrics") else { return };
    for entry in entries {
        let (app, yaml) = jobs(&entry);
        let rules = rules(&["dr-elephant"], &format!("rule: spark-job-metrics\n{yaml}"));
        let found = worst(&app, &rules, "spark-job-metrics").unwrap();
        let counts = format!("{:?}", found.evidence);
        let expected = &entry["expected"];
        for (key, value) in [("completed_jobs_count", "completed_jobs"), ("failed_jobs_count", "failed_jobs")]
        {
            assert!(counts.contains(&format!("(\"{key}\", Count({}))", expected[value])), "{key}: {counts}");
        }
    }
}

#[test]
fn oracle_stage_metrics() {
    let Some(entries) = entries("master", "Spark Stage Metrics") else { return };
    check(&entries, "spark-stage-metrics", &["dr-elephant"], stages);
}
