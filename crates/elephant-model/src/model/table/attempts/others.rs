//! The counters of attempts that have no type of their own.

use super::Attempts;
use super::reorder::moved;
use crate::model::Symbol;
use crate::model::counters::{CounterSet, OtherCounter};

/// Counters without a type, by row, if they were asked for.
#[derive(Debug, Clone, Default)]
pub(super) struct Others {
    rows: Vec<(u32, OtherCounter)>,
    /// Whether one of them is present but cannot be read.
    unreadable: bool,
}

impl Others {
    pub(super) fn note_unreadable(&mut self, counters: &CounterSet) {
        self.unreadable |= counters.has_unreadable_others();
    }

    /// Rows have moved to these places.
    pub(super) fn rename(&mut self, places: &[usize]) {
        for (row, _) in &mut self.rows {
            *row = moved(*row, places);
        }
    }

    pub(super) fn shrink(&mut self) {
        // Attempts end in another order than they start.
        if !self.rows.is_sorted_by_key(|(row, _)| *row) {
            self.rows.sort_by_key(|(row, _)| *row);
        }
        self.rows.shrink_to_fit();
    }

    /// Bytes allocated.
    pub(super) fn held(&self) -> usize {
        self.rows.capacity() * size_of::<(u32, OtherCounter)>()
    }
}

#[doc(hidden)]
impl Attempts {
    /// Keeps the counters without a type.
    pub fn set_other_counters(&mut self, row: usize, counters: &CounterSet) {
        if let Ok(row) = u32::try_from(row) {
            self.rows.others.rows.extend(counters.others.iter().map(|&other| (row, other)));
        }
    }

    /// A counter without a type, by its group and name.
    #[must_use]
    pub fn other_counter(&self, row: usize, group: Symbol, name: Symbol) -> Option<i64> {
        let row = u32::try_from(row).ok()?;
        let others = &self.rows.others.rows;
        let from = others.partition_point(|(of, _)| *of < row);
        let of_row = others.get(from..)?.iter().take_while(|(of, _)| *of == row);
        let mut found = of_row.filter(|(_, other)| other.group == group && other.name == name);
        found.next().map(|(_, other)| other.value)
    }

    /// Whether a counter without a type is present for some attempt but cannot be read.
    #[must_use]
    pub fn has_unreadable_others(&self) -> bool {
        self.rows.others.unreadable
    }
}
