//! Evaluates expressions. Unknown values stay unknown, with the reason. Nothing here panics, reads the
//! clock or uses random numbers.

use std::borrow::Cow;

use super::node::{Arithmetic, Comparison, Function, Node, Part, Side, TextTest};
use super::scope::{Inner, Scope};
use super::value::{Gap, Value};
use super::{aggregate, counters, facts, plans};
use elephant_base::stats::split::TwoGroups;

type Evaluated<'a, 'n> = Result<Value<'a>, Gap<'n>>;

impl Node {
    /// The value of the expression on `scope`; inside an aggregate also on `row`, with the aggregate's
    /// `constants`.
    ///
    /// # Errors
    /// Why it is unknown.
    pub(super) fn eval<'a, 'n>(
        &'n self,
        scope: &Scope<'a, 'n>,
        inner: Inner<'_, 'a, 'n>,
    ) -> Evaluated<'a, 'n> {
        let number = |node: &'n Self| node.number(scope, inner);
        let untold = Gap::Untold(self);
        Ok(match self {
            Self::Number(value) => Value::Number(*value),
            Self::Flag(flag) => Value::Flag(*flag),
            Self::Text(text) => Value::Text(Cow::Owned(text.clone())),
            Self::Unknown => return Err(Gap::Undefined),
            Self::App(field) => facts::of_app(scope, *field).ok_or(untold)?,
            Self::Tasks(field) => facts::of_tasks(scope, *field).ok_or(untold)?,
            Self::Attempts(field) => facts::of_attempts(scope, *field),
            Self::Subject(field) => facts::subject_row(scope.judged, *field)
                .and_then(|row| facts::of_row(scope.app, row, *field))
                .ok_or(untold)?,
            Self::Row(field) => {
                inner.row.and_then(|row| facts::of_row(scope.app, row, *field)).ok_or(untold)?
            }
            Self::Value(place) => scope.values.get(*place).cloned().unwrap_or(Err(untold))?,
            Self::Constant(place) => inner.constants.get(*place).cloned().unwrap_or(Err(untold))?,
            Self::Setting(kind, name) => facts::setting(scope.app, *kind, name).ok_or(untold)?,
            Self::IsSet(name) => Value::Flag(scope.app.is_set(name).ok_or(untold)?),
            Self::Counter(of) => counters::of_job(scope, of).ok_or(untold)?,
            Self::RowCounter(of) => {
                inner.row.and_then(|row| counters::of_row(scope.app, row, of)).ok_or(untold)?
            }
            Self::Metric(of) => plans::metric_of_subject(scope.judged, of).ok_or(untold)?,
            Self::RowMetric(of) => inner.row.and_then(|row| plans::metric(row, of)).ok_or(untold)?,
            Self::Aggregate(of) => aggregate::evaluate(of, scope)?,
            Self::Part(node, side, part) => match node.eval(scope, inner)? {
                Value::Groups(groups) => part_of(groups, *side, *part)?,
                _ => return Err(Gap::Undefined),
            },
            Self::Side(node, _) => node.eval(scope, inner)?,
            Self::Negated(node) => finite(-number(node)?)?,
            Self::Not(node) => Value::Flag(!node.flag(scope, inner)?),
            Self::Arithmetic(how, two) => {
                let [one, other] = two.as_ref();
                finite(arithmetic(*how, number(one)?, number(other)?)?)?
            }
            Self::Comparison(how, two) => {
                let [one, other] = two.as_ref();
                Value::Flag(compare(*how, &one.eval(scope, inner)?, &other.eval(scope, inner)?)?)
            }
            Self::In(node, list) => {
                let value = node.eval(scope, inner)?;
                let equal = |item: &'n Self| Ok(item.eval(scope, inner)? == value);
                Value::Flag(list.iter().map(equal).collect::<Result<Vec<bool>, _>>()?.contains(&true))
            }
            Self::And(two) => Value::Flag(decided(two, false, scope, inner)?),
            Self::Or(two) => Value::Flag(decided(two, true, scope, inner)?),
            Self::Choice(three) => {
                let [condition, one, other] = three.as_ref();
                let chosen = if condition.flag(scope, inner)? { one } else { other };
                chosen.eval(scope, inner)?
            }
            Self::TextTest(test, two) => {
                let [one, other] = two.as_ref();
                let (text, part) = (one.text(scope, inner)?, other.text(scope, inner)?);
                Value::Flag(match test {
                    TextTest::StartsWith => text.starts_with(part.as_ref()),
                    TextTest::EndsWith => text.ends_with(part.as_ref()),
                    TextTest::Contains => text.contains(part.as_ref()),
                })
            }
            Self::Matches(node, regex) => Value::Flag(regex.is_match(&node.text(scope, inner)?)),
            Self::Known(node) => match node.eval(scope, inner) {
                Err(Gap::TooExpensive) => return Err(Gap::TooExpensive),
                value => Value::Flag(value.is_ok()),
            },
            Self::FirstKnown(nodes) => {
                let mut last = untold;
                for node in nodes {
                    match node.eval(scope, inner) {
                        Err(Gap::TooExpensive) => return Err(Gap::TooExpensive),
                        Err(gap) => last = gap,
                        known => return known,
                    }
                }
                return Err(last);
            }
            Self::Function(function, node) => finite(apply(*function, number(node)?))?,
            Self::Smallest(nodes) => {
                let values: Vec<f64> = nodes.iter().map(number).collect::<Result<_, _>>()?;
                Value::Number(values.into_iter().min_by(f64::total_cmp).ok_or(Gap::Undefined)?)
            }
            Self::Largest(nodes) => {
                let values: Vec<f64> = nodes.iter().map(number).collect::<Result<_, _>>()?;
                Value::Number(values.into_iter().max_by(f64::total_cmp).ok_or(Gap::Undefined)?)
            }
        })
    }

