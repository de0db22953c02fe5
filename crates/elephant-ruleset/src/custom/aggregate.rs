//! Aggregates: combine the values of rows. Rows without the value are skipped.

pub(super) use super::node::Aggregate as Of;
use super::node::AggregateKind;
use super::scope::{Inner, Row, Scope};
use super::value::{Gap, Value};
use elephant_base::stats::split::two_groups;
use elephant_base::stats::{descriptive, nearest_rank};
use elephant_base::whole::Whole;

/// The aggregate over the rows of `scope`.
///
/// # Errors
/// [`Gap::NoRows`] if no row has the value, except for counts of existing rows. [`Gap::NoneFulfils`] if no
/// row fulfils the condition, except for counts, which are 0 then.
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
    let Taken { values, none_fulfils, divided_by_zero } = values(of, scope, &inner);
    let number = match of.kind {
        _ if values.is_empty() && divided_by_zero => return Err(Gap::DividedByZero),
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
            let whole: Vec<i64> = values.iter().map(|value| value.as_i64()).collect();
            return Ok(Value::Groups(two_groups(&whole)));
        }
        AggregateKind::Count => None,
    };
    let number = number.ok_or(Gap::NoRows(of))?;
    if number.is_finite() { Ok(Value::Number(number)) } else { Err(Gap::Undefined) }
}

fn values<'a: 'c, 'n: 'c, 'c>(
    of: &'n Of,
    scope: &Scope<'a, 'n>,
    inner: &dyn Fn(Row<'a>) -> Inner<'c, 'a, 'n>,
) -> Taken {
    let mut values = Vec::new();
    let (mut taken, mut told_by_refused, mut divided_by_zero) = (false, false, false);
    scope.each_row(of.rows, &mut |row| {
        let mut value = || {
            let value = of.value.as_ref()?.number(scope, inner(row));
            divided_by_zero |= matches!(value, Err(Gap::DividedByZero));
            value.ok()
        };
        match of.condition.as_ref().map_or(Ok(true), |condition| condition.flag(scope, inner(row))) {
            Ok(true) => {
                taken = true;
                values.extend(value());
            }
            // A value that no row has is unknown, whatever the condition.
            Ok(false) => told_by_refused = told_by_refused || value().is_some(),
            Err(_) => {}
        }
    });
    Taken { values, none_fulfils: !taken && told_by_refused, divided_by_zero }
}

/// The rows that an aggregate uses.
struct Taken {
    values: Vec<f64>,
    /// Whether rows have the value but none of them fulfils the condition.
    none_fulfils: bool,
    /// Whether a row has no value because it divides by zero.
    divided_by_zero: bool,
}

/// The number of rows, or of rows that fulfil the condition. Unknown if rows exist but the condition is
/// unknown in all of them.
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
