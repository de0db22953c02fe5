//! `unfinished`: the log ends while tasks or jobs run. The application still runs, or its driver or application master
//! died without a word.

use super::support::groups::tasks;
use crate::declare::any as rule;
use elephant_base::units::Timestamp;
use elephant_catalogue::{Check, Rule, load};
use elephant_model::model::conf::ConfKey;
use elephant_model::model::spark::ClusterManager;
use elephant_model::model::table::{TaskGroup, TimePoint};
use elephant_model::model::{Application, Engine, Status};
use elephant_rule::finding::{Advice, Judgement, Measure, Subject, Verdict};
use elephant_rule::params::cutoffs::Ascending;
use elephant_rule::params::quantity::Count;
use elephant_rule::params::rule_params;
use elephant_rule::wording::plural;

rule_params! {
    /// Parameters of `unfinished`.
    pub(super) struct Unfinished / UnfinishedLayer {
        /// Tasks that were running at the end of the log, or jobs if no task was.
        running: Ascending<Count>,
    }
}

pub(super) const RULE: Rule =
    rule!(Own, "unfinished", "Unfinished", tells Unfinished, Unfinished, |layers, _| load(layers, EndsEarly));

/// The message of a finding.
const MESSAGE: &str = "the log ends[ at {last}] with {running}, and without an end of {whole} ({limit})";

struct EndsEarly(Unfinished);

impl Check for EndsEarly {
    fn check(&self, app: &Application) -> Verdict {
        let Self(params) = self;
        // A limit ends the reading, not the log.
        if app.status != Status::Running || app.limit.is_some() {
            return Verdict::NotApplicable;
        }
        let open_tasks = app.groups.iter().map(running_tasks).sum::<u64>();
        let open_jobs =
            app.spark.iter().flat_map(|spark| &spark.jobs).filter(|job| !job.has_end).count() as u64;
        let (running, what) =
            if open_tasks > 0 { (open_tasks, "running task") } else { (open_jobs, "running job") };
        let severity = params.running.severity(running as f64);
        let last = app.last_time().and_then(Timestamp::to_second).unwrap_or_default();
        let whole = match app.engine {
            Engine::Spark => "the application",
            Engine::MapReduce => "the job",
            Engine::Tez => "the DAG",
        };
        Judgement::of(Subject::Application, severity)
            .tasks(tasks(app))
            .fact("running_tasks_count", Measure::Count(open_tasks))
            .fact("running_jobs_count", Measure::Count(open_jobs))
            .message(
                MESSAGE,
                &[
                    ("last", &last),
                    ("running", &plural(running, what)),
                    ("whole", &whole),
                    ("limit", &params.running.describe(severity)),
                ],
            )
            .advice(|| vec![advice(app)])
            .into()
    }
}

/// How many attempts of a group had started and not ended.
fn running_tasks(group: &TaskGroup) -> u64 {
    let attempts = &group.attempts;
    let is_running = |row: &usize| {
        attempts.time(*row, TimePoint::Start).is_some() && attempts.time(*row, TimePoint::Finish).is_none()
    };
    (0..attempts.len()).filter(is_running).count() as u64
}

