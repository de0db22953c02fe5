//! Two sides beside each other, as text, JSON and Markdown.

mod json;
mod markdown;
mod text;
mod words;

use std::io::{self, Write};

use super::TextOptions;
use crate::diff::Diff;

/// The forms of a report on differences.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DiffFormat {
    /// For people at a terminal.
    Text,
    /// For scripts.
    Json,
    /// For comments on pull requests.
    Markdown,
}

/// Writes the differences in the given form; `options` are for text.
///
/// # Errors
/// Whatever the writer says.
pub fn write_diff(
    diff: &Diff,
    format: DiffFormat,
    options: TextOptions,
    out: &mut dyn Write,
) -> io::Result<()> {
    match format {
        DiffFormat::Text => text::write(diff, options, out),
        DiffFormat::Json => json::write(diff, out),
        DiffFormat::Markdown => markdown::write(diff, out),
    }
}
