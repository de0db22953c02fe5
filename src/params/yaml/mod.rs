//! The YAML of rule files as a tree that knows where each part stands.
//!
//! Rule files are read in two steps, so that one run tells all that is wrong with them, each with its place: text into
//! a tree, here, and the parts of the tree into typed values ([`Node::read`]), each part on its own.

mod read;
mod tree;

use std::ops::Range;

use serde::de::DeserializeOwned;

pub use read::ReadError;
pub use tree::{SyntaxError, documents};

/// A part of a text, in bytes.
pub type Span = Range<usize>;

/// A value and where it stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Spanned<T> {
    /// The value.
    pub value: T,
    /// Where it stands.
    pub span: Span,
}

/// A part of a YAML document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Node {
    /// Where it stands, without what follows it.
    pub span: Span,
    /// What it is.
    pub kind: Kind,
}

/// What a [`Node`] is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Kind {
    /// A word, a number, or a longer text.
    Scalar {
        /// The text without quotes, lines folded as its style says.
        text: String,
        /// Whether it was written without quotes, so that `true` and `3` are no texts.
        plain: bool,
    },
    /// A list.
    List(Vec<Node>),
    /// Keys and values in the order of the file. A key stands once.
    Map(Vec<(Spanned<String>, Node)>),
}

impl Node {
    /// Reads the node as a typed value.
    ///
    /// # Errors
    /// What was expected, at the innermost node that does not fit.
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

    /// What the node is, for messages.
    #[must_use]
    pub const fn what(&self) -> &'static str {
        match &self.kind {
            Kind::Scalar { .. } => "a value",
            Kind::List(_) => "a list",
            Kind::Map(_) => "a mapping",
        }
    }
}
