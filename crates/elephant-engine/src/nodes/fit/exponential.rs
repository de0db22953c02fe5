//! The exponential distribution with a threshold.

use super::Status;
use super::distribution::Distribution;
use super::family::Family;

/// The unbiased estimates, `beta = n (mean - min) / (n - 1)` and `theta = min - beta / n`. The maximum
/// likelihood estimates would put the threshold at the smallest value, where A² is infinite.
pub(super) fn fit(sorted: &[f64]) -> Option<(Distribution, Status, f64)> {
    let least = *sorted.first()?;
    let n = sorted.len() as f64;
    let mean = sorted.iter().sum::<f64>() / n;
    let beta = n * (mean - least) / (n - 1.0);
    let theta = least - beta / n;
    let log_likelihood = -n * beta.ln() - n * (mean - theta) / beta;
    let distribution =
        Distribution { family: Family::Exponential2, threshold: None, first: theta, second: beta };
    (beta > 0.0 && log_likelihood.is_finite()).then_some((distribution, Status::Closed, log_likelihood))
}
