//! Tests the decoder with schemas and values made for the purpose.

mod properties;
mod source;

use serde_json::{Value, json};

use super::encode::Encoder;
use super::*;
use crate::counter_names::CounterNames;
use crate::event::EventKind;
use elephant_model::model::Interner;
use elephant_model::model::counters::{Counter, CounterSet};

const TASK_COUNTER: &str = "org.apache.hadoop.mapreduce.TaskCounter";

fn encoder() -> Encoder {
    Encoder::default()
}

/// A schema with two event types and two bodies; the first body has `fields`, the second has none.
fn schema(fields: &Value) -> Value {
    json!({"type": "record", "name": "Event", "namespace": "x", "fields": [
        {"name": "type", "type": {"type": "enum", "name": "EventType", "symbols": ["TASK_FINISHED", "COFFEE"]}},
        {"name": "event", "type": [
            {"type": "record", "name": "TaskFinished", "fields": fields},
            {"type": "record", "name": "Empty", "fields": []}]}]})
}

fn field(name: &str, kind: impl Into<Value>) -> Value {
    json!({"name": name, "type": kind.into()})
}

/// An event with the first body of [`schema`].
fn event(body: impl AsRef<[u8]>) -> Vec<u8> {
    encoder().long(0).long(0).raw(body).done()
}

/// The parts of an event that were kept.
#[derive(Debug, Default)]
struct Seen {
    len: usize,
    kind: Option<EventKind>,
    fields: EventFields<'static>,
    payload: EventPayload,
    strings: Interner,
}

fn decode(schema: &Value, bytes: &[u8]) -> Result<Seen, DecodeError> {
    decode_with(&Plan::compile(schema).unwrap(), bytes)
}

fn decode_with(plan: &Plan, bytes: &[u8]) -> Result<Seen, DecodeError> {
    let (mut fields, mut payload) = (EventFields::default(), EventPayload::default());
    let (mut names, mut strings) = (CounterNames::default(), Interner::default());
    let event = decode_event(plan, bytes, &mut fields, &mut payload, &mut names, &mut strings)?;
    let own = |text: Option<std::borrow::Cow<'_, str>>| text.map(|text| text.into_owned().into());
    let fields = EventFields {
        job_id: own(fields.job_id),
        task_type: own(fields.task_type),
        host: own(fields.host),
        finish_time: fields.finish_time,
        uberized: fields.uberized,
        ..EventFields::default()
    };
    Ok(Seen { len: event.len, kind: event.kind, fields, payload, strings })
}

fn damage(schema: &Value, bytes: &[u8]) -> &'static str {
    match decode(schema, bytes) {
        Err(DecodeError::Damaged(reason)) => reason,
        other => panic!("{other:?}"),
    }
}

fn jh_counters() -> Value {
    json!({"type": "record", "name": "JhCounters", "fields": [
        {"name": "name", "type": "string"},
        {"name": "groups", "type": {"type": "array", "items": {"type": "record", "name": "JhCounterGroup", "fields": [
            {"name": "name", "type": "string"}, {"name": "displayName", "type": "string"},
            {"name": "counts", "type": {"type": "array", "items": {"type": "record", "name": "JhCounter", "fields": [
                {"name": "name", "type": "string"}, {"name": "displayName", "type": "string"},
                {"name": "value", "type": "long"}]}}}]}}}]})
}

fn counter(name: &str, value: i64) -> Vec<u8> {
    encoder().text(name).text("shown").long(value).done()
}

fn group(name: &str, counters: &[Vec<u8>], block_len: usize) -> Vec<u8> {
    encoder().text(name).text("shown").blocks(counters, block_len).done()
}

