//! Counts of the parts of a Spark application.

use std::collections::BTreeMap;

use elephant_base::state::State;
use elephant_model::model::spark::{JobResult, Spark, StageStatus};

/// Counts for Spark applications only.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, State)]
pub struct SparkCounts {
    /// Jobs.
    pub jobs: JobCounts,
    /// Stage attempts.
    pub stages: StageCounts,
    /// Executors, excluding the driver.
    pub executors: ExecutorCounts,
    /// SQL executions.
    pub sql_executions: u64,
}

/// Counts of jobs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, State)]
#[non_exhaustive]
pub struct JobCounts {
    /// Jobs that were started.
    pub total: u64,
    /// Jobs that succeeded.
    pub succeeded: u64,
    /// Jobs that failed.
    pub failed: u64,
}

/// Counts of stage attempts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, State)]
#[non_exhaustive]
pub struct StageCounts {
    /// Submitted stage attempts, plus skipped stages.
    pub total: u64,
    /// Attempts that completed.
    pub completed: u64,
    /// Attempts that failed.
    pub failed: u64,
    /// Stages of ended jobs that were never submitted; `None` if stages may be missing from the log.
    pub skipped: Option<u64>,
}

/// Counts of executors.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, State)]
#[non_exhaustive]
pub struct ExecutorCounts {
    /// Executors in the log.
    pub total: u64,
    /// Executors whose removal is logged.
    pub removed: u64,
    /// Removed executors, except those removed by dynamic allocation or at the application's end.
    pub lost: u64,
}

impl SparkCounts {
    pub(super) fn of(spark: &Spark) -> Self {
        let executors = |of: fn(&elephant_model::model::spark::Executor) -> bool| {
            spark.executors.iter().filter(|executor| of(executor)).count() as u64
        };
        let ended = |result| spark.jobs.iter().filter(|job| job.result == Some(result)).count() as u64;
        Self {
            jobs: JobCounts {
                total: spark.jobs.len() as u64,
                succeeded: ended(JobResult::Succeeded),
                failed: ended(JobResult::Failed),
            },
            stages: stages(spark),
            executors: ExecutorCounts {
                total: spark.executors.len() as u64,
                removed: executors(|executor| executor.removed_at.is_some()),
                lost: executors(elephant_model::model::spark::Executor::was_lost),
            },
            sql_executions: spark.sql.len() as u64,
        }
    }
}

fn stages(spark: &Spark) -> StageCounts {
    let ended = |status| spark.stages.iter().filter(|stage| stage.status == status).count() as u64;
    let submitted = spark.stages.len() as u64;
    let shows_all = !spark.gaps.compacted && spark.gaps.unreadable == 0 && spark.gaps.limit.is_none();
    let skipped = shows_all.then(|| skipped(spark));
    StageCounts {
        total: submitted + skipped.unwrap_or_default(),
        completed: ended(StageStatus::Complete),
        failed: ended(StageStatus::Failed),
        skipped,
    }
}

/// Stages that were not submitted. A stage of several jobs is skipped once all of them have ended.
fn skipped(spark: &Spark) -> u64 {
    let mut all_ended: BTreeMap<u32, bool> = BTreeMap::new();
    for job in &spark.jobs {
        for &stage in &job.stages {
            *all_ended.entry(stage).or_insert(true) &= job.has_end;
        }
    }
    for stage in &spark.stages {
        all_ended.remove(&stage.id.stage);
    }
    all_ended.into_values().filter(|&ended| ended).count() as u64
}
