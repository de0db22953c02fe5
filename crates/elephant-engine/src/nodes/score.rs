//! Makes task durations of different jobs comparable.

use elephant_base::stats::descriptive::{mean, standard_deviation};

/// The mean and the standard deviation of a group.
#[derive(Debug, Clone, Copy)]
pub(super) struct ZScale {
    mean: f64,
    deviation: f64,
}

impl ZScale {
    /// The scale of these values. `ddof` is subtracted from the count for the standard deviation. `None` for `ddof` or
    /// fewer values, or if all are equal.
    pub(super) fn of(values: &[f64], ddof: usize) -> Option<Self> {
        let first = values.first()?;
        // For equal values, rounding may give a deviation slightly above 0.
        if values.iter().all(|value| value.to_bits() == first.to_bits()) {
            return None;
        }
        let deviation = standard_deviation(values, ddof).filter(|sd| *sd > 0.0 && sd.is_finite())?;
        Some(Self { mean: mean(values)?, deviation })
    }

    /// `z = (t - mean) / sd` (S1, equation 1).
    pub(super) fn score(self, value: f64) -> f64 {
        (value - self.mean) / self.deviation
    }
}

/// The z-score of each value; `None` if there is no `ZScale`.
#[must_use]
pub fn z_scores(values: &[f64], ddof: usize) -> Option<Vec<f64>> {
    let scale = ZScale::of(values, ddof)?;
    Some(values.iter().map(|&value| scale.score(value)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn small_or_uniform_groups_have_no_scores() {
        assert_eq!(z_scores(&[], 0), None);
        assert_eq!(z_scores(&[4.0], 1), None);
        assert_eq!(z_scores(&[0.1, 0.1, 0.1], 1), None);
        assert_eq!(z_scores(&[1.0, 2.0, 3.0], 1), Some(vec![-1.0, 0.0, 1.0]));
    }

    proptest! {
        #[test]
        fn scores_are_standardised_and_bounded(values in prop::collection::vec(0.0f64..1e6, 3..60)) {
            prop_assume!(values.iter().any(|value| (value - values[0]).abs() > 1e-3));
            let scores = z_scores(&values, 1).unwrap();
            let n = values.len() as f64;
            prop_assert!(mean(&scores).unwrap().abs() < 1e-9);
            prop_assert!((standard_deviation(&scores, 1).unwrap() - 1.0).abs() < 1e-9);
            // In a small group, S1's normalisation cannot exceed this.
            prop_assert!(scores.iter().all(|z| z.abs() <= (n - 1.0) / n.sqrt() + 1e-9));
        }
    }
}
