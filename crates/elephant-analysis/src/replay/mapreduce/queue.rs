//! Attempts that wait for a slot, in the order in which they start.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::replay::Micros;

/// An attempt that waits, by rank and place.
pub(super) type Place = ((Micros, usize), usize);

/// Attempts that wait for a slot.
#[derive(Debug, Default)]
pub(super) struct Waiting {
    /// First attempts, the next one last.
    pub(super) firsts: Vec<Place>,
    /// Retries and copies.
    pub(super) others: BinaryHeap<Reverse<Place>>,
}

impl Waiting {
    pub(super) fn peek(&self) -> Option<Place> {
        let other = self.others.peek().map(|Reverse(place)| *place);
        [self.firsts.last().copied(), other].into_iter().flatten().min()
    }

    pub(super) fn pop(&mut self) {
        let other = self.others.peek().map(|Reverse(place)| *place);
        if other.is_some() && other == self.peek() {
            self.others.pop();
        } else {
            self.firsts.pop();
        }
    }
}
