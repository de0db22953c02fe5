//! Stages and the RDDs that they persist.

use std::fmt;
use std::sync::Arc;

use super::Origins;
use elephant_base::state::State;
use elephant_base::units::{Bytes, Millis, Timestamp};

/// One attempt of a stage: `3.0` is the first attempt of stage 3.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, State)]
pub struct StageAttempt {
    /// The stage's id within the application.
    pub stage: u32,
    /// The attempt's number, counted from 0.
    pub attempt: u32,
}

impl fmt::Display for StageAttempt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.stage, self.attempt)
    }
}

/// How a stage attempt ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum StageStatus {
    /// The log does not contain its end.
    #[default]
    Unfinished,
    /// It completed successfully.
    Complete,
    /// It failed; see [`Stage::failure`].
    Failed,
}

/// One stage attempt (`StageInfo`).
#[derive(Debug, Clone)]
pub struct Stage {
    /// Its id.
    pub id: StageAttempt,
    /// Its name, usually the call site. Stages share the text, because a loop gives many of them the same name.
    pub name: Option<Arc<str>>,
    /// How it ended.
    pub status: StageStatus,
    /// The log's message about a failure, truncated to a few lines.
    pub failure: Option<Box<str>>,
    /// When it was submitted.
    pub submitted_at: Option<Timestamp>,
    /// When it ended.
    pub completed_at: Option<Timestamp>,
    /// The announced number of tasks ("Number of Tasks").
    pub announced_tasks: Option<u64>,
    /// The stages it depends on.
    pub parents: Box<[u32]>,
    /// The resource profile of its tasks.
    pub resource_profile: Option<u32>,
    /// The job that ran it, as an index into [`super::Spark::jobs`]: the last job that needs the stage and
    /// existed when the attempt was submitted; `None` if no job names the stage.
    pub job: Option<usize>,
    /// The group of its tasks, as an index into `Application::groups`; `None` if the log has no tasks of it.
    pub group: Option<usize>,
    /// Final values of its accumulables by id, in id order; [`super::PlanMetric::accumulator`] says which
    /// belong to SQL plan nodes. Only whole numbers are kept.
    pub accumulables: Box<[(u64, i64)]>,
    /// Its place among the stage attempts in the order in which the log ends them: accumulables are totals up to then.
    pub ended_as: Option<u32>,
    /// Whether all its tasks must run at the same time (barrier execution).
    pub is_barrier: bool,
    /// Whether it is the first stage of the log that computes all partitions of one of the RDDs that are persisted: later
    /// stages read what was kept.
    pub fills_cache: bool,
    /// What its RDDs are.
    pub origins: Origins,
    /// The innermost call that created it (first line of "Details"): a method of Spark.
    pub first_call: Option<Arc<str>>,
}

impl Stage {
    /// A stage attempt with an id and nothing else.
    #[must_use]
    #[doc(hidden)]
    pub fn new(id: StageAttempt) -> Self {
        Self {
            id,
            name: None,
            status: StageStatus::Unfinished,
            failure: None,
            submitted_at: None,
            completed_at: None,
            announced_tasks: None,
            parents: Box::default(),
            resource_profile: None,
            job: None,
            group: None,
            accumulables: Box::default(),
            ended_as: None,
            is_barrier: false,
            fills_cache: false,
            origins: Origins::default(),
            first_call: None,
        }
    }

    /// From submission to end.
    #[must_use]
    pub fn duration(&self) -> Option<Millis> {
        Millis::between(self.submitted_at?, self.completed_at?)
    }
}

/// The name of a stage with "/opt/app/job.py:12" as "job.py:12": the file matters more than its folder.
#[must_use]
pub fn without_folders(name: &str) -> String {
    let words =
        name.split_whitespace().map(|word| word.rsplit('/').find(|part| !part.is_empty()).unwrap_or(word));
    words.collect::<Vec<_>>().join(" ")
}

/// A persisted RDD or cached table, from the last stage that names it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PersistedRdd {
    /// Its id.
    pub id: u32,
    /// Its name.
    pub name: Option<String>,
    /// Its partitions.
    pub partitions: Option<u64>,
    /// Number of partitions that were cached.
    pub cached_partitions: Option<u64>,
    /// Its size in memory; only before Spark 2.3, or with block updates logged.
    pub memory: Option<Bytes>,
    /// Its size on disk.
    pub disk: Option<Bytes>,
    /// Whether it was unpersisted before the application ended.
    pub unpersisted: bool,
}
