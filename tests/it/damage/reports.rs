//! Parts of a report on one application, for tests that change its history.

use elephant_rs::engine::{Options, analyze};
use elephant_rs::limits::Limits;
use elephant_rs::rules::RuleSet;
use elephant_rs::severity::Severity;
use serde_json::Value;

/// The JSON report on a file with this name and text, including findings of severity none.
pub(super) fn report_within(limits: Limits, name: &str, text: impl AsRef<[u8]>) -> Value {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    std::fs::write(&path, text.as_ref()).unwrap();
    let options = Options { min_severity: Severity::None, details: true, limits, ..Options::default() };
    let mut json = Vec::new();
    let report = analyze(&[path], &RuleSet::new(elephant_rs::rules::BUILT_IN).unwrap(), options);
    elephant_rs::report::write_json(&report, &mut json).unwrap();
    serde_json::from_slice(&json).unwrap()
}

/// The report on an event log.
pub(super) fn spark(text: &str) -> Value {
    report_within(Limits::default(), "application_1700000000000_0001", text)
}

/// The report on a MapReduce job history.
pub(super) fn mapreduce(text: &str) -> Value {
    report_within(Limits::default(), "job_1500000000000_0001.jhist", text)
}

/// The only application of a report.
pub(super) fn app(report: &Value) -> &Value {
    assert_eq!(report["applications"].as_array().unwrap().len(), 1, "{report:#}");
    &report["applications"][0]
}

/// Problems as "code: message", in report order.
pub(super) fn problems(report: &Value) -> Vec<String> {
    let text = |problem: &Value, key: &str| problem[key].as_str().unwrap().to_owned();
    let all = report["problems"].as_array().unwrap();
    all.iter().map(|problem| text(problem, "code") + ": " + &text(problem, "message")).collect()
}

/// Why a rule was not evaluated.
pub(super) fn not_evaluated(app: &Value, rule: &str) -> Option<String> {
    let all = app["not_evaluated"].as_array().unwrap();
    all.iter().find(|entry| entry["rule"] == rule).map(|entry| entry["reason"].as_str().unwrap().to_owned())
}

/// The message and score of a rule's finding.
pub(super) fn found(app: &Value, rule: &str) -> Option<(String, u64)> {
    let all = app["findings"].as_array().unwrap();
    let finding = all.iter().find(|entry| entry["rule"] == rule)?;
    Some((finding["message"].as_str().unwrap().to_owned(), finding["score"].as_u64().unwrap()))
}

/// The text with the first occurrence of `old` replaced; fails if there is none.
pub(super) fn replaced(text: &str, old: &str, new: &str) -> String {
    assert!(text.contains(old), "{old}");
    text.replacen(old, new, 1)
}
