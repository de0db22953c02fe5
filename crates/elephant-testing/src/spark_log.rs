//! Event logs as Spark 3.5 writes them, from a short description of executors, tasks and how they ended.
//!
//! Jobs follow each other, and so do the stages of a job unless they have a start time. Times are milliseconds since
//! the application's start. [`App::text`] returns the log.

mod events;
mod query;

pub use query::{Metric, Operator, Query};

use serde_json::Value;

/// Start time of every application.
pub const START: i64 = 1_700_000_000_000;
pub const MIB: u64 = 1 << 20;
pub const GIB: u64 = 1 << 30;

/// An application.
#[derive(Debug, Clone, Default)]
pub struct App {
    /// "Spark Properties"; `spark.master` is `yarn` unless it is set here.
    pub conf: Vec<(String, String)>,
    pub executors: Vec<Executor>,
    pub jobs: Vec<Job>,
    /// SQL executions.
    pub queries: Vec<Query>,
    /// Peak values of the driver's executor metrics, as [`Executor::peaks`].
    pub driver_peaks: Vec<(&'static str, u64)>,
    /// Storage memory of the driver, and how much of it cached blocks use.
    pub driver_storage: (Option<u64>, u64),
    /// Additional events with their time.
    pub extra: Vec<(i64, Value)>,
    /// End time; `None` means one second after the last event.
    pub end: Option<i64>,
    /// Omits the end event of the application.
    pub unfinished: bool,
}

/// An executor.
#[derive(Debug, Clone)]
pub struct Executor {
    pub id: String,
    pub host: String,
    pub cores: u32,
    pub added: i64,
    /// When and why it was removed.
    pub removed: Option<(i64, String)>,
    /// Storage memory that its block manager reports.
    pub max_memory: Option<u64>,
    /// Storage memory used by cached blocks.
    pub cached: u64,
    /// Peak values of executor metrics, such as `("JVMHeapMemory", 5)`, reported at the end of each stage.
    pub peaks: Vec<(&'static str, u64)>,
}

/// A job.
#[derive(Debug, Clone, Default)]
pub struct Job {
    pub id: u32,
    /// Submission time; `None` means the end of the previous job.
    pub start: Option<i64>,
    pub stages: Vec<Stage>,
    pub failed: bool,
}

/// A stage attempt.
#[derive(Debug, Clone)]
pub struct Stage {
    pub id: u32,
    pub attempt: u32,
    pub name: String,
    /// Submission time; `None` means the end of the previous stage.
    pub start: Option<i64>,
    /// From submission to completion; `None` means until the last task ends.
    pub duration: Option<i64>,
    pub tasks: Vec<Task>,
    /// "Failure Reason".
    pub failure: Option<String>,
    /// "Details": the call stack, innermost call first.
    pub details: &'static str,
}

/// How an attempt ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    Success,
    /// An exception of this class with this message.
    Exception(&'static str, &'static str),
    /// The executor was lost, for this reason.
    ExecutorLost(&'static str),
    /// Shuffle data could not be fetched (`FetchFailed`).
    FetchFailed(&'static str),
    /// Killed, for this reason.
    Killed(&'static str),
    /// The log contains only its start.
    Unknown,
}

/// A task attempt.
#[derive(Debug, Clone)]
pub struct Task {
    /// Its index in the stage; `None` means its position in the list.
    pub index: Option<u32>,
    pub attempt: u32,
    pub executor: String,
    pub speculative: bool,
    /// Time after the start of its stage.
    pub launch: i64,
    /// From launch to finish.
    pub duration: i64,
    /// From launch to the moment at which the result was there and the driver began to fetch it.
    pub result_ready: Option<i64>,
    pub ending: Ending,
    /// Values of "Task Metrics" by path, such as `("Input Metrics.Bytes Read", 5)`, in Spark's units. "Executor Run
    /// Time" is the duration unless it is set here.
    pub metrics: Vec<(&'static str, u64)>,
    /// "Task Executor Metrics", as [`Executor::peaks`].
    pub peaks: Vec<(&'static str, u64)>,
}

impl App {
    /// An application with these settings and `executors` executors of `cores` cores.
    pub fn with(conf: &[(&str, &str)], executors: u32, cores: u32) -> Self {
        Self {
            conf: conf.iter().map(|&(name, value)| (name.to_owned(), value.to_owned())).collect(),
            executors: (1..=executors).map(|id| Executor::new(&id.to_string(), cores)).collect(),
            ..Self::default()
        }
    }

    /// Adds a job with one stage; ids are consecutive.
    #[must_use]
    pub fn stage(mut self, tasks: Vec<Task>) -> Self {
        let id = u32::try_from(self.jobs.len()).unwrap();
        self.jobs.push(Job { id, stages: vec![Stage::new(id, tasks)], ..Job::default() });
        self
    }

    /// The event log.
    pub fn text(&self) -> String {
        events::lines(self)
    }
}

impl Executor {
    pub fn new(id: &str, cores: u32) -> Self {
        Self {
            id: id.to_owned(),
            host: format!("worker{id}"),
            cores,
            added: 0,
            removed: None,
            max_memory: Some(434_031_820),
            cached: 0,
            peaks: Vec::new(),
        }
    }
}

impl Stage {
    pub fn new(id: u32, tasks: Vec<Task>) -> Self {
        Self {
            id,
            attempt: 0,
            name: format!("count at App.scala:{}", 10 + id),
            start: None,
            duration: None,
            tasks,
            failure: None,
            details: "",
        }
    }
}

impl Task {
    /// An attempt that succeeds on this executor after `duration`.
    pub fn new(executor: &str, duration: i64) -> Self {
        Self {
            index: None,
            attempt: 0,
            executor: executor.to_owned(),
            speculative: false,
            launch: 0,
            duration,
            result_ready: None,
            ending: Ending::Success,
            metrics: Vec::new(),
            peaks: Vec::new(),
        }
    }

    /// Adds a metric.
    #[must_use]
    pub fn metric(mut self, path: &'static str, value: u64) -> Self {
        self.metrics.push((path, value));
        self
    }

    /// Sets how the attempt ends.
    #[must_use]
    pub fn ending(mut self, ending: Ending) -> Self {
        self.ending = ending;
        self
    }
}
