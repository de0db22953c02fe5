//! How slow nodes were day by day, as strips of coloured days.

use std::collections::BTreeSet;

use crate::nodes::collect::{DayNumber, beginning_of};
use crate::nodes::indicators::Node;
use crate::nodes::trend::Day;
use crate::report::html::draw::{Part, WIDTH, two_places};
use crate::report::words::plural;

/// Nodes with a strip.
const MAX_NODES: usize = 20;
/// The last days that are drawn.
const MAX_DAYS: usize = 60;
/// The steps of the colours: a mean z-score from which a day is slow; its negative is fast.
const STEPS: [f64; 3] = [0.25, 0.5, 1.0];
/// The classes of slow and fast days, by step.
const SLOW: [&str; 4] = ["d0", "s1", "s2", "s3"];
const FAST: [&str; 4] = ["d0", "f1", "f2", "f3"];

/// The strips of the slow nodes, and of those that were slow only on some days.
pub(super) struct Days<'a> {
    nodes: Vec<&'a Node>,
    /// The days that are drawn: without those on which none of the nodes ran enough tasks.
    drawn: Vec<DayNumber>,
    /// Whether there are earlier days.
    pub(super) is_cut: bool,
    /// Nodes without room for a strip.
    pub(super) left_out: u64,
}

/// One day of a strip.
pub(super) struct Cell {
    pub(super) part: Part,
    pub(super) class: &'static str,
    pub(super) text: String,
}

impl<'a> Days<'a> {
    /// `None` if no such node has two days to compare.
    pub(super) fn of(nodes: &'a [Node]) -> Option<Self> {
        let told = |node: &&Node| node.is_straggler() || node.trend.transient;
        let mut nodes: Vec<&Node> = nodes.iter().filter(told).collect();
        let left_out = nodes.len().saturating_sub(MAX_NODES) as u64;
        nodes.truncate(MAX_NODES);
        let known = nodes.iter().flat_map(|node| &node.trend.days).filter(|day| day.mean.is_some());
        let known: BTreeSet<DayNumber> = known.map(|day| day.number).collect();
        let days: Vec<DayNumber> = known.iter().copied().skip(known.len().saturating_sub(MAX_DAYS)).collect();
        let is_cut = days.len() < known.len();
        (days.len() > 1).then_some(Self { nodes, drawn: days, is_cut, left_out })
    }

    pub(super) fn nodes(&self) -> &[&'a Node] {
        &self.nodes
    }

    /// The first and the last day, as an axis.
    pub(super) fn ticks(&self) -> Vec<String> {
        [self.drawn.first(), self.drawn.last()].into_iter().flatten().copied().map(date).collect()
    }

    /// The days on which the node ran enough tasks.
    pub(super) fn cells(&self, node: &Node) -> Vec<Cell> {
        let width = WIDTH / self.drawn.len() as f64;
        // Days stay apart only where they are wide enough.
        let gap = if self.drawn.len() > 30 { 0.0 } else { 0.04 * width };
        let cell = |day: &Day| {
            let (mean, place) = (day.mean?, self.drawn.binary_search(&day.number).ok()?);
            let part = Part { x: place as f64 * width + gap, width: width - 2.0 * gap };
            let text =
                format!("{}: mean z {}, {}", date(day.number), two_places(mean), plural(day.tasks, "task"));
            Some(Cell { part, class: class(mean), text })
        };
        node.trend.days.iter().filter_map(cell).collect()
    }

    /// A description of the strip for screen readers.
    pub(super) fn sentence(node: &Node) -> String {
        let means: Vec<f64> = node.trend.days.iter().filter_map(|day| day.mean).collect();
        let slow = means.iter().filter(|mean| **mean > 0.0).count();
        let ends =
            means.iter().copied().min_by(f64::total_cmp).zip(means.iter().copied().max_by(f64::total_cmp));
        let ends =
            ends.map(|(low, high)| format!(", daily means from {} to {}", two_places(low), two_places(high)));
        format!("slower than average on {slow} of {} days{}", means.len(), ends.unwrap_or_default())
    }

    /// The colours and what they stand for, the slowest first.
    pub(super) fn legend() -> Vec<(&'static str, String)> {
        let [one, two, three] = STEPS;
        vec![
            ("s3", format!("{three} or more: slow")),
            ("s2", format!("from {two}")),
            ("s1", format!("from {one}")),
            ("d0", "as the average".to_owned()),
            ("f1", format!("−{one} or less: fast")),
            ("f2", format!("from −{two}")),
            ("f3", format!("from −{three}")),
        ]
    }
}

fn class(mean: f64) -> &'static str {
    let step = STEPS.iter().filter(|step| mean.abs() >= **step).count();
    let classes = if mean > 0.0 { SLOW } else { FAST };
    classes.get(step).copied().unwrap_or("d0")
}

/// `2026-11-21`.
fn date(day: DayNumber) -> String {
    let text = beginning_of(day).to_rfc3339().unwrap_or_default();
    text.get(..10).map(str::to_owned).unwrap_or(text)
}
