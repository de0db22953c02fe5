//! Files that define rules: their mistakes, their layers, and what they may cost.

use elephant_rs::finding::{Finding, Measure};
use elephant_rs::input::window::ByteWindow;
use elephant_rs::model::Application;
use elephant_rs::parse::jhist::json;
use elephant_rs::rules::{Evaluation, RuleFile, RuleSet};
use elephant_rs::severity::Severity;
use serde_json::{Value, json};

use crate::common::history::Job;

fn file(text: &str) -> RuleFile {
    RuleFile { name: "etl.yaml".to_owned(), text: text.to_owned() }
}

fn rules(text: &str) -> RuleSet {
    RuleSet::with_files(&[file(text)]).unwrap_or_else(|error| panic!("{error}"))
}

/// Maps by their number and run time in milliseconds, in a queue.
fn maps(count: u64, time: i64, queue: Option<&str>) -> Application {
    let groups = json!([{"role": "map", "count": count, "time": {"total_ms": time}, "counters": {"SPILLED_RECORDS": 5}}]);
    let history = Job::succeeded(&groups).queue(&queue.map_or(Value::Null, Value::from)).history();
    json::parse(ByteWindow::new(history.as_bytes())).applications.remove(0)
}

fn found<'e>(evaluation: &'e Evaluation, rule: &str) -> Option<&'e Finding> {
    evaluation.findings.iter().find(|finding| finding.rule == rule)
}

const LONG: &str = "\
rule: etl-long
over: map
values:
  run_time: max(task.run_time)
thresholds:
  run_time: {rising: [1min, 2min, 3min, 4min]}
message: \"the longest map runs {run_time}\"
";

