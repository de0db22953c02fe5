//! What sets of troubles save together: replays of the application, and arithmetic on what it held.

use std::collections::BTreeMap;

use super::bounds::Bound;
use super::causes::EngineCauses;
use super::estimate::Range;
use super::predict::{Unknown, error_of};
use super::removal::MemoryChange;
use super::replays::Replays;
use super::spark::Resources;
use elephant_analysis::replay::{Micros, Replayed};

/// What is saved, in the units of [`Measure`].
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(super) struct Saved {
    wall: f64,
    cores: f64,
    memory: f64,
}

/// The quantity of a saving.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Measure {
    /// Milliseconds from submission to end.
    Wall,
    /// The share of the core-hours held.
    Cores,
    /// The share of the GB-hours held.
    Memory,
}

impl Measure {
    pub(super) const ALL: [Self; 3] = [Self::Wall, Self::Cores, Self::Memory];
}

impl Saved {
    pub(super) const fn of(&self, measure: Measure) -> f64 {
        match measure {
            Measure::Wall => self.wall,
            Measure::Cores => self.cores,
            Measure::Memory => self.memory,
        }
    }
}

/// What removing a trouble does.
#[derive(Debug, Clone)]
pub(super) enum Effect {
    /// A replay without causes, with other resources.
    Replay {
        causes: EngineCauses,
        resources: Resources,
        /// The share of held resources that it frees in addition, without ending earlier.
        freed: f64,
        /// Containers of another size (MapReduce).
        memory: MemoryChange,
    },
    /// Containers of another size.
    Memory(MemoryChange),
    /// The share of held resources that is idle.
    Idle(f64),
    /// The share of held resources that useless attempts took.
    Losing(f64),
    /// Milliseconds waited.
    Waiting(f64),
}

impl Effect {
    pub(super) const fn is_replay(&self) -> bool {
        matches!(self, Self::Replay { .. })
    }

    /// Whether it takes two replays.
    pub(super) fn is_range(&self) -> bool {
        matches!(self, Self::Replay { causes, .. } if causes.is_range())
    }
}

/// The troubles of an application whose savings are computed, by their place. A set of troubles is a bit mask of
/// places.
pub(super) struct Players<'a> {
    replays: Option<&'a Replays<'a>>,
    effects: Vec<Effect>,
    /// Known replays, at both ends of the range, by the set of replayed troubles that they leave out.
    known: BTreeMap<u64, [Replayed; 2]>,
    /// The replayed troubles that did not occur.
    absent: u64,
    /// How many replays there were.
    count: usize,
    /// The most wall time that replays can save, in milliseconds: what the application took, or its replay if that is
    /// shorter.
    most: f64,
    /// What the application took: the most wall time that can be saved at all.
    recorded: f64,
    /// The share of what it held that tasks worked; zero if that is unknown.
    busy: f64,
}

/// The shares of held resources that remain without a set of troubles.
#[derive(Debug, Clone, Copy)]
struct Left {
    /// What is held, with or without a task.
    held: f64,
    /// What tasks work; never more than what is held.
    work: f64,
}

impl<'a> Players<'a> {
    /// `recorded` is what the application took, in milliseconds; `busy` the share of what it held that tasks worked, zero if
    /// that is unknown.
    pub(super) fn new(
        replays: Option<&'a Replays<'a>>,
        effects: Vec<Effect>,
        (recorded, busy): (f64, f64),
    ) -> Self {
        let replayed = replays.map_or(f64::INFINITY, |replays| replays.baseline().replayed.as_f64());
        let (known, most) = (BTreeMap::new(), recorded.min(replayed));
        let busy = busy.clamp(0.0, 1.0);
        Self { replays, effects, known, absent: 0, count: 0, most, recorded, busy }
    }

    pub(super) const fn effects(&self) -> &[Effect] {
        self.effects.as_slice()
    }

    /// The most that a set can save: the work of the tasks that are left is held in any case.
    pub(super) fn most(&mut self, set: u64, measure: Measure) -> f64 {
        let work = self.left(set).map_or(0.0, |ends| ends[0].work.min(ends[1].work));
        match measure {
            Measure::Wall if self.waits(set) => self.recorded,
            Measure::Wall => self.most,
            Measure::Cores => 1.0 - work,
            Measure::Memory => 1.0 - work * self.memory(set).unwrap_or(0.0).min(1.0),
        }
    }

    /// The members of a set.
    fn members(&self, set: u64) -> impl Iterator<Item = (u64, &Effect)> {
        let places = (0..64_u32).map(|place| 1 << place);
        places.zip(&self.effects).filter(move |(bit, _)| set & bit != 0)
    }

