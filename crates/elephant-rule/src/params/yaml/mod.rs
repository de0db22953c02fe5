//! The YAML of rule files as a tree with positions.
//!
//! Rule files are read in two steps, so that one run reports all problems with their positions. This module
//! parses the text into a tree; then each part of the tree is read separately into a typed value
//! ([`Node::read`]).

mod mistakes;
mod read;
mod syntax_error;
mod tree;
mod unquoted;

use std::ops::Range;

use serde::de::DeserializeOwned;

pub use read::ReadError;
pub use syntax_error::SyntaxError;
pub use tree::{documents, too_deep};

/// A range of a text, in bytes.
pub type Span = Range<usize>;

/// A value and its position.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Spanned<T> {
    /// The value.
    pub value: T,
    /// Its position.
    pub span: Span,
}

/// A part of a YAML document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Node {
    /// Its position, without the text after it.
    pub span: Span,
    /// Its content.
    pub kind: Kind,
}

/// The content of a [`Node`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Kind {
    /// A word, a number or a longer text.
    Scalar {
        /// The text without quotes, with lines folded as its style demands.
        text: String,
        /// Whether it is unquoted, so that `true` and `3` are not texts.
        plain: bool,
    },
    /// A list.
    List(Vec<Node>),
    /// Keys and values in file order. Each key occurs once.
    Map(Vec<(Spanned<String>, Node)>),
}

impl Node {
    /// Reads the node as a typed value.
    ///
    /// # Errors
    /// If the value has another type; positioned at the innermost node that does not fit.
    pub fn read<T: DeserializeOwned>(&self) -> Result<T, ReadError> {
        T::deserialize(self)
    }

    /// The text of a scalar.
    #[must_use]
    pub fn as_text(&self) -> Option<&str> {
        match &self.kind {
            Kind::Scalar { text, .. } => Some(text),
            Kind::List(_) | Kind::Map(_) => None,
        }
    }

    /// The kind of the node, for messages.
    #[must_use]
    pub const fn what(&self) -> &'static str {
        match &self.kind {
            Kind::Scalar { .. } => "a value",
            Kind::List(_) => "a list",
            Kind::Map(_) => "a mapping",
        }
    }
}

/// The text, the message and the help of the first error.
#[cfg(test)]
fn first_error(text: &str) -> Option<(String, String, String)> {
    let error = documents(text).1.into_iter().next()?;
    Some((text[error.span].to_owned(), error.message, error.help.unwrap_or_default()))
}
