//! Detects the format of a file from its first lines.

use super::{alibaba, csv, sadf, sar, tsar};

/// The format of a file, named after the tool that wrote it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Format {
    /// Comma-separated values with a header.
    Csv,
    /// Output of `sar`.
    Sar,
    /// Output of `sadf -d`.
    Sadf,
    /// Output of `tsar`.
    Tsar,
    /// Table `machine_usage` of Alibaba's trace of 2018.
    Alibaba,
    /// Response of Prometheus to a range query.
    Prometheus,
}

/// Some tools print a few lines before the first line that shows the format.
const LINES: usize = 20;

impl Format {
    /// The format of `text`; `None` if unknown.
    #[must_use]
    pub(crate) fn of(text: &str) -> Option<Self> {
        if text.trim_start().starts_with('{') {
            return Some(Self::Prometheus);
        }
        text.lines().map(str::trim).filter(|line| !line.is_empty()).take(LINES).find_map(Self::of_line)
    }

    /// The format that a line belongs to, if it shows one.
    fn of_line(line: &str) -> Option<Self> {
        if sadf::tells_format(line) {
            Some(Self::Sadf)
        } else if sar::tells_format(line) {
            Some(Self::Sar)
        } else if tsar::tells_format(line) {
            Some(Self::Tsar)
        } else if alibaba::tells_format(line) {
            Some(Self::Alibaba)
        } else {
            csv::tells_format(line).then_some(Self::Csv)
        }
    }
}
