//! Renderers of the node ranking.

mod boxes;
mod csv;
mod days;
mod document;
mod json;
mod tables;
mod words;

use std::io::{self, Write};

use super::document::{html, text};
use super::text::TextOptions;
use elephant_engine::nodes::NodesReport;
use elephant_engine::nodes::indicators::Node;

/// Writes the ranking as text; only the first `top` nodes if given.
///
/// # Errors
/// Returns the errors of the writer.
pub fn write_text(
    report: &NodesReport,
    options: TextOptions,
    top: Option<usize>,
    out: &mut dyn Write,
) -> io::Result<()> {
    text::write(&document::of(report, top, options.summary), options, out)
}

/// Writes the ranking as JSON, with all fits and days.
///
/// # Errors
/// Returns the errors of the writer.
pub fn write_json(report: &NodesReport, top: Option<usize>, out: &mut dyn Write) -> io::Result<()> {
    json::write(report, top, out)
}

/// Writes the ranking as CSV (RFC 4180), one row per node, without fits and days.
///
/// # Errors
/// Returns the errors of the writer.
pub fn write_csv(report: &NodesReport, top: Option<usize>, out: &mut dyn Write) -> io::Result<()> {
    super::document::csv::write(&csv::COLUMNS, shown(report, top), out)
}

/// Writes the ranking as one self-contained HTML file.
///
/// # Errors
/// Returns the errors of the writer.
pub fn write_html(report: &NodesReport, top: Option<usize>, out: &mut dyn Write) -> io::Result<()> {
    html::write(&document::of(report, top, false), out)
}

/// Writes the file for YARN's `yarn.resourcemanager.nodes.exclude-path`: the host names of failed nodes, and of
/// stragglers in several applications, sorted, one per line.
///
/// # Errors
/// Returns the errors of the writer.
pub fn write_exclude_list(report: &NodesReport, out: &mut dyn Write) -> io::Result<()> {
    let excluded = report.ranking.nodes.iter().filter(|node| node.to_exclude);
    // Skip names that cannot be host names: with blanks or line breaks, they could exclude other hosts.
    let hosts = excluded.map(|node| &*node.name).filter(|name| is_host_name(name));
    let mut hosts: Vec<&str> = hosts.collect();
    hosts.sort_unstable();
    hosts.iter().try_for_each(|host| writeln!(out, "{host}"))
}

fn is_host_name(name: &str) -> bool {
    let allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_' | ':' | '[' | ']');
    !name.is_empty() && name.chars().all(allowed)
}

/// The nodes that are shown.
fn shown(report: &NodesReport, top: Option<usize>) -> &[Node] {
    let nodes = &report.ranking.nodes;
    nodes.get(..top.unwrap_or(nodes.len()).min(nodes.len())).unwrap_or_default()
}
