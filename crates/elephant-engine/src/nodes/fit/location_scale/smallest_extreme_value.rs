//! Gumbel's distribution of minima, `f(z) = e^(z - e^z)`; fitted to logarithms it is Weibull's distribution.

use std::f64::consts::PI;

use super::{Exactness, Located};
use crate::nodes::fit::points::sums;
use elephant_base::stats::elementary::exp;

/// The maximum of the likelihood on a standardised sample.
///
/// For `k = 1/scale` the best location satisfies `e^(k location) = Σ e^(k x) / n`. The remaining function of
/// `k`, `ℓ(k) = n ln k - n ln(Σ e^(k x) / n) - n` for `Σ x = 0`, is concave: Newton's method with a bracket.
pub(super) fn fit(
    sample: &[f64],
    weights: &[f64],
    n: f64,
    start: Option<Located>,
    exactness: Exactness,
) -> Option<Located> {
    // Only e^(k x) of the largest value could overflow.
    let largest = sample.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let enough = match exactness {
        Exactness::Value => 1e-4,
        Exactness::Parameters => 1e-9,
    };
    let mut k = start.map_or(PI / 6.0f64.sqrt(), |near| 1.0 / near.scale);
    let (mut low, mut high) = (0.0, f64::INFINITY);
    for _ in 0..200 {
        let [s0, s1, s2] = sums(sample, weights, |x, weight| {
            let power = weight * exp(k * (x - largest));
            [power, x * power, x * x * power]
        });
        let mean = s1 / s0;
        let gradient = 1.0 / k - mean;
        let curvature = 1.0 / (k * k) + (s2 / s0 - mean * mean).max(0.0);
        let step = gradient / curvature;
        if gradient > 0.0 {
            low = k;
        } else {
            high = k;
        }
        let ln_mean = (s0 / n).ln() + k * largest;
        if step.abs() <= enough * k {
            let value = n * (k.ln() - ln_mean - 1.0) + 0.5 * n * gradient * step;
            let best = k + step;
            // d ln Σ e^(k x) / dk is the weighted mean.
            let ln_mean = ln_mean + step * (mean + 0.5 * step * (curvature - 1.0 / (k * k)));
            return Some(Located { location: ln_mean / best, scale: 1.0 / best, log_likelihood: value })
                .filter(|fit| fit.log_likelihood.is_finite());
        }
        let next = k + step;
        k = if next > low && next < high {
            next
        } else if high.is_finite() {
            f64::midpoint(low, high)
        } else {
            2.0 * k
        };
    }
    None
}
