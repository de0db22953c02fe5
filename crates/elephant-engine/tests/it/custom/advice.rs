//! Advice of rules that users define: its settings are part of the one configuration of an application.
use elephant_analysis::replay::spark::RecordedOnce;
use elephant_model::model::Application;
use elephant_ruleset::custom::reference;
use elephant_ruleset::{RuleFile, RuleSet};
use elephant_verdict::savings::{SavingStatus, WhyUnknown};
use elephant_verdict::troubles::{Basis, Diagnosed, diagnose};

const RULE: &str = "\
rule: own-heap
title: Heap for our jobs
engine: spark
values:
  heap: conf_bytes(\"spark.executor.memory\")
  shares: conf_number(\"my.shares\")
thresholds:
  heap: {rising: [1GB, 2GB, 4GB, 8GB]}
message: \"executors have {heap}\"
";

fn rules(advice: &str) -> RuleSet {
    let text = format!("{RULE}{advice}");
    let file = RuleFile { name: "own.yaml".to_owned(), text };
    RuleSet::with_files(elephant_heuristics::BUILT_IN, &[file]).unwrap_or_else(|error| panic!("{error}"))
}

fn problems(advice: &str) -> Vec<String> {
    let file = RuleFile { name: "own.yaml".to_owned(), text: format!("{RULE}{advice}") };
    let (_, problems) = RuleSet::read(elephant_heuristics::BUILT_IN, &[file]);
    problems.iter().map(ToString::to_string).collect()
}

fn diagnosed(app: &Application, rules: &RuleSet) -> Diagnosed {
    let mut findings = rules.evaluate(app).findings;
    findings.retain(|finding| finding.rule == "own-heap");
    assert_eq!(findings.len(), 1);
    diagnose(
        app,
        Basis { rules, prices: None },
        (&rules.measure(app), RecordedOnce::default()),
        &mut findings,
    )
}

#[test]
fn settings_of_advice_are_recommended() {
    let app = elephant_sample::app(&[("spark.executor.memory", "4g"), ("my.label", "old")]);
    let advice = "\
advice:
  - text: ask for three quarters of {heap}
    set: {spark.executor.memory: \"{ceil(in_mb(heap) * 0.75)}m\", my.label: small}
";
    let Diagnosed { troubles, configuration, .. } = diagnosed(&app, &rules(advice));
    let arguments: Vec<String> = configuration.iter().map(|it| it.change.argument()).collect();
    assert_eq!(arguments, ["--conf spark.executor.memory=3072m", "-D my.label=small"]);
    assert_eq!(configuration[0].change.from.as_deref(), Some("4g"));
    assert_eq!(
        troubles[0].advice[0],
        "ask for three quarters of 4 GiB: --conf spark.executor.memory=3072m (now 4g), my.label old → small"
    );
}

#[test]
fn unknown_values_and_values_in_force_are_left_out() {
    let app = elephant_sample::app(&[("spark.executor.memory", "4g")]);
    let advice = "\
advice:
  - text: share less
    set: {my.shares: \"{shares / 2}\", spark.executor.memory: 4G}
";
    let Diagnosed { troubles, configuration, .. } = diagnosed(&app, &rules(advice));
    assert!(configuration.is_empty(), "{configuration:?}");
    assert_eq!(troubles[0].advice, ["share less"]);
}

#[test]
fn troubles_have_the_title_of_the_rule() {
    let app = elephant_sample::app(&[("spark.executor.memory", "4g")]);
    let Diagnosed { troubles, .. } = diagnosed(&app, &rules(""));
    assert_eq!(troubles[0].words(), "Heap for our jobs");
    assert_eq!(troubles[0].savings.status, SavingStatus::Unknown(WhyUnknown::NoRemedy));
}

#[test]
fn mistakes_in_settings_are_told() {
    for (advice, expected) in [
        (
            "advice: [{text: a, set: spark.executor.memory}]\n",
            "expected settings with their values, got a value",
        ),
        ("advice: [{text: a, set: {memory: 4g}}]\n", "\"memory\" is not the name of a setting"),
        ("advice: [{text: a, set: {spark.x: \"{hepa}\"}}]\n", "hepa"),
        ("advice: [{text: a, sets: {spark.x: 1}}]\n", "its keys are when, text and set"),
    ] {
        let problems = problems(advice);
        assert!(problems.len() == 1 && problems[0].contains(expected), "{advice}: {problems:?}");
    }
}

#[test]
fn several_rules_need_a_pattern() {
    let file =
        RuleFile { name: "own.yaml".to_owned(), text: "rule: [/a/, /b/]\nenabled: false\n".to_owned() };
    let (_, problems) = RuleSet::read(elephant_heuristics::BUILT_IN, &[file]);
    let told = problems[0].to_string();
    assert!(told.contains("expected the id of one rule, or a pattern for several, got a list"), "{told}");
}

#[test]
fn the_sample_of_the_reference_is_a_rule() {
    let sections = reference::sections();
    let samples: Vec<&str> =
        sections.iter().map(|section| section.sample).filter(|it| !it.is_empty()).collect();
    assert_eq!(samples.len(), 1);
    let file = RuleFile { name: "sample.yaml".to_owned(), text: samples[0].to_owned() };
    let rules =
        RuleSet::with_files(elephant_heuristics::BUILT_IN, &[file]).unwrap_or_else(|error| panic!("{error}"));
    assert!(rules.warnings().is_empty());
    // Every key that the sample uses is explained.
    let keys: Vec<&str> = sections[0].lines.iter().map(|line| line.written.as_str()).collect();
    let used = samples[0].lines().filter_map(|line| line.split_once(':')).map(|(key, _)| key);
    for key in used.filter(|key| !key.starts_with(' ')) {
        assert!(keys.contains(&key), "{key}");
    }
}
