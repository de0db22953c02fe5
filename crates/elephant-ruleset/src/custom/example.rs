//! Examples in a rule's file: the expected result of the rule, for `elephant-rs rules test`.

use std::borrow::Cow;
use std::fmt;

use super::unit::{Type, Unit};
use super::value::Value;
use elephant_base::severity::Severity;
use elephant_rule::params::quantity::{Count, Duration, Quantity, Ratio, Size, Speed};

/// An example.
#[derive(Debug, Clone, PartialEq)]
pub struct Example {
    /// Its name; may be empty.
    pub name: String,
    /// The rule file.
    pub file: String,
    /// Its line there.
    pub line: usize,
    /// The input of the rule.
    pub input: Input,
    /// The expected result.
    pub expected: Expected,
}

/// The input of an example.
#[derive(Debug, Clone, PartialEq)]
pub enum Input {
    /// Values that replace those that the rule would compute, by index.
    Values(Vec<(usize, Option<Given>)>),
    /// A history.
    History {
        /// The path as written, relative to the rule's file.
        path: String,
        /// The subject, by its name in reports; `None` for all.
        subject: Option<String>,
        /// The application, if the path contains several.
        application: Option<String>,
    },
}

/// A value in an example.
#[derive(Debug, Clone, PartialEq)]
pub enum Given {
    /// A number in stored units.
    Number(f64),
    /// A text.
    Text(String),
    /// True or false.
    Flag(bool),
}

/// The expected result of a rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Expected {
    /// This severity; if there are several findings, that of the worst.
    Severity(Severity),
    /// Not evaluated, because data is missing.
    NotEvaluated,
    /// Not applicable to such applications.
    NotApplicable,
}

impl Expected {
    /// Parses an expected result.
    #[must_use]
    pub(super) fn parse(word: &str) -> Option<Self> {
        match word {
            "not-evaluated" => Some(Self::NotEvaluated),
            "not-applicable" => Some(Self::NotApplicable),
            _ => Severity::ALL.into_iter().find(|severity| severity.name() == word).map(Self::Severity),
        }
    }
}

impl fmt::Display for Expected {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Severity(severity) => severity.fmt(f),
            Self::NotEvaluated => f.write_str("not-evaluated"),
            Self::NotApplicable => f.write_str("not-applicable"),
        }
    }
}

impl Given {
    /// Parses a value of this type; `None` inside for `unknown`.
    ///
    /// # Errors
    /// If the text is not a value of this type.
    pub(super) fn parse(text: &str, kind: Type) -> Result<Option<Self>, String> {
        if matches!(text, "unknown" | "null" | "~") {
            return Ok(None);
        }
        Ok(Some(match kind {
            Type::Text => Self::Text(text.to_owned()),
            Type::Flag => match text {
                "true" => Self::Flag(true),
                "false" => Self::Flag(false),
                _ => return Err(format!("expected true or false, got \"{text}\"")),
            },
            Type::Number(unit) => Self::Number(number(text, unit)?),
            Type::Any => Self::Number(number(text, Unit::NUMBER)?),
            Type::Groups(_) | Type::Group(_) => {
                return Err("a split has no literal; give the values that use it".to_owned());
            }
        }))
    }

    /// The value for expressions.
    pub(super) fn value(&self) -> Value<'_> {
        match self {
            Self::Number(number) => Value::Number(*number),
            Self::Text(text) => Value::Text(Cow::Borrowed(text)),
            Self::Flag(flag) => Value::Flag(*flag),
        }
    }
}

fn number(text: &str, unit: Unit) -> Result<f64, String> {
    // Quantities are never negative, but values may be.
    let (sign, text) = text.strip_prefix('-').map_or((1.0, text), |rest| (-1.0, rest));
    let amount = match unit {
        Unit::TIME => Quantity::<Duration>::parse(text)?.get(),
        Unit::SIZE => Quantity::<Size>::parse(text)?.get(),
        Unit::SPEED => Quantity::<Speed>::parse(text)?.get(),
        Unit::COUNT => Quantity::<Count>::parse(text)?.get(),
        unit if unit.fits(Unit::NUMBER) => Quantity::<Ratio>::parse(text)?.get(),
        unit => return Err(format!("{} has no literal; give the values that use it", unit.name())),
    };
    Ok(sign * amount)
}
