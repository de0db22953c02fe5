//! The time lost to failed attempts.

use super::cancelled::{failed_by_itself, was_cancelled};
use super::failed_places;
use super::failures::Ends;
use super::stage_text::cause;
use elephant_base::severity::Severity;
use elephant_base::units::Millis;
use elephant_model::model::Application;
use elephant_model::model::spark::{Job, Spark, Stage, StageAttempt, StageStatus};
use elephant_model::model::table::{Outcome, TaskGroup};
use elephant_rule::finding::Advice;
use elephant_rule::params::cutoffs::Ascending;
use elephant_rule::params::quantity::Ratio;
use elephant_rule::wording::percent;

/// Attempts of some tasks, and their time from launch to end.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Failures {
    pub(crate) ends: Ends,
    /// The time of failed attempts.
    pub(crate) lost: Millis,
    /// The time of all attempts with a known end.
    pub(crate) spent: Millis,
}

impl Failures {
    pub(crate) fn of(group: &TaskGroup) -> Self {
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

    /// The attempts of one stage attempt; empty if the event log has no task of it.
    pub(crate) fn of_stage(app: &Application, stage: &Stage) -> Self {
        stage.group.and_then(|group| app.groups.get(group)).map(Self::of).unwrap_or_default()
    }

    pub(crate) fn add(&mut self, other: &Self) {
        self.ends.add(&other.ends);
        self.lost = self.lost + other.lost;
        self.spent = self.spent + other.spent;
    }

    /// Failed attempts as a share of failed and succeeded ones; 0 if there are neither.
    pub(crate) fn rate(&self) -> f64 {
        self.ends.failure_rate().unwrap_or_default()
    }

    /// The remedy for the most frequent reason, or for the place of all failures.
    pub(crate) fn advice(&self, place: Option<&String>) -> Vec<Advice> {
        if self.ends.failed == 0 {
            return vec![
                "no attempt failed: increase the lowest cut-off of task_failure_rate above 0".into(),
            ];
        }
        failed_places::advice(place, &self.ends)
    }
}

/// The root cause of a failure in one line; `None` if the text is empty.
fn quoted(text: &str) -> Option<String> {
    Some(cause(text)).filter(|line| !line.is_empty())
}

/// Why something failed: the root cause of its failure; if the logged text ends before that, the error of
/// the last failed attempt of its stages.
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

/// The maximum number of failed jobs that are searched for a reason. An event log may have a million
/// without one.
const MAX_SEARCHED: usize = 100;

/// The reason of the first failed job that has one. Jobs that were cancelled come last.
pub(crate) fn reason_of_job<'a>(app: &'a Application, spark: &'a Spark) -> Option<(u32, String)> {
    let failed = spark.jobs.iter().filter(|job| failed_by_itself(job));
    let cancelled = spark.jobs.iter().filter(|job| was_cancelled(job));
    reason_of_one(app, spark, failed.take(MAX_SEARCHED).chain(cancelled.take(MAX_SEARCHED)))
}

/// The reason of the last job that failed, which made the application fail.
pub(crate) fn reason_of_last_job<'a>(app: &'a Application, spark: &'a Spark) -> Option<(u32, String)> {
    let failed = spark.jobs.iter().filter(|job| failed_by_itself(job));
    reason_of_one(app, spark, failed.max_by_key(|job| (job.completed_at, job.id)).into_iter())
}

/// The reason of the first of these jobs that has one.
fn reason_of_one<'a>(
    app: &'a Application,
    spark: &'a Spark,
    mut jobs: impl Iterator<Item = &'a Job>,
) -> Option<(u32, String)> {
    jobs.find_map(|job| {
        let ran = |stage: &&Stage| {
            stage.status == StageStatus::Failed && job.stages.binary_search(&stage.id.stage).is_ok()
        };
        Some((job.id, reason(app, spark.stages.iter().filter(ran), job.failure.as_deref())?))
    })
}

/// The reason of the first failed stage that has one.
pub(crate) fn reason_of_stage<'a>(app: &'a Application, spark: &'a Spark) -> Option<(StageAttempt, String)> {
    let mut failed = spark.stages.iter().filter(|stage| stage.failure.is_some());
    failed.find_map(|stage| Some((stage.id, reason(app, std::iter::once(stage), stage.failure.as_deref())?)))
}

/// The limit that a rate passed or stayed below; empty if no rate can pass it.
pub(crate) fn limit_if_any(cutoffs: &Ascending<Ratio>, severity: Severity) -> String {
    let never = severity == Severity::None && cutoffs.values().is_some_and(|[low, ..]| low.is_infinite());
    if never { String::new() } else { cutoffs.describe_in(severity, percent) }
}

/// A share of all task time; empty if no task took any.
pub(crate) fn share_if_any(share: f64) -> String {
    if share.is_finite() { percent(share) } else { String::new() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn killed_attempts_are_not_failures() {
        let mut app = elephant_sample::app(&[]);
        let attempts = [
            (Outcome::Succeeded, 10),
            (Outcome::Failed, 5),
            (Outcome::Killed, 7),
            (Outcome::Failed, 1),
            (Outcome::Unfinished, -1),
        ];
        elephant_sample::stage(&mut app, 0, &attempts);
        let failures = Failures::of(&app.groups[0]);
        assert_eq!((failures.ends.succeeded, failures.ends.failed), (1, 2));
        assert_eq!((failures.lost, failures.spent), (Millis::new(6), Millis::new(23)));
        assert!((failures.rate() - 2.0 / 3.0).abs() < 1e-12);
        assert!(Failures::default().rate() < 1e-12);
    }

    #[test]
    fn quotes_are_shortened_to_one_line() {
        assert_eq!(quoted("Job aborted.\n  at").as_deref(), Some("Job aborted"));
        assert_eq!(quoted(""), None);
        assert_eq!(quoted(" .\n"), None);
        let long = quoted(&"word ".repeat(100)).unwrap();
        assert!(long.ends_with("word…") && long.chars().count() <= 161, "{long}");
    }
}
