//! Maps ids to table rows. A job numbers its tasks from 0 without gaps, and most tasks have one attempt, so
//! vectors serve most histories at a fraction of the time and memory of a hash map.

use rustc_hash::FxHashMap;

use super::ids::{AttemptId, IdSpace, TaskId};

/// A vector may have this many slots per row, plus [`SLACK`].
const MAX_SPARSITY: usize = 4;
const SLACK: usize = 1024;

/// Values by the ids of tasks.
#[derive(Debug, Clone)]
pub(super) struct ByTask<V> {
    maps: ByNumber<V>,
    reduces: ByNumber<V>,
}

impl<V> Default for ByTask<V> {
    fn default() -> Self {
        Self { maps: ByNumber::default(), reduces: ByNumber::default() }
    }
}

impl<V: Copy> ByTask<V> {
    pub(super) fn get(&self, id: TaskId) -> Option<V> {
        match id.space {
            IdSpace::Map => self.maps.get(id.number),
            IdSpace::Reduce => self.reduces.get(id.number),
        }
    }

    /// Inserts the value of a new id.
    pub(super) fn insert(&mut self, id: TaskId, value: V) {
        match id.space {
            IdSpace::Map => self.maps.insert(id.number, value),
            IdSpace::Reduce => self.reduces.insert(id.number, value),
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.maps.is_empty() && self.reduces.is_empty()
    }
}

/// Values by the ids of attempts.
#[derive(Debug, Clone)]
pub(super) struct ByAttempt<V> {
    first: ByTask<V>,
    later: FxHashMap<AttemptId, V>,
}

impl<V> Default for ByAttempt<V> {
    fn default() -> Self {
        Self { first: ByTask::default(), later: FxHashMap::default() }
    }
}

impl<V: Copy> ByAttempt<V> {
    pub(super) fn get(&self, id: AttemptId) -> Option<V> {
        if id.number == 0 { self.first.get(id.task) } else { self.later.get(&id).copied() }
    }

    /// Inserts the value of a new id.
    pub(super) fn insert(&mut self, id: AttemptId, value: V) {
        if id.number == 0 {
            self.first.insert(id.task, value);
        } else {
            self.later.insert(id, value);
        }
    }
}

#[derive(Debug, Clone)]
struct ByNumber<V> {
    near: Vec<Option<V>>,
    /// Number of values in the vector.
    held: usize,
    /// Values with numbers that would make the vector long and sparse.
    far: FxHashMap<u32, V>,
}

impl<V> Default for ByNumber<V> {
    fn default() -> Self {
        Self { near: Vec::new(), held: 0, far: FxHashMap::default() }
    }
}

impl<V: Copy> ByNumber<V> {
    fn get(&self, number: u32) -> Option<V> {
        let near = self.near.get(number as usize).copied().flatten();
        if near.is_some() || self.far.is_empty() { near } else { self.far.get(&number).copied() }
    }

    fn insert(&mut self, number: u32, value: V) {
        let place = number as usize;
        if place >= self.near.len() && place < self.held.saturating_mul(MAX_SPARSITY) + SLACK {
            self.near.resize(place + 1, None);
        }
        if let Some(cell) = self.near.get_mut(place) {
            *cell = Some(value);
            self.held += 1;
        } else {
            self.far.insert(number, value);
        }
    }

    fn is_empty(&self) -> bool {
        self.held == 0 && self.far.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::hash_map::Entry;

    use super::*;
    use proptest::prelude::*;

    fn ids() -> impl Strategy<Value = AttemptId> {
        let number = prop_oneof![0..50u32, 0..5000u32, any::<u32>()];
        (any::<bool>(), number, 0..3u32).prop_map(|(map, task, number)| {
            let space = if map { IdSpace::Map } else { IdSpace::Reduce };
            AttemptId { task: TaskId { space, number: task }, number }
        })
    }

    proptest! {
        #[test]
        fn behaves_like_a_map(ids in prop::collection::vec(ids(), 0..200)) {
            let (mut map, mut rows) = (FxHashMap::default(), ByAttempt::default());
            let (mut task_map, mut task_rows) = (FxHashMap::default(), ByTask::default());
            for (row, &id) in ids.iter().enumerate() {
                prop_assert_eq!(rows.get(id), map.get(&id).copied());
                prop_assert_eq!(task_rows.is_empty(), task_map.is_empty());
                if let Entry::Vacant(vacant) = map.entry(id) {
                    vacant.insert(row);
                    rows.insert(id, row);
                }
                if let Entry::Vacant(vacant) = task_map.entry(id.task) {
                    vacant.insert(row);
                    task_rows.insert(id.task, row);
                }
            }
            for id in ids {
                prop_assert_eq!(rows.get(id), map.get(&id).copied());
                prop_assert_eq!(task_rows.get(id.task), task_map.get(&id.task).copied());
            }
        }
    }

    #[test]
    fn a_few_large_numbers_take_little_memory() {
        let mut rows = ByNumber::default();
        for number in [u32::MAX, u32::MAX - 1, 1 << 30, 0] {
            rows.insert(number, u64::from(number));
        }
        assert_eq!(rows.near.len(), 1);
        assert_eq!(rows.get(1 << 30), Some(1 << 30));
    }
}
