//! Values of settings that are numbers.

use std::cmp::Ordering;

/// A number, and whether it is a size: numbers of different kinds cannot be compared, because a bare number may be in any unit.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Number {
    pub(super) value: f64,
    is_size: bool,
}

impl Number {
    /// `None` for other texts, such as options of a JVM.
    pub(super) fn of(text: &str) -> Option<Self> {
        let text = text.trim();
        let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
        let unit = text.get(digits.len()..)?.to_ascii_lowercase();
        let factor = match unit.strip_suffix('b').unwrap_or(&unit) {
            "" => 0,
            "k" | "ki" => 1,
            "m" | "mi" => 2,
            "g" | "gi" => 3,
            "t" | "ti" => 4,
            _ => return None,
        };
        let value: f64 = digits.trim().parse().ok().filter(|value: &f64| value.is_finite())?;
        Some(Self { value: value * 1024_f64.powi(factor), is_size: !unit.is_empty() })
    }

    /// `None` if they cannot be compared.
    pub(super) fn order(self, other: Self) -> Option<Ordering> {
        (self.is_size == other.is_size).then(|| self.value.total_cmp(&other.value))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_the_units_of_settings() {
        let of = |text: &str| Number::of(text).map(|number| (number.value, number.is_size));
        assert_eq!(of("2g"), Some((2_147_483_648.0, true)));
        assert_eq!(
            (of("1024 MB"), of("0.6"), of("200")),
            (Some((1_073_741_824.0, true)), Some((0.6, false)), Some((200.0, false)))
        );
        assert_eq!((of("10s"), of("true"), of(""), of("inf"), of("NaN")), (None, None, None, None, None));
    }
}
