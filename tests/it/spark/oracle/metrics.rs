//! Resource metrics: an executor's total duration becomes one task of that length, and its lifetime.

use elephant_rs::units::MbMillis;
use serde_json::Value;

use super::{entries, settings};
use elephant_sample::judge::{judge_despite_problems, rules};
use elephant_testing::spark_log::{App, Executor, Task};

fn application(inputs: &Value) -> App {
    let mut app = App { conf: settings(inputs), end: inputs["app_duration_ms"].as_i64(), ..App::default() };
    let mut tasks = Vec::new();
    for entry in inputs["executors"].as_array().unwrap() {
        let id = entry["id"].as_str().unwrap();
        let time = entry["totalDuration"].as_i64().or(entry["duration_ms"].as_i64()).unwrap();
        let mut executor = Executor::new(id, 1);
        executor.removed = Some((time, "Executor killed by driver.".to_owned()));
        executor.max_memory = entry["maxMem"].as_u64();
        executor.cached = entry["memUsed"].as_u64().unwrap_or_default();
        executor.peaks.extend(entry["peakJvmUsedMemory"].as_u64().map(|peak| ("JVMHeapMemory", peak)));
        app.executors.push(executor);
        tasks.push(Task::new(id, time));
    }
    if tasks.is_empty() { app } else { app.stage(tasks) }
}

fn check(branch: &str, presets: &[&str]) {
    let Some(entries) = entries(branch, "resource metrics") else { return };
    let rules = rules(presets, "");
    for entry in entries {
        // An application that ends before it begins costs an unknown amount here, and nothing in Dr. Elephant.
        if entry["inputs"]["app_duration_ms"].as_i64().is_some_and(|duration| duration < 0) {
            let metrics = judge_despite_problems(&application(&entry["inputs"]), &rules).metrics;
            assert_eq!((metrics.used, metrics.wasted), (None, None), "{}", entry["id"]);
            continue;
        }
        let metrics = judge_despite_problems(&application(&entry["inputs"]), &rules).metrics;
        let amounts = [
            ("resource_used_mb_s", metrics.used.map(MbMillis::as_mb_seconds)),
            ("resource_wasted_mb_s", metrics.wasted.map(MbMillis::as_mb_seconds)),
            ("delay_ms", metrics.wait_time.map(elephant_rs::units::Millis::as_f64)),
        ];
        for (key, amount) in amounts {
            let expected = entry["expected"].get(key).and_then(Value::as_f64);
            assert!(
                expected.is_none_or(|expected| amount == Some(expected)),
                "{}, {key}: {amount:?}",
                entry["id"]
            );
        }
    }
}

#[test]
fn oracle_spark_metrics() {
    check("master", &["dr-elephant"]);
    check("customSHSWork", &["dr-elephant", "dr-elephant-shs"]);
    check("tuning_20190221", &["dr-elephant", "dr-elephant-shs", "dr-elephant-tuning"]);
    check("v2.0.9", &["dr-elephant", "dr-elephant-2.0"]);
}
