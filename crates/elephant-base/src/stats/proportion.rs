//! Confidence intervals of proportions.

/// Wilson's score interval of a proportion, for the normal quantile `z` (1.96 for 95 %); `None` if there are
/// no trials, or more successes than trials.
///
/// E. B. Wilson, "Probable Inference, the Law of Succession, and Statistical Inference" (JASA 22, 1927).
#[must_use]
pub fn wilson(successes: u64, trials: u64, z: f64) -> Option<(f64, f64)> {
    if trials == 0 || successes > trials {
        return None;
    }
    let n = trials as f64;
    let share = successes as f64 / n;
    let square = z * z / n;
    let middle = (share + square / 2.0) / (1.0 + square);
    let half = z / (1.0 + square) * (share * (1.0 - share) / n + square / (4.0 * n)).sqrt();
    let low = if successes == 0 { 0.0 } else { (middle - half).max(0.0) };
    let high = if successes == trials { 1.0 } else { (middle + half).min(1.0) };
    Some((low, high))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::whole::Whole;
    use proptest::prelude::*;

    #[test]
    fn known_intervals() {
        let (low, high) = wilson(10, 100, 1.959_963_984_540_054).unwrap();
        assert!((low - 0.055_229).abs() < 1e-5 && (high - 0.174_366).abs() < 1e-5, "{low} to {high}");
        assert_eq!(wilson(0, 0, 1.96), None);
        assert_eq!(wilson(2, 1, 1.96), None);
        assert_eq!(wilson(0, 3, 1.96).unwrap().0.to_bits(), 0.0f64.to_bits());
        assert_eq!(wilson(3, 3, 1.96).unwrap().1.to_bits(), 1.0f64.to_bits());
    }

    proptest! {
        #[test]
        fn the_share_lies_within_the_interval(trials in 1u64..10_000, part in 0.0f64..=1.0) {
            let successes = (trials as f64 * part).as_u64();
            let (low, high) = wilson(successes, trials, 1.96).unwrap();
            let share = successes as f64 / trials as f64;
            prop_assert!(0.0 <= low && low <= share && share <= high && high <= 1.0);
        }
    }
}
