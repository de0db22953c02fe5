//! Dr. Elephant's own tests of Tez as an oracle. Each entry is written as an answer of the timeline server, read by the
//! parser and judged with the preset.

use elephant_analysis::metrics::run_time;
use elephant_base::severity::Severity;
use elephant_model::model::{Application, Status};
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

/// The sample: the records of its tasks are not in the answer.
#[test]
fn a_dag_that_failed_is_explained_and_nothing_else_is_judged() {
    let Some(path) = elephant_testing::shared("corpus/tez/apache__ambari/tezDag-name-to-id.json") else {
        return;
    };
    let parsed = tez::parse(&std::fs::read(path).unwrap());
    let app = parsed.applications.into_iter().next().unwrap();
    assert_eq!(
        (app.id.as_str(), app.status, app.complete),
        ("dag_1394502141829_0425_1", Status::Failed, false)
    );
    assert_eq!(run_time(&app).map(elephant_base::units::Millis::get), Some(74_017));
    let before = app.submitted_at.zip(app.launched_at).map(|(at, start)| start.as_millis() - at.as_millis());
    assert_eq!(before, Some(1333));
    let evaluation = rules(&[]).evaluate(&app);
    let of_tez = evaluation.findings.iter().filter(|finding| finding.rule.starts_with("tez-"));
    let of_tez: Vec<_> = of_tez.map(|finding| (finding.rule.as_ref(), finding.message.clone())).collect();
    let [("tez-dag-failure", message)] = of_tez.as_slice() else { panic!("{of_tez:?}") };
    assert!(
        message.contains("Map 5 (1 task, 4 attempts)") && message.contains("ClassCastException"),
        "{message}"
    );
}

/// Groups that get each severity from none to critical, and the rules on map and on scope tasks that give it.
fn series() -> Vec<([&'static str; 2], Vec<Value>)> {
    let group = |count: u64, total_ms: u64, counters: Value| json!({"role": "map", "count": count, "time": {"total_ms": total_ms}, "counters": counters});
    let skew = |times: u64| {
        json!([
            group(210, 60_000, json!({"HDFS_BYTES_READ": 64 << 20})),
            group(2, 60_000, json!({"HDFS_BYTES_READ": (64 << 20) * times}))
        ])
    };
    let gc =
        |gc: u64| json!([group(4, 900_000, json!({"CPU_MILLISECONDS": 1_000_000, "GC_TIME_MILLIS": gc}))]);
    let time = |minutes: u64| json!([group(10, minutes * 60_000, json!({}))]);
    let speed = |mib: u64| json!([group(4, 1_800_000, json!({"S3A_BYTES_READ": (mib * 1800) << 20}))]);
    let memory = |mib: u64| json!([group(4, 60_000, json!({"PHYSICAL_MEMORY_BYTES": mib << 20}))]);
    vec![
        (["tez-mapper-skew", "tez-scope-skew"], [2, 4, 8, 10, 20].map(skew).into()),
        (["tez-mapper-gc", "tez-scope-gc"], [5000, 12_000, 25_000, 35_000, 45_000].map(gc).into()),
        (["tez-mapper-time", "tez-scope-time"], [11, 15, 30, 60, 120].map(time).into()),
        (["tez-mapper-speed", "tez-scope-speed"], [60, 40, 20, 10, 2].map(speed).into()),
        (["tez-mapper-memory", "tez-scope-memory"], [800, 550, 450, 350, 250].map(memory).into()),
    ]
}

#[test]
fn scope_tasks_are_judged_as_map_tasks() {
    let rules = rules(&[]);
    for (pair, groups) in series() {
        for (rule, role) in pair.into_iter().zip(["map", "scope"]) {
            let of = |groups: &Value| {
                let mut groups = groups.clone();
                for group in groups.as_array_mut().unwrap() {
                    group["role"] = json!(role);
                }
                severity(&application(&groups, &[("tez.task.resource.memory.mb", "1000")]), &rules, rule)
            };
            let found: Vec<_> = groups.iter().map(of).collect();
            assert_eq!(found, Severity::ALL.map(Some), "{rule}");
        }
    }
}
