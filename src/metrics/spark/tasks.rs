//! What tasks took of their executors: cores, and the memory of attempts that came to nothing.

use super::lives::{Life, Lives};
use crate::metrics::other_attempt_won;
use crate::model::Application;
use crate::model::conf::ConfKey;
use crate::model::spark::{Facet, Spark};
use crate::model::table::{Outcome, TaskGroup, TaskKind, TimePoint};
use crate::units::{CoreMillis, MbMillis, Millis};

/// What tasks took; a sum is `None` when a part of it is unknown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct TaskCosts {
    pub(super) cores: Option<CoreMillis>,
    pub(super) failed: Option<MbMillis>,
    pub(super) killed: Option<MbMillis>,
    pub(super) losing: Option<MbMillis>,
}

impl TaskCosts {
    /// `None` where the log lacks tasks or their ends.
    pub(super) fn of(app: &Application, spark: &Spark, lives: &Lives<'_>) -> Option<Self> {
        if spark.gaps.reason(&[Facet::Tasks]).is_some() {
            return None;
        }
        let nothing = Some(MbMillis::ZERO);
        let mut costs =
            Self { cores: Some(CoreMillis::ZERO), failed: nothing, killed: nothing, losing: nothing };
        for group in &app.groups {
            let cpus = task_cpus(app, spark, group);
            for row in 0..group.attempts.len() {
                costs.add(group, row, cpus, lives);
            }
        }
        Some(costs)
    }

    fn add(&mut self, group: &TaskGroup, row: usize, cpus: Option<u64>, lives: &Lives<'_>) {
        let spent = Spent::of(group, row, lives);
        let time = spent.as_ref().map(|spent| spent.time);
        let cores = time.zip(cpus).map(|(time, cpus)| CoreMillis::of(cpus, time));
        self.cores = self.cores.zip(cores).map(|(sum, part)| sum + part);
        let sum = match group.attempts.outcome(row) {
            Outcome::Failed => &mut self.failed,
            Outcome::Killed if other_attempt_won(group, row) => &mut self.losing,
            Outcome::Killed => &mut self.killed,
            Outcome::Succeeded | Outcome::Unfinished => return,
        };
        let memory = spent.zip(cpus).and_then(|(spent, cpus)| spent.memory(cpus));
        *sum = sum.zip(memory).map(|(sum, part)| sum + part);
    }
}

/// The time that an attempt spent on an executor.
struct Spent<'a, 'b> {
    time: Millis,
    life: Option<&'a Life<'b>>,
}

impl<'a, 'b> Spent<'a, 'b> {
    /// An attempt without an end ran as long as its executor: the application ended over it.
    fn of(group: &TaskGroup, row: usize, lives: &'a Lives<'b>) -> Option<Self> {
        let attempts = &group.attempts;
        let start = attempts.time(row, TimePoint::Start)?;
        let finish = attempts.time(row, TimePoint::Finish);
        match attempts.executor(row).and_then(|executor| lives.find(executor, start)) {
            Some(life) => Some(Self { time: life.part_of(start, finish), life: Some(life) }),
            None => Some(Self { time: attempts.run_time(row)?, life: None }),
        }
    }

    /// The attempt's share of its executor's container.
    fn memory(&self, cpus: u64) -> Option<MbMillis> {
        let life = self.life?;
        let slots = (u64::from(life.cores?) * 1000).checked_div(cpus)?;
        Some(MbMillis::of(life.container?, self.time).split(slots))
    }
}

/// Thousandths of a core that each task of a group takes; `None` where the setting is no number.
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
