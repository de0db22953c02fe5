//! Contents of a Spark event log other than tasks: jobs, stages, executors, SQL executions, and gaps.
//!
//! Names and meanings follow Spark's `org.apache.spark.scheduler.SparkListenerEvent` and `JsonProtocol`.

mod cluster;
mod executor;
mod gaps;
mod job;
mod native;
mod origin;
mod peaks;
mod platform;
mod rare;
mod resources;
mod sql;
mod stage;
mod stream;

pub use cluster::ClusterManager;
pub use executor::{Exclusion, Executor, ExecutorTotals, StorageMemory};
pub use gaps::{Facet, Gaps};
pub use job::{Job, JobResult};
pub use native::NativeEngine;
pub use origin::{Origin, Origins};
pub use peaks::{ExecutorMetric, Peaks};
pub use platform::{Platform, ShuffleService, is_databricks_job};
pub use rare::{Rare, Unsaid};
pub use resources::{Limit, Placement, Resource, ResourceProfile, TaskResource};
pub use sql::{
    Fallback, JoinKind, Operator, OperatorEngine, OperatorKind, Plan, PlanFact, PlanMetric, PlanText,
    SqlCounter, SqlExecution, Unit, counter_of, is_reuse, names_of_counters, plain_name,
};
pub use stage::{PersistedRdd, Stage, StageAttempt, StageStatus, without_folders};
pub use stream::{Batch, BatchPart, EarlierBatches, SourceProgress, StateProgress, Stream};

use std::collections::BTreeMap;

use crate::model::counters::Counter;
use elephant_base::units::{Bytes, Timestamp};

/// Facts about Spark applications only.
#[derive(Debug, Clone, Default)]
pub struct Spark {
    /// The attempt of the application, as counted by the cluster manager.
    pub attempt: Option<String>,
    /// The log itself.
    pub log: LogFacts,
    /// Jobs by id.
    pub jobs: Vec<Job>,
    /// Stage attempts by id; only those that were submitted or ran a task.
    pub stages: Vec<Stage>,
    /// Every executor that the log names, dead or alive at the end, without the driver; in the order of their
    /// ids, numbers first, and of their start times if an id was reused.
    pub executors: Vec<Executor>,
    /// The driver. In local mode it runs the tasks.
    pub driver: Executor,
    /// Resource profiles by id; the default profile is 0 and may be missing in logs before 3.1.
    pub resource_profiles: Vec<ResourceProfile>,
    /// RDDs and tables that were persisted.
    pub rdds: Vec<PersistedRdd>,
    /// SQL executions by id.
    pub sql: Vec<SqlExecution>,
    /// Runs of streaming queries, in the order of the log.
    pub streams: Vec<Stream>,
    /// Nodes that were excluded (`spark.excludeOnFailure`, before 3.1 "blacklisted").
    pub excluded_nodes: Vec<Exclusion>,
    /// Nodes that were excluded for single stages, with the most executor failures that led to it.
    pub nodes_excluded_for_stages: BTreeMap<String, Option<u64>>,
    /// The driver's exit code, which Spark 4 logs.
    pub exit_code: Option<i32>,
    /// What the log announces but does not contain.
    pub gaps: Gaps,
}

/// Facts about the log as a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct LogFacts {
    /// Stored size, over all parts.
    pub stored: Option<Bytes>,
    /// Size of the decoded JSON.
    pub decoded: Bytes,
    /// Whether the log is written in parts (`spark.eventLog.rolling.enabled`).
    pub rolling: bool,
    /// Whether a history server compacted it, which drops the tasks of finished jobs.
    pub compacted: bool,
    /// Time of the latest event in the log.
    pub last_event: Option<Timestamp>,
}

impl Spark {
    /// A stage attempt by its id.
    #[must_use]
    pub fn stage(&self, id: StageAttempt) -> Option<&Stage> {
        let at = self.stages.binary_search_by_key(&id, |stage| stage.id).ok()?;
        self.stages.get(at)
    }

    /// All attempts of a stage.
    #[doc(hidden)]
    pub fn attempts_of(&self, stage: u32) -> impl Iterator<Item = &Stage> {
        let first = self.stages.partition_point(|other| other.id.stage < stage);
        let rest = self.stages.get(first..).unwrap_or_default();
        rest.iter().take_while(move |other| other.id.stage == stage)
    }

    /// The SQL execution with this id.
    #[must_use]
    pub fn query(&self, id: u64) -> Option<&SqlExecution> {
        let at = self.sql.binary_search_by_key(&id, |execution| execution.id).ok()?;
        self.sql.get(at)
    }

    /// The job that ran the stage; see [`Stage::job`].
    #[must_use]
    #[doc(hidden)]
    pub fn job_of(&self, stage: &Stage) -> Option<&Job> {
        self.jobs.get(stage.job?)
    }

    /// The executors with this id: several if the id was reused, none if it is unknown.
    #[must_use]
    pub fn executors_with_id(&self, id: &str) -> &[Executor] {
        let wanted = Executor::order(id);
        let start = self.executors.partition_point(|executor| Executor::order(&executor.id) < wanted);
        let rest = self.executors.get(start..).unwrap_or_default();
        let count = rest.iter().take_while(|executor| executor.id == id).count();
        rest.get(..count).unwrap_or_default()
    }

    /// The resource profile with this id.
    #[must_use]
    #[doc(hidden)]
    pub fn resource_profile(&self, id: u32) -> Option<&ResourceProfile> {
        let place = self.resource_profiles.binary_search_by_key(&id, |profile| profile.id).ok()?;
        self.resource_profiles.get(place)
    }

    /// Whether one of these counters cannot be read for some task, so that its sum over executors is unknown.
    #[must_use]
    #[doc(hidden)]
    pub fn any_unreadable(&self, counters: &[Counter]) -> bool {
        self.workers().any(|worker| worker.totals.unreadable.has_any(counters))
    }

    /// The processes that ran tasks: the executors, or the driver if it ran them itself (local mode).
    pub fn workers(&self) -> impl Iterator<Item = &Executor> {
        let driver = self.driver.totals.tasks > 0;
        self.executors.iter().chain(driver.then_some(&self.driver))
    }
}
