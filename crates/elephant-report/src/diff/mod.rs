//! Renders the differences of two sides as text, JSON, Markdown and HTML.

mod account;
mod document;
mod jobs;
mod json;
mod pair;
mod queries;
mod words;

use std::io::{self, Write};

use super::TextOptions;
use super::document::{html, markdown, text};
use elephant_engine::diff::Diff;

/// The formats of a report on differences.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum DiffFormat {
    /// For people at a terminal.
    Text,
    /// For scripts.
    Json,
    /// For comments on pull requests.
    Markdown,
    /// For people in a browser, one self-contained file.
    Html,
}

/// Writes the differences in the given format. `options` apply to text; their summary also to JSON, and
/// their number of jobs to all formats.
///
/// # Errors
/// Returns the errors of the writer.
pub fn write_diff(
    diff: &Diff,
    format: DiffFormat,
    options: TextOptions,
    out: &mut dyn Write,
) -> io::Result<()> {
    match format {
        DiffFormat::Text => text::write(&document::of(diff, options), options, out),
        DiffFormat::Json => json::write(diff, options, out),
        DiffFormat::Markdown => markdown::write(&document::of(diff, options), out),
        DiffFormat::Html => html::write(&document::of(diff, options), out),
    }
}
