//! Looks for lost records: by gaps in ids that Spark gives without gaps, and by other records that refer to them.

use std::collections::{BTreeMap, BTreeSet};

use super::counted;
use crate::problem::Problems;
use crate::spark::build::{Builder, Seen, StageRecord};
use elephant_base::units::Timestamp;
use elephant_model::model::spark::{JobResult, SqlExecution, Stream};
use elephant_model::model::table::EndReason;

/// The setting with which Spark logs the metrics of executors at the end of each stage.
pub(in crate::spark) const LOG_STAGE_METRICS: &str = "spark.eventLog.logStageExecutorMetrics";

/// Warns about lost records, and records the gaps. The gaps of tasks must be known.
pub(super) fn verify(builder: &mut Builder, problems: &mut Problems) {
    metrics(builder, problems);
    executors(builder, problems);
    // Without its beginning or with a limit, most of a log may be missing, which is reported already.
    if !builder.seen.application_start || builder.seen.beyond_limit.any() {
        return;
    }
    executor_ids(builder, problems);
    tasks(builder, problems);
    jobs(builder, problems);
    stages(builder, problems);
    fetches(builder, problems);
    queries(builder, problems);
    batches(builder, problems);
}

/// Cluster managers number executors. A number is skipped only if its executor ended before it registered, which
/// is rare: in one of 35 logs of the corpus.
fn executor_ids(builder: &Builder, problems: &mut Problems) {
    let ids: BTreeSet<u32> =
        builder.spark.executors.iter().filter_map(|executor| executor.id.parse().ok()).collect();
    let Some((&first, &last)) = ids.first().zip(ids.last()) else { return };
    let held = ids.len() as u64;
    let missing = (u64::from(last - first) + 1).saturating_sub(held);
    // If most ids are missing, one of them may be wrong.
    if missing > held {
        problems.warn("executor-ids-missing", None, || {
            "the ids of the executors have gaps: the event log may lack executors between its first and its last one"
                .to_owned()
        });
    } else if missing > 0 {
        problems.warn("executor-ids-missing", None, || {
            counted(
                missing,
                "executor is not in the event log, judging by the ids of the others: it ended before it registered, or its \
                 records are lost; no cost contains it",
                "executors are not in the event log, judging by the ids of the others: they ended before they registered, \
                 or their records are lost; no cost contains them",
            )
        });
    }
}

/// Spark numbers all attempts of an application.
fn tasks(builder: &mut Builder, problems: &mut Problems) {
    let held = builder.attempts_held as u64;
    let numbered = builder.seen.last_task.map_or(0, |last| last.saturating_add(1));
    let missing = numbered.saturating_sub(held);
    let gaps = &mut builder.spark.gaps;
    if missing <= gaps.tasks {
        return;
    }
    // If most ids are missing, one of them is wrong.
    if missing <= held {
        gaps.tasks = missing;
    } else {
        gaps.unreadable += 1;
    }
    problems.warn("task-ids-missing", None, || {
        "the ids of the tasks have gaps: the event log lacks tasks between its first and its last one"
            .to_owned()
    });
}

/// Spark numbers jobs and stages. Before Spark 3, a job without stages is not logged.
fn jobs(builder: &mut Builder, problems: &mut Problems) {
    let held = builder.jobs.len() as u64;
    let numbered = builder.jobs.last().map_or(0, |job| u64::from(job.id) + 1);
    let missing = numbered.saturating_sub(held);
    if missing == 0 {
        without_job(builder, problems);
        return;
    }
    let version = builder.app.engine_version.as_deref().unwrap_or_default();
    let logs_all = !version.starts_with("1.") && !version.starts_with("2.") && !version.is_empty();
    let of_jobs = builder.jobs.iter().flat_map(|job| job.stages.iter().copied());
    let stages: BTreeSet<u32> =
        of_jobs.chain(builder.stages.iter().map(|record| record.stage.id.stage)).collect();
    let lacks_stages = stages.last().is_some_and(|&last| u64::from(last) >= stages.len() as u64);
    if !logs_all && !lacks_stages {
        without_job(builder, problems);
        return;
    }
    builder.spark.gaps.jobs += if missing <= held { missing } else { 1 };
    problems.warn("job-ids-missing", None, || {
        "the ids of the jobs have gaps: the event log lacks jobs between its first and its last one"
            .to_owned()
    });
}

/// Each stage belongs to the jobs that list it. Without any job, rules that need one say so.
fn without_job(builder: &mut Builder, problems: &mut Problems) {
    let mut listed: Vec<u32> = builder.jobs.iter().flat_map(|job| job.stages.iter().copied()).collect();
    listed.sort_unstable();
    let ids = builder.stages.iter().map(|record| record.stage.id).filter(|id| id.attempt == 0);
    let orphans = ids.filter(|id| listed.binary_search(&id.stage).is_err()).count() as u64;
    if orphans > 0 && !builder.jobs.is_empty() {
        builder.spark.gaps.jobs += 1;
        problems.warn("jobs-missing", None, || {
            counted(
                orphans,
                "stage belongs to a job that is not in the event log",
                "stages belong to jobs that are not in the event log",
            )
        });
    }
}

