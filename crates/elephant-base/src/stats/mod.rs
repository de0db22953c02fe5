//! Statistics: on integers with Dr. Elephant's rounding, where it decides a severity; on doubles in
//! [`descriptive`]; and the functions behind distributions and tests.

use crate::whole::Whole;

pub(crate) mod beta;
pub mod box_plot;
pub mod change_point;
pub mod descriptive;
pub mod elementary;
pub mod false_discovery;
pub mod gamma;
pub mod max_concurrent;
pub mod normal;
pub mod proportion;
pub mod rank_sum;
pub mod slope;
pub mod split;
pub mod strata;
pub mod student;
pub mod trend;

/// The mean, truncated to an integer (`Statistics.average`); `None` if there are no values.
#[must_use]
pub fn truncated_mean(values: &[i64]) -> Option<i64> {
    if values.is_empty() {
        return None;
    }
    let sum: f64 = values.iter().map(|&value| value as f64).sum();
    // Float casts saturate.
    Some((sum / values.len() as f64).as_i64())
}

/// The middle value, or the truncated mean of the middle two (`Statistics.median`); `None` if there are no
/// values.
#[must_use]
pub fn median(values: &[i64]) -> Option<i64> {
    let mut sorted = values.to_vec();
    let middle = sorted.len() / 2;
    if sorted.is_empty() {
        return None;
    }
    let even = sorted.len().is_multiple_of(2);
    let (below, &mut upper, _) = sorted.select_nth_unstable(middle);
    if !even {
        return Some(upper);
    }
    let lower = below.iter().max().copied()?;
    i64::try_from(i128::midpoint(i128::from(lower), i128::from(upper))).ok()
}

/// The smallest value that at least `share` of the values do not exceed (nearest rank); `None` if there are
/// no values.
#[must_use]
pub fn nearest_rank<T: Copy>(sorted: &[T], share: f64) -> Option<T> {
    let rank = (share.clamp(0.0, 1.0) * sorted.len() as f64).ceil().as_usize();
    sorted.get(rank.saturating_sub(1)).copied()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn means_and_medians_are_truncated() {
        assert_eq!(truncated_mean(&[]), None);
        assert_eq!(truncated_mean(&[1, 2]), Some(1));
        assert_eq!(median(&[]), None);
        assert_eq!(median(&[2, 8, 4, 6]), Some(5));
        assert_eq!(median(&[15, 2, 8, 4, 6]), Some(6));
        assert_eq!(median(&[i64::MAX, i64::MAX]), Some(i64::MAX));
    }

    #[test]
    fn nearest_ranks() {
        let values = [10, 20, 30, 40, 50, 60, 70, 80, 90, 100];
        assert_eq!(nearest_rank(&values, 1.0), Some(100));
        assert_eq!(nearest_rank(&values, 0.04), Some(10));
        assert_eq!(nearest_rank(&values, 0.8), Some(80));
        assert_eq!(nearest_rank(&values, 0.0), Some(10));
        assert_eq!(nearest_rank::<i64>(&[], 0.5), None);
    }

    proptest! {
        #[test]
        fn the_median_splits_the_values(values in prop::collection::vec(-1000i64..1000, 1..50)) {
            let middle = median(&values).unwrap();
            let below = values.iter().filter(|&&v| v < middle).count();
            let above = values.iter().filter(|&&v| v > middle + 1).count();
            prop_assert!(below * 2 <= values.len() && above * 2 <= values.len());
        }
    }
}
