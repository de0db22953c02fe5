//! What an application cost: memory and cores over time, what of it was wasted, run time and wait time.
//!
//! MapReduce and Spark are charged by what they hold: a container for each attempt there, executors that live on
//! between tasks here. So each has parameters of its own.

mod mapreduce;
mod spark;

pub use mapreduce::{MetricParams, MetricParamsLayer, Usage, WithoutData, delay, requested_container};
pub(crate) use spark::executor_memory;
pub use spark::{
    ExecutorCounts, Formula, JobCounts, SparkCounts, SparkMetricParams, SparkMetricParamsLayer, StageCounts,
};

use crate::model::table::{Outcome, TaskGroup};
use crate::model::{Application, TaskCounts};
use crate::units::{CoreMillis, MbMillis, Millis};

/// The metrics of one application; what cannot be known is `None`.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Metrics {
    /// From submission to end.
    pub run_time: Option<Millis>,
    /// Time in which tasks waited for resources.
    pub wait_time: Option<Millis>,
    /// The part of `wait_time` in which reduces waited; MapReduce only.
    pub wait_of_reduces: Option<Millis>,
    /// The part of `wait_time` before the first executor came; Spark only.
    pub wait_for_first: Option<Millis>,
    /// Container memory × time over all that is charged.
    pub used: Option<MbMillis>,
    /// The part of `used` that lies above what was needed.
    pub wasted: Option<MbMillis>,
    /// The part of `used` that attempts took which failed.
    pub failed_attempts: Option<MbMillis>,
    /// The part of `used` that attempts took which were killed although no other attempt won.
    pub killed_attempts: Option<MbMillis>,
    /// The part of `used` that attempts took which were killed because another one won.
    pub losing_attempts: Option<MbMillis>,
    /// Cores × time that tasks held. Spark only: Hadoop's histories do not tell cores.
    pub cores_used: Option<CoreMillis>,
    /// Cores × time in which executors held a core and no task ran on it.
    pub cores_idle: Option<CoreMillis>,
    /// Counts of tasks and attempts by kind; `None` behind a limit, and where the history may end before the first one.
    pub tasks: Vec<(&'static str, Option<TaskCounts>)>,
    /// Counts that only Spark applications have; `None` also where the log ends before the first of what they count.
    pub spark: Option<SparkCounts>,
}

impl Metrics {
    /// Wasted memory as a share of used memory, in percent.
    #[must_use]
    pub fn wasted_percent(&self) -> Option<f64> {
        self.wasted.zip(self.used).and_then(|(wasted, used)| wasted.share_of(used)).map(|share| share * 100.0)
    }

    /// Idle cores as a share of all that executors held, in percent.
    #[must_use]
    pub fn idle_percent(&self) -> Option<f64> {
        let (idle, used) = self.cores_idle.zip(self.cores_used)?;
        idle.share_of(idle + used).map(|share| share * 100.0)
    }
}

fn run_time(app: &Application) -> Option<Millis> {
    Millis::between(app.submitted_at?, app.finished_at?)
}

/// Whether an attempt was killed because another one of its task succeeded.
fn other_attempt_won(group: &TaskGroup, row: usize) -> bool {
    let winner = group.attempts.task(row).and_then(|task| group.tasks.representative(task));
    winner.is_some_and(|winner| winner != row && group.attempts.outcome(winner) == Outcome::Succeeded)
}
