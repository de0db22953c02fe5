//! Renderers of answers from a store.

mod csv;
#[cfg(feature = "html")]
mod html;
mod json;
mod markdown;
mod nodes;
mod text;
mod words;

use std::io::{self, Write};

use super::ascii::in_charset;
use super::text::TextOptions;
use elephant_store::Answer;

/// The formats of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HistoryFormat {
    /// For people at a terminal.
    Text,
    /// For scripts.
    Json,
    /// For a browser: one file.
    #[cfg(feature = "html")]
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
        HistoryFormat::Text => {
            let options = options.usable();
            in_charset(options, out, |out| text::write(answer, options, out))
        }
        HistoryFormat::Json => json::write(answer, options.summary, out),
        #[cfg(feature = "html")]
        HistoryFormat::Html => html::write(answer, out),
        HistoryFormat::Markdown => markdown::write(answer, options.summary, out),
        HistoryFormat::Csv => csv::write(answer, out),
    }
}

#[cfg(test)]
mod tests;
