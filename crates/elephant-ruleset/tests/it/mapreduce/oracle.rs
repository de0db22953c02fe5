//! Dr. Elephant's own tests as an oracle: inputs with the severities that its unit tests expect.
//!
//! Each entry is written as a real `.jhist`, read by the parser and judged with a preset, so that the tests cover the
//! complete path, not only the arithmetic.

use elephant_analysis::metrics::{MetricParams, Usage, delay};
use elephant_base::severity::Severity;
use elephant_base::stats;
use elephant_base::units::{Bytes, Timestamp};
use elephant_input::window::ByteWindow;
use elephant_model::model::Application;
use elephant_model::model::conf::{Conf, Property};
use elephant_model::model::table::{TaskGroup, TaskKind};
use elephant_parse::jhist::json;
use elephant_rule::finding::Finding;
use elephant_rule::params::cutoffs::{Ascending, Descending};
use elephant_rule::params::quantity::Ratio;
use elephant_ruleset::{RuleFile, RuleSet};
use elephant_testing::history::{Job, counters, event};
use serde_json::{Value, json};

fn oracle() -> Option<Value> {
    let path = elephant_testing::shared("oracle/dr-elephant.json")?;
    Some(serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap())
}

fn entries(oracle: &Value, branch: &str, kind: &str) -> Vec<Value> {
    let wanted = |entry: &&Value| {
        entry["app_type"] == "mapreduce" && entry["branch"] == branch && entry["kind"] == kind
    };
    oracle["entries"].as_array().unwrap().iter().filter(wanted).cloned().collect()
}

fn rule_id(heuristic: &str) -> &'static str {
    match heuristic {
        "Mapper Skew" => "mapper-skew",
        "Reducer Skew" => "reducer-skew",
        "Mapper GC" => "mapper-gc",
        "Reducer GC" => "reducer-gc",
        "Mapper Time" => "mapper-time",
        "Reducer Time" => "reducer-time",
        "Mapper Speed" => "mapper-speed",
        "Mapper Spill" => "mapper-spill",
        "Mapper Memory" => "mapper-memory",
        "Reducer Memory" => "reducer-memory",
        "Shuffle & Sort" => "shuffle-sort",
        "Exception" => "job-exception",
        "Distributed Cache Limit" => "distributed-cache-limit",
        "Job Queue Limit" => "job-queue-limit",
        "Mapper Input Size" => "mapper-input-size",
        other => panic!("unknown heuristic in the oracle: {other}"),
    }
}

/// A Dr. Elephant parameter as a line of our YAML.
fn parameter(rule: &str, name: &str, value: &str) -> String {
    let list = |unit: &str| {
        let items: Vec<String> = value.split(',').map(|item| format!("{}{unit}", item.trim())).collect();
        format!("[{}]", items.join(", "))
    };
    let (key, value) = match (rule, name) {
        (_, "distributed.cache.file.size.limit") => ("limit", format!("{value}B")),
        (_, "deviation_severity") => ("deviation", list("")),
        (_, "files_severity") => ("large_group_blocks", list("")),
        ("mapper-skew" | "reducer-skew", "num_tasks_severity") => ("group_tasks", list("")),
        (_, "num_tasks_severity") => ("num_tasks", list("")),
        (_, "gc_ratio_severity") => ("gc_cpu_ratio", list("")),
        ("shuffle-sort", "runtime_severity_in_min") => ("phase_time", list("min")),
        (_, "runtime_severity_in_min") => ("run_time", list("min")),
        (_, "runtime_ratio_severity") => ("phase_ratio", list("")),
        (_, "short_runtime_severity_in_min") => ("short_run_time", list("min")),
        (_, "long_runtime_severity_in_min") => ("long_run_time", list("min")),
        (_, "spill_severity") => ("spill_ratio", list("")),
        (_, "memory_ratio_severity") => ("used_ratio", list("")),
        (_, other) => panic!("unknown parameter in the oracle: {other}"),
    };
    format!("{key}: {value}\n")
}

fn rules(preset: &str, rule: &str, params: &Value) -> RuleSet {
    let mut files = elephant_ruleset::find_files(std::path::Path::new(preset)).unwrap();
    if rule != "metrics" {
        // No version registers the queue limit, but its tests say how it judges.
        let text = format!("rule: {rule}\nenabled: true\n");
        files.push(RuleFile { name: "on".into(), text });
    }
    if let Some(params) = params.as_object() {
        let mut text = format!("rule: {rule}\n");
        for (name, value) in params {
            text += &parameter(rule, name, value.as_str().unwrap());
        }
        files.push(RuleFile { name: "the oracle's parameters".into(), text });
    }
    RuleSet::with_files(elephant_heuristics::BUILT_IN, &files).unwrap()
}

