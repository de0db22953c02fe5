//! A set of rows, one bit per row.

/// A set of rows. Rows beyond the stored bits are not in it.
#[derive(Debug, Clone, Default)]
pub(super) struct Bits {
    words: Vec<u64>,
}

impl Bits {
    /// The rows `first..end`.
    pub(super) fn range(first: usize, end: usize) -> Self {
        let mut words = vec![u64::MAX; end.div_ceil(64)];
        let (whole, partial) = (first / 64, first % 64);
        words.iter_mut().take(whole).for_each(|word| *word = 0);
        if let Some(word) = words.get_mut(whole) {
            *word &= u64::MAX << partial;
        }
        if let Some(last) = words.last_mut().filter(|_| !end.is_multiple_of(64)) {
            *last &= (1 << (end % 64)) - 1;
        }
        Self { words }
    }

    #[inline]
    pub(super) fn insert(&mut self, row: usize) {
        let (word, bit) = place(row);
        if word >= self.words.len() {
            self.words.resize(word + 1, 0);
        }
        if let Some(word) = self.words.get_mut(word) {
            *word |= bit;
        }
    }

    pub(super) fn remove(&mut self, row: usize) {
        let (word, bit) = place(row);
        if let Some(word) = self.words.get_mut(word) {
            *word &= !bit;
        }
    }

    #[inline]
    pub(super) fn contains(&self, row: usize) -> bool {
        let (word, bit) = place(row);
        self.words.get(word).is_some_and(|word| word & bit != 0)
    }

    pub(super) fn count(&self) -> usize {
        self.words.iter().map(|word| word.count_ones() as usize).sum()
    }

    /// The first row in the set.
    pub(super) fn first(&self) -> Option<usize> {
        let word = self.words.iter().position(|word| *word != 0)?;
        Some(64 * word + self.words.get(word)?.trailing_zeros() as usize)
    }

    /// Bytes allocated.
    pub(super) fn held(&self) -> usize {
        self.words.capacity() * size_of::<u64>()
    }

    pub(super) fn shrink(&mut self) {
        self.words.shrink_to_fit();
    }
}

const fn place(row: usize) -> (usize, u64) {
    (row / 64, 1 << (row % 64))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_range_holds_its_rows(first in 0..300usize, len in 0..300usize) {
            let bits = Bits::range(first, first + len);
            for row in 0..700 {
                prop_assert_eq!(bits.contains(row), (first..first + len).contains(&row));
            }
            prop_assert_eq!((bits.count(), bits.first()), (len, (len > 0).then_some(first)));
        }
    }
}
