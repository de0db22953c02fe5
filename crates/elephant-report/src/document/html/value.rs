//! Values of tables: names that cannot leave their cell, units, and keys to sort by.

use super::super::table::Kind;
use super::super::{Cell, Column, Value};
use super::{drawing, escaped};
use crate::html::filters::{cut_text, dotted_html, grouped, minute_text, prose_html};
use crate::words::amount;

/// Longer names are cut.
const NAME: usize = 80;
/// Longer settings are cut.
const CODE: usize = 200;
/// Longer sentences are folded.
const LONG: usize = 600;
/// What is shown of them.
const BEGINNING: usize = 200;

/// A cell with its element.
pub(super) fn cell(column: &Column, cell: &Cell<'_>) -> String {
    let element = if column.kind == Kind::Key { "th scope=\"row\"" } else { "td" };
    let mut classes: Vec<&str> = Vec::new();
    classes.extend((column.kind == Kind::Number).then_some("n"));
    classes.extend(matches!(cell.value, Value::Time(_)).then_some("started"));
    classes.extend(cell.is_better.map(|better| if better { "better" } else { "worse" }));
    let class = if classes.is_empty() { String::new() } else { format!(" class=\"{}\"", classes.join(" ")) };
    let key = cell.value.key().filter(|_| column.kind == Kind::Number);
    let key = key.map(|key| format!(" data-v=\"{key}\"")).unwrap_or_default();
    let badge = cell.severity.map(|severity| format!("<span class=\"badge {severity}\">{severity}</span> "));
    let value = match &cell.value {
        Value::Unknown if column.kind == Kind::Number => String::new(),
        Value::Unknown => "<span class=\"unknown\">unknown</span>".to_owned(),
        value => shown(value),
    };
    let gap = if value.is_empty() { "" } else { " " };
    let remarks: String =
        cell.remarks.iter().map(|remark| format!("{gap}<small>{}</small>", shown(remark))).collect();
    let end = element.split(' ').next().unwrap_or_default();
    format!("<{element}{class}{key}>{}{value}{remarks}</{end}>", badge.unwrap_or_default())
}

/// A value with its unit.
pub(super) fn shown(value: &Value<'_>) -> String {
    match value {
        Value::Nothing | Value::Unknown => String::new(),
        Value::Name(name) => format!("<bdi>{}</bdi>", dotted_html(name, NAME)),
        Value::Words(words) => sentence(words),
        Value::Code(code) => format!("<code>{}</code>", dotted_html(code, CODE)),
        Value::Codes(codes) => codes.iter().map(fact).collect(),
        Value::Sorted(words, _) => escaped(words),
        Value::Flag(flag) => if *flag { "yes" } else { "no" }.to_owned(),
        Value::Count(count) => grouped(*count),
        Value::Number(number) => number.to_string(),
        Value::Amount(number) => escaped(&signed(*number)),
        Value::GbHours(number) => format!("{} GB·h", escaped(&signed(*number))),
        Value::Percent(value, decimals) => format!("{value:.decimals$}\u{a0}%"),
        Value::Difference(number) => format!("{number:+.2}"),
        Value::Duration(time) => time.to_string(),
        Value::Time(at) => minute_text(*at),
        Value::Money(value, currency) => escaped(&format!("{} {currency}", signed(*value))),
        #[cfg(feature = "store")]
        Value::Trend(chart) => drawing::trend(chart),
    }
}

fn fact((code, remark): &(String, Option<&'static str>)) -> String {
    let remark = remark.map(|remark| format!(" <small>{remark}</small>")).unwrap_or_default();
    format!("<span class=\"fact\"><code>{}</code>{remark}</span>", dotted_html(code, CODE))
}

/// An amount with a minus sign that is as wide as a digit.
fn signed(value: f64) -> String {
    if value < 0.0 { format!("−{}", amount(-value)) } else { amount(value) }
}

/// A sentence; a long one is folded.
fn sentence(words: &str) -> String {
    let length = words.chars().count();
    if length <= LONG {
        return format!("<bdi>{}</bdi>", prose_html(&cut_text(words, LONG)));
    }
    let (beginning, all) = (cut_text(words, BEGINNING), cut_text(words, length));
    format!(
        "<details class=\"long\"><summary><bdi>{}</bdi> <span class=\"more\">all {length} characters</span></summary><bdi>{}</bdi></details>",
        escaped(&beginning),
        escaped(&all)
    )
}
