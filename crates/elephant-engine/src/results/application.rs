//! The report on one application.

use std::sync::Arc;

use super::{Leading, NodeWork, PhaseWork, QueryWork, Work};
use crate::fingerprint::{Fingerprint, JobKey, StageName, subject_key};
use elephant_analysis::metrics::{AtLeast, Metrics};
use elephant_base::severity::Severity;
use elephant_base::state::State;
use elephant_base::units::Timestamp;
use elephant_explain::Explanation;
use elephant_model::diagnosis::Actor;
use elephant_model::model::conf::Conf;
use elephant_model::model::spark::{NativeEngine, Platform};
use elephant_model::model::{Application, Engine, Phase, Status, Subject, cluster_of, job_script, job_type};
use elephant_query::QuerySummary;
use elephant_rule::finding::{Finding, Name, NotEvaluated, Suppressed};
use elephant_ruleset::JobIdentity;
use elephant_verdict::account::Account;
use elephant_verdict::charts::Charts;
use elephant_verdict::savings::ApplicationSavings;
use elephant_verdict::troubles::{Recommended, Trouble};

/// One application with the results of the rules.
#[derive(Debug, Clone, State)]
pub struct ApplicationReport {
    /// Its id in the history.
    pub id: String,
    /// The application's attempt, if its cluster manager counts attempts.
    pub attempt: Option<String>,
    /// The engine that ran it.
    pub engine: Engine,
    /// The version of the engine, if it is logged.
    pub engine_version: Option<String>,
    /// Its name; `None` if it is not logged.
    pub name: Option<String>,
    /// Who ran it; `None` if it is not logged.
    pub user: Option<String>,
    /// The queue of the cluster manager, if it is logged.
    pub queue: Option<String>,
    /// The cluster that its configuration tells.
    pub cluster: Option<String>,
    /// The system that started it, such as Hive, Pig or Oozie, if its configuration tells.
    pub job_type: Option<Name>,
    /// What a MapReduce job runs a part of: a query of Hive, a script of Pig, a flow of Cascading.
    pub script: Option<String>,
    /// The platform that granted its executors, by its name in JSON; Spark only.
    pub platform: Option<Name>,
    /// The native engine that its settings switch on, by its name in JSON; Spark only.
    pub native_engine: Option<Name>,
    /// The share of the time of tasks of queries in which that engine worked.
    pub native_share: Option<f64>,
    /// The job, flow and task of a scheduler that it belongs to.
    pub identity: Option<JobIdentity>,
    /// How it ended.
    pub status: Status,
    /// Whether its history is complete.
    pub complete: bool,
    /// Why the history is incomplete, phrased to follow "because" or a colon; `None` for a complete
    /// history.
    pub incomplete: Option<String>,
    /// The option of the limit that kept a part of the history out, if one did.
    pub limit: Option<Name>,
    /// Whether the application could be judged. A complete history always can. An incomplete one must
    /// contain the end of an attempt, and a rule about tasks, stages or jobs must have been evaluated.
    pub judged: bool,
    /// The files it was read from, the history first.
    pub sources: Vec<String>,
    /// When it was submitted; `None` if that is not logged.
    pub submitted_at: Option<Timestamp>,
    /// When it started; `None` if that is not logged.
    pub started_at: Option<Timestamp>,
    /// When it ended; `None` if that is not logged.
    pub finished_at: Option<Timestamp>,
    /// The highest severity of its findings.
    pub severity: Severity,
    /// The highest severity that the thresholds of rules give.
    pub raw_severity: Severity,
    /// The highest severity of its findings without the cap for small applications.
    pub severity_in_larger_run: Severity,
    /// The sum of its findings' scores.
    pub score: u64,
    /// The first part of its sort key in the report.
    pub leading: Leading,
    /// Its times and costs.
    pub metrics: Metrics,
    /// Sums over its attempts; unknown if a limit cut the history.
    pub work: Work,
    /// What its largest phases read, if [`crate::engine::Options::phase_work`] is set; none if a limit cut the history.
    pub phase_work: Vec<PhaseWork>,
    /// What it cost at least, if its history is incomplete and no limit cut it.
    pub at_least: AtLeast,
    /// The number of findings by severity value.
    pub counts: [u64; 5],
    /// Where the run time went; `None` if the start or the end of the run is unknown.
    pub account: Option<Account>,
    /// What is wrong, worst first: findings of one root cause together, with one remedy.
    pub troubles: Vec<Trouble>,
    /// The settings that are recommended against all troubles together.
    pub recommended: Vec<Recommended>,
    /// What removing all troubles saves; `None` without troubles.
    pub savings: Option<ApplicationSavings>,
    /// Findings of at least the requested severity, worst first.
    pub findings: Vec<Finding>,
    /// Findings that a rule file suppresses, of at least the requested severity. No count includes them.
    pub suppressed: Vec<Suppressed>,
    /// The ids of all evaluated rules, with or without findings. Most applications have the same list.
    pub evaluated: Arc<[Name]>,
    /// Rules whose data is missing.
    pub not_evaluated: Vec<NotEvaluated>,
    /// The names of the stages that have findings, by id.
    pub stage_names: Vec<StageName>,
    /// Its phases, if [`crate::engine::Options::details`] is set.
    pub phases: Option<Vec<Phase>>,
    /// Its configuration, if [`crate::engine::Options::details`] is set and the history contains one.
    pub configuration: Option<Box<Conf>>,
    /// What it did on each node, if it goes to a database.
    pub nodes: Vec<NodeWork>,
    /// Its queries without their operators, if it goes to a database.
    pub query_work: Vec<QueryWork>,
    /// The queries that took longest; all of them, with their operators, if [`crate::engine::Options::details`] is set.
    pub queries: Vec<QuerySummary>,
    /// Where the figures of findings come from, if that was asked for.
    #[state(skip = Vec::new())]
    pub explanations: Vec<Explanation>,
    /// Its charts, if [`crate::engine::Options::charts`] includes it.
    pub charts: Option<Box<Charts>>,
}

