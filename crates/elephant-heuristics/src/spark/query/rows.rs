//! Rows and bytes that flow into an operator.

use elephant_query::{OperatorKind, PlacedOperator, Query, SqlCounter, below};

/// The operators whose rows an operator takes, by index. Those of a subquery are no input.
pub(super) fn children<'q>(query: &'q Query<'_>, operator: usize) -> impl Iterator<Item = usize> + 'q {
    let all = query.operators.iter().enumerate();
    all.filter(move |(_, other)| other.parent == Some(operator) && !other.is_subquery())
        .map(|(place, _)| place)
}

/// The rows that each input of an operator has; an input whose rows are unknown is missing.
pub(super) fn inputs(query: &Query<'_>, operator: usize) -> Vec<u64> {
    children(query, operator).filter_map(|child| rows_of(query, child)).collect()
}

/// The rows that a filter reads, and the share of them that it keeps.
pub(super) fn kept_by(query: &Query<'_>, filter: usize) -> Option<(u64, f64)> {
    let rows = inputs(query, filter).first().copied().filter(|rows| *rows > 0)?;
    let kept = query.operators.get(filter)?.total(SqlCounter::OutputRows)?;
    Some((rows, kept as f64 / rows as f64))
}

/// The rows that leave an operator, or the nearest one below it that counts them.
fn rows_of(query: &Query<'_>, operator: usize) -> Option<u64> {
    nearest(query, operator, |other| other.total(SqlCounter::OutputRows))
}

/// A value of an operator, or of the nearest one below it that has it, as long as there is a single way down.
pub(super) fn nearest<T>(
    query: &Query<'_>,
    operator: usize,
    value: impl Fn(&PlacedOperator<'_>) -> Option<T>,
) -> Option<T> {
    let mut place = operator;
    loop {
        let here = query.operators.get(place)?;
        if let Some(found) = value(here) {
            return Some(found);
        }
        let mut children = children(query, place);
        let only = children.next()?;
        if children.next().is_some() {
            return None;
        }
        place = only;
    }
}

/// The nearest exchange below an operator whose rows take a single way up to it, by index.
pub(super) fn exchange_below(query: &Query<'_>, operator: usize) -> Option<usize> {
    let mut place = operator;
    loop {
        let here = query.operators.get(place)?;
        if here.kind == OperatorKind::Exchange {
            return Some(place);
        }
        let mut children = children(query, place);
        let only = children.next()?;
        if children.next().is_some() || here.kind.moves_rows() {
            return None;
        }
        place = only;
    }
}

/// The sorts between an operator and the exchange below it, by index.
pub(super) fn sorts_between(query: &Query<'_>, operator: usize, exchange: usize) -> Vec<usize> {
    let under = below(query, exchange);
    let all = below(query, operator).filter(|place| !under.contains(place));
    all.filter(|&place| query.operators.get(place).is_some_and(|it| it.kind == OperatorKind::Sort)).collect()
}
