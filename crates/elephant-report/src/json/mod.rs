//! The JSON report, schema version 1. The ending of a key names the unit of its number, unknown values are `null`, and
//! times are RFC 3339 in UTC.

mod account;
mod application;
mod details;
mod each;
mod explanations;
mod finding;
mod metrics;
mod queries;
mod savings;
mod troubles;
mod writer;

use std::io::{self, Write};

use memchr::memmem;
use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};

use elephant_base::severity::Severity;
use elephant_engine::engine::Pieces;
use elephant_engine::results::{ApplicationReport, Report, SourceProblem, Summary, SuppressionUse};
use elephant_parse::Position;

pub(super) use application::{ApplicationView, application};
pub(super) use each::Each;
pub(super) use finding::{MeasureView, Number, advice, evidence, thresholds};
pub(super) use savings::{AmountsView, amounts};
use savings::{SumsView, sums};
pub(super) use writer::{write_line, write_pretty};

pub(crate) fn write(report: &Report, out: &mut dyn Write) -> io::Result<()> {
    write_pretty(&Document(report), out)
}

/// One application, indented as in the report.
pub(super) fn piece(app: &ApplicationReport) -> io::Result<Vec<u8>> {
    indented(&application(app), INDENT)
}

/// A value on many lines, each after `indent`.
pub(super) fn indented(value: &impl Serialize, indent: &str) -> io::Result<Vec<u8>> {
    let mut whole = Vec::new();
    write_pretty(value, &mut whole)?;
    let mut piece = Vec::with_capacity(whole.len() + whole.len() / 4);
    // Line feeds inside of strings are escaped.
    for (place, line) in whole.trim_ascii_end().split(|&byte| byte == b'\n').enumerate() {
        if place > 0 {
            piece.push(b'\n');
        }
        piece.extend_from_slice(indent.as_bytes());
        piece.extend_from_slice(line);
    }
    Ok(piece)
}

/// The indentation of an application.
const INDENT: &str = "    ";

/// Writes the report with all applications.
pub(super) fn write_pieces(report: &Report, mut pieces: Pieces, out: &mut dyn Write) -> io::Result<()> {
    let mut document = Vec::new();
    write(report, &mut document)?;
    // The only text before the applications that an input can change is a number.
    let empty = b"\n  \"applications\": [";
    let start = memmem::find(&document, empty).ok_or(io::ErrorKind::InvalidData)?;
    let (head, tail) = document.split_at_checked(start + empty.len()).ok_or(io::ErrorKind::InvalidData)?;
    out.write_all(head)?;
    let mut any = false;
    pieces.each(|piece| {
        out.write_all(if any { b",\n" } else { b"\n" })?;
        any = true;
        out.write_all(piece)
    })?;
    out.write_all(if any { b"\n  " } else { b"" })?;
    out.write_all(tail)
}

/// The version of the keys. It grows when a key changes its meaning or goes away.
pub(super) const SCHEMA_VERSION: u64 = 1;

struct Document<'a>(&'a Report);

/// The name and version of this program in reports.
#[derive(Serialize)]
pub(super) struct Tool {
    name: &'static str,
    version: &'static str,
}

impl Tool {
    pub(super) const THIS: Self = Self { name: "elephant-rs", version: env!("CARGO_PKG_VERSION") };
}

impl Serialize for Document<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self(report) = self;
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("schema_version", &SCHEMA_VERSION)?;
        map.serialize_entry("tool", &Tool::THIS)?;
        map.serialize_entry("summary", &summary(report))?;
        map.serialize_entry("applications", &Each(&report.applications, application))?;
        map.serialize_entry("problems", &Each(&report.problems, problem))?;
        if !report.suppressions.is_empty() {
            map.serialize_entry("suppressions", &Each(&report.suppressions, suppression))?;
        }
        if let Some(comparison) = &report.comparison {
            map.serialize_entry("baseline", &super::comparison::baseline(comparison))?;
        }
        map.end()
    }
}

#[derive(Serialize)]
pub(super) struct SuppressionView<'a> {
    origin: &'a str,
    rules: &'a str,
    reason: &'a str,
    until: Option<String>,
    expired: bool,
    findings_count: u64,
}

pub(super) fn suppression(used: &SuppressionUse) -> SuppressionView<'_> {
    SuppressionView {
        origin: &used.origin,
        rules: &used.rules,
        reason: &used.reason,
        until: used.until.map(|day| day.to_string()),
        expired: used.expired,
        findings_count: used.findings,
    }
}

/// Serialises keys and values in their order.
pub(super) struct Pairs<K, V>(pub(super) Vec<(K, V)>);

impl<K: Serialize, V: Serialize> Serialize for Pairs<K, V> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(key, value)| (key, value)))
    }
}

#[derive(Serialize)]
pub(super) struct SummaryView<'a> {
    files: FilesView,
    applications: u64,
    applications_left_out: u64,
    findings: Pairs<&'static str, u64>,
    savings: SumsView<'a>,
}

#[derive(Serialize)]
pub(super) struct FilesView {
    found: u64,
    analysed: u64,
    skipped: u64,
    failed: u64,
}

pub(super) fn files(summary: &Summary) -> FilesView {
    FilesView {
        found: summary.files_found,
        analysed: summary.files_analysed,
        skipped: summary.files_skipped,
        failed: summary.files_failed,
    }
}

pub(super) fn summary(report: &Report) -> SummaryView<'_> {
    let summary = &report.summary;
    let levels = Severity::ALL.into_iter().zip(summary.findings).skip(1).rev();
    SummaryView {
        files: files(summary),
        applications: summary.applications,
        applications_left_out: summary.left_out,
        findings: Pairs(levels.map(|(level, count)| (level.name(), count)).collect()),
        savings: sums(&report.totals.savings, report.currency.as_deref()),
    }
}

#[derive(Serialize)]
pub(super) struct ProblemView<'a> {
    source: &'a str,
    line: Option<u64>,
    byte: Option<u64>,
    level: &'static str,
    code: &'a str,
    message: &'a str,
    count: u64,
}

pub(super) fn problem(problem: &SourceProblem) -> ProblemView<'_> {
    let SourceProblem { source, problem } = problem;
    let (line, byte) = match problem.position {
        Some(Position::Line(line)) => (Some(line), None),
        Some(Position::Byte(byte)) => (None, Some(byte)),
        None => (None, None),
    };
    ProblemView {
        source,
        line,
        byte,
        level: problem.level.name(),
        code: &problem.code,
        message: &problem.message,
        count: problem.count,
    }
}
