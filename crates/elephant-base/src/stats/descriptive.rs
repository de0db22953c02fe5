//! Means, quantiles and moments of doubles; `None` if a statistic is not defined.

use crate::whole::Whole;

/// The sum, added in the order of the values.
#[must_use]
pub fn sum(values: &[f64]) -> f64 {
    values.iter().sum()
}

/// The arithmetic mean; `None` if there are no values.
#[must_use]
pub fn mean(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| sum(values) / values.len() as f64)
}

/// The standard deviation. `ddof` is subtracted from the count; `None` for `ddof` or fewer values.
#[must_use]
pub fn standard_deviation(values: &[f64], ddof: usize) -> Option<f64> {
    let degrees = values.len().checked_sub(ddof).filter(|&degrees| degrees > 0)?;
    let mean = mean(values)?;
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    Some((squares / degrees as f64).sqrt())
}

/// The `q`-quantile by linear interpolation between order statistics (type 7 of Hyndman and Fan, numpy's
/// default); `None` if there are no values, or if `q` is outside 0 to 1.
#[must_use]
pub fn quantile(values: &[f64], q: f64) -> Option<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    quantile_of_sorted(&sorted, q)
}

/// The same for sorted values.
#[must_use]
pub fn quantile_of_sorted(sorted: &[f64], q: f64) -> Option<f64> {
    if !(0.0..=1.0).contains(&q) {
        return None;
    }
    let place = q * sorted.len().checked_sub(1)? as f64;
    let below = place.floor().as_usize();
    let lower = *sorted.get(below)?;
    let upper = *sorted.get(below + 1).unwrap_or(&lower);
    Some((upper - lower).mul_add(place - place.floor(), lower))
}

/// The middle value, or the mean of the middle two; `None` if there are no values.
#[must_use]
pub fn median(values: &[f64]) -> Option<f64> {
    median_in_place(&mut values.to_vec())
}

/// Like [`median`], but reorders the values instead of copying them.
#[must_use]
pub fn median_in_place(values: &mut [f64]) -> Option<f64> {
    if values.is_empty() {
        return None;
    }
    let middle = values.len() / 2;
    let is_odd = !values.len().is_multiple_of(2);
    let (below, &mut upper, _) = values.select_nth_unstable_by(middle, f64::total_cmp);
    if is_odd {
        return Some(upper);
    }
    let lower = below.iter().copied().max_by(f64::total_cmp)?;
    Some((upper - lower).mul_add(0.5, lower))
}

/// The moment coefficient of skewness `m3 / m2^1.5`; `None` if all values are equal or there are none.
#[must_use]
pub fn skewness(values: &[f64]) -> Option<f64> {
    let mean = mean(values)?;
    let moment =
        |power: i32| values.iter().map(|value| (value - mean).powi(power)).sum::<f64>() / values.len() as f64;
    let spread = moment(2);
    (spread > 0.0).then(|| moment(3) / spread.powf(1.5))
}

/// Pearson's correlation of two columns; `None` if they differ in length, have fewer than two values, or if
/// one of them is constant.
#[must_use]
pub fn pearson(x: &[f64], y: &[f64]) -> Option<f64> {
    if x.len() != y.len() || x.len() < 2 {
        return None;
    }
    let (mean_x, mean_y) = (mean(x)?, mean(y)?);
    let (mut xy, mut xx, mut yy) = (0.0, 0.0, 0.0);
    for (x, y) in x.iter().zip(y) {
        let (x, y) = (x - mean_x, y - mean_y);
        xy += x * y;
        xx += x * x;
        yy += y * y;
    }
    (xx > 0.0 && yy > 0.0).then(|| (xy / (xx * yy).sqrt()).clamp(-1.0, 1.0))
}

/// Spearman's rank correlation of two columns: Pearson's correlation of their ranks, with the mean rank for ties. `None` if
/// they differ in length, have fewer than two values, or if one of them is constant.
#[must_use]
pub fn spearman(x: &[f64], y: &[f64]) -> Option<f64> {
    pearson(&ranks(x), &ranks(y))
}

