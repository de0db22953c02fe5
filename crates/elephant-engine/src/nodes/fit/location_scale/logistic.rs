//! The logistic distribution, `f(z) = e^-z / (1 + e^-z)²`; fitted to logarithms it is the loglogistic.

use std::f64::consts::PI;

use super::{Exactness, Located};
use crate::nodes::fit::points::sums;
use elephant_base::stats::elementary::{exp, ln};

/// The maximum of the likelihood on a standardised sample.
///
/// With `z = a x - b` the log-likelihood `n ln a + Σ ln(p (1 - p))`, `p = 1 / (1 + e^-z)`, is concave in `a` and `b`:
/// Newton's method, its steps damped by `1 / (1 + λ)` far from the maximum (Boyd and Vandenberghe, 9.6).
#[allow(clippy::many_single_char_names)] // the names of the formulas
pub(super) fn fit(
    sample: &[f64],
    weights: &[f64],
    n: f64,
    start: Option<Located>,
    exactness: Exactness,
) -> Option<Located> {
    let enough = match exactness {
        Exactness::Value => 1e-9,
        Exactness::Parameters => 1e-20,
    };
    let (mut a, mut b) =
        start.map_or((PI / 3.0f64.sqrt(), 0.0), |near| (1.0 / near.scale, near.location / near.scale));
    for round in 0..200 {
        let [q0, q1, v0, v1, v2, density] = sums(sample, weights, |x, weight| {
            let z = a * x - b;
            let power = exp(-z.abs());
            let sum = 1.0 + power;
            let inverse = 1.0 / sum;
            // 1 - 2p, and 2p (1 - p).
            let q = weight * ((power - 1.0) * inverse).copysign(-z);
            let v = weight * 2.0 * power * inverse * inverse;
            let (x_q, x_v) = (x * q, x * v);
            [q, x_q, v, x_v, x * x_v, weight * (z.abs() + 2.0 * ln(sum))]
        });
        let (gradient_a, gradient_b) = (n / a + q1, -q0);
        let (aa, ab, bb) = (n / (a * a) + v2, -v1, v0);
        let determinant = aa * bb - ab * ab;
        let step_a = (bb * gradient_a - ab * gradient_b) / determinant;
        let step_b = (aa * gradient_b - ab * gradient_a) / determinant;
        let decrement = (gradient_a * step_a + gradient_b * step_b) / n;
        if !(determinant > 0.0 && decrement.is_finite()) {
            return None;
        }
        // In nearly exact fits, rounding stops the decrement from decreasing further.
        if decrement <= enough || (round > 30 && decrement < 1e-12) {
            let log_likelihood = n * a.ln() - density + 0.5 * n * decrement;
            let (a, b) = (a + step_a, b + step_b);
            return Some(Located { location: b / a, scale: 1.0 / a, log_likelihood })
                .filter(|fit| fit.log_likelihood.is_finite() && fit.scale > 0.0);
        }
        let lambda = decrement.sqrt();
        let damping = if lambda < 0.3 { 1.0 } else { 1.0 / (1.0 + lambda) };
        a = (a + damping * step_a).max(0.25 * a);
        b += damping * step_b;
    }
    None
}
