//! `spark-job-runtime`: jobs that fail, and jobs that lose time to failed tasks (Dr. Elephant v2.0.9
//! `JobRuntimeHeuristic`).

use super::support::application::spark;
use super::support::failed_places::{self, failure_at};
use super::support::lost_time::{Failures, limit_if_any, reason_of_job, share_if_any};
use super::support::root::Root;
use crate::declare::spark as rule;
use elephant_base::severity::Severity;
use elephant_base::units::Millis;
use elephant_catalogue::{Check, Rule, load};
use elephant_model::model::Application;
use elephant_model::model::spark::{Facet, Job, JobResult, Spark};
use elephant_rule::finding::{Advice, Judgement, Measure, Subject, TroubleKind, Verdict, Worse};
use elephant_rule::params::cutoffs::Ascending;
use elephant_rule::params::quantity::{Quantity, Ratio};
use elephant_rule::params::rule_params;
use elephant_rule::wording::{decisive, percent, plural};

rule_params! {
    /// Parameters of `spark-job-runtime`.
    pub(super) struct JobRuntime / JobRuntimeLayer {
        /// Failed jobs / ended jobs.
        job_failure_rate: Ascending<Ratio>,
        /// Whether only the tasks of succeeded jobs are judged.
        only_succeeded_jobs (was "only_succeeded"): bool,
        /// Failed task attempts of a job / its failed and succeeded attempts.
        task_failure_rate: Ascending<Ratio>,
        /// Time of the job's failed attempts / time of all attempts of the application.
        lost_share: Ascending<Ratio>,
        /// If one stage has more than this share of the job's lost time, spark-stage-runtime reports that
        /// stage instead.
        one_stage: Quantity<Ratio>,
    }
}

pub(super) const RULE: Rule =
    rule!(DrElephant { version: "2.0.9" }, "spark-job-runtime", "Spark Job Runtime", tells Failures, JobRuntime, |layers, _| {
        load(layers, FailingJobs)
    })
    .measured_by("worst_job_lost_ms", Worse::Higher);

/// The message of a finding about failed jobs.
const FAILED_JOBS: &str = "{failed_jobs_count} of {jobs} failed, {job_failure_ratio:%}[ ({limit})]";

/// The message of a finding about a job with failed tasks.
const FAILED_TASKS: &str = "job {job}: {worst_job_failed_tasks_count} of {ended} task attempts failed, \
                            {worst_job_task_failure_ratio:%}, and took {worst_job_lost_ms}[, {share} of all task time] \
                            ({limit})";

struct FailingJobs(JobRuntime);

