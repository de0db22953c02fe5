//! Renderers of simulations.

mod chart;
mod csv;
mod figures;
mod history;
mod json;
mod svg;
mod text;

use std::io::{self, Write};

use super::text::TextOptions;
use elephant_lab::cluster::study::ClusterReport;
use elephant_lab::patterns::PatternsReport;

pub use history::write as write_history;

/// The formats of a report on a simulation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SimulationFormat {
    /// Tables for readers.
    Text,
    /// One JSON document.
    Json,
    /// Comma-separated values with a header.
    Csv,
    /// A chart.
    Svg,
}

/// Writes a simulation of a cluster. `options` apply to text only.
pub fn write_cluster(
    report: &ClusterReport,
    format: SimulationFormat,
    options: TextOptions,
    out: &mut dyn Write,
) -> io::Result<()> {
    match format {
        SimulationFormat::Text => crate::document::text::write(&text::cluster(report), options, out),
        SimulationFormat::Json => json::cluster(report, out),
        SimulationFormat::Csv => csv::cluster(report, out),
        SimulationFormat::Svg => figures::cluster(report, out),
    }
}

/// Writes a simulation of patterns. `options` apply to text only.
pub fn write_patterns(
    report: &PatternsReport,
    format: SimulationFormat,
    options: TextOptions,
    out: &mut dyn Write,
) -> io::Result<()> {
    match format {
        SimulationFormat::Text => crate::document::text::write(&text::patterns(report), options, out),
        SimulationFormat::Json => json::patterns(report, out),
        SimulationFormat::Csv => csv::patterns(report, out),
        SimulationFormat::Svg => figures::patterns(report, out),
    }
}
