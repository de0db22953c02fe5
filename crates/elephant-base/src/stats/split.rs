//! The two-group split that every skew rule uses (Dr. Elephant's `Statistics.findTwoGroups`).

use super::descriptive::median_in_place;
use super::truncated_mean;
use crate::whole::Whole;

/// One of the two groups.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Group {
    /// The number of its values.
    pub count: u64,
    /// Their mean, truncated to a whole number; 0 for an empty group.
    pub mean: i64,
}

/// Small values and large values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TwoGroups {
    /// Values below the last pivot.
    pub small: Group,
    /// Values at or above the last pivot.
    pub large: Group,
    /// The smallest value that counts as large.
    pub pivot: i64,
}

impl TwoGroups {
    /// The difference of the means as a multiple of the smaller one, truncated to a whole number.
    #[must_use]
    pub fn deviation(self) -> u64 {
        let apart = self.large.mean.abs_diff(self.small.mean);
        let base = self.large.mean.min(self.small.mean).max(1);
        apart / base.unsigned_abs()
    }

    /// The same for rules that users define: 0 if all values are in one group; `None` if the smaller mean is 0, because
    /// then there is no multiple of it.
    #[must_use]
    pub fn multiple(self) -> Option<f64> {
        if self.small.count == 0 || self.large.count == 0 {
            return Some(0.0);
        }
        let is_positive = self.large.mean.min(self.small.mean) > 0;
        is_positive.then(|| self.deviation() as f64)
    }

    /// The same, with both means truncated to multiples of `unit`.
    #[must_use]
    pub fn in_units_of(self, unit: i64) -> Self {
        let scaled = |group: Group| Group { mean: group.mean.checked_div(unit).unwrap_or_default(), ..group };
        Self { small: scaled(self.small), large: scaled(self.large), pivot: self.pivot }
    }
}

/// Splits `values` three times: first at their mean, then at the *difference* of the two groups' means.
/// This is not 2-means: only values above that difference stay in the large group. Equal values go to the
/// large group.
#[must_use]
pub fn two_groups(values: &[i64]) -> TwoGroups {
    let mut pivot = truncated_mean(values).unwrap_or_default();
    let mut groups = partition(values, pivot);
    for _ in 0..2 {
        pivot = groups.large.mean.saturating_sub(groups.small.mean);
        groups = partition(values, pivot);
    }
    groups
}

/// Splits `values` at this multiple of their median, so that however many ordinary values there are, they do not hide
/// the large ones. `None` if no value is so large, or if the median is 0.
#[must_use]
pub fn above_median(values: &[i64], factor: f64) -> Option<TwoGroups> {
    let mut all: Vec<f64> = values.iter().map(|&value| value as f64).collect();
    let pivot = (factor * median_in_place(&mut all)?).ceil().as_i64();
    let groups = (pivot > 0).then(|| partition(values, pivot))?;
    (groups.large.count > 0 && groups.small.count > 0).then_some(groups)
}

fn partition(values: &[i64], pivot: i64) -> TwoGroups {
    let (small, large): (Vec<i64>, Vec<i64>) = values.iter().partition(|&&value| value < pivot);
    let group = |values: &[i64]| Group {
        count: values.len() as u64,
        mean: truncated_mean(values).unwrap_or_default(),
    };
    TwoGroups { small: group(&small), large: group(&large), pivot }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn one_giant_among_many() {
        let mut values = vec![1 << 20; 200];
        values.push(100 << 20);
        let groups = two_groups(&values);
        assert_eq!(groups.small, Group { count: 200, mean: 1 << 20 });
        assert_eq!(groups.large, Group { count: 1, mean: 100 << 20 });
        assert_eq!(groups.deviation(), 99);
    }

    #[test]
    fn nothing_is_a_multiple_of_a_mean_of_0() {
        let mut values = vec![0; 200];
        assert_eq!(two_groups(&values).multiple(), Some(0.0));
        values.push(100 << 20);
        assert_eq!(two_groups(&values).multiple(), None);
        assert_eq!(two_groups(&[5; 20]).multiple(), Some(0.0));
        assert_eq!(two_groups(&[10, 10, 10, 70]).multiple(), Some(6.0));
    }

    #[test]
    fn equal_values_have_no_small_group() {
        let groups = two_groups(&[5; 20]);
        assert_eq!(groups.small.count, 0);
        assert_eq!(two_groups(&[]).large.count, 0);
    }

    #[test]
    fn a_difference_below_every_value_falls_back_to_the_mean() {
        let groups = two_groups(&[50, 100]);
        assert_eq!((groups.small.mean, groups.large.mean), (50, 100));
    }

    /// The difference of the means is below all values, and the mean of all is among the ordinary ones.
    #[test]
    fn ordinary_values_do_not_hide_a_large_one() {
        let mut values: Vec<i64> = (0..99).map(|place| 130 + 40 * place / 98).collect();
        values.push(1200);
        assert_eq!(two_groups(&values).deviation(), 0);
        let groups = above_median(&values, 2.0).unwrap();
        assert_eq!((groups.small.count, groups.large), (99, Group { count: 1, mean: 1200 }));
        assert_eq!(groups.deviation(), 7);
        values.pop();
        assert_eq!(above_median(&values, 2.0), None);
        assert_eq!((above_median(&[], 2.0), above_median(&[0, 0, 5], 2.0)), (None, None));
    }

    proptest! {
        #[test]
        fn every_value_is_in_one_group_and_small_means_are_smaller(values in prop::collection::vec(0i64..1_000_000, 0..200)) {
            let groups = two_groups(&values);
            prop_assert_eq!(groups.small.count + groups.large.count, values.len() as u64);
            if groups.small.count > 0 && groups.large.count > 0 {
                prop_assert!(groups.small.mean <= groups.large.mean);
            }
        }
    }
}
