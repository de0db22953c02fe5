//! `spark-job-metrics`: applications, jobs and queries that fail, and jobs with failed tasks (Dr. Elephant
//! `JobsHeuristic`).

mod ends;

use std::sync::Arc;

use ends::JobEnds;

use super::support::application::spark;
use super::support::failed_places::{self, failure_at, stages_of};
use super::support::failed_queries::FailedQueries;
use super::support::failures::{self, Ends, Limit};
use super::support::lost_time::{reason_of_job, reason_of_last_job};
use super::support::remedies::{after_exclusion, against_kinds};
use super::support::root::{Root, in_words};
use super::support::stage_text::cause;
use crate::declare::spark as rule;
use elephant_base::severity::Severity;
use elephant_catalogue::{AdviceParams, Advised, Check, Rule, load_advised};
use elephant_model::model::spark::{Facet, Job, Spark, SqlExecution, Stage};
use elephant_model::model::{Application, Status};
use elephant_rule::finding::{Advice, Failure, Judgement, Measure, Subject, TroubleKind, Verdict};
use elephant_rule::params::cutoffs::Ascending;
use elephant_rule::params::quantity::{Count, Ratio};
use elephant_rule::params::rule_params;
use elephant_rule::wording::{percent, plural};

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
        /// Lowest severity of an application that failed.
        failed_application: Severity,
        /// Lowest severity if a job or query failed by itself and was not repeated with success.
        failed_job: Severity,
        /// Severity if jobs were cancelled, and none failed.
        cancelled_job: Severity,
        /// Whether cancelled jobs count as failed.
        count_cancelled: bool,
    }
}

pub(super) const RULE: Rule =
    rule!(DrElephant { version: "master" }, "spark-job-metrics", "Spark Job Metrics", tells Failures, Jobs, |layers, advice| load_advised(
        layers, advice, JobFailures
    ))
    .also_telling(&[TroubleKind::Cancelled]);

/// The message of a finding about failed jobs.
const FAILED_JOBS: &str = "[{application}, ]{failed_jobs_count} of {jobs} failed, {failed_jobs_ratio:%} ({limit})[: job {failed_job} with \"{reason}\"][; root cause: {root}]";

/// The message if queries failed, and no job did.
const FAILED_QUERIES: &str = "[{application}, ]{queries} failed, and none of {its} jobs did ({limit})[: execution {failed_query} with \"{reason}\"][; root cause: {root}]";

/// The message if the application failed, and neither a job nor a query did.
const FAILED_APPLICATION: &str = "{application} ({limit})[: {root}]";

/// The message of a finding about cancelled jobs.
const CANCELLED: &str = "{cancelled_jobs_count} of {jobs} {were} cancelled[: \"{root}\"]";

/// The message of a finding about a job with failed tasks.
const FAILED_TASKS: &str = "in job {job}, {failures}[; root cause: {root}]";

/// Reasons for a higher severity, whatever the share of failed jobs.
const AN_APPLICATION: &str = "a failed application";
const A_JOB: &str = "a failed job";
const A_QUERY: &str = "a failed execution";

struct JobFailures(Jobs, Arc<AdviceParams>);

impl Check for JobFailures {
    fn check(&self, app: &Application) -> Verdict {
        let app = &Advised { app, advice: &self.1 };
        let Some(spark) = spark(app) else { return Verdict::NotApplicable };
        let jobs = JobEnds::of(spark, self.0.count_cancelled);
        let queries = FailedQueries::of(spark);
        let failed_application = app.status == Status::Failed && self.0.failed_application > Severity::None;
        if jobs.ended + jobs.cancelled + queries.count == 0 && !failed_application {
            return Verdict::NotEvaluated("no job has finished".to_owned());
        }
        let all = ends_of_jobs(app, spark);
        let worst = self.worst(spark, &all);
        let severities = Severities {
            rate: self.0.job_failure_rate.severity(jobs.rate()),
            application: if failed_application { self.0.failed_application } else { Severity::None },
            job: if jobs.failed_for_good { self.0.failed_job } else { Severity::None },
            query: if queries.for_good.is_some() { self.0.failed_job } else { Severity::None },
            cancelled: if jobs.cancelled > 0 { self.0.cancelled_job } else { Severity::None },
            tasks: worst.map_or(Severity::None, |(_, ends)| self.of_tasks(ends)),
        };
        let root = root(app, spark, &severities, (worst.map(|(job, _)| job), &queries));
        let place = worst
            .filter(|_| severities.by_tasks())
            .and_then(|(job, ends)| failed_places::of_job(app, spark, job, ends));
        let judgement = Judgement::of(Subject::Application, severities.highest())
            .tasks(app.task_count())
            .facts(evidence(&jobs, &queries, worst))
            .failed_by(root.as_ref().map(|root| failure_at(place.as_ref(), root.failure.clone())));
        let worded = match worst {
            Some((job, ends)) if severities.by_tasks() => {
                let failures = failures::failed_attempts(ends, self.limit_of_tasks(ends));
                let root = root.as_ref().map(|root| in_words(app, root)).unwrap_or_default();
                judgement.message(FAILED_TASKS, &[("job", &job.id), ("failures", &failures), ("root", &root)])
            }
            _ if severities.by_cancellation() => {
                cancelled(judgement.tells(TroubleKind::Cancelled), &jobs, root.as_ref())
            }
            _ => match queries.for_good.filter(|_| jobs.failed == 0) {
                Some(query) => {
                    of_failed_queries(app, judgement, (query, queries.count), (&severities, root.as_ref()))
                }
                None => self.of_failed_jobs(app, spark, judgement, (&jobs, &severities, root.as_ref())),
            },
        };
        let mut total = Ends::default();
        for ends in &all {
            total.add(ends);
        }
        // For one job, or for all.
        let ends = worst.filter(|_| place.is_some()).map_or(&total, |(_, ends)| ends);
        worded.advice(|| advice(app, spark, &severities, root.as_ref(), (place.as_ref(), ends))).into()
    }

