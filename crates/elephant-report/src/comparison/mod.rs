//! Renders the comparison of a report with a baseline.

mod document;
mod json;
pub(super) mod words;

use std::io::{self, Write};

use crate::TextOptions;
use crate::document::{markdown, text};
use elephant_engine::results::{Comparison, Report};

pub(super) use json::{BaselineView, baseline};

/// Writes the comparison as text.
pub(crate) fn write(
    report: &Report,
    comparison: &Comparison,
    options: TextOptions,
    out: &mut dyn Write,
) -> io::Result<()> {
    text::write(&document::in_text(report, comparison), options, out)
}

/// The comparison as Markdown, at the top of a comment.
pub(crate) fn section(comparison: &Comparison) -> io::Result<String> {
    let mut out = Vec::new();
    markdown::write(&document::in_comment(comparison), &mut out)?;
    Ok(String::from_utf8_lossy(&out).into_owned() + "\n")
}
