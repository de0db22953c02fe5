//! The runs of a job: what they cost, when that changed, what was found in each of them, and what changes saved.

use std::io;

use super::page;
use crate::document::{Block, Cell, Column, Row, Section, Table, Value};
use crate::history::document::Filler;
use crate::history::words;
use crate::words::day;
use elephant_store::{Grouping, JobHistory, Run, View};

/// Runs that the grid of findings has a column for. More are wider than a screen.
const MOST_COLUMNS: usize = 20;

/// The page of a job.
///
/// # Errors
/// Returns the errors of writing, of which there are none in memory.
pub fn job(history: &JobHistory) -> io::Result<Vec<u8>> {
    let JobHistory { answer, realised, .. } = history;
    let filler = Filler::on_site(answer);
    let View::Job(runs) = &answer.view else { return page("Job", "", Vec::new()) };
    let hidden = words::hidden(runs.of, runs.shown.len());
    let sections = vec![
        filler.sums(false),
        filler.listed(("runs", "Runs", "Runs"), &runs.shown, false).hiding(hidden, "earlier"),
        findings(history, &runs.shown),
        filler.realised(realised, realised.len() as u64),
    ];
    page(&runs.job, "", sections)
}

/// A row for each rule, and a column for each of the latest runs.
fn findings<'a>(history: &'a JobHistory, runs: &'a [Run]) -> Section<'a> {
    let section = Section::new("findings", "Findings", "Findings by run");
    if history.findings.is_empty() {
        return section;
    }
    let earlier = runs.len().saturating_sub(MOST_COLUMNS);
    let shown = || runs.iter().skip(earlier);
    let name = |run: &Run| run.submitted.and_then(day).unwrap_or_else(|| run.id.clone());
    let columns =
        [Column::key("rule", 0, 0)].into_iter().chain(shown().map(|run| Column::text(name(run), 0)));
    let rows = history.findings.iter().map(|rule| {
        let address = (super::ADDRESSES.group)(Grouping::Rule, &rule.rule);
        let severities = rule.severities.iter().skip(earlier).map(|severity| match severity {
            Some(severity) => Cell::from(Value::Nothing).badge(*severity, severity.name()),
            None => Value::Nothing.into(),
        });
        Row::new([Cell::from(rule.rule.as_str()).page(address)].into_iter().chain(severities))
    });
    let note = "The highest severity of each rule in each run, the latest run last. An empty cell is a run without findings of the rule.";
    section
        .with(Block::Table(Table::new(columns, rows).in_order()))
        .hiding(earlier as u64, "earlier runs")
        .with(Block::Note(note.to_owned()))
}
