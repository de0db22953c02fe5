//! Parses text to a syntax tree, by the grammar of the Common Expression Language (<https://cel.dev>).
//!
//! `lexer` splits the text into tokens, and `text` reads quoted ones. `grammar` (operators) and its `value`
//! (everything else) build the tree while `cursor` moves through the tokens. `mistakes` has the error
//! messages. The tree follows the plain grammar: macros such as `has` and `exists` stay calls.

mod cursor;
mod grammar;
mod lexer;
mod mistakes;
mod text;
mod token;

#[cfg(test)]
mod agreement;
#[cfg(test)]
mod tests;

use std::ops::Range;

use super::mistake::Mistake;

/// The maximum length of an expression in bytes.
const MAX_LENGTH: usize = 2000;

/// The maximum nesting of brackets and `? :`; the expression itself is the first level. The parser recurses
/// once per level.
const MAX_NESTING: usize = 32;

/// The maximum depth of a tree. Code that walks a tree recurses once per level; `a + b + c` has two levels
/// above its names.
const MAX_DEPTH: usize = 128;

/// Reserved words: they cannot name values or functions, but a field may have such a name.
const RESERVED: [&str; 17] = [
    "as",
    "break",
    "const",
    "continue",
    "else",
    "for",
    "function",
    "if",
    "import",
    "let",
    "loop",
    "package",
    "namespace",
    "return",
    "var",
    "void",
    "while",
];

/// A part of an expression's text, in bytes.
pub(super) type Span = Range<usize>;

/// A node of the syntax tree.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Expr {
    /// Its kind.
    pub(super) kind: Kind,
    /// Its text, without brackets around it.
    pub(super) span: Span,
    /// The part of its text that messages point at: an operator, the name of a function, or the whole text.
    pub(super) mark: Span,
    /// Its number of levels.
    depth: usize,
}

/// The kind of a node.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Kind {
    /// A number, a text, `true`, `false` or `null`.
    Literal(Literal),
    /// `name`; a leading dot belongs to the name.
    Name(String),
    /// `of.name`
    Field { of: Box<Expr>, name: String },
    /// `of[index]`
    Index(Box<[Expr; 2]>),
    /// `name(args)`; a leading dot belongs to the name.
    Call { name: String, args: Vec<Expr> },
    /// `of.name(args)`
    Method { of: Box<Expr>, name: String, args: Vec<Expr> },
    /// `!of` or `-of`
    Prefix(Prefix, Box<Expr>),
    /// `left + right` and other infix operators.
    Infix(Infix, Box<[Expr; 2]>),
    /// `condition ? one : other`
    Choice(Box<[Expr; 3]>),
    /// `[a, b]`
    List(Vec<Expr>),
    /// `{key: value}`
    Map(Vec<[Expr; 2]>),
    /// `Name{field: value}`
    Message { name: String, fields: Vec<(String, Expr)> },
}

/// A literal.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Literal {
    /// `true` or `false`
    Flag(bool),
    /// `5`, `-5` or `0x5`
    Int(i64),
    /// `5u`
    Uint(u64),
    /// `0.5`
    Double(f64),
    /// `"text"`
    Text(String),
    /// `b"bytes"`. Rules cannot use bytes, so they are not kept.
    Bytes,
    /// `null`
    Null,
}

/// An operator with one operand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Prefix {
    Not,
    Minus,
}

/// An operator with two operands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Infix {
    Or,
    And,
    Equal,
    NotEqual,
    Less,
    AtMost,
    Greater,
    AtLeast,
    In,
    Plus,
    Minus,
    Times,
    Over,
    Remainder,
}

/// Parses an expression.
///
/// # Errors
/// The first mistake in it.
pub(super) fn parse(source: &str) -> Result<Expr, Mistake> {
    if source.len() > MAX_LENGTH {
        return Err(mistakes::too_long(source.len()));
    }
    grammar::parse(source, &lexer::tokens(source))
}

/// Whether the language uses the word itself, so that no value can have this name.
pub(super) fn is_word(word: &str) -> bool {
    matches!(word, "true" | "false" | "null" | "in") || RESERVED.contains(&word)
}

impl Expr {
    /// A node with its parts.
    ///
    /// # Errors
    /// If the tree becomes too deep.
    fn new(kind: Kind, span: Span, mark: Span) -> Result<Self, Mistake> {
        let depth = 1 + kind.depth();
        if depth > MAX_DEPTH { Err(mistakes::too_deep(&mark)) } else { Ok(Self { kind, span, mark, depth }) }
    }
}

impl Kind {
    /// The depth of the deepest part.
    fn depth(&self) -> usize {
        let deepest = |parts: &[Expr]| parts.iter().map(|part| part.depth).max().unwrap_or(0);
        match self {
            Self::Literal(_) | Self::Name(_) => 0,
            Self::Field { of, .. } | Self::Prefix(_, of) => of.depth,
            Self::Index(parts) | Self::Infix(_, parts) => deepest(parts.as_slice()),
            Self::Choice(parts) => deepest(parts.as_slice()),
            Self::Call { args, .. } => deepest(args),
            Self::Method { of, args, .. } => of.depth.max(deepest(args)),
            Self::List(elements) => deepest(elements),
            Self::Map(entries) => entries.iter().map(|entry| deepest(entry)).max().unwrap_or(0),
            Self::Message { fields, .. } => fields.iter().map(|(_, value)| value.depth).max().unwrap_or(0),
        }
    }
}