impl Check for FailingJobs {
    fn check(&self, app: &Application) -> Verdict {
        let Self(params) = self;
        let Some(spark) = spark(app) else { return Verdict::NotApplicable };
        let ended = spark.jobs.iter().filter(|job| job.result.is_some()).count() as u64;
        if ended == 0 {
            return Verdict::NotEvaluated("the event log contains no end of a job".to_owned());
        }
        let failed: Vec<&Job> =
            spark.jobs.iter().filter(|job| job.result == Some(JobResult::Failed)).collect();
        let job_rate = failed.len() as f64 / ended as f64;
        let by_jobs = params.job_failure_rate.severity(job_rate);
        let (spent, jobs) = failures_by_job(app, spark);
        let judged = jobs.into_iter().zip(&spark.jobs);
        let judged = judged.filter(|((failures, most), job)| {
            params.judges(job) && most.as_f64() <= params.one_stage.get() * failures.lost.as_f64()
        });
        let judged = judged.map(|((failures, _), job)| (failures, job));
        let worst = judged
            .map(|(failures, job)| (params.by_tasks(&failures, spent), failures, job))
            // Take the first of equal jobs, and those with failures before those without.
            .rev()
            .max_by(|(a, x, _), (b, y, _)| a.cmp(b).then(x.rate().total_cmp(&y.rate())));
        let by_tasks = worst.as_ref().map(|(severity, ..)| *severity).unwrap_or_default();
        let severity = by_jobs.max(by_tasks);
        let failures = worst.as_ref().map(|(_, failures, _)| *failures).unwrap_or_default();
        let of_failed_jobs = (by_jobs > Severity::None).then(|| of_failed(app, spark).into());
        let mut advice: Vec<Advice> = of_failed_jobs.into_iter().collect();
        let worst_job = worst.as_ref().map(|(.., job)| *job);
        let place = worst_job.and_then(|job| failed_places::of_job(app, spark, job, &failures.ends));
        if by_tasks > Severity::None {
            advice.extend(failures.advice(place.as_ref()));
        }
        let job = if by_tasks > by_jobs { worst_job } else { failed.first().copied() };
        let root = job.filter(|_| severity > Severity::None).and_then(|job| Root::of_job(app, spark, job));
        let judgement = Judgement::of(Subject::Application, severity)
            .tells(TroubleKind::Failures)
            .tasks(app.task_count())
            .fact("jobs_count", Measure::Count(ended))
            .fact("failed_jobs_count", Measure::Count(failed.len() as u64))
            .fact("job_failure_ratio", Measure::Ratio(Some(job_rate)))
            .fact("worst_job_failed_tasks_count", Measure::Count(failures.ends.failed))
            .fact("worst_job_task_failure_ratio", Measure::Ratio(Some(failures.rate())))
            .fact("worst_job_lost_ms", Measure::Time(failures.lost))
            .failed_by(
                root.map(|root| failure_at(place.as_ref().filter(|_| by_tasks > by_jobs), root.failure)),
            );
        let worded = match &worst {
            Some((_, failures, job)) if by_tasks > by_jobs => {
                params.of_tasks(judgement, job, failures, spent)
            }
            _ => judgement.message(
                FAILED_JOBS,
                &[
                    ("jobs", &plural(ended, "job")),
                    ("limit", &limit_if_any(&params.job_failure_rate, by_jobs)),
                ],
            ),
        };
        worded.advice(|| advice).into()
    }

    fn rests_on(&self) -> &'static [Facet] {
        &[Facet::Jobs, Facet::Tasks]
    }
}

impl JobRuntime {
    fn judges(&self, job: &Job) -> bool {
        !self.only_succeeded_jobs || job.result == Some(JobResult::Succeeded)
    }

    fn by_tasks(&self, failures: &Failures, spent: Millis) -> Severity {
        let lost = failures.lost.as_f64() / spent.as_f64();
        self.task_failure_rate.severity(failures.rate()).min(self.lost_share.severity(lost))
    }

    fn of_tasks(&self, judgement: Judgement, job: &Job, failures: &Failures, spent: Millis) -> Judgement {
        let severity = self.by_tasks(failures, spent);
        let share = failures.lost.as_f64() / spent.as_f64();
        let limits = [
            (
                self.task_failure_rate.severity(failures.rate()),
                self.task_failure_rate.describe_in(severity, percent),
            ),
            (self.lost_share.severity(share), self.lost_share.describe_in(severity, percent)),
        ];
        judgement.message(
            FAILED_TASKS,
            &[
                ("job", &job.id),
                ("ended", &failures.ends.ended()),
                ("share", &share_if_any(share)),
                ("limit", &decisive(severity, &limits)),
            ],
        )
    }
}

/// The reason of the first failed job.
fn of_failed(app: &Application, spark: &Spark) -> String {
    match reason_of_job(app, spark) {
        Some((id, reason)) => format!("see the error of job {id}: {reason}"),
        None => "check the failures of their stages in the driver's log".to_owned(),
    }
}

