//! Presets judge as the version of Dr. Elephant that they name, whatever the defaults become.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::sync::LazyLock;

use elephant_base::severity::Severity;
use elephant_engine::engine::{Options, analyze};
use elephant_rule::finding::{Finding, Provenance};
use elephant_ruleset::{RuleFile, RuleSet};
use elephant_testing::spark_log::{App, Task};
use serde::Deserialize;
use serde_yaml::Value;

use super::{below, defaults_of, history, ids, parameters, preset, settings_ids, spark};

/// What a version of Dr. Elephant registers and judges by.
#[derive(Deserialize)]
struct Version {
    judges: BTreeSet<String>,
    values: BTreeMap<String, BTreeMap<String, Value>>,
}

/// The versions with their presets.
const VERSIONS: [(&str, &str); 5] = [
    ("master", "dr-elephant"),
    ("v2.0.9", "dr-elephant-2.0"),
    ("customSHSWork", "dr-elephant-shs"),
    ("tuning_20190221", "dr-elephant-tuning"),
    ("v0.4.0", "dr-elephant-0.4"),
];

fn versions() -> impl Iterator<Item = (&'static str, Version)> {
    let mut known: BTreeMap<String, Version> =
        serde_yaml::from_str(include_str!("dr_elephant.yaml")).unwrap();
    VERSIONS.into_iter().map(move |(version, preset)| (preset, known.remove(version).unwrap()))
}

/// A preset with those that it builds on.
fn stack(name: &str) -> Vec<RuleFile> {
    below(name).iter().copied().chain([name]).flat_map(preset).collect()
}

fn rules(files: &[RuleFile]) -> RuleSet {
    RuleSet::with_files(elephant_heuristics::BUILT_IN, files).unwrap()
}

fn enabled(rules: &RuleSet) -> BTreeSet<String> {
    rules.rules().iter().filter(|rule| rule.enabled.value).map(|rule| rule.info.id.to_string()).collect()
}

fn is_from_dr_elephant(id: &str) -> bool {
    let rule = elephant_heuristics::BUILT_IN.rule(id);
    rule.is_some_and(|rule| matches!(rule.facts.provenance, Provenance::DrElephant { .. }))
}

/// The parameters that all rules share. The gate and the ranking of nodes have nothing to do with Dr. Elephant.
pub(super) fn shared_settings() -> impl Iterator<Item = &'static str> {
    settings_ids().filter(|id| !["gate", "nodes"].contains(id))
}

/// Every parameter that decides what a preset says: those of its rules, and those that all rules share.
fn judged_by(rules: &RuleSet) -> BTreeMap<String, String> {
    let of_rules = rules.rules().iter().filter(|rule| rule.enabled.value);
    let of_rules =
        of_rules.flat_map(|rule| rule.params.iter().map(move |param| (rule.info.id.as_ref(), param)));
    let shared = shared_settings().flat_map(|id| rules.settings(id).iter().map(move |param| (id, param)));
    of_rules.chain(shared).map(|(id, it)| (format!("{id}: {}", it.key), format!("{:?}", it.value))).collect()
}

/// The list of a version stands in its own preset: other presets, given before it, neither add nor remove a rule.
#[test]
fn a_preset_says_of_every_rule_of_dr_elephant_whether_its_version_has_it() {
    let all: BTreeSet<String> = ids().filter(|id| is_from_dr_elephant(id)).map(str::to_owned).collect();
    for (name, version) in versions() {
        let documents = super::documents(&preset(name)[0].text);
        let listed = documents.iter().filter_map(|document| {
            let on = document.get("enabled")?.as_bool()?;
            Some((document.get("rule")?.as_str().filter(|id| *id != "*")?.to_owned(), on))
        });
        let listed: BTreeMap<String, bool> = listed.collect();
        let on: BTreeSet<String> = listed.iter().filter(|(_, on)| **on).map(|(id, _)| id.clone()).collect();
        assert_eq!(listed.into_keys().collect::<BTreeSet<_>>(), all, "{name}");
        assert_eq!(on, version.judges, "{name}");
        assert_eq!(enabled(&rules(&stack(name))), version.judges, "{name}");
    }
}

#[test]
fn a_rule_that_a_version_lacks_never_finds_anything() {
    let (jobs, spark) = (history::applications(), spark::applications());
    let testdata = elephant_testing::root().join("testdata");
    let options = Options { min_severity: Severity::Low, ..Options::default() };
    for (name, version) in versions() {
        let rules = rules(&stack(name));
        let mut found: Vec<Finding> = jobs.iter().flat_map(|app| rules.evaluate(app).findings).collect();
        found.extend(spark.iter().flat_map(|app| elephant_sample::judge::judge(app, &rules).findings));
        if testdata.exists() {
            let report = analyze(std::slice::from_ref(&testdata), &rules, options.clone());
            found.extend(report.applications.into_iter().flat_map(|app| app.findings));
        }
        let found: BTreeSet<String> = found.iter().map(|finding| finding.rule.to_string()).collect();
        assert!(found.len() > 5, "{name}: {found:?}");
        assert!(found.is_subset(&version.judges), "{name}: {:?}", found.difference(&version.judges));
    }
}

#[test]
fn presets_judge_by_the_defaults_of_their_version() {
    for (name, version) in versions() {
        let effective = judged_by(&rules(&stack(name)));
        for (id, values) in version.values {
            let values = serde_yaml::to_string(&values).unwrap();
            let theirs = RuleFile { name: "table".to_owned(), text: format!("rule: {id}\n{values}") };
            let with_theirs = judged_by(&rules(&[stack(name), vec![theirs]].concat()));
            assert_eq!(effective, with_theirs, "{name}: {id}");
        }
    }
}

