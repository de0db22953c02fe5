//! The root cause of the failures of a stage, a job or an application.

use std::collections::BTreeSet;

use super::cancelled::failed_by_itself;
use super::failed_queries::FailedQueries;
use super::losses::{Loss, describe, root_loss};
use super::stage_text::cause;
use crate::shown::MESSAGE;
use elephant_analysis::root_cause::{Collector, Roots, shortened, told};
use elephant_base::units::Timestamp;
use elephant_model::diagnosis::{FailureKind, Standing, is_cancelled};
use elephant_model::model::Application;
use elephant_model::model::spark::{Job, Spark, SqlExecution, Stage, StageStatus};
use elephant_model::model::table::{EndReason, Outcome, TaskGroup};
use elephant_rule::finding::{Failure, Phrase};

/// The root cause of failures.
#[derive(Debug, Clone)]
pub(crate) struct Root<'a> {
    pub(crate) failure: Failure,
    /// The lost executor that the failures go back to.
    pub(crate) loss: Option<Loss<'a>>,
    /// The kinds of the failed attempts, the most frequent first.
    pub(crate) kinds: Vec<(FailureKind, u64)>,
}

impl<'a> Root<'a> {
    /// The root cause of a stage's failed attempts. In a failed stage, only the tasks that failed most often count.
    pub(crate) fn of_stage(app: &Application, spark: &'a Spark, stage: &Stage) -> Option<Self> {
        Self::of_stages(app, spark, &[stage])
    }

    /// The same for several stages.
    pub(crate) fn of_stages(app: &Application, spark: &'a Spark, stages: &[&Stage]) -> Option<Self> {
        let mut collector = Collector::new(app);
        let mut died = BTreeSet::new();
        for stage in stages {
            let Some(group) = stage.group.and_then(|group| app.groups.get(group)) else { continue };
            match decisive_tasks(group, stage) {
                Some(tasks) => collector.add(group, Outcome::Failed, |task| tasks.contains(&task)),
                None => collector.add(group, Outcome::Failed, |_| true),
            }
            died.extend(executors_that_died(app, group));
        }
        let until = stages.iter().filter_map(|stage| stage.completed_at).max();
        Self::from(spark, collector.finish(), |id| died.contains(id), until)
    }

    /// The root cause of all failed attempts of the application.
    pub(crate) fn of_attempts(app: &Application, spark: &'a Spark, roots: Roots) -> Option<Self> {
        let died: BTreeSet<&str> =
            app.groups.iter().flat_map(|group| executors_that_died(app, group)).collect();
        Self::from(spark, roots, |id| died.contains(id), None)
    }

    /// Follows failed fetches and lost executors to the loss that caused them.
    fn from(
        spark: &'a Spark,
        roots: Roots,
        died: impl Fn(&str) -> bool,
        until: Option<Timestamp>,
    ) -> Option<Self> {
        let failure = roots.first()?.failure.clone();
        let is_loss = failure.kind.standing() <= Standing::Loss || failure.exit_code.is_some();
        let loss = if is_loss { root_loss(spark, died, until) } else { None };
        // A failed fetch says less than the exit code of the executor that had the data.
        let told_more = loss.as_ref().filter(|loss| {
            let kind = loss.cause.failure.kind;
            kind.standing() >= failure.kind.standing() && kind != failure.kind
        });
        let failure = told_more.map(|loss| loss.cause.failure.clone()).unwrap_or(failure);
        Some(Self { failure, loss, kinds: roots.kinds })
    }

    /// The root cause of a failed job: that of its failed stages, unless the job failed for a reason of its own.
    pub(crate) fn of_job(app: &Application, spark: &'a Spark, job: &Job) -> Option<Self> {
        let text = job.failure.as_deref().unwrap_or_default();
        if is_cancelled(text) {
            let message = Some(shortened(text.lines().next().unwrap_or_default(), MESSAGE));
            return Some(Self::alone(Failure { message, ..Failure::new(FailureKind::UserKill) }));
        }
        let stages: Vec<&Stage> = spark
            .stages
            .iter()
            .filter(|stage| stage.status == StageStatus::Failed)
            .filter(|stage| job.stages.binary_search(&stage.id.stage).is_ok())
            .collect();
        let of_stages = Self::of_stages(app, spark, &stages);
        let own = told(text).map(|failure| Failure { message: Some(cause(text)), ..failure });
        match (of_stages, own) {
            (Some(stages), Some(own)) => {
                // "Job aborted due to stage failure: Task 5 … failed 4 times, most recent failure: …"
                let repeats = text.contains("ost recent failure");
                let more = own.kind.standing() > stages.failure.kind.standing();
                Some(if more && !repeats { Self::alone(own) } else { stages })
            }
            (stages, own) => stages.or(own.map(Self::alone)),
        }
    }

