//! Spark rules on memory, balance and run time, on recordings: planted problems are found; healthy runs have no
//! findings.

use elephant_rs::engine::{Options, analyze};
use elephant_rs::finding::Finding;
use elephant_rs::severity::Severity;
use elephant_sample::judge::rules;

const RULES: [&str; 7] = [
    "spark-peak-unified-memory",
    "spark-jvm-used-memory",
    "spark-executor-spill",
    "spark-driver-metrics",
    "spark-executor-load-balance",
    "spark-job-runtime",
    "spark-stage-runtime",
];

/// Cut-offs for failures that other rules judge by default.
const FAILURE_RATES: &str = "rule: spark-job-runtime
job_failure_rate: [10%, 30%, 50%, 50%]
---
rule: spark-stage-runtime
stage_failure_rate: [10%, 20%, 50%, 50%]
";

/// The findings of these rules in the logs of a shared folder or file; `None` if it is missing.
fn findings(path: &str, yaml: &str) -> Option<Vec<Finding>> {
    let path = elephant_testing::shared(path)?;
    let report = analyze(std::slice::from_ref(&path), &rules(&[], yaml), Options::default());
    assert!(!report.applications.is_empty(), "{}", path.display());
    let findings = report.applications.into_iter().flat_map(|app| app.findings);
    Some(findings.filter(|finding| RULES.contains(&finding.rule.as_ref())).collect())
}

fn worst(findings: &[Finding], rule: &str) -> Severity {
    let found = findings.iter().filter(|finding| finding.rule == rule);
    found.map(|finding| finding.raw_severity).max().unwrap_or_default()
}

#[test]
fn spill_is_found() {
    let folder = "corpus/spark-compressed/NVIDIA__spark-rapids-tools/qualification";
    for log in ["aqeshuffle_eventlog.zstd", "customshuffle_eventlog.zstd"] {
        let Some(findings) = findings(&format!("{folder}/{log}"), "") else { return };
        assert_eq!(worst(&findings, "spark-executor-spill"), Severity::Critical, "{log}");
    }
}

#[test]
fn failures_are_found_with_custom_cut_offs() {
    for version in ["2.4.8", "3.1.3", "3.5.9", "4.3.0"] {
        let Some(findings) = findings(&format!("runs/spark-{version}/failures"), FAILURE_RATES) else {
            return;
        };
        for rule in ["spark-job-runtime", "spark-stage-runtime"] {
            assert!(worst(&findings, rule) >= Severity::Moderate, "{version}: {findings:?}");
        }
    }
}

/// `spark-job-metrics` and `spark-stage-metrics` judge the failures; here only the lost time counts.
#[test]
fn failures_that_cost_little_time_are_low_by_default() {
    for version in ["2.4.8", "3.1.3", "3.5.9", "4.3.0"] {
        let Some(findings) = findings(&format!("runs/spark-{version}/failures"), "") else { return };
        assert!(findings.iter().all(|f| f.severity <= Severity::Low), "{version}: {findings:?}");
    }
}

#[test]
fn lost_executors_are_reported_for_their_stage() {
    let Some(findings) = findings("runs/spark-3.5.9/execkill", "") else { return };
    assert_eq!(worst(&findings, "spark-stage-runtime"), Severity::Low);
}

#[test]
fn healthy_applications_have_no_findings() {
    for path in
        ["3.5.9/healthy", "3.5.9/local", "3.5.9/cached", "3.5.9/sqlaqe", "3.5.9/dynalloc", "4.3.0/healthy"]
    {
        let Some(findings) = findings(&format!("runs/spark-{path}"), "") else { return };
        assert!(findings.is_empty(), "{path}: {findings:?}");
    }
}
