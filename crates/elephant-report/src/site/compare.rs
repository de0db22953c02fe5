//! Two applications side by side: what they cost, where their time went, their troubles and settings.

use std::collections::{BTreeMap, BTreeSet};
use std::io;

use super::whole_report::WholeReport;
use super::{ADDRESSES, minute, page};
use crate::document::{Block, Cell, Choice, Column, Field, Form, Row, Section, Table, Value};
use crate::history::words::amount;
use elephant_base::units::Millis;
use elephant_base::whole::Whole as _;
use elephant_store::StoredApplication;

/// Parts of the run time that are shown, those that differ most.
const MOST_PARTS: usize = 15;
/// Settings that are shown.
const MOST_SETTINGS: usize = 100;

/// The two applications to compare, as the address has them.
#[derive(Debug, Clone, Copy, Default)]
pub struct Pair<'a> {
    /// The id of the one that is compared with.
    pub a: &'a str,
    /// The id of the other one.
    pub b: &'a str,
}

/// The page that asks which applications to compare.
///
/// # Errors
/// Returns the errors of writing, of which there are none in memory.
pub fn which_to_compare(pair: Pair<'_>) -> io::Result<Vec<u8>> {
    let section = Section::new("answer", "", "")
        .with(Block::Headline("Which applications to compare?".to_owned()))
        .with(Block::Form(form(pair)));
    page("Compare", "/compare", vec![section])
}

/// The page on two applications.
///
/// # Errors
/// Returns the errors of writing, of which there are none in memory.
pub fn compare(a: &StoredApplication, b: &StoredApplication) -> io::Result<Vec<u8>> {
    let pair = Pair { a: &a.run.id, b: &b.run.id };
    let answer = Section::new("answer", "", "")
        .with(Block::Headline(headline(a, b)))
        .with(Block::Form(form(pair)))
        .with(other_jobs(a, b));
    let reports = [a, b].map(|app| WholeReport::of(app.report.as_deref()));
    let sections = vec![answer, costs(a, b), time(&reports), troubles(a, b), settings(a, b)];
    page(&format!("{} and {}", pair.a, pair.b), "/compare", sections)
}

fn form(pair: Pair<'_>) -> Form {
    let field =
        |name, label, value: &str| Field { name, label, value: value.to_owned(), choice: Choice::Text };
    Form {
        action: "/compare",
        fields: vec![field("a", "Id of A", pair.a), field("b", "Id of B", pair.b)],
        submit: "Compare",
    }
}

/// What a reader wants to know first.
fn headline(a: &StoredApplication, b: &StoredApplication) -> String {
    let (Some(before), Some(after)) = (a.run.run_time, b.run.run_time) else {
        return "It is not known how long both took".to_owned();
    };
    let apart = Millis::new(after.get().abs_diff(before.get()));
    let change = match after.get().cmp(&before.get()) {
        std::cmp::Ordering::Equal => "as long as A".to_owned(),
        std::cmp::Ordering::Less => format!("{apart} less than A"),
        std::cmp::Ordering::Greater => format!("{apart} longer than A"),
    };
    format!("B took {after}, {change}")
}

fn other_jobs(a: &StoredApplication, b: &StoredApplication) -> Option<Block<'static>> {
    (a.job != b.job).then(|| Block::Warning("These are runs of different jobs.".to_owned()))
}

/// A row for each quantity. Less is better.
fn costs<'a>(a: &'a StoredApplication, b: &'a StoredApplication) -> Section<'a> {
    let link = |app: &StoredApplication| Some((ADDRESSES.application)(&app.run.id));
    let text = |value: Option<String>| Value::known(value, Value::words);
    let moment = |app: &StoredApplication| text(app.run.submitted.and_then(minute));
    let plain = |name: &'static str, [a, b]: [Value<'a>; 2]| {
        Row::new([Value::Own(name).into(), Cell::from(a), b.into(), Value::Nothing.into()])
    };
    let hours = |hours: f64| Value::Amount(hours, "GB·h");
    let cores = |hours: f64| Value::Amount(hours, "core-hours");
    let count = |count: f64| Value::Count(count.as_u64());
    let time = |app: &StoredApplication| app.run.run_time.map(Millis::as_f64);
    let number = |count: Option<u64>| count.map(|count| count as f64);
    let rows = vec![
        Row::new([
            Value::Own("id").into(),
            Cell::from(a.run.id.as_str()).page(link(a)),
            Cell::from(b.run.id.as_str()).page(link(b)),
            Value::Nothing.into(),
        ]),
        plain("submitted", [moment(a), moment(b)]),
        plain("status", [a, b].map(|app| Value::words(app.run.status.as_str()))),
        quantity("run time", [time(a), time(b)], |ms| {
            Value::Duration(Millis::from_f64(ms).unwrap_or_default())
        }),
        quantity("used", [a.run.used_gb_hours, b.run.used_gb_hours], hours),
        quantity("not needed", [a.run.wasted_gb_hours, b.run.wasted_gb_hours], hours),
        quantity("cores held", [a.core_hours, b.core_hours], cores),
        quantity("tasks", [number(a.tasks), number(b.tasks)], count),
        quantity("failed attempts", [number(a.failed_attempts), number(b.failed_attempts)], count),
    ];
    let columns = [
        Column::text("what", 0),
        Column::number("A", 0),
        Column::number("B", 0),
        Column::number("B to A", 0),
    ];
    Section::new("costs", "Costs", "What they cost").with(Block::Table(Table::new(columns, rows).in_order()))
}

