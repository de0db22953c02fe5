//! The table of changes against a baseline.

use crate::comparison::words::{cause, cost, in_one_line, why_absent};
use elephant_engine::results::{Change, Comparison, MetricVerdict};

/// A row of the table: the job, the kind of change, and a description.
pub(super) type Row<'a> = (&'a str, &'static str, String);

/// All changes by job: troubles, costs, absent findings, incomplete runs.
pub(super) fn changes(comparison: &Comparison) -> Vec<Row<'_>> {
    let mut rows = Vec::new();
    for job in &comparison.jobs {
        let key = job.key.as_str();
        let troubles = job.troubles.iter().filter(|trouble| trouble.change != Change::Unchanged);
        rows.extend(troubles.map(|trouble| {
            let what = in_one_line(trouble);
            let what = if trouble.change.is_bad() { format!("{what}: {}", cause(trouble)) } else { what };
            (key, trouble.change.name(), what)
        }));
        let metrics = job.metrics.iter();
        let metrics =
            metrics.filter(|metric| metric.verdict != MetricVerdict::Steady || metric.passes_by_growth());
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
