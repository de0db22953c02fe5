//! Shortcuts give the same events as reading everything. A pretty-printed event is read without shortcuts.

use proptest::prelude::*;
use serde_json::{Map, Value, json};

use super::*;
use elephant_model::model::spark::ExecutorMetric;

const KEYS: [&str; 14] = [
    "Stage ID",
    "Stage IDs",
    "Stage Infos",
    "Stage Info",
    "Parent IDs",
    "Properties",
    "Job ID",
    "time",
    "metrics",
    "executionId",
    "description",
    "RDD Info",
    "Accumulables",
    "x",
];

fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => ".{0,30}",
        1 => prop::sample::select(vec![
            "true", "a}],", "},", "\"}],\"Parent IDs\":[", "},\"time\":5}", "\\", "{\"id\":\"0\"}", "\\\"}}",
        ])
        .prop_map(str::to_owned),
    ]
}

/// Values of members that Spark does not write.
fn unknown() -> impl Strategy<Value = Value> {
    let leaf =
        prop_oneof![text().prop_map(Value::from), any::<i32>().prop_map(Value::from), Just(json!(true))];
    leaf.prop_recursive(3, 12, 3, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..3).prop_map(Value::from),
            members(inner).prop_map(Value::from),
        ]
    })
}

fn members(value: impl Strategy<Value = Value>) -> impl Strategy<Value = Map<String, Value>> {
    prop::collection::vec((prop::sample::select(&KEYS[..]), value), 0..3)
        .prop_map(|members| members.into_iter().map(|(key, value)| (key.to_owned(), value)).collect())
}

prop_compose! {
    fn rdd()(id in 0..9, name in text(), scope in text(), disk in prop::bool::weighted(0.1), more in prop::option::weighted(0.1, unknown())) -> Value {
        let level = json!({"Use Disk": disk, "Use Memory": false, "Use Off Heap": false, "Deserialized": false, "Replication": 1});
        let mut rdd = json!({
            "RDD ID": id, "Name": name, "Scope": scope, "Callsite": "c", "Parent IDs": [id], "Storage Level": level,
            "Barrier": false, "DeterministicLevel": "DETERMINATE", "Number of Partitions": id,
            "Number of Cached Partitions": id, "Memory Size": 1, "Disk Size": 2,
        });
        rdd.as_object_mut().unwrap().extend(more.map(|value| ("Vendor".to_owned(), value)));
        rdd
    }
}

fn accumulable() -> impl Strategy<Value = Value> {
    let value = prop_oneof![
        any::<i64>().prop_map(Value::from),
        any::<u32>().prop_map(|value| Value::from(value.to_string())),
        any::<f64>().prop_map(Value::from),
        text().prop_map(Value::from),
    ];
    let name = prop_oneof![Just("internal.metrics.resultSize".to_owned()), text()];
    (0..999, name, value, any::<(bool, bool)>()).prop_map(|(id, name, value, (internal, sql))| {
        let mut all = json!({"ID": id, "Name": name, "Value": value, "Internal": internal, "Count Failed Values": true});
        if sql {
            all["Metadata"] = "sql".into();
        }
        all
    })
}

prop_compose! {
    fn stage()(
        id in 0..9,
        name in text(),
        rdds in prop::collection::vec(rdd(), 0..3),
        details in text(),
        accumulables in prop::collection::vec(accumulable(), 0..3),
        more in prop::option::weighted(0.2, unknown()),
    ) -> Value {
        let mut stage = json!({
            "Stage ID": id, "Stage Attempt ID": 0, "Stage Name": name, "Number of Tasks": 3, "RDD Info": rdds,
            "Parent IDs": [id], "Details": details, "Submission Time": 5, "Completion Time": 6,
            "Accumulables": accumulables, "Resource Profile Id": 0,
        });
        stage.as_object_mut().unwrap().extend(more.map(|value| ("Vendor".to_owned(), value)));
        stage
    }
}

fn properties() -> impl Strategy<Value = Value> {
    let more =
        prop::collection::vec((text(), prop_oneof![9 => text().prop_map(Value::from), 1 => unknown()]), 0..3);
    (more, prop::option::of(0..9u8), prop::option::of(text()), prop::option::of(text())).prop_map(
        |(more, execution, description, group)| {
            let mut all: Map<String, Value> = more.into_iter().collect();
            all.extend(execution.map(|id| ("spark.sql.execution.id".to_owned(), id.to_string().into())));
            all.extend(description.map(|text| ("spark.job.description".to_owned(), text.into())));
            all.extend(group.map(|text| ("spark.jobGroup.id".to_owned(), text.into())));
            all.into()
        },
    )
}

fn plan() -> impl Strategy<Value = Value> {
    let metrics = json!([{"name": "rows", "accumulatorId": 7, "metricType": "sum"}]);
    let node = move |(name, children, more): (String, Vec<Value>, Map<String, Value>)| {
        let mut node = json!({"nodeName": name, "simpleString": name, "children": children, "metadata": {}, "metrics": metrics});
        node.as_object_mut().unwrap().extend(more);
        node
    };
    let leaf = (text(), Just(Vec::new()), Just(Map::new())).prop_map(node.clone());
    leaf.prop_recursive(3, 8, 2, move |inner| {
        let more = prop_oneof![4 => Just(Map::new()), 1 => members(unknown())];
        (text(), prop::collection::vec(inner, 0..2), more).prop_map(node.clone())
    })
}

