//! The gamma distribution with a threshold of 0.

use elephant_base::stats::gamma::{ln_less_digamma, stirling_excess};

/// Returns the shape and the mean log-likelihood per value. The values have a mean of 1, and their logarithms
/// have the mean `-gap`, which is below 0.
///
/// The scale is one over the shape, and the shape `a` solves `ln a - ψ(a) = gap`: Newton's method in `ln a`,
/// from the initial value of Minka, "Estimating a Gamma distribution" (2002).
pub(super) fn fit(gap: f64) -> Option<(f64, f64)> {
    if !(gap > 0.0 && gap.is_finite()) {
        return None;
    }
    let mut shape = (3.0 - gap + ((gap - 3.0).powi(2) + 24.0 * gap).sqrt()) / (12.0 * gap);
    for _ in 0..50 {
        let (value, slope) = ln_less_digamma(shape);
        let step = (value - gap) / -(slope * shape);
        // Damped, because far from the solution a full step could overflow.
        shape *= (step / (1.0 + step.abs())).exp();
        if step.abs() < 1e-14 {
            break;
        }
    }
    let log_likelihood = gap - shape * gap + stirling_excess(shape);
    log_likelihood.is_finite().then_some((shape, log_likelihood))
}
