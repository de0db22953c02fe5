//! Reads trees into typed values: serde over [`Node`]s, with errors that have a position.

use std::fmt;

use serde::de::value::{MapDeserializer, SeqDeserializer};
use serde::de::{self, Deserializer, EnumAccess, IntoDeserializer, VariantAccess, Visitor};
use serde::forward_to_deserialize_any;

use super::{Kind, Node, Span};
use crate::params::words::{did_you_mean, unknown_word};

/// A node with an unexpected value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReadError {
    /// The position of the node; `None` if the error was created without one.
    pub span: Option<Span>,
    /// The problem, and what was expected.
    pub message: String,
    /// A suggestion.
    pub help: Option<String>,
}

impl ReadError {
    fn new(message: String) -> Self {
        Self { span: None, message, help: None }
    }

    fn at(mut self, span: &Span) -> Self {
        self.span.get_or_insert_with(|| span.clone());
        self
    }
}

impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)?;
        self.help.iter().try_for_each(|help| write!(f, ", {help}"))
    }
}

impl std::error::Error for ReadError {}

impl de::Error for ReadError {
    fn custom<T: fmt::Display>(message: T) -> Self {
        Self::new(message.to_string())
    }

    fn unknown_variant(variant: &str, expected: &'static [&'static str]) -> Self {
        Self::unknown("value", variant, expected)
    }

    fn unknown_field(field: &str, expected: &'static [&'static str]) -> Self {
        Self::unknown("key", field, expected)
    }
}

impl ReadError {
    fn unknown(kind: &str, word: &str, expected: &'static [&'static str]) -> Self {
        let help = did_you_mean(word, expected.iter().copied());
        Self { span: None, message: unknown_word(kind, word, expected), help }
    }
}

impl<'de> Deserializer<'de> for &Node {
    type Error = ReadError;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ReadError> {
        let read = match &self.kind {
            Kind::Scalar { text, plain: true } => scalar(text, visitor),
            Kind::Scalar { text, plain: false } => visitor.visit_str(text),
            Kind::List(items) => {
                let mut list = SeqDeserializer::new(items.iter());
                // The rest of a list that a visitor leaves unread is not an error of its own.
                visitor.visit_seq(&mut list)
            }
            Kind::Map(entries) => visitor.visit_map(MapDeserializer::new(
                entries.iter().map(|(key, value)| (key.value.as_str(), value)),
            )),
        };
        read.map_err(|error| error.at(&self.span))
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ReadError> {
        match &self.kind {
            Kind::Scalar { text, plain: true } if is_null(text) => visitor.visit_none(),
            _ => visitor.visit_some(self),
        }
    }

    fn deserialize_str<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ReadError> {
        match &self.kind {
            // A name that looks like a number is still a name.
            Kind::Scalar { text, .. } => {
                visitor.visit_str(text).map_err(|error: ReadError| error.at(&self.span))
            }
            _ => self.deserialize_any(visitor),
        }
    }

    fn deserialize_string<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ReadError> {
        self.deserialize_str(visitor)
    }

    fn deserialize_identifier<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ReadError> {
        self.deserialize_str(visitor)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, ReadError> {
        visitor.visit_newtype_struct(self).map_err(|error: ReadError| error.at(&self.span))
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, ReadError> {
        visitor.visit_enum(Word(self)).map_err(|error: ReadError| error.at(&self.span))
    }

    fn deserialize_bool<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ReadError> {
        match &self.kind {
            Kind::Scalar { text, plain } if !*plain || !matches!(text.as_str(), "true" | "false") => {
                Err(no_condition(text, *plain).at(&self.span))
            }
            _ => self.deserialize_any(visitor),
        }
    }

    forward_to_deserialize_any! {
        i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char bytes byte_buf unit unit_struct seq tuple
        tuple_struct map struct ignored_any
    }
}

impl IntoDeserializer<'_, ReadError> for &Node {
    type Deserializer = Self;

    fn into_deserializer(self) -> Self {
        self
    }
}

/// A text instead of true or false. YAML 1.1 had more words for them.
fn no_condition(text: &str, plain: bool) -> ReadError {
    let quotes = if plain { "\"" } else { "'" };
    let help = match text.to_ascii_lowercase().as_str() {
        "true" | "yes" | "on" | "y" => Some("write true, in small letters and without quotes"),
        "false" | "no" | "off" | "n" => Some("write false, in small letters and without quotes"),
        _ => None,
    };
    ReadError {
        span: None,
        message: format!("expected true or false, got {quotes}{text}{quotes}"),
        help: help.map(str::to_owned),
    }
}

fn is_null(text: &str) -> bool {
    matches!(text, "" | "~" | "null")
}

/// A plain scalar by the core schema of YAML 1.2.
fn scalar<'de, V: Visitor<'de>>(text: &str, visitor: V) -> Result<V::Value, ReadError> {
    match text {
        text if is_null(text) => return visitor.visit_unit(),
        "true" => return visitor.visit_bool(true),
        "false" => return visitor.visit_bool(false),
        _ => {}
    }
    // "inf" and "nan" are words here.
    let starts_like_a_number = text.starts_with(|c: char| c.is_ascii_digit() || matches!(c, '-' | '+' | '.'));
    if starts_like_a_number && text.contains(|c: char| c.is_ascii_digit()) {
        if let Ok(whole) = text.parse::<u64>() {
            return visitor.visit_u64(whole);
        }
        if let Ok(whole) = text.parse::<i64>() {
            return visitor.visit_i64(whole);
        }
        if let Ok(number) = text.parse::<f64>() {
            return visitor.visit_f64(number);
        }
    }
    visitor.visit_str(text)
}

/// A word from a fixed set.
struct Word<'n>(&'n Node);

impl<'de> EnumAccess<'de> for Word<'_> {
    type Error = ReadError;
    type Variant = Self;

