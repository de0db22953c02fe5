//! A column of optional integers that takes as few bytes as its values need.
//!
//! A log of 100,000 tasks has about thirty columns, most of them all zero, all absent, or small. A column
//! starts without storage; then stores a single repeated value once, with a bit per row if some rows have
//! none (tasks end in another order than they start); then uses as many bytes per row as its values need.

mod bits;
mod offsets;

use bits::Bits;
use offsets::{Offset, Offsets};

/// A growing column of `Option<i64>`.
#[derive(Debug, Clone, Default)]
pub struct Column {
    len: usize,
    cells: Cells,
}

/// All but the first two variants may be shorter than the column; missing cells are `None`.
#[derive(Debug, Clone, Default)]
enum Cells {
    /// Every cell is `None`.
    #[default]
    Absent,
    /// Every cell from `first` on holds `value`; the cells before it are `None`. There is at least one cell
    /// with a value.
    Uniform { first: usize, value: i64 },
    /// Every cell in `present` holds `value`, the others are `None`.
    Same { value: i64, present: Bits },
    /// Values from 0 to 254.
    Tiny(Offsets<u8>),
    /// Values from 0 to 65,534.
    Short(Offsets<u16>),
    /// Values within 2³² of each other.
    Narrow(Offsets<u32>),
    /// Any values; [`ABSENT`] means `None`.
    Wide(Vec<i64>),
}

/// Marks an absent value; no real counter is that small.
pub(super) const ABSENT: i64 = i64::MIN;

impl Column {
    /// Adds rows without values until the column has `len` rows.
    #[cfg(test)]
    pub(crate) fn grow(&mut self, len: usize) {
        if let Cells::Uniform { first, value } = self.cells
            && len > self.len
        {
            self.cells = Cells::Same { value, present: Bits::range(first, self.len) };
        }
        self.len = self.len.max(len);
    }

    /// Adds one row.
    #[cfg(test)]
    pub(crate) fn push(&mut self, value: Option<i64>) {
        match value.filter(|&value| value != ABSENT) {
            Some(value) => self.put(self.len, Some(value)),
            None => self.grow(self.len + 1),
        }
    }

    /// Sets the value of `row`; rows beyond the end are ignored.
    #[cfg(test)]
    pub(crate) fn set(&mut self, row: usize, value: Option<i64>) {
        if row < self.len {
            self.put(row, value);
        }
    }

    /// Sets the value of `row`; grows the column only if there is a value to store.
    #[inline]
    pub(super) fn put(&mut self, row: usize, value: Option<i64>) {
        let Some(value) = value.filter(|&value| value != ABSENT) else { return self.clear(row) };
        loop {
            let is_there = match &mut self.cells {
                Cells::Tiny(offsets) => offsets.put(row, value),
                Cells::Short(offsets) => offsets.put(row, value),
                Cells::Narrow(offsets) => offsets.put(row, value),
                Cells::Same { value: known, present } if *known == value => {
                    present.insert(row);
                    true
                }
                Cells::Uniform { first, value: known } => *known == value && *first <= row && row <= self.len,
                Cells::Wide(values) => {
                    if values.len() <= row {
                        values.resize(row + 1, ABSENT);
                    }
                    values.get_mut(row).is_some_and(|cell| {
                        *cell = value;
                        true
                    })
                }
                Cells::Absent | Cells::Same { .. } => false,
            };
            if is_there {
                self.len = self.len.max(row + 1);
                return;
            }
            self.make_room(row, value);
        }
    }

    /// Switches to the next variant that can hold `value`.
    #[cold]
    fn make_room(&mut self, row: usize, value: i64) {
        self.cells = match &self.cells {
            Cells::Absent => Cells::Uniform { first: row.max(self.len), value },
            Cells::Uniform { first, value: known } if *known == value => {
                Cells::Same { value, present: Bits::range(*first, self.len) }
            }
            _ => (self.offsets(value).map(Cells::Tiny))
                .or_else(|| self.offsets(value).map(Cells::Short))
                .or_else(|| self.offsets(value).map(Cells::Narrow))
                .unwrap_or_else(|| Cells::Wide(self.iter().map(|cell| cell.unwrap_or(ABSENT)).collect())),
        };
    }

    /// The cells as offsets of this width, with room for `next`; `None` if a value does not fit.
    fn offsets<T: Offset>(&self, next: i64) -> Option<Offsets<T>> {
        Offsets::of(self.iter(), next)
    }

