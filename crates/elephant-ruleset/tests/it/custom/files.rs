//! Files that define rules: errors, layers and resource limits.

use elephant_base::limits::Limits;
use elephant_base::severity::Severity;
use elephant_input::window::ByteWindow;
use elephant_model::model::Application;
use elephant_model::model::counters::{Counter, CounterSet, OtherCounter};
use elephant_model::model::table::TaskKind;
use elephant_parse::jhist::json as histories;
use elephant_parse::{OtherCounters, ToldByName};
use elephant_rule::finding::{Finding, Measure};
use elephant_ruleset::{Evaluation, RuleFile, RuleSet};
use serde_json::{Value, json};

use elephant_sample as sample;
use elephant_testing as common;
use elephant_testing::history::Job;

fn file(text: &str) -> RuleFile {
    RuleFile { name: "etl.yaml".to_owned(), text: text.to_owned() }
}

fn rules(text: &str) -> RuleSet {
    RuleSet::with_files(elephant_heuristics::BUILT_IN, &[file(text)])
        .unwrap_or_else(|error| panic!("{error}"))
}

/// Maps by number and run time in milliseconds, in a queue.
fn maps(count: u64, time: i64, queue: Option<&str>) -> Application {
    let groups = json!([{"role": "map", "count": count, "time": {"total_ms": time}, "counters": {"SPILLED_RECORDS": 5}}]);
    let history = Job::succeeded(&groups).queue(&queue.map_or(Value::Null, Value::from)).history();
    histories::parse(ByteWindow::new(history.as_bytes())).applications.remove(0)
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
fn all_errors_are_reported_at_once_with_positions() {
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
  time: 'known(app.queue) ? gc : app.queue'
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
    let (_, problems) = RuleSet::read(elephant_heuristics::BUILT_IN, &[file(text)]);
    let lines: Vec<String> = problems.iter().map(ToString::to_string).collect();
    common::with_snapshots("rules", || {
        insta::assert_snapshot!("custom-mistakes", lines.join("\n"));
    });
}

#[test]
fn custom_rule_is_judged_and_reported_like_built_in_rules() {
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
fn later_documents_change_the_keys_they_set() {
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
        found(&scoped, "etl-long")
            .unwrap()
            .message
            .starts_with("too long for ad-hoc work: 1 ms (not reached")
    );
}

#[test]
fn scoped_rule_applies_only_to_its_applications() {
    let rules = rules(&LONG.replace("over: map", "for: {queue: etl}\nover: map"));
    assert!(found(&rules.evaluate(&maps(1, 150_000, Some("etl"))), "etl-long").is_some());
    assert!(found(&rules.evaluate(&maps(1, 150_000, Some("other"))), "etl-long").is_none());
    assert!(rules.infos().iter().any(|info| info.id == "etl-long"));
}

#[test]
fn unknown_values_are_reported() {
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
    assert_eq!(reason("count(attempt.executor == '1')", ""), "no map reports executor");
    assert_eq!(reason("conf_number(\"a.b\")", ""), "there is no configuration, so a.b is unknown");
    assert_eq!(reason("sum(task.spilled_records - 5) / 0", ""), "x divides by zero");
    assert_eq!(reason("5 % (tasks.total - tasks.total)", ""), "x divides by zero");
    assert_eq!(reason("sqrt(0 - 5)", ""), "x is undefined here");
    assert_eq!(reason("1e300 * 1e300", ""), "x is undefined here");
    assert_eq!(reason("'1'", "when: app.queue == \"a\"\n"), "the history does not contain app.queue");
    assert_eq!(reason("sum(task.spilled_records, task.run_time > 0) / 0", ""), "x divides by zero");
    assert_eq!(reason("mean(task.spilled_records / (task.spilled_records - 5))", ""), "x divides by zero");
}

#[test]
fn rule_over_its_step_limit_is_not_evaluated() {
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
fn long_names_are_truncated() {
    let mut app = maps(1, 1, None);
    app.name = Some("<b>é".repeat(3000));
    let text = "rule: r\nvalues:\n  n: app.name\n  one: \"1\"\nthresholds:\n  one: {rising: [1, 2, 3, 4]}\nmessage: \"{n} {app.name}\"\n";
    let evaluation = rules(text).evaluate(&app);
    let finding = found(&evaluation, "r").unwrap();
    assert!(finding.message.chars().count() < 450);
    let Measure::Text(name) = &finding.evidence[0].1 else { panic!("{:?}", finding.evidence) };
    assert_eq!(name.chars().count(), 201);
}

/// The value of an expression on three maps, as a message shows it.
fn shown(expression: &str) -> String {
    let text = format!(
        "rule: r\nover: map\nvalues:\n  x: >-\n    {expression}\n  one: \"1\"\nthresholds:\n  one: {{rising: never}}\nmessage: \"{{x}}\"\n"
    );
    let groups = json!([
        {"role": "map", "count": 2, "time": {"total_ms": 60_000}, "counters": {"HDFS_BYTES_READ": 1_048_576, "S3A_BYTES_READ": 0, "ROWS": 7}},
        {"role": "map", "count": 1, "time": {"total_ms": 240_000}, "counters": {"HDFS_BYTES_READ": 104_857_600}},
        {"role": "map", "count": 1, "time": null, "counters": null},
    ]);
    let history = Job::succeeded(&groups).queue(&json!("root.etl")).history();
    let app = histories::parse(ByteWindow::new(history.as_bytes())).applications.remove(0);
    let evaluation = rules(&text).evaluate(&app);
    let message = &found(&evaluation, "r").unwrap_or_else(|| panic!("{expression}: {evaluation:?}")).message;
    message.split(" (not reached").next().unwrap().to_owned()
}

#[test]
fn expressions_compute_with_units() {
    for (expression, value) in [
        ("1 / 2", "0.5"),
        ("7 % 4 - 5", "-2"),
        ("size(\"64MB\") / time(\"2s\")", "32 MiB/s"),
        ("size(\"64MB\") / (size(\"32MB\") / time(\"1s\"))", "2 s"),
        ("time(\"90s\") * 2 / 3", "1m"),
        ("in_mb(size(\"1GB\")) + in_minutes(time(\"1h\"))", "1084"),
        ("trunc(7 / 2) + floor(-0.5) + ceil(0.5) + round(2.5)", "6"),
        ("sqrt(16) + abs(-2) + min(3, 1, 2) + max(1, 2)", "9"),
        ("5 / 0", "unknown"),
        ("coalesce(5 / 0, 3)", "3"),
        ("0 / 0", "unknown"),
        ("null", "unknown"),
        ("5 / 0 - 5 / 0", "unknown"),
        ("tasks.total", "4"),
        ("sum(task.run_time)", "6m"),
        ("mean(task.input_bytes)", "34 MiB"),
        ("median(task.run_time)", "1m"),
        ("percentile(task.run_time, 70)", "4m"),
        ("stddev(task.run_time) / stddev(task.run_time)", "1"),
        ("max(task.run_time, task.input_bytes < size(\"2MB\"))", "1m"),
        ("sum(task.s3a_bytes_read)", "0 B"),
        ("sum(task.spilled_records)", "unknown"),
        ("count(task)", "3"),
        ("count(task.run_time > 2 * time(\"1min\"))", "1"),
        ("count(task.s3a_bytes_read == 0)", "2"),
        ("count(task.spilled_records > 0)", "unknown"),
        ("count(attempt.outcome == \"succeeded\")", "3"),
        ("split(task.input_bytes).large.mean", "100 MiB"),
        ("split(task.input_bytes).small.count", "2"),
        ("split(task.input_bytes).deviation", "99"),
        ("app.queue", "root.etl"),
        ("app.queue.startsWith(\"root.\") && app.queue.matches(\"e.l$\")", "true"),
        ("app.queue in [\"a\", \"root.etl\"] ? 1 : 2", "1"),
        ("known(app.user) && !known(app.engine_version)", "true"),
        ("false && app.engine_version == \"1\"", "false"),
        ("app.engine_version == \"1\" || true", "true"),
        ("app.engine_version == \"1\" || false", "unknown"),
        ("coalesce(conf_number(\"a.b\"), conf_number(\"c.d\"), 3)", "3"),
        ("app.name", "oracle"),
        ("app.uberized ? 1 : 2", "unknown"),
        ("sum(max(task.run_time, time(\"2min\")))", "8m"),
    ] {
        assert_eq!(shown(expression), value, "{expression}");
    }
}

#[test]
fn submission_counters_and_files_have_names() {
    let group = "org.apache.hadoop.mapreduce.TaskCounter";
    for (expression, value) in [
        ("app.submit_hour", "2"),
        ("app.submit_time", "2h 40m"),
        ("app.submit_weekday", "friday"),
        ("app.submit_weekday in [\"saturday\", \"sunday\"] || app.submit_hour < 6", "true"),
        ("app.files_per_map", "unknown"),
        ("sum(task.counter(\"GROUP\", \"ROWS\"))", "14"),
        ("mean(attempt.counter(\"GROUP\", \"ROWS\"))", "7"),
        ("count(task.counter(\"GROUP\", \"ROWS\") >= 0)", "2"),
        ("max(task.counter(\"GROUP\", \"ROWS\"), task.run_time > time(\"2min\"))", "unknown"),
        ("sum(task.counter(\"other.Group\", \"ROWS\"))", "unknown"),
        (
            "sum(task.counter(\"org.apache.hadoop.mapreduce.FileSystemCounter\", \"HDFS_BYTES_READ\"))",
            "102 MiB",
        ),
        ("counter(\"GROUP\", \"ROWS\")", "unknown"),
    ] {
        assert_eq!(shown(&expression.replace("GROUP", group)), value, "{expression}");
    }
}

#[test]
fn counters_without_a_type_are_kept_only_for_rules_that_name_them() {
    let groups = json!([{"role": "map", "count": 2, "time": {"total_ms": 5}, "counters": {"ROWS": 7}}]);
    let history = Job::succeeded(&groups).history();
    let rows = |others| {
        let window = ByteWindow::new(history.as_bytes());
        let app = histories::parse_within(window, &Limits::default(), others, ToldByName::default())
            .applications
            .remove(0);
        let symbols = ["org.apache.hadoop.mapreduce.TaskCounter", "ROWS"].map(|text| app.strings.find(text));
        let attempts = &app.group(TaskKind::Map).unwrap().attempts;
        attempts.other_counter(1, symbols[0].unwrap(), symbols[1].unwrap())
    };
    assert_eq!((rows(OtherCounters::Kept), rows(OtherCounters::Dropped)), (Some(7), None));
    let reading = |value: &str| {
        let rule = format!(
            "rule: r\nvalues:\n  x: '{value}'\nthresholds:\n  x: {{rising: [1, 2, 3, 4]}}\nmessage: m\n"
        );
        rules(&rule).names_counters()
    };
    assert!(reading("max(task.counter(\"a\", \"b\"), task.run_time > 0)"));
    // The totals are kept in any case.
    assert!(!reading("counter(\"a\", \"b\")") && !reading("max(task.run_time) / time(\"1s\")"));
    let scoped = "---\nrule: r\nfor: {user: a}\nvalues: {x: 'sum(task.counter(\"a\", \"b\"))'}\n";
    let base = "rule: r\nvalues: {x: '1'}\nthresholds: {x: {rising: [1, 2, 3, 4]}}\nmessage: m\n";
    assert!(rules(&format!("{base}{scoped}")).names_counters());
}

#[test]
fn totals_of_counters_are_those_of_the_history() {
    let group = "org.apache.hadoop.mapreduce.TaskCounter";
    let mut app = maps(2, 60_000, None);
    let [of_group, name] = [group, "ROWS"].map(|text| app.strings.intern(text).unwrap());
    let mut set = CounterSet::default();
    set.others.push(OtherCounter { group: of_group, name, value: 40 });
    set.record(Counter::GcTimeMillis, 30_000, true);
    (app.counters.map, app.counters.total) = (Some(set), None);
    let judged = |over: &str, value: &str| {
        let text = format!(
            "rule: r\nover: {over}\nvalues:\n  x: '{value}'\n  y: '1'\nthresholds:\n  y: {{rising: never}}\nmessage: \"{{x}}\"\n"
        );
        found(&rules(&text).evaluate(&app), "r").unwrap().message.replace(" (not reached: )", "")
    };
    let rows = format!("counter(\"{group}\", \"ROWS\")");
    assert!(judged("map", &rows).starts_with("40"), "{}", judged("map", &rows));
    assert!(judged("map", &format!("counter(\"{group}\", \"GC_TIME_MILLIS\") / 2")).starts_with("15 s"));
    assert!(judged("application", &rows).starts_with("unknown"));
}

#[test]
fn settings_have_their_defaults() {
    let judged = |app: &Application, value: &str| {
        let text = format!(
            "rule: r\nvalues:\n  x: '{value}'\n  y: '1'\nthresholds:\n  y: {{rising: [1, 2, 3, 4]}}\nmessage: \"{{x}}\"\n"
        );
        found(&rules(&text).evaluate(app), "r").unwrap().message.split(" (").next().unwrap().to_owned()
    };
    let mut app = sample::app(&[("spark.executor.memory", "4g")]);
    app.engine_version = Some("3.5.1".to_owned());
    assert_eq!(judged(&app, "conf_bytes(\"spark.executor.memory\")"), "4 GiB");
    assert_eq!(judged(&app, "conf_bytes(\"spark.driver.memory\")"), "1 GiB");
    assert_eq!(judged(&app, "conf_number(\"spark.sql.shuffle.partitions\")"), "200");
    assert_eq!(judged(&app, "conf_flag(\"spark.sql.adaptive.enabled\")"), "true");
    assert_eq!(judged(&app, "is_set(\"spark.sql.adaptive.enabled\")"), "false");
    assert_eq!(judged(&app, "is_set(\"spark.executor.memory\")"), "true");
    assert_eq!(judged(&app, "conf(\"my.own\")"), "unknown");
    app.engine_version = None;
    assert_eq!(judged(&app, "conf_flag(\"spark.sql.adaptive.enabled\")"), "unknown");
    let reason = "spark.sql.adaptive.enabled is not set, and its default is not known";
    let text = "rule: r\nwhen: conf_flag(\"spark.sql.adaptive.enabled\")\nvalues: {x: '1'}\nthresholds: {x: {rising: [1, 2, 3, 4]}}\nmessage: m\n";
    let evaluation = rules(text).evaluate(&app);
    assert!(evaluation.not_evaluated.iter().any(|known| known.rule == "r" && known.reason == reason));
}

#[test]
fn longest_chains_fit_on_the_stack() {
    let queue = format!("{}1 < 2", "app.queue == 'x' || ".repeat(45));
    assert_eq!(shown(&queue), "true");
    assert_eq!(shown(&vec!["1"; 101].join("+")), "101");
    assert_eq!(shown(&format!("{}1{}", "(".repeat(10), ")".repeat(10))), "1");
    assert_eq!(shown(&format!("{}2", "false?1:".repeat(24))), "2");
}

#[test]
fn largest_expressions_are_evaluated() {
    assert_eq!(shown(&vec!["1"; 128].join("+")), "128");
    assert_eq!(shown(&format!("{}5{}", "(1 + ".repeat(31), ")".repeat(31))), "36");
    assert_eq!(shown(&format!("{}5{}", "abs(-".repeat(31), ")".repeat(31))), "5");
    assert_eq!(shown(&format!("{}1", "false ? 2 : ".repeat(31))), "1");
    assert_eq!(shown(&vec!["true"; 300].join("&&")), "true");
}
