//! The typed model of one application: what every rule, metric and report reads.
//!
//! Parsers build it, nothing changes it afterwards. What a history does not say is `None`.

mod column;
pub mod conf;
pub mod counters;
mod interner;
mod job_type;
mod phase;
mod progress;
pub mod spark;
mod subject;
pub mod table;
mod task_counts;

pub use column::Column;
pub use interner::{Interner, Symbol};
pub use job_type::job_type;
pub use phase::Phase;
pub use progress::{ProgressLog, ProgressSplits};
pub use subject::Subject;
pub use task_counts::TaskCounts;

use crate::limits::Remainder;
use crate::units::Timestamp;
use conf::Conf;
use counters::{CounterMask, CounterSet};
use spark::{Facet, Spark};
use table::{TaskGroup, TaskKind};

/// The engine that ran an application.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Engine {
    /// Hadoop MapReduce, any generation.
    MapReduce,
    /// Apache Spark, any version.
    Spark,
}

impl Engine {
    /// The name in reports.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::MapReduce => "mapreduce",
            Self::Spark => "spark",
        }
    }
}

/// How an application ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub enum Status {
    /// It did its work.
    Succeeded,
    /// It failed, or its master died with an error.
    Failed,
    /// A user or the scheduler killed it.
    Killed,
    /// The history ends before the application does.
    Running,
    /// The history does not say.
    #[default]
    Unknown,
}

impl Status {
    /// The name in reports.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Succeeded => "succeeded",
            Self::Failed => "failed",
            Self::Killed => "killed",
            Self::Running => "running",
            Self::Unknown => "unknown",
        }
    }
}

/// Counters of the whole job as its history sums them up.
#[derive(Debug, Clone, Default)]
pub struct JobCounters {
    /// Over all tasks, with the job's own counters (`JobCounter`).
    pub total: Option<CounterSet>,
    /// Over the maps.
    pub map: Option<CounterSet>,
    /// Over the reduces.
    pub reduce: Option<CounterSet>,
}

/// How many tasks of each kind the history announced before it ran them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Announced {
    /// Maps.
    pub maps: Option<u64>,
    /// Reduces.
    pub reduces: Option<u64>,
}

/// One start of the application's master.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MasterAttempt {
    /// When it started.
    pub started_at: Option<Timestamp>,
    /// The host it ran on.
    pub node: Option<Symbol>,
}

/// One application: a MapReduce job or a Spark application.
#[derive(Debug, Clone)]
pub struct Application {
    /// The job's or application's id.
    pub id: String,
    /// What ran it.
    pub engine: Engine,
    /// The engine's version where the history tells it.
    pub engine_version: Option<String>,
    /// The name its user gave it.
    pub name: Option<String>,
    /// Its user.
    pub user: Option<String>,
    /// Its queue.
    pub queue: Option<String>,
    /// How it ended.
    pub status: Status,
    /// Whether the history tells the application from its beginning to its end without gaps.
    pub complete: bool,
    /// Whether events of a MapReduce history are missing or cannot be read, not only counters in them.
    pub events_missing: bool,
    /// What a limit has left of it, where one was reached.
    pub limit: Option<Remainder>,
    /// When it was submitted.
    pub submitted_at: Option<Timestamp>,
    /// When its first task could be launched.
    pub launched_at: Option<Timestamp>,
    /// When it ended.
    pub finished_at: Option<Timestamp>,
    /// Whether all tasks ran inside the master (Hadoop's "uber" mode).
    pub uberized: Option<bool>,
    /// What the history says about an unsuccessful end.
    pub diagnostics: Option<String>,
    /// Tasks that were announced.
    pub announced: Announced,
    /// The starts of the application's master.
    pub masters: Vec<MasterAttempt>,
    /// The task table, groups in the order of [`TaskKind`].
    pub groups: Vec<TaskGroup>,
    /// Counters of the whole job.
    pub counters: JobCounters,
    /// Its configuration; empty when no configuration file was found.
    pub conf: Conf,
    /// Hosts, racks, counter names and messages that the tables refer to.
    pub strings: Interner,
    /// What only Spark applications have.
    pub spark: Option<Box<Spark>>,
}