/// Where to look if the application does not run any more.
fn advice(app: &Application) -> Advice {
    let of_dag = app.tez.as_ref().map(|tez| tez.application_id.clone());
    let yarn = of_dag.unwrap_or_else(|| app.id.replacen("job_", "application_", 1));
    let in_cluster = app.conf.text(ConfKey::SparkDeployMode).is_some_and(|mode| mode == "cluster");
    let of_master = format!("yarn logs -applicationId {yarn} -am ALL");
    let place = match (app.engine, ClusterManager::of_application(app)) {
        (Engine::MapReduce, _) if app.ran_on_job_tracker() => "the log of the job tracker says why".to_owned(),
        (Engine::MapReduce | Engine::Tez, _) => {
            format!("its application master was killed or lost, and the master's log says why: {of_master}")
        }
        (Engine::Spark, Some(ClusterManager::Yarn)) if in_cluster => {
            format!("its driver was killed or lost, and the driver's log says why: {of_master}")
        }
        (Engine::Spark, Some(ClusterManager::Kubernetes)) => {
            "its driver was killed or lost: kubectl describe pod with the driver's pod has its exit code and the reason"
                .to_owned()
        }
        (Engine::Spark, _) => "its driver was killed or lost, and only the driver's own output says why; exit code 137 \
                               means that it was killed, mostly by the kernel for lack of memory"
            .to_owned(),
    };
    format!("if it does not run any more, {place}").into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use elephant_base::severity::Severity;
    use elephant_model::model::spark::{Job, Spark};
    use elephant_model::model::table::TaskKind;
    use elephant_rule::finding::Finding;

    /// An application whose attempts began at 10 s, with their ends.
    fn app(engine: Engine, ends: &[Option<i64>]) -> Application {
        let mut app = Application::new(engine);
        app.id = "job_1700000000000_0001".to_owned();
        app.status = Status::Running;
        let mut group = TaskGroup::new(TaskKind::Map);
        for (number, end) in (0..).zip(ends) {
            group.tasks.push(number);
            let row = group.attempts.push(number, 0);
            group.attempts.set_time(row, TimePoint::Start, Some(Timestamp::from_millis(10_000)));
            group.attempts.set_time(row, TimePoint::Finish, end.map(Timestamp::from_millis));
        }
        app.groups = vec![group];
        app
    }

    fn found(app: &Application) -> Option<Finding> {
        elephant_sample::evaluate_all(app, "").findings.into_iter().find(|it| it.rule == RULE.id)
    }

    #[test]
    fn running_tasks_at_the_end_of_the_log_are_a_note() {
        let job = app(Engine::MapReduce, &[Some(12_500), None, None]);
        let found = found(&job).unwrap();
        assert_eq!(found.severity, Severity::Low);
        assert_eq!(
            found.message,
            "the log ends at 1970-01-01 00:00:12Z with 2 running tasks, and without an end of the job (low from 1)"
        );
        assert_eq!(
            found.advice.first().map(|advice| &*advice.text),
            Some(
                "if it does not run any more, its application master was killed or lost, and the master's log says why: \
                 yarn logs -applicationId application_1700000000000_0001 -am ALL"
            )
        );
    }

    #[test]
    fn jobs_count_if_no_task_runs() {
        let mut spark_app = app(Engine::Spark, &[Some(12_500)]);
        let ended = Job { has_end: true, ..Job::new(0) };
        spark_app.spark = Some(Box::new(Spark { jobs: vec![ended, Job::new(1)], ..Spark::default() }));
        let message = found(&spark_app).unwrap().message;
        assert!(message.contains("with 1 running job, and without an end of the application"), "{message}");
    }

    #[test]
    fn the_advice_names_the_log_of_the_driver() {
        let advice_for = |settings: &[(&str, &str)]| {
            let mut app = app(Engine::Spark, &[None]);
            app.id = "application_1_0001".to_owned();
            elephant_sample::set(&mut app, settings);
            advice(&app).text
        };
        let in_cluster = advice_for(&[("spark.master", "yarn"), ("spark.submit.deployMode", "cluster")]);
        assert!(in_cluster.contains("yarn logs -applicationId application_1_0001 -am ALL"), "{in_cluster}");
        assert!(!advice_for(&[("spark.master", "yarn")]).contains("yarn logs"));
        assert!(advice_for(&[("spark.master", "k8s://https://a")]).contains("kubectl"));
    }

    #[test]
    fn an_application_that_ended_or_that_a_limit_cut_is_not_judged() {
        let ended = Application { status: Status::Failed, ..app(Engine::MapReduce, &[None]) };
        assert_eq!(found(&ended), None);
        let option = elephant_base::limits::TASKS;
        let limit = Some(elephant_base::limits::Remainder { option, kept: 1, announced: None });
        assert_eq!(found(&Application { limit, ..app(Engine::MapReduce, &[None]) }), None);
        let idle = found(&app(Engine::MapReduce, &[Some(12_500)]));
        assert_eq!(idle.map(|it| it.severity), Some(Severity::None));
    }
}
