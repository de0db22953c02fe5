//! What is told: plain data, which waits in the store as JSON until it is sent.

use serde::{Deserialize, Serialize};

use super::lineage::Lineage;
use elephant_base::severity::Severity;

/// What is new or worse in a job.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Alert {
    /// The key of the job, as in the store.
    pub job: String,
    /// The highest severity of its troubles.
    pub severity: Severity,
    /// The run that has the first trouble.
    pub run: Run,
    /// What is new or worse, the most severe first. There is at least one.
    pub troubles: Vec<News>,
}

/// A run of a job.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Run {
    /// The id of the application.
    pub id: String,
    /// Its attempt, if its cluster manager counts attempts.
    pub attempt: Option<String>,
    /// Its name.
    pub name: Option<String>,
    /// Who ran it.
    pub user: Option<String>,
    /// The queue that it ran in.
    pub queue: Option<String>,
    /// Its cluster.
    pub cluster: Option<String>,
    /// `spark` or `mapreduce`.
    pub engine: String,
    /// How it ended.
    pub status: String,
    /// When it was submitted or began, as RFC 3339.
    pub submitted_at: Option<String>,
    /// When it ended, as RFC 3339.
    pub finished_at: Option<String>,
    /// How long it took.
    pub runtime_ms: Option<u64>,
    /// Memory over time that it held.
    pub resource_used_gb_hours: Option<f64>,
    /// The part of it that was not needed.
    pub resource_wasted_gb_hours: Option<f64>,
    /// What a scheduler calls it.
    pub identity: Option<Identity>,
    /// How lineage calls it; only Spark's integration writes that.
    pub lineage: Option<Lineage>,
    /// The address of its page, if the server's address is known.
    pub link: Option<String>,
}

/// The job, flow and task of a scheduler.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Identity {
    /// The scheduler.
    pub scheduler: String,
    /// The job.
    pub job: Option<String>,
    /// The flow.
    pub flow: Option<String>,
    /// The run of the flow.
    pub run: Option<String>,
    /// The task.
    pub task: Option<String>,
    /// Who owns it.
    pub owner: Option<String>,
    /// The scheduler's page. It is from the settings of the application, so it is shown as text only.
    pub link: Option<String>,
}

/// How a trouble compares with earlier runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Change {
    /// No earlier run has it, or there is no earlier run.
    New,
    /// An earlier run has it, but not as bad.
    Worse,
}

impl Change {
    /// The word in messages.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::New => "new",
            Self::Worse => "worse",
        }
    }
}

/// A trouble that is new or worse.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct News {
    /// Whether it is new or worse.
    pub change: Change,
    /// Its kind; of a finding that belongs to no trouble, its rule.
    pub kind: String,
    /// Its severity.
    pub severity: Severity,
    /// "Skew in stage 4.0 of query 3".
    pub title: String,
    /// What is wrong, in a sentence.
    pub cause: String,
    /// What to do first.
    pub advice: Option<String>,
    /// The settings to change, as arguments to paste.
    pub settings: Vec<String>,
    /// What that saves, in words.
    pub saves: Option<String>,
    /// The application that has it.
    pub application: String,
    /// How many of the runs that were read have it.
    pub runs: usize,
    /// The findings that tell of it, as the gate compared them.
    pub findings: Vec<FoundBy>,
    /// The trouble as in JSON reports; `null` for a finding that belongs to no trouble.
    pub trouble: serde_json::Value,
}

/// A finding, by its identity across runs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FoundBy {
    /// The rule.
    pub rule: String,
    /// What it is about, without ids that change from run to run.
    pub subject: String,
    /// Its severity.
    pub severity: Severity,
    /// The severity in earlier runs; `None` if it is new.
    pub accepted_severity: Option<Severity>,
    /// How it compares, as in reports of the gate.
    pub change: String,
    /// Its identity across runs.
    pub fingerprint: String,
}
