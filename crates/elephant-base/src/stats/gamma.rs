//! The gamma function, its logarithmic derivatives, and the incomplete gamma function.

use std::f64::consts::{FRAC_1_SQRT_2, PI};

use super::normal::scaled_erfc;

/// From this value on, Stirling's series with eight terms has full double precision.
const ASYMPTOTIC: f64 = 12.0;
/// From this shape on, the incomplete gamma function uses Temme's expansion.
const UNIFORM: f64 = 20.0;

/// `ln Γ(x)` for `x` above 0; `None` otherwise.
#[must_use]
pub fn ln_gamma(x: f64) -> Option<f64> {
    (x > 0.0 && x.is_finite()).then(|| ln_gamma_above_zero(x))
}

fn ln_gamma_above_zero(x: f64) -> f64 {
    // Γ(x) = Γ(x + n) / (x (x + 1) … (x + n - 1))
    let (mut at, mut product) = (x, 1.0);
    while at < ASYMPTOTIC {
        product *= at;
        at += 1.0;
    }
    (at - 0.5) * at.ln() - at + 0.5 * (2.0 * PI).ln() + stirling_rest(at) - product.ln()
}

/// The remainder of Stirling's formula for `ln Γ(x)`: Abramowitz and Stegun 6.1.41.
fn stirling_rest(x: f64) -> f64 {
    const TERMS: [f64; 8] = [
        1.0 / 12.0,
        -1.0 / 360.0,
        1.0 / 1260.0,
        -1.0 / 1680.0,
        1.0 / 1188.0,
        -691.0 / 360_360.0,
        1.0 / 156.0,
        -3617.0 / 122_400.0,
    ];
    let inverse = 1.0 / x;
    TERMS.iter().rev().fold(0.0, |sum, term| sum * inverse * inverse + term) * inverse
}

/// `a ln a - a - ln Γ(a)` for `a` above 0, without the cancellation for large `a`.
#[must_use]
pub fn stirling_excess(a: f64) -> f64 {
    if a < ASYMPTOTIC {
        a * a.ln() - a - ln_gamma_above_zero(a)
    } else {
        0.5 * (a / (2.0 * PI)).ln() - stirling_rest(a)
    }
}

/// `ln a - ψ(a)` and its derivative `1/a - ψ'(a)` for `a` above 0: Abramowitz and Stegun 6.3.18 and 6.4.12,
/// with the recurrences 6.3.5 and 6.4.6 below the asymptotic range.
#[must_use]
pub fn ln_less_digamma(a: f64) -> (f64, f64) {
    const DIGAMMA: [f64; 7] =
        [1.0 / 12.0, -1.0 / 120.0, 1.0 / 252.0, -1.0 / 240.0, 1.0 / 132.0, -691.0 / 32_760.0, 1.0 / 12.0];
    const TRIGAMMA: [f64; 7] =
        [1.0 / 6.0, -1.0 / 30.0, 1.0 / 42.0, -1.0 / 30.0, 5.0 / 66.0, -691.0 / 2730.0, 7.0 / 6.0];
    let (mut at, mut value, mut slope) = (a, 0.0, 0.0);
    while at < ASYMPTOTIC {
        value += 1.0 / at;
        slope -= 1.0 / (at * at);
        at += 1.0;
    }
    let inverse = 1.0 / at;
    let square = inverse * inverse;
    let series = |terms: &[f64]| terms.iter().rev().fold(0.0, |sum, term| sum * square + term);
    value += 0.5 * inverse + square * series(&DIGAMMA);
    slope -= square * (0.5 + inverse * series(&TRIGAMMA));
    if a < ASYMPTOTIC {
        // So far this is ln of the shifted argument minus ψ(a).
        value += (a / at).ln();
        slope += 1.0 / a - inverse;
    }
    (value, slope)
}

/// Number of powers of the shape and of η in Temme's expansion.
const SHAPE_TERMS: usize = 9;
const ETA_TERMS: usize = 26;

