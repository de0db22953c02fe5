//! Renderers of replays.

mod json;
mod text;
mod words;

use std::io::{self, Write};

use super::text::TextOptions;
use crate::whatif::{ApplicationReplays, WhatIfReport};

/// Writes the replays as text; only the first `top` applications if given.
///
/// # Errors
/// Returns the errors of the writer.
pub fn write_text(
    report: &WhatIfReport,
    options: TextOptions,
    top: Option<usize>,
    out: &mut dyn Write,
) -> io::Result<()> {
    text::write(report, options, top, out)
}

/// Writes the replays as JSON.
///
/// # Errors
/// Returns the errors of the writer.
pub fn write_json(report: &WhatIfReport, top: Option<usize>, out: &mut dyn Write) -> io::Result<()> {
    json::write(report, top, out)
}

/// The applications that are shown.
fn shown(report: &WhatIfReport, top: Option<usize>) -> &[ApplicationReplays] {
    let all = &report.applications;
    all.get(..top.unwrap_or(all.len()).min(all.len())).unwrap_or_default()
}