/// The last stage of a job computes its result, so it is never skipped.
fn stages(builder: &mut Builder, problems: &mut Problems) {
    let known: BTreeSet<u32> = builder.stages.iter().map(|record| record.stage.id.stage).collect();
    let succeeded = builder.jobs.iter().filter(|job| job.result == Some(JobResult::Succeeded));
    let last = succeeded.filter_map(|job| job.stages.last());
    let missing = last.filter(|stage| !known.contains(stage)).count() as u64;
    let blamed = builder.jobs.iter().filter_map(|job| blamed_stage(job.failure.as_deref()?));
    let lost = blamed.filter(|stage| !known.contains(stage)).count() as u64;
    builder.spark.gaps.stages += missing + lost;
    if lost > 0 {
        problems.warn("stages-missing", None, || {
            counted(
                lost,
                "job failed because of a stage that is not in the event log",
                "jobs failed because of stages that are not in the event log",
            )
        });
    }
    if missing > 0 {
        problems.warn("stages-missing", None, || {
            counted(
                missing,
                "job succeeded, but the stage with its result is not in the event log",
                "jobs succeeded, but the stages with their results are not in the event log",
            )
        });
    }
}

/// The stage in a message such as "Job aborted due to stage failure: Task 5 in stage 3.0 failed 4 times"
/// (`TaskSetManager.abort`).
fn blamed_stage(failure: &str) -> Option<u32> {
    let (_, task) = failure.split_once("aborted due to stage failure: Task ")?;
    let (task, stage) = task.split_once(" in stage ")?;
    let (stage, _) = stage.split_once('.')?;
    task.parse::<u32>().ok()?;
    stage.parse().ok()
}

/// A stage that failed because of a fetch has an attempt that says so.
fn fetches(builder: &mut Builder, problems: &mut Problems) {
    let without = |record: &&StageRecord| {
        let text = record.stage.failure.as_deref().unwrap_or_default();
        let attempts = &record.group.attempts;
        let fails = |row| attempts.end_reason(row) == Some(EndReason::FetchFailed);
        text.starts_with("org.apache.spark.shuffle.")
            && text.contains("FetchFailedException")
            && !(0..attempts.len()).any(fails)
    };
    let missing = builder.stages.iter().filter(without).count() as u64;
    builder.spark.gaps.attempts += missing;
    if missing > 0 {
        problems.warn("fetch-failures-missing", None, || {
            counted(
                missing,
                "stage failed because shuffle data could not be fetched, but the attempt that tried is not in the event log",
                "stages failed because shuffle data could not be fetched, but the attempts that tried are not in the event log",
            )
        });
    }
}

/// SQL executions are numbered over all applications of a driver.
fn queries(builder: &mut Builder, problems: &mut Problems) {
    let known: BTreeSet<u64> = builder.spark.sql.iter().map(|execution| execution.id).collect();
    let unknown = builder.jobs.iter().filter_map(|job| job.sql_execution);
    let unknown: BTreeSet<u64> = unknown.filter(|id| !known.contains(id)).collect();
    let without_start =
        builder.spark.sql.iter().filter(|execution| execution.started_at.is_none()).count() as u64;
    let span = known.first().zip(known.last()).map_or(0, |(first, last)| (last - first).saturating_add(1));
    let has_gap = span > known.len() as u64;
    let missing = (unknown.len() as u64 + without_start).max(u64::from(has_gap));
    builder.spark.gaps.queries = missing + query_ends(builder, problems);
    if missing > 0 {
        problems.warn("queries-missing", None, || {
            counted(
                missing,
                "SQL execution has no start in the event log, judging by its jobs, its end and the other ids",
                "SQL executions have no start in the event log, judging by their jobs, their ends and the other ids",
            )
        });
    }
}