/// Coefficients `d[k][n]` of Temme's expansion, by the recurrences of DLMF 8.12.
#[allow(clippy::indexing_slicing)] // evaluated at compile time, where a wrong index is a compile error
const TEMME: [[f64; ETA_TERMS]; SHAPE_TERMS] = {
    const FIRST: usize = ETA_TERMS + 2 * SHAPE_TERMS;
    // λ - 1 = Σ α η^n, from η dη = (λ - 1) / λ dλ.
    let mut alpha = [0.0; FIRST + 3];
    alpha[1] = 1.0;
    let mut n = 2;
    while n < FIRST + 3 {
        let mut sum = 0.0;
        let mut i = 2;
        while i < n {
            sum += alpha[i] * alpha[n + 1 - i];
            i += 1;
        }
        alpha[n] = alpha[n - 1] / (n as f64 + 1.0) - 0.5 * sum;
        n += 1;
    }
    // Coefficients of Stirling's series of Γ, DLMF 5.11.4.
    let stirling = [
        1.0,
        1.0 / 12.0,
        1.0 / 288.0,
        -139.0 / 51_840.0,
        -571.0 / 2_488_320.0,
        163_879.0 / 209_018_880.0,
        5_246_819.0 / 75_246_796_800.0,
        -534_703_531.0 / 902_961_561_600.0,
        -4_483_131_259.0 / 86_684_309_913_600.0,
    ];
    let mut table = [[0.0; ETA_TERMS]; SHAPE_TERMS];
    let mut first = [0.0; FIRST];
    let mut n = 0;
    while n < FIRST {
        first[n] = (n as f64 + 2.0) * alpha[n + 2];
        n += 1;
    }
    // The constant term of 1 / (λ - 1) - 1 / η.
    first[0] = -1.0 / 3.0;
    let mut row = first;
    let mut k = 0;
    while k < SHAPE_TERMS {
        let mut n = 0;
        while n < ETA_TERMS {
            table[k][n] = row[n];
            n += 1;
        }
        k += 1;
        if k < SHAPE_TERMS {
            let sign = if k % 2 == 0 { 1.0 } else { -1.0 };
            let mut next = [0.0; FIRST];
            let mut n = 0;
            while n + 2 * k < FIRST {
                next[n] = sign * stirling[k] * first[n] + (n as f64 + 2.0) * row[n + 2];
                n += 1;
            }
            row = next;
        }
    }
    table
};

/// The regularised incomplete gamma functions `P(a, x)` and `Q(a, x)` for one shape `a`.
#[derive(Debug, Clone)]
pub struct IncompleteGamma {
    shape: f64,
    /// Temme's series, summed over the powers of this shape.
    eta_terms: [f64; ETA_TERMS],
}

impl IncompleteGamma {
    /// For a shape above 0; `None` otherwise.
    #[must_use]
    pub fn new(shape: f64) -> Option<Self> {
        if !(shape > 0.0 && shape.is_finite()) {
            return None;
        }
        let mut eta_terms = [0.0; ETA_TERMS];
        for row in TEMME.iter().rev() {
            for (sum, term) in eta_terms.iter_mut().zip(row) {
                *sum = *sum / shape + term;
            }
        }
        Some(Self { shape, eta_terms })
    }

    /// `(ln P(a, x), ln Q(a, x))`; `(-∞, 0)` for `x` of 0 or less.
    #[must_use]
    pub fn ln_tails(&self, x: f64) -> (f64, f64) {
        if x <= 0.0 {
            return (f64::NEG_INFINITY, 0.0);
        }
        let a = self.shape;
        let excess = (x - a) / a;
        if a >= UNIFORM && excess.abs() < 0.7 {
            return self.uniform(excess);
        }
        // x^a e^-x / Γ(a)
        let ln_front = a * (ln_of_ratio(excess, x, a) - excess) + stirling_excess(a);
        if x < a + 1.0 {
            let ln_p = ln_front + series(a, x).ln();
            (ln_p, (-ln_p.exp()).ln_1p())
        } else {
            let ln_q = ln_front + continued_fraction(a, x).ln();
            ((-ln_q.exp()).ln_1p(), ln_q)
        }
    }

    /// Temme, "The asymptotic expansion of the incomplete gamma functions" (SIAM J. Math. Anal. 10, 1979): DLMF 8.12.3
    /// to 8.12.7, with `x = a (1 + excess)`.
    fn uniform(&self, excess: f64) -> (f64, f64) {
        let a = self.shape;
        let half_square = (excess - excess.ln_1p()).max(0.0);
        let eta = (2.0 * half_square).sqrt().copysign(excess);
        let sum = self.eta_terms.iter().rev().fold(0.0, |sum, term| sum * eta + term);
        let rest = sum / (2.0 * PI * a).sqrt();
        let exponent = -a * half_square;
        let outer = 0.5 * scaled_erfc(eta.abs() * a.sqrt() * FRAC_1_SQRT_2) + rest.copysign(rest * excess);
        let (far, near) = (exponent + outer.ln(), (-outer * exponent.exp()).ln_1p());
        if excess >= 0.0 { (near, far) } else { (far, near) }
    }
}

/// `ln(x / a)` with `x = a (1 + excess)`.
fn ln_of_ratio(excess: f64, x: f64, a: f64) -> f64 {
    if excess.abs() < 0.5 { excess.ln_1p() } else { x.ln() - a.ln() }
}

/// `P(a, x)` divided by `x^a e^-x / Γ(a)`: DLMF 8.11.4.
fn series(a: f64, x: f64) -> f64 {
    let (mut term, mut sum, mut at) = (1.0 / a, 1.0 / a, a);
    for _ in 0..10_000 {
        at += 1.0;
        term *= x / at;
        sum += term;
        if term < sum * 1e-17 {
            break;
        }
    }
    sum
}