    /// The root cause of a failed application: that of its last failed job, or of the query that failed after it without
    /// a failed job, or else the driver's exit code.
    pub(crate) fn of_application(app: &Application, spark: &'a Spark) -> Option<Self> {
        let failed = spark.jobs.iter().filter(|job| failed_by_itself(job));
        let last = failed.max_by_key(|job| (job.completed_at, job.id));
        let later = |query: &&SqlExecution| last.is_none_or(|job| query.finished_at > job.completed_at);
        let of_query = FailedQueries::of(spark).last.filter(later).and_then(Self::of_query);
        let sql = || spark.sql.iter().rev().find_map(|query| query.error.as_deref()).and_then(of_error);
        let exit = || {
            let code = spark.exit_code.filter(|code| *code != 0)?;
            told(&format!("exit code {code}")).map(|failure| Failure { message: None, ..failure })
        };
        let of_job = || last.and_then(|job| Self::of_job(app, spark, job));
        of_query.or_else(of_job).or_else(|| sql().or_else(exit).map(Self::alone))
    }

    /// The root cause of a query that failed although no job of it did.
    pub(crate) fn of_query(query: &SqlExecution) -> Option<Self> {
        query.error.as_deref().and_then(of_error).map(Self::alone)
    }

    pub(crate) const fn alone(failure: Failure) -> Self {
        Self { failure, loss: None, kinds: Vec::new() }
    }
}

/// The failure that the error of a query tells of.
fn of_error(error: &str) -> Option<Failure> {
    told(error).map(|failure| Failure { message: Some(cause(error)), ..failure })
}

/// The root cause in words, if the message would not say it otherwise.
pub(crate) fn in_words(app: &Application, root: &Root<'_>) -> Phrase {
    let words = match (&root.loss, root.failure.kind) {
        (Some(loss), _) => return describe(app, loss),
        // The number of failures out of memory is in the message.
        (None, FailureKind::HeapSpace | FailureKind::ContainerMemory | FailureKind::FetchFailure) => None,
        (None, kind) => kind.because(),
    };
    let words = root.failure.exit_in_words().or(words);
    words.map(|words| Phrase::new("{words}", &[("words", &words)])).unwrap_or_default()
}

/// The tasks that made a stage fail: those that failed most often without success; `None` for another stage.
fn decisive_tasks(group: &TaskGroup, stage: &Stage) -> Option<BTreeSet<usize>> {
    if stage.status != StageStatus::Failed {
        return None;
    }
    let mut failures: Vec<u32> = vec![0; group.tasks.len()];
    let mut done: Vec<bool> = vec![false; group.tasks.len()];
    for row in 0..group.attempts.len() {
        let Some(task) = group.attempts.task(row) else { continue };
        match group.attempts.outcome(row) {
            Outcome::Failed => failures.get_mut(task).into_iter().for_each(|count| *count += 1),
            Outcome::Succeeded => done.get_mut(task).into_iter().for_each(|done| *done = true),
            Outcome::Killed | Outcome::Unfinished => {}
        }
    }
    let undone = || failures.iter().zip(&done).enumerate().filter(|(_, (_, done))| !**done);
    let most = undone().map(|(_, (failures, _))| *failures).max().filter(|most| *most > 0)?;
    Some(undone().filter(|(_, (failures, _))| **failures == most).map(|(task, _)| task).collect())
}

/// The executors that attempts of a group were lost with.
fn executors_that_died<'a>(app: &'a Application, group: &'a TaskGroup) -> impl Iterator<Item = &'a str> {
    let attempts = &group.attempts;
    let died = |row: &usize| {
        attempts.outcome(*row) == Outcome::Failed
            && matches!(
                attempts.end_reason(*row),
                Some(EndReason::ExecutorLost | EndReason::ContainerOverMemory | EndReason::OutOfMemory)
            )
    };
    let symbols: BTreeSet<_> =
        (0..attempts.len()).filter(died).filter_map(|row| attempts.executor(row)).collect();
    symbols.into_iter().filter_map(|symbol| app.strings.get(symbol))
}
