//! Formats numbers for reports.

use crate::whole::Whole;

/// `value` with about three significant digits and no trailing zeros.
#[must_use]
pub fn three_digits(value: f64) -> String {
    let decimals = if value.abs() >= 99.95 || value == 0.0 {
        0
    } else if value.abs() >= 9.995 {
        1
    } else {
        2
    };
    fast_number(value, decimals).unwrap_or_else(|| general_number(value, decimals))
}

/// The same with separated thousands: `355,804`.
#[must_use]
pub fn three_digits_grouped(value: f64) -> String {
    let text = three_digits(value);
    if value.abs() < 999.5 || !value.is_finite() { text } else { with_thousands(&text) }
}

/// Separates the thousands of a whole number.
#[must_use]
pub fn with_thousands(number: &str) -> String {
    let (sign, digits) = number.strip_prefix('-').map_or(("", number), |digits| ("-", digits));
    let mut text = String::with_capacity(number.len() * 4 / 3 + 1);
    text.push_str(sign);
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// The same for numbers of any size: those below 0.1 have two significant digits, so that they are not shown as 0.
#[must_use]
pub fn two_digits_at_least(value: f64) -> String {
    let magnitude = value.abs();
    if magnitude >= 0.1 || magnitude <= 0.0 || !magnitude.is_finite() {
        return three_digits(value);
    }
    if magnitude < SMALLEST {
        return format!("{value:.1e}");
    }
    let decimals = (1.0 - magnitude.log10().floor()).as_usize();
    general_number(value, decimals)
}

/// Smaller numbers have an exponent.
const SMALLEST: f64 = 1e-6;

fn general_number(value: f64, decimals: usize) -> String {
    let text = format!("{value:.decimals$}");
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}

/// The same for nearly all numbers in reports, with integers, which takes a fifth of the instructions. `None`
/// if the value is too large, or so close to halfway between two results that its product might round
/// differently than the value itself.
fn fast_number(value: f64, decimals: usize) -> Option<String> {
    const LARGEST: f64 = 1e9;
    /// The product's error is at most an eighth of this.
    const MARGIN: f64 = 1e-6;
    let parts: u32 = [1, 10, 100].get(decimals).copied()?;
    let product = value * f64::from(parts);
    if value.is_sign_negative() || product.is_nan() || product > LARGEST {
        return None;
    }
    let rest = product.fract();
    if (rest - 0.5).abs() < MARGIN {
        return None;
    }
    let rounded = product.as_u32() + u32::from(rest > 0.5);
    let (whole, hundredths) = (rounded / parts, rounded % parts * (100 / parts));
    Some(match (hundredths / 10, hundredths % 10) {
        (0, 0) => whole.to_string(),
        (tenths, 0) => format!("{whole}.{tenths}"),
        (tenths, last) => format!("{whole}.{tenths}{last}"),
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn fast_and_general_formatting_agree(
            whole in prop_oneof![0..1_000u32, any::<u32>()], parts in prop_oneof![Just(0.0), -1e-9..1e-9, 0.0..1.0],
            thousandths in 0..1_000u32, decimals in 0..3usize,
        ) {
            let value = f64::from(whole) + f64::from(thousandths) / 1e3 + parts;
            for value in [value, -value, value / 1e3, value.round() / 8.0, value * 1e300] {
                if let Some(text) = fast_number(value, decimals) {
                    prop_assert_eq!(text, general_number(value, decimals));
                }
            }
        }
    }

    #[test]
    fn small_numbers_are_not_0() {
        for (value, text) in [
            (0.0, "0"),
            (0.004, "0.004"),
            (0.01264, "0.013"),
            (-0.000_25, "-0.00025"),
            (0.1264, "0.13"),
            (0.000_000_12, "1.2e-7"),
            (12.34, "12.3"),
        ] {
            assert_eq!(two_digits_at_least(value), text);
        }
    }

    #[test]
    fn typical_numbers_use_the_fast_path() {
        let shown = |value, decimals| fast_number(value, decimals);
        let expected =
            [(0.0, 0, "0"), (1023.2, 0, "1023"), (12.34, 1, "12.3"), (1.5, 2, "1.5"), (0.07, 2, "0.07")];
        for (value, decimals, text) in expected {
            assert_eq!(shown(value, decimals).as_deref(), Some(text));
        }
        for (value, decimals) in [(0.5, 0), (-1.0, 0), (-0.0, 0), (f64::NAN, 0), (f64::INFINITY, 2), (1e9, 1)]
        {
            assert_eq!(shown(value, decimals), None, "{value}");
        }
    }
}