    fn variant_seed<S: de::DeserializeSeed<'de>>(self, seed: S) -> Result<(S::Value, Self), ReadError> {
        let Kind::Scalar { .. } = &self.0.kind else {
            return Err(ReadError::new(format!("expected a word, got {}", self.0.what())).at(&self.0.span));
        };
        Ok((seed.deserialize(self.0)?, self))
    }
}

impl<'de> VariantAccess<'de> for Word<'_> {
    type Error = ReadError;

    fn unit_variant(self) -> Result<(), ReadError> {
        Ok(())
    }

    fn newtype_variant_seed<S: de::DeserializeSeed<'de>>(self, _: S) -> Result<S::Value, ReadError> {
        Err(ReadError::new("expected a word".to_owned()))
    }

    fn tuple_variant<V: Visitor<'de>>(self, _: usize, _: V) -> Result<V::Value, ReadError> {
        Err(ReadError::new("expected a word".to_owned()))
    }

    fn struct_variant<V: Visitor<'de>>(
        self,
        _: &'static [&'static str],
        _: V,
    ) -> Result<V::Value, ReadError> {
        Err(ReadError::new("expected a word".to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::super::documents;
    use super::*;
    use crate::params::cutoffs::Ascending;
    use crate::params::quantity::{Duration, Size};
    use elephant_base::severity::Severity;

    fn first(text: &str) -> Node {
        documents(text).0.remove(0)
    }

    #[test]
    fn values_of_all_kinds() {
        assert_eq!(first("[1, -2, 3.5]").read::<Vec<f64>>().unwrap(), [1.0, -2.0, 3.5]);
        assert_eq!(first("'true'").read::<String>().unwrap(), "true");
        assert!(first("true").read::<bool>().unwrap());
        assert_eq!(first("severe").read::<Severity>().unwrap(), Severity::Severe);
        assert_eq!(first("{a: 1, b: x}").read::<BTreeMap<String, Option<String>>>().unwrap().len(), 2);
        let sizes = first("[0, 64MB, 1/2 GB, never]").read::<Ascending<Size>>().unwrap();
        assert_eq!(sizes.values().map(|sizes| sizes[1]), Some(67_108_864.0));
    }

    #[test]
    fn errors_point_at_the_innermost_node() {
        let text = "[1min, 2min, 3 bananas, 4min]";
        let error = first(text).read::<Ascending<Duration>>().unwrap_err();
        assert_eq!(&text[error.span.unwrap()], "3 bananas");
        let error = first("sever").read::<Severity>().unwrap_err();
        assert_eq!(error.help.as_deref(), Some("did you mean \"severe\"?"));
        let error = first("[4min, 3min, 2min, 1min]").read::<Ascending<Duration>>().unwrap_err();
        assert!(error.message.contains("must rise"), "{error}");
    }
}
