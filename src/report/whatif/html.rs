//! The replays as one HTML file: what saves most, a table of all applications, and for the first of them all changes and
//! how they scale.

mod scaling;

use std::io::{self, Write};

use askama::Template;

use super::shown;
use super::words::{self, Saved};
use crate::report::html::filters;
use crate::report::html::frame::{self, Code};
use crate::report::words::{millis, small};
use crate::units::three_digits;
use crate::whatif::{ApplicationReplays, PathStage, Prediction, Range, Replays, Scenario, WhatIfReport};
use scaling::ScalingView;

/// Applications on the first screen.
const MAX_FIRST: usize = 5;
/// Applications with all changes.
const MAX_DETAILS: usize = 50;
/// Rows of the table.
const MAX_ROWS: usize = 2000;

pub(super) fn write(report: &WhatIfReport, top: Option<usize>, out: &mut dyn Write) -> io::Result<()> {
    Page { report, shown: shown(report, top) }.write_into(out)
}

#[derive(Template)]
#[template(path = "whatif.html")]
struct Page<'a> {
    report: &'a WhatIfReport,
    /// Without those that `--top` leaves out.
    shown: &'a [ApplicationReplays],
}

/// An application, with a number that its parts are named by.
struct Replayed<'a> {
    number: usize,
    app: &'a ApplicationReplays,
    replays: &'a Replays,
}

/// The change of an application that saves most.
struct Best<'a> {
    scenario: &'a Scenario,
    prediction: &'a Prediction,
    /// "9.1 s ± 2.3 s".
    saved: String,
}

impl<'a> Page<'a> {
    const STYLES: &'static [Code] = &[frame::STYLE, frame::CHART_STYLE];
    const SCRIPTS: &'static [Code] = &[frame::SORT];

    /// Applications that were replayed.
    fn replayed(&self) -> impl Iterator<Item = Replayed<'a>> + use<'a> {
        let all = self.shown.iter().enumerate();
        all.filter_map(|(number, app)| Some(Replayed { number, app, replays: app.replays.as_ref().ok()? }))
    }

    /// The answer in one line.
    fn headline(&self) -> String {
        let replayed: Vec<Replayed<'_>> = self.replayed().collect();
        let all = filters::counted(replayed.len() as u64, "application");
        let count = |kind: Kind| replayed.iter().filter(|item| best(item.replays, kind).is_some()).count();
        let requested: Option<Vec<&Scenario>> = replayed.iter().map(Replayed::only).collect();
        match (replayed.as_slice(), requested.as_deref()) {
            ([], _) => "No application can be replayed".to_owned(),
            ([item], Some([scenario])) => item.outcome(scenario),
            (_, Some([scenario, ..])) => {
                format!("{}: {} of {all} would be faster", change(scenario), count(Kind::Any))
            }
            _ => format!(
                "Troubles cost time in {} of {all}; other resources would shorten {}",
                count(Kind::Trouble),
                count(Kind::Resources)
            ),
        }
    }

    /// The applications that can save most, with their best changes. Those with a trouble come first: more resources
    /// shorten almost every application, and cost something.
    fn first(&self) -> Vec<(Replayed<'a>, Vec<Best<'a>>)> {
        let with = self.replayed().filter_map(|item| {
            let kinds = [Kind::Trouble, Kind::Resources].into_iter();
            let best: Vec<Best<'_>> = kinds.filter_map(|kind| best(item.replays, kind)).collect();
            (!best.is_empty()).then_some((item, best))
        });
        let has_trouble =
            |(item, _): &(Replayed<'a>, Vec<Best<'a>>)| best(item.replays, Kind::Trouble).is_some();
        let (mut first, others): (Vec<_>, Vec<_>) = with.partition(has_trouble);
        first.extend(others);
        first.truncate(MAX_FIRST);
        first
    }

    fn details(&self) -> impl Iterator<Item = Replayed<'a>> + use<'a> {
        self.replayed().take(MAX_DETAILS)
    }

    fn details_left_out(&self) -> u64 {
        self.replayed().count().saturating_sub(MAX_DETAILS) as u64
    }

    /// The rows of the table, each with the number of its details if it has any.
    fn rows(&self) -> Vec<(&'a ApplicationReplays, Option<usize>)> {
        let detailed: Vec<usize> = self.details().map(|item| item.number).collect();
        let number = |number: usize| detailed.binary_search(&number).is_ok().then_some(number);
        let rows = self.shown.iter().enumerate().map(|(place, app)| (app, number(place)));
        rows.take(MAX_ROWS).collect()
    }

    fn rows_left_out(&self) -> u64 {
        (self.report.applications.len() - self.shown.len().min(MAX_ROWS)) as u64
    }
}

