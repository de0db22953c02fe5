//! Renderers of replays.

#[cfg(feature = "html")]
mod html;
mod json;
mod text;
mod words;

use std::io::{self, Write};

use super::ascii::in_charset;
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
    /// For people in a browser, one self-contained file. Needs the feature `html`.
    #[cfg(feature = "html")]
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
        WhatIfFormat::Text => {
            let options = options.usable();
            in_charset(options, out, |out| text::write(report, options, top, out))
        }
        WhatIfFormat::Json => json::write(report, top, out),
        #[cfg(feature = "html")]
        WhatIfFormat::Html => html::write(report, top, out),
    }
}

/// The applications that are shown.
fn shown(report: &WhatIfReport, top: Option<usize>) -> &[ApplicationReplays] {
    let all = &report.applications;
    all.get(..top.unwrap_or(all.len()).min(all.len())).unwrap_or_default()
}
