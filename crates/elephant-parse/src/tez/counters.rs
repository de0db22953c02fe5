//! Counters as Tez writes them: `counterGroups[].{counterGroupName, counters[].{counterName, counterValue}}`.

use serde_json::Value;

use crate::counter_names::CounterNames;
use crate::json_value::whole;
use elephant_model::model::Interner;
use elephant_model::model::counters::CounterSet;

/// The counters of a record before their names are looked up.
#[derive(Debug, Default)]
pub(super) struct RawCounters(Vec<Group>);

/// The name of a group, and names and values of its counters; `None` where a value is no number.
type Group = (String, Vec<(String, Option<i64>)>);

impl RawCounters {
    /// Reads the value of `counters`; `None` if it has no groups.
    pub(super) fn read(mut value: Value) -> Option<Self> {
        let Value::Array(groups) = value.get_mut("counterGroups")?.take() else { return None };
        Some(Self(groups.into_iter().filter_map(group).collect()))
    }

    /// Looks up the names and records the values.
    pub(super) fn record(self, names: &mut CounterNames, strings: &mut Interner) -> CounterSet {
        let mut set = CounterSet::default();
        for (group, counters) in self.0 {
            let group = names.group(&group);
            for (name, value) in counters {
                match value {
                    Some(value) => names.record(group, &name, value, &mut set, strings),
                    None => names.mark_unreadable(group, &name, &mut set, strings),
                }
            }
        }
        set
    }

    /// The number of counters.
    pub(super) fn len(&self) -> usize {
        self.0.iter().map(|(_, counters)| counters.len()).sum()
    }
}

fn group(mut group: Value) -> Option<Group> {
    let Value::String(name) = group.get_mut("counterGroupName")?.take() else { return None };
    let Value::Array(counters) = group.get_mut("counters")?.take() else { return None };
    let counter = |mut counter: Value| {
        let Value::String(name) = counter.get_mut("counterName")?.take() else { return None };
        Some((name, counter.get("counterValue").and_then(whole)))
    };
    Some((name, counters.into_iter().filter_map(counter).collect()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use elephant_model::model::counters::Counter;
    use serde_json::json;

    #[test]
    fn tez_has_its_own_names_and_those_of_edges_count_less() {
        let (mut names, mut strings) = (CounterNames::default(), Interner::default());
        let counter = |name, value| json!({"counterName": name, "counterValue": value});
        let raw = RawCounters::read(json!({"counterGroups": [
            {"counterGroupName": "TaskCounter_Reducer_2_INPUT_Map_1", "counters": [counter("SHUFFLE_BYTES", json!(1))]},
            {"counterGroupName": "org.apache.tez.common.counters.TaskCounter", "counters": [
                counter("SHUFFLE_BYTES", json!(5)), counter("OUTPUT_RECORDS", json!("6")),
                counter("CPU_MILLISECONDS", json!(-7)), counter("GC_TIME_MILLIS", json!("x")),
            ]},
            {"counterGroupName": "org.apache.tez.common.counters.FileSystemCounter", "counters": [
                counter("HDFS_BYTES_READ", json!(8)),
            ]},
            {"counterGroupName": "HIVE", "counters": [counter("RECORDS_IN", json!(9))]},
        ]}));
        let set = raw.unwrap().record(&mut names, &mut strings);
        assert_eq!(set.get(Counter::ReduceShuffleBytes), Some(5));
        assert_eq!(set.get(Counter::MapOutputRecords), Some(6));
        assert_eq!(set.get(Counter::CpuMilliseconds), Some(-7));
        assert_eq!(set.get(Counter::HdfsBytesRead), Some(8));
        assert_eq!(
            (set.get(Counter::GcTimeMillis), set.unreadable().has(Counter::GcTimeMillis)),
            (None, true)
        );
        assert!(RawCounters::read(json!({})).is_none());
    }
}
