//! Jobs: one per action of the user's code.

use elephant_base::units::{Millis, Timestamp};

/// How a job ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum JobResult {
    /// It completed successfully.
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
    /// Whether the log contains its end.
    pub has_end: bool,
    /// Its result; `None` if the log lacks its end or has an unknown result.
    pub result: Option<JobResult>,
    /// The log's message about a failure, truncated to a few lines; the error of its SQL execution, if Spark cancelled the job
    /// for it.
    pub failure: Option<String>,
    /// The stages it needs, whether they ran or were skipped, in id order.
    pub stages: Vec<u32>,
    /// Its description in the user's code (`spark.job.description`), or else the name of its last stage.
    pub description: Option<String>,
    /// The group that the user's code put it into (`spark.jobGroup.id`).
    pub group: Option<String>,
    /// The SQL execution it belongs to.
    pub sql_execution: Option<u64>,
    /// Whether it belongs to a batch of a stream.
    pub of_stream: bool,
}

impl Job {
    /// A job with an id and nothing else.
    #[must_use]
    #[doc(hidden)]
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
            group: None,
            sql_execution: None,
            of_stream: false,
        }
    }

    /// From submission to end.
    #[must_use]
    pub fn duration(&self) -> Option<Millis> {
        Millis::between(self.submitted_at?, self.completed_at?)
    }
}
