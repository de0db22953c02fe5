//! The comparison with a baseline, at the top of a pull request comment.

use super::super::markdown::text;
use super::words::{
    UNDECIDED_HELP, cost, counted, head, left_out, missing_jobs, unjudged_summary, why_absent,
};
use elephant_engine::results::{Absence, Change, Comparison, JobComparison, MetricVerdict};

/// Maximum number of characters of a name.
const NAME: usize = 160;
/// Maximum number of characters of a sentence.
const SENTENCE: usize = 600;
/// Maximum number of lines. The worst come first.
const LINES: usize = 40;

/// The verdict, and what is new, worse or not judged by job.
pub(crate) fn section(comparison: &Comparison) -> String {
    let verdict = match (comparison.updated, comparison.unfinished) {
        (true, _) => match left_out(comparison.counts) {
            None => "The baseline was updated".to_owned(),
            Some(rest) => format!("The baseline was updated, except for {rest}"),
        },
        (false, Some(why)) => format!("**Not passed** against the baseline, because the run failed ({why})"),
        (false, None) if comparison.failed => "**Failed** against the baseline".to_owned(),
        (false, None) if comparison.undecided => {
            format!("**Not passed** against the baseline ({UNDECIDED_HELP})")
        }
        (false, None) if unjudged_summary(comparison.counts).is_some() => {
            "Passed against the baseline as far as it could be judged".to_owned()
        }
        (false, None) => "Passed against the baseline".to_owned(),
    };
    let mut section = format!("{verdict}: {}.\n\n", counted(comparison.counts));
    if let Some(missing) = missing_jobs(comparison) {
        let failed = if comparison.requires_all { "**FAILED** " } else { "" };
        section.extend(["- ", failed, &*text(&missing, SENTENCE), "\n"]);
    }
    let mut lines: Vec<String> = comparison
        .expired
        .iter()
        .map(|place| format!("- **EXPIRED** suppression: {}\n", text(place, SENTENCE)))
        .collect();
    lines.extend(comparison.jobs.iter().flat_map(job));
    lines.extend(comparison.jobs.iter().flat_map(not_judged));
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

/// Runs and findings of the job that could not be judged, with the reason.
fn not_judged(job: &JobComparison) -> Vec<String> {
    let key = text(job.key.as_str(), NAME);
    let runs = job.incomplete.iter().map(|run| {
        let (id, reason) = (text(&run.application, NAME), text(&run.reason, SENTENCE));
        let how = if run.judged { "judged in part, without costs" } else { "**UNJUDGED**, the whole run" };
        format!("- {key}: {id}: {how}: {reason}\n")
    });
    let line = |what: &str| format!("- **UNJUDGED** {key}: {}\n", text(what, SENTENCE));
    let found = job.findings.iter().filter(|found| found.change == Change::NotJudged);
    let absent = job.absent.iter().filter(|absent| matches!(absent.absence, Absence::NotJudged(_)));
    let absent = absent.map(|absent| {
        let why = why_absent(&absent.absence).unwrap_or_default();
        format!("{} ({}), was {}: {why}", absent.rule, absent.subject, absent.severity)
    });
    runs.chain(found.map(|found| line(&head(found)))).chain(absent.map(|what| line(&what))).collect()
}
