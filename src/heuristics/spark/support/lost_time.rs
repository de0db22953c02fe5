//! What failed attempts cost: the time that went into them.

use super::failures::{self, Ends};
use super::stage_text::cause;
use crate::heuristics::spark::percent;
use crate::model::Application;
use crate::model::spark::{JobResult, Spark, Stage, StageAttempt, StageStatus};
use crate::model::table::{Outcome, TaskGroup};
use crate::params::cutoffs::Ascending;
use crate::params::quantity::Ratio;
use crate::severity::Severity;
use crate::units::Millis;

/// Attempts of some tasks, and their time from launch to end.
#[derive(Debug, Clone, Copy, Default)]
pub(in crate::heuristics) struct Failures {
    pub(in crate::heuristics) ends: Ends,
    /// Of those that failed.
    pub(in crate::heuristics) lost: Millis,
    /// Of all whose end is known, whatever it was.
    pub(in crate::heuristics) spent: Millis,
}

impl Failures {
    pub(in crate::heuristics) fn of(group: &TaskGroup) -> Self {
        let attempts = &group.attempts;
        let mut failures = Self { ends: Ends::of(group), ..Self::default() };
        for row in 0..attempts.len() {
            let time = attempts.run_time(row).unwrap_or_default();
            failures.spent = failures.spent + time;
            if attempts.outcome(row) == Outcome::Failed {
                failures.lost = failures.lost + time;
            }
        }
        failures
    }

    /// Those of one stage attempt; none where the log shows no task of it.
    pub(in crate::heuristics) fn of_stage(app: &Application, stage: &Stage) -> Self {
        stage.group.and_then(|group| app.groups.get(group)).map(Self::of).unwrap_or_default()
    }

    pub(in crate::heuristics) fn add(&mut self, other: &Self) {
        self.ends.add(&other.ends);
        self.lost = self.lost + other.lost;
        self.spent = self.spent + other.spent;
    }

    /// Failed over failed and succeeded; 0 where there are neither.
    pub(in crate::heuristics) fn rate(&self) -> f64 {
        self.ends.failure_rate().unwrap_or_default()
    }

    /// What helps against the most frequent reason.
    pub(in crate::heuristics) fn advice(&self) -> Vec<String> {
        if self.ends.failed == 0 {
            return vec![
                "no attempt failed: raise the lowest cut-off of task_failure_rate above 0".to_owned(),
            ];
        }
        failures::advice(self.ends.main_reason())
    }
}

/// What a failure goes back to, in one line; `None` for nothing.
fn quoted(text: &str) -> Option<String> {
    Some(cause(text)).filter(|line| !line.is_empty())
}

/// Why something failed: what its failure goes back to, or, where the log's text ends before that, what the last failed
/// attempt of its stages says.
fn reason<'a>(
    app: &'a Application,
    stages: impl Iterator<Item = &'a Stage>,
    failure: Option<&str>,
) -> Option<String> {
    let line = failure.and_then(quoted);
    if line.as_ref().is_some_and(|line| !line.contains("Traceback (most recent call last)")) {
        return line;
    }
    let groups = stages.filter_map(|stage| app.groups.get(stage.group?));
    groups.filter_map(|group| last_message(app, group)).last().or(line)
}

fn last_message(app: &Application, group: &TaskGroup) -> Option<String> {
    let failed = group.attempts.diagnostics().iter().filter_map(|(row, text)| {
        let row = usize::try_from(*row).ok()?;
        (group.attempts.outcome(row) == Outcome::Failed).then_some(*text)
    });
    failed.filter_map(|text| quoted(app.strings.get(text)?)).next_back()
}

/// So many failed jobs are asked for their reason; a log may have a million that do not tell.
const LOOKED_AT: usize = 100;

/// Why the first failed job failed that says so.
pub(in crate::heuristics) fn reason_of_job<'a>(
    app: &'a Application,
    spark: &'a Spark,
) -> Option<(u32, String)> {
    let failed = spark.jobs.iter().filter(|job| job.result == Some(JobResult::Failed));
    failed.take(LOOKED_AT).find_map(|job| {
        let ran = |stage: &&Stage| {
            stage.status == StageStatus::Failed && job.stages.binary_search(&stage.id.stage).is_ok()
        };
        Some((job.id, reason(app, spark.stages.iter().filter(ran), job.failure.as_deref())?))
    })
}

/// Why the first failed stage failed that says so.
pub(in crate::heuristics) fn reason_of_stage<'a>(
    app: &'a Application,
    spark: &'a Spark,
) -> Option<(StageAttempt, String)> {
    let mut failed = spark.stages.iter().filter(|stage| stage.failure.is_some());
    failed.find_map(|stage| Some((stage.id, reason(app, std::iter::once(stage), stage.failure.as_deref())?)))
}

/// The limit that a rate passed or stayed below, in brackets; nothing where no rate ever does.
pub(in crate::heuristics) fn in_brackets(cutoffs: &Ascending<Ratio>, severity: Severity) -> String {
    let never = severity == Severity::None && cutoffs.values().is_some_and(|[low, ..]| low.is_infinite());
    if never { String::new() } else { format!(" ({})", cutoffs.describe_in(severity, percent)) }
}

/// The share of all task time that something took, to follow that time.
pub(in crate::heuristics) fn of_all(share: f64) -> String {
    if share.is_finite() { format!(", {} of all task time", percent(share)) } else { String::new() }
}

#[cfg(test)]
mod tests {
    use super::super::sample;
    use super::*;

    #[test]
    fn killed_attempts_are_no_failures() {
        let mut app = sample::app(&[]);
        let attempts = [
            (Outcome::Succeeded, 10),
            (Outcome::Failed, 5),
            (Outcome::Killed, 7),
            (Outcome::Failed, 1),
            (Outcome::Unfinished, -1),
        ];
        sample::stage(&mut app, 0, &attempts);
        let failures = Failures::of(&app.groups[0]);
        assert_eq!((failures.ends.succeeded, failures.ends.failed), (1, 2));
        assert_eq!((failures.lost, failures.spent), (Millis::new(6), Millis::new(23)));
        assert!((failures.rate() - 2.0 / 3.0).abs() < 1e-12);
        assert!(Failures::default().rate() < 1e-12);
    }

    #[test]
    fn quotes_are_one_short_line() {
        assert_eq!(quoted("Job aborted.\n  at").as_deref(), Some("Job aborted"));
        assert_eq!(quoted(""), None);
        assert_eq!(quoted(" .\n"), None);
        let long = quoted(&"word ".repeat(100)).unwrap();
        assert!(long.ends_with("word…") && long.chars().count() <= 161, "{long}");
    }
}
