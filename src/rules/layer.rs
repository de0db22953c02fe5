//! One document of a rule file: where it stands, what rule it is about, and its errors with their place.

use std::fmt;

use serde::de::{self, DeserializeOwned, Visitor};
use serde::{Deserialize, Deserializer};
use thiserror::Error;

/// A YAML document about one rule.
#[derive(Debug, Clone, Copy)]
pub struct Layer<'a> {
    /// The file's name, or what stands for it.
    pub source: &'a str,
    /// The whole text of the file.
    pub text: &'a str,
    /// Which document of the file, counted from 0.
    pub index: usize,
}

/// A rule file that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{}{}: {message}", source_name, place(*line, *column))]
pub struct LayerError {
    /// The file's name.
    pub source_name: String,
    /// The line, counted from 1.
    pub line: Option<usize>,
    /// The column, counted from 1.
    pub column: Option<usize>,
    /// What is wrong, and what was expected.
    pub message: String,
}

fn place(line: Option<usize>, column: Option<usize>) -> String {
    match (line, column) {
        (Some(line), Some(column)) => format!(":{line}:{column}"),
        _ => String::new(),
    }
}

impl LayerError {
    pub(crate) fn no_layers() -> Self {
        Self {
            source_name: "built-in rules".into(),
            line: None,
            column: None,
            message: "no parameters".into(),
        }
    }
}

/// What every document of a rule file has.
#[derive(Debug, Deserialize)]
#[serde(expecting = "a document about one rule, with \"rule: <id>\" in front")]
struct Head {
    rule: RuleId,
}

/// The id of a rule that exists. Checked while it is read, so that errors carry line and column.
#[derive(Debug)]
struct RuleId(String);

impl<'de> Deserialize<'de> for RuleId {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Known;
        impl Visitor<'_> for Known {
            type Value = RuleId;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("the id of a rule")
            }
            fn visit_str<E: de::Error>(self, id: &str) -> Result<RuleId, E> {
                let known = super::known_ids().any(|known| known == id);
                if known { Ok(RuleId(id.to_owned())) } else { Err(E::custom(super::unknown_rule(id))) }
            }
        }
        deserializer.deserialize_str(Known)
    }
}

/// Lists within lists beyond this depth are refused: no parameter nests deeper than two.
const MAX_DEPTH: usize = 64;

impl<'a> Layer<'a> {
    /// The documents of a file, each with the id of its rule; empty documents are left out.
    pub(crate) fn split(source: &'a str, text: &'a str) -> Result<Vec<(String, Self)>, LayerError> {
        let mut layers = Vec::new();
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let whole = Self { source, text, index: 0 };
        if text.split(']').any(|part| part.matches('[').count() > MAX_DEPTH) {
            return Err(whole.problem("lists are nested too deeply"));
        }
        for (index, document) in serde_yaml::Deserializer::from_str(text).enumerate() {
            let layer = Self { source, text, index };
            let head = Option::<Head>::deserialize(document).map_err(|error| layer.head_error(&error))?;
            let Some(head) = head else { continue };
            layers.push((head.rule.0, layer));
        }
        Ok(layers)
    }

    /// Reads the document.
    pub(crate) fn read<T: DeserializeOwned>(&self) -> Result<T, LayerError> {
        let document = serde_yaml::Deserializer::from_str(self.text).nth(self.index);
        let document = document.ok_or_else(|| self.problem("the document is gone"))?;
        T::deserialize(document).map_err(|error| self.error(&error))
    }

    fn head_error(&self, error: &serde_yaml::Error) -> LayerError {
        let mut error = self.error(error);
        if error.message.starts_with("missing field") {
            "which rule is this about? Start with \"rule: <id>\"; `elephant-rs rules list` names them all"
                .clone_into(&mut error.message);
        }
        error
    }

    pub(crate) fn error(&self, error: &serde_yaml::Error) -> LayerError {
        let location = error.location();
        let message = error.to_string();
        // The location is printed in front, in the form that editors and terminals make clickable.
        let message = match message.rfind(" at line ") {
            Some(at) if location.is_some() => message.get(..at).unwrap_or_default().to_owned(),
            _ => message,
        };
        LayerError {
            source_name: self.source.to_owned(),
            line: location.as_ref().map(serde_yaml::Location::line),
            column: location.as_ref().map(serde_yaml::Location::column),
            message,
        }
    }

    pub(crate) fn problem(&self, message: &str) -> LayerError {
        LayerError {
            source_name: self.source.to_owned(),
            line: None,
            column: None,
            message: message.to_owned(),
        }
    }
}