    /// The value of a numeric expression.
    pub(super) fn number<'a, 'n>(
        &'n self,
        scope: &Scope<'a, 'n>,
        inner: Inner<'_, 'a, 'n>,
    ) -> Result<f64, Gap<'n>> {
        match self.eval(scope, inner)? {
            Value::Number(number) => Ok(number),
            _ => Err(Gap::Undefined),
        }
    }

    /// The value of a condition.
    pub(super) fn flag<'a, 'n>(
        &'n self,
        scope: &Scope<'a, 'n>,
        inner: Inner<'_, 'a, 'n>,
    ) -> Result<bool, Gap<'n>> {
        match self.eval(scope, inner)? {
            Value::Flag(flag) => Ok(flag),
            _ => Err(Gap::Undefined),
        }
    }

    fn text<'a, 'n>(
        &'n self,
        scope: &Scope<'a, 'n>,
        inner: Inner<'_, 'a, 'n>,
    ) -> Result<Cow<'a, str>, Gap<'n>> {
        match self.eval(scope, inner)? {
            Value::Text(text) => Ok(text),
            _ => Err(Gap::Undefined),
        }
    }
}

/// Whether one of two conditions is `decisive`. If one is, the other may be unknown.
fn decided<'a, 'n>(
    two: &'n [Node; 2],
    decisive: bool,
    scope: &Scope<'a, 'n>,
    inner: Inner<'_, 'a, 'n>,
) -> Result<bool, Gap<'n>> {
    let [one, other] = two;
    let decides = |flag: &Result<bool, Gap<'n>>| {
        matches!(flag, Err(Gap::TooExpensive)) || flag.is_ok_and(|flag| flag == decisive)
    };
    let first = one.flag(scope, inner);
    if decides(&first) {
        return first;
    }
    let second = other.flag(scope, inner);
    if decides(&second) { second } else { first.and(second) }
}

/// The number, or [`Gap::Undefined`] if it is infinite or not a number.
fn finite<'a>(number: f64) -> Result<Value<'a>, Gap<'static>> {
    if number.is_finite() { Ok(Value::Number(number)) } else { Err(Gap::Undefined) }
}

fn arithmetic(how: Arithmetic, one: f64, other: f64) -> Result<f64, Gap<'static>> {
    let thousands = |count: i32| 1000f64.powi(count.abs());
    if other == 0.0 && matches!(how, Arithmetic::Over(_) | Arithmetic::Remainder) {
        return Err(Gap::DividedByZero);
    }
    Ok(match how {
        Arithmetic::Plus => one + other,
        Arithmetic::Minus => one - other,
        Arithmetic::Times(count) if count >= 0 => one * other * thousands(count),
        Arithmetic::Times(count) => one * other / thousands(count),
        // Scale first, so that whole numbers stay exact.
        Arithmetic::Over(count) if count >= 0 => one * thousands(count) / other,
        Arithmetic::Over(count) => one / (other * thousands(count)),
        Arithmetic::Remainder => one % other,
    })
}

fn compare(how: Comparison, one: &Value<'_>, other: &Value<'_>) -> Result<bool, Gap<'static>> {
    match (how, one, other) {
        (Comparison::Equal, ..) => Ok(one == other),
        (Comparison::NotEqual, ..) => Ok(one != other),
        (Comparison::Less, Value::Number(one), Value::Number(other)) => Ok(one < other),
        (Comparison::AtMost, Value::Number(one), Value::Number(other)) => Ok(one <= other),
        (Comparison::Greater, Value::Number(one), Value::Number(other)) => Ok(one > other),
        (Comparison::AtLeast, Value::Number(one), Value::Number(other)) => Ok(one >= other),
        _ => Err(Gap::Undefined),
    }
}

fn apply(function: Function, number: f64) -> f64 {
    match function {
        Function::Abs => number.abs(),
        Function::Floor => number.floor(),
        Function::Ceil => number.ceil(),
        Function::Round => number.round(),
        Function::Trunc => number.trunc(),
        Function::Sqrt => number.sqrt(),
        Function::In(unit) => number / unit,
    }
}

fn part_of<'a, 'n>(groups: TwoGroups, side: Side, part: Part) -> Result<Value<'a>, Gap<'n>> {
    let group = match side {
        Side::Small => groups.small,
        Side::Large => groups.large,
    };
    Ok(Value::Number(match part {
        Part::Mean => group.mean as f64,
        Part::Count => group.count as f64,
        Part::Deviation => groups.multiple().ok_or(Gap::DividedByZero)?,
        Part::Pivot => groups.pivot as f64,
    }))
}
