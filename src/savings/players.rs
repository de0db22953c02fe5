//! What sets of troubles save together: replays of the application, and arithmetic on what it held.

use std::collections::BTreeMap;

use super::bounds::Bound;
use super::causes::EngineCauses;
use super::estimate::Range;
use super::predict::{Unknown, error_of};
use super::replays::Replays;
use super::spark::Resources;
use crate::replay::Replayed;

/// What is saved, in the units of [`Measure`].
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(super) struct Saved {
    wall: f64,
    cores: f64,
    memory: f64,
}

/// What savings are of.
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
        /// The share of what is held that it frees besides, without ending earlier.
        freed: f64,
        /// By which factor the memory of a container changes (MapReduce).
        memory: f64,
    },
    /// The factor on the memory held.
    Memory(f64),
    /// The share of what is held that is idle.
    Idle(f64),
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

/// The troubles of an application whose savings are computed, by their place. Sets of them are bits.
pub(super) struct Players<'a> {
    replays: Option<&'a Replays<'a>>,
    effects: Vec<Effect>,
    /// What replays took, at both ends, by the replayed troubles that they are without.
    known: BTreeMap<u64, [Replayed; 2]>,
    /// The replayed troubles that did not occur.
    absent: u64,
    /// How many replays there were.
    count: usize,
    /// What the application took, in milliseconds.
    most: f64,
}

impl<'a> Players<'a> {
    /// `recorded` is what the application took, in milliseconds.
    pub(super) fn new(replays: Option<&'a Replays<'a>>, effects: Vec<Effect>, recorded: f64) -> Self {
        let replayed = replays.map_or(f64::INFINITY, |replays| replays.baseline().replayed.as_f64());
        Self { replays, effects, known: BTreeMap::new(), absent: 0, count: 0, most: recorded.min(replayed) }
    }

    pub(super) const fn effects(&self) -> &[Effect] {
        self.effects.as_slice()
    }

    /// The most that each measure can save.
    pub(super) const fn most(&self, measure: Measure) -> f64 {
        match measure {
            Measure::Wall => self.most,
            Measure::Cores | Measure::Memory => 1.0,
        }
    }

    /// The members of a set.
    fn members(&self, set: u64) -> impl Iterator<Item = (u64, &Effect)> {
        let places = (0..64_u32).map(|place| 1 << place);
        places.zip(&self.effects).filter(move |(bit, _)| set & bit != 0)
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

    /// By which factors slots change in a set: their number, the memory and the cores of one.
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

    /// What a set saves, at both ends of its range.
    ///
    /// # Errors
    /// If that cannot be replayed.
    pub(super) fn saved(&mut self, set: u64) -> Result<[Saved; 2], Unknown> {
        let of_replays = self.replay(self.replayed_of(set))?;
        let base = self.replays.map(Replays::base);
        let [_, mut memory, cores] = self.factors(set)?;
        let (mut busy, mut waiting) = (1.0, 0.0);
        for (_, effect) in self.members(set) {
            match effect {
                Effect::Replay { freed, memory: of_one, .. } => {
                    busy *= 1.0 - freed;
                    memory *= of_one;
                }
                Effect::Memory(factor) => memory *= factor,
                Effect::Idle(share) => busy *= 1.0 - share,
                Effect::Waiting(time) => waiting += time,
            }
        }
        let saved = |end: usize, waiting: f64| {
            let replayed = of_replays.and_then(|ends| ends.get(end).copied()).zip(base);
            let wall = replayed.map_or(0.0, |(new, base)| (base.wall.as_f64() - new.wall.as_f64()) / 1000.0);
            let held = replayed.map_or(1.0, |(new, base)| new.held.as_f64() / base.held.as_f64().max(1.0));
            Saved {
                wall: (wall + waiting).min(self.most),
                cores: 1.0 - held * busy * cores,
                memory: 1.0 - held * busy * memory,
            }
        };
        Ok([saved(0, 0.0), saved(1, waiting)])
    }

    /// By how much the model may be off in what a set saves: nothing where nothing else was replayed.
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
