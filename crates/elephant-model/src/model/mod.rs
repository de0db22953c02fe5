//! The typed model of one application: the input of every rule, metric and report.
//!
//! Parsers build it; afterwards nothing changes it. Values that the log does not contain are `None`.

mod cluster;
mod collector;
mod column;
pub mod conf;
pub mod counters;
mod interner;
mod job_purpose;
mod job_script;
mod job_type;
mod phase;
mod progress;
mod run_counters;
pub mod spark;
mod subject;
pub mod table;
mod task_counts;
mod task_memory;
pub mod tez;

pub use cluster::cluster_of;
pub use collector::Collector;
pub use column::Column;
pub use interner::{Interner, Symbol};
pub use job_purpose::{JobInput, JobTool};
pub use job_script::{hive_query, job_script, sorts_all_rows};
pub use job_type::job_type;
pub use phase::Phase;
pub use progress::{ProgressLog, ProgressSplits};
#[doc(hidden)]
pub use run_counters::RUN_COUNTERS;
pub use subject::Subject;
pub use task_counts::TaskCounts;

use conf::{Conf, ConfKey};
use counters::{CounterMask, CounterSet};
use elephant_base::limits::Remainder;
use elephant_base::state::State;
use elephant_base::units::Timestamp;
pub use elephant_gc_log as gc_log;
use elephant_gc_log::{GcLog, Process};
use spark::{Facet, Spark};
use table::{TaskGroup, TaskKind, TimePoint};
use tez::Tez;

/// The engine that ran an application.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, State)]
pub enum Engine {
    /// Hadoop MapReduce, any generation.
    MapReduce,
    /// Apache Spark, any version.
    Spark,
    /// Apache Tez, any version: one DAG.
    Tez,
}

impl Engine {
    /// Every engine, in the order of reports.
    pub const ALL: [Self; 3] = [Self::MapReduce, Self::Spark, Self::Tez];

    /// The engine with this name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|engine| engine.name() == name)
    }

    /// The name in reports.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::MapReduce => "mapreduce",
            Self::Spark => "spark",
            Self::Tez => "tez",
        }
    }
}

/// How an application ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, State)]
pub enum Status {
    /// It completed successfully.
    Succeeded,
    /// It failed, or its application master died with an error.
    Failed,
    /// A user or the scheduler killed it.
    Killed,
    /// The log ends before the application does.
    Running,
    /// The log does not say.
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

/// Counters of the whole job, as summed by Hadoop.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct JobCounters {
    /// Over all tasks, including the job's own counters (`JobCounter`).
    pub total: Option<CounterSet>,
    /// Over the maps.
    pub map: Option<CounterSet>,
    /// Over the reduces.
    pub reduce: Option<CounterSet>,
}

/// Number of tasks of each kind that the job announced before it ran them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Announced {
    /// Maps.
    pub maps: Option<u64>,
    /// Reduces.
    pub reduces: Option<u64>,
}

/// One attempt of the application master.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MasterAttempt {
    /// When it started.
    pub started_at: Option<Timestamp>,
    /// The host it ran on.
    pub node: Option<Symbol>,
}

/// One application: a MapReduce job, a Spark application, or a DAG of Tez.
#[derive(Debug, Clone)]
pub struct Application {
    /// The job's or application's id.
    pub id: String,
    /// The engine that ran it.
    pub engine: Engine,
    /// The engine's version, if the log contains it.
    pub engine_version: Option<String>,
    /// The name given by its user.
    pub name: Option<String>,
    /// The user who ran it.
    pub user: Option<String>,
    /// Its queue.
    pub queue: Option<String>,
    /// Its final status.
    pub status: Status,
    /// Whether the log covers the application from beginning to end without gaps.
    pub complete: bool,
    /// Whether events of a job history are missing or cannot be read, not just counters in them.
    pub events_missing: bool,
    /// Whether answers of servers tell it, whose names and times may differ from those of its history.
    pub told_by_servers: bool,
    /// How much of it was read, if a limit was reached.
    pub limit: Option<Remainder>,
    /// When it was submitted.
    pub submitted_at: Option<Timestamp>,
    /// When its first task could be launched.
    pub launched_at: Option<Timestamp>,
    /// When it ended.
    pub finished_at: Option<Timestamp>,
    /// Whether all tasks ran inside the application master (Hadoop's "uber" mode).
    pub uberized: Option<bool>,
    /// The log's explanation of an unsuccessful end.
    pub diagnostics: Option<String>,
    /// Numbers of announced tasks.
    pub announced: Announced,
    /// The attempts of the application master.
    pub masters: Vec<MasterAttempt>,
    /// The task table, with groups in the order of [`TaskKind`].
    pub groups: Vec<TaskGroup>,
    /// Counters of the whole job.
    pub counters: JobCounters,
    /// Its configuration; empty if no configuration was found.
    pub conf: Conf,
    /// Sizes of containers that are unknown, because their settings or counters cannot be right.
    pub unknown_sizes: Vec<ConfKey>,
    /// Hosts, racks, counter names and messages that the tables refer to.
    pub strings: Interner,
    /// Facts about Spark applications only.
    pub spark: Option<Box<Spark>>,
    /// Facts about DAGs of Tez only.
    pub tez: Option<Box<Tez>>,
    /// Logs of the garbage collectors of its processes, by process; empty if none was found.
    pub gc_logs: Vec<ProcessGcLog>,
}

/// The log of the garbage collector of one process.
#[derive(Debug, Clone, PartialEq)]
pub struct ProcessGcLog {
    /// The process, by the path of the log.
    pub process: Process,
    /// What the log tells.
    pub log: GcLog,
    /// The file, for several parts the first one.
    pub source: String,
}

