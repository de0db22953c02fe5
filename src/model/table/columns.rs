//! Columns of a table, most of them without values.

use crate::model::Column;
use crate::model::column::ABSENT;

/// Up to `N` columns, of which only those with values take space, because an application may have a hundred
/// thousand groups.
#[derive(Debug, Clone)]
pub(super) struct Columns<const N: usize> {
    /// The index into `cells` plus one; 0 for a column without values.
    slots: [u8; N],
    cells: Cells,
}

#[derive(Debug, Clone)]
enum Cells {
    /// The values of row 0, as long as no other row has one: many stages have a single task, for which whole columns
    /// would take six times as much. [`ABSENT`] means `None`.
    OfOneRow(Vec<i64>),
    Columns(Vec<Column>),
}

impl<const N: usize> Default for Columns<N> {
    fn default() -> Self {
        Self { slots: [0; N], cells: Cells::OfOneRow(Vec::new()) }
    }
}

impl<const N: usize> Columns<N> {
    fn slot(&self, index: usize) -> Option<usize> {
        usize::from(*self.slots.get(index)?).checked_sub(1)
    }

    #[inline]
    pub(super) fn get(&self, index: usize, row: usize) -> Option<i64> {
        let slot = self.slot(index)?;
        match &self.cells {
            Cells::Columns(columns) => columns.get(slot)?.get(row),
            Cells::OfOneRow(values) => values.get(slot).copied().filter(|&value| row == 0 && value != ABSENT),
        }
    }

    #[inline]
    pub(super) fn set(&mut self, index: usize, row: usize, value: Option<i64>) {
        let Some(slot) = self.slots.get_mut(index) else { return };
        if *slot == 0 {
            let held = match &self.cells {
                Cells::Columns(columns) => columns.len(),
                Cells::OfOneRow(values) => values.len(),
            };
            let Some(next) = u8::try_from(held + 1).ok().filter(|_| value.is_some()) else { return };
            *slot = next;
            match &mut self.cells {
                Cells::Columns(columns) => columns.push(Column::default()),
                Cells::OfOneRow(values) => values.push(ABSENT),
            }
        }
        let slot = usize::from(*slot) - 1;
        loop {
            match &mut self.cells {
                Cells::Columns(columns) => {
                    if let Some(column) = columns.get_mut(slot) {
                        column.put(row, value);
                    }
                    return;
                }
                Cells::OfOneRow(values) if row == 0 => {
                    if let Some(cell) = values.get_mut(slot) {
                        *cell = value.unwrap_or(ABSENT);
                    }
                    return;
                }
                Cells::OfOneRow(_) if value.is_none() => return,
                Cells::OfOneRow(values) => {
                    let columns = values.iter().map(|&value| {
                        let mut column = Column::default();
                        column.put(0, Some(value));
                        column
                    });
                    self.cells = Cells::Columns(columns.collect());
                }
            }
        }
    }

    /// Whether the column at `index` holds no value but 0, and whether it holds any; `None` if it never had a value.
    pub(super) fn zeros(&self, index: usize) -> Option<(bool, bool)> {
        let slot = self.slot(index)?;
        Some(match &self.cells {
            Cells::Columns(columns) => {
                let column = columns.get(slot)?;
                (column.single_value() == Some(0), !column.is_absent())
            }
            Cells::OfOneRow(values) => {
                let value = *values.get(slot)?;
                (value == 0, value != ABSENT)
            }
        })
    }

    /// Whether a row has any value.
    pub(super) fn any(&self, row: usize) -> bool {
        match &self.cells {
            Cells::Columns(columns) => columns.iter().any(|column| column.get(row).is_some()),
            Cells::OfOneRow(values) => row == 0 && values.iter().any(|&value| value != ABSENT),
        }
    }

    pub(super) fn shrink(&mut self) {
        match &mut self.cells {
            Cells::Columns(columns) => {
                columns.iter_mut().for_each(Column::shrink);
                columns.shrink_to_fit();
            }
            Cells::OfOneRow(values) => values.shrink_to_fit(),
        }
    }

    /// Bytes allocated.
    pub(super) fn held(&self) -> usize {
        match &self.cells {
            Cells::Columns(columns) => {
                columns.capacity() * size_of::<Column>() + columns.iter().map(Column::held).sum::<usize>()
            }
            Cells::OfOneRow(values) => values.capacity() * size_of::<i64>(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn behave_like_a_table_of_options(
            steps in prop::collection::vec((0..4usize, 0..3usize, prop::option::of(-2..2i64)), 0..40),
            rows in 1..4usize,
        ) {
            let mut columns: Columns<4> = Columns::default();
            let mut plain = [[None; 3]; 4];
            for (index, row, value) in steps {
                let row = row % rows;
                columns.set(index, row, value);
                plain[index][row] = value;
            }
            columns.shrink();
            for (index, values) in plain.iter().enumerate() {
                for (row, value) in values.iter().enumerate() {
                    prop_assert_eq!(columns.get(index, row), *value);
                }
                let held = || values.iter().flatten();
                if let Some((only_zeros, any)) = columns.zeros(index) {
                    prop_assert_eq!(any, held().next().is_some());
                    prop_assert!(!only_zeros || held().all(|&value| value == 0));
                } else {
                    prop_assert_eq!(held().next(), None);
                }
            }
            for row in 0..3 {
                prop_assert_eq!(columns.any(row), plain.iter().any(|values| values[row].is_some()));
            }
        }
    }

    #[test]
    fn a_single_row_takes_eight_bytes_per_value() {
        let mut columns: Columns<40> = Columns::default();
        (0..40).for_each(|index| columns.set(index, 0, Some(7)));
        columns.shrink();
        assert_eq!(columns.held(), 40 * 8);
        columns.set(3, 1, None);
        assert_eq!((columns.held(), columns.get(3, 1)), (40 * 8, None));
        columns.set(3, 1, Some(9));
        assert_eq!((columns.get(3, 0), columns.get(3, 1), columns.get(4, 1)), (Some(7), Some(9), None));
    }
}