/// The rank of each value from 1, equal values with the mean of their ranks.
fn ranks(values: &[f64]) -> Vec<f64> {
    let mut order: Vec<(f64, usize)> =
        values.iter().enumerate().map(|(place, &value)| (value, place)).collect();
    order.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    let mut ranks = vec![0.0; values.len()];
    let mut before = 0;
    for ties in order.chunk_by(|a, b| a.0.total_cmp(&b.0).is_eq()) {
        let rank = f64::midpoint((before + 1) as f64, (before + ties.len()) as f64);
        before += ties.len();
        for &(_, place) in ties {
            if let Some(slot) = ranks.get_mut(place) {
                *slot = rank;
            }
        }
    }
    ranks
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn rank_correlation_ignores_the_size_of_differences() {
        same(spearman(&[1.0, 2.0, 3.0], &[1.0, 10.0, 1000.0]), 1.0);
        same(spearman(&[1.0, 2.0, 3.0], &[3.0, 2.0, 1.0]), -1.0);
        // scipy.stats.spearmanr([1, 2, 2, 3, 5], [2, 1, 4, 4, 3]): ranks 1 2.5 2.5 4 5 and 2 1 4.5 4.5 3.
        same(spearman(&[1.0, 2.0, 2.0, 3.0, 5.0], &[2.0, 1.0, 4.0, 4.0, 3.0]), 3.75 / 9.5);
        assert_eq!(spearman(&[1.0, 1.0], &[1.0, 2.0]), None);
        assert_eq!(spearman(&[1.0], &[1.0]), None);
        assert_eq!(spearman(&[1.0, 2.0], &[1.0]), None);
    }

    fn same(value: Option<f64>, expected: f64) {
        assert!(value.is_some_and(|value| (value - expected).abs() < 1e-12), "{value:?} is not {expected}");
    }

    #[test]
    fn quantiles_interpolate() {
        let values = [4.0, 1.0, 3.0, 2.0];
        same(quantile(&values, 0.0), 1.0);
        same(quantile(&values, 0.25), 1.75);
        same(median(&values), 2.5);
        same(quantile(&values, 1.0), 4.0);
        same(median(&[7.0]), 7.0);
        assert_eq!(median(&[]), None);
        assert_eq!(quantile(&values, 1.5), None);
        assert_eq!(quantile(&values, f64::NAN), None);
    }

    #[test]
    fn moments_of_small_samples_are_exact() {
        same(mean(&[1.0, 2.0, 6.0]), 3.0);
        assert_eq!(mean(&[]), None);
        same(standard_deviation(&[1.0, 2.0, 3.0], 1), 1.0);
        same(standard_deviation(&[1.0, 3.0], 0), 1.0);
        assert_eq!(standard_deviation(&[1.0], 1), None);
        // Deviations from the mean of 2: -2, -1, -1, 4.
        same(skewness(&[0.0, 1.0, 1.0, 6.0]), (54.0 / 4.0) / (22.0f64 / 4.0).powf(1.5));
        assert_eq!(skewness(&[5.0, 5.0]), None);
    }

    #[test]
    fn correlation_is_one_on_a_line() {
        same(pearson(&[1.0, 2.0, 3.0], &[10.0, 20.0, 30.0]), 1.0);
        same(pearson(&[1.0, 2.0, 3.0], &[3.0, 2.0, 1.0]), -1.0);
        assert_eq!(pearson(&[1.0, 1.0], &[1.0, 2.0]), None);
        assert_eq!(pearson(&[1.0], &[1.0, 2.0]), None);
    }

    proptest! {
        #[test]
        fn the_median_is_the_0_5_quantile(values in prop::collection::vec(-1e6f64..1e6, 0..40)) {
            prop_assert_eq!(median(&values), quantile(&values, 0.5));
        }

        #[test]
        fn a_quantile_lies_between_its_neighbours(
            values in prop::collection::vec(-1e6f64..1e6, 1..40),
            q in 0.0f64..=1.0,
        ) {
            let value = quantile(&values, q).unwrap();
            let below = values.iter().filter(|&&other| other <= value + 1e-9).count();
            let above = values.iter().filter(|&&other| other >= value - 1e-9).count();
            prop_assert!(below as f64 >= q * (values.len() - 1) as f64);
            prop_assert!(above as f64 >= (1.0 - q) * (values.len() - 1) as f64);
        }
    }
}
