//! Finds where a series changed its level.

use super::descriptive::median;

/// A change of level.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ChangePoint {
    /// The index of the first value after the change.
    pub at: usize,
    /// The median before it.
    pub before: f64,
    /// The median from it on.
    pub after: f64,
    /// The probability of a change at least as clear in a series without one.
    pub p: f64,
}

/// The most likely change in a series (Pettitt's test: A non-parametric approach to the change-point problem, Applied
/// Statistics 28, 1979). It compares ranks, so that single outliers are no change. `None` if there are fewer than two
/// values on either side of the change, or if all are equal.
#[must_use]
pub fn change_point(series: &[f64]) -> Option<ChangePoint> {
    let n = series.len();
    // U(t) is the sum of sign(x_i − x_j) over i < t ≤ j: V_t = sum over all j of sign(x_t − x_j) is its increment.
    let mut sum = 0_i64;
    let mut best: Option<(i64, usize)> = None;
    for (place, value) in series.iter().enumerate() {
        let above = |other: &&f64| value.total_cmp(other).is_gt();
        let below = |other: &&f64| value.total_cmp(other).is_lt();
        let (above, below) = (series.iter().filter(above).count(), series.iter().filter(below).count());
        sum += i64::try_from(above).ok()? - i64::try_from(below).ok()?;
        let at = place + 1;
        if at >= 2 && at + 2 <= n && best.is_none_or(|(most, _)| sum.abs() >= most) {
            best = Some((sum.abs(), at));
        }
    }
    let (most, at) = best.filter(|(most, _)| *most > 0)?;
    let (before, after) = series.split_at_checked(at)?;
    let (k, n) = (most as f64, n as f64);
    let p = (2.0 * (-6.0 * k * k / (n.powi(3) + n.powi(2))).exp()).min(1.0);
    Some(ChangePoint { at, before: median(before)?, after: median(after)?, p })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_step_is_found_where_it_is() {
        let series: Vec<f64> =
            (0..20).map(|run| if run < 12 { 10.0 } else { 20.0 } + f64::from(run % 3)).collect();
        let change = change_point(&series).unwrap();
        assert_eq!((change.at, change.before, change.after), (12, 11.0, 21.0));
        // 2 exp(−6 · 96² / (20³ + 20²))
        assert!((change.p - 0.002_763).abs() < 1e-5, "{}", change.p);
    }

    #[test]
    fn outliers_and_noise_are_no_change() {
        let mut series: Vec<f64> = (0..20).map(|run| f64::from(run * 7 % 10)).collect();
        assert!(change_point(&series).is_none_or(|change| change.p > 0.05));
        series[19] = 1e9;
        assert!(change_point(&series).is_none_or(|change| change.p > 0.05));
    }

    #[test]
    fn short_and_constant_series_do_not_change() {
        assert_eq!(change_point(&[]), None);
        assert_eq!(change_point(&[1.0, 2.0, 3.0]), None);
        assert_eq!(change_point(&[5.0; 30]), None);
    }

    proptest! {
        /// The definition: twice the rank sum of the first values, less its expectation.
        #[test]
        fn the_statistic_agrees_with_rank_sums(series in prop::collection::vec(0..20_u8, 4..30)) {
            let series: Vec<f64> = series.into_iter().map(f64::from).collect();
            let n = series.len();
            let u = |t: usize| -> f64 {
                let pairs = series[..t].iter().flat_map(|a| series[t..].iter().map(move |b| a - b));
                pairs.map(|difference| if difference == 0.0 { 0.0 } else { difference.signum() }).sum()
            };
            let most = (2..=n - 2).map(|t| u(t).abs()).fold(0.0, f64::max);
            let found = change_point(&series).map(|change| u(change.at).abs());
            prop_assert_eq!(found, Some(most).filter(|most| *most > 0.0));
        }
    }
}
