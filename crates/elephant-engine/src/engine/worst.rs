//! Keeps the worst of many items that come in any order, so memory does not grow with the items that are
//! not shown.

use std::cmp::Ordering;

/// Keeps the `most` items that come first by `order`. The result does not depend on the insertion order,
/// provided that no two items are equal.
pub(super) struct Worst<T> {
    most: usize,
    order: fn(&T, &T) -> Ordering,
    /// Up to twice `most` items, so that sorting is rare.
    items: Vec<T>,
    /// The first `most` items are sorted, and none of the others is worse than the last of them.
    is_sorted: bool,
}

impl<T> Worst<T> {
    /// Keeps `most` items; `order` sorts the worst first.
    pub(super) fn new(most: usize, order: fn(&T, &T) -> Ordering) -> Self {
        Self { most, order, items: Vec::new(), is_sorted: false }
    }

    /// Whether `item` may be among the worst. `false` is final.
    pub(super) fn admits(&self, item: &T) -> bool {
        if self.most == 0 {
            return false;
        }
        let last = self.items.get(self.most - 1).filter(|_| self.is_sorted);
        last.is_none_or(|last| (self.order)(last, item).is_ge())
    }

    /// Inserts an item if it is among the worst.
    pub(super) fn insert(&mut self, item: T) {
        if !self.admits(&item) {
            return;
        }
        self.items.push(item);
        if self.items.len() >= self.most.saturating_mul(2) {
            self.truncate();
            self.is_sorted = true;
        }
    }

    /// The worst items, worst first.
    pub(super) fn into_sorted(mut self) -> Vec<T> {
        self.truncate();
        self.items
    }

    /// Sorts and drops the rest. A stable sort would copy the items; without equal items it gives the same
    /// order.
    fn truncate(&mut self) {
        self.items.sort_unstable_by(self.order);
        self.items.truncate(self.most);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_worst_do_not_depend_on_the_order_of_insertion(
            mut items in prop::collection::btree_set(0..100u32, 0..40).prop_map(Vec::from_iter).prop_shuffle(),
            most in 0..12usize,
        ) {
            let mut worst = Worst::new(most, |a: &u32, b: &u32| b.cmp(a));
            for &item in &items {
                let admitted = worst.admits(&item);
                worst.insert(item);
                prop_assert!(admitted || !worst.items.contains(&item));
            }
            items.sort_unstable_by(|a, b| b.cmp(a));
            items.truncate(most);
            prop_assert_eq!(worst.into_sorted(), items);
        }
    }
}
