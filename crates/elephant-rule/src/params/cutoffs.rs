//! Four cut-offs that turn a measured value into a severity.
//!
//! Dr. Elephant's `Severity.getSeverityAscending` and `getSeverityDescending`: critical is tested first,
//! then severe, moderate, low; a value that equals a cut-off has passed it. NaN passes none.

use std::fmt;
use std::marker::PhantomData;

use serde::de::{self, Deserialize, Deserializer, SeqAccess, Visitor};

use super::quantity::{Quantity, Unit};
use elephant_base::severity::Severity;

/// The direction in which values get worse.
pub trait Direction: fmt::Debug + Clone + Copy + PartialEq + Send + Sync + 'static {
    /// Whether `value` has passed `cutoff`.
    fn passed(value: f64, cutoff: f64) -> bool;
    /// Whether `next`, the cut-off of a higher severity, may follow `previous`.
    fn in_order(previous: f64, next: f64) -> bool;
    /// The required order of the four numbers.
    const ORDER: &'static str;
    /// The word before a cut-off in messages.
    const FROM: &'static str;
    /// A cut-off that no value passes.
    const NEVER: f64;
}

/// Larger values are worse.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rising;
/// Smaller values are worse.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Falling;

impl Direction for Rising {
    fn passed(value: f64, cutoff: f64) -> bool {
        value >= cutoff && cutoff.is_finite()
    }
    fn in_order(previous: f64, next: f64) -> bool {
        previous <= next
    }
    const ORDER: &'static str = "rise from low to critical";
    const FROM: &'static str = "from";
    const NEVER: f64 = f64::INFINITY;
}

impl Direction for Falling {
    fn passed(value: f64, cutoff: f64) -> bool {
        value <= cutoff && cutoff.is_finite()
    }
    fn in_order(previous: f64, next: f64) -> bool {
        previous >= next
    }
    const ORDER: &'static str = "fall from low to critical";
    const FROM: &'static str = "up to";
    const NEVER: f64 = f64::NEG_INFINITY;
}

/// Cut-offs for low, moderate, severe and critical. A cut-off of `never` is never passed. `off` is a
/// condition that always holds; `never` alone is a rule that never finds anything.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Cutoffs<U, D> {
    values: Option<[f64; 4]>,
    kind: PhantomData<(U, D)>,
}

/// Cut-offs for values that get worse as they rise.
pub type Ascending<U> = Cutoffs<U, Rising>;
/// Cut-offs for values that get worse as they fall.
pub type Descending<U> = Cutoffs<U, Falling>;

impl<U: Unit, D: Direction> Cutoffs<U, D> {
    const LEVELS: [Severity; 4] = [Severity::Low, Severity::Moderate, Severity::Severe, Severity::Critical];

    /// The severity of `value`.
    #[must_use]
    pub fn severity(&self, value: f64) -> Severity {
        self.severity_in(value, 1.0)
    }

    /// The severity of `value` if the cut-offs are multiples of `scale`.
    #[must_use]
    pub fn severity_in(&self, value: f64, scale: f64) -> Severity {
        let Some(values) = self.values else { return Severity::Critical };
        let worst_first = Self::LEVELS.into_iter().zip(values).rev();
        let passed = worst_first.into_iter().find(|&(_, cutoff)| D::passed(value, cutoff * scale));
        passed.map_or(Severity::None, |(level, _)| level)
    }

    /// The four numbers, low to critical, in the unit's stored form; `None` when off.
    #[must_use]
    pub const fn values(&self) -> Option<[f64; 4]> {
        self.values
    }

    /// The cut-off of `level`, in the unit's stored form; `None` when off.
    #[must_use]
    pub fn cutoff(&self, level: Severity) -> Option<f64> {
        let values = self.values?;
        Self::LEVELS.into_iter().zip(values).find(|&(at, _)| at == level).map(|(_, cutoff)| cutoff)
    }

    /// The cut-off of `level` (of low if nothing was found) for messages: "critical from 16".
    #[must_use]
    pub fn describe(&self, level: Severity) -> String {
        self.describe_in(level, U::show)
    }

    /// Like [`Cutoffs::describe`], with the cut-off as a multiple: "critical from 16×".
    #[must_use]
    pub fn describe_multiple(&self, level: Severity) -> String {
        self.describe_in(level, |cutoff| format!("{}×", U::show(cutoff)))
    }

    /// Like [`Cutoffs::describe`], with the number formatted by `show`.
    #[must_use]
    pub fn describe_in(&self, level: Severity, show: impl Fn(f64) -> String) -> String {
        let level = level.max(Severity::Low);
        match self.cutoff(level) {
            Some(cutoff) if cutoff.is_infinite() => format!("never {level}"),
            Some(cutoff) => format!("{level} {} {}", D::FROM, show(cutoff)),
            None => "at any value".to_owned(),
        }
    }
}

