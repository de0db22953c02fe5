//! Targets for all other user input: rules, expressions, baselines, reports and node metrics.

use std::path::Path;

use elephant_analysis::node_metrics::{self, NodeMetric};
use elephant_base::units::Timestamp;
use elephant_engine::baseline::{Baseline, Tolerance, compare};
use elephant_engine::diff::{self, Side};
use elephant_report::{DiffFormat, TextOptions, write_diff};
use elephant_rule::params::yaml;
use elephant_ruleset::{Importance, RuleFile, RuleSet, import};

use super::same::assert_same;
use super::samples;

/// Reads a rule file, and evaluates it if it is valid.
pub fn rules(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let (_, errors) = yaml::documents(&text);
    let (set, problems) = read_rules(&text);
    let is_invalid = problems.iter().any(|problem| problem.importance == Importance::Error);
    assert!(errors.is_empty() || is_invalid, "invalid YAML was accepted: {errors:?}");
    for problem in &problems {
        let _ = problem.place();
    }
    if let Some(set) = set.filter(|_| !is_invalid) {
        judge_samples(&set);
    }
}

/// Evaluates a custom rule. The input lines are its expressions: subject, condition, two values, message.
pub fn expression(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let mut lines = text.split('\n');
    let mut next = || serde_json::Value::from(lines.next().unwrap_or_default()).to_string();
    let (over, when, first, second, message) = (next(), next(), next(), next(), next());
    let rule = format!(
        "rule: fuzzed\nover: {over}\nwhen: {when}\nvalues:\n  first: {first}\n  second: {second}\n\
         thresholds:\n  second: {{rising: [1, 2, 3, 4]}}\nmessage: {message}\n"
    );
    if let (Some(set), problems) = read_rules(&rule)
        && problems.iter().all(|problem| problem.importance != Importance::Error)
    {
        judge_samples(&set);
    }
}

/// Importing a `HeuristicConf.xml` must give a rule file without errors.
pub fn heuristic_conf(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    if let Ok(imported) = import::import(elephant_heuristics::BUILT_IN, &text) {
        let (_, problems) = read_rules(&imported.yaml);
        let error = problems.iter().find(|problem| problem.importance == Importance::Error);
        assert!(error.is_none(), "the rule file has an error: {error:?}\n{}", imported.yaml);
    }
}

/// A baseline that can be read can be written, and reads back the same.
pub fn baseline(bytes: &[u8]) {
    let path = Path::new("baseline.yaml");
    let text = String::from_utf8_lossy(bytes);
    let Ok(baseline) = Baseline::parse(path, &text) else { return };
    let written = baseline.to_yaml().expect("a baseline can be written");
    let again = Baseline::parse(path, &written).expect("the written baseline can be read");
    assert_same("written and read again", &baseline, &again);
    for report in samples::reports() {
        let _ = compare(report, &baseline, &Tolerance::default());
    }
}

/// A JSON report that can be read can be compared with others and with itself.
pub fn diff(bytes: &[u8]) {
    let Ok(side) = Side::parse(Path::new("report.json"), bytes) else { return };
    let options = diff::Options { all_configuration: true };
    for other in samples::sides().iter().chain([&side]) {
        let diff = diff::diff(&side, other, options);
        for format in [DiffFormat::Text, DiffFormat::Json, DiffFormat::Markdown] {
            let mut out = Vec::new();
            write_diff(&diff, format, TextOptions::default(), &mut out).expect("writing to memory succeeds");
            let out = String::from_utf8(out).expect("all formats are UTF-8");
            if format == DiffFormat::Json {
                serde_json::from_str::<serde_json::Value>(&out).expect("the output is JSON");
            }
        }
    }
}

/// Means are finite.
pub fn node_metrics(bytes: &[u8]) {
    let Ok(loaded) = node_metrics::parse(Path::new("node1.tsar"), bytes, node_metrics::Options::default())
    else {
        return;
    };
    let windows = [(0, i64::MAX), (1_795_255_260_000, 1_795_255_800_000), (i64::MIN, i64::MAX)];
    for node in loaded.metrics.nodes() {
        for metric in NodeMetric::ALL {
            for (start, finish) in
                windows.map(|(a, b)| (Timestamp::from_millis(a), Timestamp::from_millis(b)))
            {
                let mean = loaded.metrics.mean(node, metric, start, finish);
                assert!(mean.is_none_or(f64::is_finite), "{node} {metric:?}: {mean:?}");
            }
        }
    }
}

fn read_rules(text: &str) -> (Option<RuleSet>, Vec<elephant_ruleset::RuleProblem>) {
    RuleSet::read(
        elephant_heuristics::BUILT_IN,
        &[RuleFile { name: "rules.yaml".to_owned(), text: text.to_owned() }],
    )
}

fn judge_samples(set: &RuleSet) {
    for app in samples::applications() {
        let _ = set.infos();
        let _ = set.measure(app);
        let _ = set.evaluate(app);
    }
}
