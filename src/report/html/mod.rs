//! The report as one self-contained HTML file. It needs no network, and scripts only to filter and sort.
//!
//! The templates are in `templates/`. They escape every value. [`filters`] makes characters visible that could hide or
//! reorder text. [`markdown`] renders rule pages and escapes the HTML in them.

mod baseline;
mod charts;
mod detail;
pub(super) mod draw;
pub(super) mod filters;
pub(super) mod frame;
mod links;
mod markdown;
mod overview;
mod phases;
mod scatter;
mod timeline;

use std::io::{self, Write};

use askama::Template;

use crate::fingerprint::JobKey;
use crate::report::comparison::words::{UNDECIDED_HELP, counted, left_out, missing_jobs, unjudged_summary};
use crate::report::totals::{Saved, knows_memory};
use crate::report::words::{self, why_empty};
use crate::results::{ApplicationReport, Report, RuleTotal, Totals, WorstTrouble};
use crate::severity::Severity;
use crate::troubles::Trouble;
use crate::units::{MbMillis, Millis, Timestamp};
use baseline::changes;
use detail::Detail;
use frame::Code;
use links::Ids;
use markdown::RulePage;

/// Filters and sorts the table of applications.
const SCRIPT: Code = Code {
    text: include_str!("../../../templates/page.js"),
    hash: "sha256-9bYN8SaRUk5ERRMqRRUU82+7Ua3UtG+gR/Ps1lFPX5U=",
};

/// Number of findings on the first screen.
const WORST_TROUBLES: usize = 5;
/// Maximum number of reasons listed for rules that were not evaluated.
const MAX_REASONS: usize = 200;

pub(super) fn write(report: &Report, out: &mut dyn Write) -> io::Result<()> {
    Page { report, ids: links::ids(report) }.write_into(out)
}

#[derive(Template)]
#[template(path = "page.html")]
struct Page<'a> {
    report: &'a Report,
    /// In the order of the applications.
    ids: Vec<Ids>,
}

impl Page<'_> {
    const STYLES: &'static [Code] = &[frame::STYLE];
    const SCRIPTS: &'static [Code] = &[frame::SORT, SCRIPT];
    const MAX_REASONS: usize = MAX_REASONS;

    fn totals(&self) -> &Totals {
        &self.report.totals
    }

    /// What all remedies together save; `None` if nothing is known.
    fn saved(&self) -> Option<Saved> {
        Saved::of(self.report)
    }

    fn worst(&self) -> Vec<Worst<'_>> {
        let worst = self.report.worst_troubles(WORST_TROUBLES).into_iter();
        worst.filter_map(|worst| Worst::of(self, worst)).collect()
    }

    fn details(&self) -> impl Iterator<Item = Detail<'_>> {
        let applications = self.report.applications.iter().zip(&self.ids);
        applications.filter(|(app, _)| has_detail(app)).map(|(app, ids)| Detail::new(app, ids))
    }

    fn rows(&self) -> impl Iterator<Item = Row<'_>> {
        self.report.applications.iter().zip(&self.ids).map(|(app, ids)| Row { app, ids })
    }

    fn listed(&self) -> u64 {
        self.report.applications.len() as u64
    }

    fn charted(&self) -> u64 {
        self.report.applications.iter().filter(|app| app.charts.is_some()).count() as u64
    }

    fn pages(&self) -> Vec<RulePage<'_>> {
        self.report.rules.iter().map(RulePage::of).collect()
    }

    fn left_out(&self) -> u64 {
        self.report.summary.applications.saturating_sub(self.report.applications.len() as u64)
    }

    /// Counts of findings, worst first.
    fn levels(&self) -> Vec<(Severity, u64)> {
        levels(self.report.summary.findings)
    }
}

/// One of the troubles on the first screen.
struct Worst<'a> {
    app: &'a ApplicationReport,
    trouble: &'a Trouble,
    /// The id of the trouble among the details.
    id: &'a str,
    /// Number of other applications with the same name and a trouble of the same kind.
    alike: u64,
}

impl<'a> Worst<'a> {
    fn of(page: &'a Page<'a>, worst: WorstTrouble<'a>) -> Option<Self> {
        let WorstTrouble { place, trouble, alike } = worst;
        let (app, ids) = (page.report.applications.get(place)?, page.ids.get(place)?);
        let number = app.troubles.iter().position(|other| other.id == trouble.id)?;
        Some(Self { app, trouble, id: ids.troubles.get(number)?, alike })
    }
}

impl Worst<'_> {
    /// What its remedy saves.
    fn saves(&self) -> String {
        words::saves(&self.trouble.savings, words::currency(self.app))
    }
}

/// A row of the table of all applications.
struct Row<'a> {
    app: &'a ApplicationReport,
    ids: &'a Ids,
}

impl Row<'_> {
    /// The job that it is a run of, for the filter.
    fn job(&self) -> JobKey {
        self.app.job_key()
    }

    fn started(&self) -> Option<Timestamp> {
        self.app.begun_at()
    }

    fn started_key(&self) -> String {
        self.started().map(|at| at.as_millis().to_string()).unwrap_or_default()
    }

    /// The day on which it started, `2026-11-21`.
    fn day(&self) -> Option<String> {
        self.app.day()
    }

    fn has_detail(&self) -> bool {
        has_detail(self.app)
    }

    /// The ids of the rules that found something, worst first.
    fn rules(&self) -> String {
        let mut rules: Vec<&str> = Vec::new();
        for finding in self.app.findings.iter().filter(|finding| finding.severity > Severity::None) {
            let id = finding.rule.as_ref();
            let cut = id.char_indices().nth(LONG_NAME).and_then(|(end, _)| id.get(..end)).unwrap_or(id);
            if !rules.contains(&cut) {
                rules.push(cut);
            }
        }
        rules.join(", ")
    }
}

/// What is wrong, in words.
fn headline(trouble: &Trouble) -> String {
    words::headline(trouble)
}

/// Names longer than this are cut in tables.
const LONG_NAME: usize = 80;

/// Whether there is more data than the table shows.
fn has_detail(app: &ApplicationReport) -> bool {
    let names = [Some(&app.id), app.name.as_ref(), app.user.as_ref(), app.queue.as_ref()];
    app.charts.is_some()
        || !app.findings.is_empty()
        || !app.suppressed.is_empty()
        || !app.complete
        || names.into_iter().flatten().any(|name| name.chars().count() > LONG_NAME)
}

/// Severities with their counts, worst first, without zero counts.
fn levels(counts: [u64; 5]) -> Vec<(Severity, u64)> {
    let levels = Severity::ALL.into_iter().zip(counts).skip(1).rev();
    levels.filter(|(_, count)| *count > 0).collect()
}

/// A sort key. It is empty if unknown, so that the script sorts it last.
fn memory_key(amount: Option<&MbMillis>) -> String {
    amount.map(|amount| format!("{:.6}", amount.as_gb_hours())).unwrap_or_default()
}

fn time_key(time: Option<&Millis>) -> String {
    time.map(|time| time.get().to_string()).unwrap_or_default()
}

/// The rule's findings as "3 critical, 2 low".
fn level_text(total: &RuleTotal) -> String {
    let levels: Vec<String> =
        levels(total.findings).into_iter().map(|(level, count)| format!("{count} {level}")).collect();
    levels.join(", ")
}
