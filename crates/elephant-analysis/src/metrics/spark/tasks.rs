//! Resources that tasks used on their executors: cores, and the memory of unsuccessful attempts.

use super::lifetimes::{Lifetime, Lifetimes};
use crate::metrics::other_attempt_won;
use elephant_base::units::{CoreMillis, MbMillis, Millis};
use elephant_model::model::Application;
use elephant_model::model::spark::{Facet, Placement, Spark};
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
        let placement = Placement::of(app);
        let nothing = Some(MbMillis::ZERO);
        let mut costs =
            Self { cores: Some(CoreMillis::ZERO), failed: nothing, killed: nothing, losing: nothing };
        let mut used = Used::of(lifetimes);
        for group in &app.groups {
            let profile = match group.kind {
                TaskKind::Stage(id) => spark.stage(id).and_then(|stage| stage.resource_profile),
                _ => None,
            };
            let cpus = placement.task_cpus(profile);
            for row in 0..group.attempts.len() {
                let occupancy = Occupancy::of(group, row, lifetimes);
                used.add(occupancy.as_ref().zip(cpus));
                let memory = || occupancy.as_ref()?.memory(placement, profile);
                costs.add_unsuccessful(group, row, memory);
            }
        }
        costs.cores = used.all(lifetimes);
        Some(costs)
    }

    fn add_unsuccessful(&mut self, group: &TaskGroup, row: usize, memory: impl Fn() -> Option<MbMillis>) {
        let sum = match group.attempts.outcome(row) {
            Outcome::Failed => &mut self.failed,
            Outcome::Killed if other_attempt_won(group, row) => &mut self.losing,
            Outcome::Killed => &mut self.killed,
            Outcome::Succeeded | Outcome::Unfinished => return,
        };
        *sum = sum.zip(memory()).map(|(sum, part)| sum + part);
    }
}

/// Core time that tasks used, by executor.
struct Used {
    by_lifetime: Vec<CoreMillis>,
    /// Whether all attempts ran for a known time on a known executor.
    is_known: bool,
}

impl Used {
    fn of(lifetimes: &Lifetimes<'_>) -> Self {
        Self { by_lifetime: vec![CoreMillis::ZERO; lifetimes.len()], is_known: true }
    }

    /// Adds an attempt with the thousandths of a core that it takes.
    fn add(&mut self, attempt: Option<(&Occupancy<'_, '_>, u32)>) {
        let place = attempt.and_then(|(used, cpus)| Some((used, cpus, used.place?)));
        let found = place.and_then(|(used, cpus, place)| {
            let sum = self.by_lifetime.get_mut(place)?;
            *sum = *sum + CoreMillis::of(cpus.into(), used.time);
            Some(())
        });
        self.is_known &= found.is_some();
    }

    /// The sum, at most what the executors held: the driver sees the end of a task when its core may already run the next one.
    fn all(self, lifetimes: &Lifetimes<'_>) -> Option<CoreMillis> {
        if !self.is_known {
            return None;
        }
        let held = lifetimes.cores_of_each();
        Some(
            self.by_lifetime
                .into_iter()
                .zip(held)
                .map(|(used, held)| held.map_or(used, |it| used.min(it)))
                .sum(),
        )
    }
}

/// Time that an attempt occupied a slot of an executor.
struct Occupancy<'a, 'b> {
    time: Millis,
    place: Option<usize>,
    lifetime: Option<&'a Lifetime<'b>>,
}

impl<'a, 'b> Occupancy<'a, 'b> {
    /// A slot is taken until the attempt has done its work, not until the driver has fetched its result. An attempt without
    /// an end ran as long as its executor, because the application ended first.
    fn of(group: &TaskGroup, row: usize, lifetimes: &'a Lifetimes<'b>) -> Option<Self> {
        let attempts = &group.attempts;
        let start = attempts.time(row, TimePoint::Start)?;
        let end = attempts.work_end(row);
        let place = attempts.executor(row).and_then(|executor| lifetimes.place(executor, start));
        match place.and_then(|place| lifetimes.get(place)) {
            Some(lifetime) => {
                Some(Self { time: lifetime.part_of(start, end), place, lifetime: Some(lifetime) })
            }
            None => Some(Self { time: Millis::between(start, end?)?, place: None, lifetime: None }),
        }
    }

    /// The attempt's share of its executor's container.
    fn memory(&self, placement: Placement<'_>, profile: Option<u32>) -> Option<MbMillis> {
        let lifetime = self.lifetime?;
        let slots = placement.slots_for(lifetime.executor, profile)?;
        Some(MbMillis::of(lifetime.container?, self.time).split(slots.into()))
    }
}
