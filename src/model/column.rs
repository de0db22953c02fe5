//! A column of optional integers that takes as few bytes as its values allow.
//!
//! A history of 100,000 tasks has some thirty columns, most of them all zero, all absent, or within
//! 2³² of each other. A column starts without storage, keeps a single repeated value as one value,
//! then 32-bit offsets from a base, and 64-bit values only when it must.

/// A growing column of `Option<i64>`.
#[derive(Debug, Clone, Default)]
pub struct Column {
    len: usize,
    cells: Cells,
}

#[derive(Debug, Clone, Default)]
enum Cells {
    /// Every cell is `None`.
    #[default]
    Absent,
    /// Every cell from `first` on holds `value`, the cells before it are `None`.
    Uniform { first: usize, value: i64 },
    /// Offsets from `base`; [`ABSENT_NARROW`] stands for `None`. May be shorter than the column.
    Narrow { base: i64, offsets: Vec<u32> },
    /// Values; [`ABSENT_WIDE`] stands for `None`. May be shorter than the column.
    Wide(Vec<i64>),
}

const ABSENT_NARROW: u32 = u32::MAX;
const ABSENT_WIDE: i64 = i64::MIN;

impl Column {
    /// Number of rows.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.len
    }

    /// Whether the column has no rows.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Whether no row has a value.
    #[must_use]
    pub fn is_absent(&self) -> bool {
        match &self.cells {
            Cells::Absent => true,
            Cells::Uniform { first, .. } => *first >= self.len,
            Cells::Narrow { .. } | Cells::Wide(_) => self.iter().all(|cell| cell.is_none()),
        }
    }

    /// Adds rows without values until there are `len`.
    pub fn grow(&mut self, len: usize) {
        if let Cells::Uniform { first, .. } = self.cells
            && len > self.len
            && first < self.len
        {
            self.spread();
        }
        self.len = self.len.max(len);
    }

    /// Adds one row.
    pub fn push(&mut self, value: Option<i64>) {
        match (value, &self.cells) {
            (Some(new), Cells::Uniform { value: old, .. }) if new == *old => self.len += 1,
            (Some(new), Cells::Absent) if new != ABSENT_WIDE => {
                self.cells = Cells::Uniform { first: self.len, value: new };
                self.len += 1;
            }
            _ => {
                self.grow(self.len + 1);
                self.set(self.len - 1, value);
            }
        }
    }

    /// Sets the value of `row`, growing the column only when there is something to write.
    #[inline]
    pub(super) fn put(&mut self, row: usize, value: Option<i64>) {
        match (&mut self.cells, value) {
            (Cells::Narrow { base, offsets }, Some(value)) => {
                if let (Some(cell), Some(offset)) = (offsets.get_mut(row), narrow(value, *base)) {
                    *cell = offset;
                    return;
                }
            }
            (Cells::Uniform { first, value: known }, Some(value))
                if value == *known && (*first..self.len).contains(&row) =>
            {
                return;
            }
            _ => {}
        }
        self.put_anywhere(row, value);
    }

    fn put_anywhere(&mut self, row: usize, value: Option<i64>) {
        if row == self.len {
            self.push(value);
        } else if row < self.len {
            self.set(row, value);
        } else if value.is_some() {
            self.grow(row);
            self.push(value);
        }
    }

    /// Sets the value of `row`; rows beyond the end are ignored.
    pub fn set(&mut self, row: usize, value: Option<i64>) {
        if row >= self.len {
            return;
        }
        // i64::MIN is the mark for "absent": a counter with that value is beyond what Hadoop can count.
        let value = value.filter(|&v| v != ABSENT_WIDE);
        if let (Cells::Narrow { base, offsets }, Some(value)) = (&mut self.cells, value)
            && let Some(offset) = narrow(value, *base)
        {
            put(offsets, row, offset, ABSENT_NARROW);
            return;
        }
        if self.get(row) == value {
            return;
        }
        self.spread();
        if let (Cells::Absent, Some(value)) = (&self.cells, value) {
            // A base in the middle leaves room for smaller values as well as larger ones.
            let base = if (0..i64::from(ABSENT_NARROW)).contains(&value) {
                0
            } else {
                value.saturating_sub(1 << 31)
            };
            self.cells = Cells::Narrow { base, offsets: Vec::new() };
        }
        if let Cells::Narrow { base, offsets } = &mut self.cells {
            let offset = value.map_or(Some(ABSENT_NARROW), |value| narrow(value, *base));
            if let Some(offset) = offset {
                put(offsets, row, offset, ABSENT_NARROW);
                return;
            }
            self.widen();
        }
        if let Cells::Wide(values) = &mut self.cells {
            put(values, row, value.unwrap_or(ABSENT_WIDE), ABSENT_WIDE);
        }
    }

    /// The value of `row`; `None` for absent values and for rows beyond the end.
    #[must_use]
    pub fn get(&self, row: usize) -> Option<i64> {
        if row >= self.len {
            return None;
        }
        match &self.cells {
            Cells::Absent => None,
            Cells::Uniform { first, value } => (row >= *first).then_some(*value),
            Cells::Narrow { base, offsets } => match offsets.get(row) {
                None | Some(&ABSENT_NARROW) => None,
                Some(&offset) => Some(base + i64::from(offset)),
            },
            Cells::Wide(values) => values.get(row).copied().filter(|&v| v != ABSENT_WIDE),
        }
    }

    /// All rows in order.
    pub fn iter(&self) -> impl Iterator<Item = Option<i64>> + '_ {
        (0..self.len).map(|row| self.get(row))
    }

    /// Gives back memory that growth has reserved.
    pub fn shrink(&mut self) {
        match &mut self.cells {
            Cells::Absent | Cells::Uniform { .. } => {}
            Cells::Narrow { offsets, .. } => offsets.shrink_to_fit(),
            Cells::Wide(values) => values.shrink_to_fit(),
        }
    }

    /// Turns the one repeated value into cells that can differ.
    fn spread(&mut self) {
        let Cells::Uniform { first, value } = self.cells else { return };
        let len = self.len;
        self.cells = Cells::Absent;
        self.len = len;
        let base =
            if (0..i64::from(ABSENT_NARROW)).contains(&value) { 0 } else { value.saturating_sub(1 << 31) };
        let offset = value.checked_sub(base).and_then(|o| u32::try_from(o).ok());
        self.cells = match offset {
            Some(offset) if offset != ABSENT_NARROW => {
                let mut offsets = vec![ABSENT_NARROW; first.min(len)];
                offsets.resize(len, offset);
                Cells::Narrow { base, offsets }
            }
            _ => {
                let mut values = vec![ABSENT_WIDE; first.min(len)];
                values.resize(len, value);
                Cells::Wide(values)
            }
        };
    }

    fn widen(&mut self) {
        if let Cells::Narrow { base, offsets } = &self.cells {
            let wide =
                |&offset: &u32| if offset == ABSENT_NARROW { ABSENT_WIDE } else { base + i64::from(offset) };
            self.cells = Cells::Wide(offsets.iter().map(wide).collect());
        }
    }
}

