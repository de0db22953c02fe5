//! The differences as one HTML file: the answer, a table of all pairs, and for those that changed most costs, findings,
//! settings and phases.

mod phases;

use std::io::{self, Write};

use askama::Template;

use super::words::{
    NOTABLE, answer, change, label as move_label, moved, run_times, setting, severity, value,
};
use crate::diff::{Configuration, Diff, Figure, FindingPair, Label, Move, Pair, Setting, Unit};
use crate::report::html::filters::{self, counted};
use crate::report::html::frame::{self, Code};
use crate::severity::Severity;
use phases::Phases;

/// Pairs that are shown with all tables.
const MAX_DETAILS: usize = 20;
/// Rows of the table of pairs.
const MAX_ROWS: usize = 2000;
/// Runs of one side that are listed.
const MAX_LABELS: usize = 100;
/// Settings of a pair that are listed.
const MAX_SETTINGS: usize = 300;

/// Writes the pairs of the first `top` jobs that changed; of all without a number.
pub(super) fn write(diff: &Diff, top: Option<usize>, out: &mut dyn Write) -> io::Result<()> {
    let largest = match (diff.pairs.as_slice(), top) {
        ([only], _) => vec![only],
        (_, Some(top)) => diff.jobs().into_iter().take(top).flat_map(|job| job.changed).collect(),
        _ => diff.largest(),
    };
    Page { diff, largest, pairs: diff.pairs_of(top) }.write_into(out)
}

#[derive(Template)]
#[template(path = "diff.html")]
struct Page<'a> {
    diff: &'a Diff,
    /// The pairs that changed, the one whose run time changed most first; a single pair in any case.
    largest: Vec<&'a Pair>,
    /// All pairs that have a row.
    pairs: Vec<&'a Pair>,
}

impl<'a> Page<'a> {
    const STYLES: &'static [Code] = &[frame::STYLE, frame::CHART_STYLE];
    const SCRIPTS: &'static [Code] = &[frame::SORT];

    /// The answer in one line.
    fn headline(&self) -> String {
        match self.diff.pairs.as_slice() {
            [] => "No job is on both sides".to_owned(),
            [only] => run_times(only),
            pairs => {
                let pairs = counted(pairs.len() as u64, "pair");
                match self.diff.pairs.iter().filter(|pair| pair.changed()).count() as u64 {
                    0 => format!("None of {pairs} of runs changed"),
                    changed => format!("{} of {pairs} of runs changed", filters::grouped(changed)),
                }
            }
        }
    }

    fn is_single(&self) -> bool {
        self.diff.pairs.len() == 1
    }

    /// The pairs with all tables.
    fn details(&self) -> &[&'a Pair] {
        self.largest.get(..MAX_DETAILS).unwrap_or(&self.largest)
    }

    fn details_left_out(&self) -> u64 {
        self.largest.len().saturating_sub(MAX_DETAILS) as u64
    }

    /// The pairs that changed, with the number of those that are shown with all tables, and then the others.
    fn rows(&self) -> Vec<(&'a Pair, Option<usize>)> {
        let numbered = self.largest.iter().enumerate();
        let numbered = numbered.map(|(number, pair)| (*pair, (number < MAX_DETAILS).then_some(number)));
        let others = self.pairs.iter().filter(|pair| !pair.changed()).map(|pair| (*pair, None));
        numbered.chain(others).take(MAX_ROWS).collect()
    }

    fn rows_left_out(&self) -> u64 {
        self.diff.pairs.len().saturating_sub(self.pairs.len().min(MAX_ROWS)) as u64
    }

    /// Whether B is better or worse over several pairs.
    fn answer(&self) -> String {
        if self.diff.pairs.len() > 1 { answer(&self.diff.total()) } else { String::new() }
    }

    /// The runs that only one side has.
    fn only(&self) -> Vec<(&'static str, &'a [Label], u64)> {
        let sides = [("A", &self.diff.only_a), ("B", &self.diff.only_b)];
        let side = |(name, labels): (&'static str, &'a Vec<Label>)| {
            let left_out = labels.len().saturating_sub(MAX_LABELS) as u64;
            (name, labels.get(..MAX_LABELS).unwrap_or(labels), left_out)
        };
        sides.into_iter().map(side).filter(|(_, labels, _)| !labels.is_empty()).collect()
    }
}

/// Both jobs, or the one.
fn title(pair: &Pair) -> String {
    if pair.a.job == pair.b.job { pair.a.job.clone() } else { format!("{} and {}", pair.a.job, pair.b.job) }
}

fn sides(pair: &Pair) -> [(&'static str, &Label); 2] {
    [("A", &pair.a), ("B", &pair.b)]
}

fn shown(figure: &Figure) -> (String, String, String) {
    (value(figure.unit, figure.a), value(figure.unit, figure.b), change(figure))
}

/// The colour of a change: less time, memory or cores is better.
fn class(figure: &Figure) -> &'static str {
    match figure.change() {
        Some(share) if figure.unit != Unit::Count && share >= NOTABLE => "worse",
        Some(share) if figure.unit != Unit::Count && share <= -NOTABLE => "better",
        _ => "",
    }
}

/// The change of a run time as a sort key.
fn change_key(figure: &Figure) -> String {
    figure.change().map(|share| format!("{share:.6}")).unwrap_or_default()
}

fn key(value: Option<f64>) -> String {
    value.map(|value| format!("{value:.0}")).unwrap_or_default()
}

/// The findings that changed.
fn changed(pair: &Pair) -> Vec<&FindingPair> {
    pair.findings.iter().filter(|finding| finding.moved != Move::Same).collect()
}

fn same(pair: &Pair) -> u64 {
    pair.findings.iter().filter(|finding| finding.moved == Move::Same).count() as u64
}

/// "new", "gone", with the colour of the worse side if it is bad news.
fn badge(finding: &FindingPair) -> (Severity, String) {
    let worst = match finding.moved {
        Move::Came | Move::Worse => finding.b.or(finding.a).unwrap_or(Severity::None),
        _ => Severity::None,
    };
    (worst, move_label(finding.moved).to_lowercase())
}

/// The settings that differ, and the number of those that are not listed.
fn settings(configuration: &Configuration) -> (&[Setting], u64) {
    let all = &configuration.settings;
    (all.get(..MAX_SETTINGS).unwrap_or(all), all.len().saturating_sub(MAX_SETTINGS) as u64)
}
