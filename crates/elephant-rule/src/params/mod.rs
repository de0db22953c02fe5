//! The parameter language of rule files: typed structs with values from layers of YAML.

pub mod cutoffs;
mod file;
pub mod layers;
pub mod lines;
mod problem;
pub mod quantity;
pub mod words;
pub mod work;
pub mod yaml;

use std::collections::BTreeMap;
use std::fmt;
use std::marker::PhantomData;

use serde::de::{self, Deserialize, DeserializeOwned, Deserializer, Visitor};

use serde_json::{Value, json};

use cutoffs::{Cutoffs, Direction};
use elephant_base::severity::Severity;
use quantity::{Quantity, Unit};
use yaml::{Node, ReadError};

pub use file::RuleFile;
pub use problem::{Importance, Problems, RuleProblem};

/// A parameter in rule files.
#[derive(Debug, Clone, Copy)]
pub struct Key {
    /// Its name.
    pub name: &'static str,
    /// Its name in an earlier version, which still works.
    pub was: Option<&'static str>,
    /// Its documentation, by line.
    pub doc: &'static [&'static str],
    /// The JSON Schema of its values.
    pub schema: fn() -> Value,
}

/// The parameters of one rule.
pub trait Params: Clone + Send + Sync + Sized + 'static {
    /// The same keys, all optional: one layer of a rule file.
    type Overlay: Default;

    /// Every key in the order of the rule file.
    fn keys() -> &'static [Key];

    /// Sets a key of a layer.
    ///
    /// # Errors
    /// If the value has another type; says what was expected.
    fn set(overlay: &mut Self::Overlay, key: &str, value: &Node) -> Result<(), ReadError>;

    /// The parameters of the built-in layer, which must have every key.
    ///
    /// # Errors
    /// The name of a missing key.
    fn complete(overlay: Self::Overlay) -> Result<Self, &'static str>;

    /// Replaces the values that `overlay` sets.
    fn apply(&mut self, overlay: Self::Overlay);

    /// Every parameter by name, in the order of the rule file.
    fn entries(&self) -> Vec<(&'static str, ParamValue)>;
}

/// A parameter's value for reports.
#[derive(Debug, Clone, PartialEq)]
pub enum ParamValue {
    /// Four cut-offs.
    Cutoffs {
        /// Low, moderate, severe, critical in stored units.
        values: [f64; 4],
        /// The suffix of the list's JSON key for its unit; empty for ratios and counts.
        key_ending: &'static str,
        /// The same four values as text.
        shown: [String; 4],
    },
    /// Any other value, as text.
    Text(String),
}

/// A type that can be used for a parameter.
pub trait Param: DeserializeOwned {
    /// The value for reports.
    fn value(&self) -> ParamValue;

    /// The JSON Schema of valid values.
    fn schema() -> Value;
}

/// The schema of a number with its unit.
fn quantity<U: Unit>() -> Value {
    json!({
        "description": U::EXPECTED,
        "anyOf": [{"type": "string", "pattern": U::PATTERN}, {"type": "number", "minimum": 0}],
    })
}

fn with_words(schema: &Value, words: &[&str]) -> Value {
    json!({"anyOf": [schema, {"enum": words}]})
}

impl<U: Unit, D: Direction> Param for Cutoffs<U, D> {
    fn value(&self) -> ParamValue {
        match self.values() {
            Some(values) => {
                let shown = |value: f64| if value.is_finite() { U::exact(value) } else { "never".to_owned() };
                ParamValue::Cutoffs { values, key_ending: U::KEY_ENDING, shown: values.map(shown) }
            }
            None => ParamValue::Text("off".to_owned()),
        }
    }

    fn schema() -> Value {
        let cutoff = with_words(&quantity::<U>(), &["never"]);
        let list = json!({
            "description": format!("low, moderate, severe, critical; they must {}", D::ORDER),
            "type": "array", "items": cutoff, "minItems": 4, "maxItems": 4,
        });
        with_words(&list, &["off", "never"])
    }
}

impl<U: Unit> Param for Quantity<U> {
    fn value(&self) -> ParamValue {
        ParamValue::Text(U::exact(self.get()))
    }

    fn schema() -> Value {
        quantity::<U>()
    }
}

impl Param for bool {
    fn value(&self) -> ParamValue {
        ParamValue::Text(self.to_string())
    }

    fn schema() -> Value {
        json!({"type": "boolean"})
    }
}

impl Param for Severity {
    fn value(&self) -> ParamValue {
        ParamValue::Text(self.to_string())
    }

    fn schema() -> Value {
        json!({"enum": Self::ALL.map(Self::name)})
    }
}

impl<U: Unit> Param for BTreeMap<String, Quantity<U>> {
    fn value(&self) -> ParamValue {
        let entries: Vec<String> =
            self.iter().map(|(key, value)| format!("{key}: {}", U::exact(value.get()))).collect();
        ParamValue::Text(if entries.is_empty() { "none".to_owned() } else { entries.join(", ") })
    }

    fn schema() -> Value {
        json!({"type": "object", "additionalProperties": quantity::<U>()})
    }
}

