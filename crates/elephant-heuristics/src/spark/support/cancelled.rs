//! Jobs and stages that a user cancelled, and those that failed by themselves.

use elephant_model::diagnosis::is_cancelled;
use elephant_model::model::spark::{Job, JobResult, Spark, Stage, StageStatus};

/// Whether a user cancelled a stage, or its job.
pub(crate) fn stage_was_cancelled(stage: &Stage) -> bool {
    stage.status == StageStatus::Failed && stage.failure.as_deref().is_some_and(is_cancelled)
}

/// Whether a job failed and was not cancelled.
pub(crate) fn failed_by_itself(job: &Job) -> bool {
    job.result == Some(JobResult::Failed) && !was_cancelled(job)
}

/// Whether a job was cancelled because its stream was stopped in the middle of a batch, as streams are.
pub(crate) fn ended_with_stream(spark: &Spark, job: &Job) -> bool {
    let runs = |told: &str| {
        spark.streams.iter().any(|it| it.has_end && it.error.is_none() && told.contains(&it.run))
    };
    job.of_stream && was_cancelled(job) && job.description.as_deref().is_some_and(runs)
}

/// Whether a user cancelled a job.
pub(crate) fn was_cancelled(job: &Job) -> bool {
    job.result == Some(JobResult::Failed) && job.failure.as_deref().is_some_and(is_cancelled)
}
