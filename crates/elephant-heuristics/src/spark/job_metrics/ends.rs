//! How the jobs of an application ended.

use rustc_hash::FxHashMap;

use crate::spark::support::cancelled::{ended_with_stream, failed_by_itself, was_cancelled};
use elephant_model::model::spark::{Job, JobResult, Spark};

/// The jobs by their end.
pub(super) struct JobEnds {
    /// Jobs that ended and were not cancelled.
    pub(super) ended: u64,
    pub(super) failed: u64,
    pub(super) cancelled: u64,
    /// Whether a job failed by itself, and nothing repeated it with success.
    pub(super) failed_for_good: bool,
}

impl JobEnds {
    pub(super) fn of(spark: &Spark, count_cancelled: bool) -> Self {
        let mut ends = Self { ended: 0, failed: 0, cancelled: 0, failed_for_good: false };
        for job in spark.jobs.iter().filter(|job| job.result.is_some()) {
            if was_cancelled(job) && !count_cancelled {
                ends.cancelled += u64::from(!ended_with_stream(spark, job));
                continue;
            }
            ends.ended += 1;
            ends.failed += u64::from(job.result == Some(JobResult::Failed));
        }
        ends.failed_for_good = ends.failed > 0 && any_for_good(spark);
        ends
    }

    /// Failed jobs as a share of those that ended; 0 if none did.
    pub(super) fn rate(&self) -> f64 {
        if self.ended == 0 { 0.0 } else { self.failed as f64 / self.ended as f64 }
    }

    /// The first job that failed by itself, or the first one that was cancelled.
    pub(super) fn example(spark: &Spark, cancelled: bool) -> Option<&Job> {
        let wanted = if cancelled { was_cancelled } else { failed_by_itself };
        spark.jobs.iter().find(|job| wanted(job))
    }
}

/// The work that a job belongs to: a SQL execution, or else an action of the code.
#[derive(PartialEq, Eq, Hash)]
enum Work<'a> {
    Execution(u64),
    Action(&'a str),
}

impl<'a> Work<'a> {
    fn of(job: &'a Job) -> Option<Self> {
        let action = || job.description.as_deref().map(Self::Action);
        job.sql_execution.map(Self::Execution).or_else(action)
    }
}

/// Whether a job failed by itself, and no later job of the same SQL execution or action succeeded.
fn any_for_good(spark: &Spark) -> bool {
    let mut successes: FxHashMap<Work<'_>, _> = FxHashMap::default();
    for job in spark.jobs.iter().filter(|job| job.result == Some(JobResult::Succeeded)) {
        if let Some(work) = Work::of(job) {
            let last = successes.entry(work).or_default();
            *last = (job.completed_at, job.id).max(*last);
        }
    }
    let repeated = |job: &Job| {
        let last = Work::of(job).and_then(|work| successes.get(&work));
        last.is_some_and(|last| *last > (job.completed_at, job.id))
    };
    spark.jobs.iter().any(|job| failed_by_itself(job) && !repeated(job))
}