impl<'a> Replayed<'a> {
    /// The change, if only one is replayed.
    fn only(&self) -> Option<&'a Scenario> {
        match self.replays.scenarios.as_slice() {
            [only] => Some(only),
            _ => None,
        }
    }

    /// What the change does to the run time.
    fn outcome(&self, scenario: &Scenario) -> String {
        let what = change(scenario);
        match &scenario.prediction {
            Ok(prediction) if matches!(Saved::of(prediction), Saved::Less(_) | Saved::More(_)) => {
                format!("{what}: {} instead of {}", takes(prediction), self.replays.replayed)
            }
            Ok(_) => format!("{what}: no difference beyond the error"),
            Err(_) => format!("{what}: what that would do is unknown"),
        }
    }

    /// "took 1m", "replayed 1m (−0.2 %)", "2 slots", "45.2 s with unlimited slots (critical path)".
    fn facts(&self) -> Vec<String> {
        let Replays { recorded, replayed, residual_percent, slots, .. } = self.replays;
        let mut facts = vec![
            self.app.engine.name().to_owned(),
            format!("took {recorded}"),
            format!("replayed {replayed} ({}\u{a0}%)", signed(*residual_percent)),
            filters::counted(u64::from(*slots), "slot"),
        ];
        facts.extend(words::bounds(self.replays));
        facts
    }

    /// The stages that bind the application most.
    fn path(&self) -> &[PathStage] {
        &self.replays.path
    }

    fn scaling(&self) -> Option<ScalingView<'_>> {
        self.replays.scaling.as_ref().and_then(|scaling| ScalingView::of(scaling, self.replays))
    }
}

impl Best<'_> {
    /// "takes 33.1 s instead of 1m, for 0.0368 core-hours instead of 0.0335".
    fn takes(&self, replays: &Replays) -> String {
        let Prediction { takes, saves, .. } = self.prediction;
        let time = format!("takes {} instead of {}", millis(takes.wall_ms.point), replays.replayed);
        let cost = |takes: Option<Range>, saves: Option<Range>, unit: &str| {
            let (takes, saves) = takes.zip(saves)?;
            let [new, old] = [takes.point, takes.point + saves.point].map(small);
            Some(if new == old {
                format!("for as many {unit}")
            } else {
                format!("for {new} {unit} instead of {old}")
            })
        };
        let cost = cost(takes.core_hours, saves.core_hours, "core-hours")
            .or_else(|| cost(takes.gb_hours, saves.gb_hours, "GB·h"));
        cost.map_or(time.clone(), |cost| format!("{time}, {cost}"))
    }

    fn change(&self) -> String {
        words::change(self.scenario)
    }
}

/// The changes of which the best is wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Any,
    /// Leaves out troubles.
    Trouble,
    /// Has other executors, cores, memory or tasks.
    Resources,
}

impl Kind {
    fn holds(self, scenario: &Scenario) -> bool {
        let leaves_out = !scenario.change.without.is_empty();
        self == Self::Any || leaves_out == (self == Self::Trouble)
    }
}

/// The change of this kind that saves the most time beyond the error.
fn best(replays: &Replays, kind: Kind) -> Option<Best<'_>> {
    let scenarios = replays.scenarios.iter().filter(|scenario| kind.holds(scenario));
    let known = scenarios.filter_map(|scenario| {
        let prediction = scenario.prediction.as_ref().ok()?;
        let Saved::Less(saved) = Saved::of(prediction) else { return None };
        Some(Best { scenario, prediction, saved })
    });
    // Of equal savings the first: a single trouble before all of them.
    known.reduce(|best, other| {
        let saves = |item: &Best<'_>| item.prediction.saves.wall_ms.point;
        if saves(&other) > saves(&best) { other } else { best }
    })
}

/// What a change saves, and the class of its cell.
fn saved(prediction: &Prediction) -> (&'static str, String) {
    match Saved::of(prediction) {
        Saved::Nothing => ("soft", "nothing".to_owned()),
        Saved::WithinError => ("soft", "within the error".to_owned()),
        Saved::Less(time) => ("better", time),
        Saved::More(time) => ("worse", format!("{time} longer")),
    }
}

/// The saved time as a sort key.
fn saved_key(prediction: &Prediction) -> String {
    format!("{:.0}", prediction.saves.wall_ms.point)
}

fn cost(amount: Option<&Range>) -> String {
    amount.map(|range| small(range.point)).unwrap_or_default()
}

/// A sort key. It is empty if unknown, so that the script sorts it last.
fn cost_key(amount: Option<&Range>) -> String {
    amount.map(|range| format!("{:.6}", range.point)).unwrap_or_default()
}

fn takes(prediction: &Prediction) -> String {
    millis(prediction.takes.wall_ms.point)
}

fn takes_key(prediction: &Prediction) -> String {
    format!("{:.0}", prediction.takes.wall_ms.point)
}

fn change(scenario: &Scenario) -> String {
    words::change(scenario)
}

/// "+0.1", "−0.1", "0.0".
fn signed(percent: f64) -> String {
    let text = format!("{:.1}", percent.abs());
    match percent {
        _ if text == "0.0" => text,
        0.0.. => format!("+{text}"),
        _ => format!("−{text}"),
    }
}

fn residual(replays: &Replays) -> String {
    format!("{}\u{a0}%", three_digits(replays.residual_percent.abs()))
}
