//! How slow nodes were day by day, as strips of coloured days.

use std::collections::BTreeSet;

use crate::document::html::axis::two_places;
use crate::document::{Axis, AxisDay, Cell, Column, Drawing, Row, Table, Value};
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
    is_cut: bool,
    /// Nodes without room for a strip.
    left_out: u64,
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
    fn axis(&self) -> Vec<AxisDay> {
        let (runs, all) = (self.runs(), self.columns());
        let mut columns = Vec::with_capacity(all);
        for (place, run) in runs.iter().enumerate() {
            if place > 0 {
                columns.extend((0..GAP).map(|_| AxisDay { class: "gap", day: None }));
            }
            let has_room = |columns: usize, labels: usize| columns * MAX_LABELS >= labels * all;
            let ends_axis = place + 1 == runs.len();
            columns.extend(run.iter().enumerate().map(|(place, day)| {
                let (is_first, is_last) = (place == 0, place + 1 == run.len());
                let is_told = is_first && has_room(run.len() + GAP, 1) || is_last && has_room(run.len(), 2);
                // A label begins at its day, except at the end of the axis and of a run, where it ends at its day.
                let class = if is_last && (!is_first || ends_axis) { "last" } else { "" };
                AxisDay { class, day: is_told.then(|| date(*day)) }
            }));
        }
        columns
    }

    /// "A column is a day, and a gap stands for days that are left out: 2020-07-16; 2021-03-02 to 2021-03-05."; `None`
    /// if the days have no gap.
    fn note(&self) -> Option<String> {
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

    /// The days on which the node ran enough tasks: their columns, colours and texts.
    fn cells(&self, node: &Node) -> Vec<(usize, &'static str, String)> {
        let runs = self.runs();
        let place = |day: DayNumber| {
            let gaps = runs.iter().take_while(|run| run.last().is_some_and(|last| *last < day)).count();
            Some(self.drawn.binary_search(&day).ok()? + gaps * GAP)
        };
        let cell = |day: &Day| {
            let (mean, place) = (day.mean?, place(day.number)?);
            let (date, tasks) = (date(day.number), plural(day.tasks, "task"));
            Some((place, class(mean), format!("{date}: mean z {}, {tasks}", two_places(mean))))
        };
        node.trend.days.iter().filter_map(cell).collect()
    }

    /// A strip for each node.
    pub(super) fn table(&self) -> Table<'a> {
        let columns = [
            Column::key("node", 0, 0),
            Column::drawn(Axis::Days(self.axis())),
            Column::number("slow days", 0),
            Column::number("trend per day", 0),
        ];
        let row = |node: &&'a Node| {
            let trend = &node.trend;
            let name = Cell::from(&*node.name);
            let strip = Drawing::Days(self.cells(node), Self::sentence(node));
            Row::new([
                name.remark(trend.transient.then(|| Value::words("comes and goes"))),
                Value::Drawing(strip).into(),
                Value::known(trend.slow_days, |share| Value::Percent(100.0 * share, 0)).into(),
                Value::known(trend.slope, Value::Decimal).into(),
            ])
        };
        let more = (self.left_out > 0).then(|| {
            format!("and {}; the JSON report has the days", plural(self.left_out, "more such node"))
        });
        Table::new(columns, self.nodes.iter().map(row))
            .figure("days", "Mean z-score by day of the nodes that are slow, or were on some days; days with too few tasks are left out")
            .legend(Self::legend())
            .note(more)
            .note(self.is_cut.then(|| "Earlier days are in the JSON report.".to_owned()))
            .note(self.note())
    }

    /// A description of the strip for screen readers.
    fn sentence(node: &Node) -> String {
        let means: Vec<f64> = node.trend.days.iter().filter_map(|day| day.mean).collect();
        let slow = means.iter().filter(|mean| **mean > 0.0).count();
        let ends =
            means.iter().copied().min_by(f64::total_cmp).zip(means.iter().copied().max_by(f64::total_cmp));
        let ends =
            ends.map(|(low, high)| format!(", daily means from {} to {}", two_places(low), two_places(high)));
        format!("slower than average on {slow} of {} days{}", means.len(), ends.unwrap_or_default())
    }

    /// The colours and what they stand for, the slowest first.
    fn legend() -> Vec<(&'static str, String)> {
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
        let texts = columns.map(|AxisDay { class, day }| match day {
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