impl<'de, U: Unit, D: Direction> Deserialize<'de> for Cutoffs<U, D> {
    fn deserialize<T: Deserializer<'de>>(deserializer: T) -> Result<Self, T::Error> {
        struct Four<U, D>(PhantomData<(U, D)>);
        impl<'de, U: Unit, D: Direction> Visitor<'de> for Four<U, D> {
            type Value = Cutoffs<U, D>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(
                    f,
                    "four cut-offs [low, moderate, severe, critical], each {} or never; or one word for all: off or never",
                    U::EXPECTED
                )
            }
            fn visit_str<E: de::Error>(self, text: &str) -> Result<Self::Value, E> {
                match text {
                    "off" => Ok(Cutoffs { values: None, kind: PhantomData }),
                    "never" => Ok(Cutoffs { values: Some([D::NEVER; 4]), kind: PhantomData }),
                    _ => Err(E::invalid_value(de::Unexpected::Str(text), &self)),
                }
            }
            // Checked here, not in a later step, so that errors have the line and column of the list.
            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Self::Value, A::Error> {
                let mut values = Vec::with_capacity(4);
                while let Some(Cutoff::<U, D>(value, _)) = list.next_element()? {
                    values.push(value);
                }
                let Ok(values) = <[f64; 4]>::try_from(values.as_slice()) else {
                    return Err(de::Error::invalid_length(values.len(), &self));
                };
                if !values.is_sorted_by(|&a, &b| D::in_order(a, b)) {
                    return Err(de::Error::custom(format!(
                        "cut-offs must {}, got {}",
                        D::ORDER,
                        values.map(U::show).join(", ")
                    )));
                }
                Ok(Cutoffs { values: Some(values), kind: PhantomData })
            }
        }
        deserializer.deserialize_any(Four(PhantomData))
    }
}

/// One cut-off of the list.
struct Cutoff<U, D>(f64, PhantomData<(U, D)>);

impl<'de, U: Unit, D: Direction> Deserialize<'de> for Cutoff<U, D> {
    fn deserialize<T: Deserializer<'de>>(deserializer: T) -> Result<Self, T::Error> {
        Quantity::<U>::deserialize_or(deserializer, "never", D::NEVER).map(|value| Self(value, PhantomData))
    }
}

#[cfg(test)]
mod tests {
    use super::super::quantity::{Duration, Ratio};
    use super::*;

    fn rising(yaml: &str) -> Ascending<Ratio> {
        serde_yaml::from_str(yaml).unwrap()
    }

    #[test]
    fn equal_values_pass_and_nan_does_not() {
        let cutoffs = rising("[0.2, 0.4, 0.6, 0.8]");
        assert_eq!(cutoffs.severity(0.2), Severity::Low);
        assert_eq!(cutoffs.severity(0.19), Severity::None);
        assert_eq!(cutoffs.severity(f64::INFINITY), Severity::Critical);
        assert_eq!(cutoffs.severity(f64::NAN), Severity::None);
        let falling: Descending<Ratio> = serde_yaml::from_str("[0.8, 0.6, 0.4, 1/5]").unwrap();
        assert_eq!(falling.severity(0.2), Severity::Critical);
        assert_eq!(falling.severity(0.9), Severity::None);
        assert_eq!(falling.severity(f64::NAN), Severity::None);
        assert_eq!(falling.severity(f64::NEG_INFINITY), Severity::Critical);
    }

    #[test]
    fn of_equal_cutoffs_the_higher_severity_wins() {
        assert_eq!(rising("[0.1, 0.3, 0.5, 0.5]").severity(0.5), Severity::Critical);
    }

    #[test]
    fn a_condition_that_is_off_always_holds() {
        assert_eq!(rising("off").severity(0.0), Severity::Critical);
        assert_eq!(rising("off").values(), None);
        assert_eq!(rising("[0, 0, 0, 0]").severity(0.0), Severity::Critical);
    }

    #[test]
    fn never_is_never_passed() {
        assert_eq!(rising("never").severity(f64::INFINITY), Severity::None);
        assert_eq!(rising("[0.1, 0.2, never, never]").severity(f64::INFINITY), Severity::Moderate);
        assert_eq!(rising("[0.1, 0.2, never, never]").describe(Severity::Critical), "never critical");
        let falling: Descending<Ratio> = serde_yaml::from_str("[0.8, 0.6, 0.4, never]").unwrap();
        assert_eq!(falling.severity(f64::NEG_INFINITY), Severity::Severe);
        assert!(serde_yaml::from_str::<Ascending<Ratio>>("[0.1, never, 0.2, 0.3]").is_err());
    }

    #[test]
    fn errors_have_a_position() {
        let fail = |yaml: &str| serde_yaml::from_str::<Ascending<Duration>>(yaml).unwrap_err().to_string();
        for (yaml, expected) in [
            ("[1min, 2min, 3min]", "four cut-offs"),
            ("[1min, 2min, 3min, 4min, 5min]", "four cut-offs"),
            ("[4min, 3min, 2min, 1min]", "must rise from low to critical, got 4m, 3m, 2m, 1m"),
            ("[1, 2, 3, 4]", "a time with its unit"),
            ("5min", "four cut-offs"),
        ] {
            let message = fail(yaml);
            assert!(message.contains(expected), "{yaml}: {message}");
        }
    }
}
