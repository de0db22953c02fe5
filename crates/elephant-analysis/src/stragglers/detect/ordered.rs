//! A sorted collection with lookup by rank.

/// A bucket that grows beyond this size is split.
const BUCKET: usize = 512;

/// Numbers in ascending order, in buckets: insertion and lookup by rank take about the square root of their
/// count.
#[derive(Debug, Clone, Default)]
pub(crate) struct Ordered {
    buckets: Vec<Vec<u64>>,
    len: usize,
}

impl Ordered {
    /// Number of values.
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// Adds a number.
    pub(crate) fn insert(&mut self, value: u64) {
        self.len += 1;
        let after = self.buckets.partition_point(|bucket| bucket.last().is_some_and(|&last| last < value));
        let place = after.min(self.buckets.len().saturating_sub(1));
        let Some(bucket) = self.buckets.get_mut(place) else {
            self.buckets.push(vec![value]);
            return;
        };
        bucket.insert(bucket.partition_point(|&other| other < value), value);
        if bucket.len() > BUCKET {
            let upper = bucket.split_off(BUCKET / 2);
            self.buckets.insert(place + 1, upper);
        }
    }

    /// The number at `rank`, counted from 0; `None` beyond the last.
    pub(crate) fn at(&self, rank: usize) -> Option<u64> {
        let mut rank = rank;
        for bucket in &self.buckets {
            if let Some(&value) = bucket.get(rank) {
                return Some(value);
            }
            rank -= bucket.len();
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn an_empty_collection_has_no_ranks() {
        assert_eq!(Ordered::default().at(0), None);
    }

    proptest! {
        #[test]
        fn ranks_match_the_sorted_numbers(values in prop::collection::vec(0u64..3000, 0..2500)) {
            let mut ordered = Ordered::default();
            for &value in &values {
                ordered.insert(value);
            }
            let mut sorted = values;
            sorted.sort_unstable();
            prop_assert_eq!(ordered.len(), sorted.len());
            for (rank, &value) in sorted.iter().enumerate() {
                prop_assert_eq!(ordered.at(rank), Some(value));
            }
            prop_assert_eq!(ordered.at(sorted.len()), None);
        }
    }
}
