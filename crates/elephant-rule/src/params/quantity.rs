//! Numbers as users write them in rule files: `1/8`, `60 %`, `512MB`, `5min`, `50MB/s`.

use std::fmt;
use std::marker::PhantomData;

use serde::de::{self, Deserialize, Deserializer, Visitor};

use elephant_base::units::{Bytes, BytesPerSecond, Millis, three_digits, two_digits_at_least};

/// The unit of a rule's parameter: how it is written, stored and shown.
pub trait Unit: fmt::Debug + Clone + Copy + PartialEq + Send + Sync + 'static {
    /// The expected syntax, for error messages.
    const EXPECTED: &'static str;
    /// The same as a regular expression for JSON Schema, used by editors.
    const PATTERN: &'static str;
    /// The suffix of JSON keys with the stored number.
    const KEY_ENDING: &'static str;
    /// The largest number in stored units that can be meant: larger ones are slips, and sums with them overflow.
    const MOST: f64;
    /// The size of one written `unit` in stored units; `None` if the unit does not fit.
    fn scale(unit: &str) -> Option<f64>;
    /// The stored number as rounded text.
    fn show(value: f64) -> String;
    /// The stored number as text for a rule file, not rounded.
    fn exact(value: f64) -> String;
}

/// An amount below 1 in its smallest unit, which would be rounded to a whole number.
#[must_use]
pub fn fraction(value: f64, unit: &str) -> Option<String> {
    (value > 0.0 && value < 1.0).then(|| format!("{} {unit}", two_digits_at_least(value)))
}

/// `value` in the largest unit that leaves it at least 1.
fn in_largest_unit(value: f64, units: &[(&str, f64)]) -> String {
    let fits = units.iter().rev().find(|(_, scale)| value >= *scale).or(units.first());
    fits.map_or_else(|| value.to_string(), |(unit, scale)| format!("{}{unit}", value / scale))
}

const TIMES: [(&str, f64); 4] = [("ms", 1.0), ("s", 1000.0), ("min", 60_000.0), ("h", 3_600_000.0)];
const SIZES: [(&str, f64); 3] = [("B", 1.0), ("KB", 1024.0), ("MB", 1_048_576.0)];

/// A plain ratio.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Ratio;
/// A plain count.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Count;
/// A duration, stored in milliseconds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Duration;
/// A size, stored in bytes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Size;
/// A speed, stored in bytes per second.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Speed;
/// Memory allocated over time, stored in GiB × hours.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MemoryTime;

impl Unit for Ratio {
    const EXPECTED: &'static str = "a ratio such as 0.5, 1/8 or 60%";
    const PATTERN: &'static str = r"^\s*[0-9._]+(\s*/\s*[0-9._]+)?\s*%?\s*$";
    const KEY_ENDING: &'static str = "";
    const MOST: f64 = 1e9;
    fn scale(unit: &str) -> Option<f64> {
        match unit {
            "" => Some(1.0),
            "%" => Some(0.01),
            _ => None,
        }
    }
    fn exact(value: f64) -> String {
        value.to_string()
    }
    fn show(value: f64) -> String {
        two_digits_at_least(value)
    }
}

impl Unit for Count {
    const EXPECTED: &'static str = "a number such as 100";
    const PATTERN: &'static str = r"^\s*[0-9._]+(\s*/\s*[0-9._]+)?\s*\s*$";
    const KEY_ENDING: &'static str = "";
    const MOST: f64 = 1e15;
    fn scale(unit: &str) -> Option<f64> {
        unit.is_empty().then_some(1.0)
    }
    fn exact(value: f64) -> String {
        value.to_string()
    }
    fn show(value: f64) -> String {
        two_digits_at_least(value)
    }
}

impl Unit for Duration {
    const EXPECTED: &'static str = "a time with its unit, such as 30s, 5min or 2h";
    const PATTERN: &'static str = r"^\s*[0-9._]+(\s*/\s*[0-9._]+)?\s*(ms|s|sec|m|min|h|hr|d)\s*$";
    const KEY_ENDING: &'static str = "_ms";
    const MOST: f64 = 3.2e12;
    fn scale(unit: &str) -> Option<f64> {
        match unit {
            "ms" => Some(1.0),
            "s" | "sec" => Some(1000.0),
            "m" | "min" => Some(60_000.0),
            "h" | "hr" => Some(3_600_000.0),
            "d" => Some(86_400_000.0),
            _ => None,
        }
    }
    fn exact(value: f64) -> String {
        in_largest_unit(value, &TIMES)
    }
    fn show(value: f64) -> String {
        fraction(value, "ms").unwrap_or_else(|| Millis::from_f64(value).unwrap_or_default().to_string())
    }
}