#[test]
fn fields_are_found_by_name_in_any_order_and_any_fitting_type() {
    let schema = json!({"type": "record", "name": "Event", "fields": [
        {"name": "version", "type": "string"},
        {"name": "event", "type": ["null", {"type": "record", "name": "TaskFinished", "fields": [
            field("uberized", "boolean"),
            field("finishTime", json!(["long", "null"])),
            field("taskType", json!({"type": "enum", "name": "TaskType", "symbols": ["MAP", "REDUCE"]})),
            field("nothing", "null"),
            field("hostname", json!({"type": "bytes"})),
            field("jobid", json!(["null", "int", {"type": "string", "avro.java.string": "String"}])),
        ]}]},
        {"name": "type", "type": {"type": "enum", "name": "EventType", "symbols": ["A", "TASK_FINISHED"]}}]});
    let body = encoder().raw([1]).long(0).long(1300).long(1).text(b"h\xff").long(2).text("job_1");
    let bytes = encoder().text("2").long(1).raw(body.done()).long(1).done();
    let seen = decode(&schema, &[&bytes[..], b"next"].concat()).unwrap();
    assert_eq!((seen.len, seen.kind), (bytes.len(), Some(EventKind::TaskFinished)));
    let fields = seen.fields;
    assert_eq!(fields.job_id.as_deref(), Some("job_1"));
    assert_eq!(fields.task_type.as_deref(), Some("REDUCE"));
    assert_eq!(fields.host.as_deref(), Some("h\u{fffd}"));
    assert_eq!((fields.finish_time, fields.uberized), (Some(1300), Some(true)));
}

#[test]
fn a_null_field_is_unknown() {
    let schema = schema(&json!([field("finishTime", json!(["null", "long"])), field("jobid", "string")]));
    let seen = decode(&schema, &event(encoder().long(0).text("j").done())).unwrap();
    assert_eq!((seen.fields.finish_time, seen.fields.job_id.as_deref()), (None, Some("j")));
    let empty = encoder().long(1).long(1).done();
    assert_eq!(decode(&schema, &empty).unwrap().kind, None);
}

#[test]
fn types_are_found_by_structure_if_names_differ() {
    let schema = json!({"type": "record", "name": "E", "fields": [
        {"name": "what", "type": {"type": "enum", "name": "T", "symbols": ["TASK_FINISHED"]}},
        {"name": "type", "type": "string"},
        {"name": "body", "type": [{"type": "record", "name": "B", "fields": [field("jobId", "string")]}]}]});
    let seen = decode(&schema, &encoder().long(0).text("x").long(0).text("j").done()).unwrap();
    assert_eq!((seen.kind, seen.fields.job_id.as_deref()), (Some(EventKind::TaskFinished), Some("j")));
}

#[test]
fn counters_and_progress_go_into_the_payload() {
    let schema = schema(&json!([
        field("totalCounters", json!(["null", jh_counters()])),
        field("mapCounters", "JhCounters"),
        field("reduceCounters", "x.JhCounters"),
        field("clockSplits", json!({"type": "array", "items": "int"})),
    ]));
    let task = group(TASK_COUNTER, &[counter("SPILLED_RECORDS", 5), counter("GC_TIME_MILLIS", -6)], 1);
    let user = group("user", &[counter("ROWS", 7), counter("SPILLED_RECORDS", 9)], 5);
    let all = encoder().text("c").blocks(&[task, user.clone()], 1).done();
    let maps = encoder().text("m").blocks(&[user], 1).done();
    let splits: Vec<_> = (0..12).map(|value| encoder().long(value * 100).done()).collect();
    let body = encoder().long(1).raw(all).raw(maps).text("r").blocks(&[], 1).blocks(&splits, 5).done();
    let Seen { payload, strings, .. } = decode(&schema, &event(body)).unwrap();
    assert_eq!(payload.counters.get(Counter::SpilledRecords), Some(5));
    assert_eq!(payload.counters.get(Counter::GcTimeMillis), Some(-6));
    let others = |set: &CounterSet| -> Vec<_> {
        let name = |&other: &elephant_model::model::counters::OtherCounter| {
            (
                strings.get(other.group).unwrap().to_owned(),
                strings.get(other.name).unwrap().to_owned(),
                other.value,
            )
        };
        set.others.iter().map(name).collect()
    };
    let rows = ("user".to_owned(), "ROWS".to_owned(), 7);
    assert_eq!((others(&payload.counters), others(&payload.map_counters)), (vec![rows.clone()], vec![rows]));
    assert!(payload.reduce_counters.is_empty());
    assert_eq!(payload.progress.clock_ms, (0..12).map(|value| value * 100).collect::<Vec<i32>>());
}

