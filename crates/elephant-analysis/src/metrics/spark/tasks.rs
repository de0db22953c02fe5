//! Resources that tasks used on their executors: cores, and the memory of unsuccessful attempts.

use super::lifetimes::{Lifetime, Lifetimes};
use crate::metrics::other_attempt_won;
use elephant_base::units::{CoreMillis, MbMillis, Millis};
use elephant_model::model::Application;
use elephant_model::model::conf::ConfKey;
use elephant_model::model::spark::{Facet, Spark};
use elephant_model::model::table::{Outcome, TaskGroup, TaskKind, TimePoint};

/// Resources used by tasks; a sum is `None` if a part of it is unknown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct TaskCosts {
    pub(super) cores: Option<CoreMillis>,
    pub(super) failed: Option<MbMillis>,
    pub(super) killed: Option<MbMillis>,
    pub(super) losing: Option<MbMillis>,
}

impl TaskCosts {
    /// `None` if the log lacks tasks or their ends.
    pub(super) fn of(app: &Application, spark: &Spark, lifetimes: &Lifetimes<'_>) -> Option<Self> {
        if spark.gaps.reason(&[Facet::Tasks]).is_some() {
            return None;
        }
        let nothing = Some(MbMillis::ZERO);
        let mut costs =
            Self { cores: Some(CoreMillis::ZERO), failed: nothing, killed: nothing, losing: nothing };
        for group in &app.groups {
            let cpus = task_cpus(app, spark, group);
            for row in 0..group.attempts.len() {
                costs.add(group, row, cpus, lifetimes);
            }
        }
        Some(costs)
    }

    fn add(&mut self, group: &TaskGroup, row: usize, cpus: Option<u64>, lifetimes: &Lifetimes<'_>) {
        let used = Occupancy::of(group, row, lifetimes);
        let time = used.as_ref().map(|used| used.time);
        let cores = time.zip(cpus).map(|(time, cpus)| CoreMillis::of(cpus, time));
        self.cores = self.cores.zip(cores).map(|(sum, part)| sum + part);
        let sum = match group.attempts.outcome(row) {
            Outcome::Failed => &mut self.failed,
            Outcome::Killed if other_attempt_won(group, row) => &mut self.losing,
            Outcome::Killed => &mut self.killed,
            Outcome::Succeeded | Outcome::Unfinished => return,
        };
        let memory = used.zip(cpus).and_then(|(used, cpus)| used.memory(cpus));
        *sum = sum.zip(memory).map(|(sum, part)| sum + part);
    }
}

/// Time that an attempt occupied an executor.
struct Occupancy<'a, 'b> {
    time: Millis,
    lifetime: Option<&'a Lifetime<'b>>,
}

impl<'a, 'b> Occupancy<'a, 'b> {
    /// An attempt without an end ran as long as its executor, because the application ended first.
    fn of(group: &TaskGroup, row: usize, lifetimes: &'a Lifetimes<'b>) -> Option<Self> {
        let attempts = &group.attempts;
        let start = attempts.time(row, TimePoint::Start)?;
        let finish = attempts.time(row, TimePoint::Finish);
        match attempts.executor(row).and_then(|executor| lifetimes.find(executor, start)) {
            Some(lifetime) => Some(Self { time: lifetime.part_of(start, finish), lifetime: Some(lifetime) }),
            None => Some(Self { time: attempts.run_time(row)?, lifetime: None }),
        }
    }

    /// The attempt's share of its executor's container.
    fn memory(&self, cpus: u64) -> Option<MbMillis> {
        let lifetime = self.lifetime?;
        let slots = (u64::from(lifetime.cores?) * 1000).checked_div(cpus)?;
        Some(MbMillis::of(lifetime.container?, self.time).split(slots))
    }
}

/// Thousandths of a core for each task of a group; `None` if the setting is not a number.
fn task_cpus(app: &Application, spark: &Spark, group: &TaskGroup) -> Option<u64> {
    let profile = match group.kind {
        TaskKind::Stage(id) => spark.stage(id).and_then(|stage| stage.resource_profile),
        _ => None,
    };
    let profile = profile.and_then(|id| spark.resource_profile(id));
    if let Some(cpus) = profile.and_then(|profile| profile.task_cpus_thousandths) {
        return Some(u64::from(cpus));
    }
    match app.conf.text(ConfKey::TaskCpus) {
        None => Some(1000),
        Some(cpus) => cpus.parse::<u64>().ok()?.checked_mul(1000),
    }
}
