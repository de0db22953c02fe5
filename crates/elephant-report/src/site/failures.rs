//! The kinds of failures, how often each happened, and their pages.

use std::collections::BTreeMap;
use std::io;

use super::page;
use crate::document::{Block, Cell, Column, Row, Section, Table, Value};
use crate::words::plural;
use elephant_model::diagnosis::FailureKind;
use elephant_store::{Group, Grouping};

/// The list of kinds. `found` are the applications with such failures.
///
/// # Errors
/// Returns the errors of writing, of which there are none in memory.
pub fn failures(found: &[Group]) -> io::Result<Vec<u8>> {
    let found: BTreeMap<&str, &Group> =
        found.iter().filter_map(|group| Some((group.key.as_deref()?, group))).collect();
    let columns = [
        Column::key("failure", 0, 0),
        Column::text("what happened", 0),
        Column::text("who acts, in most cases", 0),
        Column::number("applications", 0),
        Column::number("that failed", 0),
        Column::number("saved without it, GB·h", 0),
    ];
    let mut kinds: Vec<(FailureKind, Option<&Group>)> =
        FailureKind::ALL.iter().map(|kind| (*kind, found.get(kind.name()).copied())).collect();
    // The most frequent first; otherwise in the order of the reference.
    kinds.sort_by_key(|(_, group)| std::cmp::Reverse(group.map_or(0, |group| group.applications)));
    let rows = kinds.into_iter().map(|(kind, group)| {
        let count = |of: fn(&Group) -> u64| group.map_or(0, of);
        Row::new([
            Cell::from(kind.name()).page((super::ADDRESSES.group)(Grouping::Failure, kind.name())),
            Value::words(kind.cause()).into(),
            Value::Own(kind.actor().words()).into(),
            count(|group| group.applications).into(),
            count(|group| group.failed).into(),
            Value::known(group.and_then(|group| group.saved_gb_hours), |saved| Value::Amount(saved, ""))
                .into(),
        ])
    });
    let title = plural(FailureKind::ALL.len() as u64, "kind").replacen("kinds", "kinds of failures", 1);
    let answer = Section::new("answer", "", "").with(Block::Headline(title));
    let list = Section::new("failures", "", "Failures").with(Block::Table(Table::new(columns, rows)));
    page("Failures", "/failures", vec![answer, list])
}

/// The page of a kind of failure, and how often it happened.
///
/// # Errors
/// Returns the errors of writing, of which there are none in memory.
pub fn failure(kind: FailureKind, found: Option<&Group>) -> io::Result<Vec<u8>> {
    let applications = found.map_or(0, |group| group.applications);
    let told = match applications {
        0 => "No application of the store has this failure.".to_owned(),
        1 => "1 application of the store has this failure.".to_owned(),
        count => format!("{} of the store have this failure.", plural(count, "application")),
    };
    let address = format!("/search?failure={}", super::encoded(kind.name()));
    let links =
        (applications > 0).then(|| Block::Links("Applications", vec![(address, "Show them".to_owned())]));
    let section = Section::new("answer", "", "")
        .with(Block::Headline(kind.cause().to_owned()))
        .with(Block::Lead(told))
        .with(links)
        .with(Block::Page(kind.page()));
    page(kind.name(), "", vec![section])
}
