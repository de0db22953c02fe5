//! Aggregates: values of rows put together. A row that does not tell its value is left out.

pub(super) use super::node::Aggregate as Of;
use super::node::AggregateKind;
use super::scope::{Inner, Row, Scope};
use super::value::{Gap, Value};
use crate::heuristics::split::two_groups;
use crate::stats::{descriptive, nearest_rank};

/// The aggregate over the rows of `scope`.
///
/// # Errors
/// [`Gap::NoRows`] where no row tells its value, except for counts of rows that are there; [`Gap::NoneFulfils`] where a
/// condition takes none of them, except for counts, which are 0 then.
pub(super) fn evaluate<'a, 'n>(of: &'n Of, scope: &Scope<'a, 'n>) -> Result<Value<'a>, Gap<'n>> {
    scope.spend(scope.row_count(of.rows).saturating_mul(of.cost))?;
    let outside = Inner::default();
    let constants: Vec<Result<Value<'a>, Gap<'n>>> =
        of.constants.iter().map(|node| node.eval(scope, outside)).collect();
    if constants.iter().any(|constant| matches!(constant, Err(Gap::TooExpensive))) {
        return Err(Gap::TooExpensive);
    }
    let inner = |row| Inner { row: Some(row), constants: &constants };
    if of.kind == AggregateKind::Count {
        return count(of, scope, &inner);
    }
    let Taken { values, none_fulfils } = values(of, scope, &inner);
    let number = match of.kind {
        _ if none_fulfils => return Err(Gap::NoneFulfils(of)),
        AggregateKind::Sum => (!values.is_empty()).then(|| descriptive::sum(&values)),
        AggregateKind::Mean => descriptive::mean(&values),
        AggregateKind::Median => descriptive::median(&values),
        AggregateKind::Stddev => descriptive::standard_deviation(&values, 0),
        AggregateKind::Min => values.iter().copied().min_by(f64::total_cmp),
        AggregateKind::Max => values.iter().copied().max_by(f64::total_cmp),
        AggregateKind::Percentile(share) => {
            let mut sorted = values;
            sorted.sort_unstable_by(f64::total_cmp);
            nearest_rank(&sorted, share)
        }
        AggregateKind::Split if values.is_empty() => None,
        AggregateKind::Split => {
            #[allow(clippy::cast_possible_truncation)] // float casts saturate
            let whole: Vec<i64> = values.iter().map(|value| *value as i64).collect();
            return Ok(Value::Groups(two_groups(&whole)));
        }
        AggregateKind::Count => None,
    };
    let number = number.ok_or(Gap::NoRows(of))?;
    if number.is_nan() { Err(Gap::Undefined) } else { Ok(Value::Number(number)) }
}

fn values<'a: 'c, 'n: 'c, 'c>(
    of: &'n Of,
    scope: &Scope<'a, 'n>,
    inner: &dyn Fn(Row<'a>) -> Inner<'c, 'a, 'n>,
) -> Taken {
    let mut values = Vec::new();
    let (mut taken, mut told_by_refused) = (false, false);
    scope.each_row(of.rows, &mut |row| {
        let value = || of.value.as_ref().and_then(|value| value.number(scope, inner(row)).ok());
        match of.condition.as_ref().map_or(Ok(true), |condition| condition.flag(scope, inner(row))) {
            Ok(true) => {
                taken = true;
                values.extend(value());
            }
            // What no row tells is unknown, whatever the condition.
            Ok(false) => told_by_refused = told_by_refused || value().is_some(),
            Err(_) => {}
        }
    });
    Taken { values, none_fulfils: !taken && told_by_refused }
}

/// The values of the rows that an aggregate takes.
struct Taken {
    values: Vec<f64>,
    /// Whether rows tell their value, and none of them fulfils the condition.
    none_fulfils: bool,
}

/// How many rows there are, or how many of those that tell it fulfil the condition; unknown where there are rows and
/// none tells it.
fn count<'a: 'c, 'n: 'c, 'c>(
    of: &'n Of,
    scope: &Scope<'a, 'n>,
    inner: &dyn Fn(Row<'a>) -> Inner<'c, 'a, 'n>,
) -> Result<Value<'a>, Gap<'n>> {
    let (mut rows, mut told, mut fulfilled) = (0u64, 0u64, 0u64);
    scope.each_row(of.rows, &mut |row| {
        rows += 1;
        let fulfils = of.condition.as_ref().map_or(Ok(true), |condition| condition.flag(scope, inner(row)));
        told += u64::from(fulfils.is_ok());
        fulfilled += u64::from(matches!(fulfils, Ok(true)));
    });
    if rows > 0 && told == 0 { Err(Gap::NoRows(of)) } else { Ok(Value::Number(fulfilled as f64)) }
}
