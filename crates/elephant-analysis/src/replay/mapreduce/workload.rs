//! A plan with a change: the work to be done, and the slots it runs on.

use super::attempts::{ReduceWork, Task, Work};
use super::capacity::Loss;
use super::plan::{Plan, maps_needed};
use super::ramp_up::RampUp;
use super::slots::{Opening, Slots, resized};
use super::{ByKind, Change, Kind};
use crate::replay::Micros;
use elephant_base::whole::Whole;
use elephant_model::model::table::Outcome;

/// An attempt to be run.
#[derive(Debug, Clone, Copy)]
pub(super) struct Piece {
    pub(super) kind: Kind,
    pub(super) task: usize,
    pub(super) work: Work,
    pub(super) succeeds: bool,
    /// Waiting attempts start in this order.
    pub(super) rank: (Micros, usize),
    /// The attempt that follows if this one does not succeed.
    pub(super) retry: Option<usize>,
    /// How long a retry waits for something other than a slot.
    pub(super) delay: Option<Micros>,
    /// The copy of this attempt, and how long after this attempt it starts.
    pub(super) copy: Option<(usize, Micros)>,
}

/// The work to be done, and the slots it runs on.
#[derive(Debug, Clone)]
pub(super) struct Workload {
    pub(super) pieces: Vec<Piece>,
    /// The first attempt of each task.
    pub(super) firsts: Vec<usize>,
    pub(super) slots: ByKind<Slots>,
    /// Attempts of both kinds that may run at once.
    pub(super) containers: usize,
    /// When there are fewer of them.
    pub(super) losses: Vec<Loss>,
    /// What limits reduces while maps wait.
    pub(super) ramp_up: Option<RampUp>,
    pub(super) launch: Micros,
    pub(super) tail: Micros,
}

impl Workload {
    /// The plan's work with the change.
    pub(super) fn of(plan: &Plan, change: &Change) -> Self {
        let mut load = Self {
            pieces: Vec::with_capacity(plan.attempts.len()),
            firsts: Vec::with_capacity(plan.tasks.len()),
            slots: ByKind::default(),
            containers: containers(plan, change),
            losses: if keeps_slots(change) { plan.losses.clone() } else { Vec::new() },
            ramp_up: plan.ramp_up,
            launch: plan.launch,
            tail: plan.tail,
        };
        for task in plan.tasks.iter().filter(|task| !change.replaces(task.kind)) {
            load.add_recorded(plan, task, change);
        }
        let replaced = |work: &Vec<Micros>| work.iter().map(|time| Work::Alone(time.or_zero())).collect();
        load.add_replaced((plan, change), Kind::Map, change.maps.as_ref().map(replaced));
        let replaced = |work: &Vec<ReduceWork>| work.iter().map(|work| Work::Reduce(*work)).collect();
        load.add_replaced((plan, change), Kind::Reduce, change.reduces.as_ref().map(replaced));
        load.open_slots(plan, change);
        if let Some(share) = change.slow_start.filter(|share| is_earlier(plan, *share)) {
            load.start_reduces_earlier(plan, share);
        }
        load
    }

    /// Reduces that start earlier take containers from maps, as many as the application master asks for.
    fn start_reduces_earlier(&mut self, plan: &Plan, share: f64) {
        let needed = maps_needed(share, self.count(Kind::Map));
        let lag = plan.slots.reduce.openings.iter().min().map(|first| first.lag).unwrap_or_default();
        for opening in &mut self.slots.reduce.openings {
            *opening = Opening { maps: needed.min(opening.maps), lag };
        }
    }

    /// The attempts of a recorded task that happen.
    fn add_recorded(&mut self, plan: &Plan, task: &Task, change: &Change) {
        let last = task.winner.or(task.attempts.last().copied());
        let is_unwanted = |place: usize, is_copy: bool| {
            is_copy && *change.without_speculation.get(task.kind)
                || last != Some(place) && change.dropped.contains(&place)
        };
        let happens = |place: &usize| {
            plan.attempts.get(*place).is_some_and(|attempt| !is_unwanted(*place, attempt.is_copy))
        };
        let first = self.pieces.len();
        // If the first attempt does not happen, the next one takes its place in the queue.
        let earliest =
            task.attempts.first().and_then(|place| Some((plan.attempts.get(*place)?.start, *place)));
        let rank = earliest.unwrap_or_default();
        // The last attempt that is no copy, and the last attempt.
        let (mut before, mut latest): (Option<usize>, Option<(usize, Micros)>) = (None, None);
        for &place in task.attempts.iter().filter(|place| happens(place)) {
            let Some(attempt) = plan.attempts.get(place) else { continue };
            let at = self.pieces.len();
            // Without its original, a copy is an ordinary attempt.
            let is_copy = attempt.is_copy && before.is_some();
            if is_copy {
                if let Some((holder, start)) = latest
                    && let Some(holder) = self.pieces.get_mut(holder)
                {
                    holder.copy = Some((at, (attempt.start - start).or_zero()));
                }
            } else {
                if let Some(failed) = before.and_then(|before| self.pieces.get_mut(before)) {
                    failed.retry = Some(at);
                }
                before = Some(at);
            }
            latest = Some((at, attempt.start));
            let winner = task.winner.and_then(|winner| plan.attempts.get(winner));
            // An original that lost against its copy would have done the same work.
            let whole = winner.filter(|_| attempt.outcome == Outcome::Killed).unwrap_or(attempt);
            let new = change.time(place).map(|time| whole.work.lasting(time));
            self.pieces.push(Piece {
                kind: task.kind,
                task: self.firsts.len(),
                work: new.unwrap_or(attempt.work),
                succeeds: attempt.succeeded() || new.is_some() && whole.succeeded(),
                rank: if self.pieces.len() == first { rank } else { (attempt.start, place) },
                retry: None,
                delay: attempt.delay,
                copy: None,
            });
        }
        if self.pieces.len() > first {
            self.firsts.push(first);
        }
    }