/// An event and its members without its name.
fn event() -> impl Strategy<Value = (&'static str, Value)> {
    let job = (prop::collection::vec(stage(), 0..3), properties()).prop_map(|(stages, properties)| {
        let all = json!({"Job ID": 1, "Submission Time": 5, "Stage Infos": stages, "Stage IDs": [1, 2], "Properties": properties});
        ("SparkListenerJobStart", all)
    });
    let stage = (stage(), properties(), any::<bool>()).prop_map(|(stage, properties, completed)| {
        if completed {
            return ("SparkListenerStageCompleted", json!({"Stage Info": stage}));
        }
        ("SparkListenerStageSubmitted", json!({"Stage Info": stage, "Properties": properties}))
    });
    let sql = (text(), plan(), any::<bool>()).prop_map(|(text, plan, started)| {
        if started {
            let all = json!({
                "executionId": 1, "rootExecutionId": 2, "description": text, "details": text,
                "physicalPlanDescription": text, "sparkPlanInfo": plan, "time": 5, "modifiedConfigs": {}, "jobTags": [],
            });
            return ("SparkListenerSQLExecutionStart", all);
        }
        let all = json!({"executionId": 1, "physicalPlanDescription": text, "sparkPlanInfo": plan});
        ("SparkListenerSQLAdaptiveExecutionUpdate", all)
    });
    let metrics = prop::collection::vec(-1..9i64, ExecutorMetric::COUNT).prop_map(|values| {
        let all = ExecutorMetric::ALL.iter().zip(values);
        let all: Map<String, Value> =
            all.map(|(metric, value)| (metric.name().to_owned(), value.into())).collect();
        (
            "SparkListenerStageExecutorMetrics",
            json!({"Executor ID": "1", "Stage ID": 2, "Stage Attempt ID": 0, "Executor Metrics": all}),
        )
    });
    let more = prop::option::weighted(0.2, unknown());
    (prop_oneof![job, stage, sql, metrics], more).prop_map(|((name, mut members), more)| {
        members.as_object_mut().unwrap().extend(more.map(|value| ("Vendor".to_owned(), value)));
        (name, members)
    })
}

/// The value with the members of some objects in another order; of none if `seed` is 0.
fn shuffled(value: Value, seed: &mut u64) -> Value {
    match value {
        Value::Object(members) => {
            let mut members: Vec<_> =
                members.into_iter().map(|(key, value)| (key, shuffled(value, seed))).collect();
            for place in 1..members.len() {
                *seed = seed.wrapping_mul(6_364_136_223_846_793_005).rotate_left(17);
                if seed.is_multiple_of(3) && *seed > 0 {
                    members.swap(place - 1, place);
                }
            }
            Value::Object(members.into_iter().collect())
        }
        Value::Array(elements) => elements.into_iter().map(|element| shuffled(element, seed)).collect(),
        other => other,
    }
}

/// The event after its name, with anything after it.
fn read_from(name: &str, members: &str) -> Scan<String> {
    let line = if members.starts_with('{') { members.replacen('{', ",", 1) } else { members.to_owned() };
    let (mut cursor, mut strings) = (Cursor::new(line.as_bytes()), Strings::default());
    let event = read(name.as_bytes(), &mut cursor, &mut strings)?;
    Ok(format!("{event:?} {:?}", std::str::from_utf8(cursor.rest()).unwrap().trim()))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn shortcuts_give_the_same_events((name, members) in event(), mut seed in prop_oneof![Just(0), any::<u64>()]) {
        let members = shuffled(members, &mut seed);
        let compact = read_from(name, &members.to_string());
        let pretty = read_from(name, &serde_json::to_string_pretty(&members).unwrap());
        prop_assert_eq!(&compact, &pretty, "{}", members);
        prop_assert!(compact.unwrap().ends_with("\"\""));
    }
}

#[test]
fn cut_events_are_refused() {
    let log = include_bytes!(concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../testdata/spark/3.5.9/healthy/app-20261121085752-0000.zstd"
    ));
    let log = String::from_utf8(zstd::decode_all(log.as_slice()).unwrap()).unwrap();
    let mut seen = std::collections::BTreeMap::new();
    for line in log.lines() {
        let (name, members) = line.strip_prefix("{\"Event\":\"").unwrap().split_once('"').unwrap();
        let times: &mut u32 = seen.entry(name).or_default();
        *times += 1;
        let is_long =
            ["JobStart", "StageSubmitted", "StageCompleted", "SQL"].iter().any(|part| name.contains(part));
        if !is_long || *times > 2 {
            continue;
        }
        assert!(read_from(name, members).is_ok_and(|event| event.ends_with("\"\"")), "{name}");
        for cut in (1..members.len()).step_by(3).chain(members.len() - 9..members.len()) {
            let Some(text) = members.get(..cut) else { continue };
            let read = read_from(name, text);
            assert!(read.is_err(), "{name}: {text}");
        }
    }
    assert!(seen.len() > 10);
}