#[test]
fn counters_may_come_before_the_name_of_their_group() {
    let schema = schema(&json!([
        field(
            "counters",
            json!({"type": "record", "name": "C", "fields": [
            field("groups", json!({"type": "array", "items": {"type": "record", "name": "G", "fields": [
                field("counts", json!({"type": "array", "items": {"type": "record", "name": "V", "fields": [
                    field("value", json!(["null", "int"])), field("extra", "double"), field("name", "string")]}})),
                field("name", json!(["null", "string"]))]}}))]})
        ),
        field("jobid", "string"),
    ]));
    let counter = |name: &str, value| encoder().long(1).long(value).raw([0; 8]).text(name).done();
    let unknown = encoder().long(0).raw([0; 8]).text("GC_TIME_MILLIS").done();
    let counts = [counter("SPILLED_RECORDS", 3), unknown, counter("CPU_MILLISECONDS", 4)];
    let group = encoder().blocks(&counts, 2).long(1).text(TASK_COUNTER).done();
    let nameless = encoder().blocks(&counts[..1], 1).long(0).done();
    let body = encoder().blocks(&[group, nameless], 2).text("j").done();
    let seen = decode(&schema, &event(body)).unwrap();
    let kept: Vec<_> = seen.payload.counters.iter().collect();
    assert_eq!(kept, [(Counter::SpilledRecords, 3), (Counter::CpuMilliseconds, 4)]);
    assert_eq!(seen.fields.job_id.as_deref(), Some("j"));
}

#[test]
fn fields_of_an_unsuitable_type_are_skipped() {
    let schema = schema(&json!([
        field("counters", "string"),
        field("mapCounters", json!({"type": "array", "items": "long"})),
        field("clockSplits", json!({"type": "array", "items": "string"})),
        field("cpuUsages", "string"),
        field("finishTime", "double"),
        field("taskType", json!({"type": "record", "name": "R", "fields": [field("jobid", "string")]})),
        field("hostname", "string"),
    ]));
    let strings = [encoder().text("7").done()];
    let body =
        encoder().text("1").long(0).blocks(&strings, 1).text("5").raw([0; 8]).text("inner").text("h").done();
    let seen = decode(&schema, &event(body)).unwrap();
    assert!(seen.payload.counters.is_empty() && seen.payload.progress.is_empty());
    assert_eq!((seen.fields.finish_time, seen.fields.task_type, seen.fields.job_id), (None, None, None));
    assert_eq!(seen.fields.host.as_deref(), Some("h"));
}

#[test]
fn recursion_depth_is_limited() {
    let schema = schema(&json!([field(
        "next",
        json!({"type": "record", "name": "List", "fields": [
        field("n", "int"), field("next", json!(["null", "List"]))]})
    )]));
    let list = |len: usize| event(encoder().raw([0, 2].repeat(len - 1)).raw([0, 0]).done());
    assert_eq!(decode(&schema, &list(50)).unwrap().len, list(50).len());
    assert!(damage(&schema, &list(1_000_000)).contains("nested"));
    let endless = json!([field("self", json!({"type": "record", "name": "L", "fields": [field("l", "L")]}))]);
    assert!(damage(&self::schema(&endless), &event([0; 50])).contains("nested"));
}

