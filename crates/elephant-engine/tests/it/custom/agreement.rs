//! The YAML versions of built-in rules (`rules/examples`) agree with the built-in rules on all available histories:
//! in severities by subject, and in whether they were evaluated.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::LazyLock;

use elephant_base::severity::Severity;
use elephant_engine::engine::visit;
use elephant_input::window::ByteWindow;
use elephant_model::model::Application;
use elephant_model::model::conf::Property;
use elephant_parse::jhist::json;
use elephant_ruleset::{Evaluation, RuleFile, RuleSet};
use proptest::prelude::*;
use serde_json::{Value, json};

use elephant_testing::history::Job;
use elephant_testing::spark_log::{App, Executor, Task};

/// A built-in rule and its YAML version.
const PAIRS: [(&str, &str); 10] = [
    ("mapper-spill", "my-mapper-spill"),
    ("mapper-gc", "my-mapper-gc"),
    ("mapper-time", "my-mapper-time"),
    ("mapper-speed", "my-mapper-speed"),
    ("mapper-skew", "my-mapper-skew"),
    ("mapper-memory", "my-mapper-memory"),
    ("shuffle-sort", "my-shuffle-sort"),
    ("spark-executor-gc", "my-spark-executor-gc"),
    ("spark-stage-metrics", "my-spark-stage-failures"),
    ("spark-event-log-limit", "my-spark-event-log-limit"),
];

/// The examples judge as Dr. Elephant does: spilling by the number of tasks, reading by its speed alone, skew by the
/// amounts alone, short tasks without looking for a remedy, and collections whatever the engine and the collector.
const PLAIN: &str = "rule: mapper-spill\nspilled_again: off\nnum_tasks: [50, 100, 500, 1000]\n---\nrule: mapper-gc\ngc_time: [never, never, never, never]\n---\nrule: mapper-speed\ncomputing_at_most: critical\n---\nrule: mapper-time\nshort_without_remedy: critical\nstart_up_share: off\nlost_share: off\nlost_time: off\n---\nrule: shuffle-sort\nwait_share: off\nlost_share: off\nlost_time: off\n---\nrule: mapper-skew\ndivision: means\ndeviation: [2, 4, 8, 16]\nlarge_group_blocks: [1/8, 1/4, 1/2, 1]\n\
                    group_tasks: [10, 50, 100, 200]\nlost_share: off\nlost_time: off\n---\nrule: order\ntrust_jvms: true\n";

static RULES: LazyLock<RuleSet> = LazyLock::new(|| {
    let folder = elephant_testing::root().join("rules/examples");
    let mut files = elephant_ruleset::find_files(&folder).unwrap();
    files.push(RuleFile { name: "plain".into(), text: PLAIN.to_owned() });
    RuleSet::with_files(elephant_heuristics::BUILT_IN, &files).unwrap_or_else(|error| panic!("{error}"))
});

/// Severities by subject; `None` if the rule was not evaluated or found nothing.
type Results = (bool, BTreeMap<String, Severity>);

fn results(evaluation: &Evaluation, rule: &str) -> Results {
    let not_evaluated = evaluation.not_evaluated.iter().any(|reason| reason.rule == rule);
    let of = evaluation.findings.iter().filter(|finding| finding.rule == rule);
    (not_evaluated, of.map(|finding| (finding.subject.name().into_owned(), finding.severity)).collect())
}

/// The part of the built-in rule's result that the YAML rule also has: for stages, only the number of failed tasks.
fn comparable((not_evaluated, mut found): Results, rule: &str) -> Results {
    if rule == "spark-stage-metrics" && !found.is_empty() {
        found.retain(|subject, _| subject == "application");
        found.entry("application".to_owned()).or_insert(Severity::None);
    }
    (not_evaluated, found)
}

/// The differences between the two rules of each pair, and how often each was evaluated.
fn differences(
    app: &Application,
    rules: &RuleSet,
    counts: &mut BTreeMap<&'static str, [u64; 5]>,
) -> Vec<String> {
    let evaluation = rules.evaluate(app);
    let mut differences = Vec::new();
    for (own, defined) in PAIRS {
        let (ours, theirs) = (comparable(results(&evaluation, own), own), results(&evaluation, defined));
        for severity in theirs.1.values() {
            counts.entry(defined).or_default()[usize::try_from(severity.value()).unwrap()] += 1;
        }
        // If the log lacks tasks, the built-in rule on stages uses more data than the number of failed tasks.
        let harmless =
            own == "spark-stage-metrics" && ours.1.values().all(|severity| *severity == Severity::None);
        if ours != theirs && !(harmless && theirs.1.values().all(|severity| *severity == Severity::None)) {
            let reasons: Vec<_> =
                evaluation.not_evaluated.iter().filter(|r| r.rule == own || r.rule == defined).collect();
            let messages: Vec<_> = evaluation
                .findings
                .iter()
                .filter(|f| f.rule == own || f.rule == defined)
                .map(|f| &f.message)
                .collect();
            differences.push(format!(
                "{}: {own} says {ours:?}, {defined} {theirs:?}: {reasons:?} {messages:#?}",
                app.id
            ));
        }
    }
    differences
}

