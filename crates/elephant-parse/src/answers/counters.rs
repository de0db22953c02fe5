//! Counters as the servers write them.

use serde_json::Value;

use crate::counter_names::CounterNames;
use crate::json_value::whole;
use elephant_model::model::Interner;
use elephant_model::model::counters::CounterSet;

/// The counters of a job: `counterGroup[].counter[]` with three values.
#[derive(Debug, Default)]
pub(super) struct JobCounters {
    pub(super) total: CounterSet,
    pub(super) map: CounterSet,
    pub(super) reduce: CounterSet,
}

impl JobCounters {
    pub(super) fn read(answer: &Value, names: &mut CounterNames, strings: &mut Interner) -> Self {
        let mut all = Self::default();
        for_each(answer, "counterGroup", |group, name, counter| {
            let sets = [
                ("totalCounterValue", &mut all.total),
                ("mapCounterValue", &mut all.map),
                ("reduceCounterValue", &mut all.reduce),
            ];
            let group_index = names.group(group);
            for (key, set) in sets {
                // Counters of the job itself have only a total; their other values are always 0.
                let is_part = key != "totalCounterValue";
                match counter.get(key).map(whole) {
                    Some(Some(0)) if is_part && group.ends_with("JobCounter") => {}
                    Some(Some(value)) => names.record(group_index, name, value, set, strings),
                    Some(None) => names.mark_unreadable(group_index, name, set, strings),
                    None => {}
                }
            }
        });
        all
    }
}

/// The counters of a task (`taskCounterGroup`) or of an attempt (`taskAttemptCounterGroup`): each has one value.
pub(super) fn read(
    answer: &Value,
    key: &str,
    names: &mut CounterNames,
    strings: &mut Interner,
) -> CounterSet {
    let mut set = CounterSet::default();
    for_each(answer, key, |group, name, counter| {
        let group = names.group(group);
        match counter.get("value").and_then(whole) {
            Some(value) => names.record(group, name, value, &mut set, strings),
            None => names.mark_unreadable(group, name, &mut set, strings),
        }
    });
    set
}

/// Passes the name of the group, the name of the counter, and the counter on.
fn for_each(answer: &Value, key: &str, mut look: impl FnMut(&str, &str, &Value)) {
    let groups = answer.get(key).and_then(Value::as_array).into_iter().flatten();
    for group in groups {
        let Some(name) = group.get("counterGroupName").and_then(Value::as_str) else { continue };
        for counter in group.get("counter").and_then(Value::as_array).into_iter().flatten() {
            if let Some(counter_name) = counter.get("name").and_then(Value::as_str) {
                look(name, counter_name, counter);
            }
        }
    }
}
