//! The ranking as one HTML file: which nodes are slow, the intervals as a chart, days as strips, and a table to sort.

mod chart;
mod days;

use std::io::{self, Write};

use askama::Template;

use super::shown;
use super::words::{self, MAX_NAMED};
use crate::html::draw::{Part, two_places};
use crate::html::filters::{self, counted};
use crate::html::frame::{self, Code};
use chart::Intervals;
use days::Days;
use elephant_base::units::three_digits;
use elephant_engine::nodes::indicators::Node;
use elephant_engine::nodes::levels::Interval;
use elephant_engine::nodes::settings::IntervalKind;
use elephant_engine::nodes::{NodeGroup, NodesReport};

/// Rows of the table.
const MAX_ROWS: usize = 2000;
/// Levels and racks that are listed.
const MAX_LISTED: usize = 20;

pub(super) fn write(report: &NodesReport, top: Option<usize>, out: &mut dyn Write) -> io::Result<()> {
    Page { report, nodes: shown(report, top) }.write_into(out)
}

#[derive(Template)]
#[template(path = "nodes.html")]
struct Page<'a> {
    report: &'a NodesReport,
    /// The nodes that are shown: all except those that `--top` leaves out.
    nodes: &'a [Node],
}

/// A row of a table of counts, with its share as a bar.
struct Share {
    name: String,
    count: u64,
    percent: f64,
    bar: Part,
}

impl Page<'_> {
    const STYLES: &'static [Code] = &[frame::STYLE, frame::CHART_STYLE];
    const SCRIPTS: &'static [Code] = &[frame::SORT];

    /// The answer in one line.
    fn headline(&self) -> String {
        let summary = &self.report.ranking.summary;
        let ranked = counted(summary.ranked, "ranked node");
        let slow = match (summary.nodes, summary.ranked, summary.stragglers) {
            (0, ..) => "No node can be judged".to_owned(),
            (_, 0, _) => "No node is ranked".to_owned(),
            (_, 1, 0) => "Only one node is ranked".to_owned(),
            (_, _, 0) => format!("None of {ranked} is clearly slower than the others"),
            (_, _, 1) => format!("1 of {ranked} is slower than the others"),
            (_, _, slow) => format!("{slow} of {ranked} are slower than the others"),
        };
        match summary.suspected {
            0 => slow,
            1 => format!("{slow}, 1 more is suspected"),
            suspected => format!("{slow}, {suspected} more are suspected"),
        }
    }

    /// Notes on suspected nodes, on the certainty of the verdict, and on losses.
    fn notes(&self) -> Vec<String> {
        let report = self.report;
        if report.ranking.nodes.is_empty() {
            return vec![words::no_nodes(&report.settings)];
        }
        let has_slow = report.ranking.summary.stragglers > 0;
        let none = (!has_slow).then(|| words::none_slow(report));
        let by_chance = words::by_chance(report).filter(|_| has_slow);
        let notes =
            [words::suspected(report), none, words::slightly_slow(report), by_chance, words::losses(report)];
        notes.into_iter().flatten().collect()
    }

    /// The slow nodes that are described in words.
    fn slow(&self) -> Vec<&Node> {
        self.slow_nodes().take(MAX_NAMED).collect()
    }

    fn slow_left_out(&self) -> u64 {
        self.slow_nodes().count().saturating_sub(MAX_NAMED) as u64
    }

    fn slow_nodes(&self) -> impl Iterator<Item = &Node> {
        self.report.ranking.nodes.iter().filter(|node| node.is_straggler())
    }

    /// The size of its slowdown, and how certain it is.
    fn evidence(&self, node: &Node) -> String {
        words::slow(node, &self.report.settings)
    }

    /// The name of the interval that decides the level.
    fn interval_name(&self) -> String {
        let what = match self.report.settings.interval {
            IntervalKind::MeanConfidence => "interval of the mean",
            IntervalKind::Prediction => "interval of single tasks",
        };
        format!("{:.0}\u{a0}% {what}", 100.0 * self.report.settings.confidence)
    }

    fn extreme(&self) -> String {
        three_digits(self.report.settings.extreme)
    }

    fn intervals(&self) -> Option<Intervals<'_>> {
        Intervals::of(self.nodes)
    }

    fn days(&self) -> Option<Days<'_>> {
        Days::of(self.nodes)
    }

    fn rows(&self) -> impl Iterator<Item = &Node> {
        self.nodes.iter().take(MAX_ROWS)
    }

    fn rows_left_out(&self) -> u64 {
        (self.report.ranking.nodes.len() - self.nodes.len().min(MAX_ROWS)) as u64
    }

    /// How many nodes each level has, from the slowest.
    fn levels(&self) -> Vec<Share> {
        let summary = &self.report.ranking.summary;
        let levels = summary.levels.iter().enumerate();
        levels
            .take(MAX_LISTED)
            .map(|(level, &count)| share(level.to_string(), count, summary.ranked))
            .collect()
    }

    fn levels_left_out(&self) -> u64 {
        self.report.ranking.summary.levels.len().saturating_sub(MAX_LISTED) as u64
    }

    /// How often each family fits best, the most frequent first.
    fn families(&self) -> Vec<Share> {
        let summary = &self.report.ranking.summary;
        let mut fits = summary.best_fits.clone();
        fits.sort_by_key(|&(family, count)| (std::cmp::Reverse(count), family));
        fits.iter().map(|&(family, count)| share(family.name().to_owned(), count, summary.fitted)).collect()
    }

    /// Racks and declared types of nodes, with the number of those that are not listed.
    fn groups(&self) -> Vec<(&'static str, &[NodeGroup], u64)> {
        let summary = &self.report.ranking.summary;
        let all = [("rack", &summary.racks, 2), ("type", &summary.types, 1)];
        let known = all.into_iter().filter(|(_, groups, least)| groups.len() >= *least);
        known
            .map(|(name, groups, _)| {
                let left_out = groups.len().saturating_sub(MAX_LISTED) as u64;
                (name, groups.get(..MAX_LISTED).unwrap_or(groups), left_out)
            })
            .collect()
    }

    fn basis(&self) -> String {
        words::basis(self.report)
    }
}

fn share(name: String, count: u64, whole: u64) -> Share {
    let share = count as f64 / whole.max(1) as f64;
    Share { name, count, percent: 100.0 * share, bar: Part::of(share) }
}

/// "0.12 to 0.48".
fn between(interval: Interval) -> String {
    format!("{} to {}", two_places(interval.low), two_places(interval.high))
}

/// A sort key. It is empty if unknown, so that the script sorts it last.
fn key(value: Option<&f64>) -> String {
    value.map(|value| format!("{value:.6}")).unwrap_or_default()
}

/// The sort key of the lower end of an interval.
fn low_key(node: &Node) -> String {
    node.interval().map(|interval| format!("{:.6}", interval.low)).unwrap_or_default()
}

/// "12 %".
fn percent(share: f64) -> String {
    format!("{:.0}\u{a0}%", 100.0 * share)
}

/// "slow", "suspected", "not ranked", or nothing.
fn verdict(node: &Node) -> &'static str {
    match node.level {
        _ if node.suspected => "suspected",
        None => "not ranked",
        Some(_) if node.is_straggler() => "slow",
        Some(_) if node.is_significantly_slow() => "slightly slow",
        Some(_) => "",
    }
}
