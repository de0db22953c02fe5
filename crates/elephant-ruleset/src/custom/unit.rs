//! Units of the values in an expression: checked when a rule is read, propagated through `+ - * /`, shown
//! in messages.

use std::borrow::Cow;

use elephant_base::units::{Bytes, BytesPerSecond, Millis, two_digits_at_least, with_thousands};
use elephant_rule::finding::Measure;
use elephant_rule::params::quantity::fraction;

/// What a number measures: powers of size and time, and whether it is a count.
///
/// Times are stored in milliseconds and sizes in bytes. Speeds and other units that contain time are per
/// second.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Unit {
    size: i8,
    time: i8,
    /// Whether it is a whole count; only set without any other unit.
    counts: bool,
}

impl Unit {
    /// A plain number: a ratio, a mean of counts.
    pub(super) const NUMBER: Self = Self { size: 0, time: 0, counts: false };
    /// A count.
    pub(super) const COUNT: Self = Self { size: 0, time: 0, counts: true };
    /// A time in milliseconds.
    pub(super) const TIME: Self = Self { size: 0, time: 1, counts: false };
    /// A size in bytes.
    pub(super) const SIZE: Self = Self { size: 1, time: 0, counts: false };
    /// Bytes per second.
    pub(super) const SPEED: Self = Self { size: 1, time: -1, counts: false };

    /// Whether both measure the same; a count is also a number.
    #[must_use]
    pub(super) const fn fits(self, other: Self) -> bool {
        self.size == other.size && self.time == other.time
    }

    /// The unit of a sum or a choice of both; `None` if they measure different things.
    #[must_use]
    pub(super) fn common(self, other: Self) -> Option<Self> {
        self.fits(other).then_some(Self { counts: self.counts && other.counts, ..self })
    }

    /// The unit of a mean of such numbers.
    #[must_use]
    pub(super) const fn of_a_mean(self) -> Self {
        Self { counts: false, ..self }
    }

    /// The unit of a product.
    #[must_use]
    pub(super) const fn times(self, other: Self) -> Self {
        Self {
            size: self.size.saturating_add(other.size),
            time: self.time.saturating_add(other.time),
            counts: false,
        }
    }

    /// The unit of a quotient.
    #[must_use]
    pub(super) const fn over(self, other: Self) -> Self {
        Self {
            size: self.size.saturating_sub(other.size),
            time: self.time.saturating_sub(other.time),
            counts: false,
        }
    }

    /// The power of 1000 between the stored number and one in seconds.
    #[must_use]
    pub(super) const fn thousands(self) -> i32 {
        if self.time == 1 && self.size == 0 { 1 } else { 0 }
    }

    /// Whether reports can show such a number.
    #[must_use]
    pub(super) fn is_shown(self) -> bool {
        [Self::NUMBER, Self::TIME, Self::SIZE, Self::SPEED].into_iter().any(|known| known.fits(self))
    }

    /// The unit's name for messages.
    #[must_use]
    pub(super) fn name(self) -> Cow<'static, str> {
        match self {
            Self::NUMBER => "a number".into(),
            Self::COUNT => "a count".into(),
            Self::TIME => "a time".into(),
            Self::SIZE => "a size".into(),
            Self::SPEED => "a speed".into(),
            other => other.in_words().into(),
        }
    }

    /// "time per size", "size^2 per time", "1 per time".
    fn in_words(self) -> String {
        let factors = |sign: i8| {
            let all = [("size", self.size), ("time", self.time)].map(|(word, power)| {
                match power.saturating_mul(sign) {
                    ..=0 => None,
                    1 => Some(word.to_owned()),
                    power => Some(format!("{word}^{power}")),
                }
            });
            all.into_iter().flatten().collect::<Vec<_>>().join(" × ")
        };
        let (above, below) = (factors(1), factors(-1));
        let above = if above.is_empty() { "1".to_owned() } else { above };
        if below.is_empty() { above } else { format!("{above} per {below}") }
    }

    /// `value` as text, in the largest fitting unit.
    #[must_use]
    pub(super) fn show(self, value: f64) -> String {
        let sign = if value < 0.0 { "-" } else { "" };
        let amount = value.abs();
        if amount.is_infinite() {
            return format!("{sign}infinite");
        }
        let shown = match self {
            Self::TIME if fraction(amount, "ms").is_some() => fraction(amount, "ms").unwrap_or_default(),
            Self::SIZE if fraction(amount, "B").is_some() => fraction(amount, "B").unwrap_or_default(),
            Self::TIME => Millis::from_f64(amount).unwrap_or_default().to_string(),
            Self::SIZE => Bytes::from_f64(amount).unwrap_or_default().to_string(),
            Self::SPEED => BytesPerSecond::new(amount).to_string(),
            Self::COUNT => grouped(amount),
            _ => two_digits_at_least(amount),
        };
        format!("{sign}{shown}")
    }

    /// The suffix of keys that hold values of this unit.
    const fn key_ending(self) -> &'static str {
        match self {
            Self::TIME => "_ms",
            Self::SIZE => "_bytes",
            Self::SPEED => "_bytes_per_second",
            Self::COUNT => "_count",
            _ => "_ratio",
        }
    }

    /// The measure for an unknown value of this unit.
    #[must_use]
    pub(super) fn unknown(self) -> Measure {
        Measure::Number(None, self.key_ending().into())
    }

    /// `value` as evidence; `None` for a unit that evidence cannot express.
    #[must_use]
    pub(super) fn measure(self, value: f64) -> Option<Measure> {
        match self {
            Self::TIME | Self::SIZE | Self::COUNT if value < 0.0 => {
                Some(Measure::Number(Some(value).filter(|value| value.is_finite()), self.key_ending().into()))
            }
            Self::TIME => Millis::from_f64(value).map(Measure::Time),
            Self::SIZE => Bytes::from_f64(value).map(Measure::Size),
            Self::SPEED if value.is_finite() => Some(Measure::Speed(BytesPerSecond::new(value))),
            // Counts are whole and below 2^64, like sizes.
            Self::COUNT => Bytes::from_f64(value).map(|count| Measure::Count(count.get())),
            unit if unit.fits(Self::NUMBER) => Some(Measure::Ratio(value.is_finite().then_some(value))),
            _ => None,
        }
    }
}