/// `Q(a, x)` divided by `x^a e^-x / Γ(a)`: the continued fraction DLMF 8.9.2, with Lentz's method.
fn continued_fraction(a: f64, x: f64) -> f64 {
    const TINY: f64 = 1e-300;
    let mut b = x + 1.0 - a;
    // The ratio of successive numerators, and the inverse ratio of successive denominators.
    let mut upper = 1.0 / TINY;
    let mut lower = 1.0 / if b.abs() < TINY { TINY } else { b };
    let mut value = lower;
    for i in 1..10_000 {
        let i = f64::from(i);
        let factor = -i * (i - a);
        b += 2.0;
        lower = factor * lower + b;
        upper = b + factor / upper;
        lower = 1.0 / if lower.abs() < TINY { TINY } else { lower };
        upper = if upper.abs() < TINY { TINY } else { upper };
        let change = lower * upper;
        value *= change;
        if (change - 1.0).abs() < 1e-16 {
            break;
        }
    }
    value
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn near(value: f64, expected: f64, what: &str) {
        let error = (value - expected).abs();
        assert!(error <= 1e-13 * expected.abs().max(0.1), "{what}: {value} is not {expected}");
    }

    #[test]
    fn ln_gamma_has_known_values() {
        for (x, expected) in [
            (0.1, 2.252_712_651_734_206),
            (0.5, 0.572_364_942_924_700_1),
            (1.0, 0.0),
            (2.0, 0.0),
            (3.0, 2.0f64.ln()),
            (11.5, 16.292_000_476_567_242),
            (100.0, 359.134_205_369_575_4),
        ] {
            near(ln_gamma(x).unwrap(), expected, "ln gamma");
            near(stirling_excess(x), x * x.ln() - x - expected, "excess");
        }
        assert_eq!(ln_gamma(0.0), None);
        assert_eq!(ln_gamma(-1.5), None);
    }

    #[test]
    fn ln_less_digamma_has_known_values() {
        let euler = 0.577_215_664_901_532_9;
        near(ln_less_digamma(1.0).0, euler, "digamma of 1");
        near(ln_less_digamma(1.0).1, 1.0 - PI * PI / 6.0, "trigamma of 1");
        near(ln_less_digamma(0.5).0, 0.5f64.ln() + euler + 2.0 * 2.0f64.ln(), "digamma of a half");
        near(ln_less_digamma(0.5).1, 2.0 - PI * PI / 2.0, "trigamma of a half");
        near(ln_less_digamma(1e8).0 * 1e8, 0.5 + 1.0 / 12e8, "digamma of 1e8");
    }

    #[test]
    fn tails_of_the_incomplete_gamma_function_have_known_values() {
        // Computed by mpmath with 50 digits.
        for (a, x, ln_p, ln_q) in [
            (0.5, 0.2, -0.748_848_612_029_632_2, -0.640_385_376_915_596_4),
            (3.0, 2.5, -0.784_852_719_837_408_1, -0.609_149_628_127_714_1),
            (20.0, 18.0, -1.052_443_064_679_968, -0.429_374_480_740_720_1),
            (20.0, 33.0, -0.005_979_785_538_955_565, -5.122_358_977_573_726),
            (20.0, 6.5, -11.037_547_593_850_52, -1.608_634_872_888_368e-5),
            (25.0, 25.0, -0.641_311_123_751_633_7, -0.747_817_816_896_186_2),
            (150.0, 180.0, -0.009_959_550_653_828_032, -4.614_198_965_784_132),
            (1_000.0, 900.0, -7.505_769_994_233_892, -0.000_550_053_517_414_344_7),
            (100_000.0, 100_300.0, -0.187_973_927_886_255_9, -1.763_967_146_202_573),
            (50_000_000.0, 50_005_000.0, -0.274_098_399_903_681_4, -1.428_188_856_975_662),
            (35.0, 20.0, -6.509_627_784_545_447, -0.001_490_143_573_995_883),
            (35.0, 58.0, -0.000_456_341_787_414_837_1, -7.692_496_657_622_313),
            (0.3, 9.0, -8.273_730_229_557_129e-6, -11.702_429_231_916_74),
        ] {
            let (p, q) = IncompleteGamma::new(a).unwrap().ln_tails(x);
            assert!((p - ln_p).abs() <= 2e-12 * ln_p.abs().max(1e-3), "ln P({a}, {x}) is {p}, not {ln_p}");
            assert!((q - ln_q).abs() <= 2e-12 * ln_q.abs().max(1e-3), "ln Q({a}, {x}) is {q}, not {ln_q}");
        }
        assert!(IncompleteGamma::new(0.0).is_none());
        assert_eq!(IncompleteGamma::new(2.0).unwrap().ln_tails(0.0), (f64::NEG_INFINITY, 0.0));
    }

    proptest! {
        #[test]
        fn the_expansions_agree(a in 20.0f64..60.0, part in 0.4f64..1.6) {
            // Compares Temme's expansion with the series, which holds for every shape.
            let x = a * part;
            let gamma = IncompleteGamma::new(a).unwrap();
            let (ln_p, ln_q) = gamma.uniform((x - a) / a);
            let front = (a * x.ln() - x - ln_gamma(a).unwrap()).exp();
            let p = front * series(a, x);
            prop_assert!((ln_p.exp() - p).abs() < 1e-11 && (ln_q.exp() - (1.0 - p)).abs() < 1e-11);
        }
    }
}