fn agree_on_all(paths: &[PathBuf]) {
    let visited = visit(paths, |app, _| {
        let mut counts = BTreeMap::new();
        // Of what the resource manager tells there is nothing to judge: built-in rules do not apply, and users' rules say why.
        let is_judged = !app.told_by_servers || !app.groups.is_empty();
        let found = is_judged.then(|| differences(app, &RULES, &mut counts));
        (found.unwrap_or_default(), counts)
    });
    let mut counts: BTreeMap<&str, [u64; 5]> = BTreeMap::new();
    let mut wrong = Vec::new();
    let applications = visited.applications.len();
    for (differences, of_app) in visited.applications.into_iter().map(|visit| visit.value) {
        wrong.extend(differences);
        for (rule, severities) in of_app {
            counts.entry(rule).or_default().iter_mut().zip(severities).for_each(|(sum, count)| *sum += count);
        }
    }
    assert!(applications > 0);
    assert!(
        wrong.is_empty(),
        "{} differ; judgements from none to critical: {counts:#?}\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}

#[test]
fn rules_agree_on_test_histories() {
    agree_on_all(&[elephant_testing::root().join("testdata")]);
}

#[test]
fn rules_agree_on_the_corpus() {
    let paths: Vec<PathBuf> =
        ["corpus", "runs"].iter().filter_map(|sub| elephant_testing::shared(sub)).collect();
    if !paths.is_empty() {
        agree_on_all(&paths);
    }
}

fn application(inputs: &Value) -> Application {
    let history = Job::succeeded(&inputs["task_groups"]).queue(&Value::Null).history();
    let mut app = json::parse(ByteWindow::new(history.as_bytes())).applications.remove(0);
    for (name, value) in inputs["conf"].as_object().into_iter().flatten() {
        let value = value.as_str().unwrap_or_default().to_owned();
        app.conf.insert(name.clone(), Property { value, is_final: false });
    }
    app
}

#[test]
fn rules_agree_on_dr_elephant_tests() {
    let Some(path) = elephant_testing::shared("oracle/dr-elephant.json") else { return };
    let oracle: Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    let (mut counts, mut wrong) = (BTreeMap::new(), Vec::new());
    let entries = oracle["entries"].as_array().unwrap().iter();
    let mut checked = 0;
    for entry in entries.filter(|entry| entry["kind"] == "heuristic" && entry["app_type"] == "mapreduce") {
        checked += 1;
        wrong.extend(differences(&application(&entry["inputs"]), &RULES, &mut counts));
    }
    println!("{checked} inputs, judgements from none to critical: {counts:#?}");
    assert!(checked > 50);
    assert!(wrong.is_empty(), "{} differ:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn rules_agree_on_dr_elephant_executor_tests() {
    let Some(path) = elephant_testing::shared("oracle/dr-elephant.json") else { return };
    let oracle: Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    let entries = oracle["entries"].as_array().unwrap().iter();
    let folder = tempfile::tempdir().unwrap();
    for (number, entry) in entries.filter(|entry| entry["heuristic"] == "Executor GC").enumerate() {
        let mut app = App::default();
        let mut tasks = Vec::new();
        for executor in entry["inputs"]["executors"].as_array().unwrap() {
            let id = executor["id"].as_str().unwrap();
            app.executors.push(Executor::new(id, 1));
            let task = Task::new(id, executor["totalDuration"].as_i64().unwrap());
            tasks.push(task.metric("JVM GC Time", executor["totalGCTime"].as_u64().unwrap()));
        }
        let path = folder.path().join(format!("application_1700000000000_{number:04}"));
        std::fs::write(path, app.stage(tasks).text()).unwrap();
    }
    agree_on_all(&[folder.path().to_owned()]);
}

/// Counters of a map or reduce: small, round and large numbers, or none.
fn counter() -> impl Strategy<Value = Option<u64>> {
    prop_oneof![
        Just(None),
        Just(Some(0)),
        (0u64..2000).prop_map(Some),
        (0u64..200).prop_map(|n| Some(n * 16_777_216)),
        (0u64..(1 << 42)).prop_map(Some),
    ]
}

fn group() -> impl Strategy<Value = Value> {
    let names = [
        "HDFS_BYTES_READ",
        "S3A_BYTES_READ",
        "SPLIT_RAW_BYTES",
        "SPILLED_RECORDS",
        "MAP_OUTPUT_RECORDS",
        "GC_TIME_MILLIS",
        "CPU_MILLISECONDS",
        "PHYSICAL_MEMORY_BYTES",
    ];
    let counters = prop::collection::vec(counter(), names.len()).prop_map(move |values| {
        let known =
            names.iter().zip(values).filter_map(|(name, value)| Some(((*name).to_owned(), json!(value?))));
        Value::Object(known.collect())
    });
    let time = prop_oneof![Just(0i64), 0i64..100_000, 0i64..8_000_000];
    let time = (time, 0i64..100, 0i64..100).prop_map(|(total, shuffle, sort)| {
        let shuffle = total * shuffle / 100;
        json!({"total_ms": total, "shuffle_ms": shuffle, "sort_ms": (total - shuffle) * sort / 100})
    });
    let time = prop_oneof![9 => time, 1 => Just(Value::Null)];
    (prop::bool::ANY, 1u64..260, time, counters).prop_map(|(map, count, time, counters)| {
        json!({"role": if map { "map" } else { "reduce" }, "count": count, "time": time, "counters": counters})
    })
}

fn conf() -> impl Strategy<Value = Value> {
    let container =
        prop::sample::select(vec![None, Some("1024"), Some("3072"), Some("8192"), Some("0"), Some("many")]);
    let block = prop::sample::select(vec![None, Some("134217728"), Some("64m"), Some("0"), Some("1000")]);
    (container, block)
        .prop_map(|(container, block)| json!({"mapreduce.map.memory.mb": container, "dfs.block.size": block}))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, ..ProptestConfig::default() })]

    #[test]
    fn rules_agree_on_random_jobs(groups in prop::collection::vec(group(), 0..5), mut conf in conf()) {
        conf.as_object_mut().unwrap().retain(|_, value| !value.is_null());
        let app = application(&json!({"task_groups": groups, "conf": conf}));
        let wrong = differences(&app, &RULES, &mut BTreeMap::new());
        prop_assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    }
}
