//! Dr. Elephant's own tests of Tez as an oracle. Each entry is written as an answer of the timeline server, read by the
//! parser and judged with the preset.

use elephant_base::severity::Severity;
use elephant_model::model::Application;
use elephant_parse::tez;
use elephant_ruleset::{RuleFile, RuleSet};
use elephant_testing::tez::Dag;
use serde_json::{Value, json};

/// The rule of a heuristic; `None` for the one that no version registers.
fn rule_id(heuristic: &str) -> Option<&'static str> {
    Some(match heuristic {
        "Tez Mapper Data Skew" => "tez-mapper-skew",
        "Tez Reducer Data Skew" => "tez-reducer-skew",
        "Tez Mapper GC" => "tez-mapper-gc",
        "Tez Reducer GC" => "tez-reducer-gc",
        "Tez Mapper Time" => "tez-mapper-time",
        "Tez Reducer Time" => "tez-reducer-time",
        "Tez Mapper Speed" => "tez-mapper-speed",
        "Tez Mapper Memory" => "tez-mapper-memory",
        "Tez Mapper Spill" => "tez-mapper-spill",
        "Tez Reducer Memory" => return None,
        other => panic!("unknown heuristic in the oracle: {other}"),
    })
}

fn rules(files: &[RuleFile]) -> RuleSet {
    RuleSet::with_files(elephant_heuristics::BUILT_IN, files).unwrap()
}

fn preset() -> RuleSet {
    rules(&elephant_ruleset::find_files(std::path::Path::new("dr-elephant")).unwrap())
}

fn application(groups: &Value, settings: &[(&str, &str)]) -> Application {
    let parsed = tez::parse(Dag::of(groups).config(settings).timeline().as_bytes());
    let mut app = parsed.applications.into_iter().next().unwrap();
    app.conf = parsed.confs.into_iter().next().unwrap().1;
    app
}

fn severity(app: &Application, rules: &RuleSet, rule: &str) -> Option<Severity> {
    rules
        .evaluate(app)
        .findings
        .into_iter()
        .find(|finding| finding.rule == rule)
        .map(|finding| finding.severity)
}

#[test]
fn oracle_tez_heuristics() {
    let Some(path) = elephant_testing::shared("oracle/dr-elephant.json") else { return };
    let oracle: Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    let (rules, mut wrong, mut count) = (preset(), Vec::new(), 0);
    for entry in oracle["entries"].as_array().unwrap() {
        if entry["app_type"] != "tez" || entry["kind"] != "heuristic" {
            continue;
        }
        let inputs = &entry["inputs"];
        let Some(rule) = rule_id(entry["heuristic"].as_str().unwrap()) else { continue };
        assert_eq!(entry["params"], "default", "{}", entry["id"]);
        let settings = inputs["conf"].as_object().into_iter().flatten();
        let settings: Vec<(&str, &str)> =
            settings.map(|(name, value)| (name.as_str(), value.as_str().unwrap_or_default())).collect();
        let found = severity(&application(&inputs["task_groups"], &settings), &rules, rule);
        let found = found.unwrap_or(Severity::None).name().to_uppercase();
        let expected = entry["expected_severity"].as_str().unwrap_or("NONE");
        count += 1;
        if found != expected {
            wrong.push(format!("{}: expected {expected}, got {found}", entry["id"]));
        }
    }
    assert!(count > 0);
    assert!(wrong.is_empty(), "{} of {count} differ:\n{}", wrong.len(), wrong.join("\n"));
}

/// `ReducerMemoryHeuristic` has code and tests, but `HeuristicConf.xml` does not register it.
#[test]
fn the_memory_of_reduce_tasks_is_not_judged() {
    let rules = preset();
    let tez = rules.rules().iter().filter(|rule| rule.info.id.starts_with("tez-") && rule.enabled.value);
    let ids: Vec<&str> = tez.map(|rule| rule.info.id.as_ref()).collect();
    assert_eq!(ids.len(), 14, "{ids:?}");
    assert!(!ids.contains(&"tez-reducer-memory") && !ids.contains(&"tez-dag-failure"));
}

#[test]
fn faults_of_dr_elephant_hold_only_with_its_preset() {
    let (ours, theirs) = (rules(&[]), preset());
    let both = |groups: Value, rule| {
        let app = application(&groups, &[]);
        [&ours, &theirs].map(|rules| severity(&app, rules, rule))
    };
    let without_output = json!([{"role": "map", "count": 1000, "time": {"total_ms": 5000},
        "counters": {"SPILLED_RECORDS": 7, "OUTPUT_RECORDS": 0}}]);
    assert_eq!(both(without_output, "tez-mapper-spill"), [Some(Severity::None), Some(Severity::Critical)]);
    let tables = json!([
        {"role": "map", "vertex": "Map 1", "count": 200, "time": {"total_ms": 9000}, "counters": {"HDFS_BYTES_READ": 1 << 20}},
        {"role": "map", "vertex": "Map 2", "count": 200, "time": {"total_ms": 9000}, "counters": {"HDFS_BYTES_READ": 200 << 20}},
    ]);
    assert_eq!(both(tables, "tez-mapper-skew"), [Some(Severity::None), Some(Severity::Critical)]);
    let negative = json!([{"role": "reduce", "count": 5, "time": {"total_ms": 900_000},
        "counters": {"GC_TIME_MILLIS": 7, "CPU_MILLISECONDS": -30}}]);
    assert_eq!(both(negative, "tez-reducer-gc"), [None, None]);
    let default_container = json!([{"role": "map", "count": 5, "time": {"total_ms": 9000},
        "counters": {"PHYSICAL_MEMORY_BYTES": 1 << 30}}]);
    assert_eq!(both(default_container, "tez-mapper-memory"), [None, Some(Severity::Moderate)]);
    let no_time =
        json!([{"role": "map", "count": 5, "time": {"total_ms": 0}, "counters": {"HDFS_BYTES_READ": 5}}]);
    assert_eq!(both(no_time, "tez-mapper-speed"), [None, None]);
}
