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
        text.lines().map(str::trim).filter(|line| !line.is_empty()).take(LINES).find_map(Self::told_by)
    }

    /// The format that a line tells of.
    fn told_by(line: &str) -> Option<Self> {
        if sadf::tells_format(line) {
            Some(Self::Sadf)
        } else if sar::tells_format(line) {
            Some(Self::Sar)
        } else if tsar::tells_format(line) {
            Some(Self::Tsar)
        } else {
            csv::tells_format(line).then_some(Self::Csv)
        }
    }
}
