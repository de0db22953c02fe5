//! What an expression's text is split into.

use super::super::mistake::Mistake;
use super::Span;

/// A token and where it stands.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Token<'s> {
    pub(super) kind: TokenKind<'s>,
    pub(super) span: Span,
}

/// What a token is.
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
    /// The expression ends here.
    End,
    /// No token starts here. It is the last one.
    Unreadable(Mistake),
}