fn application(inputs: &Value) -> Application {
    let parsed = json::parse(ByteWindow::new(
        Job::succeeded(&inputs["task_groups"])
            .queue(&inputs["conf"]["mapred.job.queue.name"])
            .history()
            .as_bytes(),
    ));
    let problems = parsed.problems.into_vec();
    assert!(problems.is_empty(), "{problems:?}");
    let mut app = parsed.applications.into_iter().next().unwrap();
    app.conf = conf(&inputs["conf"]);
    app
}

fn conf(properties: &Value) -> Conf {
    let mut conf = Conf::default();
    for (name, value) in properties.as_object().into_iter().flatten() {
        let value = value.as_str().unwrap_or_default().to_owned();
        conf.insert(name.clone(), Property { value, is_final: false });
    }
    conf
}

fn finding(app: &Application, rules: &RuleSet, rule: &str) -> Option<Finding> {
    rules.evaluate(app).findings.into_iter().find(|finding| finding.rule == rule)
}

fn check(preset: &str, entries: &[Value]) {
    assert!(!entries.is_empty());
    let mut wrong = Vec::new();
    for entry in entries {
        let rule = rule_id(entry["heuristic"].as_str().unwrap());
        let rules = rules(preset, rule, &entry["params"]);
        let found = finding(&application(&entry["inputs"]), &rules, rule);
        let severity = found.map(|finding| finding.severity.name().to_uppercase());
        // Dr. Elephant calls no finding "no result" and treats it like NONE.
        let expected = entry["expected_severity"].as_str();
        if severity.as_deref().unwrap_or("NONE") != expected.unwrap_or("NONE") {
            wrong.push(format!("{}: expected {expected:?}, got {severity:?}", entry["id"]));
        }
    }
    assert!(wrong.is_empty(), "{} of {} differ:\n{}", wrong.len(), entries.len(), wrong.join("\n"));
}

#[test]
fn oracle_mapreduce_heuristics() {
    let Some(oracle) = oracle() else { return };
    check("dr-elephant", &entries(&oracle, "master", "heuristic"));
}

#[test]
fn oracle_mapreduce_heuristics_of_version_0_4() {
    let Some(oracle) = oracle() else { return };
    check("dr-elephant-0.4", &entries(&oracle, "v0.4.0", "heuristic"));
}

/// The only complete job: its counter files are not part of the oracle, so only its times can be judged.
#[test]
fn oracle_mapreduce_whole_job() {
    let Some(oracle) = oracle() else { return };
    let rules = rules("dr-elephant", "mapper-skew", &Value::Null);
    for entry in entries(&oracle, "master", "job") {
        let inputs = &entry["inputs"];
        let times = inputs["mapper_times_ms"].as_array().unwrap();
        let groups: Vec<Value> = times
            .iter()
            .map(|ms| json!({"role": "map", "count": 1, "time": {"total_ms": ms}, "counters": {}}))
            .collect();
        let app = application(&json!({ "task_groups": groups }));
        let found = finding(&app, &rules, "mapper-skew").unwrap();
        assert_eq!(Some(found.severity.name().to_uppercase().as_str()), entry["expected_severity"].as_str());
        assert_eq!(Some(found.score), entry["expected_score"].as_u64());
    }
}

#[test]
fn oracle_mapreduce_metrics() {
    let Some(oracle) = oracle() else { return };
    let entries = entries(&oracle, "master", "metric");
    assert!(!entries.is_empty());
    let rules = rules("dr-elephant", "metrics", &Value::Null);
    for entry in entries {
        let inputs = &entry["inputs"];
        let group = metric_tasks(inputs);
        let container = Bytes::from_mib(inputs["container_mb"].as_u64().unwrap());
        let usage = Usage::in_containers(&group, container, &[], params(&rules));
        let mb_seconds = |part: Option<elephant_base::units::MbMillis>| {
            part.map(elephant_base::units::MbMillis::as_mb_seconds).unwrap_or_default()
        };
        let expected = &entry["expected"];
        assert_eq!(Some(mb_seconds(usage.used)), expected["resource_used_mb_s"].as_f64(), "{}", entry["id"]);
        let wasted = expected["resource_wasted_mb_s"].as_f64();
        assert_eq!(Some(mb_seconds(usage.wasted)), wasted, "{}", entry["id"]);
        let start = Timestamp::from_millis(inputs["ideal_start_ms"].as_i64().unwrap());
        let delay = delay(&group, start).unwrap_or_default().get();
        assert_eq!(Some(delay), expected["delay_ms"].as_u64(), "{}", entry["id"]);
    }
}