impl Application {
    /// An application about which nothing is known but its engine.
    #[must_use]
    pub fn new(engine: Engine) -> Self {
        Self {
            id: String::new(),
            engine,
            engine_version: None,
            name: None,
            user: None,
            queue: None,
            status: Status::Unknown,
            complete: false,
            events_missing: false,
            limit: None,
            submitted_at: None,
            launched_at: None,
            finished_at: None,
            uberized: None,
            diagnostics: None,
            announced: Announced::default(),
            masters: Vec::new(),
            groups: Vec::new(),
            counters: JobCounters::default(),
            conf: Conf::default(),
            strings: Interner::default(),
            spark: None,
        }
    }

    /// Why what rests on `facets` and reads these counters of each kind of tasks is partial, in words to follow
    /// "because"; `None` where nothing of it is missing.
    #[must_use]
    pub fn partial(&self, facets: &[Facet], reads: impl Fn(TaskKind) -> CounterMask) -> Option<String> {
        let missing = self.missing(facets);
        if self.limit.is_some() && missing.is_some() {
            return missing;
        }
        let reasons: Vec<String> = missing.into_iter().chain(self.unread_counters(reads)).collect();
        (!reasons.is_empty()).then(|| reasons.join(", "))
    }

    /// What is missing of `facets`. A history of MapReduce has all events of a job or counts as partial as a whole.
    fn missing(&self, facets: &[Facet]) -> Option<String> {
        if let Some(spark) = &self.spark {
            return spark.gaps.reason(facets);
        }
        if !self.events_missing || facets.is_empty() {
            return None;
        }
        Some(match (self.limit, self.status) {
            (Some(limit), _) => limit.to_string(),
            (None, Status::Running) => "the history ends before the job does".to_owned(),
            (None, _) => "a part of the history is missing or cannot be read".to_owned(),
        })
    }

    /// Why so much of a Spark application is missing that the opposite of what is shown could be true of the whole.
    #[must_use]
    pub fn lacks_much(&self) -> Option<String> {
        self.spark.as_ref()?.gaps.much(self.task_count())
    }

    /// Why something is unknown: it may lie behind a limit, which is told first.
    #[must_use]
    pub fn behind_limit(&self, reason: String) -> String {
        match self.limit.map(|limit| limit.to_string()) {
            Some(limit) if !reason.starts_with(&limit) => format!("{limit}; {reason}"),
            _ => reason,
        }
    }

    /// Which of the counters that `reads` names for each kind of tasks cannot be read of some attempt, in words to follow
    /// "because".
    #[must_use]
    pub fn unread_counters(&self, reads: impl Fn(TaskKind) -> CounterMask) -> Option<String> {
        // A log may have a million stages.
        if self.spark.as_ref().is_some_and(|spark| spark.gaps.counters == 0) {
            return None;
        }
        let (mut unread, mut attempts) = (CounterMask::NONE, 0);
        for group in &self.groups {
            let of_group = group.attempts.any_unread().and(reads(group.kind));
            if !of_group.is_empty() {
                attempts += group.attempts.count_unread(of_group);
                unread.insert_all(of_group);
            }
        }
        let names: Vec<&str> = unread.iter().map(|counter| counter.name_in(self.engine)).collect();
        let of = if attempts == 1 { "1 attempt".to_owned() } else { format!("{attempts} attempts") };
        (!names.is_empty()).then(|| format!("{} of {of} cannot be read", names.join(" and ")))
    }

    /// Why the history is incomplete, in words to follow "because"; `None` where it is complete.
    #[must_use]
    pub fn why_incomplete(&self) -> Option<String> {
        let some_part = || "a part of the history is missing or cannot be read".to_owned();
        let why = || match &self.spark {
            Some(spark) => spark.gaps.why(),
            None => self.partial(&Facet::ALL, |_| CounterMask::ALL),
        };
        (!self.complete).then(|| why().unwrap_or_else(some_part))
    }

    /// The tasks of one kind, if the history shows any.
    #[must_use]
    pub fn group(&self, kind: TaskKind) -> Option<&TaskGroup> {
        self.groups.iter().find(|group| group.kind == kind)
    }

    /// How many tasks the history shows, of all kinds.
    #[must_use]
    pub fn task_count(&self) -> u64 {
        self.groups.iter().map(|group| group.tasks.len() as u64).sum()
    }
}
