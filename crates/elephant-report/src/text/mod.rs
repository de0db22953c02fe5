//! The report as text: jobs with the most to save first, their troubles with the remedies, colour for severities only.

mod account;
mod application;
mod causes;
mod explanations;
mod jobs;
mod piece;
mod queries;
mod troubles;

use std::collections::BTreeSet;
use std::io::{self, Write};

use anstyle::{AnsiColor, Style};
use rustc_hash::FxHashMap;

use crate::totals::{Saved, memory_used};
use crate::words::{applications, matching, plural, why_empty};
use crate::wrap::lines;
use elephant_base::severity::Severity;
use elephant_engine::engine::Pieces;
use elephant_engine::results::{ApplicationReport, JobGroup, Report, Summary, Totals};
use jobs::Jobs;

/// How a text report is laid out.
#[derive(Debug, Clone, Copy)]
pub struct TextOptions {
    /// Columns of the terminal; at least 40 are used.
    pub columns: usize,
    /// Whether severities are coloured.
    pub color: bool,
    /// Whether only ASCII is written, for terminals without Unicode.
    pub ascii: bool,
    /// Whether every run, finding and reason for a rule that was not evaluated is listed.
    pub details: bool,
    /// Whether only the answer is written, in reports without a setting of their own for this (stragglers,
    /// nodes, diff, whatif).
    pub summary: bool,
    /// How many jobs are shown with their troubles; `None` for the first ten, and two lines for each of the next.
    pub jobs: Option<usize>,
}

impl Default for TextOptions {
    fn default() -> Self {
        Self { columns: 80, color: false, ascii: false, details: false, summary: false, jobs: None }
    }
}

#[doc(hidden)]
impl TextOptions {
    /// These options with enough columns to break lines between words.
    #[must_use]
    pub fn usable(self) -> Self {
        // ASCII needs more columns for some characters, such as +- for ±.
        let columns = if self.ascii { self.columns.saturating_sub(ASCII_COLUMNS) } else { self.columns };
        Self { columns: columns.max(LEAST_COLUMNS), ..self }
    }

    /// Columns before the lines of a text that follows a severity.
    fn text_column(self) -> usize {
        if self.columns < WIDE { INDENT + 2 } else { TEXT_COLUMN }
    }

    pub(super) fn style(self, severity: Severity) -> Style {
        let colour = match severity {
            Severity::Critical => AnsiColor::Red,
            Severity::Severe => AnsiColor::Magenta,
            Severity::Moderate => AnsiColor::Yellow,
            Severity::Low => AnsiColor::Cyan,
            Severity::None => return Style::new(),
        };
        let style = colour.on_default();
        match (self.color, severity >= Severity::Severe) {
            (false, _) => Style::new(),
            (true, true) => style.bold(),
            (true, false) => style,
        }
    }
}

/// Narrower terminals are written as if they had this many columns.
const LEAST_COLUMNS: usize = 40;
/// Columns left free for the longer ASCII forms of characters.
const ASCII_COLUMNS: usize = 3;
/// Columns before everything that belongs to an application.
const INDENT: usize = 4;
/// Columns before the text of a trouble: the indent, the severity, two blanks.
const TEXT_COLUMN: usize = INDENT + 10;
/// In narrower terminals, the text continues below the severity.
const WIDE: usize = 60;

pub(crate) fn write(report: &Report, options: TextOptions, out: &mut dyn Write) -> io::Result<()> {
    if report.applications.is_empty() {
        // Only the overview is wanted.
        let Totals { applications: [quiet, ..], .. } = report.totals;
        overview(report, options, out)?;
        return write_end(report, jobs::Seen { quiet, jobs_left_out: 0 }, options, out);
    }
    overview_of_several(report, options, out)?;
    let mut jobs = Jobs::new(report, options, out);
    let places: FxHashMap<JobGroup, usize> =
        report.totals.jobs.iter().enumerate().map(|(place, job)| (job.group, place)).collect();
    let place = |app| places.get(&JobGroup::of(app)).copied().unwrap_or(usize::MAX);
    let mut runs: Vec<(usize, &ApplicationReport)> =
        report.applications.iter().map(|app| (place(app), app)).collect();
    // The sort is stable: runs of a job keep their order.
    runs.sort_by_key(|(place, _)| *place);
    let mut rendered = Vec::new();
    for (place, app) in runs {
        rendered.clear();
        piece(app, options, &mut rendered)?;
        jobs.take(place, &rendered)?;
    }
    let seen = jobs.finish()?;
    write_end(report, seen, options, out)
}

/// One application; nothing for one that is only counted.
pub(super) fn piece(app: &ApplicationReport, options: TextOptions, out: &mut Vec<u8>) -> io::Result<()> {
    if is_quiet(app, options) {
        return Ok(());
    }
    piece::write_head(app, out)?;
    application::write(app, options, out)
}

