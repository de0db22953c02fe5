//! The counters of one job, task or attempt while a history is read.

use super::mask::bit;
use super::{Counter, CounterMask};
use crate::model::Symbol;

/// A counter that has no type of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OtherCounter {
    /// The group's name.
    pub group: Symbol,
    /// The counter's name.
    pub name: Symbol,
    /// Its value.
    pub value: i64,
}

/// The counters of one job, task or attempt.
///
/// What is absent is told by bits: a set is emptied and filled for each event of a history.
#[derive(Debug, Clone)]
pub struct CounterSet {
    values: [i64; Counter::COUNT],
    /// A bit for each counter that has a value.
    present: u64,
    /// A bit for each counter whose value is from a group of Hadoop's own.
    from_framework: u64,
    /// Counters without a type, in the order of the history.
    pub others: Vec<OtherCounter>,
    /// A bit for each counter that is there and cannot be read.
    lost: u64,
    /// What else is there and cannot be read.
    lost_besides: LostBesides,
}

/// Counters that cannot be read and have no bit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
enum LostBesides {
    #[default]
    None,
    /// One without a type, which nothing adds up.
    Other,
    /// Any: it has no name.
    Nameless,
}

impl Default for CounterSet {
    fn default() -> Self {
        Self {
            values: [0; Counter::COUNT],
            present: 0,
            from_framework: 0,
            others: Vec::new(),
            lost: 0,
            lost_besides: LostBesides::None,
        }
    }
}

impl CounterSet {
    /// The value of `counter`, or `None` where the history has none.
    #[must_use]
    pub fn get(&self, counter: Counter) -> Option<i64> {
        if self.present & !self.lost & bit(counter) == 0 {
            None
        } else {
            self.values.get(counter.index()).copied()
        }
    }

    /// The counters that are there and cannot be read. Where one has no name, all that Hadoop has and that are not told
    /// by it elsewhere.
    #[must_use]
    pub fn unread(&self) -> CounterMask {
        let any = if self.lost_besides == LostBesides::Nameless {
            CounterMask::HADOOP.0 & (!self.from_framework | ADDS_UP)
        } else {
            0
        };
        CounterMask(self.lost | any)
    }

    /// Whether a counter is there, with or without a type, that cannot be read.
    #[must_use]
    pub const fn is_damaged(&self) -> bool {
        self.lost != 0 || !matches!(self.lost_besides, LostBesides::None)
    }

    /// Records a value; `framework` says whether the group is Hadoop's own.
    ///
    /// Counters that stand for several file systems add up; for all others a framework group replaces
    /// what a user's group of the same counter name said, never the other way round.
    #[inline]
    pub fn record(&mut self, counter: Counter, value: i64, framework: bool) {
        let bit = bit(counter);
        let adds_up = bit & ADDS_UP != 0;
        if self.lost & bit != 0 && framework && !adds_up && self.from_framework & bit == 0 {
            // It was only a user's group that could not be read.
            self.lost &= !bit;
        }
        let Some(slot) = self.values.get_mut(counter.index()) else { return };
        if self.present & bit == 0 {
            *slot = value;
        } else if adds_up {
            *slot = slot.saturating_add(value);
        } else if self.from_framework & bit == 0 {
            *slot = value;
        }
        self.present |= bit;
        if framework {
            self.from_framework |= bit;
        }
    }

    /// Notes that a counter is there and cannot be read; `framework` says whether the group is Hadoop's own.
    pub fn lose(&mut self, counter: Counter, framework: bool) {
        let bit = bit(counter);
        if framework || self.from_framework & bit == 0 {
            self.lost |= bit;
        }
        if framework {
            self.from_framework |= bit;
        }
    }

    /// Notes that a counter without a type is there and cannot be read.
    pub(crate) fn lose_other(&mut self) {
        self.lost_besides = self.lost_besides.max(LostBesides::Other);
    }

    /// Notes that counters are there of which not even the name can be read.
    pub fn lose_nameless(&mut self) {
        self.lost_besides = LostBesides::Nameless;
    }

    /// Forgets all values and keeps the memory.
    #[inline]
    pub fn clear(&mut self) {
        self.present = 0;
        self.from_framework = 0;
        self.others.clear();
        self.lost = 0;
        self.lost_besides = LostBesides::None;
    }

    /// Becomes the same as `other` and keeps the memory.
    pub(crate) fn copy_from(&mut self, other: &Self) {
        self.values = other.values;
        self.present = other.present;
        self.from_framework = other.from_framework;
        self.lost = other.lost;
        self.lost_besides = other.lost_besides;
        self.others.clone_from(&other.others);
    }

    /// Whether nothing was recorded.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.present == 0 && self.others.is_empty() && !self.is_damaged()
    }

    /// The typed counters that have a value.
    pub fn iter(&self) -> impl Iterator<Item = (Counter, i64)> + '_ {
        Counter::ALL.into_iter().filter_map(|counter| Some((counter, self.get(counter)?)))
    }
}

/// Counters that stand for several file systems.
const ADDS_UP: u64 = bit(Counter::OtherFsBytesRead) | bit(Counter::RemoteBytesWritten);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn several_file_systems_add_up() {
        let mut set = CounterSet::default();
        set.record(Counter::OtherFsBytesRead, 5, true);
        set.record(Counter::OtherFsBytesRead, 7, true);
        assert_eq!(set.get(Counter::OtherFsBytesRead), Some(12));
    }

    #[test]
    fn a_users_counter_of_the_same_name_never_replaces_hadoops() {
        let mut set = CounterSet::default();
        set.record(Counter::SpilledRecords, 1, false);
        set.record(Counter::SpilledRecords, 2, true);
        set.record(Counter::SpilledRecords, 3, false);
        assert_eq!(set.get(Counter::SpilledRecords), Some(2));
    }

    #[test]
    fn what_cannot_be_read_is_none_and_is_named() {
        use Counter::{GcTimeMillis as Gc, OtherFsBytesRead as Read, SpilledRecords as Spilled};
        let mut set = CounterSet::default();
        set.record(Read, 5, true);
        set.lose(Read, true);
        set.record(Read, 7, true);
        set.lose(Spilled, false);
        assert_eq!((set.get(Read), set.unread()), (None, CounterMask::of(&[Read, Spilled])));
        assert_eq!(set.iter().count(), 0);
        // Hadoop's own group replaces a user's, never the other way round.
        set.record(Spilled, 2, true);
        set.lose(Spilled, false);
        assert_eq!((set.get(Spilled), set.unread()), (Some(2), CounterMask::of(&[Read])));
        set.lose(Gc, true);
        set.record(Gc, 3, false);
        assert_eq!((set.get(Gc), set.unread()), (None, CounterMask::of(&[Read, Gc])));
        set.lose_nameless();
        let unread = set.unread();
        assert!(unread.has(Counter::MapInputRecords) && !unread.has(Spilled));
        assert!(!unread.has(Counter::ExecutorRunTime));
        set.clear();
        assert!(!set.is_damaged() && set.unread().is_empty());
        set.lose_other();
        assert!(set.is_damaged() && set.unread().is_empty());
    }
}