    /// Whether time that was waited is part of what a set saves. It was measured, so what a replay takes is no limit to it.
    fn waits(&self, set: u64) -> bool {
        self.members(set).any(|(_, effect)| matches!(effect, Effect::Waiting(_)))
    }

    /// The most that a trouble can save if that was measured, in milliseconds.
    pub(super) fn waited(&self, place: usize) -> Option<f64> {
        match self.effects.get(place)? {
            Effect::Waiting(time) => Some(*time),
            _ => None,
        }
    }

    /// The replayed troubles in a set that occurred, as far as is known.
    fn replayed_of(&self, set: u64) -> u64 {
        let replayed = self.members(set).filter(|(_, effect)| effect.is_replay());
        replayed.map(|(bit, _)| bit).sum::<u64>() & !self.absent
    }

    /// Whether a trouble is known to have occurred, and takes a replay to leave out.
    pub(super) fn occurs(&self, place: usize) -> bool {
        self.replayed_of(1 << place) != 0
    }

    /// The resources that the replays of a set have. Settings have one value each, so those of its members agree.
    fn resources(&self, set: u64) -> Resources {
        self.members(set).fold(Resources::default(), |all, (_, effect)| match effect {
            Effect::Replay { resources, .. } => all.and(*resources),
            _ => all,
        })
    }

    /// The factor by which the memory of a slot, or of a container, changes without a set of troubles.
    ///
    /// # Errors
    /// If that cannot be replayed.
    fn memory(&self, set: u64) -> Result<f64, Unknown> {
        let all = self.members(set).fold(MemoryChange::default(), |all, (_, effect)| match effect {
            Effect::Replay { memory, .. } | Effect::Memory(memory) => all.and(*memory),
            _ => all,
        });
        let resources = self.resources(set);
        let of_executors = match (all.executors, self.replays) {
            // Executors of one size: what several troubles propose for it counts once.
            (Some((size, _)), Some(replays)) if !resources.is_nothing() => {
                replays.factors(resources.and(size)).map(|[_, memory, _]| memory)?
            }
            (Some((_, factor)), _) => factor.max(0.0),
            (None, _) => self.factors(set).map(|[_, memory, _]| memory)?,
        };
        Ok(of_executors * all.of_containers())
    }

    /// The factors by which the number of slots, and the memory and the cores of one slot, change without a set of
    /// troubles.
    fn factors(&self, set: u64) -> Result<[f64; 3], Unknown> {
        self.replays.map_or(Ok([1.0; 3]), |replays| replays.factors(self.resources(set)))
    }

    /// How many replays there were so far.
    pub(super) const fn count(&self) -> usize {
        self.count
    }

    /// # Errors
    /// If the replay is not possible without these troubles.
    fn replay(&mut self, set: u64) -> Result<Option<[Replayed; 2]>, Unknown> {
        let Some(replays) = self.replays else { return Ok(None) };
        if set == 0 {
            return Ok(Some([replays.base(); 2]));
        }
        if let Some(known) = self.known.get(&set) {
            return Ok(Some(*known));
        }
        let causes = || {
            self.members(set).filter_map(|(_, effect)| match effect {
                Effect::Replay { causes, .. } => Some(causes),
                _ => None,
            })
        };
        let resources = self.resources(set);
        let is_range = self.members(set).any(|(_, effect)| effect.is_range());
        let least = replays.with(causes(), resources, Bound::Least)?;
        let mut most = least;
        if is_range {
            // What is possible alone may not be possible together with others: then the range is narrower.
            most = replays.with(causes(), resources, Bound::Most).unwrap_or(least);
            self.count += usize::from(most.is_some());
        }
        self.count += usize::from(least.is_some());
        if (least, most) == (None, None) && set.is_power_of_two() && resources.is_nothing() {
            self.absent |= set;
        }
        let [least, most] = [least, most].map(|replayed| replayed.unwrap_or_else(|| replays.base()));
        self.known.insert(set, [least, most]);
        Ok(Some([least, most]))
    }

