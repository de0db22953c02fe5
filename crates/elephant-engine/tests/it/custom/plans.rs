//! Own rules on queries, operators and jobs, on real recordings.

use std::path::{Path, PathBuf};

use elephant_base::severity::Severity;
use elephant_engine::engine::visit;
use elephant_rule::finding::Measure;
use elephant_ruleset::custom::reference;
use elephant_ruleset::{Evaluation, RuleFile, RuleSet};
use elephant_testing::shared;
use proptest::prelude::*;

fn recording(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/plans").join(name)
}

fn rules(text: &str) -> RuleSet {
    let file = RuleFile { name: "own.yaml".to_owned(), text: text.to_owned() };
    RuleSet::with_files(elephant_heuristics::BUILT_IN, &[file])
        .unwrap_or_else(|error| panic!("{error}\n{text}"))
}

fn example(name: &str) -> RuleSet {
    let files =
        elephant_ruleset::find_files(&elephant_testing::root().join("rules/examples").join(name)).unwrap();
    RuleSet::with_files(elephant_heuristics::BUILT_IN, &files).unwrap_or_else(|error| panic!("{error}"))
}

fn evaluate(path: PathBuf, rules: &RuleSet) -> Evaluation {
    let visited = visit(&[path], |app, _| rules.evaluate(app));
    visited.applications.into_iter().next().expect("the recording has an application").value
}

/// Severities and subjects of a rule's findings, in the order of subjects.
fn found(evaluation: &Evaluation, rule: &str) -> Vec<(String, Severity)> {
    let of_rule = evaluation.findings.iter().filter(|finding| finding.rule == rule);
    let mut found: Vec<_> =
        of_rule.map(|finding| (finding.subject.name().into_owned(), finding.raw_severity)).collect();
    found.sort();
    found
}

fn is_not_evaluated(evaluation: &Evaluation, rule: &str) -> Option<String> {
    let mut missing = evaluation.not_evaluated.iter().filter(|missing| missing.rule == rule);
    missing.next().map(|missing| missing.reason.clone())
}

/// A rule that takes one value of each subject.
fn one_value(over: &str, value: &str, cutoffs: &str) -> RuleSet {
    rules(&format!(
        "rule: own\nover: {over}\nvalues:\n  x: '{value}'\nthresholds:\n  x: {{rising: {cutoffs}}}\nmessage: \"{{x}}\"\n"
    ))
}

#[test]
fn jobs_of_a_group_are_judged_with_their_tasks() {
    let evaluation = evaluate(recording("sort-merge.zstd"), &example("slow-report-jobs.yaml"));
    let subjects = found(&evaluation, "slow-report-jobs");
    assert!(!subjects.is_empty() && subjects.len() <= 6, "{subjects:?}");
    assert!(subjects.iter().all(|(subject, _)| subject.starts_with("job ")), "{subjects:?}");
    // Jobs 0 and 1 prepare, 8 and 9 check.
    let outside = ["job 0", "job 1", "job 8", "job 9"];
    assert!(!subjects.iter().any(|(subject, _)| outside.contains(&subject.as_str())), "{subjects:?}");
    let finding = evaluation.findings.iter().find(|finding| finding.rule == "slow-report-jobs").unwrap();
    assert!(
        finding.message.contains("sales by customer") || finding.message.contains("totals"),
        "{finding:?}"
    );
}

#[test]
fn queries_that_wait_for_the_driver_are_found() {
    let rules = example("waiting-for-the-driver.yaml");
    let Some(pairs) = shared("runs/spark-3.5.7-pairs") else { return };
    let of = |name: &str| {
        let evaluation = evaluate(pairs.join(name), &rules);
        (
            found(&evaluation, "waiting-for-the-driver"),
            is_not_evaluated(&evaluation, "waiting-for-the-driver"),
        )
    };
    let (with, missing) = of("collect-with");
    assert!(with.iter().all(|(subject, _)| subject.starts_with("query ")), "{with:?}");
    assert_eq!(missing, None);
}

#[test]
fn writers_of_small_files_are_found() {
    let rules = example("many-small-files-written.yaml");
    let none = evaluate(recording("broadcast.zstd"), &rules);
    assert!(found(&none, "many-small-files-written").iter().all(|(_, severity)| *severity == Severity::None));
    assert_eq!(is_not_evaluated(&none, "many-small-files-written"), None);
    let Some(runs) = shared("runs/sql-spark-4.0.1") else { return };
    let many = evaluate(runs.join("small-write.zst"), &rules);
    let subjects = found(&many, "many-small-files-written");
    let [(subject, severity)] = subjects.as_slice() else { panic!("{subjects:?}") };
    assert!(subject.starts_with("operator ") && subject.ends_with(" of query 0"), "{subject}");
    assert_eq!(*severity, Severity::Moderate);
    let finding = many.findings.iter().find(|finding| finding.rule == "many-small-files-written").unwrap();
    let files = finding.evidence.iter().find(|(key, _)| key == "files_count").map(|(_, measure)| measure);
    assert_eq!(files, Some(&Measure::Count(400)), "{finding:?}");
}

