//! The queries of a pair whose plans changed.

use super::pair::{changed_cell, side};
use super::words::{UNKNOWN, change, value};
use crate::document::{Block, Cell, Column, Media, Row, Section, Table, Value};
use crate::words::{grouped, plural};
use elephant_engine::diff::{PlanChange, Queries, QueryPair};

/// Queries that are listed. JSON has all.
const MAX_QUERIES: usize = 20;
/// Changes of one plan that are listed.
const MAX_CHANGES: usize = 8;
/// Maximum width of a part of a plan.
const PART: usize = 100;

/// Adds the queries whose plans changed.
pub(super) fn plans<'a>(queries: &'a Queries, id: &str, section: Section<'a>) -> Section<'a> {
    let heading = Block::Heading(format!("{id}-plans"), "Plans".to_owned());
    let section = section.only(Media::HTML, heading);
    if queries.changed.is_empty() {
        let told = match queries.pairs as u64 {
            0 => "No query is on both sides.".to_owned(),
            1 => "The plan of the query did not change.".to_owned(),
            pairs => format!("No plan of {} queries changed.", grouped(pairs)),
        };
        return section.only(Media::HTML, Block::Told(told));
    }
    let shown: Vec<&QueryPair> = queries.changed.iter().take(MAX_QUERIES).collect();
    let more = (queries.changed.len() - shown.len()) as u64;
    let more = (more > 0).then(|| format!("… and {} more; the JSON report has all", grouped(more)));
    let summary = format!("{} changed", plural(queries.changed.len() as u64, "plan"));
    section
        .only(Media::TEXT, Block::Label("plans that changed".to_owned()))
        .only(Media::TEXT, Block::List(shown.iter().map(|pair| in_one_line(pair)).collect()))
        .only(Media::HTML, Block::Table(table(&shown)))
        .only(Media::MARKDOWN, Block::Folded(summary, vec![Block::Table(table(&shown))]))
        .only(Media::TEXT.or(Media::HTML), more.map(Block::Note))
}

fn table<'a>(shown: &[&'a QueryPair]) -> Table<'a> {
    let columns = [
        Column::key("query", 12, 60),
        Column::number("A took", 13),
        Column::number("B took", 13),
        Column::number("change", 9),
        Column::text("plan", 0),
    ];
    Table::new(columns, shown.iter().map(|pair| row(pair))).in_order().named("Plans that changed")
}

fn row(pair: &QueryPair) -> Row<'_> {
    let unknown = || Cell::from(Value::Own(UNKNOWN));
    let [a, b, changed] = match &pair.time {
        Some(time) => [side(time, time.a), side(time, time.b), changed_cell(time)],
        None => [unknown(), unknown(), unknown()],
    };
    let plan = [told(pair), pair_words(pair)].into_iter().filter(|text| !text.is_empty());
    let plan = plan.collect::<Vec<_>>().join("; ");
    Row::new([Cell::from(pair.b.as_str()), a, b, changed, Value::words(plan).into()])
}

/// "query 3 "daily join": 4 s → 6 s (+50 %), `SortMergeJoin` instead of `BroadcastHashJoin` on c; the plan may be the cause".
fn in_one_line(pair: &QueryPair) -> String {
    let times = pair.time.as_ref().map(|time| {
        let (a, b) = (value(time.unit, time.a), value(time.unit, time.b));
        let change = Some(change(time)).filter(|change| !change.is_empty() && change != "=");
        let change = change.map(|change| format!(" ({change})")).unwrap_or_default();
        format!("{a} → {b}{change}, ")
    });
    let more = pair_words(pair);
    let more = if more.is_empty() { more } else { format!("; {more}") };
    format!("{}: {}{}{more}", crate::wrap::clean(&pair.b), times.unwrap_or_default(), told(pair))
}

/// Whether the plan may be why the query slowed, and whether the pair is certain.
fn pair_words(pair: &QueryPair) -> String {
    let cause = pair.is_cause().then(|| "this may be why it slowed".to_owned());
    let alike = (pair.alike > 1)
        .then(|| format!("paired by order, because {} queries are alike", grouped(pair.alike as u64)));
    [cause, alike].into_iter().flatten().collect::<Vec<_>>().join("; ")
}

/// The changes in words.
fn told(pair: &QueryPair) -> String {
    let shown = pair.changes.iter().take(MAX_CHANGES).map(in_words);
    let more = pair.changes.len().saturating_sub(MAX_CHANGES);
    let more = (more > 0).then(|| format!("{more} more"));
    shown.chain(more).collect::<Vec<_>>().join(", ")
}

/// "`BroadcastHashJoin` instead of `SortMergeJoin` on c".
pub(super) fn in_words(change: &PlanChange) -> String {
    let part = |text: &str| crate::wrap::fit(&crate::wrap::clean(text), PART);
    let times = |count: usize| if count > 1 { format!("{count} × ") } else { String::new() };
    match change {
        PlanChange::Join { on, a, b } => {
            let on = if on.is_empty() { String::new() } else { format!(" on {}", part(on)) };
            format!("{} instead of {}{on}", part(b), part(a))
        }
        PlanChange::Scan { source, what, a, b } => {
            let named = |text: &str| if text.is_empty() { "none".to_owned() } else { part(text) };
            format!("scan of {} with other {what}: {} instead of {}", part(source), named(b), named(a))
        }
        PlanChange::Added { operator, count } => format!("{}{} more", times(*count), part(operator)),
        PlanChange::Lost { operator, count } => format!("{}{} less", times(*count), part(operator)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_are_told_in_words() {
        let join = PlanChange::Join {
            on: "c".to_owned(),
            a: "SortMergeJoin".to_owned(),
            b: "BroadcastHashJoin".to_owned(),
        };
        assert_eq!(in_words(&join), "BroadcastHashJoin instead of SortMergeJoin on c");
        let lost = PlanChange::Lost { operator: "Exchange hashpartitioning(c)".to_owned(), count: 2 };
        assert_eq!(in_words(&lost), "2 × Exchange hashpartitioning(c) less");
        let scan = PlanChange::Scan {
            source: "db.sales".to_owned(),
            what: "pushed filters",
            a: "IsNotNull(c)".to_owned(),
            b: String::new(),
        };
        assert_eq!(
            in_words(&scan),
            "scan of db.sales with other pushed filters: none instead of IsNotNull(c)"
        );
    }
}