impl Application {
    /// Whether a job tracker (Hadoop 0.20 and 1) ran the job. Its ids have the time of its start to the minute, such as
    /// `job_201311192236_0042`; those of YARN have milliseconds.
    #[must_use]
    #[doc(hidden)]
    pub fn ran_on_job_tracker(&self) -> bool {
        let mut parts = self.id.split('_');
        let (prefix, started) = (parts.next(), parts.next());
        self.engine == Engine::MapReduce
            && prefix == Some("job")
            && started.is_some_and(|started| {
                started.len() == "201311192236".len() && started.bytes().all(|byte| byte.is_ascii_digit())
            })
    }

    /// An application with an engine and nothing else.
    #[must_use]
    #[doc(hidden)]
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
            told_by_servers: false,
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
            unknown_sizes: Vec::new(),
            strings: Interner::default(),
            spark: None,
            tez: None,
            gc_logs: Vec::new(),
        }
    }

    /// Why a result that depends on `facets` and reads these counters of each task kind is partial, in words
    /// to follow "because"; `None` if nothing of it is missing.
    #[must_use]
    #[doc(hidden)]
    pub fn partial(&self, facets: &[Facet], reads: impl Fn(TaskKind) -> CounterMask) -> Option<String> {
        let missing = self.missing(facets);
        if self.limit.is_some() && missing.is_some() {
            return missing;
        }
        let reasons: Vec<String> = missing.into_iter().chain(self.unreadable_counters(reads)).collect();
        (!reasons.is_empty()).then(|| reasons.join(", "))
    }

    /// What is missing of `facets`. A MapReduce job history has all events of its job, or counts as partial
    /// as a whole.
    fn missing(&self, facets: &[Facet]) -> Option<String> {
        if let Some(spark) = &self.spark {
            return spark.gaps.reason(facets);
        }
        if !self.events_missing || facets.is_empty() {
            return None;
        }
        Some(match (self.limit, self.status) {
            (Some(limit), _) => limit.to_string(),
            (None, Status::Running) => "the job history ends before the job does".to_owned(),
            (None, _) => "a part of the job history is missing or cannot be read".to_owned(),
        })
    }

    /// Why so much of a Spark application is missing that the whole could show the opposite of what the log
    /// shows.
    #[must_use]
    #[doc(hidden)]
    pub fn lacks_much(&self) -> Option<String> {
        self.spark.as_ref()?.gaps.much(self.task_count())
    }

    /// Adds the limit, if one was reached, to the reason why something is unknown.
    #[must_use]
    #[doc(hidden)]
    pub fn behind_limit(&self, reason: String) -> String {
        match self.limit.map(|limit| limit.to_string()) {
            Some(limit) if !reason.starts_with(&limit) => format!("{limit}; {reason}"),
            _ => reason,
        }
    }

    /// Which of the counters that `reads` names for each task kind cannot be read for some attempt, in words
    /// to follow "because".
    #[must_use]
    #[doc(hidden)]
    pub fn unreadable_counters(&self, reads: impl Fn(TaskKind) -> CounterMask) -> Option<String> {
        // There may be a million stages, so skip the search if no counter is unreadable.
        if self.spark.as_ref().is_some_and(|spark| spark.gaps.counters == 0) {
            return None;
        }
        let (mut unreadable, mut attempts) = (CounterMask::NONE, 0);
        for group in &self.groups {
            let of_group = group.attempts.any_unreadable().and(reads(group.kind));
            if !of_group.is_empty() {
                attempts += group.attempts.count_unreadable(of_group);
                unreadable.insert_all(of_group);
            }
        }
        let names: Vec<&str> = unreadable.iter().map(|counter| counter.name_in(self.engine)).collect();
        let of = if attempts == 1 { "1 attempt".to_owned() } else { format!("{attempts} attempts") };
        (!names.is_empty()).then(|| format!("{} of {of} cannot be read", names.join(" and ")))
    }

    /// Whether the history tells when each task ran, and on which executor, whatever else it may lack.
    #[must_use]
    pub fn has_schedule(&self) -> bool {
        let leaves_it = |spark: &Spark| !spark.gaps.none() && spark.gaps.leave_schedule();
        self.complete || self.spark.as_deref().is_some_and(leaves_it)
    }

    /// Why the log is incomplete, in words to follow "because"; `None` if it is complete.
    #[must_use]
    pub fn why_incomplete(&self) -> Option<String> {
        let some_part = || "a part of the log is missing or cannot be read".to_owned();
        let why = || match &self.spark {
            Some(spark) => spark.gaps.why(),
            None => self.partial(&Facet::ALL, |_| CounterMask::ALL),
        };
        (!self.complete).then(|| why().unwrap_or_else(some_part))
    }

    /// The tasks of one kind, if the log has any.
    #[must_use]
    pub fn group(&self, kind: TaskKind) -> Option<&TaskGroup> {
        self.groups.iter().find(|group| group.kind == kind)
    }

    /// The latest time in the log, if it is known: its end, or the last event or attempt before that.
    #[must_use]
    #[doc(hidden)]
    pub fn last_time(&self) -> Option<Timestamp> {
        let of_log = self.spark.as_ref().and_then(|spark| spark.log.last_event);
        let of_attempts = self.groups.iter().flat_map(|group| {
            let points = [TimePoint::Start, TimePoint::Finish];
            (0..group.attempts.len()).flat_map(move |row| points.map(|point| group.attempts.time(row, point)))
        });
        self.finished_at.or(of_log).or_else(|| of_attempts.flatten().max())
    }

    /// Number of tasks of all kinds in the log.
    #[must_use]
    pub fn task_count(&self) -> u64 {
        self.groups.iter().map(|group| group.tasks.len() as u64).sum()
    }
}