impl Unit for Size {
    const EXPECTED: &'static str = "a size with its unit, such as 512MB or 1.5GB (binary, as Hadoop counts)";
    const PATTERN: &'static str = r"^\s*[0-9._]+(\s*/\s*[0-9._]+)?\s*([kKmMgGtT]?[iI]?[bB]|[kKmMgGtT])\s*$";
    const KEY_ENDING: &'static str = "_bytes";
    const MOST: f64 = 1_152_921_504_606_846_976.0;
    fn scale(unit: &str) -> Option<f64> {
        let power = match unit.to_ascii_lowercase().as_str() {
            "b" => 0,
            "k" | "kb" | "kib" => 1,
            "m" | "mb" | "mib" => 2,
            "g" | "gb" | "gib" => 3,
            "t" | "tb" | "tib" => 4,
            _ => return None,
        };
        Some(1024f64.powi(power))
    }
    fn exact(value: f64) -> String {
        in_largest_unit(value, &SIZES)
    }
    fn show(value: f64) -> String {
        fraction(value, "B").unwrap_or_else(|| Bytes::from_f64(value).unwrap_or_default().to_string())
    }
}

impl Unit for Speed {
    const EXPECTED: &'static str = "a speed with its unit, such as 50MB/s";
    const PATTERN: &'static str = r"^\s*[0-9._]+(\s*/\s*[0-9._]+)?\s*([kKmMgGtT]?[iI]?[bB]|[kKmMgGtT])/s\s*$";
    const KEY_ENDING: &'static str = "_bytes_per_second";
    const MOST: f64 = 1_152_921_504_606_846_976.0;
    fn scale(unit: &str) -> Option<f64> {
        Size::scale(unit.strip_suffix("/s")?)
    }
    fn exact(value: f64) -> String {
        in_largest_unit(value, &SIZES) + "/s"
    }
    fn show(value: f64) -> String {
        BytesPerSecond::new(value).to_string()
    }
}

impl Unit for MemoryTime {
    const EXPECTED: &'static str = "memory over time with its unit, such as 10GBh";
    const PATTERN: &'static str = r"^\s*[0-9._]+(\s*/\s*[0-9._]+)?\s*[mMgGtT][iI]?[bB]\s*[·*]?\s*h\s*$";
    const KEY_ENDING: &'static str = "_gb_hours";
    const MOST: f64 = 1e15;
    fn scale(unit: &str) -> Option<f64> {
        let size = unit.strip_suffix('h')?.trim_end();
        let size = size.strip_suffix(['·', '*']).unwrap_or(size).trim_end();
        match size.to_ascii_lowercase().as_str() {
            "mb" | "mib" => Some(1.0 / 1024.0),
            "gb" | "gib" => Some(1.0),
            "tb" | "tib" => Some(1024.0),
            _ => None,
        }
    }
    fn exact(value: f64) -> String {
        format!("{value}GBh")
    }
    fn show(value: f64) -> String {
        format!("{} GB·h", three_digits(value))
    }
}

/// A number with its unit, from zero to the most that can be meant.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Quantity<U> {
    value: f64,
    unit: PhantomData<U>,
}

#[doc(hidden)]
impl Quantity<Count> {
    /// The count as a whole number, rounded up.
    #[must_use]
    pub fn whole(self) -> u64 {
        Bytes::from_f64(self.value.ceil()).unwrap_or_default().get()
    }
}

#[doc(hidden)]
impl Quantity<Size> {
    /// The size in whole bytes.
    #[must_use]
    pub fn bytes(self) -> Bytes {
        Bytes::from_f64(self.value).unwrap_or_default()
    }
}

#[doc(hidden)]
impl Quantity<Duration> {
    /// The time in whole milliseconds.
    #[must_use]
    pub fn millis(self) -> Millis {
        Millis::from_f64(self.value).unwrap_or_default()
    }
}

#[doc(hidden)]
impl<U: Unit> Quantity<U> {
    /// The stored number.
    #[must_use]
    pub const fn get(self) -> f64 {
        self.value
    }

    /// Parses a number with its unit. A bare 0 needs no unit.
    ///
    /// # Errors
    /// A message that says what was expected.
    pub fn parse(text: &str) -> Result<Self, String> {
        let unexpected = || format!("expected {}, got \"{text}\"", U::EXPECTED);
        let trimmed = text.trim();
        let is_number = |c: char| c.is_ascii_digit() || matches!(c, '.' | '/' | ' ' | '_');
        let end = trimmed.find(|c| !is_number(c)).unwrap_or(trimmed.len());
        let (number, unit) = trimmed.split_at_checked(end).ok_or_else(unexpected)?;
        // "50MB/s" splits before the unit, "1 / 8 GB" keeps its slash in the number.
        let number: String = number.chars().filter(|c| !matches!(c, ' ' | '_')).collect();
        let value = match number.split_once('/') {
            Some((over, under)) => divide(over, under).ok_or_else(unexpected)?,
            None => number.parse::<f64>().map_err(|_| unexpected())?,
        };
        Self::scaled(value, unit.trim()).ok_or_else(unexpected)
    }

