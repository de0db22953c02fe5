//! Renders the survey of stragglers as text, JSON, CSV and HTML.

mod application;
mod causes;
mod csv;
mod detectors;
mod distributions;
mod document;
mod jobs;
mod json;
mod sentences;
mod tables;
mod words;

use std::io::{self, Write};

use super::TextOptions;
use super::document::{html, text};
use elephant_engine::survey::{ApplicationStragglers, StragglerReport};

/// The table of a CSV report.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Table {
    /// One row per straggler.
    Stragglers,
    /// One row per detector.
    Detectors,
    /// One row per application.
    Applications,
}

/// Limits on the parts of the survey that are shown.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Shown {
    /// Maximum number of applications (in text and HTML, of jobs): those that waited longest.
    pub applications: Option<usize>,
    /// Maximum number of stragglers per group: the longest. Used for text and HTML.
    pub stragglers: Option<usize>,
}

/// Writes the survey as text.
///
/// # Errors
/// Returns the errors of the writer.
pub fn write_text(
    report: &StragglerReport,
    options: TextOptions,
    shown: Shown,
    out: &mut dyn Write,
) -> io::Result<()> {
    text::write(&document::of(report, options, shown), options, out)
}

/// Writes the survey as JSON.
///
/// # Errors
/// Returns the errors of the writer.
pub fn write_json(report: &StragglerReport, shown: Shown, out: &mut dyn Write) -> io::Result<()> {
    json::write(report, shown, out)
}

/// Writes the survey as one self-contained HTML file.
///
/// # Errors
/// Returns the errors of the writer.
pub fn write_html(report: &StragglerReport, shown: Shown, out: &mut dyn Write) -> io::Result<()> {
    html::write(&document::of(report, TextOptions::default(), shown), out)
}

/// Writes one table of the survey as CSV (RFC 4180).
///
/// # Errors
/// Returns the errors of the writer.
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
