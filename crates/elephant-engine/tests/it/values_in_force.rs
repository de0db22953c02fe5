//! Parameter values in effect: by scope, with renamed keys, after an import.

use elephant_engine::engine::visit;
use elephant_rule::params::ParamValue;
use elephant_ruleset::{Importance, RuleFile, RuleProblem, RuleSet, import};

const DONE: &str = "testdata/done";

fn file(text: &str) -> RuleFile {
    RuleFile { name: "own.yaml".to_owned(), text: text.to_owned() }
}

fn rules(text: &str) -> RuleSet {
    RuleSet::with_files(elephant_heuristics::BUILT_IN, &[file(text)]).unwrap()
}

fn problems(text: &str) -> Vec<RuleProblem> {
    RuleSet::read(elephant_heuristics::BUILT_IN, &[file(text)]).1
}

fn shown(value: &ParamValue) -> String {
    match value {
        ParamValue::Cutoffs { shown, .. } => shown.join(" "),
        ParamValue::Text(text) => text.clone(),
    }
}

/// The value of a parameter in effect for the jobs of a folder, by job name.
fn in_force(rules: &RuleSet, rule: &str, key: &str) -> Vec<(String, String)> {
    let path = elephant_testing::root().join(DONE);
    let visited = visit(&[path], |app, _| {
        let active = rules.rules_for(app);
        let active = active.iter().find(|active| active.info.id == rule).unwrap();
        let value = &active.params.iter().find(|parameter| parameter.key == key).unwrap().value;
        (app.name.clone().unwrap(), shown(value))
    });
    visited.applications.into_iter().map(|visit| visit.value).collect()
}

#[test]
fn renamed_keys_work_with_a_warning() {
    let problems = problems("rule: spark-job-runtime\nonly_succeeded: true\n");
    assert_eq!(problems.len(), 1, "{problems:?}");
    assert_eq!(problems[0].importance, Importance::Warning);
    assert!(problems[0].message.contains("only_succeeded_jobs"), "{}", problems[0]);
    let rules = rules("rule: spark-job-runtime\nonly_succeeded: true\n");
    let active = rules.rules().iter().find(|active| active.info.id == "spark-job-runtime").unwrap();
    let parameter = active.params.iter().find(|p| p.key == "only_succeeded_jobs").unwrap();
    assert_eq!(parameter.value, ParamValue::Text("true".to_owned()));
    assert_eq!(parameter.origin.to_string(), "own.yaml:2");
}

#[test]
fn most_specific_document_wins_then_the_later_one() {
    // The least specific document is last: order matters only between equally specific ones.
    let earlier = file(
        "rule: mapper-time\nfor: {name: 'word count*', user: alice}\nnum_tasks: [4, 4, 4, 4]\n---\n\
         rule: mapper-time\nfor: {name: '/^word/'}\nnum_tasks: [3, 3, 3, 3]\ntarget_run_time: 3min\n---\n\
         rule: mapper-time\nfor: {user: alice}\nnum_tasks: [1, 1, 1, 1]\n",
    );
    let later = file(
        "rule: mapper-time\nfor: {user: alice}\nnum_tasks: [2, 2, 2, 2]\n---\n\
         rule: mapper-time\nnum_tasks: [9, 9, 9, 9]\ntarget_run_time: 9min\n",
    );
    let rules = RuleSet::with_files(elephant_heuristics::BUILT_IN, &[earlier, later]).unwrap();
    let tasks = in_force(&rules, "mapper-time", "num_tasks");
    assert!(tasks.len() > 3);
    for (name, value) in &tasks {
        let expected = if name.starts_with("word count") { "4 4 4 4" } else { "2 2 2 2" };
        assert_eq!(value, expected, "{name}");
    }
    for (name, value) in in_force(&rules, "mapper-time", "target_run_time") {
        assert_eq!(value, if name.starts_with("word") { "3min" } else { "9min" }, "{name}");
    }
}

#[test]
fn unknown_values_match_no_scope() {
    let rules = rules("rule: mapper-time\nfor: {job_type: '*'}\nnum_tasks: [1, 1, 1, 1]\n");
    let values = in_force(&rules, "mapper-time", "num_tasks");
    assert!(values.iter().any(|(_, value)| value == "1 1 1 1"), "{values:?}");
    // "word count (demo)" matches no known job type.
    assert!(
        values.iter().any(|(name, value)| name.contains("demo") && value == "50 101 500 1000"),
        "{values:?}"
    );
}

#[test]
fn dr_elephant_configuration_becomes_a_rule_file() {
    let path = elephant_testing::root().join("testdata/dr-elephant/HeuristicConf.xml");
    let imported =
        import::import(elephant_heuristics::BUILT_IN, &std::fs::read_to_string(path).unwrap()).unwrap();
    let notes: Vec<String> =
        imported.notes.iter().map(|note| format!("{}: {}", note.line, note.message)).collect();
    elephant_testing::with_snapshots("rules", || {
        insta::assert_snapshot!("imported", format!("{}\n# Notes\n\n{}", imported.yaml, notes.join("\n")));
    });
    let (rules, problems) = RuleSet::read(elephant_heuristics::BUILT_IN, &[file(&imported.yaml)]);
    assert!(problems.is_empty(), "{problems:?}");
    let rules = rules.unwrap();
    let rule = |id: &str| rules.rules().iter().find(|active| active.info.id == id).unwrap();
    let value = |id: &str, key: &str| shown(&rule(id).params.iter().find(|p| p.key == key).unwrap().value);
    assert_eq!(value("mapper-skew", "group_tasks"), "20 50 100 200");
    assert_eq!(value("mapper-skew", "deviation"), "2 4 8 16");
    assert_eq!(value("mapper-speed", "speed"), "50MB/s 25MB/s 12.5MB/s 3.125MB/s");
    assert_eq!(value("mapper-speed", "run_time"), "5min 10min 15min 30min");
    assert_eq!(value("mapper-memory", "container"), "1024MB 1536MB 2048MB 2560MB");
    assert_eq!(value("spark-executor-load-balance", "output_deviation"), "0.8 1 1.2 1.4");
    assert!(rule("shuffle-sort").enabled.value && !rule("mapper-gc").enabled.value);
}

/// A fifth of a run is as bad if it is lost to skew as if it is lost to a slow node.
#[test]
fn the_time_lost_decides_whatever_it_was_lost_to() {
    let rules = RuleSet::new(elephant_heuristics::BUILT_IN).unwrap();
    let cutoffs = |id: &str, key: &str| {
        let rule = rules.rules().iter().find(|active| active.info.id == id).unwrap();
        shown(&rule.params.iter().find(|parameter| parameter.key == key).unwrap().value)
    };
    let worst = |cutoffs: &str| cutoffs.split(' ').skip(2).collect::<Vec<_>>().join(" ");
    for (id, share, time) in [
        ("spark-skew", "lost_share", "lost_time"),
        ("mapper-skew", "lost_share", "lost_time"),
        ("reducer-skew", "lost_share", "lost_time"),
        ("spark-parallelism", "lost_share", "lost_time"),
        ("straggler-impact", "delay_share", "delay"),
    ] {
        let of = [share, time].map(|key| worst(&cutoffs(id, key)));
        assert_eq!(of, ["0.2 0.4", "30s 2min"], "{id}");
    }
}
