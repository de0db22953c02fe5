//! The counters of one job, task or attempt while a job history is read.

use super::mask::bit;
use super::{Counter, CounterMask};
use crate::model::Symbol;

/// A counter without a type of its own.
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
/// Presence is stored as bits: a set is cleared and filled again for each event of a history.
#[derive(Debug, Clone)]
pub struct CounterSet {
    values: [i64; Counter::COUNT],
    /// One bit per counter that has a value.
    present: u64,
    /// One bit per counter whose value comes from a framework group.
    from_framework: u64,
    /// Counters without a type, in the order of the history.
    pub others: Vec<OtherCounter>,
    /// One bit per counter that is present but cannot be read.
    unreadable: u64,
    /// Other counters that are present but cannot be read.
    other_unreadable: OtherUnreadable,
}

/// Unreadable counters that have no bit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
enum OtherUnreadable {
    #[default]
    None,
    /// A counter without a type; nothing sums it.
    Other,
    /// A counter without a name: it may be any.
    Nameless,
}

impl Default for CounterSet {
    fn default() -> Self {
        Self {
            values: [0; Counter::COUNT],
            present: 0,
            from_framework: 0,
            others: Vec::new(),
            unreadable: 0,
            other_unreadable: OtherUnreadable::None,
        }
    }
}

impl CounterSet {
    /// The value of `counter`; `None` if the history has none.
    #[must_use]
    pub fn get(&self, counter: Counter) -> Option<i64> {
        if self.present & !self.unreadable & bit(counter) == 0 {
            None
        } else {
            self.values.get(counter.index()).copied()
        }
    }

    /// The counters that are present but cannot be read. If one has no name, these are all of Hadoop's
    /// counters without a readable value.
    #[must_use]
    #[doc(hidden)]
    pub fn unreadable(&self) -> CounterMask {
        let any = if self.other_unreadable == OtherUnreadable::Nameless {
            CounterMask::HADOOP.0 & (!self.from_framework | ADDS_UP)
        } else {
            0
        };
        CounterMask(self.unreadable | any)
    }

    /// The value of a counter without a type; `None` if there is none, or if one of them cannot be read.
    #[must_use]
    #[doc(hidden)]
    pub fn other(&self, group: Symbol, name: Symbol) -> Option<i64> {
        let mut found = self.others.iter().filter(|other| other.group == group && other.name == name);
        found.next().filter(|_| !self.has_unreadable_others()).map(|other| other.value)
    }

    /// Whether a counter that may have no type is present but cannot be read.
    #[must_use]
    pub(crate) const fn has_unreadable_others(&self) -> bool {
        !matches!(self.other_unreadable, OtherUnreadable::None)
    }

    /// Whether any counter, with or without a type, is present but cannot be read.
    #[must_use]
    #[doc(hidden)]
    pub const fn is_damaged(&self) -> bool {
        self.unreadable != 0 || !matches!(self.other_unreadable, OtherUnreadable::None)
    }

    /// Records a value; `framework` says whether its group belongs to Hadoop itself.
    ///
    /// Counters that stand for several file systems are summed; for all others, a framework group replaces
    /// the value of a user's group with the same counter name, never the other way round.
    #[inline]
    #[doc(hidden)]
    pub fn record(&mut self, counter: Counter, value: i64, framework: bool) {
        let bit = bit(counter);
        let adds_up = bit & ADDS_UP != 0;
        if self.unreadable & bit != 0 && framework && !adds_up && self.from_framework & bit == 0 {
            // Only the counter of a user's group could not be read.
            self.unreadable &= !bit;
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

    /// Records that a counter is present but cannot be read; `framework` says whether its group belongs to
    /// Hadoop itself.
    #[doc(hidden)]
    pub fn mark_unreadable(&mut self, counter: Counter, framework: bool) {
        let bit = bit(counter);
        if framework || self.from_framework & bit == 0 {
            self.unreadable |= bit;
        }
        if framework {
            self.from_framework |= bit;
        }
    }

    /// Records that a counter without a type is present but cannot be read.
    #[doc(hidden)]
    pub fn mark_other_unreadable(&mut self) {
        self.other_unreadable = self.other_unreadable.max(OtherUnreadable::Other);
    }

    /// Records that counters are present whose names cannot be read either.
    #[doc(hidden)]
    pub fn mark_nameless_unreadable(&mut self) {
        self.other_unreadable = OtherUnreadable::Nameless;
    }

    /// Clears the set but keeps its allocations.
    #[inline]
    #[doc(hidden)]
    pub fn clear(&mut self) {
        self.present = 0;
        self.from_framework = 0;
        self.others.clear();
        self.unreadable = 0;
        self.other_unreadable = OtherUnreadable::None;
    }

    /// Copies `other` but keeps the allocations.
    #[doc(hidden)]
    pub fn copy_from(&mut self, other: &Self) {
        self.values = other.values;
        self.present = other.present;
        self.from_framework = other.from_framework;
        self.unreadable = other.unreadable;
        self.other_unreadable = other.other_unreadable;
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
    fn unreadable_counters_are_absent_and_named() {
        use Counter::{GcTimeMillis as Gc, OtherFsBytesRead as Read, SpilledRecords as Spilled};
        let mut set = CounterSet::default();
        set.record(Read, 5, true);
        set.mark_unreadable(Read, true);
        set.record(Read, 7, true);
        set.mark_unreadable(Spilled, false);
        assert_eq!((set.get(Read), set.unreadable()), (None, CounterMask::of(&[Read, Spilled])));
        assert_eq!(set.iter().count(), 0);
        // A framework group takes precedence over a user's group, never the other way round.
        set.record(Spilled, 2, true);
        set.mark_unreadable(Spilled, false);
        assert_eq!((set.get(Spilled), set.unreadable()), (Some(2), CounterMask::of(&[Read])));
        set.mark_unreadable(Gc, true);
        set.record(Gc, 3, false);
        assert_eq!((set.get(Gc), set.unreadable()), (None, CounterMask::of(&[Read, Gc])));
        set.mark_nameless_unreadable();
        let unreadable = set.unreadable();
        assert!(unreadable.has(Counter::MapInputRecords) && !unreadable.has(Spilled));
        assert!(!unreadable.has(Counter::ExecutorRunTime));
        set.clear();
        assert!(!set.is_damaged() && set.unreadable().is_empty());
        set.mark_other_unreadable();
        assert!(set.is_damaged() && set.unreadable().is_empty());
    }
}
