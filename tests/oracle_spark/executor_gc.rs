//! `spark-executor-gc`: an executor with a total of task and GC time is one with a single task of that length.

use serde_json::Value;

use super::{check, entries, list, settings, worst};
use crate::common::spark_log::{App, Executor, Task, rules};

fn application(inputs: &Value) -> App {
    let mut app = App { conf: settings(inputs), ..App::default() };
    let mut tasks = Vec::new();
    for executor in inputs["executors"].as_array().unwrap() {
        let id = executor["id"].as_str().unwrap();
        app.executors.push(Executor::new(id, 1));
        let task = Task::new(id, executor["totalDuration"].as_i64().unwrap());
        tasks.push(task.metric("JVM GC Time", executor["totalGCTime"].as_u64().unwrap()));
    }
    app.stage(tasks)
}

fn read(entry: &Value) -> (App, String) {
    let parameters = entry["params"].get("gc_severity_D_threshold").map(|_| String::new());
    (application(&entry["inputs"]), parameters.unwrap_or_default())
}

#[test]
fn oracle_executor_gc() {
    for (branch, presets) in [
        ("master", &["dr-elephant"][..]),
        ("customSHSWork", &["dr-elephant", "dr-elephant-shs"]),
        ("tuning_20190221", &["dr-elephant", "dr-elephant-shs"]),
    ] {
        let Some(entries) = entries(branch, "Executor GC") else { return };
        check(&entries, "spark-executor-gc", presets, read);
    }
}