    fn rests_on(&self) -> &'static [Facet] {
        &[Facet::Jobs, Facet::Tasks]
    }
}

fn evidence(
    jobs: &JobEnds,
    queries: &FailedQueries<'_>,
    worst: Option<(&Job, &Ends)>,
) -> Vec<(&'static str, Measure)> {
    let mut evidence = vec![
        ("completed_jobs_count", Measure::Count(jobs.ended - jobs.failed)),
        ("failed_jobs_count", Measure::Count(jobs.failed)),
        ("failed_jobs_ratio", Measure::Ratio(Some(jobs.rate()))),
        ("cancelled_jobs_count", Measure::Count(jobs.cancelled)),
    ];
    if queries.count > 0 {
        evidence.push(("failed_queries_count", Measure::Count(queries.count)));
    }
    if let Some((job, ends)) = worst.filter(|(_, ends)| ends.failed > 0) {
        evidence.push(("worst_job_text", Measure::Text(job.id.to_string())));
        evidence.push(("worst_job_failed_tasks_count", Measure::Count(ends.failed)));
        evidence.push(("worst_job_failed_tasks_ratio", Measure::Ratio(ends.failure_rate())));
    }
    evidence
}

/// The severities by what was found.
struct Severities {
    rate: Severity,
    application: Severity,
    job: Severity,
    query: Severity,
    cancelled: Severity,
    tasks: Severity,
}

impl Severities {
    /// The severity of the application, jobs and queries that failed.
    fn of_jobs(&self) -> Severity {
        self.rate.max(self.application).max(self.job).max(self.query)
    }

    fn by_tasks(&self) -> bool {
        self.tasks > self.of_jobs().max(self.cancelled)
    }

    fn by_cancellation(&self) -> bool {
        self.of_jobs() == Severity::None && self.cancelled > Severity::None
    }

    fn highest(&self) -> Severity {
        self.of_jobs().max(self.tasks).max(self.cancelled)
    }
}

/// The root cause of the finding.
fn root<'a>(
    app: &Application,
    spark: &'a Spark,
    severities: &Severities,
    (worst, queries): (Option<&Job>, &FailedQueries<'a>),
) -> Option<Root<'a>> {
    if severities.highest() == Severity::None {
        return None;
    }
    if severities.application > Severity::None {
        return Root::of_application(app, spark);
    }
    if severities.by_tasks() {
        let stages: Vec<&Stage> = stages_of(spark, worst?).collect();
        return Root::of_stages(app, spark, &stages);
    }
    let job = JobEnds::example(spark, severities.by_cancellation());
    job.map_or_else(|| Root::of_query(queries.for_good?), |job| Root::of_job(app, spark, job))
}

fn cancelled(judgement: Judgement, jobs: &JobEnds, root: Option<&Root<'_>>) -> Judgement {
    let message = root.and_then(|root| root.failure.message.clone()).unwrap_or_default();
    judgement.message(
        CANCELLED,
        &[
            ("jobs", &plural(jobs.ended + jobs.cancelled, "job")),
            ("were", &if jobs.cancelled == 1 { "was" } else { "were" }),
            ("root", &message),
        ],
    )
}

/// Advice on an exit code of the driver that says nothing but that there was an error.
const DRIVER_ERROR: &str = "read the end of the driver's log, which contains the error";
/// Jobs are also cancelled because the driver ends.
const DRIVER_ENDED: &str = "; if the driver ended first, read the end of its log";

/// Whether only the exit code of the driver tells of an error in the code. No setting for tasks has to do with it.
const fn is_of_driver(root: &Root<'_>) -> bool {
    let Failure { kind, exit_code, message, .. } = &root.failure;
    exit_code.is_some() && message.is_none() && root.loss.is_none() && kind.blames_code()
}

