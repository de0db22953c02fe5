//! Where counters are stored.

use elephant_model::model::Symbol;
use elephant_model::model::counters::{Counter, CounterSet, OtherCounter};

/// Where the value of a counter is stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CounterSlot {
    Typed { counter: Counter, framework: bool },
    Other { group: Symbol, name: Symbol },
}

impl CounterSlot {
    /// Records a value of this counter.
    #[inline]
    pub(crate) fn record(self, value: i64, set: &mut CounterSet) {
        match self {
            Self::Typed { counter, framework } => set.record(counter, value, framework),
            Self::Other { group, name } => set.others.push(OtherCounter { group, name, value }),
        }
    }

    /// Records that this counter's value cannot be read.
    pub(crate) fn mark_unreadable(self, set: &mut CounterSet) {
        match self {
            Self::Typed { counter, framework } => set.mark_unreadable(counter, framework),
            Self::Other { .. } => set.mark_other_unreadable(),
        }
    }
}
