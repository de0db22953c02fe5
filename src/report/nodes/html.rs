//! The ranking as one HTML file: which nodes are slow, the intervals as a chart, days as strips, and a table to sort.

mod chart;
mod days;

use std::io::{self, Write};

use askama::Template;

use super::shown;
use crate::nodes::NodesReport;
use crate::nodes::indicators::Node;
use crate::nodes::levels::Interval;
use crate::nodes::settings::IntervalKind;
use crate::report::html::draw::{Part, two_places};
use crate::report::html::filters::{self, counted};
use crate::report::html::frame::{self, Code};
use crate::units::three_digits;
use chart::Intervals;
use days::Days;

/// Slow nodes that are described in words.
const MAX_NAMED: usize = 5;
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
    /// Without those that `--top` leaves out.
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
    const SCRIPT: Code = frame::SORT;

    /// The answer in one line.
    fn headline(&self) -> String {
        let summary = &self.report.ranking.summary;
        let ranked = counted(summary.ranked, "ranked node");
        match (summary.nodes, summary.ranked, summary.stragglers) {
            (0, ..) => "No node can be judged".to_owned(),
            (_, 0, _) => "No node is ranked".to_owned(),
            (_, 1, 0) => "Only one node is ranked".to_owned(),
            (_, _, 0) => format!("None of {ranked} is significantly slower than the others"),
            (_, _, 1) => format!("1 of {ranked} is slower than the others"),
            (_, _, slow) => format!("{slow} of {ranked} are slower than the others"),
        }
    }

    /// Why no node is called slow, or how many of the slow ones may be so by chance.
    fn reservation(&self) -> Option<String> {
        let (summary, settings) = (&self.report.ranking.summary, &self.report.settings);
        let by_chance = self.report.slow_by_chance();
        match (summary.nodes, summary.ranked, summary.stragglers) {
            (0, ..) => Some(format!(
                "No group has {} or more tasks with different times and known nodes.",
                settings.min_group
            )),
            (_, 0, _) => Some(format!(
                "None has at least {} tasks (--min-node-tasks). The results below may be due to chance.",
                settings.min_node_tasks
            )),
            (_, 1, 0) => Some("There is no other node to compare it with.".to_owned()),
            (_, _, 1..) if by_chance >= 1.0 => Some(format!(
                "Of {} ranked nodes, about {by_chance:.0} have an interval above 0 by chance. Trust intervals far from 0, and nodes that stay slow.",
                summary.ranked
            )),
            _ => None,
        }
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

    /// By how much it is slower, and how sure that is.
    fn evidence(&self, node: &Node) -> String {
        let settings = &self.report.settings;
        let mut parts: Vec<String> = Vec::new();
        parts.extend(node.mean.zip(node.interval()).map(|(mean, interval)| {
            format!(
                "its {} take {} standard deviations longer than the average of their group ({:.0}\u{a0}% interval {})",
                counted(node.tasks, "task"),
                two_places(mean),
                100.0 * settings.confidence,
                between(interval)
            )
        }));
        let share = node.straggler_share.zip(node.straggler_interval);
        parts.extend(share.map(|(share, Interval { low, high })| {
            format!(
                "{:.0}\u{a0}% of them ({:.0} to {:.0}\u{a0}%) take {} times the median or more",
                100.0 * share,
                100.0 * low,
                100.0 * high,
                three_digits(settings.straggler)
            )
        }));
        parts.extend(node.trend.transient.then(|| "on some days it was faster than average".to_owned()));
        parts.join("; ")
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

    fn racks(&self) -> &[crate::nodes::Rack] {
        let racks = &self.report.ranking.summary.racks;
        if racks.len() > 1 { racks.get(..MAX_LISTED).unwrap_or(racks) } else { &[] }
    }

    fn racks_left_out(&self) -> u64 {
        self.report.ranking.summary.racks.len().saturating_sub(MAX_LISTED) as u64
    }

    /// "3,120 tasks in 12 groups, 4 groups with fewer than 3 tasks skipped".
    fn basis(&self) -> String {
        let groups = self.report.ranking.summary.groups;
        let mut parts =
            vec![format!("{} in {}", counted(groups.tasks, "task"), counted(groups.used, "group"))];
        let min = self.report.settings.min_group;
        let mut add = |count: u64, what: &str, rest: &str| {
            parts.extend((count > 0).then(|| format!("{}{rest}", counted(count, what))));
        };
        add(groups.too_small, "group", &format!(" with fewer than {min} tasks skipped"));
        add(groups.without_spread, "group", " with equal times skipped");
        add(groups.tasks_without_node, "task", " without a node");
        parts.join(", ")
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

/// The same of the lower end of an interval.
fn low_key(node: &Node) -> String {
    node.interval().map(|interval| format!("{:.6}", interval.low)).unwrap_or_default()
}

/// "12 %".
fn percent(share: f64) -> String {
    format!("{:.0}\u{a0}%", 100.0 * share)
}

/// "slow", "not ranked", or nothing.
fn verdict(node: &Node) -> &'static str {
    match node.level {
        None => "not ranked",
        Some(_) if node.is_straggler() => "slow",
        Some(_) => "",
    }
}
