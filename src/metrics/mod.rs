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

use crate::model::Application;
use crate::model::table::{Outcome, TaskGroup};
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

/// Counts of one kind of tasks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct TaskCounts {
    /// Tasks.
    pub total: u64,
    /// Tasks that succeeded.
    pub succeeded: u64,
    /// Tasks that failed.
    pub failed: u64,
    /// Tasks that were killed.
    pub killed: u64,
    /// Attempts, ended or not.
    pub attempts: u64,
    /// Attempts that were launched while another of their task ran.
    pub speculative_attempts: u64,
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

impl TaskCounts {
    /// The counts of one group.
    pub(crate) fn of(group: &TaskGroup) -> Self {
        let attempts = group.attempts.len();
        Self {
            total: group.tasks.len() as u64,
            succeeded: group.count_tasks(Outcome::Succeeded),
            failed: group.count_tasks(Outcome::Failed),
            killed: group.count_tasks(Outcome::Killed),
            attempts: attempts as u64,
            speculative_attempts: (0..attempts)
                .filter(|&row| group.attempts.is_speculative(row) == Some(true))
                .count() as u64,
        }
    }

    fn plus(self, other: Self) -> Self {
        Self {
            total: self.total + other.total,
            succeeded: self.succeeded + other.succeeded,
            failed: self.failed + other.failed,
            killed: self.killed + other.killed,
            attempts: self.attempts + other.attempts,
            speculative_attempts: self.speculative_attempts + other.speculative_attempts,
        }
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