    fn clear(&mut self, row: usize) {
        if row >= self.len || self.get(row).is_none() {
            return;
        }
        if let Cells::Uniform { first, value } = self.cells {
            self.cells = Cells::Same { value, present: Bits::range(first, self.len) };
        }
        match &mut self.cells {
            Cells::Absent | Cells::Uniform { .. } => {}
            Cells::Same { present, .. } => present.remove(row),
            Cells::Tiny(offsets) => offsets.clear(row),
            Cells::Short(offsets) => offsets.clear(row),
            Cells::Narrow(offsets) => offsets.clear(row),
            Cells::Wide(values) => values.get_mut(row).into_iter().for_each(|cell| *cell = ABSENT),
        }
    }

    /// The value of `row`; `None` for absent values and for rows beyond the end.
    #[must_use]
    #[inline]
    pub(crate) fn get(&self, row: usize) -> Option<i64> {
        match &self.cells {
            Cells::Absent => None,
            Cells::Uniform { first, value } => (*first..self.len).contains(&row).then_some(*value),
            Cells::Same { value, present } => present.contains(row).then_some(*value),
            Cells::Tiny(offsets) => offsets.get(row),
            Cells::Short(offsets) => offsets.get(row),
            Cells::Narrow(offsets) => offsets.get(row),
            Cells::Wide(values) => values.get(row).copied().filter(|&value| value != ABSENT),
        }
    }

    /// All rows in order.
    #[must_use]
    pub(crate) fn iter(&self) -> impl ExactSizeIterator<Item = Option<i64>> + '_ {
        (0..self.len).map(|row| self.get(row))
    }

    /// Passes each value with its row, in order.
    #[inline]
    pub(crate) fn each(&self, mut take: impl FnMut(usize, i64)) {
        match &self.cells {
            Cells::Absent => {}
            Cells::Uniform { first, value } => (*first..self.len).for_each(|row| take(row, *value)),
            Cells::Tiny(offsets) => offsets.each(take),
            Cells::Short(offsets) => offsets.each(take),
            Cells::Narrow(offsets) => offsets.each(take),
            Cells::Same { .. } | Cells::Wide(_) => {
                self.iter()
                    .enumerate()
                    .for_each(|(row, value)| value.into_iter().for_each(|value| take(row, value)));
            }
        }
    }

    /// The sum of all values; `None` if no row has one.
    #[must_use]
    pub(crate) fn sum(&self) -> Option<i128> {
        let (sum, count) = match &self.cells {
            Cells::Absent => (0, 0),
            Cells::Uniform { first, value } => times(*value, self.len - first),
            Cells::Same { value, present } => times(*value, present.count()),
            Cells::Tiny(offsets) => offsets.sum(),
            Cells::Short(offsets) => offsets.sum(),
            Cells::Narrow(offsets) => offsets.sum(),
            Cells::Wide(values) => {
                let known = values.iter().filter(|value| **value != ABSENT);
                known.fold((0, 0), |(sum, count), value| (sum + i128::from(*value), count + 1))
            }
        };
        (count > 0).then_some(sum)
    }

    /// Bytes allocated.
    #[must_use]
    pub(crate) fn held(&self) -> usize {
        match &self.cells {
            Cells::Absent | Cells::Uniform { .. } => 0,
            Cells::Same { present, .. } => present.held(),
            Cells::Tiny(offsets) => offsets.held(),
            Cells::Short(offsets) => offsets.held(),
            Cells::Narrow(offsets) => offsets.held(),
            Cells::Wide(values) => values.capacity() * size_of::<i64>(),
        }
    }

    /// Frees unused capacity.
    pub(crate) fn shrink(&mut self) {
        match &mut self.cells {
            Cells::Absent | Cells::Uniform { .. } => {}
            Cells::Same { value, present } => match present.first() {
                None => self.cells = Cells::Absent,
                Some(first) if present.count() == self.len - first => {
                    self.cells = Cells::Uniform { first, value: *value };
                }
                Some(_) => present.shrink(),
            },
            Cells::Tiny(offsets) => offsets.shrink(),
            Cells::Short(offsets) => offsets.shrink(),
            Cells::Narrow(offsets) => offsets.shrink(),
            Cells::Wide(values) => values.shrink_to_fit(),
        }
    }
}