/// A quantity above 0, because it is used as a divisor.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Positive<U>(Quantity<U>);

impl<U> std::ops::Deref for Positive<U> {
    type Target = Quantity<U>;

    fn deref(&self) -> &Quantity<U> {
        &self.0
    }
}

impl<U: Unit> fmt::Display for Positive<U> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl<U: Unit> Param for Positive<U> {
    fn value(&self) -> ParamValue {
        self.0.value()
    }

    fn schema() -> Value {
        quantity::<U>()
    }
}

impl<'de, U: Unit> Deserialize<'de> for Positive<U> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let quantity = Quantity::deserialize(deserializer)?;
        if quantity.get() > 0.0 {
            Ok(Self(quantity))
        } else {
            Err(de::Error::custom(format!("expected {}, greater than 0", U::EXPECTED)))
        }
    }
}

/// A value that may be `unknown` instead of assumed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Assumed<U>(pub Option<Quantity<U>>);

impl<U: Unit> Param for Assumed<U> {
    fn value(&self) -> ParamValue {
        self.0.map_or_else(|| ParamValue::Text("unknown".to_owned()), |quantity| quantity.value())
    }

    fn schema() -> Value {
        with_words(&quantity::<U>(), &["unknown"])
    }
}

impl<'de, U: Unit> Deserialize<'de> for Assumed<U> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Word<U>(PhantomData<U>);
        impl<U: Unit> Visitor<'_> for Word<U> {
            type Value = Assumed<U>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "{}, or unknown", U::EXPECTED)
            }
            fn visit_str<E: de::Error>(self, text: &str) -> Result<Self::Value, E> {
                if text == "unknown" {
                    return Ok(Assumed(None));
                }
                Quantity::parse(text).map(|quantity| Assumed(Some(quantity))).map_err(E::custom)
            }
        }
        deserializer.deserialize_any(Word(PhantomData))
    }
}

/// Declares a rule's parameters: a struct with the effective values, and its layer with every key optional.
///
/// The syntax is that of a struct. The doc comment of a field is the documentation of its key. `key (was
/// "old"): Type` also accepts the old name.
#[macro_export]
macro_rules! rule_params {
    (
        $(#[$doc:meta])*
        $vis:vis struct $name:ident / $overlay:ident {
            $($(#[doc = $field_doc:literal])* $field:ident $((was $was:literal))?: $kind:ty,)+
        }
    ) => {
        $(#[$doc])*
        #[derive(Debug, Clone)]
        $vis struct $name { $($(#[doc = $field_doc])* pub $field: $kind,)+ }

        /// One layer of a rule file: the same keys, all optional.
        #[derive(Debug, Clone, Default)]
        $vis struct $overlay { $($field: Option<$kind>,)+ }

        impl $crate::params::Params for $name {
            type Overlay = $overlay;

            fn keys() -> &'static [$crate::params::Key] {
                &[$($crate::params::Key {
                    name: stringify!($field),
                    was: $crate::params::was!($($was)?),
                    doc: &[$($field_doc),*],
                    schema: <$kind as $crate::params::Param>::schema,
                },)+]
            }

            fn set(
                overlay: &mut $overlay,
                key: &str,
                value: &$crate::params::yaml::Node,
            ) -> Result<(), $crate::params::yaml::ReadError> {
                match key {
                    $(stringify!($field) => overlay.$field = Some(value.read()?),)+
                    _ => {}
                }
                Ok(())
            }

            fn complete(overlay: $overlay) -> Result<Self, &'static str> {
                Ok(Self { $($field: overlay.$field.ok_or(stringify!($field))?,)+ })
            }

            fn apply(&mut self, overlay: $overlay) {
                $(if let Some(value) = overlay.$field { self.$field = value; })+
            }

            fn entries(&self) -> Vec<(&'static str, $crate::params::ParamValue)> {
                vec![$((stringify!($field), $crate::params::Param::value(&self.$field)),)+]
            }
        }
    };
}
pub use crate::rule_params;

/// The old name of a key, if it has one.
#[macro_export]
macro_rules! was {
    () => {
        None
    };
    ($old:literal) => {
        Some($old)
    };
}
pub use crate::was;

/// Declares a parameter with a fixed set of words, written in kebab-case in rule files.
#[macro_export]
macro_rules! choice {
    ($(#[$doc:meta])* $vis:vis enum $name:ident { $($(#[doc = $word_doc:literal])* $variant:ident = $word:literal,)+ }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Deserialize)]
        $vis enum $name { $($(#[doc = $word_doc])* #[serde(rename = $word)] $variant,)+ }

        impl $crate::params::Param for $name {
            fn value(&self) -> $crate::params::ParamValue {
                $crate::params::ParamValue::Text(match self { $(Self::$variant => $word,)+ }.to_owned())
            }

            fn schema() -> serde_json::Value {
                serde_json::json!({"oneOf": [$({
                    "const": $word,
                    "description": concat!($($word_doc),*).trim(),
                },)+]})
            }
        }
    };
}
pub use crate::choice;
