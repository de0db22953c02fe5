//! Values of tables: names that cannot leave their cell, units, and keys to sort by.

#[cfg(feature = "store")]
use super::super::Drawing;
use super::super::table::Kind;
use super::super::value::Link;
use super::super::{Cell, Column, Value};
use super::axis::two_places;
use super::drawing::Scale;
use super::escape::minute_text;
use super::escape::{cut_text, dotted, escape, escaped, grouped, prose};
#[cfg(feature = "store")]
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
pub(super) fn cell(column: &Column, cell: &Cell<'_>, scale: Option<&Scale<'_>>, is_sortable: bool) -> String {
    if let Value::Drawing(drawing) = &cell.value {
        #[cfg(feature = "store")]
        if let Drawing::Bars(chart) = drawing {
            return format!("<td>{}</td>", super::drawing::trend(chart));
        }
        let drawn = scale.map(|scale| scale.draw(drawing)).unwrap_or_default();
        return format!("<td class=\"draw\">{drawn}</td>");
    }
    let element = if column.kind == Kind::Key { "th scope=\"row\"" } else { "td" };
    let mut classes: Vec<&str> = Vec::new();
    classes.extend((column.kind == Kind::Number).then_some("n"));
    classes.extend(matches!(cell.value, Value::Time(_)).then_some("started"));
    classes.extend(cell.is_better.map(|better| if better { "better" } else { "worse" }));
    let class = if classes.is_empty() { String::new() } else { format!(" class=\"{}\"", classes.join(" ")) };
    let key = cell.value.key().filter(|_| is_sortable && column.kind == Kind::Number);
    let key = key.map(|key| format!(" data-v=\"{key}\"")).unwrap_or_default();
    let badge = cell.badge.map(|(severity, word)| format!("<span class=\"badge {severity}\">{word}</span>"));
    let value = match &cell.value {
        Value::Unknown if column.kind == Kind::Number => String::new(),
        Value::Unknown => "<span class=\"unknown\">unknown</span>".to_owned(),
        value => shown(value),
    };
    let value = match &cell.link {
        Some(Link::Part(id)) => format!("<a href=\"#{id}\">{value}</a>"),
        #[cfg(feature = "store")]
        Some(Link::Page(address)) => format!("<a href=\"{}\">{value}</a>", escape(address)),
        None => value,
    };
    let badge = badge.into_iter().chain((!value.is_empty()).then_some(value));
    let remark = |remark: &Value<'_>| format!("<small>{}</small>", shown(remark));
    let parts: Vec<String> = badge.chain(cell.remarks.iter().map(remark)).collect();
    let end = element.split(' ').next().unwrap_or_default();
    // On a phone, where columns are below each other, each value has its own heading.
    let heading = match column.kind {
        Kind::Key => String::new(),
        _ => format!(" data-h=\"{}\"", column.heading()),
    };
    format!("<{element}{class}{key}{heading}>{}</{end}>", parts.join(" "))
}

/// A value with its unit.
pub(super) fn shown(value: &Value<'_>) -> String {
    match value {
        Value::Nothing | Value::Unknown => String::new(),
        Value::Name(name) => format!("<bdi>{}</bdi>", dotted(name, NAME)),
        Value::Words(words) => sentence(words),
        Value::Code(code) => format!("<code>{}</code>", dotted(code, CODE)),
        Value::Sorted(words, _) => escaped(&words.replace(" %", "\u{a0}%")),
        Value::Own(words) => escaped(words),
        Value::Range(low, high) => format!("{} to {}", two_places(*low), two_places(*high)),
        Value::Flag(flag) => if *flag { "yes" } else { "no" }.to_owned(),
        Value::Count(count) => grouped(*count),
        Value::Number(number) => number.to_string(),
        #[cfg(feature = "store")]
        Value::Amount(number, unit) => escaped(format!("{} {unit}", signed(*number)).trim_end()),
        Value::Percent(value, decimals) => format!("{value:.decimals$}\u{a0}%"),
        Value::Decimal(number) => two_places(*number),
        Value::Drawing(_) => String::new(),
        Value::Duration(time) => time.to_string(),
        Value::Time(at) => minute_text(*at),
    }
}

/// An amount with a minus sign that is as wide as a digit.
#[cfg(feature = "store")]
fn signed(value: f64) -> String {
    if value < 0.0 { format!("−{}", amount(-value)) } else { amount(value) }
}

/// A sentence; a long one is folded.
fn sentence(words: &str) -> String {
    let length = words.chars().count();
    if length <= LONG {
        return format!("<bdi>{}</bdi>", prose(words, LONG));
    }
    let (beginning, all) = (cut_text(words, BEGINNING), cut_text(words, length));
    format!(
        "<details class=\"long\"><summary><bdi>{}</bdi> <span class=\"more\">all {length} characters</span></summary><bdi>{}</bdi></details>",
        escape(&beginning),
        escape(&all)
    )
}
