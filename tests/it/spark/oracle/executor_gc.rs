//! `spark-executor-gc`: an executor's total task and GC time become a single task of that length.

use elephant_rs::finding::Measure;
use serde_json::Value;

use super::{check, entries, list, settings, worst};
use elephant_sample::judge::rules;
use elephant_testing::spark_log::{App, Executor, Task};

const RULE: &str = "spark-executor-gc";

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

fn parameters(entry: &Value) -> String {
    let low = entry["params"].get("gc_severity_D_threshold");
    low.map(|low| format!("gc_low_ratio: {}\n", list(low, ""))).unwrap_or_default()
}

#[test]
fn oracle_executor_gc() {
    for (branch, presets) in [
        ("master", &["dr-elephant"][..]),
        ("customSHSWork", &["dr-elephant", "dr-elephant-shs"]),
        ("tuning_20190221", &["dr-elephant", "dr-elephant-shs", "dr-elephant-tuning"]),
    ] {
        let Some(entries) = entries(branch, "Executor GC") else { return };
        check(&entries, RULE, presets, |entry| (application(&entry["inputs"]), parameters(entry)));
    }
}

#[test]
fn oracle_executor_gc_numbers() {
    let Some(entries) = entries("master", "Executor GC") else { return };
    for entry in entries {
        let rules = rules(&["dr-elephant"], &format!("rule: {RULE}\n{}", parameters(&entry)));
        let found = worst(&application(&entry["inputs"]), &rules, RULE).unwrap();
        let expected = &entry["expected"];
        let ratio = found.evidence.iter().find_map(|(_, measure)| match measure {
            Measure::Ratio(ratio) => *ratio,
            _ => None,
        });
        // Dr. Elephant truncates the digits.
        let cut = (ratio.unwrap() * 10_000.0).floor() / 10_000.0;
        assert_eq!(cut.to_string(), expected["ratio"].as_str().unwrap());
        let remark = found.evidence.iter().any(|(key, _)| *key == "gc_low_text");
        assert_eq!(Some(remark), expected["gc_ratio_low_row"].as_bool());
    }
}