/// The offset that stands for `value`, if there is one.
fn narrow(value: i64, base: i64) -> Option<u32> {
    let offset = value.checked_sub(base).and_then(|offset| u32::try_from(offset).ok());
    offset.filter(|&offset| offset != ABSENT_NARROW)
}

fn put<T: Copy>(cells: &mut Vec<T>, row: usize, value: T, absent: T) {
    if let Some(cell) = cells.get_mut(row) {
        *cell = value;
    } else {
        cells.resize(row, absent);
        cells.push(value);
    }
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
            (0..5000i64).prop_map(Some),
            (1_526_555_000_000..1_526_999_000_000i64).prop_map(Some),
            any::<i64>().prop_filter("the absent mark", |&v| v != ABSENT_WIDE).prop_map(Some),
        ]
    }

    #[derive(Debug, Clone)]
    enum Step {
        Push(Option<i64>),
        Grow(usize),
        Set(usize, Option<i64>),
    }

    fn steps() -> impl Strategy<Value = Vec<Step>> {
        let step = prop_oneof![
            4 => interesting().prop_map(Step::Push),
            1 => (0..4usize).prop_map(Step::Grow),
            2 => (any::<prop::sample::Index>(), interesting()).prop_map(|(i, v)| Step::Set(i.index(40), v)),
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
                }
                prop_assert_eq!(column.iter().collect::<Vec<_>>(), plain.clone());
                prop_assert_eq!(column.is_absent(), plain.iter().all(Option::is_none));
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
}
