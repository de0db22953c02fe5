//! Compares what an event log announces with what it contains, and reports what is missing.

mod cross_check;
mod lost;
mod possible;
mod tasks;
mod unreadable;

use std::collections::BTreeSet;

pub(super) use lost::LOG_STAGE_METRICS;

use super::build::{BeyondLimit, Builder};
use crate::problem::Problems;
use elephant_base::limits::{self, Remainder};
use elephant_model::diagnosis::is_cancelled;
use elephant_model::model::Status;
use elephant_model::model::spark::{Job, JobResult};

/// Whether a log is complete, judging by the files around it.
#[derive(Debug, Clone, Default)]
pub struct Completeness {
    /// Whether markers say that the application was still running; `None` without markers.
    pub in_progress: Option<bool>,
    /// Whether the log was compacted.
    pub compacted: bool,
    /// Number of missing parts.
    pub missing_parts: u64,
}

/// Fills in the gaps, the application's status and whether it is complete.
pub(super) fn verify(builder: &mut Builder, completeness: &Completeness, problems: &mut Problems) {
    limit(builder, problems);
    tasks::verify(builder, problems);
    unreadable::verify(builder, problems);
    stages(builder, problems);
    jobs(builder, problems);
    executors(builder, problems);
    cross_check::verify(builder, problems);
    ends(builder, completeness, problems);
    possible::verify(builder, problems);
    if !completeness.compacted {
        lost::verify(builder, problems);
    }
    clocks(builder, problems);
    tasks::verify_ends(builder, problems);
    rollovers(builder, problems);
    moments_of_application(builder, problems);
    exit_code(builder, problems);
    let gaps = &mut builder.spark.gaps;
    gaps.compacted = completeness.compacted;
    gaps.unreadable += completeness.missing_parts;
    gaps.missing_parts = completeness.missing_parts > 0;
    failures_of_queries(builder);
    builder.app.status = status(builder, completeness);
    builder.app.complete = builder.spark.gaps.none();
}

/// A start or end event without a readable time counts as missing.
fn moments_of_application(builder: &mut Builder, problems: &mut Problems) {
    let begins = builder.seen.application_start && builder.app.submitted_at.is_none();
    let ends = builder.seen.application_end && builder.app.finished_at.is_none();
    if begins || ends {
        builder.spark.gaps.beginning |= begins;
        builder.spark.gaps.end |= ends;
        let which = match (begins, ends) {
            (true, true) => "began or ended",
            (true, false) => "began",
            _ => "ended",
        };
        problems.warn("application-time-unknown", None, || {
            let doubts: Vec<&str> = builder.seen.doubts.into_iter().flatten().collect();
            let why = if doubts.is_empty() { String::new() } else { format!(" ({})", doubts.join("; ")) };
            format!(
                "the event log has no valid time at which the application {which}{why}; its run time is unknown"
            )
        });
    }
}

fn limit(builder: &mut Builder, problems: &mut Problems) {
    let BeyondLimit { attempts, blocks, driver_values, operators, others } = builder.seen.beyond_limit;
    if attempts + driver_values + operators + others > 0 {
        builder.limit.get_or_insert(limits::TASKS);
    }
    // Without some cached blocks, only the storage memory of executors is unknown.
    builder.spark.gaps.blocks_beyond_limit = blocks > 0;
    if attempts + driver_values + operators + others + blocks > 0 {
        let most = builder.limits.tasks.unwrap_or_default();
        let kinds = [
            (attempts, format!("more than {most} tasks or attempts")),
            (blocks, format!("more than {most} cached blocks")),
            (driver_values, format!("more than {most} values of the driver's metrics")),
            (operators, format!("more than {most} operators in the plans of its queries")),
            (others, "too many stages, jobs, executors or queries".to_owned()),
        ];
        let kinds: Vec<String> =
            kinds.into_iter().filter(|(count, _)| *count > 0).map(|(_, text)| text).collect();
        problems.warn(limits::REACHED, None, || {
            format!("it has {}; the rest was skipped (raise --max-tasks)", kinds.join(" and "))
        });
    }
    let stages = || builder.stages.iter();
    builder.spark.gaps.limit = builder.limit.map(|option| Remainder {
        option,
        kept: stages().map(|record| record.group.tasks.len() as u64).sum(),
        announced: stages().map(|record| record.stage.announced_tasks).sum(),
    });
}

