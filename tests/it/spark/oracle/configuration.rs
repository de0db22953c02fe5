//! `spark-configuration`: settings, and one task that shuffles nothing.

use serde_json::Value;

use super::{check, entries, settings};
use elephant_testing::spark_log::{App, Executor, Task};

const RULE: &str = "spark-configuration";

fn read(entry: &Value) -> (App, String) {
    let app =
        App { conf: settings(&entry["inputs"]), executors: vec![Executor::new("1", 1)], ..App::default() };
    (app.stage(vec![Task::new("1", 1000)]), String::new())
}

#[test]
fn oracle_configuration() {
    for (branch, heuristic, presets) in [
        ("master", "Spark Configuration", &["dr-elephant"][..]),
        ("customSHSWork", "Spark Configuration", &["dr-elephant", "dr-elephant-shs"]),
        ("v2.0.9", "Spark Configuration Best Practice", &["dr-elephant", "dr-elephant-2.0"]),
    ] {
        let Some(mut entries) = entries(branch, heuristic) else { return };
        // The severity of one part is not that of the whole finding: default settings are moderate in master.
        entries.retain(|entry| entry["kind"] == "heuristic" || entry["expected_severity"] == "CRITICAL");
        check(&entries, RULE, presets, read);
    }
}
