//! Columns of a table, most of them without values.

use super::order::Order;
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
    /// Column after column, with room for `rows` rows each: most stages have few tasks, for which columns of their own
    /// would take six times as much, and an allocation each. [`ABSENT`] means `None`.
    OfFewRows {
        rows: usize,
        values: Vec<i64>,
    },
    Columns(Vec<Column>),
}

/// Up to this many rows, [`Cells::OfFewRows`] takes no more memory than columns do.
const FEW: usize = 8;

impl<const N: usize> Default for Columns<N> {
    fn default() -> Self {
        Self { slots: [0; N], cells: Cells::OfFewRows { rows: 1, values: Vec::new() } }
    }
}

impl Cells {
    /// The number of columns.
    fn count(&self) -> usize {
        match self {
            Self::Columns(columns) => columns.len(),
            Self::OfFewRows { rows, values } => values.len() / rows.max(&1),
        }
    }

    fn add_column(&mut self) {
        match self {
            Self::Columns(columns) => columns.push(Column::default()),
            Self::OfFewRows { rows, values } => values.resize(values.len() + *rows, ABSENT),
        }
    }

    /// Makes room for a row beyond those of [`Cells::OfFewRows`].
    #[cold]
    fn make_room(&mut self, row: usize) {
        let Self::OfFewRows { rows, values } = self else { return };
        let columns = values.chunks_exact(*rows);
        if row >= FEW {
            let column = |values: &[i64]| {
                let mut column = Column::default();
                values.iter().enumerate().for_each(|(row, &value)| column.put(row, Some(value)));
                column
            };
            *self = Self::Columns(columns.map(column).collect());
            return;
        }
        let more = (row + 1).next_power_of_two();
        let mut moved = Vec::with_capacity(columns.len() * more);
        for column in columns {
            moved.extend_from_slice(column);
            moved.resize(moved.len() + more - *rows, ABSENT);
        }
        (*rows, *values) = (more, moved);
    }
}

impl<const N: usize> Columns<N> {
    /// Prepares empty columns for this many rows, so that they need not be moved when they grow.
    pub(super) fn expect(&mut self, rows: usize) {
        if self.cells.count() == 0 && rows > 0 {
            self.cells = if rows > FEW {
                Cells::Columns(Vec::new())
            } else {
                Cells::OfFewRows { rows, values: Vec::new() }
            };
        }
    }

    fn slot(&self, index: usize) -> Option<usize> {
        usize::from(*self.slots.get(index)?).checked_sub(1)
    }

    #[inline]
    pub(super) fn get(&self, index: usize, row: usize) -> Option<i64> {
        let slot = self.slot(index)?;
        match &self.cells {
            Cells::Columns(columns) => columns.get(slot)?.get(row),
            Cells::OfFewRows { rows, values } if row < *rows => {
                values.get(slot * rows + row).copied().filter(|&value| value != ABSENT)
            }
            Cells::OfFewRows { .. } => None,
        }
    }

    #[inline]
    pub(super) fn set(&mut self, index: usize, row: usize, value: Option<i64>) {
        let Some(slot) = self.slots.get_mut(index) else { return };
        if *slot == 0 {
            let next = u8::try_from(self.cells.count() + 1).ok();
            let Some(next) = next.filter(|_| value.is_some()) else { return };
            *slot = next;
            self.cells.add_column();
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
                Cells::OfFewRows { rows, values } if row < *rows => {
                    if let Some(cell) = values.get_mut(slot * *rows + row) {
                        *cell = value.unwrap_or(ABSENT);
                    }
                    return;
                }
                Cells::OfFewRows { .. } if value.is_none() => return,
                cells @ Cells::OfFewRows { .. } => cells.make_room(row),
            }
        }
    }

    /// Passes each value of the column at `index` with its row, in order.
    #[inline]
    pub(super) fn each(&self, index: usize, mut take: impl FnMut(usize, i64)) {
        let Some(slot) = self.slot(index) else { return };
        match &self.cells {
            Cells::Columns(columns) => {
                if let Some(column) = columns.get(slot) {
                    column.each(take);
                }
            }
            Cells::OfFewRows { rows, values } => {
                let column = values.get(slot * rows..(slot + 1) * rows).unwrap_or_default();
                let known = column.iter().enumerate().filter(|(_, value)| **value != ABSENT);
                known.for_each(|(row, value)| take(row, *value));
            }
        }
    }

    /// The sum of the column at `index`; `None` if no row has a value.
    pub(super) fn sum(&self, index: usize) -> Option<i128> {
        let slot = self.slot(index)?;
        match &self.cells {
            Cells::Columns(columns) => columns.get(slot)?.sum(),
            Cells::OfFewRows { rows, values } => {
                let column = values.get(slot * rows..(slot + 1) * rows)?;
                let known = column.iter().filter(|value| **value != ABSENT);
                known.map(|value| i128::from(*value)).reduce(|sum, value| sum + value)
            }
        }
    }

    /// Whether a row has any value.
    pub(super) fn any(&self, row: usize) -> bool {
        match &self.cells {
            Cells::Columns(columns) => columns.iter().any(|column| column.get(row).is_some()),
            Cells::OfFewRows { rows, values } => {
                row < *rows && values.iter().skip(row).step_by(*rows).any(|&value| value != ABSENT)
            }
        }
    }

    /// Puts rows into another order.
    pub(super) fn reorder(&mut self, order: &Order) {
        let mut reordered = Self::default();
        reordered.expect(order.len());
        for index in (0..N).filter(|&index| self.slot(index).is_some()) {
            for (row, &from) in order.iter().enumerate() {
                reordered.set(index, row, self.get(index, from));
            }
        }
        *self = reordered;
    }

    pub(super) fn shrink(&mut self) {
        match &mut self.cells {
            Cells::Columns(columns) => {
                columns.iter_mut().for_each(Column::shrink);
                columns.shrink_to_fit();
            }
            Cells::OfFewRows { values, .. } => values.shrink_to_fit(),
        }
    }

    /// Bytes allocated.
    pub(super) fn held(&self) -> usize {
        match &self.cells {
            Cells::Columns(columns) => {
                columns.capacity() * size_of::<Column>() + columns.iter().map(Column::held).sum::<usize>()
            }
            Cells::OfFewRows { values, .. } => values.capacity() * size_of::<i64>(),
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
            steps in prop::collection::vec((0..4usize, 0..12usize, prop::option::of(-2..2i64)), 0..60),
            rows in 1..12usize,
            expected in 0..12usize,
        ) {
            let mut columns: Columns<4> = Columns::default();
            columns.expect(expected);
            let mut plain = [[None; 12]; 4];
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
                let known = values.iter().flatten().map(|&value| i128::from(value));
                prop_assert_eq!(columns.sum(index), known.reduce(|sum, value| sum + value));
            }
            for row in 0..12 {
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
