//! How slow nodes were day by day, as strips of coloured days.

use std::collections::BTreeSet;

use crate::html::draw::{Part, WIDTH, two_places};
use crate::words::plural;
use elephant_engine::nodes::collect::{DayNumber, beginning_of};
use elephant_engine::nodes::indicators::Node;
use elephant_engine::nodes::trend::Day;

/// Nodes with a strip.
const MAX_NODES: usize = 20;
/// The last days that are drawn.
const MAX_DAYS: usize = 60;
/// The width of a gap between days, in columns.
const GAP: usize = 1;
/// The days that have room next to each other as labels.
const MAX_LABELS: usize = 4;
/// The runs of days that are listed.
const MAX_RUNS: usize = 12;
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

/// A column of the axis: a day, or a gap between days.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Column {
    pub(super) class: &'static str,
    /// The day, where there is room for it.
    pub(super) day: Option<String>,
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

    /// The days that are drawn, in runs of days without a gap.
    fn runs(&self) -> Vec<&[DayNumber]> {
        self.drawn.chunk_by(|day, next| day.checked_add(1) == Some(*next)).collect()
    }

    /// How many columns there are, with the gaps between runs.
    fn columns(&self) -> usize {
        self.drawn.len() + self.runs().len().saturating_sub(1) * GAP
    }

    /// The columns of the axis: days, and gaps between runs of days. The ends of a run have labels where there is
    /// room: one without room would cover the next, and the note has all days.
    pub(super) fn axis(&self) -> Vec<Column> {
        let (runs, all) = (self.runs(), self.columns());
        let mut columns = Vec::with_capacity(all);
        for (place, run) in runs.iter().enumerate() {
            if place > 0 {
                columns.extend((0..GAP).map(|_| Column { class: "gap", day: None }));
            }
            let has_room = |columns: usize, labels: usize| columns * MAX_LABELS >= labels * all;
            let ends_axis = place + 1 == runs.len();
            columns.extend(run.iter().enumerate().map(|(place, day)| {
                let (is_first, is_last) = (place == 0, place + 1 == run.len());
                let is_told = is_first && has_room(run.len() + GAP, 1) || is_last && has_room(run.len(), 2);
                // A label begins at its day, except at the end of the axis and of a run, where it ends at its day.
                let class = if is_last && (!is_first || ends_axis) { "last" } else { "" };
                Column { class, day: is_told.then(|| date(*day)) }
            }));
        }
        columns
    }

    /// "A column is a day, and a gap stands for days that are left out: 2020-07-16; 2021-03-02 to 2021-03-05."; `None`
    /// if the days have no gap.
    pub(super) fn note(&self) -> Option<String> {
        let runs = self.runs();
        let text = |run: &&[DayNumber]| match (run.first(), run.last()) {
            (Some(first), Some(last)) if first < last => format!("{} to {}", date(*first), date(*last)),
            (Some(day), _) => date(*day),
            _ => String::new(),
        };
        let named: Vec<String> = runs.iter().take(MAX_RUNS).map(text).collect();
        let more = match runs.len().saturating_sub(MAX_RUNS) {
            0 => String::new(),
            more => format!("; and {more} more"),
        };
        let days = named.join("; ");
        (runs.len() > 1)
            .then(|| format!("A column is a day, and a gap stands for days that are left out: {days}{more}."))
    }

    /// The days on which the node ran enough tasks.
    pub(super) fn cells(&self, node: &Node) -> Vec<Cell> {
        let runs = self.runs();
        let columns = self.columns();
        let width = WIDTH / columns as f64;
        // Days stay apart only where they are wide enough.
        let gap = if columns > 30 { 0.0 } else { 0.04 * width };
        let place = |day: DayNumber| {
            let gaps = runs.iter().take_while(|run| run.last().is_some_and(|last| *last < day)).count();
            Some(self.drawn.binary_search(&day).ok()? + gaps * GAP)
        };
        let cell = |day: &Day| {
            let (mean, place) = (day.mean?, place(day.number)?);
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

#[cfg(test)]
mod tests {
    use super::*;

    fn days(drawn: impl IntoIterator<Item = u16>) -> Days<'static> {
        let drawn = drawn.into_iter().filter_map(DayNumber::new).collect();
        Days { nodes: Vec::new(), drawn, is_cut: false, left_out: 0 }
    }

    /// The labels, with "|" for gaps and "." for days without a label.
    fn axis(days: &Days<'_>) -> String {
        let columns = days.axis().into_iter();
        let texts = columns.map(|Column { class, day }| match day {
            Some(day) => day,
            None if class == "gap" => "|".to_owned(),
            None => ".".to_owned(),
        });
        texts.collect::<Vec<_>>().join(" ")
    }

    /// Single days over four years are not a strip of four years.
    #[test]
    fn days_apart_have_labels_of_their_own() {
        let apart = days([1, 366, 1462]);
        let [first, second, third] = [1, 366, 1462].map(|day| date(DayNumber::new(day).unwrap()));
        assert_eq!(axis(&apart), format!("{first} | {second} | {third}"));
        let note = format!(
            "A column is a day, and a gap stands for days that are left out: {first}; {second}; {third}."
        );
        assert_eq!(apart.note(), Some(note));
        let together = days([365, 366, 367]);
        let [first, last] = [365, 367].map(|day| date(DayNumber::new(day).unwrap()));
        assert_eq!(axis(&together), format!("{first} . {last}"));
        assert_eq!(together.note(), None);
        let both = days([365, 366, 367, 1462]);
        assert!(both.note().is_some_and(|note| note.contains(&format!("{first} to {last}; {third}."))));
        // The last column has no room for a label.
        let many = days((365..405).chain([1462]));
        assert!(axis(&many).ends_with(" | ."), "{}", axis(&many));
    }
}
