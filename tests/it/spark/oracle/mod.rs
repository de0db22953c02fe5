//! Dr. Elephant's own tests as an oracle for Spark: each input is written as an event log, read by the parser and
//! judged with a preset.

mod configuration;
mod configuration_parameters;
mod executor_gc;
mod executor_metrics;
mod failures;
mod limits;
mod memory;
mod metrics;
mod stages_with_failed_tasks;

use elephant_rs::finding::Finding;
use elephant_rs::rules::RuleSet;
use elephant_rs::severity::Severity;
use elephant_sample::judge::{judge, rules};
use elephant_testing::spark_log::App;
use serde_json::Value;

/// The complete oracle entries on one heuristic; `None` if the oracle is missing.
fn entries(branch: &str, heuristic: &str) -> Option<Vec<Value>> {
    let path = elephant_testing::shared("oracle/dr-elephant.json")?;
    let oracle: Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    let wanted = |entry: &&Value| {
        entry["app_type"] == "spark" && entry["branch"] == branch && entry["heuristic"] == heuristic
    };
    let found: Vec<Value> = oracle["entries"].as_array().unwrap().iter().filter(wanted).cloned().collect();
    assert!(!found.is_empty(), "the oracle has no entry for {heuristic} in {branch}");
    Some(found)
}

/// The settings of an entry.
fn settings(inputs: &Value) -> Vec<(String, String)> {
    let conf = inputs["conf"].as_object().into_iter().flatten();
    conf.map(|(name, value)| (name.clone(), value.as_str().unwrap().to_owned())).collect()
}

/// Comma-separated numbers with this unit, as a list in our format.
fn list(numbers: &Value, unit: &str) -> String {
    let numbers = numbers.as_str().unwrap().split(',');
    format!("[{}]", numbers.map(|number| format!("{}{unit}", number.trim())).collect::<Vec<_>>().join(", "))
}

/// The worst finding of a rule.
fn worst(app: &App, rules: &RuleSet, rule: &str) -> Option<Finding> {
    let found = judge(app, rules).findings.into_iter().filter(|finding| finding.rule == rule);
    found.max_by_key(|finding| finding.severity)
}

/// Fails unless each entry's application gets the same severity as in Dr. Elephant.
fn check(entries: &[Value], rule: &str, presets: &[&str], read: impl Fn(&Value) -> (App, String)) {
    let mut wrong = Vec::new();
    for entry in entries {
        let (app, parameters) = read(entry);
        let yaml = format!("rule: {rule}\nenabled: true\n{parameters}");
        let severity = worst(&app, &rules(presets, &yaml), rule).map_or(Severity::None, |f| f.severity);
        let expected = &entry["expected_severity"];
        if Some(severity.name().to_uppercase().as_str()) != expected.as_str() {
            wrong.push(format!("{}: expected {expected}, got {severity}", entry["id"]));
        }
    }
    assert!(wrong.is_empty(), "{} of {} differ:\n{}", wrong.len(), entries.len(), wrong.join("\n"));
}
