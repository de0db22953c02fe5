//! The table of the phases of an application.

use askama::Template;

use super::filters::{self, grouped};
use super::links::Links;
use elephant_base::units::{Bytes, Millis, Timestamp};
use elephant_verdict::charts::{PhaseRow, Phases, Timeline};

#[derive(Template)]
#[template(path = "phases.html")]
pub(super) struct PhasesView<'a> {
    phases: &'a Phases,
    links: Links<'a>,
    columns: Vec<&'static str>,
    rows: Vec<Row<'a>>,
}

impl askama::filters::HtmlSafe for PhasesView<'_> {}

/// A phase, with the cells of those columns that have a value for any phase.
struct Row<'a> {
    row: &'a PhaseRow,
    cells: Vec<Cell>,
}

/// A value and its sort key. Both are empty if the log lacks the value.
#[derive(Default, Clone)]
struct Cell {
    key: String,
    text: String,
}

impl Cell {
    fn new(key: u64, text: String) -> Self {
        Self { key: key.to_string(), text }
    }

    fn count(count: u64) -> Self {
        Self::new(count, grouped(count))
    }

    fn time(time: Millis) -> Self {
        Self::new(time.get(), time.to_string())
    }

    fn size(size: Bytes) -> Self {
        Self::new(size.get(), size.to_string())
    }
}

/// The columns after severity and name.
const COLUMNS: [&str; 12] = [
    "Started",
    "Duration",
    "Tasks",
    "Failed",
    "Median",
    "95th percentile",
    "Longest",
    "Input",
    "Shuffle read",
    "Shuffle write",
    "Spilled",
    "Critical path",
];

/// "6 of 8 launched": the findings count the tasks that a stage announced, as a stage that fails does not launch all.
fn tasks(row: &PhaseRow) -> Cell {
    let launched = row.phase.tasks.total;
    match row.announced_tasks.filter(|announced| *announced > launched) {
        Some(all) => Cell::new(launched, format!("{} of {} launched", grouped(launched), grouped(all))),
        None => Cell::count(launched),
    }
}

fn cells(row: &PhaseRow, start: Option<Timestamp>) -> [Option<Cell>; COLUMNS.len()] {
    let phase = &row.phase;
    let size = |bytes: Option<Bytes>| bytes.filter(|_| phase.has_whole_sums).map(Cell::size);
    let durations = row.durations;
    [
        start.zip(phase.started_at).and_then(|(start, at)| {
            let offset = Millis::between(start, at)?;
            Some(Cell::new(offset.get(), format!("+{offset}")))
        }),
        phase.duration().map(Cell::time),
        phase.has_all_tasks.then(|| tasks(row)),
        Some(Cell::count(row.failed_attempts)),
        durations.map(|durations| Cell::time(durations.median)),
        durations.map(|durations| Cell::time(durations.p95)),
        durations.map(|durations| Cell::time(durations.longest)),
        size(phase.input),
        size(phase.shuffle_read),
        size(phase.shuffle_write),
        size(phase.spilled),
        row.on_path
            .map(|on_path| Cell::new(u64::from(on_path), if on_path { "yes" } else { "no" }.to_owned())),
    ]
}

impl<'a> PhasesView<'a> {
    /// `None` if the application has no phases.
    pub(super) fn of(phases: &'a Phases, timeline: Option<&Timeline>, links: Links<'a>) -> Option<Self> {
        let start = timeline.map(|timeline| timeline.from);
        let all: Vec<_> = phases.shown.iter().map(|row| (row, cells(row, start))).collect();
        let mut is_used = [false; COLUMNS.len()];
        for (_, cells) in &all {
            for (used, cell) in is_used.iter_mut().zip(cells) {
                *used |= cell.is_some();
            }
        }
        let columns = COLUMNS.into_iter().zip(is_used).filter_map(|(column, used)| used.then_some(column));
        let rows = all.into_iter().map(|(row, cells)| {
            let cells = cells.into_iter().zip(is_used).filter(|(_, used)| *used);
            Row { row, cells: cells.map(|(cell, _)| cell.unwrap_or_default()).collect() }
        });
        let (columns, rows): (Vec<_>, Vec<Row<'a>>) = (columns.collect(), rows.collect());
        (!rows.is_empty()).then_some(Self { phases, links, columns, rows })
    }

    /// "Stages", or "Phases" of a MapReduce job.
    fn title(&self) -> &'static str {
        self.links.phases_title()
    }

    /// The heading of the column of names.
    fn head(&self) -> &'static str {
        self.title().trim_end_matches('s')
    }

    /// Whether some cell is empty.
    fn has_gaps(&self) -> bool {
        self.rows.iter().flat_map(|row| &row.cells).any(|cell| cell.text.is_empty())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use elephant_model::model::table::Outcome;
    use elephant_ruleset::RuleSet;
    use elephant_verdict::charts::Charts;

    /// A finding says "3 of 8 tasks failed" of a stage that failed before all its tasks were launched.
    #[test]
    fn tasks_that_were_not_launched_are_told() {
        let text = |announced: Option<u64>| {
            let mut app = elephant_sample::app(&[]);
            elephant_sample::stage(&mut app, 0, &[(Outcome::Succeeded, 10), (Outcome::Failed, 10)]);
            elephant_sample::spark(&mut app).stages[0].announced_tasks = announced;
            let phases = Charts::of(&app, &RuleSet::new(elephant_heuristics::BUILT_IN).unwrap(), &[]).phases;
            phases.shown.first().map(|row| (tasks(row).text, tasks(row).key))
        };
        let is = |text: &str| Some((text.to_owned(), "2".to_owned()));
        assert_eq!((text(Some(8)), text(Some(2)), text(None)), (is("2 of 8 launched"), is("2"), is("2")));
    }
}