/// Counts the SQL executions that ended, since another one started after their jobs, and lack their end. An application
/// that is stopped while a query runs may not log the end of the query, but then the last job of the query did not
/// succeed.
fn query_ends(builder: &Builder, problems: &mut Problems) -> u64 {
    if !builder.seen.application_end {
        return 0;
    }
    let mut last_jobs: BTreeMap<u64, Timestamp> = BTreeMap::new();
    let mut last_stopped = None;
    for job in &builder.jobs {
        if job.result != Some(JobResult::Succeeded) {
            last_stopped = last_stopped.max(job.submitted_at.or(builder.app.finished_at));
        } else if let Some((query, ended)) = job.sql_execution.zip(job.completed_at) {
            let last = last_jobs.entry(query).or_insert(ended);
            *last = ended.max(*last);
        }
    }
    let queries = &builder.spark.sql;
    let last_start = queries.iter().filter_map(|query| query.started_at).max();
    let is_lost = |query: &&SqlExecution| {
        let Some(started) = query.started_at.filter(|_| query.finished_at.is_none()) else { return false };
        let active = last_jobs.get(&query.id).map_or(started, |&job| started.max(job));
        last_start.is_some_and(|start| start > active) && last_stopped.is_none_or(|stopped| stopped < started)
    };
    let missing = queries.iter().filter(is_lost).count() as u64;
    if missing > 0 {
        problems.warn("query-ends-missing", None, || {
            counted(
                missing,
                "SQL execution has no end in the event log, although another one started after its jobs; it may have failed",
                "SQL executions have no end in the event log, although others started after their jobs; they may have failed",
            )
        });
    }
    missing
}

/// A stream numbers its batches. Without new data, it reports the number of the last one again.
fn batches(builder: &mut Builder, problems: &mut Problems) {
    let missing_of = |stream: &Stream| -> u64 {
        let numbers: Vec<u64> = stream.batches.iter().filter_map(|batch| batch.number).collect();
        let gaps = numbers.windows(2).map(|pair| match pair {
            [one, next] => next.saturating_sub(one.saturating_add(1)),
            _ => 0,
        });
        // If most numbers are missing, one of them is wrong.
        let missing = gaps.fold(0, u64::saturating_add);
        if missing > numbers.len() as u64 { 1 } else { missing }
    };
    let missing: u64 = builder.spark.streams.iter().map(missing_of).sum();
    builder.spark.gaps.batches = missing;
    if missing > 0 {
        problems.warn("batches-missing", None, || {
            counted(
                missing,
                "batch of a stream has no progress in the event log, judging by the numbers of the others",
                "batches of streams have no progress in the event log, judging by the numbers of the others",
            )
        });
    }
}

/// The resource profile of an executor was added, and logs of Spark since 1.3 start with the version.
fn executors(builder: &mut Builder, problems: &mut Problems) {
    let known: BTreeSet<u32> = builder.spark.resource_profiles.iter().map(|profile| profile.id).collect();
    let of_executors = builder.spark.executors.iter().filter_map(|executor| executor.resource_profile);
    let of_stages = builder.stages.iter().filter_map(|record| record.stage.resource_profile);
    let used: BTreeSet<u32> = of_executors.chain(of_stages).filter(|&id| id != 0).collect();
    let missing = used.difference(&known).count() as u64;
    if missing > 0 {
        builder.spark.gaps.executors += missing;
        problems.warn("resource-profiles-missing", None, || {
            counted(
                missing,
                "resource profile is used but not in the event log; what its executors requested is unknown",
                "resource profiles are used but not in the event log; what their executors requested is unknown",
            )
        });
    }
    let are_added = builder.spark.executors.iter().any(|executor| executor.cores.is_some());
    if are_added && builder.app.engine_version.is_none() {
        builder.spark.gaps.beginning = true;
        problems.warn("no-version", None, || {
            "the event log lacks Spark's version, which is its first line".to_owned()
        });
    }
}

/// At the end of a stage, Spark logs the metrics of all executors that ran its tasks, or of none.
fn metrics(builder: &mut Builder, problems: &mut Problems) {
    let Seen { metrics_missing, metrics_found, .. } = builder.seen;
    // Without the setting in the log, most stages must have them.
    let is_set = builder.app.conf.raw(LOG_STAGE_METRICS).as_deref() == Some("true");
    let is_on = is_set || metrics_missing.saturating_mul(10) <= metrics_found;
    let missing = if is_on { metrics_missing } else { 0 };
    builder.spark.gaps.executor_metrics += missing;
    if missing > 0 {
        problems.warn("stage-metrics-missing", None, || {
            counted(
                missing,
                "executor has no metrics at the end of a stage that it ran tasks of; its peaks may be too low",
                "executors have no metrics at the ends of stages that they ran tasks of; their peaks may be too low",
            )
        });
    }
}

#[cfg(test)]
mod tests {
    use super::blamed_stage;

    #[test]
    fn messages_of_failed_jobs_name_their_stage() {
        let failed = "Job aborted due to stage failure: Task 5 in stage 3.0 failed 4 times, most recent failure: Lost task";
        assert_eq!(blamed_stage(failed), Some(3));
        let others = [
            "Job aborted due to stage failure: Total size of serialized results of 9 tasks is bigger than",
            "Job aborted due to stage failure: Task serialization failed in stage 3.0 failed",
            "Job 2 cancelled because SparkContext was shut down",
            "",
        ];
        assert!(others.into_iter().all(|text| blamed_stage(text).is_none()));
    }
}
