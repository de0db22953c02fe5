//! Sets of typed counters.

use super::Counter;

const _: () = assert!(Counter::COUNT <= u64::BITS as usize, "a counter has no bit");

/// A set of typed counters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct CounterMask(pub(super) u64);

impl CounterMask {
    /// Hadoop's counters.
    pub(super) const HADOOP: Self = Self(bit(Counter::ExecutorRunTime) - 1);

    /// The empty set.
    pub const NONE: Self = Self(0);

    /// All typed counters.
    pub const ALL: Self = Self::of(&Counter::ALL);

    /// The set of these counters.
    #[must_use]
    pub const fn of(counters: &[Counter]) -> Self {
        let (mut mask, mut rest) = (0, counters);
        while let [counter, tail @ ..] = rest {
            mask |= bit(*counter);
            rest = tail;
        }
        Self(mask)
    }

    /// The intersection of both sets.
    #[must_use]
    #[doc(hidden)]
    pub const fn and(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    /// Its counters in declaration order.
    #[doc(hidden)]
    pub fn iter(self) -> impl Iterator<Item = Counter> {
        Counter::ALL.into_iter().filter(move |&counter| self.has(counter))
    }

    /// Whether the set is empty.
    #[must_use]
    #[doc(hidden)]
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Whether the set contains `counter`.
    #[must_use]
    #[doc(hidden)]
    pub fn has(self, counter: Counter) -> bool {
        self.0 & bit(counter) != 0
    }

    /// Whether the set contains one of `counters`.
    #[must_use]
    #[doc(hidden)]
    pub fn has_any(self, counters: &[Counter]) -> bool {
        self.0 != 0 && counters.iter().any(|&counter| self.has(counter))
    }

    pub(crate) fn insert(&mut self, counter: Counter) {
        self.0 |= bit(counter);
    }

    /// Adds all counters of another set.
    #[doc(hidden)]
    pub fn insert_all(&mut self, other: Self) {
        self.0 |= other.0;
    }
}

pub(super) const fn bit(counter: Counter) -> u64 {
    1 << counter.index()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn masks_are_sets() {
        let mask = CounterMask::of(&[Counter::GcTimeMillis, Counter::InputBytes]);
        let all: Vec<Counter> = mask.iter().collect();
        assert_eq!(all, [Counter::GcTimeMillis, Counter::InputBytes]);
        assert_eq!(mask.and(CounterMask::of(&[Counter::InputBytes])).iter().count(), 1);
        assert_eq!(CounterMask::of(&[]), CounterMask::NONE);
    }
}
