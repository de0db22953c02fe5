//! Stages and the RDDs that they persist.

use std::fmt;

use crate::units::{Bytes, Millis, Timestamp};

/// One attempt of a stage: `3.0` is the first attempt of stage 3.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
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
    /// The log does not tell its end.
    #[default]
    Unfinished,
    /// It did its work.
    Complete,
    /// It failed; see [`Stage::failure`].
    Failed,
}

/// One stage attempt (`StageInfo`).
#[derive(Debug, Clone)]
pub struct Stage {
    /// Its id.
    pub id: StageAttempt,
    /// Its name, mostly the call site.
    pub name: Option<String>,
    /// How it ended.
    pub status: StageStatus,
    /// What the log says about a failure, cut to a few lines.
    pub failure: Option<String>,
    /// When it was submitted.
    pub submitted_at: Option<Timestamp>,
    /// When it ended.
    pub completed_at: Option<Timestamp>,
    /// How many tasks it announced ("Number of Tasks").
    pub announced_tasks: Option<u64>,
    /// The stages that it waits for.
    pub parents: Vec<u32>,
    /// The resource profile of its tasks.
    pub resource_profile: Option<u32>,
    /// The job that ran it: its place in [`super::Spark::jobs`]. Of the jobs that need the stage, the last one that was
    /// there when the attempt was submitted; `None` where no job names it.
    pub job: Option<usize>,
    /// Its tasks: the place of its group in `Application::groups`; `None` where the log shows none.
    pub group: Option<usize>,
    /// Final values of its accumulables by id, in id order; those of SQL plan nodes are told by
    /// [`super::PlanMetric::accumulator`]. Only whole numbers are kept.
    pub accumulables: Vec<(u64, i64)>,
}

impl Stage {
    /// A stage attempt of which nothing else is known.
    #[must_use]
    pub const fn new(id: StageAttempt) -> Self {
        Self {
            id,
            name: None,
            status: StageStatus::Unfinished,
            failure: None,
            submitted_at: None,
            completed_at: None,
            announced_tasks: None,
            parents: Vec::new(),
            resource_profile: None,
            job: None,
            group: None,
            accumulables: Vec::new(),
        }
    }

    /// From submission to end.
    #[must_use]
    pub fn duration(&self) -> Option<Millis> {
        Millis::between(self.submitted_at?, self.completed_at?)
    }
}

/// An RDD or cached table that was persisted, as the last stage that names it tells.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PersistedRdd {
    /// Its id.
    pub id: u32,
    /// Its name.
    pub name: Option<String>,
    /// Its partitions.
    pub partitions: Option<u64>,
    /// Partitions that were cached.
    pub cached_partitions: Option<u64>,
    /// What it held in memory; before Spark 2.3 and with block updates logged.
    pub memory: Option<Bytes>,
    /// What it held on disk.
    pub disk: Option<Bytes>,
    /// Whether it was given back before the application ended.
    pub unpersisted: bool,
}
