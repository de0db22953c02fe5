//! What a Spark event log tells beyond tasks: jobs, stages, executors, SQL executions, and what is missing.
//!
//! Names and meanings follow Spark's `org.apache.spark.scheduler.SparkListenerEvent` and `JsonProtocol`.

mod cluster;
mod executor;
mod gaps;
mod job;
mod sql;
mod stage;

pub use cluster::ClusterManager;
pub use executor::{
    Exclusion, Executor, ExecutorMetric, ExecutorTotals, Peaks, ResourceProfile, StorageMemory,
};
pub use gaps::{Facet, Gaps};
pub use job::{Job, JobResult};
pub use sql::{PlanMetric, PlanNode, SqlExecution};
pub use stage::{PersistedRdd, Stage, StageAttempt, StageStatus};

use crate::model::counters::Counter;
use crate::units::{Bytes, Timestamp};

/// What only Spark applications have.
#[derive(Debug, Clone, Default)]
pub struct Spark {
    /// Which attempt of the application this is, as the cluster manager counts them.
    pub attempt: Option<String>,
    /// The log itself.
    pub log: LogFacts,
    /// Jobs by id.
    pub jobs: Vec<Job>,
    /// Stage attempts by id, only those that were submitted or ran a task.
    pub stages: Vec<Stage>,
    /// Every executor that the log names, whether or not it was still alive at the end, without the driver; in
    /// the order of their ids, numbers first, and of their lives where an id was used again.
    pub executors: Vec<Executor>,
    /// The driver. In local mode it runs the tasks.
    pub driver: Executor,
    /// Resource profiles by id; the default profile is 0 and may be missing in logs before 3.1.
    pub resource_profiles: Vec<ResourceProfile>,
    /// RDDs and tables that were kept in memory or on disk.
    pub rdds: Vec<PersistedRdd>,
    /// SQL executions by id.
    pub sql: Vec<SqlExecution>,
    /// Nodes that were excluded (`spark.excludeOnFailure`, before 3.1 "blacklisted").
    pub excluded_nodes: Vec<Exclusion>,
    /// What the log announces and does not deliver.
    pub gaps: Gaps,
}

/// What is known of the log as a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct LogFacts {
    /// Bytes as stored, over all parts.
    pub stored: Option<Bytes>,
    /// Bytes of JSON once decoded.
    pub decoded: Bytes,
    /// Whether the log is written in parts (`spark.eventLog.rolling.enabled`).
    pub rolling: bool,
    /// Whether a history server has compacted it: the tasks of finished jobs are gone then.
    pub compacted: bool,
    /// The last moment of which the log tells.
    pub last_event: Option<Timestamp>,
}

impl Spark {
    /// A stage attempt by its id.
    #[must_use]
    pub fn stage(&self, id: StageAttempt) -> Option<&Stage> {
        let at = self.stages.binary_search_by_key(&id, |stage| stage.id).ok()?;
        self.stages.get(at)
    }

    /// The executors of this id: more than one where the id was used again, none where it is unknown.
    #[must_use]
    pub fn executors_with_id(&self, id: &str) -> &[Executor] {
        let wanted = Executor::order(id);
        let start = self.executors.partition_point(|executor| Executor::order(&executor.id) < wanted);
        let rest = self.executors.get(start..).unwrap_or_default();
        let count = rest.iter().take_while(|executor| executor.id == id).count();
        rest.get(..count).unwrap_or_default()
    }

    /// The resource profile of this id.
    #[must_use]
    pub fn resource_profile(&self, id: u32) -> Option<&ResourceProfile> {
        let place = self.resource_profiles.binary_search_by_key(&id, |profile| profile.id).ok()?;
        self.resource_profiles.get(place)
    }

    /// Whether one of these counters cannot be read of a task, so that its sum over executors is not known.
    #[must_use]
    pub fn any_unread(&self, counters: &[Counter]) -> bool {
        self.workers().any(|worker| worker.totals.unread.has_any(counters))
    }

    /// The processes that ran tasks: the executors, or the driver where it ran them itself (local mode).
    pub fn workers(&self) -> impl Iterator<Item = &Executor> {
        let driver = self.driver.totals.tasks > 0;
        self.executors.iter().chain(driver.then_some(&self.driver))
    }
}
