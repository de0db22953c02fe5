//! A cursor over the tokens of an expression.

mod expected;

use super::super::mistake::Mistake;
use super::Span;
use super::token::{Token, TokenKind};

/// A position between two tokens.
pub(super) struct Cursor<'s> {
    source: &'s str,
    tokens: &'s [Token<'s>],
    /// The index of the next token.
    at: usize,
    /// How many brackets and choices are open.
    pub(super) nesting: usize,
}

impl<'s> Cursor<'s> {
    /// A cursor at the start of `tokens`, the tokens of `source`.
    pub(super) fn new(source: &'s str, tokens: &'s [Token<'s>]) -> Self {
        Self { source, tokens, at: 0, nesting: 0 }
    }

    /// The kind of the next token.
    pub(super) fn kind(&self) -> &'s TokenKind<'s> {
        self.kind_after(0)
    }

    /// The kind of the token this many places ahead.
    pub(super) fn kind_after(&self, places: usize) -> &'s TokenKind<'s> {
        self.tokens.get(self.at + places).map_or(&TokenKind::End, |token| &token.kind)
    }

    /// The position of the next token.
    pub(super) fn span(&self) -> Span {
        let end = self.source.len();
        self.tokens.get(self.at).map_or(end..end, |token| token.span.clone())
    }

    /// The last consumed token.
    pub(super) fn last(&self) -> Option<&'s Token<'s>> {
        self.tokens.get(self.at.checked_sub(1)?)
    }

    /// Whether the token before the last one is a number.
    pub(super) fn is_after_number(&self) -> bool {
        let token = self.at.checked_sub(2).and_then(|at| self.tokens.get(at));
        token.is_some_and(|token| matches!(token.kind, TokenKind::Int(_) | TokenKind::Double(_)))
    }

    /// The text from `start` to the end of the last token.
    pub(super) fn since(&self, start: usize) -> Span {
        start..self.last().map_or(start, |token| token.span.end)
    }

    /// The source text of a span.
    pub(super) fn text_of(&self, span: &Span) -> &'s str {
        self.source.get(span.clone()).unwrap_or_default()
    }

    /// The source text of the last token.
    pub(super) fn text_of_last(&self) -> Option<&'s str> {
        self.last().map(|token| self.text_of(&token.span))
    }

    /// The source text of the last `count` tokens, without spaces and comments between them.
    pub(super) fn joined(&self, count: usize) -> String {
        let tokens = self.tokens.get(self.at.saturating_sub(count)..self.at).unwrap_or_default();
        tokens.iter().map(|token| self.text_of(&token.span)).collect()
    }

    /// Whether an operator or a bracket is next.
    pub(super) fn is(&self, sign: &str) -> bool {
        matches!(self.kind(), TokenKind::Sign(next) if *next == sign)
    }

    /// Consumes the next token and returns its position.
    pub(super) fn next(&mut self) -> Span {
        let span = self.span();
        self.at += 1;
        span
    }

    /// Consumes the next `count` tokens.
    pub(super) fn skip(&mut self, count: usize) {
        self.at += count;
    }

    /// Consumes an operator or a bracket, if it is next.
    pub(super) fn take(&mut self, sign: &str) -> Option<Span> {
        self.is(sign).then(|| self.next())
    }

    /// Consumes an operator or a bracket.
    ///
    /// # Errors
    /// If it is not next; the message says that `expected` was expected.
    pub(super) fn expect(&mut self, sign: &str, expected: &str) -> Result<Span, Mistake> {
        self.take(sign).ok_or_else(|| self.no_operator(expected))
    }
}