fn params(rules: &RuleSet) -> &MetricParams {
    rules.metrics()
}

/// The tasks of a metric entry, read from a history.
fn metric_tasks(inputs: &Value) -> TaskGroup {
    let mut out = String::from("Avro-Json\n");
    for (number, task) in inputs["tasks"].as_array().unwrap().iter().enumerate() {
        let id = format!("1_1_m_{number}");
        if task["start_ms"].is_null() {
            continue;
        }
        let launched = json!({"taskid": format!("task_{id}"), "taskType": "MAP",
            "attemptId": format!("attempt_{id}_0"), "startTime": task["start_ms"]});
        event(&mut out, "MAP_ATTEMPT_STARTED", "TaskAttemptStarted", launched);
        let ended = json!({"taskid": format!("task_{id}"), "attemptId": format!("attempt_{id}_0"),
            "taskType": "MAP", "taskStatus": "SUCCEEDED",
            "finishTime": task["finish_ms"], "counters": counters(Some(&task["counters"]))});
        event(&mut out, "MAP_ATTEMPT_FINISHED", "MapAttemptFinished", ended);
    }
    let app = json::parse(ByteWindow::new(out.as_bytes())).applications.remove(0);
    app.group(TaskKind::Map).cloned().unwrap_or_else(|| TaskGroup::new(TaskKind::Map))
}

#[test]
fn oracle_helpers() {
    let Some(oracle) = oracle() else { return };
    let mut checked = 0;
    for helper in oracle["helpers"].as_array().unwrap() {
        let args = helper["args"].as_array().unwrap();
        if let Some(actual) = helper_result(helper["function"].as_str().unwrap(), args) {
            assert_eq!(actual, helper["expected"], "{helper}");
            checked += 1;
        }
    }
    assert!(checked >= 20, "only {checked} helpers have a counterpart");
}

/// The result of our counterpart of a Dr. Elephant helper; `None` for helpers without a counterpart.
fn helper_result(function: &str, args: &[Value]) -> Option<Value> {
    let numbers = |value: &Value| -> Vec<i64> {
        value.as_array().unwrap().iter().map(|n| n.as_i64().unwrap()).collect()
    };
    let severity = |severity: Severity| json!(severity.name().to_uppercase());
    let levels = || {
        let name = |level: &Value| level.as_str().unwrap().to_lowercase();
        let levels = args[0].as_array().unwrap().iter().map(name);
        levels
            .map(|name| Severity::ALL.into_iter().find(|level| level.name() == name).unwrap())
            .collect::<Vec<_>>()
    };
    let list = |args: &[Value]| json!(args).to_string();
    Some(match function {
        "severity_ascending" => {
            let cutoffs: Ascending<Ratio> = serde_yaml::from_str(&list(&args[1..])).unwrap();
            severity(cutoffs.severity(args[0].as_f64().unwrap()))
        }
        "severity_descending" => {
            let cutoffs: Descending<Ratio> = serde_yaml::from_str(&list(&args[1..])).unwrap();
            severity(cutoffs.severity(args[0].as_f64().unwrap()))
        }
        "thresholds_valid" => {
            let text = list(&args[1..]);
            let rising = serde_yaml::from_str::<Ascending<Ratio>>(&text).is_ok();
            let falling = serde_yaml::from_str::<Descending<Ratio>>(&text).is_ok();
            json!(if args[0] == "ascending" { rising } else { falling })
        }
        "severity_max" => severity(levels().into_iter().max().unwrap()),
        "severity_min" => severity(levels().into_iter().min().unwrap()),
        // An empty list has no mean here; Dr. Elephant uses 0.
        "average" => json!(stats::truncated_mean(&numbers(&args[0])).unwrap_or_default()),
        "median" => json!(stats::median(&numbers(&args[0]))?),
        _ => return None,
    })
}
