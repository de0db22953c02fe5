//! Jobs: one for each action of the user's code.

use crate::units::{Millis, Timestamp};

/// How a job ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum JobResult {
    /// It did its work.
    Succeeded,
    /// It failed.
    Failed,
}

/// One job (`SparkListenerJobStart`, `SparkListenerJobEnd`).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Job {
    /// Its id.
    pub id: u32,
    /// When it was submitted.
    pub submitted_at: Option<Timestamp>,
    /// When it ended.
    pub completed_at: Option<Timestamp>,
    /// Whether the log tells its end.
    pub has_end: bool,
    /// How it ended; `None` where the log does not tell its end, or in a word that Spark does not have.
    pub result: Option<JobResult>,
    /// What the log says about a failure, cut to a few lines.
    pub failure: Option<String>,
    /// The stages that it needs, whether they ran or were skipped, in id order.
    pub stages: Vec<u32>,
    /// What the user's code says it does (`spark.job.description`), else the name of its last stage.
    pub description: Option<String>,
    /// The SQL execution that it is part of.
    pub sql_execution: Option<u64>,
}

impl Job {
    /// A job of which nothing else is known.
    #[must_use]
    pub const fn new(id: u32) -> Self {
        Self {
            id,
            submitted_at: None,
            completed_at: None,
            has_end: false,
            result: None,
            failure: None,
            stages: Vec::new(),
            description: None,
            sql_execution: None,
        }
    }

    /// From submission to end.
    #[must_use]
    pub fn duration(&self) -> Option<Millis> {
        Millis::between(self.submitted_at?, self.completed_at?)
    }
}
