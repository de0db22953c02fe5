//! The table of changes against a baseline.

use crate::comparison::words::{cost, head, why_absent};
use elephant_engine::results::{Change, Comparison, MetricVerdict};

/// A row of the table: the job, the kind of change, and a description.
pub(super) type Row<'a> = (&'a str, &'static str, String);

/// All changes by job: findings, costs, absent findings, incomplete runs.
pub(super) fn changes(comparison: &Comparison) -> Vec<Row<'_>> {
    let mut rows = Vec::new();
    for job in &comparison.jobs {
        let key = job.key.as_str();
        let findings = job.findings.iter().filter(|found| found.change != Change::Unchanged);
        rows.extend(findings.map(|found| {
            let what = format!("{}: {}", head(found), found.finding.message);
            (key, found.change.name(), if found.change.is_bad() { what } else { head(found) })
        }));
        let metrics = job.metrics.iter().filter(|metric| metric.verdict != MetricVerdict::Steady);
        rows.extend(metrics.map(|metric| (key, metric.verdict.name(), cost(metric))));
        rows.extend(job.absent.iter().map(|absent| {
            let why = why_absent(&absent.absence).map(|why| format!(": {why}")).unwrap_or_default();
            let what = format!("{} ({}), {}{why}", absent.rule, absent.subject, absent.severity);
            (key, absent.absence.name(), what)
        }));
        rows.extend(job.incomplete.iter().map(|run| {
            let how = if run.judged { "judged in part" } else { "not-judged" };
            (key, how, format!("{}: {}", run.application, run.reason))
        }));
    }
    rows
}
