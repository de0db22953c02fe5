//! Which tool wrote a file, by its first lines.

use super::{csv, sadf, sar, tsar};

/// The tool that wrote a file, or the form that it has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// Comma-separated values with a header.
    Csv,
    /// The text that `sar` prints.
    Sar,
    /// The records that `sadf -d` prints.
    Sadf,
    /// The text that `tsar` prints.
    Tsar,
    /// The answer of Prometheus to a range query.
    Prometheus,
}

/// Some tools print a few lines of their own before the first that tells the format.
const LINES: usize = 20;

impl Format {
    /// The format of `text`, `None` where it is none of them.
    #[must_use]
    pub fn of(text: &str) -> Option<Self> {
        if text.trim_start().starts_with('{') {
            return Some(Self::Prometheus);
        }
        text.lines().map(str::trim).filter(|line| !line.is_empty()).take(LINES).find_map(|line| {
            let tests: [(Self, fn(&str) -> bool); 4] = [
                (Self::Sadf, sadf::tells_format),
                (Self::Sar, sar::tells_format),
                (Self::Tsar, tsar::tells_format),
                (Self::Csv, csv::tells_format),
            ];
            tests.into_iter().find(|(_, tells)| tells(line)).map(|(format, _)| format)
        })
    }
}
