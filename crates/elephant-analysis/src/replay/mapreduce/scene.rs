//! What attempts waited for in the recording.

use super::attempts::{Attempt, Task};
use super::capacity::Lost;
use super::gaps::mean_gap;
use super::slots::{Colouring, Grant, Opening, Slots, colour, grants};
use super::{ByKind, Kind};
use crate::replay::Micros;

/// The recording, with the slots that its attempts used.
pub(super) struct Scene<'a> {
    attempts: &'a [Attempt],
    map_ends: &'a [Micros],
    launch: Micros,
    colourings: ByKind<Colouring>,
    grants: Vec<Grant>,
    ready: Vec<Option<Micros>>,
    /// The attempt that failed before a retry, by place.
    failures: Vec<Option<usize>>,
    /// Attempts of both kinds that ran at once at the peak.
    pub(super) containers: usize,
    /// How many could run when each attempt started.
    at_starts: Vec<usize>,
    lost: &'a Lost,
}

impl<'a> Scene<'a> {
    pub(super) fn of(
        tasks: &[Task],
        attempts: &'a [Attempt],
        map_ends: &'a [Micros],
        (launch, lost): (Micros, &'a Lost),
    ) -> Self {
        let grants = grants(attempts, lost);
        let containers = grants.iter().map(|grant| grant.running).max().unwrap_or_default();
        let mut scene = Self {
            attempts,
            map_ends,
            launch,
            colourings: ByKind::of(|kind| colour(attempts, kind, lost)),
            containers,
            at_starts: lost.containers_at_starts(attempts, containers),
            lost,
            grants,
            ready: vec![None; attempts.len()],
            failures: vec![None; attempts.len()],
        };
        for task in tasks {
            scene.wait(task);
        }
        scene
    }

    /// Since when the attempts of a task could have run, if they waited for a container and nothing else: a first map
    /// since the job's launch, a retry since the failure before it. A reduce on a used slot waited for that. A copy
    /// waited for its original to be slow.
    fn wait(&mut self, task: &Task) {
        let mut failure: Option<(usize, Micros)> = None;
        for &place in &task.attempts {
            let Some(attempt) = self.attempts.get(place).filter(|attempt| !attempt.is_copy) else { continue };
            let first = match task.kind {
                Kind::Map => self.launch,
                Kind::Reduce => Micros::ZERO - Micros::MAX,
            };
            if let (Some(ready), Some(before)) = (self.ready.get_mut(place), self.failures.get_mut(place)) {
                *ready = Some(failure.map_or(first, |(_, end)| end));
                *before = failure.map(|(place, _)| place);
            }
            failure = Some((place, attempt.end));
        }
    }

    /// Whether all containers that the job had ran when an attempt started.
    fn is_at_peak(&self, place: usize) -> bool {
        let most = self.at_starts.get(place).copied().unwrap_or(self.containers);
        self.grants.get(place).is_some_and(|grant| grant.running >= most)
    }

    /// The slots of one kind. Map slots open when they were used first. Reduce slots wait for maps; if all containers
    /// were in use, a reduce had been requested before, and waited for the container as any other attempt does.
    pub(super) fn slots(&self, kind: Kind) -> Slots {
        let colouring = self.colourings.get(kind);
        let gap_of = |&(place, since): &(usize, Micros)| {
            let freed = self.grants.get(place)?.freed?;
            let ready = (*self.ready.get(place)?)?;
            Some((self.attempts.get(place)?.start - since.max(freed).max(ready)).or_zero())
        };
        let gap = mean_gap(colouring.others.iter().filter_map(gap_of).map(Micros::as_f64).collect());
        let opening = |&place: &usize| {
            let start = self.attempts.get(place)?.start;
            if kind == Kind::Map {
                return Some(Opening { maps: 0, lag: (start - self.launch).or_zero() });
            }
            let mut opening = Opening::after(self.map_ends, self.launch, start);
            if self.is_at_peak(place) {
                opening.lag = (opening.lag - gap).or_zero();
            }
            Some(opening)
        };
        let losses = self.lost.slots.get(kind).clone();
        Slots { openings: colouring.firsts.iter().filter_map(opening).collect(), losses, gap }
    }

    /// How long each retry waited although a slot had been free since the failure: for the scheduler, or for a
    /// node that is not blacklisted.
    pub(super) fn delays(&self) -> Vec<Option<Micros>> {
        let mut delays = vec![None; self.attempts.len()];
        for kind in Kind::ALL {
            for &(place, since) in &self.colourings.get(kind).others {
                let failure =
                    self.failures.get(place).copied().flatten().and_then(|at| self.attempts.get(at));
                let (Some(failure), Some(attempt)) = (failure, self.attempts.get(place)) else { continue };
                if let Some(delay) = delays.get_mut(place)
                    && since <= failure.end
                    && !self.is_at_peak(place)
                {
                    *delay = Some((attempt.start - failure.end).or_zero());
                }
            }
        }
        delays
    }
}