#[test]
fn mutually_recursive_types_are_compiled_once_each() {
    let chain = |parts: &[&str]| {
        let mut kind = json!("int");
        let mut fields = Vec::new();
        for depth in 0..5000 {
            let parts: Vec<_> = parts.iter().map(|part| field(part, kind.clone())).collect();
            fields.push(field("f", json!({"type": "record", "name": format!("R{depth}"), "fields": parts})));
            kind = json!(format!("R{depth}"));
        }
        schema(&json!(fields))
    };
    assert_eq!(decode(&chain(&["a", "b"]), &event([0; 2000])).unwrap_err(), DecodeError::Incomplete);
    assert!(damage(&chain(&["a"]), &event([0; 2000])).contains("nested"));
    let nested = (0..300).fold(json!("int"), |kind, _| json!({"type": "array", "items": kind}));
    assert_eq!(Plan::compile(&schema(&json!([field("f", nested)]))).unwrap_err(), SchemaError::TooDeep);
}

#[test]
fn arrays_of_empty_records_take_no_time() {
    let bomb = || encoder().long(1 << 60).long(-(1 << 60)).long(0).long(0).done();
    let empty = json!({"type": "record", "name": "R", "fields": [field("n", "null")]});
    let group = json!({"type": "record", "name": "G", "fields": []});
    let fields = json!([
        field("a", json!({"type": "array", "items": "null"})),
        field("b", json!({"type": "array", "items": empty})),
        field(
            "counters",
            json!({"type": "record", "name": "C", "fields": [
            field("groups", json!({"type": "array", "items": group}))]})
        ),
        field(
            "mapCounters",
            json!({"type": "record", "name": "D", "fields": [
            field("groups", json!({"type": "array", "items": {"type": "record", "name": "H", "fields": [
                field("counts", json!({"type": "array", "items": "G"}))]}}))]})
        ),
        field("clockSplits", json!({"type": "array", "items": "null"})),
        field("jobid", "string"),
    ]);
    let nested = encoder().blocks(&[bomb()], 1).done();
    let body = encoder().raw(bomb()).raw(bomb()).raw(bomb()).raw(nested).raw(bomb()).text("j").done();
    let seen = decode(&schema(&fields), &event(body)).unwrap();
    assert_eq!(seen.fields.job_id.as_deref(), Some("j"));
}

#[test]
fn impossible_values_are_damage() {
    let schema = schema(&json!([
        field("jobid", "string"),
        field("a", json!({"type": "array", "items": "long"})),
        field("m", json!({"type": "map", "values": "int"}))
    ]));
    assert_eq!(damage(&schema, &encoder().long(2).done()), "an enum has no such symbol");
    assert_eq!(damage(&schema, &encoder().long(-1).done()), "an enum has no such symbol");
    assert_eq!(damage(&schema, &encoder().long(0).long(2).done()), "a union has no such branch");
    assert_eq!(damage(&schema, &event(encoder().long(-1).done())), "a length is negative");
    assert!(damage(&schema, &event(encoder().text("j").long(1 << 50).done())).contains("array is larger"));
    assert!(damage(&schema, &event(encoder().text("j").long(-1).long(1 << 50).done())).contains("larger"));
    assert!(
        damage(&schema, &event(encoder().text("j").long(0).long(i64::MIN).long(-5).done()))
            .contains("negative")
    );
}

#[test]
fn schemas_without_events_are_refused() {
    let refused = |schema: Value| Plan::compile(&schema).unwrap_err();
    let kind = json!({"name": "type", "type": {"type": "enum", "name": "T", "symbols": ["A"]}});
    let record = |fields: Value| json!({"type": "record", "name": "E", "fields": fields});
    assert_eq!(refused(json!("string")), SchemaError::NotEvents);
    assert_eq!(refused(record(json!([]))), SchemaError::NotEvents);
    assert_eq!(refused(record(json!([kind]))), SchemaError::NotEvents);
    assert_eq!(
        refused(record(json!([kind, field("event", json!(["null", "int"]))]))),
        SchemaError::NotEvents
    );
}
