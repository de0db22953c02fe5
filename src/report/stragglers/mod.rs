//! The survey of stragglers as text, JSON and CSV.

mod csv;
mod json;
mod text;
mod words;

use std::io::{self, Write};

use super::TextOptions;
use crate::survey::{ApplicationStragglers, StragglerReport};

/// Which table a CSV file holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Table {
    /// A row for each straggler.
    Stragglers,
    /// A row for each detector.
    Detectors,
    /// A row for each application.
    Applications,
}

/// How much of the survey is shown.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Shown {
    /// Only so many applications, those that waited longest.
    pub applications: Option<usize>,
    /// Only so many stragglers of a group, the longest; text alone.
    pub stragglers: Option<usize>,
}

/// Writes the survey for people at a terminal.
///
/// # Errors
/// Whatever the writer says.
pub fn write_text(
    report: &StragglerReport,
    options: TextOptions,
    shown: Shown,
    out: &mut dyn Write,
) -> io::Result<()> {
    text::write(report, options, shown, out)
}

/// Writes the survey as JSON.
///
/// # Errors
/// Whatever the writer says.
pub fn write_json(report: &StragglerReport, shown: Shown, out: &mut dyn Write) -> io::Result<()> {
    json::write(report, shown, out)
}

/// Writes one table of the survey as CSV (RFC 4180).
///
/// # Errors
/// Whatever the writer says.
pub fn write_csv(
    report: &StragglerReport,
    table: Table,
    shown: Shown,
    out: &mut dyn Write,
) -> io::Result<()> {
    csv::write(report, table, shown, out)
}

fn applications(report: &StragglerReport, shown: Shown) -> &[ApplicationStragglers] {
    let most = shown.applications.unwrap_or(usize::MAX).min(report.applications.len());
    report.applications.get(..most).unwrap_or_default()
}