#[test]
fn mistakes_are_told_all_at_once_with_their_places() {
    let text = "\
rule: Etl_Small
title: [a, list]
over: mapp
values:
  gc: sum(task.gc_tme)
  ratio: gc / run_time
  run_time: sum(task.run_time) + sum(task.input_bytes)
  slow: task.run_time > time(\"5 bananas\")
  mixed: sum(task.run_time + attempt.run_time)
  nested: sum(task.run_time > mean(task.run_time))
  text: \"app.queue == 5 && app.nme.startWith(\\\"a\\\")\"
  walk: task.exists(t, t.run_time > 5)
  half: 5min / 2
  folded: >
    gc / gc
      + gc / gd
  time: known(app.queue) ? gc : app.queue
  squared: gc * gc
  pattern: app.name.matches(\"(\")
  avrg: avg(task.run_time)
  In: 5
thresholds:
  gc: {rising: [1MB, 2MB, 3MB, 4MB]}
  ratoi: {rising: [1, 2, 3, 4]}
  text: {rising: [1, 2, 3, 4]}
  slow: [1, 2, 3, 4]
  squared: {rising: [1, 2, 3, 4]}
severity: mean(gc, ratio)
message: \"spent {gc in collection and {squared}\"
advise:
  - never
examples:
  - values: {gc: 5MB, unheard: 3}
    severity: bad
  - severity: none
";
    let (_, problems) = RuleSet::read(&[file(text)]);
    let lines: Vec<String> = problems.iter().map(ToString::to_string).collect();
    insta::with_settings!({ snapshot_path => "../../snapshots" }, {
        insta::assert_snapshot!("defined_mistakes", lines.join("\n"));
    });
}

#[test]
fn a_rule_is_judged_and_reported_like_the_built_in_ones() {
    let evaluation = rules(LONG).evaluate(&maps(3, 150_000, None));
    let finding = found(&evaluation, "etl-long").unwrap();
    assert_eq!(finding.severity, Severity::Moderate);
    assert_eq!(finding.score, 6);
    assert_eq!(finding.message, "the longest map runs 2m 30s (moderate from 2m)");
    assert_eq!(finding.thresholds[0].key, "run_time_ms");
    let evidence: Vec<(&str, String)> =
        finding.evidence.iter().map(|(key, m)| (key.as_ref(), m.to_string())).collect();
    assert_eq!(evidence, [("run_time_ms", "2m 30s".to_owned())]);
}

#[test]
fn later_documents_change_what_they_name() {
    let layers = "\
---
rule: etl-long
for: {queue: adhoc}
thresholds: {run_time: [1s, 1s, 1s, 1s]}
message: \"too long for ad-hoc work: {run_time}\"
---
rule: etl-*
for: {queue: night}
enabled: false
";
    let rules = rules(&[LONG, layers].concat());
    let severity =
        |queue| found(&rules.evaluate(&maps(1, 150_000, queue)), "etl-long").map(|finding| finding.severity);
    assert_eq!(severity(None), Some(Severity::Moderate));
    assert_eq!(severity(Some("adhoc")), Some(Severity::Critical));
    assert_eq!(severity(Some("night")), None);
    let scoped = rules.evaluate(&maps(1, 1, Some("adhoc")));
    assert!(
        found(&scoped, "etl-long").unwrap().message.starts_with("too long for ad-hoc work: 1 ms (harmless")
    );
}

#[test]
fn a_rule_for_some_applications_is_for_them_only() {
    let rules = rules(&LONG.replace("over: map", "for: {queue: etl}\nover: map"));
    assert!(found(&rules.evaluate(&maps(1, 150_000, Some("etl"))), "etl-long").is_some());
    assert!(found(&rules.evaluate(&maps(1, 150_000, Some("other"))), "etl-long").is_none());
    assert!(rules.infos().iter().any(|info| info.id == "etl-long"));
}

#[test]
fn what_is_unknown_is_told() {
    let app = maps(2, 1000, None);
    let reason = |values: &str, when: &str| {
        let text = format!(
            "rule: r\nover: map\n{when}values:\n  x: {values}\nthresholds:\n  x: {{rising: [1, 2, 3, 4]}}\nmessage: m\n"
        );
        let evaluation = rules(&text).evaluate(&app);
        let reason = evaluation.not_evaluated.into_iter().find(|reason| reason.rule == "r");
        reason.map(|reason| reason.reason).unwrap_or_default()
    };
    assert_eq!(reason("sum(task.map_output_records)", ""), "no map reports MAP_OUTPUT_RECORDS");
    assert_eq!(reason("count(attempt.speculative)", ""), "no map reports speculative");
    assert_eq!(reason("conf_number(\"a.b\")", ""), "the configuration does not tell a.b");
    assert_eq!(reason("sum(task.spilled_records - 5) / 0", ""), "x has no value here");
    assert_eq!(reason("'1'", "when: app.queue == \"a\"\n"), "the history does not tell app.queue");
    assert_eq!(reason("sum(task.spilled_records, task.run_time > 0) / 0", ""), "");
}

#[test]
fn a_rule_that_takes_too_long_is_not_evaluated() {
    let condition = vec!["task.node.contains(\"a\")"; 60].join("||");
    let mut text = "rule: slow\nover: map\nvalues:\n".to_owned();
    for number in 0..100 {
        text += &["  v", &number.to_string(), ": count(", &condition, ")\n"].concat();
    }
    text += "thresholds:\n  v0: {rising: [1, 2, 3, 4]}\nmessage: m\n";
    let evaluation = rules(&text).evaluate(&maps(400, 1, None));
    let reason = evaluation.not_evaluated.iter().find(|reason| reason.rule == "slow").unwrap();
    assert!(reason.reason.starts_with("too expensive: 400 tasks"), "{}", reason.reason);
    assert!(found(&rules(&text).evaluate(&maps(4, 1, None)), "slow").is_some());
}

#[test]
fn long_names_are_cut() {
    let mut app = maps(1, 1, None);
    app.name = Some("<b>é".repeat(3000));
    let text = "rule: r\nvalues:\n  n: app.name\n  one: \"1\"\nthresholds:\n  one: {rising: [1, 2, 3, 4]}\nmessage: \"{n} {app.name}\"\n";
    let evaluation = rules(text).evaluate(&app);
    let finding = found(&evaluation, "r").unwrap();
    assert!(finding.message.chars().count() < 450);
    let Measure::Text(name) = &finding.evidence[0].1 else { panic!("{:?}", finding.evidence) };
    assert_eq!(name.chars().count(), 201);
}