    /// The held resources that remain without a set of troubles, at both ends of the range. Other remedies shorten idle
    /// times, so less of them can be released: at most in proportion; at least, if the other remedies end just those
    /// idle times that were long enough to be released.
    ///
    /// # Errors
    /// If that cannot be replayed.
    fn left(&mut self, set: u64) -> Result<[Left; 2], Unknown> {
        let of_replays = self.replay(self.replayed_of(set))?;
        let base = self.replays.map(Replays::base);
        let (mut kept, mut losing, mut released) = (1.0, 0.0, 0.0_f64);
        let idle = 1.0 - self.busy;
        for (_, effect) in self.members(set) {
            match effect {
                Effect::Replay { freed, .. } => kept *= 1.0 - freed,
                Effect::Losing(share) => losing += share,
                // One setting releases executors, so it counts once even if several troubles call for it.
                Effect::Idle(share) => released = released.max(share.min(idle)),
                Effect::Memory(_) | Effect::Waiting(_) => {}
            }
        }
        let left = |end: usize, is_least: bool| {
            let replayed = of_replays.and_then(|ends| ends.get(end).copied()).zip(base);
            let part = |of: fn(Replayed) -> Micros| {
                replayed.map_or(1.0, |(new, base)| of(new).as_f64() / of(base).as_f64().max(1.0))
            };
            let held = part(|replayed| replayed.held) * kept - losing;
            let work = (self.busy * part(|replayed| replayed.task_time) - losing).max(0.0);
            // Useless attempts free their resources whether or not the replay contains them.
            let work = if kept < 1.0 { work.min(held) } else { work };
            let still_idle = (held - work).max(0.0);
            let most = if idle > 0.0 { released / idle * still_idle } else { 0.0 };
            let least = (released - (idle - still_idle).max(0.0)).clamp(0.0, most);
            Left { held: held.max(work) - if is_least { least } else { most }, work }
        };
        Ok([left(0, true), left(1, false)])
    }

    /// What a set saves, at both ends of its range.
    ///
    /// # Errors
    /// If that cannot be replayed.
    pub(super) fn saved(&mut self, set: u64) -> Result<[Saved; 2], Unknown> {
        let of_replays = self.replay(self.replayed_of(set))?;
        let base = self.replays.map(Replays::base);
        let left = self.left(set)?;
        let ([.., cores], memory) = (self.factors(set)?, self.memory(set)?);
        let other_cores = self.resources(set).cores.is_some();
        let waiting = self.members(set).map(|(_, effect)| match effect {
            Effect::Waiting(time) => *time,
            _ => 0.0,
        });
        let saved = |end: usize, left: Left, waiting: f64| {
            let replayed = of_replays.and_then(|ends| ends.get(end).copied()).zip(base);
            let wall = replayed.map_or(0.0, |(new, base)| (base.wall.as_f64() - new.wall.as_f64()) / 1000.0);
            let (cores, memory) = (1.0 - left.held * cores, 1.0 - left.held * memory);
            // Executors with fewer cores cost the cluster as much memory, for longer.
            let cores = if other_cores && wall < 0.0 { cores.min(memory) } else { cores };
            Saved { wall: (wall.min(self.most) + waiting).min(self.recorded), cores, memory }
        };
        let [least, most] = left;
        Ok([saved(0, least, 0.0), saved(1, most, waiting.sum())])
    }

    /// Whether a trouble is known to have occurred, and is left out in a replay on the recorded executors.
    pub(super) fn replays_a_cause(&self, place: usize) -> bool {
        self.occurs(place) && self.resources(1 << place).is_nothing()
    }

    /// The likely wall time that a set saves; `None` if it cannot be replayed.
    pub(super) fn wall(&mut self, set: u64) -> Option<f64> {
        self.saved(set).ok().map(|[least, most]| f64::midpoint(least.wall, most.wall))
    }

    /// Whether a set saves more wall time than another one, by more than the model may be off.
    pub(super) fn gains(&mut self, set: u64, other: u64) -> bool {
        let Some((all, before)) = self.wall(set).zip(self.wall(other)) else { return false };
        self.error(set).is_ok_and(|error| all - before > error.wall)
    }

    /// The error of the model in what a set saves; zero if the replay is that without a change.
    ///
    /// # Errors
    /// If it cannot be replayed.
    pub(super) fn error(&mut self, set: u64) -> Result<Saved, Unknown> {
        let of_replays = self.replay(self.replayed_of(set))?;
        let Some((ends, replays)) = of_replays.zip(self.replays) else { return Ok(Saved::default()) };
        if ends == [replays.base(); 2] {
            return Ok(Saved::default());
        }
        let [least, most] = ends.map(|end| end.wall.as_f64() / 1000.0);
        let walls = Range::between(least, most);
        let [slots, ..] = self.factors(set)?;
        let wall = error_of(replays.baseline(), walls.point, slots);
        let relative = if walls.point > 0.0 { wall / walls.point } else { 0.0 };
        let [least, most] = self.saved(set)?;
        let left = |measure| 1.0 - f64::midpoint(least.of(measure), most.of(measure));
        let cores = left(Measure::Cores) * relative;
        Ok(Saved { wall, cores, memory: left(Measure::Memory) * relative })
    }
}