impl ApplicationReport {
    /// The job that this application is a run of.
    #[must_use]
    pub fn job_key(&self) -> JobKey {
        JobKey::with_identity(self.engine, self.identity.as_ref(), self.name.as_deref())
    }

    /// The identity of `finding` across runs of this job.
    #[must_use]
    pub fn fingerprint(&self, finding: &Finding) -> Fingerprint {
        Fingerprint::of(&finding.rule, &self.subject_key(&finding.subject), &self.job_key())
    }

    /// The subject without the ids of this run.
    #[must_use]
    #[doc(hidden)]
    pub fn subject_key(&self, subject: &Subject) -> String {
        subject_key(&self.stage_names, subject)
    }

    /// Whether the log was cut before the job's name, or lost it. A complete log without a name is a job
    /// without a name.
    #[must_use]
    #[doc(hidden)]
    pub fn is_unnamed(&self) -> bool {
        let by_name = JobKey::new(self.engine, self.name.as_deref());
        !self.complete && by_name == JobKey::new(self.engine, None)
    }

    /// The job under which the run is compared: its own, or a placeholder if the name is lost.
    #[must_use]
    #[doc(hidden)]
    pub fn compared_job(&self) -> JobKey {
        if self.is_unnamed() {
            JobKey::from(format!("{} · (name unknown)", self.engine.name()))
        } else {
            self.job_key()
        }
    }
}

#[doc(hidden)]
impl ApplicationReport {
    /// Who can remove the cause of the failure that ended the run; `None` if no failure did, or if its cause is unknown.
    #[must_use]
    pub fn who_acts(&self) -> Option<Actor> {
        let ended = matches!(self.status, Status::Failed | Status::Killed);
        let failure = self.troubles.iter().filter(|_| ended).find_map(|trouble| trouble.failure.as_ref())?;
        Some(failure.kind.actor())
    }

    /// The facts of an application, without any results.
    pub(crate) fn of(app: &Application, sources: &[String]) -> Self {
        Self {
            id: app.id.clone(),
            attempt: app.spark.as_ref().and_then(|spark| spark.attempt.clone()),
            engine: app.engine,
            engine_version: app.engine_version.clone(),
            name: app.name.clone(),
            user: app.user.clone(),
            queue: app.queue.clone(),
            cluster: cluster_of(&app.conf),
            job_type: job_type(app).map(Name::Borrowed),
            script: job_script(app),
            platform: Platform::of(app).map(|platform| Name::Borrowed(platform.key)),
            native_engine: NativeEngine::of(app).map(|engine| Name::Borrowed(engine.key())),
            native_share: None,
            identity: None,
            status: app.status,
            complete: app.complete,
            incomplete: app.why_incomplete(),
            limit: app.limit.map(|limit| limit.option.into()),
            judged: true,
            sources: sources.to_vec(),
            submitted_at: app.submitted_at,
            started_at: app.launched_at,
            finished_at: app.finished_at,
            severity: Severity::None,
            raw_severity: Severity::None,
            severity_in_larger_run: Severity::None,
            score: 0,
            leading: Leading::Nothing,
            metrics: Metrics::default(),
            work: Work::default(),
            phase_work: Vec::new(),
            at_least: AtLeast::default(),
            counts: [0; 5],
            account: None,
            troubles: Vec::new(),
            recommended: Vec::new(),
            savings: None,
            findings: Vec::new(),
            suppressed: Vec::new(),
            evaluated: Arc::default(),
            not_evaluated: Vec::new(),
            stage_names: Vec::new(),
            phases: None,
            configuration: None,
            nodes: Vec::new(),
            query_work: Vec::new(),
            queries: Vec::new(),
            explanations: Vec::new(),
            charts: None,
        }
    }

    /// A Spark application that did no work.
    #[must_use]
    pub fn blank(id: &str) -> Self {
        let mut app = Application::new(Engine::Spark);
        id.clone_into(&mut app.id);
        app.status = Status::Succeeded;
        app.complete = true;
        Self::of(&app, &[])
    }
}
