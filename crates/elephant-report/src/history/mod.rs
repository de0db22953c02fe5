//! Renderers of answers from a store.

mod csv;
pub(crate) mod document;
pub(crate) mod json;
pub(crate) mod links;
pub(crate) mod nodes;
pub(crate) mod over_time;
pub(crate) mod unjudged;
pub(crate) mod words;

use std::io::{self, Write};

use super::text::TextOptions;
use crate::document::{markdown, text};
use elephant_store::Answer;

/// The formats of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HistoryFormat {
    /// For people at a terminal.
    Text,
    /// For scripts.
    Json,
    /// For a browser: one file.
    Html,
    /// For comments and wikis.
    Markdown,
    /// For spreadsheets: one line for each group or application, and in the overview for each of several things.
    Csv,
}

/// Writes an answer. Of `options`, only the summary applies to other formats than text.
pub fn write(
    answer: &Answer,
    format: HistoryFormat,
    options: TextOptions,
    out: &mut dyn Write,
) -> io::Result<()> {
    match format {
        HistoryFormat::Text => text::write(&document::of(answer, options.summary), options, out),
        HistoryFormat::Json => json::write(answer, options.summary, out),
        HistoryFormat::Html => crate::document::html::write(&document::of(answer, false), out),
        HistoryFormat::Markdown => markdown::write(&document::of(answer, options.summary), out),
        HistoryFormat::Csv => csv::write(answer, out),
    }
}

#[cfg(test)]
mod tests;
