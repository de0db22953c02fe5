//! SARIF 2.1.0 for code scanning: one run, the rules with their pages, and a result for each finding. Suppressed findings
//! are results with a suppression. Notifications list input that could not be read and rules that were not evaluated.

mod document;
mod notifications;
mod results;
mod uri;

use std::collections::BTreeMap;
use std::io::{self, Write};

use document::{Document, Driver, Invocation, Rule, Run, Tool};
use memchr::memmem;
use notifications::Missing;
use results::{Outcome, Results};

use super::json::{indented, write_pretty};
use super::parts::{Parts, Reader};
use elephant_engine::engine::Pieces;
use elephant_engine::results::{ApplicationReport, Comparison, Report};
use elephant_ruleset::RuleInfo;

/// GitHub rejects a run with more results. The worst applications come first, so they are kept.
const MAX_RESULTS: usize = 25_000;

pub(crate) fn write(report: &Report, out: &mut dyn Write) -> io::Result<()> {
    let rules = Rules::of(&report.rules);
    let piece = |app: &ApplicationReport| piece(app, &rules, report.comparison.as_ref());
    write_pieces(report, &mut Pieces::in_order(&report.applications, piece)?, out)
}

/// The indentation of a result.
const INDENT: &str = "        ";

/// One application: which results it has and which rules were not evaluated, then the results.
pub(super) fn piece(
    app: &ApplicationReport,
    rules: &Rules<'_>,
    comparison: Option<&Comparison>,
) -> io::Result<Vec<u8>> {
    let Results { found, suppressed } = Results::of(app, rules, comparison);
    let outcome = Outcome { id: app.id.clone(), found: found.len(), suppressed: suppressed.len() };
    let mut parts = Parts::with_head(&outcome)?;
    parts.add(&serde_json::to_vec(&notifications::missing(app))?);
    for result in found.iter().chain(&suppressed) {
        parts.add(&indented(result, INDENT)?);
    }
    Ok(parts.into_bytes())
}

/// Writes the report with all applications.
pub(super) fn write_pieces(report: &Report, pieces: &mut Pieces, out: &mut dyn Write) -> io::Result<()> {
    let rules = Rules::of(&report.rules);
    let driver = Driver {
        name: "elephant-rs",
        version: env!("CARGO_PKG_VERSION"),
        semantic_version: env!("CARGO_PKG_VERSION"),
        rules: report.rules.iter().map(Rule::of).collect(),
    };
    let (mut all, mut missing) = (0_usize, Missing::default());
    pieces.each(|piece| {
        let mut reader = Reader::new(piece);
        let Outcome { id, found, suppressed } = reader.head()?;
        all += found + suppressed;
        missing.add(&id, reader.head()?);
        Ok(())
    })?;
    let left_out = all.saturating_sub(MAX_RESULTS);
    let undecided = report.comparison.as_ref().is_some_and(|comparison| comparison.undecided);
    let invocation = Invocation {
        execution_successful: !report.named_input_failed && !undecided,
        tool_execution_notifications: notifications::all(report, &rules, left_out, missing),
    };
    let run = Run { tool: Tool { driver }, invocations: [invocation], results: [] };
    let mut document = Vec::new();
    write_pretty(&Document::of(run), &mut document)?;
    // The results come last.
    let empty = b"\"results\": [";
    let start = memmem::rfind(&document, empty).ok_or(io::ErrorKind::InvalidData)?;
    let (head, tail) = document.split_at_checked(start + empty.len()).ok_or(io::ErrorKind::InvalidData)?;
    out.write_all(head)?;
    write_results(pieces, out)?;
    out.write_all(if all > 0 { b"\n      " } else { b"" })?;
    out.write_all(tail)
}

/// Suppressed findings come last, so they are left out first if there are too many.
fn write_results(pieces: &mut Pieces, out: &mut dyn Write) -> io::Result<()> {
    let mut written = 0;
    for are_suppressed in [false, true] {
        pieces.each(|piece| {
            let mut reader = Reader::new(piece);
            let Outcome { found, suppressed, .. } = reader.head()?;
            reader.next_part()?;
            let (before, wanted) = if are_suppressed { (found, suppressed) } else { (0, found) };
            for _ in 0..before {
                reader.next_part()?;
            }
            for _ in 0..wanted.min(MAX_RESULTS - written) {
                out.write_all(if written > 0 { b",\n" } else { b"\n" })?;
                out.write_all(reader.next_part()?)?;
                written += 1;
            }
            Ok(())
        })?;
    }
    Ok(())
}

/// The index of each rule in the driver's list.
pub(super) struct Rules<'a>(BTreeMap<&'a str, usize>);

impl<'a> Rules<'a> {
    pub(super) fn of(rules: &'a [RuleInfo]) -> Self {
        Self(rules.iter().enumerate().map(|(index, rule)| (rule.id.as_ref(), index)).collect())
    }

    fn index(&self, rule: &str) -> Option<usize> {
        self.0.get(rule).copied()
    }
}
