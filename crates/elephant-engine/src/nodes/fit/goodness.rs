//! Goodness of fit of a distribution.

use super::distribution::Tails;
use elephant_base::stats::normal;

/// Distances between a sample and a distribution.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Goodness {
    /// Anderson and Darling's A², not adjusted for the family; `None` if a value lies outside the
    /// distribution.
    pub anderson_darling: Option<f64>,
    /// Kolmogorov and Smirnov's D.
    pub kolmogorov_smirnov: Option<f64>,
}

/// Computes both distances for a sorted sample.
///
/// `A² = -n - 1/n Σ (2i - 1) (ln F(x_i) + ln(1 - F(x_(n+1-i))))`, Anderson and Darling, "A Test of Goodness
/// of Fit" (JASA 49, 1954). Each logarithm is computed on its own, and nothing is clipped.
#[must_use]
pub(crate) fn goodness(sorted: &[f64], tails: &Tails) -> Goodness {
    let n = sorted.len() as f64;
    let (mut sum, mut distance) = (0.0, 0.0f64);
    for (index, &x) in sorted.iter().enumerate() {
        let rank = index as f64;
        let (below, above) = tails.ln_at(x);
        // The sum for 1 - F runs from the other end, so its factor uses the rank counted from there.
        sum += (2.0 * rank + 1.0) * below + (2.0 * (n - rank) - 1.0) * above;
        let share = below.exp();
        distance = distance.max(share - rank / n).max((rank + 1.0) / n - share);
    }
    let known = |value: f64| (value.is_finite() && !sorted.is_empty()).then_some(value);
    Goodness { anderson_darling: known(-n - sum / n), kolmogorov_smirnov: known(distance) }
}

/// Stephens' test of normality with the sample's own mean and standard deviation.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Normality {
    /// A² with the standard deviation of the sample (with `n - 1`).
    pub anderson_darling: f64,
    /// A² (1 + 0.75/n + 2.25/n²).
    pub adjusted: f64,
    /// The probability of an A² at least this large if the sample is normal.
    pub p_value: f64,
}

/// M. A. Stephens in D'Agostino and Stephens, "Goodness-of-Fit Techniques" (1986), table 4.9. `None` for
/// fewer than `MIN_VALUES` values, or if all values are equal.
#[must_use]
pub fn normality(sorted: &[f64], mean: f64, deviation: f64) -> Option<Normality> {
    if sorted.len() < super::MIN_VALUES || !(deviation > 0.0 && deviation.is_finite()) {
        return None;
    }
    let n = sorted.len() as f64;
    let mut sum = 0.0;
    for (index, x) in sorted.iter().enumerate() {
        let rank = index as f64;
        let (below, above) = normal::ln_tails((x - mean) / deviation);
        sum += (2.0 * rank + 1.0) * below + (2.0 * (n - rank) - 1.0) * above;
    }
    let anderson_darling = -n - sum / n;
    let adjusted = anderson_darling * (1.0 + 0.75 / n + 2.25 / (n * n));
    Some(Normality { anderson_darling, adjusted, p_value: p_value(adjusted) })
}

fn p_value(a: f64) -> f64 {
    let value = if a < 0.2 {
        1.0 - (-13.436 + 101.14 * a - 223.73 * a * a).exp()
    } else if a < 0.34 {
        1.0 - (-8.318 + 42.796 * a - 59.938 * a * a).exp()
    } else if a < 0.6 {
        (0.9177 - 4.279 * a - 1.38 * a * a).exp()
    } else {
        // The parabola has its minimum at 153, far outside the table.
        let a = a.min(153.0);
        (1.2937 - 5.709 * a + 0.0186 * a * a).exp()
    };
    value.clamp(0.0, 1.0)
}
