//! What a report says about one application.

use std::sync::Arc;

use super::Work;
use crate::charts::Charts;
use crate::finding::{Finding, Name, NotEvaluated, Suppressed};
use crate::fingerprint::{Fingerprint, JobKey, StageName, subject_key};
use crate::metrics::Metrics;
use crate::model::conf::Conf;
use crate::model::{Engine, Phase, Status, Subject};
use crate::severity::Severity;
use crate::units::Timestamp;

/// One application with what the rules say about it.
#[derive(Debug, Clone)]
#[allow(missing_docs)] // as in `Application`
pub struct ApplicationReport {
    pub id: String,
    /// Which attempt of the application it is, where its cluster manager counts them.
    pub attempt: Option<String>,
    pub engine: Engine,
    pub engine_version: Option<String>,
    pub name: Option<String>,
    pub user: Option<String>,
    pub queue: Option<String>,
    pub job_type: Option<&'static str>,
    pub status: Status,
    pub complete: bool,
    /// Why the history is incomplete, in words to follow "because" or a colon; `None` where it is complete.
    pub incomplete: Option<String>,
    /// Whether anything could be judged of what it did: of a history that is complete, always; of another one, where it
    /// shows the end of an attempt and a rule about tasks, stages or jobs was evaluated.
    pub judged: bool,
    /// The files it was read from, the history first.
    pub sources: Vec<String>,
    pub submitted_at: Option<Timestamp>,
    pub started_at: Option<Timestamp>,
    pub finished_at: Option<Timestamp>,
    /// The worst severity of its findings.
    pub severity: Severity,
    /// The sum of its findings' scores.
    pub score: u64,
    pub metrics: Metrics,
    /// What its attempts did together; nothing of it is known where a limit has left a part.
    pub work: Work,
    /// How many findings there are, by severity value.
    pub counts: [u64; 5],
    /// Findings from the wanted severity on, worst first.
    pub findings: Vec<Finding>,
    /// Findings that a rule file silences, from the wanted severity on; they count nowhere.
    pub suppressed: Vec<Suppressed>,
    /// Rules that were evaluated, whatever they found, by id. For most applications they are the same.
    pub evaluated: Arc<[Name]>,
    /// Rules whose data is missing.
    pub not_evaluated: Vec<NotEvaluated>,
    /// The names of the stages that findings are about, by id.
    pub stage_names: Vec<StageName>,
    /// Its phases, where [`crate::engine::Options::details`] asks for them.
    pub phases: Option<Vec<Phase>>,
    /// Its configuration, where [`crate::engine::Options::details`] asks for it and the history has one.
    pub configuration: Option<Box<Conf>>,
    /// Its charts, where [`crate::engine::Options::charts`] asks for them.
    pub charts: Option<Box<Charts>>,
}

impl ApplicationReport {
    /// The job that this is a run of.
    #[must_use]
    pub fn job_key(&self) -> JobKey {
        JobKey::new(self.engine, self.name.as_deref())
    }

    /// The identity of `finding` over runs of this job.
    #[must_use]
    pub fn fingerprint(&self, finding: &Finding) -> Fingerprint {
        Fingerprint::of(&finding.rule, &self.subject_key(&finding.subject), &self.job_key())
    }

    /// The subject without the ids of this run.
    #[must_use]
    pub fn subject_key(&self, subject: &Subject) -> String {
        subject_key(&self.stage_names, subject)
    }

    /// Whether the log is cut before the name of its job, or has lost it. A complete log without a name has none.
    #[must_use]
    pub fn is_unnamed(&self) -> bool {
        !self.complete && self.job_key() == JobKey::new(self.engine, None)
    }

    /// The job under which the run is compared: its own, or a placeholder where the name is lost.
    #[must_use]
    pub fn compared_job(&self) -> JobKey {
        if self.is_unnamed() {
            JobKey::from(format!("{} · (name unknown)", self.engine.name()))
        } else {
            self.job_key()
        }
    }
}

#[cfg(test)]
impl ApplicationReport {
    /// A Spark application that did nothing.
    pub(crate) fn blank(id: &str) -> Self {
        Self {
            id: id.to_owned(),
            attempt: None,
            engine: Engine::Spark,
            engine_version: None,
            name: None,
            user: None,
            queue: None,
            job_type: None,
            status: Status::Succeeded,
            complete: true,
            incomplete: None,
            judged: true,
            sources: Vec::new(),
            submitted_at: None,
            started_at: None,
            finished_at: None,
            severity: Severity::None,
            score: 0,
            metrics: Metrics::default(),
            work: Work::default(),
            counts: [0; 5],
            findings: Vec::new(),
            suppressed: Vec::new(),
            evaluated: Arc::default(),
            not_evaluated: Vec::new(),
            stage_names: Vec::new(),
            phases: None,
            configuration: None,
            charts: None,
        }
    }
}
