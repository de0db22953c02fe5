//! The rules, how often each found something, and their pages.

use std::collections::BTreeMap;
use std::io;

use super::page;
use crate::document::{Block, Cell, Column, Row, Section, Table, Value};
use crate::words::plural;
use elephant_ruleset::RuleInfo;
use elephant_store::{Group, Grouping};

/// The list of rules. `found` are the applications with findings, by rule.
///
/// # Errors
/// Returns the errors of writing, of which there are none in memory.
pub fn rules(infos: &[&RuleInfo], found: &[Group]) -> io::Result<Vec<u8>> {
    let found: BTreeMap<&str, &Group> =
        found.iter().filter_map(|group| Some((group.key.as_deref()?, group))).collect();
    let title = plural(infos.len() as u64, "rule");
    let columns = [
        Column::key("rule", 0, 0),
        Column::text("what it finds", 0),
        Column::number("applications", 0),
        Column::number("GB·h not needed by them", 0),
    ];
    let rows = infos.iter().map(|info| {
        let group = found.get(&*info.id);
        let wasted = group.and_then(|group| group.wasted_gb_hours);
        Row::new([
            Cell::from(&*info.id).page((super::ADDRESSES.group)(Grouping::Rule, &info.id)),
            Value::words(&*info.title).into(),
            group.map_or(0, |group| group.applications).into(),
            Value::known(wasted, |wasted| Value::Amount(wasted, "")).into(),
        ])
    });
    let section = Section::new("answer", "", "").with(Block::Headline(title));
    let list = Section::new("rules", "", "Rules").with(Block::Table(Table::new(columns, rows)));
    page("Rules", "/rules", vec![section, list])
}

/// The page of a rule, and how often it found something.
///
/// # Errors
/// Returns the errors of writing, of which there are none in memory.
pub fn rule(info: &RuleInfo, found: Option<&Group>) -> io::Result<Vec<u8>> {
    let applications = found.map_or(0, |group| group.applications);
    let told = match applications {
        0 => "No application of the store has findings of this rule.".to_owned(),
        count => format!("{} of the store have findings of this rule.", plural(count, "application")),
    };
    let address = format!("/search?rule={}&sort=waste", super::encoded(&info.id));
    let links = (applications > 0).then(|| Block::Links("Findings", vec![(address, "Show them".to_owned())]));
    let section = Section::new("answer", "", "")
        .with(Block::Headline(info.title.to_string()))
        .with(Block::Lead(told))
        .with(links)
        .with(Block::Page(&info.page));
    page(&info.title, "", vec![section])
}
