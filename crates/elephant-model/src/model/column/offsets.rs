//! Cells that store values as offsets from a base.

/// An unsigned integer whose largest value means "absent".
pub(super) trait Offset: Copy + PartialEq {
    const ABSENT: Self;
    /// A base for which `value`, and others near it, have an offset.
    fn base(value: i64) -> i64;
    fn of(distance: i64) -> Option<Self>;
    fn distance(self) -> i64;
}

macro_rules! offset {
    ($type:ty, $base:expr) => {
        impl Offset for $type {
            const ABSENT: Self = Self::MAX;

            fn base(value: i64) -> i64 {
                $base(value)
            }

            #[inline]
            fn of(distance: i64) -> Option<Self> {
                Self::try_from(distance).ok().filter(|&offset| offset != Self::ABSENT)
            }

            #[inline]
            fn distance(self) -> i64 {
                i64::from(self)
            }
        }
    };
}

offset!(u8, |_| 0);
offset!(u16, |_| 0);
// A base in the middle of the range leaves room for smaller values as well.
offset!(u32, |value: i64| if Self::of(value).is_some() { 0 } else { value.saturating_sub(1 << 31) });

/// Optional values as offsets from a base; rows beyond the end are absent.
#[derive(Debug, Clone)]
pub(super) struct Offsets<T> {
    base: i64,
    cells: Vec<T>,
}

impl<T: Offset> Offsets<T> {
    /// Stores `values` in cells that also have room for `next`; `None` if a value does not fit.
    pub(super) fn of(values: impl ExactSizeIterator<Item = Option<i64>>, next: i64) -> Option<Self> {
        let mut offsets = Self { base: T::base(next), cells: Vec::with_capacity(values.len() + 1) };
        offsets.cell(next)?;
        for value in values {
            let cell = match value {
                Some(value) => offsets.cell(value)?,
                None => T::ABSENT,
            };
            offsets.cells.push(cell);
        }
        Some(offsets)
    }

    #[inline]
    fn cell(&self, value: i64) -> Option<T> {
        value.checked_sub(self.base).and_then(T::of)
    }

    /// Sets the value of a row; `false` if it does not fit.
    #[inline]
    pub(super) fn put(&mut self, row: usize, value: i64) -> bool {
        let Some(cell) = self.cell(value) else { return false };
        if let Some(known) = self.cells.get_mut(row) {
            *known = cell;
        } else {
            self.cells.resize(row, T::ABSENT);
            self.cells.push(cell);
        }
        true
    }

    pub(super) fn clear(&mut self, row: usize) {
        if let Some(cell) = self.cells.get_mut(row) {
            *cell = T::ABSENT;
        }
    }

    #[inline]
    pub(super) fn get(&self, row: usize) -> Option<i64> {
        let cell = *self.cells.get(row)?;
        (cell != T::ABSENT).then(|| self.base + cell.distance())
    }

    /// Passes each value with its row, in order.
    #[inline]
    pub(super) fn each(&self, mut take: impl FnMut(usize, i64)) {
        for (row, cell) in self.cells.iter().enumerate() {
            if *cell != T::ABSENT {
                take(row, self.base + cell.distance());
            }
        }
    }

    /// The sum of the values, and how many there are.
    pub(super) fn sum(&self) -> (i128, usize) {
        let known = self.cells.iter().filter(|cell| **cell != T::ABSENT);
        // Distances have 32 bits, and a table has fewer rows than that allows.
        let (distances, count) =
            known.fold((0_i64, 0), |(sum, count), cell| (sum + cell.distance(), count + 1));
        (i128::from(self.base) * count as i128 + i128::from(distances), count)
    }

    /// Bytes allocated.
    pub(super) fn held(&self) -> usize {
        self.cells.capacity() * size_of::<T>()
    }

    pub(super) fn shrink(&mut self) {
        self.cells.shrink_to_fit();
    }
}
