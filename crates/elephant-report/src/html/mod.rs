//! The report as one self-contained HTML file. It needs no network, and scripts only to filter and sort.
//!
//! The templates are in `templates/`. They escape every value. [`filters`] makes characters visible that could hide or
//! reorder text. [`markdown`] renders rule pages and escapes the HTML in them.

mod baseline;
mod charts;
mod detail;
pub(super) mod draw;
pub(super) mod filters;
pub(super) mod links;
pub(crate) mod markdown;
mod overview;
mod phases;
mod piece;
mod plan;
mod queries;
mod scatter;
mod timeline;

pub(super) use crate::document::html::frame;
use crate::document::html::problems;

use std::io::{self, Write};

use askama::Template;
use rustc_hash::FxHashMap;

use crate::comparison::words::{UNDECIDED_HELP, counted, left_out, missing_jobs, unjudged_summary};
use crate::parts::filled;
use crate::totals::{Saved, knows_memory, saved_of_cause};
use crate::words::why_empty;
use baseline::changes;
use elephant_base::severity::Severity;
use elephant_engine::engine::Pieces;
use elephant_engine::results::{CauseTotal, JobGroup, Report, RuleTotal, Totals};
use elephant_verdict::savings::Sums;
use frame::Code;
use markdown::RulePage;
use piece::WorstRun;
pub(super) use piece::piece;

/// Filters and sorts the table of applications.
const SCRIPT: Code = Code {
    text: include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/templates/page.js")),
    hash: "sha256-9enn2dEV6cFBrGriBq+P+cvzJUt1FxeLxX/4hSsrdUw=",
};

/// Kinds of trouble whose worst one is on the first screen.
const WORST_TROUBLES: usize = 5;
/// Kinds of trouble that are not folded.
const FIRST_CAUSES: usize = 8;
/// Maximum number of reasons listed for rules that were not evaluated.
const MAX_REASONS: usize = 200;

pub(crate) fn write(report: &Report, out: &mut dyn Write) -> io::Result<()> {
    write_pieces(report, &mut Pieces::in_order(&report.applications, piece::of_kept)?, out)
}

/// Writes the report with all applications. The applications in `report` are the first ones in `pieces`.
pub(super) fn write_pieces(report: &Report, pieces: &mut Pieces, out: &mut dyn Write) -> io::Result<()> {
    let (worst, runs) = piece::worst(report, pieces, WORST_TROUBLES, &overview::with_findings(report))?;
    let page =
        Page { report, worst, runs, listed: pieces.len() as u64 }.render().map_err(io::Error::other)?;
    filled(&page, out, |mark, out| match mark {
        "rows" => piece::write_rows(report, pieces, out),
        "details" => piece::write_details(report, pieces, out),
        other => out.write_all(other.as_bytes()),
    })
}

#[derive(Template)]
#[template(path = "page.html")]
struct Page<'a> {
    report: &'a Report,
    /// The worst trouble of each kind, rendered.
    worst: Vec<String>,
    /// The worst runs of recurring jobs.
    runs: FxHashMap<JobGroup, WorstRun>,
    /// The number of applications in the table.
    listed: u64,
}

impl Page<'_> {
    const STYLES: &'static [Code] = &[frame::STYLE];
    const SCRIPTS: &'static [Code] = &[frame::SORT, SCRIPT];
    const MAX_REASONS: usize = MAX_REASONS;
    /// Where the rows of the table and the details are filled in.
    const ROWS: &'static str = "\0rows\0";
    const DETAILS: &'static str = "\0details\0";

    fn head(&self) -> String {
        let title = crate::words::plural(self.report.summary.applications, "application");
        frame::head(&format!("{title}: elephant-rs report"), "'none'", Self::STYLES, Self::SCRIPTS)
    }

    /// Problems with the input.
    fn problems(&self) -> String {
        problems::section(&self.report.problems)
    }

    fn totals(&self) -> &Totals {
        &self.report.totals
    }

    /// The saving of all remedies together; `None` if nothing is known.
    fn saved(&self) -> Option<Saved> {
        Saved::of(self.report)
    }

    fn listed(&self) -> u64 {
        self.listed
    }

    fn charted(&self) -> u64 {
        self.report.applications.iter().filter(|app| app.charts.is_some()).count() as u64
    }

    /// The kinds of trouble whose remedies save most.
    fn first_causes(&self) -> &[CauseTotal] {
        let causes = self.totals().causes.as_slice();
        causes.split_at_checked(FIRST_CAUSES).map_or(causes, |(first, _)| first)
    }

    /// The other kinds.
    fn more_causes(&self) -> &[CauseTotal] {
        self.totals().causes.get(FIRST_CAUSES..).unwrap_or_default()
    }

    /// What the remedies of a kind of trouble save.
    fn saved_of(&self, savings: &Sums) -> String {
        saved_of_cause(savings, self.report.currency.as_deref())
    }

    fn pages(&self) -> Vec<RulePage<'_>> {
        self.report.rules.iter().map(RulePage::of).collect()
    }

    fn left_out(&self) -> u64 {
        self.report.summary.applications.saturating_sub(self.listed)
    }

    /// Counts of findings, worst first.
    fn levels(&self) -> Vec<(Severity, u64)> {
        levels(self.report.summary.findings)
    }
}

/// Names longer than this are cut in tables.
const LONG_NAME: usize = 80;

/// Severities with their counts, worst first, without zero counts.
fn levels(counts: [u64; 5]) -> Vec<(Severity, u64)> {
    let levels = Severity::ALL.into_iter().zip(counts).skip(1).rev();
    levels.filter(|(_, count)| *count > 0).collect()
}

/// The filter that shows the applications in which a rule found something, the worst first.
fn rule_filter(total: &RuleTotal) -> String {
    format!("{}&sort=-severity", overview::parameter("rule", &filters::cut_text(&total.rule, LONG_NAME)))
}

/// The rule's findings as "3 critical, 2 low".
fn level_text(total: &RuleTotal) -> String {
    let levels: Vec<String> =
        levels(total.findings).into_iter().map(|(level, count)| format!("{count} {level}")).collect();
    levels.join(", ")
}
