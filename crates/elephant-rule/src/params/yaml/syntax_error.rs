//! An error in the syntax of a rule file.

use super::Span;

/// Text that is not YAML, or that is larger than any rule file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SyntaxError {
    /// The position of the error.
    pub span: Span,
    /// The problem.
    pub message: String,
    /// What to write instead.
    pub help: Option<String>,
}

/// What to write instead of a text that needs quotes.
pub(super) fn in_quotes(expression: &str) -> String {
    format!("write '{}'", expression.replace('\'', "''"))
}

/// The start of the line with byte `at`.
pub(super) fn line_start(text: &str, at: usize) -> Option<usize> {
    Some(text.get(..at)?.rfind('\n').map_or(0, |line| line + 1))
}
