//! SQL executions that failed although none of their jobs did: while they were planned, built a broadcast, or committed
//! what they wrote.

use rustc_hash::FxHashMap;

use super::cancelled::failed_by_itself;
use elephant_base::units::Timestamp;
use elephant_model::diagnosis::is_cancelled;
use elephant_model::model::spark::{Spark, SqlExecution};

/// The failed queries without a failed job.
pub(crate) struct FailedQueries<'a> {
    /// How many there are. A query that another one runs as a part of itself fails with it, and is not counted.
    pub(crate) count: u64,
    /// The last of them that no later query with the same description repeated with success.
    pub(crate) for_good: Option<&'a SqlExecution>,
    /// The one that ended last.
    pub(crate) last: Option<&'a SqlExecution>,
}

impl<'a> FailedQueries<'a> {
    pub(crate) fn of(spark: &'a Spark) -> Self {
        let mut failed = Self { count: 0, for_good: None, last: None };
        if spark.sql.iter().all(|query| query.error.is_none()) {
            return failed;
        }
        let jobs = FailedJobs::of(spark);
        let mut until: FxHashMap<&str, Option<Timestamp>> = FxHashMap::default();
        let mut successes: FxHashMap<&str, Option<Timestamp>> = FxHashMap::default();
        for query in spark.sql.iter().filter(|query| query.error.is_none()) {
            if let Some(description) = query.description.as_deref() {
                let last = successes.entry(description).or_default();
                *last = query.finished_at.max(*last);
            }
        }
        for query in &spark.sql {
            let Some(error) = error_of_its_own(query).filter(|_| !jobs.any_of(query)) else { continue };
            let last = until.entry(error).or_default();
            let is_part = query.started_at.is_some() && query.started_at < *last;
            *last = query.finished_at.max(*last);
            if is_part {
                continue;
            }
            failed.count += 1;
            let ended_before = |last: &SqlExecution| last.finished_at <= query.finished_at;
            if failed.last.is_none_or(ended_before) {
                failed.last = Some(query);
            }
            let success = query.description.as_deref().and_then(|description| successes.get(description));
            if success.is_none_or(|success| *success <= query.finished_at) {
                failed.for_good = Some(query);
            }
        }
        failed
    }
}

/// The error of a query that no user cancelled.
fn error_of_its_own(query: &SqlExecution) -> Option<&str> {
    query.error.as_deref().filter(|error| !is_cancelled(error))
}

/// The jobs that failed by themselves.
struct FailedJobs {
    /// The queries that they belong to, sorted.
    queries: Vec<u64>,
    /// When they were submitted, sorted. A query that runs others has no jobs of its own, but lasts as long as they do.
    submitted_at: Vec<Timestamp>,
}

impl FailedJobs {
    fn of(spark: &Spark) -> Self {
        let failed = || spark.jobs.iter().filter(|job| failed_by_itself(job));
        let mut queries: Vec<u64> = failed().filter_map(|job| job.sql_execution).collect();
        let mut submitted_at: Vec<Timestamp> = failed().filter_map(|job| job.submitted_at).collect();
        queries.sort_unstable();
        submitted_at.sort_unstable();
        Self { queries, submitted_at }
    }

    /// Whether one of them belongs to this query, or was submitted while it ran.
    fn any_of(&self, query: &SqlExecution) -> bool {
        if self.queries.binary_search(&query.id).is_ok() {
            return true;
        }
        let (Some(from), Some(to)) = (query.started_at, query.finished_at) else { return false };
        let first = self.submitted_at.partition_point(|at| *at < from);
        self.submitted_at.get(first).is_some_and(|at| *at <= to)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use elephant_model::model::spark::{Job, JobResult};

    fn query(id: u64, from: i64, to: i64, error: Option<&str>) -> SqlExecution {
        SqlExecution {
            started_at: Some(Timestamp::from_millis(from)),
            finished_at: Some(Timestamp::from_millis(to)),
            error: error.map(str::to_owned),
            description: Some(format!("query of {}", id % 10)),
            ..SqlExecution::new(id)
        }
    }

    /// How many failed, and the last one that failed for good.
    fn failed(spark: &Spark) -> (u64, Option<u64>) {
        let failed = FailedQueries::of(spark);
        (failed.count, failed.for_good.map(|query| query.id))
    }

    #[test]
    fn failed_jobs_and_outer_queries_explain_failed_queries() {
        let mut spark = Spark { sql: vec![query(0, 0, 10, None)], ..Spark::default() };
        assert_eq!(failed(&spark), (0, None));
        // The second query runs the third.
        spark.sql.push(query(1, 10, 30, Some("Could not execute broadcast in 300 secs")));
        spark.sql.push(query(2, 12, 29, Some("Could not execute broadcast in 300 secs")));
        assert_eq!(failed(&spark), (1, Some(1)));
        // The same again, later and repeated with success.
        spark.sql.push(query(3, 40, 50, Some("Could not execute broadcast in 300 secs")));
        spark.sql.push(query(13, 60, 70, None));
        assert_eq!(failed(&spark), (2, Some(1)));
        // A failed job within the first explains both of its queries.
        let mut job = Job::new(0);
        job.result = Some(JobResult::Failed);
        job.submitted_at = Some(Timestamp::from_millis(15));
        job.sql_execution = Some(2);
        spark.jobs.push(job);
        assert_eq!(failed(&spark), (1, None));
    }

    #[test]
    fn cancelled_queries_have_not_failed() {
        let error = "Job 3 cancelled because SparkContext was shut down";
        let spark = Spark { sql: vec![query(0, 0, 10, Some(error))], ..Spark::default() };
        assert_eq!(failed(&spark), (0, None));
    }
}
