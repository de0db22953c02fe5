//! How much a value varies between seeds.

use elephant_base::stats::descriptive::{mean, standard_deviation};

/// Results are rounded to multiples of one over this, because rounding errors may differ between machines.
const DIGITS: f64 = 1e6;

/// The values of several seeds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Spread {
    /// The mean of the values.
    pub mean: f64,
    /// The sample standard deviation; `None` for one value.
    pub deviation: Option<f64>,
    /// The smallest value.
    pub least: f64,
    /// The largest value.
    pub greatest: f64,
    /// Seeds in which the value is defined.
    pub count: usize,
}

impl Spread {
    /// The spread of the defined values; `None` if no value is defined.
    pub(crate) fn of(values: impl IntoIterator<Item = Option<f64>>) -> Option<Self> {
        let values: Vec<f64> = values.into_iter().flatten().collect();
        let cut = |value: f64| (value * DIGITS).round() / DIGITS;
        Some(Self {
            mean: cut(mean(&values)?),
            deviation: standard_deviation(&values, 1).map(cut),
            least: cut(values.iter().copied().min_by(f64::total_cmp)?),
            greatest: cut(values.iter().copied().max_by(f64::total_cmp)?),
            count: values.len(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn undefined_values_are_left_out() {
        let spread = Spread::of([Some(1.0), None, Some(2.0), Some(3.0)]).unwrap();
        let expected = Spread { mean: 2.0, deviation: Some(1.0), least: 1.0, greatest: 3.0, count: 3 };
        assert_eq!(spread, expected);
        assert_eq!(Spread::of([None]), None);
        assert_eq!(Spread::of([Some(1.0)]).and_then(|spread| spread.deviation), None);
    }
}
