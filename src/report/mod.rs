//! Renderers: a [`Report`] in, bytes out. They show what is there and compute nothing.

mod cells;
mod html;
mod json;
pub mod nodes;
pub mod stragglers;
mod text;
pub(crate) mod wrap;

use std::io::{self, Write};

use crate::engine::Report;

pub use text::TextOptions;

/// The forms of a report on applications.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// For people at a terminal.
    Text,
    /// For scripts, one document.
    Json,
    /// For people in a browser, one file that needs no other.
    Html,
}

/// Writes the report in the given form; `options` are for text.
///
/// # Errors
/// Whatever the writer says.
pub fn write(report: &Report, format: Format, options: TextOptions, out: &mut dyn Write) -> io::Result<()> {
    match format {
        Format::Text => text::write(report, options, out),
        Format::Json => json::write(report, out),
        Format::Html => html::write(report, out),
    }
}

/// Writes the report as JSON, with the keys of schema version 1.
///
/// # Errors
/// Whatever the writer says.
pub fn write_json(report: &Report, out: &mut dyn Write) -> io::Result<()> {
    json::write(report, out)
}

/// Writes the report for people at a terminal.
///
/// # Errors
/// Whatever the writer says.
pub fn write_text(report: &Report, options: TextOptions, out: &mut dyn Write) -> io::Result<()> {
    text::write(report, options, out)
}
