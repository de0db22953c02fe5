//! Student's t distribution.

use std::f64::consts::PI;

use super::beta::incomplete_beta;
use super::gamma::ln_gamma;
use super::normal;

/// The quantile function of Student's t with `degrees` degrees of freedom; `None` unless `p` is between 0 and
/// 1 (exclusive) and `degrees` is above 0.
///
/// Newton's method, starting from the Cornish–Fisher expansion (Abramowitz and Stegun 26.7.5). Above 10⁵
/// degrees of freedom the expansion is exact to the last digits.
#[must_use]
pub(crate) fn quantile(p: f64, degrees: u64) -> Option<f64> {
    let z = normal::quantile(p)?;
    match degrees {
        0 => return None,
        1 => return Some(-1.0 / (PI * p).tan()),
        2 => return Some((2.0 * p - 1.0) / (2.0 * p * (1.0 - p)).sqrt()),
        _ => {}
    }
    let n = degrees as f64;
    // Works on the upper half; the rest follows by symmetry.
    let tail = p.min(1.0 - p);
    let mut t = cornish_fisher(z.abs(), n);
    if degrees > 100_000 {
        return Some(t.copysign(z));
    }
    let ln_front = ln_gamma(0.5 * (n + 1.0))? - ln_gamma(0.5 * n)? - 0.5 * (n * PI).ln();
    for _ in 0..50 {
        let above = 0.5 * incomplete_beta(0.5 * n, 0.5, n / (n + t * t))?;
        let density = (ln_front - 0.5 * (n + 1.0) * (t * t / n).ln_1p()).exp();
        let step = (above - tail) / density;
        t = (t + step).max(0.5 * t);
        if step.abs() <= 1e-13 * t {
            break;
        }
    }
    Some(t.copysign(z))
}

/// The confidence interval of the mean, from the sample's mean, standard deviation (with `n - 1`) and size;
/// `None` if the values do not differ, or if one of the arguments is unknown.
#[must_use]
pub fn interval_of_mean(
    mean: Option<f64>,
    deviation: Option<f64>,
    n: u64,
    confidence: f64,
) -> Option<(f64, f64)> {
    let (mean, deviation) = (mean?, deviation.filter(|&deviation| deviation > 0.0)?);
    let t = quantile(0.5 + 0.5 * confidence, n.checked_sub(1)?)?;
    let half = t * deviation / (n as f64).sqrt();
    half.is_finite().then_some((mean - half, mean + half))
}

fn cornish_fisher(z: f64, n: f64) -> f64 {
    let square = z * z;
    let first = z * (square + 1.0) / 4.0;
    let second = z * ((5.0 * square + 16.0) * square + 3.0) / 96.0;
    let third = z * (((3.0 * square + 19.0) * square + 17.0) * square - 15.0) / 384.0;
    z + (first + (second + third / n) / n) / n
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn known_quantiles() {
        let near = |degrees, expected: f64| {
            let value = quantile(0.975, degrees).unwrap();
            assert!((value - expected).abs() < 1e-9 * expected, "{value} is not {expected}");
        };
        near(1, 12.706_204_736_174_7);
        near(2, 4.302_652_729_749_46);
        near(3, 3.182_446_305_284_26);
        near(4, 2.776_445_105_198_05);
        near(99, 1.984_216_951_586_42);
        near(1_000_000_000, 1.959_963_986_912_33);
        assert_eq!(quantile(0.975, 0), None);
        assert_eq!(quantile(1.0, 5), None);
        assert!(quantile(0.5, 5).unwrap().abs() < 1e-12);
    }

    proptest! {
        #[test]
        fn the_quantile_is_symmetric(p in 0.001f64..0.499, degrees in 1u64..500) {
            let (low, high) = (quantile(p, degrees).unwrap(), quantile(1.0 - p, degrees).unwrap());
            prop_assert!((low + high).abs() < 1e-9 * high.abs());
            prop_assert!(low < 0.0);
        }
    }
}