#[test]
fn unset_cores_are_those_that_the_version_assumes() {
    let conf = [
        ("spark.serializer", "org.apache.spark.serializer.KryoSerializer"),
        ("spark.shuffle.service.enabled", "true"),
    ];
    let severity = |files: &[RuleFile], more: &[(&str, &str)]| {
        let app = App::with(&[&conf, more].concat(), 2, 16).stage(vec![Task::new("1", 1000)]);
        let found = elephant_sample::judge::judge(&app, &rules(files)).findings;
        found.into_iter().find(|finding| finding.rule == "spark-configuration").unwrap().raw_severity
    };
    assert!(severity(&[], &[]) > Severity::None);
    for (name, preset) in VERSIONS.iter().filter(|(version, _)| *version != "v0.4.0") {
        assert_eq!(severity(&stack(preset), &[]), Severity::None, "{name}");
        let set = severity(&stack(preset), &[("spark.executor.cores", "16")]);
        assert_eq!(set, Severity::Critical, "{name}");
    }
}

/// Other values of all kinds of parameters.
const OTHERS: [&str; 43] = [
    "true",
    "false",
    "off",
    "never",
    "critical",
    "none",
    "low",
    "severe",
    "unknown",
    "zero",
    "mean",
    "task",
    "means",
    "median",
    "executor",
    "all-tasks",
    "used",
    "asked",
    "stored",
    "skip",
    "severity",
    "measured",
    "first-executor",
    "task-time",
    "dr-elephant",
    "any-metric",
    "memory",
    "tasks",
    "blocks",
    "[3, 4, 5, 6]",
    "[6, 5, 4, 3]",
    "[3%, 4%, 5%, 6%]",
    "[6%, 5%, 4%, 3%]",
    "[3MB, 4MB, 5MB, 6MB]",
    "[3s, 4s, 5s, 6s]",
    "1MB",
    "1GB",
    "30s",
    "1h",
    "7",
    "70%",
    "30MB/s",
    "{elsewhere: 1min}",
];

static DEFAULTS: LazyLock<RuleSet> = LazyLock::new(|| rules(&[]));

/// The value with every number times `factor`.
fn scaled(value: &str, factor: f64) -> String {
    let mut scaled = String::new();
    let mut rest = value;
    while let Some(start) = rest.find(|c: char| c.is_ascii_digit()) {
        let (before, number) = rest.split_at(start);
        let end = number.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(number.len());
        scaled += before;
        scaled += &(number[..end].parse::<f64>().unwrap() * factor).to_string();
        rest = &number[end..];
    }
    scaled + rest
}

/// A document that gives a parameter another value than the built-in one.
fn altered(id: &str, key: &str) -> Result<String, String> {
    let effective = |rules: &RuleSet| {
        let params = rules.rule(id).map_or_else(|_| rules.settings(id), |rule| &rule.params);
        params.iter().find(|param| param.key == key).map(|param| format!("{:?}", param.value))
    };
    let default = effective(&DEFAULTS);
    let written = serde_yaml::to_string(&defaults_of(id)[key]).unwrap().trim().replace('\n', ", ");
    let written =
        written.strip_prefix("- ").map_or(written.clone(), |list| format!("[{}]", list.replace("- ", "")));
    let numbers = [1.25, 0.75, 2.0].map(|factor| scaled(&written, factor));
    let document = |value: &str| format!("rule: {id}\n{key}: {value}\n");
    let differs = |value: &&str| {
        let file = RuleFile { name: "altered".to_owned(), text: document(value) };
        let (rules, problems) = RuleSet::read(elephant_heuristics::BUILT_IN, &[file]);
        problems.is_empty() && rules.is_some_and(|rules| effective(&rules) != default)
    };
    let candidates = numbers.iter().map(String::as_str).chain(OTHERS);
    let value = candidates.into_iter().find(differs);
    value.map(str::to_owned).ok_or_else(|| format!("{id}: {key}: {written}"))
}

/// The built-in files with other values everywhere, as files that presets override.
fn altered_defaults() -> RuleFile {
    let (mut documents, mut unaltered) = (Vec::new(), Vec::new());
    for id in ids().chain(settings_ids()) {
        let defaults = defaults_of(id);
        let on = defaults.get("enabled").is_none_or(|on| on.as_bool() == Some(true));
        let mut document = format!("rule: {id}\n");
        // Documents about a single rule outweigh those about an origin, so that rules of ours would come back.
        if is_from_dr_elephant(id) {
            writeln!(document, "enabled: {}", !on).unwrap();
        }
        for key in parameters(&defaults) {
            match altered(id, key) {
                Ok(value) => writeln!(document, "{key}: {value}").unwrap(),
                Err(parameter) => unaltered.push(parameter),
            }
        }
        documents.push(document);
    }
    assert!(unaltered.is_empty(), "add another value for each of these to OTHERS: {unaltered:#?}");
    RuleFile { name: "altered defaults".to_owned(), text: documents.join("---\n") }
}

#[test]
fn no_change_of_a_default_changes_what_a_preset_judges_by() {
    let altered = vec![altered_defaults()];
    let (ours, changed) = (judged_by(&DEFAULTS), judged_by(&rules(&altered)));
    assert!(changed.iter().all(|(key, value)| ours.get(key) != Some(value)), "an alteration changes nothing");
    for (name, version) in versions() {
        let with_altered = rules(&[altered.clone(), stack(name)].concat());
        assert_eq!(judged_by(&rules(&stack(name))), judged_by(&with_altered), "{name}");
        assert_eq!(enabled(&with_altered), version.judges, "{name}");
    }
}