fn stages(builder: &mut Builder, problems: &mut Problems) {
    let without_end = builder.stages.iter().filter(|record| !record.completed).count() as u64;
    let without_start = builder.stages.iter().filter(|record| !record.submitted).count() as u64;
    let either = builder.stages.iter().filter(|record| !record.completed || !record.submitted).count() as u64;
    let impossible = builder.stages.iter().filter(|record| record.impossible_task_count).count() as u64;
    builder.spark.gaps.stages = either + impossible;
    if impossible > 0 {
        problems.warn("impossible-task-count", None, || {
            counted(
                impossible,
                "stage announces a task count that is not a number, is impossibly large, or differs between events; \
                 its task count is unknown",
                "stages announce task counts that are not numbers, are impossibly large, or differ between events; \
                 their task counts are unknown",
            )
        });
    }
    if without_end > 0 {
        problems.warn("stage-ends-missing", None, || {
            counted(without_end, "stage has no end in the event log", "stages have no end in the event log")
        });
    }
    if without_start > 0 {
        problems.warn("stage-starts-missing", None, || {
            counted(
                without_start,
                "stage has no submission in the event log",
                "stages have no submission in the event log",
            )
        });
    }
}

fn jobs(builder: &mut Builder, problems: &mut Problems) {
    let without_end = builder.jobs.iter().filter(|job| !job.has_end).count() as u64;
    let without_result = builder.jobs.iter().filter(|job| job.has_end && job.result.is_none()).count() as u64;
    let without_start = builder.seen.job_ends_without_start;
    builder.spark.gaps.jobs = without_end + without_start + without_result;
    if without_end > 0 {
        problems.warn("job-ends-missing", None, || {
            counted(without_end, "job has no end in the event log", "jobs have no end in the event log")
        });
    }
    if without_result > 0 {
        problems.warn("job-results-unknown", None, || {
            counted(
                without_result,
                "job has a result other than JobSucceeded and JobFailed; its outcome is unknown",
                "jobs have a result other than JobSucceeded and JobFailed; their outcomes are unknown",
            )
        });
    }
    if without_start > 0 {
        problems.warn("job-starts-missing", None, || {
            counted(without_start, "job has no start in the event log", "jobs have no start in the event log")
        });
    }
}

fn executors(builder: &mut Builder, problems: &mut Problems) {
    let used = |executor: &&elephant_model::model::spark::Executor| executor.totals.tasks > 0;
    let never_added =
        builder.spark.executors.iter().filter(used).filter(|executor| executor.added_at.is_none());
    let count = never_added.count() as u64;
    let half_removed = |executor: &&elephant_model::model::spark::Executor| {
        executor.removed_at.is_some() && executor.removed_reason.is_none()
    };
    let removed = builder.spark.executors.iter().filter(half_removed).count() as u64;
    builder.spark.gaps.executors = count + removed;
    if count > 0 {
        problems.warn("executors-missing", None, || {
            counted(
                count,
                "executor ran tasks but was never added; its lifetime is unknown",
                "executors ran tasks but were never added; their lifetimes are unknown",
            )
        });
    }
}

fn ends(builder: &mut Builder, completeness: &Completeness, problems: &mut Problems) {
    let seen = builder.seen;
    let gaps = &mut builder.spark.gaps;
    gaps.beginning = !seen.application_start;
    gaps.end = !seen.application_end;
    gaps.configuration = !seen.environment;
    if gaps.beginning && seen.events > 0 {
        problems.warn("no-application-start", None, || {
            "the event log lacks the application's start; its run time is unknown".to_owned()
        });
    }
    if gaps.end && seen.events > 0 {
        let why = if completeness.in_progress == Some(true) {
            "it is marked as still running"
        } else {
            "it was still running, or its driver died, or the log was truncated"
        };
        problems.warn("no-application-end", None, || {
            format!("the event log lacks the application's end: {why}; the part that was read is used")
        });
    }
}

