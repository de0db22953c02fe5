//! Maps numbers that nearly always count up from 0, such as task ids and indexes, to values.

use rustc_hash::FxHashMap;

/// Vector slots allowed per entry, and slots allowed in any case. A log that begins in the middle has larger
/// numbers, and a synthetic one may have any number, in each of a million stages.
const PLACES_PER_NUMBER: usize = 8;
const PLACES_IN_ANY_CASE: usize = 64;

/// A map from numbers to values that needs no more memory than the values if the numbers are dense.
#[derive(Debug)]
pub(super) struct Numbered<T> {
    dense: Vec<Option<T>>,
    count: usize,
    sparse: FxHashMap<u64, T>,
}

impl<T> Default for Numbered<T> {
    fn default() -> Self {
        Self { dense: Vec::new(), count: 0, sparse: FxHashMap::default() }
    }
}

impl<T: Copy> Numbered<T> {
    #[inline]
    pub(super) fn get(&self, number: u64) -> Option<T> {
        match usize::try_from(number).ok().and_then(|place| self.dense.get(place)) {
            // The number may have been inserted when it was still beyond the vector.
            Some(Some(value)) => Some(*value),
            _ if self.sparse.is_empty() => None,
            _ => self.sparse.get(&number).copied(),
        }
    }

    pub(super) fn insert(&mut self, number: u64, value: T) {
        self.count += 1;
        let places = self.count.saturating_mul(PLACES_PER_NUMBER).saturating_add(PLACES_IN_ANY_CASE);
        match usize::try_from(number) {
            Ok(place) if place < places => {
                if place >= self.dense.len() {
                    self.dense.resize(place + 1, None);
                }
                if let Some(slot) = self.dense.get_mut(place) {
                    *slot = Some(value);
                }
            }
            _ => {
                self.sparse.insert(number, value);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    proptest! {
        #[test]
        fn behaves_like_a_map(numbers in prop::collection::vec(prop_oneof![0..50u64, 4000..9000u64, any::<u64>()], 0..200)) {
            let mut numbered = Numbered::default();
            let mut map = BTreeMap::new();
            for (value, number) in numbers.into_iter().enumerate() {
                prop_assert_eq!(numbered.get(number), map.get(&number).copied());
                if map.contains_key(&number) {
                    continue;
                }
                numbered.insert(number, value);
                map.insert(number, value);
            }
            for (number, value) in map {
                prop_assert_eq!(numbered.get(number), Some(value));
            }
        }
    }
}
