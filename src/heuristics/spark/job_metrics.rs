//! `spark-job-metrics`: jobs that fail, and jobs with failed tasks (Dr. Elephant `JobsHeuristic`).

use super::support::failures::{self, Ends, Limit};
use super::support::lost_time::reason_of_job;
use super::{percent, rule, spark};
use crate::finding::{Judgement, Measure, Subject, TroubleKind, Verdict};
use crate::heuristics::wording::plural;
use crate::heuristics::{Check, Rule, load};
use crate::model::Application;
use crate::model::spark::{Facet, Job, JobResult, Spark};
use crate::params::cutoffs::Ascending;
use crate::params::quantity::{Count, Ratio};
use crate::params::rule_params;
use crate::severity::Severity;

rule_params! {
    /// Parameters of `spark-job-metrics`.
    pub(super) struct Jobs / JobsLayer {
        /// Failed jobs / ended jobs.
        job_failure_rate: Ascending<Ratio>,
        /// Failed task attempts of a job / its succeeded and failed attempts.
        task_failure_rate: Ascending<Ratio>,
        /// Failed task attempts of the job. A single one in a small job is a large share but does no
        /// harm.
        failed_tasks: Ascending<Count>,
    }
}

pub(super) const RULE: Rule =
    rule!(DrElephant { version: "master" }, "spark-job-metrics", "Spark Job Metrics", Jobs, |layers| load(
        layers,
        JobFailures
    ))
    .telling(TroubleKind::Failures);

/// The message of a finding about failed jobs.
const FAILED_JOBS: &str = "{failed_jobs_count} of {jobs} failed, {failed_jobs_ratio:%} ({limit})[: job {failed_job} with \"{reason}\"]";

/// The message of a finding about a job with failed tasks.
const FAILED_TASKS: &str = "in job {job}, {failures}";

struct JobFailures(Jobs);

impl Check for JobFailures {
    fn check(&self, app: &Application) -> Verdict {
        let Some(spark) = spark(app) else { return Verdict::NotApplicable };
        let results: Vec<JobResult> = spark.jobs.iter().filter_map(|job| job.result).collect();
        if results.is_empty() {
            return Verdict::NotEvaluated("no job has finished".to_owned());
        }
        let failed = results.iter().filter(|result| **result == JobResult::Failed).count();
        let rate = failed as f64 / results.len() as f64;
        let of_jobs = self.0.job_failure_rate.severity(rate);
        let all = ends_of_jobs(app, spark);
        let worst = self.worst(spark, &all);
        let of_tasks = worst.map_or(Severity::None, |(_, ends)| self.of_tasks(ends));
        let severity = of_jobs.max(of_tasks);
        let mut evidence = vec![
            ("completed_jobs_count", Measure::Count((results.len() - failed) as u64)),
            ("failed_jobs_count", Measure::Count(failed as u64)),
            ("failed_jobs_ratio", Measure::Ratio(Some(rate))),
        ];
        if let Some((job, ends)) = worst.filter(|(_, ends)| ends.failed > 0) {
            evidence.push(("worst_job_text", Measure::Text(job.id.to_string())));
            evidence.push(("worst_job_failed_tasks_count", Measure::Count(ends.failed)));
            evidence.push(("worst_job_failed_tasks_ratio", Measure::Ratio(ends.failure_rate())));
        }
        let mut total = Ends::default();
        for ends in &all {
            total.add(ends);
        }
        let judgement = Judgement::of(Subject::Application, severity).tasks(app.task_count()).facts(evidence);
        let worded = match worst {
            Some((job, ends)) if of_tasks > of_jobs => {
                let failures = failures::failed_attempts(ends, self.limit_of_tasks(ends));
                judgement.message(FAILED_TASKS, &[("job", &job.id), ("failures", &failures)])
            }
            _ => {
                let (job, reason) = reason_of_job(app, spark).unwrap_or_default();
                judgement.message(
                    FAILED_JOBS,
                    &[
                        ("jobs", &plural(results.len() as u64, "job")),
                        ("limit", &self.0.job_failure_rate.describe_in(of_jobs, percent)),
                        ("failed_job", &job),
                        ("reason", &reason),
                    ],
                )
            }
        };
        worded.advice(|| failures::advice(total.main_reason())).into()
    }

    fn rests_on(&self) -> &'static [Facet] {
        &[Facet::Jobs, Facet::Tasks]
    }
}

impl JobFailures {
    fn of_tasks(&self, ends: &Ends) -> Severity {
        let rate = self.0.task_failure_rate.severity(ends.failure_rate().unwrap_or_default());
        rate.min(self.0.failed_tasks.severity(ends.failed as f64))
    }

    /// The job with the highest severity by its tasks; of several, the one with most failures, then the
    /// first.
    fn worst<'a>(&self, spark: &'a Spark, ends: &'a [Ends]) -> Option<(&'a Job, &'a Ends)> {
        let jobs = spark.jobs.iter().zip(ends).rev();
        jobs.max_by_key(|(_, ends)| (self.of_tasks(ends), ends.failed))
    }

    fn limit_of_tasks(&self, ends: &Ends) -> Limit {
        let severity = self.of_tasks(ends);
        let by_rate = self.0.task_failure_rate.severity(ends.failure_rate().unwrap_or_default());
        if by_rate > severity {
            Limit::OfNumber(self.0.failed_tasks.describe(severity))
        } else {
            Limit::OfRate(self.0.task_failure_rate.describe_in(severity, percent))
        }
    }
}

/// The task attempts of each job, by outcome.
fn ends_of_jobs(app: &Application, spark: &Spark) -> Vec<Ends> {
    let mut ends = vec![Ends::default(); spark.jobs.len()];
    for stage in &spark.stages {
        let group = stage.group.and_then(|group| app.groups.get(group));
        let slot = stage.job.and_then(|job| ends.get_mut(job));
        if let (Some(group), Some(slot)) = (group, slot) {
            slot.add(&Ends::of(group));
        }
    }
    ends
}
