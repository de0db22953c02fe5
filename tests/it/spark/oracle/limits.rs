//! `spark-memory-limit` of version 2.0.9: storage memory and its use by cached blocks, per executor.

use serde_json::Value;

use super::{check, entries, settings};
use elephant_testing::spark_log::{App, Executor, MIB, Task};

fn read(entry: &Value) -> (App, String) {
    let inputs = &entry["inputs"];
    let executors = &inputs["executors"];
    let executor = |id: u64| Executor {
        max_memory: executors["maxMem_each"].as_u64(),
        cached: executors["memUsed_each"].as_u64().unwrap(),
        ..Executor::new(&id.to_string(), 1)
    };
    let driver = &inputs["driver"];
    let app = App {
        conf: settings(inputs),
        executors: (1..=executors["count"].as_u64().unwrap()).map(executor).collect(),
        driver_storage: (driver["maxMem"].as_u64(), driver["memUsed"].as_u64().unwrap()),
        ..App::default()
    };
    (app.stage(vec![Task::new("1", 1000)]), String::new())
}

#[test]
fn oracle_memory_limit() {
    let Some(entries) = entries("v2.0.9", "Spark Memory Limit") else { return };
    check(&entries, "spark-memory-limit", &["dr-elephant", "dr-elephant-2.0"], read);
}

/// Dr. Elephant reads no data from logs above its limit, so the oracle has no entry about them.
#[test]
fn logs_above_the_fetcher_limit_are_critical_in_the_preset() {
    let app = App::with(&[], 1, 1).stage(vec![Task::new("1", 1000)]);
    let rules = |limit: &str| {
        let yaml = format!("rule: spark-event-log-limit\nsize: [{limit}, {limit}, {limit}, {limit}]\n");
        elephant_sample::judge::rules(&["dr-elephant", "dr-elephant-2.0"], &yaml)
    };
    let severity = |limit: &str| {
        super::worst(&app, &rules(limit), "spark-event-log-limit").map(|finding| finding.severity.name())
    };
    assert_eq!(severity("1KB"), Some("critical"));
    assert_eq!(severity(&format!("{MIB}KB")), Some("none"));
}