/// Remedies for the root cause if the application or a job failed, else a hint.
fn advice(
    app: &Advised<'_>,
    spark: &Spark,
    severities: &Severities,
    root: Option<&Root<'_>>,
    (place, ends): (Option<&String>, &Ends),
) -> Vec<Advice> {
    let failed = severities.application.max(severities.job).max(severities.query);
    let own = !severities.by_tasks() && failed > Severity::None;
    match root {
        Some(root) if own && is_of_driver(root) => vec![DRIVER_ERROR.into()],
        Some(root) if own => {
            let against = against_kinds(app, spark, [root.failure.kind], false);
            against.into_iter().chain(after_exclusion(spark)).collect()
        }
        Some(root) if severities.by_cancellation() => {
            vec![Advice::new(root.failure.kind.remedy()).and(DRIVER_ENDED)]
        }
        _ => failed_places::advice(place, ends),
    }
}

/// `query` is the last of `count` queries that failed.
fn of_failed_queries(
    app: &Application,
    judgement: Judgement,
    (query, count): (&SqlExecution, u64),
    (severities, root): (&Severities, Option<&Root<'_>>),
) -> Judgement {
    let failed_application = severities.application > Severity::None;
    let severity = severities.of_jobs();
    let reason = if severities.application == severity { AN_APPLICATION } else { A_QUERY };
    judgement.message(
        FAILED_QUERIES,
        &[
            ("application", &if failed_application { "the application failed" } else { "" }),
            ("queries", &plural(count, "SQL execution")),
            ("its", &if count == 1 { "its" } else { "their" }),
            ("limit", &format!("{severity} for {reason}")),
            ("failed_query", &query.id),
            ("reason", &query.error.as_deref().map(cause).unwrap_or_default()),
            ("root", &root.map(|root| in_words(app, root)).unwrap_or_default()),
        ],
    )
}

impl JobFailures {
    fn of_failed_jobs(
        &self,
        app: &Application,
        spark: &Spark,
        judgement: Judgement,
        (jobs, severities, root): (&JobEnds, &Severities, Option<&Root<'_>>),
    ) -> Judgement {
        let last = || reason_of_last_job(app, spark).filter(|_| severities.application > Severity::None);
        let (job, reason) = last().or_else(|| reason_of_job(app, spark)).unwrap_or_default();
        let severity = severities.of_jobs();
        let limit = match severity {
            _ if severities.rate == severity => self.0.job_failure_rate.describe_in(severity, percent),
            _ if severities.application == severity => format!("{severity} for {AN_APPLICATION}"),
            _ => format!("{severity} for {A_JOB}"),
        };
        let failed_application = severities.application > Severity::None;
        judgement.message(
            if failed_application && jobs.failed == 0 { FAILED_APPLICATION } else { FAILED_JOBS },
            &[
                ("application", &if failed_application { "the application failed" } else { "" }),
                ("jobs", &plural(jobs.ended, "job")),
                ("limit", &limit),
                ("failed_job", &job),
                ("reason", &reason),
                ("root", &root.map(|root| in_words(app, root)).unwrap_or_default()),
            ],
        )
    }

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

#[cfg(test)]
mod tests {
    use super::*;
    use elephant_model::diagnosis::FailureKind;

    #[test]
    fn a_query_fails_without_a_failed_job() {
        let mut app = elephant_sample::app(&[("spark.master", "yarn")]);
        app.status = Status::Failed;
        let query = SqlExecution {
            error: Some(
                "org.apache.spark.SparkException: Could not execute broadcast in 300 secs.".to_owned(),
            ),
            ..SqlExecution::new(3)
        };
        elephant_sample::spark(&mut app).sql.push(query);
        let found = elephant_sample::evaluate(&app, RULE.id, false).findings;
        let found = found.first().unwrap();
        assert_eq!(found.severity, Severity::Severe);
        assert_eq!(
            found.message,
            "the application failed, 1 SQL execution failed, and none of its jobs did (severe for a failed \
             application): execution 3 with \"org.apache.spark.SparkException: Could not execute broadcast in 300 \
             secs\"; root cause: a table was too large to be broadcast to all executors"
        );
        assert_eq!(found.failure.as_ref().unwrap().kind, FailureKind::BroadcastTooLarge);
    }

    #[test]
    fn an_exit_code_of_the_driver_is_not_blamed_on_tasks() {
        let mut app = elephant_sample::app(&[("spark.master", "yarn")]);
        app.status = Status::Failed;
        elephant_sample::spark(&mut app).exit_code = Some(1);
        let found = elephant_sample::evaluate(&app, RULE.id, false).findings;
        assert_eq!(found.first().unwrap().advice, [DRIVER_ERROR]);
    }
}
