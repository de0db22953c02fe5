//! `spark-executor-metrics`: a distribution becomes five executors, each with the input that the entry names. The
//! entries do not include the driver, which Dr. Elephant also compares.

use serde_json::Value;

use super::{check, entries, list};
use elephant_testing::spark_log::{App, Task};

fn read(entry: &Value) -> (App, String) {
    let inputs = &entry["inputs"];
    let values = inputs["distribution_min_p25_median_p75_max"].as_array().unwrap();
    let tasks = values.iter().enumerate().map(|(place, value)| {
        let task = Task::new(&(place + 1).to_string(), 1000);
        task.metric("Input Metrics.Bytes Read", value.as_u64().unwrap())
    });
    let yaml = format!(
        "max_to_median: {}\nignore_bytes: {}B\nwith_driver: false\n",
        list(&entry["params"]["max_to_median_ratio_severity_thresholds"], ""),
        inputs["ignore_max_less_than"],
    );
    (App::with(&[], 5, 1).stage(tasks.collect()), yaml)
}

#[test]
fn oracle_executor_metrics() {
    let Some(entries) = entries("master", "Spark Executor Metrics") else { return };
    check(&entries, "spark-executor-metrics", &["dr-elephant"], read);
}
