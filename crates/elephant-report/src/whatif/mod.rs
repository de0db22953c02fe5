//! Renderers of replays.

mod document;
mod effects;
mod jobs;
mod json;
mod memory;
mod replay;
mod scaling;
mod words;

use std::io::{self, Write};

use super::document::{html, text};
use super::text::TextOptions;
use elephant_engine::whatif::{ApplicationReplays, WhatIfReport};

/// The formats of a report on replays.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum WhatIfFormat {
    /// For people at a terminal.
    Text,
    /// For scripts.
    Json,
    /// For people in a browser, one self-contained file.
    Html,
}

/// Writes the replays; only the first `top` applications if given, in text and HTML jobs. `options` apply to text only.
///
/// # Errors
/// Returns the errors of the writer.
pub fn write(
    report: &WhatIfReport,
    format: WhatIfFormat,
    options: TextOptions,
    top: Option<usize>,
    out: &mut dyn Write,
) -> io::Result<()> {
    match format {
        WhatIfFormat::Text => text::write(&document::of(report, options, top), options, out),
        WhatIfFormat::Json => json::write(report, top, out),
        WhatIfFormat::Html => html::write(&document::of(report, options, top), out),
    }
}

/// The applications that are shown.
fn shown(report: &WhatIfReport, top: Option<usize>) -> &[ApplicationReplays] {
    let all = &report.applications;
    all.get(..top.unwrap_or(all.len()).min(all.len())).unwrap_or_default()
}