/// A share as text: `12.5 %`.
#[must_use]
pub(super) fn percent(share: f64) -> String {
    if share.is_infinite() {
        "infinite".to_owned()
    } else {
        format!("{} %", two_digits_at_least(100.0 * share))
    }
}

/// A large number with its thousands separated.
fn grouped(amount: f64) -> String {
    with_thousands(&format!("{amount:.0}"))
}

/// The type of an expression.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Type {
    /// A number with its unit.
    Number(Unit),
    /// Text.
    Text,
    /// True or false.
    Flag,
    /// A two-group split of numbers.
    Groups(Unit),
    /// One of the two groups.
    Group(Unit),
    /// Fits every type: 0, `null`, and expressions with a mistake.
    Any,
}

impl Type {
    /// A count.
    pub(super) const COUNT: Self = Self::Number(Unit::COUNT);
    /// A plain number.
    pub(super) const NUMBER: Self = Self::Number(Unit::NUMBER);
    /// A size.
    pub(super) const SIZE: Self = Self::Number(Unit::SIZE);
    /// A time.
    pub(super) const TIME: Self = Self::Number(Unit::TIME);

    /// The type of a choice between both; `None` if they cannot be compared.
    #[must_use]
    pub(super) fn common(self, other: Self) -> Option<Self> {
        match (self, other) {
            (Self::Any, other) | (other, Self::Any) => Some(other),
            (Self::Number(one), Self::Number(other)) => one.common(other).map(Self::Number),
            (one, other) => (one == other).then_some(one),
        }
    }

    /// The unit of a number; 0 is a plain number.
    #[must_use]
    pub(super) const fn unit(self) -> Option<Unit> {
        match self {
            Self::Number(unit) => Some(unit),
            Self::Any => Some(Unit::NUMBER),
            Self::Text | Self::Flag | Self::Groups(_) | Self::Group(_) => None,
        }
    }

    /// The type's name for messages.
    #[must_use]
    pub(super) fn name(self) -> Cow<'static, str> {
        match self {
            Self::Number(unit) => unit.name(),
            Self::Text => "a text".into(),
            Self::Flag => "a condition".into(),
            Self::Groups(_) => "a split into two groups".into(),
            Self::Group(_) => "a group of a split".into(),
            Self::Any => "anything".into(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_go_through_arithmetic() {
        assert_eq!(Unit::SIZE.over(Unit::TIME), Unit::SPEED);
        assert_eq!(Unit::SPEED.times(Unit::TIME), Unit::SIZE);
        assert_eq!(Unit::COUNT.over(Unit::COUNT), Unit::NUMBER);
        assert_eq!(Unit::SIZE.over(Unit::COUNT), Unit::SIZE);
        assert!(!Unit::SIZE.times(Unit::SIZE).is_shown());
        assert_eq!(Unit::TIME.over(Unit::SIZE).name(), "time per size");
        assert_eq!(Unit::NUMBER.over(Unit::TIME).over(Unit::TIME).name(), "1 per time^2");
        assert_eq!(Unit::SIZE.times(Unit::TIME).times(Unit::TIME).name(), "size × time^2");
        assert_eq!(Unit::COUNT.common(Unit::NUMBER), Some(Unit::NUMBER));
        assert_eq!(Unit::TIME.common(Unit::SIZE), None);
    }

    #[test]
    fn values_read_in_their_unit() {
        assert_eq!(Unit::TIME.show(-125_000.0), "-2m 5s");
        assert_eq!(Unit::SPEED.show(1_048_576.0), "1 MiB/s");
        assert_eq!(Unit::COUNT.show(1_234_567.0), "1,234,567");
        assert_eq!(Unit::NUMBER.show(0.126), "0.13");
        assert_eq!(Unit::NUMBER.show(0.0012), "0.0012");
        assert_eq!(Unit::TIME.show(0.25), "0.25 ms");
        assert_eq!(percent(0.000_12), "0.012 %");
        assert_eq!(Unit::NUMBER.show(f64::INFINITY), "infinite");
        assert_eq!(percent(0.125), "12.5 %");
    }

    #[test]
    fn evidence_holds_no_wrong_number() {
        assert_eq!(Unit::TIME.measure(-1.0), Some(Measure::Number(Some(-1.0), "_ms".into())));
        assert_eq!(Unit::SIZE.unknown(), Measure::Number(None, "_bytes".into()));
        assert_eq!(Unit::NUMBER.measure(f64::INFINITY), Some(Measure::Ratio(None)));
        assert_eq!(Unit::COUNT.measure(7.0), Some(Measure::Count(7)));
        assert_eq!(Unit::SIZE.times(Unit::SIZE).measure(1.0), None);
    }
}
