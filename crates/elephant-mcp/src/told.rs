//! Texts from logs, and arguments: both have a longest length, which their schema states.

use std::borrow::Cow;
use std::fmt;

use elephant_report::wrap::clean;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};

/// A text that a log may have told: without characters that are not seen or that control what shows it, and cut so that it
/// has at most `MOST` bytes, also in JSON. It is data, whatever it says.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub(crate) struct Told<const MOST: usize>(String);

/// A name: of an application, a user, a stage, a setting.
pub(crate) type Name = Told<160>;
/// The value of a setting, or a part of a plan.
pub(crate) type Value = Told<240>;
/// A sentence, which may repeat names and messages.
pub(crate) type Sentence = Told<600>;
/// A line of advice, or what an answer lacks.
pub(crate) type Advice = Told<400>;

/// Marks that a text goes on.
const MORE: char = '…';

impl<const MOST: usize> Told<MOST> {
    pub(crate) fn of(text: &str) -> Self {
        // Cleaning a long text takes time.
        let start = beginning(text, MOST.saturating_add(1));
        let cleaned = clean(start);
        let whole = beginning(&cleaned, MOST);
        if whole.len() == cleaned.len() && start.len() == text.len() {
            return Self(cleaned);
        }
        let mut kept = beginning(&cleaned, MOST.saturating_sub(MORE.len_utf8())).to_owned();
        kept.push(MORE);
        Self(kept)
    }

    /// The text as it is; `None` if it would be changed or cut.
    pub(crate) fn whole(text: &str) -> Option<Self> {
        Some(Self::of(text)).filter(|told| told.as_str() == text)
    }

    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }
}

/// As much of the beginning as has so many bytes in JSON.
fn beginning(text: &str, most: usize) -> &str {
    let mut size = 0;
    let mut ends = text.char_indices().map(|(start, c)| {
        size += c.len_utf8() + usize::from(matches!(c, '"' | '\\'));
        (start, size)
    });
    let end = ends.find(|&(_, size)| size > most).map_or(text.len(), |(start, _)| start);
    text.get(..end).unwrap_or_default()
}

impl<const MOST: usize> fmt::Display for Told<MOST> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl<const MOST: usize> From<&str> for Told<MOST> {
    fn from(text: &str) -> Self {
        Self::of(text)
    }
}

impl<const MOST: usize> From<&String> for Told<MOST> {
    fn from(text: &String) -> Self {
        Self::of(text)
    }
}

impl<'de, const MOST: usize> Deserialize<'de> for Told<MOST> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Self::of(&Cow::<str>::deserialize(deserializer)?))
    }
}

impl<const MOST: usize> JsonSchema for Told<MOST> {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        format!("Told{MOST}").into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "maxLength": MOST })
    }
}

/// A text of the agent, of at most `MOST` bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Argument<const MOST: usize>(String);

/// An id, a name or a pattern.
pub(crate) type Word = Argument<1000>;

impl<const MOST: usize> Argument<MOST> {
    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }
}

impl<'de, const MOST: usize> Deserialize<'de> for Argument<MOST> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        if text.is_empty() || text.len() > MOST {
            return Err(D::Error::custom(format!("a text has 1 to {MOST} bytes here")));
        }
        Ok(Self(text))
    }
}

impl<const MOST: usize> JsonSchema for Argument<MOST> {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        format!("Argument{MOST}").into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "minLength": 1, "maxLength": MOST })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_of_logs_are_cleaned_and_cut_between_characters() {
        assert_eq!(Name::of("a\u{1b}[31m\nb\u{202e}c\u{200b}").as_str(), "a [31m b c ");
        for unit in ["x", "é", "☃", "🐘", "\u{200b}", "::", "\"", "\\n"] {
            let told = Name::of(&unit.repeat(10_000));
            let json = serde_json::to_string(&told).unwrap().len() - 2;
            assert!(json <= 160 && told.as_str().ends_with('…'), "{told}");
            assert!(json > 150 || unit == "\u{200b}", "{told}");
        }
        assert_eq!(Name::of(&"x".repeat(160)).as_str().len(), 160);
        assert!(Name::of(&"x".repeat(161)).as_str().ends_with('…'));
        assert_eq!(Name::of("").as_str(), "");
    }

    #[test]
    fn arguments_have_a_longest_length() {
        let read = |text: &str| {
            serde_json::from_value::<Argument<3>>(text.into()).map_err(|error| format!("{error}"))
        };
        assert_eq!(read("abc").map(|read| read.0), Ok("abc".to_owned()));
        for bad in ["", "abcd", "éé"] {
            assert_eq!(read(bad), Err("a text has 1 to 3 bytes here".to_owned()));
        }
    }
}
