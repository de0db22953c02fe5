//! Branch-free logarithm and exponential for inner loops, so that loops over many values are vectorised.

use std::f64::consts::{LN_2, LOG2_E, SQRT_2};

/// 2⁵² as bits. Setting its mantissa to an integer below 2⁵² gives that integer plus 2⁵².
const INTEGER: u64 = 0x4330_0000_0000_0000;
/// Adding and then subtracting 1.5 · 2⁵² rounds to the nearest integer.
const ROUND: f64 = 6_755_399_441_055_744.0;
/// The upper bits of ln 2; their product with an exponent is exact.
const LN_2_HIGH: f64 = f64::from_bits(LN_2.to_bits() & !0xffff_ffff);
/// ln 2 minus its upper bits, to twice the precision of a double.
const LN_2_LOW: f64 = (LN_2 - LN_2_HIGH) + 2.319_046_813_846_299_6e-17;

/// The natural logarithm of a positive, normal number, within 3 units in the last place.
///
/// With `x = 2^e · m` and `m` from √½ to √2: `ln x = e ln 2 + 2 artanh((m - 1) / (m + 1))`. For zero,
/// negative, subnormal and infinite numbers the result is finite but meaningless.
#[inline]
#[must_use]
pub fn ln(x: f64) -> f64 {
    const MANTISSA: u64 = (1 << 52) - 1;
    let root_half = (SQRT_2 / 2.0).to_bits();
    let shifted = x.to_bits().wrapping_add(1.0f64.to_bits().wrapping_sub(root_half));
    let exponent = f64::from_bits((shifted >> 52) | INTEGER) - (4_503_599_627_370_496.0 + 1023.0);
    let f = f64::from_bits((shifted & MANTISSA).wrapping_add(root_half)) - 1.0;
    let s = f / (2.0 + f);
    let z = s * s;
    let z2 = z * z;
    let z4 = z2 * z2;
    let low = (1.0 / 3.0 + z * (1.0 / 5.0)) + z2 * (1.0 / 7.0 + z * (1.0 / 9.0));
    let high = (1.0 / 11.0 + z * (1.0 / 13.0)) + z2 * (1.0 / 15.0 + z * (1.0 / 17.0));
    let top = 1.0 / 19.0 + z * (1.0 / 21.0) + z2 * (1.0 / 23.0);
    let series = low + z4 * (high + z4 * top);
    // 2s = f - s f, which avoids the rounding error of the division.
    exponent * LN_2_HIGH + (f - s * (f - 2.0 * z * series) + exponent * LN_2_LOW)
}

/// `e^x`, within 2 units in the last place for `x` from -700 to 700. Outside this range, `x` is clamped to
/// it.
///
/// With `x = n ln 2 + r` and `|r|` at most half of ln 2: `2^n` times the Taylor series of `e^r` up to the
/// 13th power.
#[inline]
#[must_use]
pub fn exp(x: f64) -> f64 {
    let x = if x < -700.0 { -700.0 } else { x };
    let x = if x > 700.0 { 700.0 } else { x };
    let shifted = x * LOG2_E + ROUND;
    let n = shifted - ROUND;
    let r = (x - n * LN_2_HIGH) - n * LN_2_LOW;
    let r2 = r * r;
    let r4 = r2 * r2;
    // Pairs of terms, each named by its lower power of r.
    let p2 = 0.5 + r * (1.0 / 6.0);
    let p4 = 1.0 / 24.0 + r * (1.0 / 120.0);
    let p6 = 1.0 / 720.0 + r * (1.0 / 5040.0);
    let p8 = 1.0 / 40_320.0 + r * (1.0 / 362_880.0);
    let p10 = 1.0 / 3_628_800.0 + r * (1.0 / 39_916_800.0);
    let p12 = 1.0 / 479_001_600.0 + r * (1.0 / 6_227_020_800.0);
    let tail = (p2 + r2 * p4) + r4 * ((p6 + r2 * p8) + r4 * (p10 + r2 * p12));
    let power = 1.0 + (r + r2 * tail);
    f64::from_bits(power.to_bits().wrapping_add(shifted.to_bits() << 52))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_two_parts_of_ln_2_add_up() {
        // ln 2 to 40 digits, minus the nearest double, is 2.3190468138462996e-17.
        assert!((LN_2_HIGH + LN_2_LOW - LN_2).abs() < 1e-16);
        assert!((1023.0 * LN_2_HIGH / 1023.0 - LN_2_HIGH).abs() < f64::MIN_POSITIVE);
    }

    #[test]
    fn special_values_are_exact() {
        assert!(ln(1.0).abs() < f64::MIN_POSITIVE);
        assert!((exp(0.0) - 1.0).abs() < f64::MIN_POSITIVE);
        assert!((ln(f64::MIN_POSITIVE) - f64::MIN_POSITIVE.ln()).abs() < 1e-12);
        assert!(exp(f64::INFINITY).is_finite() && exp(f64::NEG_INFINITY) > 0.0);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(20_000))]

        #[test]
        fn logarithms_agree_with_std(exponent in -300.0f64..300.0, near in 0.5f64..2.0) {
            for x in [10f64.powf(exponent), near, 1.0 + (near - 1.0) * 1e-6] {
                let expected = x.ln();
                prop_assert!((ln(x) - expected).abs() <= 3.0 * f64::EPSILON * expected.abs(), "ln {x}");
            }
        }

        #[test]
        fn exponentials_agree_with_std(x in -700.0f64..700.0, small in -1.0f64..1.0) {
            for x in [x, small, small * 1e-6] {
                let expected = x.exp();
                prop_assert!((exp(x) - expected).abs() <= 2.0 * f64::EPSILON * expected, "exp {x}");
            }
        }
    }
}
