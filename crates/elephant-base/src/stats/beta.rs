//! The regularised incomplete beta function.

use super::gamma::ln_gamma;

/// `I_x(a, b)` for `a` and `b` above 0 and `x` from 0 to 1; `None` otherwise.
///
/// Uses the continued fraction DLMF 8.17.22 with Lentz's method, on the side where it converges fast.
#[must_use]
pub(crate) fn incomplete_beta(a: f64, b: f64, x: f64) -> Option<f64> {
    if !(a > 0.0 && b > 0.0 && (0.0..=1.0).contains(&x)) {
        return None;
    }
    if x <= 0.0 || x >= 1.0 {
        return Some(x);
    }
    let ln_front = a * x.ln() + b * (-x).ln_1p() + ln_gamma(a + b)? - ln_gamma(a)? - ln_gamma(b)?;
    Some(if x < (a + 1.0) / (a + b + 2.0) {
        ln_front.exp() * continued_fraction(a, b, x) / a
    } else {
        1.0 - ln_front.exp() * continued_fraction(b, a, 1.0 - x) / b
    })
}

fn continued_fraction(a: f64, b: f64, x: f64) -> f64 {
    const TINY: f64 = 1e-300;
    let away = |value: f64| if value.abs() < TINY { TINY } else { value };
    // The ratio of successive numerators, and the inverse ratio of successive denominators.
    let mut upper = 1.0;
    let mut lower = 1.0 / away(1.0 - (a + b) * x / (a + 1.0));
    let mut value = lower;
    for m in 1..10_000 {
        let m = f64::from(m);
        let even = m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m));
        let odd = -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0));
        let mut change = 1.0;
        for factor in [even, odd] {
            lower = 1.0 / away(1.0 + factor * lower);
            upper = away(1.0 + factor / upper);
            change = lower * upper;
            value *= change;
        }
        if (change - 1.0).abs() < 1e-15 {
            break;
        }
    }
    value
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_values() {
        let near = |a, b, x, expected: f64| {
            let value = incomplete_beta(a, b, x).unwrap();
            assert!((value - expected).abs() < 1e-13, "{value} is not {expected}");
        };
        near(1.0, 1.0, 0.3, 0.3);
        // 1 - (1 - x)^b, x^a, and a polynomial.
        near(1.0, 5.0, 0.2, 1.0 - 0.8f64.powi(5));
        near(7.0, 1.0, 0.9, 0.9f64.powi(7));
        near(2.0, 3.0, 0.5, 0.6875);
        near(0.5, 0.5, 0.5, 0.5);
        near(500.0, 500.0, 0.5, 0.5);
        assert_eq!(incomplete_beta(1.0, 1.0, 0.0), Some(0.0));
        assert_eq!(incomplete_beta(1.0, 1.0, 1.0), Some(1.0));
        assert_eq!(incomplete_beta(0.0, 1.0, 0.5), None);
        assert_eq!(incomplete_beta(1.0, 1.0, f64::NAN), None);
    }
}
