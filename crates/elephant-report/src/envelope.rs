//! NDJSON with an envelope, for programs that join the reports of many runs: a first line about the run, a line for each
//! application and each problem, and a last line with the counts. A report without its last line was cut off.

use std::io::{self, Write};

use serde::Serialize;

use super::comparison::{BaselineView, baseline};
use super::json::{
    ApplicationView, Each, ProblemView, SCHEMA_VERSION, SummaryView, SuppressionView, Tool, application,
    problem, summary, suppression, write_line,
};
use elephant_engine::engine::Pieces;
use elephant_engine::results::{ApplicationReport, Report, SuppressionUse};

/// A line with its type.
#[derive(Serialize)]
struct Line<T> {
    r#type: &'static str,
    #[serde(flatten)]
    content: T,
}

#[derive(Serialize)]
struct RunView<'a> {
    schema_version: u64,
    tool: Tool,
    rules_hash: &'a str,
}

#[derive(Serialize)]
struct EndView<'a> {
    summary: SummaryView<'a>,
    lines: LinesView,
    named_input_failed: bool,
    suppressions: Each<'a, SuppressionUse, SuppressionView<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    baseline: Option<BaselineView<'a>>,
}

/// The lines before the last one. There are fewer applications than in the summary if only the worst are shown.
#[derive(Serialize)]
struct LinesView {
    applications: u64,
    problems: u64,
}

pub(crate) fn write(report: &Report, out: &mut dyn Write) -> io::Result<()> {
    begin(report, out)?;
    report.applications.iter().try_for_each(|app| piece(app, out))?;
    end(report, report.applications.len() as u64, out)
}

/// Writes the report with all applications.
pub(super) fn write_pieces(report: &Report, mut pieces: Pieces, out: &mut dyn Write) -> io::Result<()> {
    begin(report, out)?;
    let mut applications = 0;
    pieces.each(|piece| {
        applications += 1;
        out.write_all(piece)
    })?;
    end(report, applications, out)
}

/// The line of one application.
pub(super) fn piece(app: &ApplicationReport, out: &mut dyn Write) -> io::Result<()> {
    write_line(&Line::<ApplicationView<'_>> { r#type: "application", content: application(app) }, out)
}

fn begin(report: &Report, out: &mut dyn Write) -> io::Result<()> {
    let run = RunView { schema_version: SCHEMA_VERSION, tool: Tool::THIS, rules_hash: &report.rules_hash };
    write_line(&Line { r#type: "run", content: run }, out)
}

fn end(report: &Report, applications: u64, out: &mut dyn Write) -> io::Result<()> {
    for told in &report.problems {
        write_line(&Line::<ProblemView<'_>> { r#type: "problem", content: problem(told) }, out)?;
    }
    let end = EndView {
        summary: summary(report),
        lines: LinesView { applications, problems: report.problems.len() as u64 },
        named_input_failed: report.named_input_failed,
        suppressions: Each(&report.suppressions, suppression),
        baseline: report.comparison.as_ref().map(baseline),
    };
    write_line(&Line { r#type: "end", content: end }, out)
}
