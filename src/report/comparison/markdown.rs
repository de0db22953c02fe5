//! The comparison at the top of a comment on a pull request.

use super::super::markdown::text;
use super::words::{cost, counted, head};
use crate::baseline::{Comparison, JobComparison, MetricVerdict};

/// Characters of names.
const NAME: usize = 160;
/// Characters of a sentence.
const SENTENCE: usize = 600;
/// How many lines are written: what is worst comes first.
const LINES: usize = 40;

/// What is new or worse, job by job.
pub(in crate::report) fn section(comparison: &Comparison) -> String {
    let verdict = match (comparison.updated, comparison.unfinished, comparison.failed) {
        (true, ..) => "The baseline was updated".to_owned(),
        (false, Some(why), _) => format!("**Not passed**, the run failed ({why}); against the baseline"),
        (false, None, true) => "**Failed** against the baseline".to_owned(),
        (false, None, false) => "Passed against the baseline".to_owned(),
    };
    let mut section = format!("{verdict}: {}.\n\n", counted(comparison.counts));
    let mut lines: Vec<String> = comparison
        .expired
        .iter()
        .map(|place| format!("- **EXPIRED** suppression: {}\n", text(place, SENTENCE)))
        .collect();
    lines.extend(comparison.jobs.iter().flat_map(job));
    let left_out = lines.len().saturating_sub(LINES);
    section.extend(lines.into_iter().take(LINES));
    let more = if left_out > 0 { format!("- … and {left_out} more\n") } else { String::new() };
    section + &more + "\n"
}

fn job(job: &JobComparison) -> Vec<String> {
    let key = text(job.key.as_str(), NAME);
    let findings = job.findings.iter().filter(|found| found.change.is_bad()).map(|found| {
        let change = found.change.name().to_uppercase();
        let message = text(&found.finding.message, SENTENCE);
        format!("- **{change}** {key}: {}: {message}\n", text(&head(found), SENTENCE))
    });
    let regressed = job.metrics.iter().filter(|metric| metric.verdict == MetricVerdict::Regressed);
    let costs = regressed.map(|metric| format!("- **WORSE** {key}: {}\n", text(&cost(metric), SENTENCE)));
    findings.chain(costs).collect()
}
