//! The differences as one HTML file: the answer, a table of all jobs that changed, and for each job its pairs, with
//! costs, findings, settings and phases of those that changed most.

mod jobs;
mod phases;

use std::io::{self, Write};

use askama::Template;

use super::words::{
    NOTABLE, answer, change, hint, label as move_label, moved, run_times, setting, severity, value,
};
use crate::html::filters::{self, counted};
use crate::html::frame::{self, Code};
use elephant_base::severity::Severity;
use elephant_engine::diff::{Configuration, Diff, Figure, FindingPair, Label, Move, Pair, Setting, Unit};
use jobs::{JobView, Listed};
use phases::Phases;

/// Unchanged pairs that are listed.
const MAX_UNCHANGED: usize = 500;
/// Runs of one side that are listed.
const MAX_LABELS: usize = 100;
/// Settings of a pair that are listed.
const MAX_SETTINGS: usize = 300;

/// Writes the first `top` jobs that changed; without a number, unchanged ones, too.
pub(super) fn write(diff: &Diff, top: Option<usize>, out: &mut dyn Write) -> io::Result<()> {
    let Listed { jobs, left_out } = jobs::listed(diff, top);
    let unchanged = diff.pairs.iter().filter(|pair| !pair.changed() && diff.pairs.len() > 1);
    let unchanged = if top.is_none() { unchanged.collect() } else { Vec::new() };
    Page { diff, jobs, jobs_left_out: left_out, unchanged }.write_into(out)
}

#[derive(Template)]
#[template(path = "diff.html")]
struct Page<'a> {
    diff: &'a Diff,
    /// The jobs that changed, in the order of the report; a single pair in any case.
    jobs: Vec<JobView<'a>>,
    jobs_left_out: u64,
    /// Pairs that did not change.
    unchanged: Vec<&'a Pair>,
}

impl<'a> Page<'a> {
    const STYLES: &'static [Code] = &[frame::STYLE, frame::CHART_STYLE];
    const SCRIPTS: &'static [Code] = &[frame::SORT, frame::JOBS];

    /// The answer in one line.
    fn headline(&self) -> String {
        match self.diff.pairs.as_slice() {
            [] => "No job is on both sides".to_owned(),
            [only] => run_times(only),
            _ => answer(&self.diff.total()),
        }
    }

    /// The number of pairs that changed; `None` for a single pair.
    fn counts(&self) -> Option<String> {
        let all = self.diff.pairs.len() as u64;
        let pairs = counted(all, "pair");
        match self.diff.pairs.iter().filter(|pair| pair.changed()).count() as u64 {
            _ if all < 2 => None,
            0 => Some(format!("None of {pairs} of runs changed")),
            changed => Some(format!("{} of {pairs} of runs changed", filters::grouped(changed))),
        }
    }

    fn is_single(&self) -> bool {
        self.diff.pairs.len() == 1
    }

    /// Whether there is something to compare.
    fn has_several(&self) -> bool {
        self.jobs.len() > 1
    }

    fn shown_unchanged(&self) -> &[&'a Pair] {
        self.unchanged.get(..MAX_UNCHANGED).unwrap_or(&self.unchanged)
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

/// The rules whose findings changed between pairs.
fn moved_in(pairs: &[&Pair]) -> String {
    moved(pairs.iter().flat_map(|pair| &pair.findings))
}

/// The names of both jobs, or one name if both are the same.
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

/// "new", "gone", with the colour of the worse side if the finding is new or worse.
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
