//! Renderers, which turn a [`Report`] into bytes. They format values and compute nothing.

pub mod ascii;
mod brief;
mod comparison;
mod csv;
mod diff;
mod document;
mod envelope;
mod explanations;
#[cfg(feature = "store")]
pub mod export;
#[cfg(feature = "store")]
pub mod history;
#[cfg(feature = "html")]
mod html;
mod json;
mod junit;
mod markdown;
mod ndjson;
pub mod nodes;
mod openmetrics;
pub mod page;
mod parts;
mod pieces;
mod queries;
mod sarif;
pub mod simulate;
#[cfg(feature = "site")]
pub mod site;
pub mod stragglers;
mod text;
mod totals;
pub mod watch;
pub mod whatif;
mod words;
pub mod wrap;

use std::io::{self, Write};

use elephant_engine::results::Report;

pub use brief::{Brief, brief};
pub use comparison::words::{counted, missing_jobs, unjudged_summary};
pub use diff::{DiffFormat, write_diff};
pub use ndjson::json_of;
pub use pieces::PieceFormat;
pub use text::TextOptions;

/// The formats of a report on applications.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Format {
    /// For people at a terminal.
    Text,
    /// For scripts, one document.
    Json,
    /// For people in a browser, one self-contained file. Needs the feature `html`.
    #[cfg(feature = "html")]
    Html,
    /// For scripts, one application per line, without summary and problems.
    Ndjson,
    /// The same with an envelope: a first line about the run, a line for each problem, and a last line with the counts.
    NdjsonEnvelope,
    /// For spreadsheets, one row per finding.
    Csv,
    /// For spreadsheets, one row per query of Spark SQL. Needs [`elephant_engine::engine::Options::details`], or has only the
    /// queries that took longest.
    CsvQueries,
    /// For spreadsheets, one row per operator of such a query. Needs the details, too.
    CsvOperators,
    /// For comments on pull requests; at most 65,536 characters.
    Markdown,
    /// For code scanning: SARIF 2.1.0.
    Sarif,
    /// For the test reports of CI servers.
    Junit,
    /// For Prometheus and compatible servers: `OpenMetrics` 1.0 text.
    Openmetrics,
}

/// Writes the report in the given format. `options` apply to text only.
///
/// # Errors
/// Returns the errors of the writer.
pub fn write(report: &Report, format: Format, options: TextOptions, out: &mut dyn Write) -> io::Result<()> {
    match format {
        Format::Text => write_text(report, options, out),
        Format::Json => json::write(report, out),
        #[cfg(feature = "html")]
        Format::Html => html::write(report, out),
        Format::Ndjson => ndjson::write(report, out),
        Format::NdjsonEnvelope => envelope::write(report, out),
        Format::Csv => csv::write(report, out),
        Format::CsvQueries => csv::queries::Table::Queries.write(report, out),
        Format::CsvOperators => csv::queries::Table::Operators.write(report, out),
        Format::Markdown => markdown::write(report, out),
        Format::Sarif => sarif::write(report, out),
        Format::Junit => junit::write(report, out),
        Format::Openmetrics => openmetrics::write(report, out),
    }
}

/// Writes the report as JSON, with the keys of schema version 1.
///
/// # Errors
/// Returns the errors of the writer.
pub fn write_json(report: &Report, out: &mut dyn Write) -> io::Result<()> {
    json::write(report, out)
}

/// Writes the report as text.
///
/// # Errors
/// Returns the errors of the writer.
pub fn write_text(report: &Report, options: TextOptions, out: &mut dyn Write) -> io::Result<()> {
    if let Some(comparison) = &report.comparison {
        return comparison::write(report, comparison, options, out);
    }
    let options = options.usable();
    ascii::in_charset(options, out, |out| text::write(report, options, out))
}
