//! The tokens that the text of an expression is split into.

use super::super::mistake::Mistake;
use super::Span;

/// A token and its position.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Token<'s> {
    pub(super) kind: TokenKind<'s>,
    pub(super) span: Span,
}

/// The kind of a token.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum TokenKind<'s> {
    /// A name, or a reserved word.
    Name(&'s str),
    /// `true`, `false` or `null`.
    Constant(&'s str),
    /// `5` or `0x5`
    Int(&'s str),
    /// `5u`, without the `u`.
    Uint(&'s str),
    /// `0.5`
    Double(&'s str),
    /// A text in quotes, decoded.
    Text(String),
    /// Bytes in quotes.
    Bytes,
    /// An operator, a bracket or a comma. `in` is one of them.
    Sign(&'s str),
    /// The end of the expression.
    End,
    /// Text that is not a token. It is always the last one.
    Unreadable(Mistake),
}
