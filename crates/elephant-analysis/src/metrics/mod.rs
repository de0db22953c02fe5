//! Cost of an application: memory and cores over time, the wasted part, run time and wait time.
//!
//! MapReduce is charged for one container per attempt, Spark for executors that stay alive between tasks, so
//! each has its own parameters.

mod at_least;
mod mapreduce;
pub mod spark;
mod tez;

pub use at_least::AtLeast;
pub use mapreduce::{MetricParams, Usage, delay, requested_container};
pub use spark::{
    ExecutorCounts, JobCounts, SparkCounts, SparkMetricParams, StageCounts, executor_memory,
    executor_memory_factor, idle_beyond, share_idle_beyond,
};
pub use tez::container_of_tasks;

use std::borrow::Cow;

use elephant_base::state::State;
use elephant_base::units::{CoreMillis, MbMillis, Millis};
use elephant_model::model::table::{Outcome, TaskGroup};
use elephant_model::model::{Application, Engine, TaskCounts};

/// The metrics of one application; unknown values are `None`.
#[derive(Debug, Clone, PartialEq, Default, State)]
pub struct Metrics {
    /// From submission to end.
    pub run_time: Option<Millis>,
    /// Time that tasks waited for resources.
    pub wait_time: Option<Millis>,
    /// The part of `wait_time` in which map tasks waited; MapReduce only.
    pub wait_of_maps: Option<Millis>,
    /// The part of `wait_time` in which reduce tasks waited; MapReduce only. Both may wait at the same time.
    pub wait_of_reduces: Option<Millis>,
    /// The part of `wait_time` before the first executor started; Spark only.
    pub wait_for_first: Option<Millis>,
    /// The part of `wait_time` for executors that started late; Spark only.
    pub wait_for_late: Option<Millis>,
    /// Container memory × time over everything charged.
    pub used: Option<MbMillis>,
    /// The part of `used` above the memory needed.
    pub wasted: Option<MbMillis>,
    /// The part of `used` for failed attempts.
    pub failed_attempts: Option<MbMillis>,
    /// The part of `used` for attempts that were killed although no other attempt succeeded.
    pub killed_attempts: Option<MbMillis>,
    /// The part of `used` for attempts that were killed because another attempt succeeded.
    pub losing_attempts: Option<MbMillis>,
    /// Cores × time used by tasks. Spark only: Hadoop does not log cores.
    pub cores_used: Option<CoreMillis>,
    /// Cores × time of executors without a running task.
    pub cores_idle: Option<CoreMillis>,
    /// Counts of tasks and attempts by kind; `None` if a limit cut the log off, or if the log may end before
    /// the first task.
    pub tasks: Vec<(Cow<'static, str>, Option<TaskCounts>)>,
    /// Counts for Spark applications only; `None` also if the log ends before the first counted item.
    pub spark: Option<SparkCounts>,
}

impl Metrics {
    /// Wasted memory as a share of used memory, in percent.
    #[must_use]
    pub fn wasted_percent(&self) -> Option<f64> {
        self.wasted.zip(self.used).and_then(|(wasted, used)| wasted.share_of(used)).map(|share| share * 100.0)
    }

    /// Idle core time as a share of all core time held by executors, in percent.
    #[must_use]
    pub fn idle_percent(&self) -> Option<f64> {
        let (idle, used) = self.cores_idle.zip(self.cores_used)?;
        idle.share_of(idle + used).map(|share| share * 100.0)
    }
}

/// From submission to end; of a DAG of Tez from its start, as Tez counts it (`timeTaken`).
#[must_use]
pub fn run_time(app: &Application) -> Option<Millis> {
    let start = match app.engine {
        Engine::Tez => app.launched_at.or(app.submitted_at),
        Engine::MapReduce | Engine::Spark => app.submitted_at,
    };
    Millis::between(start?, app.finished_at?)
}

/// Whether an attempt was killed because another attempt of its task succeeded.
fn other_attempt_won(group: &TaskGroup, row: usize) -> bool {
    let winner = group.attempts.task(row).and_then(|task| group.tasks.representative(task));
    winner.is_some_and(|winner| winner != row && group.attempts.outcome(winner) == Outcome::Succeeded)
}