/// Writes the report with all applications.
pub(super) fn write_pieces(
    report: &Report,
    pieces: Pieces,
    options: TextOptions,
    out: &mut dyn Write,
) -> io::Result<()> {
    overview_of_several(report, options, out)?;
    let mut jobs = Jobs::new(report, options, out);
    pieces.each_by_job(&report.totals.jobs, |place, piece| jobs.take(place, piece))?;
    let seen = jobs.finish()?;
    write_end(report, seen, options, out)
}

/// The overview of the applications below it; nothing for a single application, whose own text has the same
/// facts.
fn overview_of_several(report: &Report, options: TextOptions, out: &mut dyn Write) -> io::Result<()> {
    if report.summary.applications < 2 {
        return Ok(());
    }
    overview(report, options, out)
}

/// "12 applications, 3 jobs · 41.2 GB·h used, 17.9 (43 %) wasted in memory that is too large · the remedies save 52m ± 4m,
/// 14 ± 1 GB·h (34 % of the memory used: by smaller memory)".
fn overview(report: &Report, options: TextOptions, out: &mut dyn Write) -> io::Result<()> {
    if report.summary.applications == 0 {
        return Ok(());
    }
    let applications = applications(&report.summary);
    let jobs = report.totals.jobs.len() as u64;
    let of =
        if jobs < report.summary.applications { format!(", {}", plural(jobs, "job")) } else { String::new() };
    let mut parts = vec![format!("{applications}{of}"), memory_used(&report.totals)];
    if let Some(saved) = Saved::of(report) {
        parts.push(format!("the remedies save {}", saved.text()));
        parts.extend(
            saved.first.map(|first| format!("fixing the first {} saves {first}", Totals::FIRST_JOBS)),
        );
    }
    for line in lines(&parts.join(" · "), options.columns) {
        writeln!(out, "{line}")?;
    }
    writeln!(out)?;
    if report.summary.applications > 1 { causes::write(report, options, out) } else { Ok(()) }
}

/// Whether there is nothing to say about an application.
fn is_quiet(app: &ApplicationReport, options: TextOptions) -> bool {
    let silent = app.findings.is_empty() && app.suppressed.is_empty();
    silent && !(options.details && (!app.complete || !app.not_evaluated.is_empty()))
}

/// Writes the lines after the jobs.
fn write_end(report: &Report, seen: jobs::Seen, options: TextOptions, out: &mut dyn Write) -> io::Result<()> {
    let mut parts = Vec::new();
    if seen.jobs_left_out > 0 {
        parts.push(format!(
            "{} with findings not shown (--top, --details)",
            plural(seen.jobs_left_out, "more job")
        ));
    }
    if seen.quiet > 0 {
        parts.push(format!("{} without findings", plural(seen.quiet, "application")));
    }
    if !options.details {
        parts.extend(not_judged(report));
    }
    for part in &parts {
        lines(part, options.columns).iter().try_for_each(|line| writeln!(out, "{line}"))?;
    }
    if !parts.is_empty() {
        writeln!(out)?;
    }
    write_summary(report, options.columns, out)
}

/// "2 logs are incomplete: results cover the part that was read"; "5 rules not evaluated in some applications".
fn not_judged(report: &Report) -> Vec<String> {
    let mut parts = Vec::new();
    match report.totals.incomplete {
        0 => {}
        1 => parts.push("1 log is incomplete: results cover the part that was read (--details)".to_owned()),
        logs => {
            parts.push(format!(
                "{logs} logs are incomplete: results cover the part that was read (--details)"
            ));
        }
    }
    let rules: BTreeSet<&str> = report.totals.not_evaluated.iter().map(|missing| &*missing.rule).collect();
    if !rules.is_empty() {
        let place = if report.summary.applications > 1 { " in some applications" } else { "" };
        parts.push(format!("{} not evaluated{place} (--details)", plural(rules.len() as u64, "rule")));
    }
    parts
}

/// Writes the lines of [`summary_lines`].
fn write_summary(report: &Report, columns: usize, out: &mut dyn Write) -> io::Result<()> {
    let wrapped = summary_lines(report).into_iter().flat_map(|line| lines(&line, columns));
    wrapped.into_iter().try_for_each(|line| writeln!(out, "{line}"))
}

/// "3 files read, 1 skipped, 0 failed · 2 applications · 1 critical, 2 moderate", after the reason why a report is empty.
pub(super) fn summary_lines(report: &Report) -> Vec<String> {
    let Summary { files_analysed, files_skipped, files_failed, findings, .. } = report.summary;
    let levels = Severity::ALL.into_iter().zip(findings).skip(1).rev().filter(|(_, count)| *count > 0);
    let counts: Vec<String> = levels.map(|(level, count)| format!("{count} {level}")).collect();
    let files = plural(files_analysed, "file");
    let line = format!(
        "{files} read, {files_skipped} skipped, {files_failed} failed · {} · {}",
        matching(&report.summary),
        if counts.is_empty() { "no findings".to_owned() } else { counts.join(", ") },
    );
    why_empty(&report.summary).map(str::to_owned).into_iter().chain([line]).collect()
}