    /// New tasks that wait as the first recorded one did. Each succeeds after the recorded attempts that it repeats.
    fn add_replaced(&mut self, (plan, change): (&Plan, &Change), kind: Kind, works: Option<Vec<Work>>) {
        let first = plan.attempts.iter().find(|attempt| attempt.kind == kind);
        let start = first.map_or(plan.launch, |attempt| attempt.start);
        for (number, work) in works.into_iter().flatten().enumerate() {
            let (task, rank) = (self.firsts.len(), (start, number));
            self.firsts.push(self.pieces.len());
            let piece =
                Piece { kind, task, work, succeeds: true, rank, retry: None, delay: None, copy: None };
            let mut delay = None;
            for &place in change.repeated.get(kind).get(&number).into_iter().flatten() {
                let Some(attempt) = plan.attempts.get(place) else { continue };
                let work = change.time(place).map_or(attempt.work, |time| attempt.work.lasting(time));
                let retry = Some(self.pieces.len() + 1);
                self.pieces.push(Piece { work, succeeds: false, retry, delay: attempt.delay, ..piece });
                let winner = plan.tasks.get(attempt.task).and_then(|task| task.winner);
                delay = winner.and_then(|winner| plan.attempts.get(winner)?.delay);
            }
            self.pieces.push(Piece { delay, ..piece });
        }
    }

    /// Tasks of one kind.
    fn count(&self, kind: Kind) -> usize {
        let tasks = self.firsts.iter().filter_map(|first| self.pieces.get(*first));
        tasks.filter(|piece| piece.kind == kind).count()
    }

    fn open_slots(&mut self, plan: &Plan, change: &Change) {
        let maps = self.count(Kind::Map);
        self.slots = ByKind::of(|kind| {
            let recorded = plan.slots.get(kind);
            let openings = recorded.openings.iter().map(|opening| match kind {
                Kind::Map => *opening,
                Kind::Reduce => opening_among(plan, *opening, maps, change.slow_start),
            });
            let mut openings: Vec<Opening> = openings.collect();
            openings.sort_unstable();
            let room = change.room.get(kind).filter(|room| *room > openings.len());
            if let Some(len) = change.slots.get(kind).or(room) {
                openings = resized(&openings, len);
            }
            if openings.is_empty() && self.count(kind) > 0 {
                openings.push(Opening { maps: 0, lag: Micros::ZERO });
            }
            let is_kept = change.slots.get(kind).is_none();
            let losses = if is_kept { recorded.losses.clone() } else { Vec::new() };
            Slots { openings, losses, gap: recorded.gap }
        });
    }

    /// Gives every attempt a slot: all open with the first one.
    pub(super) fn lift_limits(&mut self) {
        let len = self.pieces.len();
        self.containers = usize::MAX;
        self.ramp_up = None;
        self.losses.clear();
        for kind in Kind::ALL {
            let slots = self.slots.get_mut(kind);
            let first = slots.openings.iter().min().copied();
            slots.openings = first.into_iter().cycle().take(len).collect();
            slots.losses.clear();
        }
    }
}

/// Whether as many tasks may run at once as in the recording.
const fn keeps_slots(change: &Change) -> bool {
    change.slots.map.is_none() && change.slots.reduce.is_none()
}

/// Attempts of both kinds that may run at once: as in the recording, and more where there are more slots.
fn containers(plan: &Plan, change: &Change) -> usize {
    let added = Kind::ALL.into_iter().filter_map(|kind| {
        let (new, old) = ((*change.slots.get(kind))?, *plan.peaks.get(kind));
        Some((new.saturating_sub(old), old.saturating_sub(new)))
    });
    let changes: Vec<(usize, usize)> = added.collect();
    let more = changes.iter().map(|(more, _)| *more).max().unwrap_or_default();
    // Fewer containers only if both kinds get fewer: the limit of one kind leaves them to the other.
    let fewer = match changes.as_slice() {
        [(0, maps), (0, reduces)] => *maps.min(reduces),
        _ => 0,
    };
    plan.containers.saturating_add(more).saturating_sub(fewer).max(1)
}

/// Whether reduces would be asked for earlier than in the recording, from containers that maps use, too.
fn is_earlier(plan: &Plan, slow_start: f64) -> bool {
    plan.ramp_up.is_some() && maps_needed(slow_start, plan.maps) < plan.slow_start_maps
}

/// When a reduce slot opens with another number of maps, or another slow start. A slot that opened later than the slow
/// start asks for waited for something else: in Hadoop 1, an earlier slow start does not open it earlier.
fn opening_among(plan: &Plan, opening: Opening, maps: usize, slow_start: Option<f64>) -> Opening {
    let recorded = plan.maps;
    let scaled = |count: usize| {
        let share = count as f64 / recorded.max(1) as f64;
        if maps == recorded { count.min(maps) } else { (share * maps as f64).round().as_usize().min(maps) }
    };
    let waited = scaled(opening.maps);
    let waits = match slow_start {
        Some(share) => {
            let needed = maps_needed(share, maps);
            if opening.maps <= plan.slow_start_maps { needed } else { waited.max(needed) }
        }
        None => waited,
    };
    Opening { maps: waits, ..opening }
}
