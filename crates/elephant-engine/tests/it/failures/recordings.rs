//! Root causes in recordings.

use elephant_engine::engine::{Options, analyze};
use elephant_model::diagnosis::FailureKind as Kind;
use elephant_rule::finding::Finding;
use elephant_ruleset::RuleSet;
use elephant_testing::shared;

/// The findings of a rule; `None` if the recording is missing.
fn found(path: &str, rule: &str) -> Option<Vec<Finding>> {
    let report =
        analyze(&[shared(path)?], &RuleSet::new(elephant_heuristics::BUILT_IN).unwrap(), Options::default());
    let found = report.applications.into_iter().flat_map(|app| app.findings);
    Some(found.filter(|finding| finding.rule == rule).collect())
}

fn kinds(findings: &[Finding]) -> Vec<Kind> {
    findings.iter().filter_map(|finding| finding.failure.as_ref()).map(|failure| failure.kind).collect()
}

#[test]
fn errors_of_python_behind_other_exceptions_are_found() {
    for version in ["2.4.8", "3.1.3", "3.5.9", "4.3.0"] {
        let Some(found) = found(&format!("runs/spark-{version}/failures"), "spark-stages-with-failed-tasks")
        else {
            return;
        };
        let kinds = kinds(&found);
        assert!(
            !kinds.is_empty() && kinds.iter().all(|kind| *kind == Kind::PythonError),
            "{version}: {kinds:?}"
        );
    }
    let found = found("runs/spark-3.5.9/failures", "spark-stages-with-failed-tasks").unwrap();
    let writing = found.iter().find(|finding| finding.subject.name() == "stage 4.0").unwrap();
    assert!(
        writing.message.contains("ZeroDivisionError: integer division or modulo by zero"),
        "{}",
        writing.message
    );
}

#[test]
fn the_exit_code_of_a_killed_executor_is_the_root_of_its_chain() {
    for rule in ["spark-stages-with-failed-tasks", "spark-job-metrics", "spark-stage-metrics"] {
        let Some(found) = found("runs/spark-3.5.9/execkill", rule) else { return };
        assert!(!found.is_empty(), "{rule}");
        for finding in found {
            let failure = finding.failure.unwrap();
            assert_eq!((failure.kind, failure.exit_code), (Kind::ContainerMemory, Some(137)), "{rule}");
        }
    }
}

#[test]
fn failed_jobs_of_mapreduce_have_a_root_cause() {
    for (path, kind) in [
        ("runs/hadoop-2.7.3/job-failed", Kind::UserCode),
        ("runs/hadoop-synthetic-avro-json/failed", Kind::HeapSpace),
        ("corpus/mr-jhist/twitter__hraven", Kind::TaskTimeout),
    ] {
        let Some(found) = found(path, "job-exception") else { return };
        assert_eq!(kinds(&found), [kind], "{path}");
    }
}

#[test]
fn failed_attempts_of_a_job_that_succeeds_have_causes_and_remedies() {
    let Some(found) = found("runs/hadoop-2.7.3/retries", "failed-attempts") else { return };
    let [finding] = found.as_slice() else { panic!("{found:?}") };
    assert!(finding.message.contains("java.io.IOException: bad record in split"), "{}", finding.message);
    assert!(finding.message.contains("Java heap space"), "{}", finding.message);
    let advice: Vec<&str> = finding.advice.iter().map(|advice| advice.text.as_str()).collect();
    assert!(advice.iter().any(|line| line.contains("-Xmx")), "{advice:?}");
}
