//! Reads the facts that expressions name from queries and their operators.

use std::borrow::Cow;

use super::names::{OperatorField, QueryField};
use super::node::MetricName;
use super::planned::{PlannedOperator, PlannedQuery};
use super::scope::{Judged, Row};
use super::value::Value;
use elephant_base::units::Millis;
use elephant_model::model::counters::Counter;
use elephant_query::{SqlCounter, name_of_query};

/// A fact about a query.
#[must_use]
pub(super) fn of_query<'a>(query: &'a PlannedQuery<'a>, field: QueryField) -> Option<Value<'a>> {
    let execution = query.execution;
    let sum = |counter| query.ran.sum(&[counter]).map(count);
    match field {
        QueryField::Number => Some(count(execution.id)),
        QueryField::Description => execution.description.as_deref().map(text),
        QueryField::Name => Some(Value::Text(Cow::Owned(name_of_query(execution)))),
        QueryField::Error => execution.error.as_deref().map(text),
        QueryField::PartOf => execution.root.filter(|root| *root != execution.id).map(count),
        QueryField::WallTime => execution.duration().map(time),
        QueryField::PlanningTime => query.wall.map(|wall| time(wall.planning)),
        QueryField::JobsTime => query.wall.map(|wall| time(wall.jobs)),
        QueryField::GapTime => query.wall.map(|wall| time(wall.gaps)),
        QueryField::CommitTime => query.wall.map(|wall| time(wall.after)),
        QueryField::TaskTime => sum(Counter::ExecutorRunTime),
        QueryField::InputBytes => sum(Counter::InputBytes),
        QueryField::OutputBytes => sum(Counter::OutputBytes),
        QueryField::ShuffleBytesWritten => sum(Counter::ShuffleBytesWritten),
        QueryField::MemoryBytesSpilled => sum(Counter::MemoryBytesSpilled),
        QueryField::Jobs => Some(count(query.jobs.len() as u64)),
        QueryField::Stages => Some(count(query.ran.stages.len() as u64)),
        QueryField::Operators => Some(count(query.operators.len() as u64)),
    }
}

/// A fact about an operator.
#[must_use]
pub(super) fn of_operator<'a>(planned: &'a PlannedOperator<'a>, field: OperatorField) -> Option<Value<'a>> {
    let operator = &planned.operator;
    match field {
        OperatorField::Name => Some(text(operator.name)).filter(|_| !operator.name.is_empty()),
        OperatorField::Detail => Some(text(operator.text)).filter(|_| !operator.text.is_empty()),
        OperatorField::Place => Some(count(u64::from(planned.place))),
        OperatorField::InLastPlan => Some(Value::Flag(operator.is_last)),
        OperatorField::Rows => operator.total(SqlCounter::OutputRows).map(count),
        OperatorField::Time => planned.time.map(time),
        OperatorField::Stages => Some(count(operator.stages.len() as u64)),
    }
}

/// A metric of an operator.
#[must_use]
pub(super) fn metric<'a>(row: Row<'a>, of: &MetricName) -> Option<Value<'a>> {
    let Row::Operator(planned) = row else { return None };
    planned.operator.metric(&of.name, of.amount).map(Value::Number)
}

/// A metric of the subject, if it is an operator.
#[must_use]
pub(super) fn metric_of_subject<'a>(judged: Judged<'a>, of: &MetricName) -> Option<Value<'a>> {
    let Judged::Operator(_, planned) = judged else { return None };
    metric(Row::Operator(planned), of)
}

fn text(text: &str) -> Value<'_> {
    Value::Text(Cow::Borrowed(text))
}

fn time<'a>(time: Millis) -> Value<'a> {
    Value::Number(time.as_f64())
}

fn count<'a>(count: u64) -> Value<'a> {
    Value::Number(count as f64)
}