fn quantity<'a>(name: &'static str, [a, b]: [Option<f64>; 2], shown: impl Fn(f64) -> Value<'a>) -> Row<'a> {
    let ratio = a.zip(b).filter(|(a, _)| *a > 0.0).map(|(a, b)| b / a);
    let ratio =
        ratio.map_or(Value::Nothing, |ratio| Value::Sorted(format!("{}×", amount(ratio)), Some(ratio)));
    Row::new([
        Cell::from(Value::Own(name)),
        Value::known(a, &shown).into(),
        Value::known(b, &shown).into(),
        ratio.into(),
    ])
}

/// The parts of the run times by their names, those that differ most first.
fn time(reports: &[WholeReport; 2]) -> Section<'static> {
    let section = Section::new("time", "Run time", "Where the time differs");
    let mut parts: BTreeMap<&str, [Option<u64>; 2]> = BTreeMap::new();
    for (side, report) in reports.iter().enumerate() {
        for (name, time) in report.times() {
            if let Some(sum) = parts.entry(name).or_default().get_mut(side) {
                *sum = Some(sum.unwrap_or_default().saturating_add(time));
            }
        }
    }
    if reports.iter().any(|report| report.times().next().is_none()) {
        return section;
    }
    let difference = |[a, b]: [Option<u64>; 2]| {
        let ms = |time: Option<u64>| i64::try_from(time.unwrap_or_default()).unwrap_or(i64::MAX);
        ms(b).saturating_sub(ms(a))
    };
    let mut parts: Vec<(&str, [Option<u64>; 2])> = parts.into_iter().collect();
    parts.sort_by_key(|&(name, times)| (std::cmp::Reverse(difference(times).unsigned_abs()), name));
    let hidden = parts.len().saturating_sub(MOST_PARTS) as u64;
    let columns = [Column::text("part", 0)]
        .into_iter()
        .chain(["A", "B", "B − A"].map(|title| Column::number(title, 0)));
    let rows = parts.into_iter().take(MOST_PARTS).map(|(name, times)| {
        let time =
            |ms: Option<u64>| Cell::from(ms.map_or(Value::Nothing, |ms| Value::Duration(Millis::new(ms))));
        let change = difference(times);
        let sign = if change < 0 { "−" } else { "+" };
        let text = format!("{sign}{}", Millis::new(change.unsigned_abs()));
        let [a, b] = times;
        let change = Cell::from(Value::Sorted(text, Some(change as f64)));
        Row::new([Value::words(name.to_owned()).into(), time(a), time(b), change])
    });
    section.with(Block::Table(Table::new(columns, rows).in_order())).hiding(hidden, "smaller")
}

/// The kinds of trouble of each.
fn troubles<'a>(a: &'a StoredApplication, b: &'a StoredApplication) -> Section<'a> {
    let section = Section::new("troubles", "Troubles", "Troubles");
    let kinds: BTreeSet<&str> =
        [a, b].iter().flat_map(|app| &app.troubles).map(|it| it.kind.as_str()).collect();
    if kinds.is_empty() {
        return section.with(Block::Note("Neither has a trouble.".to_owned()));
    }
    let of = |app: &'a StoredApplication, kind: &str| {
        let mut found = app.troubles.iter().filter(|trouble| trouble.kind == kind);
        match found.next() {
            None => Cell::from(Value::Nothing),
            Some(first) => Cell::from(Value::words(first.cause.as_str()))
                .badge(first.severity, first.severity.name())
                .remark(match found.count() {
                    0 => None,
                    more => Some(Value::words(format!("and {more} more"))),
                }),
        }
    };
    let columns = [Column::key("trouble", 0, 0), Column::text("A", 0), Column::text("B", 0)];
    let rows = kinds.into_iter().map(|kind| Row::new([kind.into(), of(a, kind), of(b, kind)]));
    section.with(Block::Table(Table::new(columns, rows).in_order()))
}

/// The settings that decide what an application costs, where they differ.
fn settings<'a>(a: &'a StoredApplication, b: &'a StoredApplication) -> Section<'a> {
    let section = Section::new("settings", "Settings", "Settings that differ");
    let (Some(before), Some(after)) = (&a.configuration, &b.configuration) else {
        return section.with(Block::Note("The settings of both are not known.".to_owned()));
    };
    let names: BTreeSet<&String> = before.keys().chain(after.keys()).collect();
    let differ: Vec<&String> =
        names.into_iter().filter(|name| before.get(*name) != after.get(*name)).collect();
    if differ.is_empty() {
        return section.with(Block::Note("No setting that decides what they cost differs.".to_owned()));
    }
    let hidden = differ.len().saturating_sub(MOST_SETTINGS) as u64;
    let columns = [Column::key("setting", 0, 0), Column::text("A", 0), Column::text("B", 0)];
    let rows = differ.into_iter().take(MOST_SETTINGS).map(|name| {
        let of = |settings: &'a BTreeMap<String, String>| match settings.get(name) {
            Some(value) => Cell::from(Value::Code(value.as_str().into())),
            None => Value::Own("not set").into(),
        };
        Row::new([Value::Code(name.as_str().into()).into(), of(before), of(after)])
    });
    section.with(Block::Table(Table::new(columns, rows).in_order())).hiding(hidden, "more")
}
