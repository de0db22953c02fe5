//! Whether the values of one sample are larger than those of another one.

use super::normal::ln_tails;

/// The probability of a difference at least as clear between two samples of the same distribution, by the rank-sum test
/// of Wilcoxon, Mann and Whitney with the normal approximation, corrected for ties and continuity (Hollander and Wolfe,
/// Nonparametric Statistical Methods, 1973, section 4.1). `None` if a sample is empty.
#[must_use]
pub fn rank_sum(one: &[f64], other: &[f64]) -> Option<f64> {
    if one.is_empty() || other.is_empty() {
        return None;
    }
    let (m, n) = (one.len() as f64, other.len() as f64);
    let below = |value: &f64| {
        let less = other.iter().filter(|it| it.total_cmp(value).is_lt()).count();
        let equal = other.iter().filter(|it| it.total_cmp(value).is_eq()).count();
        less as f64 + equal as f64 / 2.0
    };
    let u: f64 = one.iter().map(below).sum();
    let mut all: Vec<f64> = one.iter().chain(other).copied().collect();
    all.sort_unstable_by(f64::total_cmp);
    let ties: f64 = all
        .chunk_by(|a, b| a.total_cmp(b).is_eq())
        .map(|equal| (equal.len() as f64).powi(3) - equal.len() as f64)
        .sum();
    let count = m + n;
    let variance = m * n / 12.0 * (count + 1.0 - ties / (count * (count - 1.0)));
    if variance <= 0.0 {
        return Some(1.0);
    }
    let z = ((u - m * n / 2.0).abs() - 0.5).max(0.0) / variance.sqrt();
    Some((2.0 * ln_tails(z).1.exp()).min(1.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_that_do_not_overlap_differ() {
        // U = 0, mean 50, variance 175: z = 49.5 / 13.2288.
        let (low, high): (Vec<f64>, Vec<f64>) =
            ((0..10).map(f64::from).collect(), (20..30).map(f64::from).collect());
        let p = rank_sum(&low, &high).unwrap();
        assert!((p - 0.000_182_67).abs() < 1e-6, "{p}");
        assert!((rank_sum(&high, &low).unwrap() - p).abs() < 1e-12);
        // z = 4 / √5.25.
        assert!((rank_sum(&[1.0, 2.0, 3.0], &[4.0, 5.0, 6.0]).unwrap() - 0.080_856).abs() < 1e-5);
    }

    #[test]
    fn equal_samples_do_not_differ() {
        assert_eq!(rank_sum(&[5.0; 9], &[5.0; 9]), Some(1.0));
        assert_eq!(rank_sum(&[], &[1.0]), None);
        assert!(rank_sum(&[1.0, 3.0, 5.0, 7.0], &[2.0, 4.0, 6.0, 8.0]).unwrap() > 0.5);
    }
}