/// The time of all attempts, and the failures of each job in order, with the most time that one of its
/// stages lost.
fn failures_by_job(app: &Application, spark: &Spark) -> (Millis, Vec<(Failures, Millis)>) {
    let mut jobs = vec![(Failures::default(), Millis::ZERO); spark.jobs.len()];
    let mut spent = Millis::ZERO;
    for stage in &spark.stages {
        let failures = Failures::of_stage(app, stage);
        spent = spent + failures.spent;
        let job = stage.job.and_then(|at| jobs.get_mut(at));
        if let Some((job, most)) = job {
            job.add(&failures);
            *most = failures.lost.max(*most);
        }
    }
    (spent, jobs)
}

#[cfg(test)]
mod tests {
    use super::*;
    use elephant_model::model::table::Outcome;

    const ID: &str = RULE.id;

    /// A job per list of attempts. A job with an empty list failed.
    fn app(jobs: &[&[(Outcome, i64)]]) -> Application {
        let mut app = elephant_sample::app(&[]);
        for (id, attempts) in (0..).zip(jobs) {
            let mut job = Job::new(id);
            job.result = Some(if attempts.is_empty() { JobResult::Failed } else { JobResult::Succeeded });
            job.stages = vec![id];
            elephant_sample::stage(&mut app, id, attempts);
            let spark = elephant_sample::spark(&mut app);
            spark.jobs.push(job);
            if let Some(stage) = spark.stages.last_mut() {
                stage.job = Some(spark.jobs.len() - 1);
            }
        }
        app
    }

    #[test]
    fn failed_jobs_are_counted() {
        let good: &[(Outcome, i64)] = &[(Outcome::Succeeded, 1000)];
        let severity = |jobs: &[&[(Outcome, i64)]]| elephant_sample::severity(&app(jobs), ID, true);
        assert_eq!(severity(&[&[], good, good, good]), Some(Severity::Low));
        assert_eq!(severity(&[&[], good]), Some(Severity::Critical));
        assert_eq!(severity(&[]), None);
        // By default another rule judges them.
        assert_eq!(elephant_sample::severity(&app(&[&[], good]), ID, false), Some(Severity::None));
    }

    #[test]
    fn finished_jobs_are_low_only_in_the_preset() {
        let app = app(&[&[(Outcome::Succeeded, 1000)]]);
        let found = elephant_sample::evaluate(&app, ID, true);
        assert_eq!(found.findings[0].severity, Severity::Low);
        assert_eq!(elephant_sample::severity(&app, ID, false), Some(Severity::None));
    }

    #[test]
    fn failures_are_judged_by_the_time_that_they_take() {
        let quick = [(Outcome::Succeeded, 10_000), (Outcome::Failed, 10), (Outcome::Failed, 10)];
        assert_eq!(elephant_sample::severity(&app(&[&quick]), ID, false), Some(Severity::None));
        assert_eq!(elephant_sample::severity(&app(&[&quick]), ID, true), Some(Severity::Critical));
        let slow = [(Outcome::Succeeded, 10_000), (Outcome::Failed, 3_000), (Outcome::Failed, 3_000)];
        // One stage lost all the time, and has its own finding.
        assert_eq!(elephant_sample::severity(&app(&[&slow]), ID, false), Some(Severity::None));
        let alone = elephant_sample::evaluate_with(&app(&[&slow]), ID, "one_stage: 100%");
        assert_eq!(alone.findings[0].severity, Severity::Severe);
        let mut app = app(&[&slow, &slow]);
        let spark = elephant_sample::spark(&mut app);
        spark.jobs.pop();
        spark.jobs[0].stages = vec![0, 1];
        spark.stages.iter_mut().for_each(|stage| stage.job = Some(0));
        let found = elephant_sample::evaluate(&app, ID, false);
        assert_eq!(found.findings[0].severity, Severity::Severe);
        let expected = "job 0: 4 of 6 task attempts failed, 66.7 %, and took 12 s, 37.5 % of all task time (severe from 20 %)";
        assert_eq!(found.findings[0].message, expected);
    }
}