fn clocks(builder: &mut Builder, problems: &mut Problems) {
    let app = &builder.app;
    let mut backwards = builder.seen.backwards;
    backwards += builder
        .stages
        .iter()
        .filter(|r| r.stage.submitted_at > r.stage.completed_at && r.stage.completed_at.is_some())
        .count() as u64;
    backwards += builder
        .jobs
        .iter()
        .filter(|job| job.submitted_at > job.completed_at && job.completed_at.is_some())
        .count() as u64;
    backwards += u64::from(app.finished_at.is_some() && app.submitted_at > app.finished_at);
    if backwards > 0 {
        builder.spark.gaps.unreadable += backwards;
        problems.warn("clock-backwards", None, || {
            counted(
                backwards,
                "task, stage or job ended before it began; its duration is unknown",
                "tasks, stages or jobs ended before they began; their durations are unknown",
            )
        });
    }
}

fn counted(count: u64, one: &str, many: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { many })
}

/// Checks that no part is missing, by the numbers that Databricks gives them.
fn rollovers(builder: &mut Builder, problems: &mut Problems) {
    let numbers: BTreeSet<i64> = builder.rollovers.iter().copied().collect();
    let missing = match (numbers.first(), numbers.last()) {
        (Some(_), Some(&last)) => {
            u64::try_from(last.saturating_add(1)).unwrap_or_default().saturating_sub(numbers.len() as u64)
        }
        _ => 0,
    };
    if missing > 0 {
        builder.spark.gaps.unreadable += missing;
        problems.warn("parts-missing", None, || {
            counted(
                missing,
                "part of the event log is missing, judging by the part numbers",
                "parts of the event log are missing, judging by the part numbers",
            )
        });
    }
}

/// When a query fails by itself, such as by a broadcast that takes too long, Spark cancels its jobs: then the query's error
/// tells why they failed.
fn failures_of_queries(builder: &mut Builder) {
    let failed = |job: &&Job| job.result == Some(JobResult::Failed);
    let cancelled = |job: &Job| job.failure.as_deref().is_some_and(is_cancelled);
    let jobs = builder.jobs.iter().filter(failed).filter(|job| !cancelled(job));
    let failed_by_job: BTreeSet<u64> = jobs.filter_map(|job| job.sql_execution).collect();
    let queries = &builder.spark.sql;
    for job in builder.jobs.iter_mut().filter(|job| failed(&&**job) && cancelled(job)) {
        let query = job.sql_execution.filter(|id| !failed_by_job.contains(id));
        let place = query.and_then(|id| queries.binary_search_by_key(&id, |query| query.id).ok());
        let error = place.and_then(|place| queries.get(place)?.error.as_deref());
        if let Some(error) = error.filter(|error| !is_cancelled(error)) {
            job.failure = Some(error.to_owned());
        }
    }
}

/// Warns about an exit code that no process has.
fn exit_code(builder: &Builder, problems: &mut Problems) {
    if builder.exit_code.is_some_and(|code| i32::try_from(code).is_err()) {
        problems.warn("exit-code-impossible", None, || {
            "the application's exit code is impossible; how it ended is unknown".to_owned()
        });
    }
}

/// Spark 4 logs the exit code. Before that, an application counts as failed if its last job failed, or a SQL execution
/// that ended after it; a failed job that was retried successfully does not make the application fail. If the last job was
/// cancelled, the application was stopped, and did not fail.
fn status(builder: &Builder, completeness: &Completeness) -> Status {
    if !builder.seen.application_end {
        return if completeness.in_progress == Some(true) { Status::Running } else { Status::Unknown };
    }
    match builder.exit_code {
        Some(0) => return Status::Succeeded,
        // An exit code is an integer of Java.
        Some(code) if i32::try_from(code).is_err() => return Status::Unknown,
        Some(_) => return Status::Failed,
        None => {}
    }
    let ended = builder.jobs.iter().filter(|job| job.has_end);
    let last = ended.max_by_key(|job| (job.completed_at, job.id));
    let queries = builder.spark.sql.iter().filter(|query| query.finished_at.is_some());
    let last_query = queries.max_by_key(|query| (query.finished_at, query.id));
    let later = last_query.filter(|query| last.is_none_or(|job| query.finished_at > job.completed_at));
    if later.and_then(|query| query.error.as_deref()).is_some_and(|error| !is_cancelled(error)) {
        return Status::Failed;
    }
    let Some(last) = last else { return Status::Succeeded };
    match last.result {
        Some(JobResult::Failed) if last.failure.as_deref().is_some_and(is_cancelled) => Status::Killed,
        Some(JobResult::Failed) => Status::Failed,
        None => Status::Unknown,
        Some(JobResult::Succeeded) => Status::Succeeded,
    }
}