    fn scaled(value: f64, unit: &str) -> Option<Self> {
        let scale = match U::scale(unit) {
            Some(scale) => scale,
            None if unit.is_empty() && value == 0.0 => 1.0,
            None => return None,
        };
        // Divide by 100: 70 * 0.01 is not exactly 0.7.
        let value = if scale < 1.0 { value / scale.recip() } else { value * scale };
        (0.0..=U::MOST).contains(&value).then_some(Self { value, unit: PhantomData })
    }
}

fn divide(over: &str, under: &str) -> Option<f64> {
    let (over, under): (f64, f64) = (over.parse().ok()?, under.parse().ok()?);
    (under > 0.0).then(|| over / under)
}

impl<U: Unit> fmt::Display for Quantity<U> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&U::show(self.value))
    }
}

impl<'de, U: Unit> Deserialize<'de> for Quantity<U> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let value = deserializer.deserialize_any(Written::<U> { word: None, unit: PhantomData })?;
        Ok(Self { value, unit: PhantomData })
    }
}

impl<U: Unit> Quantity<U> {
    /// The stored number, or `value` if the text is `word`.
    pub(super) fn deserialize_or<'de, D: Deserializer<'de>>(
        deserializer: D,
        word: &'static str,
        value: f64,
    ) -> Result<f64, D::Error> {
        deserializer.deserialize_any(Written::<U> { word: Some((word, value)), unit: PhantomData })
    }
}

/// Reads a number, or a word that stands for a number.
struct Written<U> {
    word: Option<(&'static str, f64)>,
    unit: PhantomData<U>,
}

impl<U: Unit> Visitor<'_> for Written<U> {
    type Value = f64;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(U::EXPECTED)
    }

    fn visit_f64<E: de::Error>(self, value: f64) -> Result<f64, E> {
        let quantity = Quantity::<U>::scaled(value, "");
        let unexpected = || E::custom(format!("expected {}, got {value:?}", U::EXPECTED));
        quantity.map(Quantity::get).ok_or_else(unexpected)
    }

    fn visit_u64<E: de::Error>(self, value: u64) -> Result<f64, E> {
        self.visit_f64(value as f64)
    }

    fn visit_i64<E: de::Error>(self, value: i64) -> Result<f64, E> {
        self.visit_f64(value as f64)
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<f64, E> {
        match self.word {
            Some((word, value)) if word == text => Ok(value),
            _ => Quantity::<U>::parse(text).map(Quantity::get).map_err(E::custom),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read<U: Unit>(text: &str) -> Option<f64> {
        Quantity::<U>::parse(text).ok().map(Quantity::get)
    }

    #[test]
    fn numbers_as_users_write_them() {
        assert_eq!(read::<Ratio>("1/8"), Some(0.125));
        assert_eq!(read::<Ratio>("60 %"), Some(0.6));
        assert_eq!(read::<Size>("512MB"), Some(536_870_912.0));
        assert_eq!(read::<Size>("1/2 GiB"), Some(536_870_912.0));
        assert_eq!(read::<Duration>("5 min"), Some(300_000.0));
        assert_eq!(read::<Duration>("0"), Some(0.0));
        assert_eq!(read::<Speed>("50MB/s"), Some(52_428_800.0));
        assert_eq!(read::<Count>("1_000"), Some(1000.0));
        assert_eq!(read::<Ratio>("70%"), Some(0.7));
    }

    #[test]
    fn numbers_that_nobody_means_are_refused() {
        for text in ["1e308", "1000001000000%", "1e10"] {
            assert!(Quantity::<Ratio>::parse(text).is_err(), "{text}");
        }
        assert!(serde_yaml::from_str::<Quantity<Ratio>>("1e308").is_err());
        assert!(serde_yaml::from_str::<Quantity<Count>>("1e308").is_err());
        assert!(
            Quantity::<Duration>::parse("40000d").is_err() && Quantity::<Duration>::parse("36500d").is_ok()
        );
        assert!(
            Quantity::<Size>::parse("9999999TB").is_err() && Quantity::<Size>::parse("1048576TB").is_ok()
        );
    }

    #[test]
    fn memory_over_time() {
        let hours = |text| Quantity::<MemoryTime>::parse(text).map(Quantity::get);
        for text in ["10GBh", "10 GB·h", "10 GiB * h", "10240MBh"] {
            assert_eq!(hours(text), Ok(10.0), "{text}");
        }
        assert_eq!(hours("1.5 TBh"), Ok(1536.0));
        assert!(hours("10GB").is_err() && hours("10h").is_err() && hours("10GBs").is_err());
        assert_eq!(MemoryTime::exact(10.0), "10GBh");
        assert_eq!(MemoryTime::show(0.25), "0.25 GB·h");
    }

    #[test]
    fn errors_say_what_was_expected() {
        for bad in ["", "5", "five min", "5 MB", "-5min", "1/0min", "1/2/3 s", "1e999h", "5 min 3"] {
            assert!(Quantity::<Duration>::parse(bad).is_err(), "{bad}");
        }
        let message = Quantity::<Size>::parse("512").unwrap_err();
        assert!(message.contains("512MB"), "{message}");
    }
}
