//! Renderers of the node ranking.

mod chart;
mod csv;
mod json;
mod text;

use std::io::{self, Write};

use super::text::TextOptions;
use crate::nodes::NodesReport;
use crate::nodes::indicators::Node;

/// Writes the ranking for people at a terminal; only the first `top` nodes where that is given.
///
/// # Errors
/// Whatever the writer says.
pub fn write_text(
    report: &NodesReport,
    options: TextOptions,
    top: Option<usize>,
    out: &mut dyn Write,
) -> io::Result<()> {
    text::write(report, options, top, out)
}

/// Writes the ranking with all fits and days as JSON.
///
/// # Errors
/// Whatever the writer says.
pub fn write_json(report: &NodesReport, top: Option<usize>, out: &mut dyn Write) -> io::Result<()> {
    json::write(report, top, out)
}

/// Writes a row for each node as CSV (RFC 4180), without fits and days.
///
/// # Errors
/// Whatever the writer says.
pub fn write_csv(report: &NodesReport, top: Option<usize>, out: &mut dyn Write) -> io::Result<()> {
    csv::write(report, top, out)
}

/// Writes the file that YARN's `yarn.resourcemanager.nodes.exclude-path` names: the host of each node that is called a
/// straggler, one a line, by name, and nothing else.
///
/// # Errors
/// Whatever the writer says.
pub fn write_exclude_list(report: &NodesReport, out: &mut dyn Write) -> io::Result<()> {
    let stragglers = report.ranking.nodes.iter().filter(|node| node.is_straggler());
    // A host's name has no blanks or control characters: what has some cannot be meant, and could name others.
    let hosts = stragglers.map(|node| &*node.name).filter(|name| is_host(name));
    let mut hosts: Vec<&str> = hosts.collect();
    hosts.sort_unstable();
    hosts.iter().try_for_each(|host| writeln!(out, "{host}"))
}

fn is_host(name: &str) -> bool {
    let allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_' | ':' | '[' | ']');
    !name.is_empty() && name.chars().all(allowed)
}

/// The nodes that are shown.
fn shown(report: &NodesReport, top: Option<usize>) -> &[Node] {
    let nodes = &report.ranking.nodes;
    nodes.get(..top.unwrap_or(nodes.len()).min(nodes.len())).unwrap_or_default()
}
