//! Reads counters by their group and name.

use super::node::CounterName;
use super::scope::{Judged, Row, Scope};
use super::value::Value;
use elephant_model::model::Application;
use elephant_model::model::counters::CounterSet;
use elephant_model::model::table::TaskKind;

/// The sum of a counter over the subject's tasks, as the history has it: the whole job, its maps, or its reduces.
pub(super) fn of_job<'a>(scope: &Scope<'a, '_>, of: &CounterName) -> Option<Value<'a>> {
    let counters = &scope.app.counters;
    let set: &CounterSet = match scope.judged {
        Judged::Application => counters.total.as_ref(),
        Judged::Tasks(group) if group.kind == TaskKind::Map => counters.map.as_ref(),
        Judged::Tasks(group) if group.kind == TaskKind::Reduce => counters.reduce.as_ref(),
        _ => None,
    }?;
    let value = if let Some(counter) = of.typed {
        set.get(counter)
    } else {
        let [group, name] = [&of.group, &of.name].map(|text| scope.app.strings.find(text));
        set.other(group?, name?)
    };
    value.map(|value| Value::Number(value as f64))
}

/// A counter of an attempt.
pub(super) fn of_row<'a>(app: &Application, row: Row<'_>, of: &CounterName) -> Option<Value<'a>> {
    let Row::Attempt(group, row) = row else { return None };
    let [of_group, name] = [&of.group, &of.name].map(|text| app.strings.find(text));
    let value = group.attempts.other_counter(row, of_group?, name?)?;
    Some(Value::Number(value as f64))
}