#[test]
fn a_value_that_is_unknown_is_no_zero() {
    let log = || recording("broadcast.zstd");
    let cutoffs = "[0, 1, 2, 3]";
    // No operator of this log talks to Python.
    let sent = "metric(\"data sent to Python workers\")";
    let python = evaluate(log(), &one_value("operator", sent, "[0MB, 1MB, 2MB, 3MB]"));
    assert_eq!(found(&python, "own"), []);
    assert!(is_not_evaluated(&python, "own").unwrap().contains("data sent to Python workers"));
    // A metric that has a value, asked for as something else.
    let wrong = "node.name == \"x\" ? 1 : metric_count(\"of a connector\")";
    let other = evaluate(log(), &one_value("operator", wrong, cutoffs));
    assert!(is_not_evaluated(&other, "own").unwrap().contains("of a connector"));
    let error = evaluate(log(), &one_value("query", "known(query.error) ? 1 : 0", cutoffs));
    assert_eq!(is_not_evaluated(&error, "own"), None);
}

#[test]
fn rows_of_a_query_are_its_own() {
    // Three queries, one with a join; two operators of each read or write files.
    let joins =
        one_value("query", "count(node, node.name.endsWith(\"Join\") && node.in_last_plan)", "[1, 2, 3, 4]");
    assert_eq!(found(&evaluate(recording("broadcast.zstd"), &joins), "own")[0].0, "query 0");
    let rows = one_value("query", "sum(node.metric(\"number of files read\"))", "[25, 30, 100, 1000]");
    let evaluation = evaluate(recording("broadcast.zstd"), &rows);
    assert_eq!(found(&evaluation, "own"), [("query 0".to_owned(), Severity::Low)]);
    let stages = one_value("query", "count(stage) - query.stages", "[1, 2, 3, 4]");
    assert!(
        found(&evaluate(recording("broadcast.zstd"), &stages), "own")
            .iter()
            .all(|(_, s)| *s == Severity::None)
    );
    let jobs = one_value("query", "count(job) - query.jobs", "[1, 2, 3, 4]");
    assert!(
        found(&evaluate(recording("broadcast.zstd"), &jobs), "own").iter().all(|(_, s)| *s == Severity::None)
    );
}

/// Every name of the reference can be used over its subjects, on every recording, and gives a value or a reason.
#[test]
fn every_name_of_the_reference_is_a_value_or_has_a_reason() {
    let uses = [("query", "query"), ("node", "operator"), ("query", "operator"), ("job", "job")];
    let sections = reference::sections();
    let mut used = 0;
    for (namespace, over) in uses {
        let section = sections.iter().find(|section| section.name == namespace).unwrap();
        for line in &section.lines {
            let condition = match line.kind.as_str() {
                "condition" => line.written.clone(),
                _ => format!("known({})", line.written),
            };
            let rules = one_value(over, &format!("{condition} ? 1 : 0"), "[1, 2, 3, 4]");
            for name in ["broadcast.zstd", "sort-merge.zstd"] {
                let evaluation = evaluate(recording(name), &rules);
                let reason = is_not_evaluated(&evaluation, "own");
                assert!(!found(&evaluation, "own").is_empty() || reason.is_some(), "{}", line.written);
            }
            used += 1;
        }
    }
    assert!(used > 50, "{used}");
}

#[test]
fn mistakes_are_told_with_their_place_and_a_suggestion() {
    let text = "\
rule: r
over: operator
values:
  a: node.rws
  b: metric(\"number of file read\")
  c: metric_time(\"spill size\")
  d: query.wal_time
  e: job.duration
  f: sum(node.rows)
  g: metric(5)
  h: metrics(\"spill size\")
  i: quer.number
thresholds:
  a: {rising: [1, 2, 3, 4]}
message: m
---
rule: s
over: query
values:
  a: metric(\"spill size\")
  b: node.time
  c: sum(query.wall_time)
thresholds:
  a: {rising: [1MB, 2MB, 3MB, 4MB]}
message: m
---
rule: t
values:
  a: query.wall_time
  b: sum(node.time)
thresholds:
  a: {rising: [1min, 2min, 3min, 4min]}
message: m
---
rule: u
over: opertor
values:
  a: app.run_time
thresholds:
  a: {rising: [1min, 2min, 3min, 4min]}
message: m
";
    let file = RuleFile { name: "own.yaml".to_owned(), text: text.to_owned() };
    let (_, problems) = RuleSet::read(elephant_heuristics::BUILT_IN, &[file]);
    let lines: Vec<String> = problems.iter().map(ToString::to_string).collect();
    elephant_testing::with_snapshots("rules", || {
        insta::assert_snapshot!("own-plan-mistakes", lines.join("\n"));
    });
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Any text is the name of a metric, or an error with the place of the text.
    #[test]
    fn any_text_is_a_metric_or_an_error(
        name in "[a-z ()\\\\-]{0,24}",
        function in prop::sample::select(vec!["metric", "metric_count", "metric_bytes", "metric_time"]),
    ) {
        let value = serde_json::to_string(&format!("{function}(\"{name}\")")).unwrap();
        let text = format!(
            "rule: own\nover: operator\nvalues:\n  x: {value}\n  y: 'known(x) ? 1 : 0'\nthresholds:\n  y: {{rising: [1, 2, 3, 4]}}\nmessage: m\n"
        );
        let file = RuleFile { name: "own.yaml".to_owned(), text };
        let (_, problems) = RuleSet::read(elephant_heuristics::BUILT_IN, &[file]);
        for problem in &problems {
            prop_assert!(problem.to_string().starts_with("own.yaml:4:"), "{problem}");
        }
    }
}
