//! Tests for a trend.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use super::normal;

/// More values are thinned out evenly: every pair is compared.
const MOST: usize = 500;
/// Below this number of values, the normal approximation does not hold (Kendall 1975).
const LEAST: usize = 10;

/// The probability that values without a trend rise as much as these do (the test of Mann and Kendall, one-sided, with
/// corrections for ties and continuity); `None` for fewer than ten values, or if all are equal.
///
/// H. B. Mann, "Nonparametric Tests Against Trend" (Econometrica 13, 1945); M. G. Kendall, "Rank Correlation Methods" (1975).
#[must_use]
pub fn rising_by_chance(values: &[f64]) -> Option<f64> {
    let step = values.len().div_ceil(MOST).max(1);
    // The last value always counts.
    let mut thinned: Vec<f64> = values.iter().rev().step_by(step).copied().collect();
    thinned.reverse();
    (thinned.len() >= LEAST).then_some(())?;
    let mut sum = 0_i64;
    for (place, earlier) in thinned.iter().enumerate() {
        for later in thinned.iter().skip(place + 1) {
            sum += match later.total_cmp(earlier) {
                Ordering::Greater => 1,
                Ordering::Less => -1,
                Ordering::Equal => 0,
            };
        }
    }
    let mut ties: BTreeMap<u64, u64> = BTreeMap::new();
    for value in &thinned {
        *ties.entry(value.to_bits()).or_default() += 1;
    }
    let of = |count: f64| count * (count - 1.0) * (2.0 * count + 5.0);
    let tied: f64 = ties.values().map(|&count| of(count as f64)).sum();
    let variance = (of(thinned.len() as f64) - tied) / 18.0;
    (variance > 0.0).then_some(())?;
    let z = match sum.signum() {
        0 => 0.0,
        sign => (sum - sign) as f64 / variance.sqrt(),
    };
    Some(1.0 - normal::cdf(z))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rising_values_are_no_chance() {
        let rising: Vec<f64> = (0..20).map(f64::from).collect();
        assert!(rising_by_chance(&rising).unwrap() < 1e-9);
        let falling: Vec<f64> = rising.iter().rev().copied().collect();
        assert!(rising_by_chance(&falling).unwrap() > 0.999);
        let waves: Vec<f64> = (0..40).map(|x| f64::from(x % 4)).collect();
        assert!(rising_by_chance(&waves).unwrap() > 0.05);
        assert_eq!(rising_by_chance(&[1.0; 30]), None);
        assert_eq!(rising_by_chance(&rising[..9]), None);
    }

    /// By hand: 45 pairs, of which 6 fall: S = 33, Z = 32 ÷ √(10 × 9 × 25 ÷ 18) = 2.862.
    #[test]
    fn the_probability_is_that_of_the_formula() {
        let values = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 10.0, 9.0, 8.0, 7.0];
        let p = rising_by_chance(&values).unwrap();
        assert!((p - 0.002_1).abs() < 0.000_1, "{p}");
    }

    #[test]
    fn many_values_take_bounded_time() {
        let values: Vec<f64> = (0..100_000).map(f64::from).collect();
        assert!(rising_by_chance(&values).unwrap() < 1e-9);
    }
}
