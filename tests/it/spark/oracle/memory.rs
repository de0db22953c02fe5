//! Memory of executors and the driver: `spark-peak-unified-memory`, `spark-jvm-used-memory`, `spark-executor-spill`,
//! `spark-driver-metrics`. All come from branches of Dr. Elephant.

use serde_json::Value;

use super::{check, entries, settings, worst};
use elephant_sample::judge::rules;
use elephant_testing::spark_log::{App, Executor, MIB, Task};

const PRESETS: [&str; 2] = ["dr-elephant", "dr-elephant-shs"];
const BRANCH: &str = "customSHSWork";

fn number(executor: &Value, path: &str) -> Option<u64> {
    executor.pointer(path)?.as_u64()
}

/// Each executor of the oracle becomes an executor with a single task.
fn application(inputs: &Value) -> App {
    let mut app = App { conf: settings(inputs), ..App::default() };
    let mut tasks = Vec::new();
    for entry in inputs["executors"].as_array().unwrap() {
        let id = entry["id"].as_str().unwrap();
        let mut peaks = Vec::new();
        if let Some(used) = number(entry, "/peakJvmUsedMemory") {
            peaks.push(("JVMHeapMemory", used));
        }
        if let Some(execution) = number(entry, "/peakUnifiedMemory/executionMemory") {
            let storage = number(entry, "/peakUnifiedMemory/storageMemory").unwrap();
            peaks.push(("OnHeapExecutionMemory", execution));
            peaks.push(("OnHeapStorageMemory", storage));
            peaks.push(("OnHeapUnifiedMemory", execution + storage));
        }
        let mut task = Task::new(id, entry["totalDuration"].as_i64().unwrap_or(1000));
        for (path, metric) in
            [("/totalMemoryBytesSpilled", "Memory Bytes Spilled"), ("/totalGCTime", "JVM GC Time")]
        {
            if let Some(value) = number(entry, path) {
                task = task.metric(metric, value);
            }
        }
        if id == "driver" {
            app.driver_peaks = peaks;
            app.driver_storage = (number(entry, "/maxMemory"), 0);
            if number(entry, "/totalDuration").is_some() {
                tasks.push(task);
            }
            continue;
        }
        let slots = number(entry, "/maxTasks").and_then(|slots| u32::try_from(slots).ok());
        let mut executor = Executor::new(id, slots.unwrap_or(1));
        executor.max_memory = number(entry, "/maxMemory").or(executor.max_memory);
        executor.peaks = peaks;
        app.executors.push(executor);
        tasks.push(task);
    }
    app.stage(tasks)
}

fn check_all(branch: &str, heuristic: &str, rule: &str) {
    let Some(entries) = entries(branch, heuristic) else { return };
    check(&entries, rule, &PRESETS, |entry| (application(&entry["inputs"]), String::new()));
    for entry in entries {
        if let Some(expected) = entry["expected_score"].as_u64() {
            let found = worst(&application(&entry["inputs"]), &rules(&PRESETS, ""), rule).unwrap();
            assert_eq!(found.score, expected, "{}", entry["id"]);
        }
    }
}

#[test]
fn oracle_peak_unified_memory() {
    check_all(BRANCH, "Executor Peak Unified Memory", "spark-peak-unified-memory");
}

#[test]
fn oracle_jvm_used_memory() {
    check_all(BRANCH, "Executor JVM Used Memory", "spark-jvm-used-memory");
}

#[test]
fn oracle_executor_spill() {
    check_all(BRANCH, "Executor spill", "spark-executor-spill");
}

#[test]
fn oracle_driver_metrics() {
    check_all(BRANCH, "Driver Metrics", "spark-driver-metrics");
    check_all("tuning_20190221", "Driver Metrics", "spark-driver-metrics");
}

#[test]
fn oracle_suggested_driver_memory() {
    let Some(entries) = entries("tuning_20190221", "Driver Metrics") else { return };
    for entry in entries {
        let found =
            worst(&application(&entry["inputs"]), &rules(&PRESETS, ""), "spark-driver-metrics").unwrap();
        let expected = entry["expected"]["Suggested spark.driver.memory"].as_str().unwrap();
        let setting = format!("spark.driver.memory={}m", expected.trim_end_matches(" MB"));
        assert!(found.advice.iter().any(|advice| advice.contains(&setting)), "{:?}", found.advice);
    }
}

#[test]
fn oracle_executor_without_spill_has_no_finding() {
    let app = App::with(&[], 2, 1).stage(vec![Task::new("1", 10).metric("Memory Bytes Spilled", 0)]);
    let found = worst(&app, &rules(&PRESETS, ""), "spark-executor-spill").unwrap();
    assert_eq!(found.severity.value(), 0);
    let app = App::with(&[], 2, 1).stage(vec![Task::new("1", 10).metric("Memory Bytes Spilled", 100 * MIB)]);
    let found = worst(&app, &rules(&PRESETS, ""), "spark-executor-spill").unwrap();
    assert_eq!(found.severity.value(), 4);
}