/// The sum of `count` times the same value, and the count.
const fn times(value: i64, count: usize) -> (i128, usize) {
    (value as i128 * count as i128, count)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn interesting() -> impl Strategy<Value = Option<i64>> {
        prop_oneof![
            Just(None),
            Just(Some(0)),
            Just(Some(7)),
            (0..300i64).prop_map(Some),
            (0..70_000i64).prop_map(Some),
            (-3..3i64).prop_map(Some),
            (1_526_555_000_000..1_526_999_000_000i64).prop_map(Some),
            any::<i64>().prop_filter("the absent mark", |&v| v != ABSENT).prop_map(Some),
        ]
    }

    #[derive(Debug, Clone)]
    enum Step {
        Push(Option<i64>),
        Grow(usize),
        Set(usize, Option<i64>),
        Put(usize, Option<i64>),
        Shrink,
    }

    fn steps() -> impl Strategy<Value = Vec<Step>> {
        let step = prop_oneof![
            4 => interesting().prop_map(Step::Push),
            1 => (0..4usize).prop_map(Step::Grow),
            2 => (0..40usize, interesting()).prop_map(|(row, value)| Step::Set(row, value)),
            2 => (0..90usize, interesting()).prop_map(|(row, value)| Step::Put(row, value)),
            1 => Just(Step::Shrink),
        ];
        prop::collection::vec(step, 0..60)
    }

    proptest! {
        #[test]
        fn behaves_like_a_vector_of_options(steps in steps()) {
            let mut column = Column::default();
            let mut plain: Vec<Option<i64>> = Vec::new();
            for step in steps {
                match step {
                    Step::Push(value) => { column.push(value); plain.push(value); }
                    Step::Grow(more) => {
                        column.grow(plain.len() + more);
                        plain.resize(plain.len() + more, None);
                    }
                    Step::Set(row, value) => {
                        column.set(row, value);
                        if let Some(cell) = plain.get_mut(row) { *cell = value; }
                    }
                    Step::Put(row, value) => {
                        column.put(row, value);
                        if value.is_some() && plain.len() <= row { plain.resize(row + 1, None); }
                        if let Some(cell) = plain.get_mut(row) { *cell = value; }
                    }
                    Step::Shrink => column.shrink(),
                }
                prop_assert_eq!(column.iter().collect::<Vec<_>>(), plain.clone());
                let known = plain.iter().flatten().map(|&value| i128::from(value));
                prop_assert_eq!(column.sum(), known.reduce(|sum, value| sum + value));
            }
        }
    }

    #[test]
    fn a_repeated_value_takes_no_space_per_row() {
        let mut column = Column::default();
        column.grow(10);
        for _ in 0..100_000 {
            column.push(Some(0));
        }
        assert!(matches!(column.cells, Cells::Uniform { first: 10, value: 0 }));
    }

    #[test]
    fn a_repeated_value_takes_a_bit_per_row_in_any_order() {
        let mut column = Column::default();
        for row in (0..1000).rev() {
            column.put(row, Some(0));
        }
        assert!(matches!(column.cells, Cells::Same { value: 0, .. }));
        column.shrink();
        assert!(matches!(column.cells, Cells::Uniform { first: 0, value: 0 }));
    }

    #[test]
    fn a_column_without_its_values_is_absent() {
        let mut column = Column::default();
        column.push(Some(0));
        column.set(0, None);
        column.shrink();
        column.push(None);
        assert_eq!(column.iter().collect::<Vec<_>>(), [None, None]);
        assert_eq!(column.sum(), None);
    }

    #[test]
    fn cells_grow_with_their_values() {
        let mut column = Column::default();
        let width = |column: &Column| match column.cells {
            Cells::Tiny(_) => 1,
            Cells::Short(_) => 2,
            Cells::Narrow(_) => 4,
            Cells::Wide(_) => 8,
            _ => 0,
        };
        let mut widths = Vec::new();
        for value in [7, 7, 254, 255, 65_534, 65_535, i64::from(u32::MAX) - 1, i64::from(u32::MAX)] {
            column.push(Some(value));
            widths.push(width(&column));
        }
        assert_eq!(widths, [0, 0, 1, 2, 2, 4, 4, 8]);
        let moments = [1_732_147_226_279, 1_732_147_230_150, 1_732_147_100_000];
        let mut column = Column::default();
        for moment in moments {
            column.push(Some(moment));
        }
        assert_eq!(width(&column), 4);
    }
}
