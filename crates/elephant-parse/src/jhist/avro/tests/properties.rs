//! Property tests: the decoder on generated schemas and on damaged values.

use proptest::prelude::*;

use super::source::{mini_event, mini_schema, problems};
use super::*;

/// A type and an encoded value of it.
fn any_value() -> impl Strategy<Value = (Value, Vec<u8>)> {
    let int = any::<i32>().prop_map(|value| (json!("int"), encoder().long(value.into()).done()));
    let leaf = prop_oneof![
        Just((json!("null"), Vec::new())),
        Just((json!("boolean"), vec![1])),
        int,
        any::<i64>().prop_map(|value| (json!({"type": "long"}), encoder().long(value).done())),
        any::<f32>().prop_map(|value| (json!("float"), value.to_le_bytes().to_vec())),
        any::<f64>().prop_map(|value| (json!("double"), value.to_le_bytes().to_vec())),
        prop::collection::vec(any::<u8>(), 0..80)
            .prop_map(|value| (json!("bytes"), encoder().text(value).done())),
        "\\PC{0,70}".prop_map(|value| (json!("string"), encoder().text(value).done())),
        prop::collection::vec(any::<u8>(), 0..9)
            .prop_map(|value| (json!({"type": "fixed", "name": "F", "size": value.len()}), value)),
        (0..3i64).prop_map(|value| {
            (json!({"type": "enum", "name": "E", "symbols": ["A", "B", "C"]}), encoder().long(value).done())
        }),
    ];
    leaf.prop_recursive(4, 40, 4, |inner| {
        let count = 0..6usize;
        prop_oneof![
            (inner.clone(), count.clone(), 1..4usize).prop_map(|((kind, bytes), count, block)| {
                (json!({"type": "array", "items": kind}), encoder().blocks(&vec![bytes; count], block).done())
            }),
            (inner.clone(), count, 1..4usize).prop_map(|((kind, bytes), count, block)| {
                let entry = encoder().text("key").raw(bytes).done();
                (json!({"type": "map", "values": kind}), encoder().blocks(&vec![entry; count], block).done())
            }),
            (prop::collection::vec(inner.clone(), 1..4), any::<prop::sample::Index>()).prop_map(
                |(all, chosen)| {
                    let chosen = chosen.index(all.len());
                    let bytes = encoder().long(i64::try_from(chosen).unwrap()).raw(&all[chosen].1).done();
                    (json!(all.into_iter().map(|(kind, _)| kind).collect::<Vec<_>>()), bytes)
                }
            ),
            prop::collection::vec(inner, 0..4).prop_map(|all| {
                let fields: Vec<_> = all.iter().map(|(kind, _)| field("jobid", kind.clone())).collect();
                let bytes = all.into_iter().flat_map(|(_, bytes)| bytes).collect();
                (json!({"type": "record", "name": "R", "fields": fields}), bytes)
            }),
        ]
    })
}

proptest! {
    #[test]
    fn known_fields_are_found_among_any_others(
        others in prop::collection::vec(any_value(), 4), job in "\\PC{0,200}", time in any::<i64>(),
        value in any::<i64>(), block in 1..4usize,
    ) {
        let [a, b, c, d] = <[_; 4]>::try_from(others).unwrap();
        let counters = json!({"type": "record", "name": "Cs", "fields": [
            field("x", b.0.clone()),
            field("groups", json!({"type": "array", "items": {"type": "record", "name": "G", "fields": [
                field("x", c.0.clone()),
                field("counts", json!({"type": "array", "items": {"type": "record", "name": "C", "fields": [
                    field("value", "long"), field("x", d.0.clone()), field("name", "string")]}})),
                field("name", "string")]}}))]});
        let fields = [field("x", a.0), field("jobid", "string"), field("counters", counters), field("finishTime", "long")];
        let counter = |name: &str| encoder().long(value).raw(&d.1).text(name).done();
        let counts = ["SPILLED_RECORDS", "ROWS", "GC_TIME_MILLIS"].map(counter);
        let group = |name: &str| encoder().raw(&c.1).blocks(&counts, block).text(name).done();
        let groups = [group(TASK_COUNTER), group("user")];
        let body = encoder().raw(a.1).text(&job).raw(&b.1).blocks(&groups, block).long(time).done();
        let bytes = event(body);
        let plan = Plan::compile(&schema(&json!(fields))).unwrap();
        let seen = decode_with(&plan, &bytes).unwrap();
        prop_assert_eq!(seen.len, bytes.len());
        prop_assert_eq!(seen.fields.job_id.as_deref(), Some(&*job));
        prop_assert_eq!(seen.fields.finish_time, Some(time));
        prop_assert_eq!(seen.payload.counters.get(Counter::SpilledRecords), Some(value));
        prop_assert_eq!(seen.payload.counters.get(Counter::GcTimeMillis), Some(value));
        prop_assert_eq!(seen.payload.counters.others.len(), 2);
        for cut in (0..bytes.len()).step_by(1 + bytes.len() / 100) {
            prop_assert_eq!(decode_with(&plan, &bytes[..cut]).unwrap_err(), DecodeError::Incomplete);
        }
    }

    #[test]
    fn arbitrary_bytes_never_break_the_decoder(
        events in 0..3usize, noise in prop::collection::vec(any::<u8>(), 0..200), portion in 1..50usize,
    ) {
        let bytes = [mini_event("job_1").repeat(events), noise].concat();
        prop_assert_eq!(problems(&bytes, portion, false), problems(&bytes, usize::MAX, false));
    }

    #[test]
    fn damaged_events_never_break_the_decoder(at in any::<prop::sample::Index>(), byte in any::<u8>()) {
        let mut bytes = mini_event("job_1").repeat(2);
        let at = at.index(bytes.len());
        bytes[at] = byte;
        prop_assert_eq!(problems(&bytes, 3, false), problems(&bytes, usize::MAX, false));
    }
}

/// An event with counters of several kinds and values, possibly with one damaged byte.
fn event_with_counters() -> impl Strategy<Value = Vec<u8>> {
    let kind = prop::collection::vec(prop::sample::select(&["SPILLED_RECORDS", "ROWS", "A"]), 0..3);
    let values = prop::collection::vec(prop_oneof![0..3i64, any::<i64>()], 3);
    let damage = prop::option::weighted(0.2, (any::<prop::sample::Index>(), any::<u8>()));
    (kind, values, 1..3usize, damage).prop_map(|(names, values, block_len, damage)| {
        let counters: Vec<_> = names.iter().zip(&values).map(|(name, &value)| counter(name, value)).collect();
        let groups = [group(TASK_COUNTER, &counters, block_len), group("g", &counters, 5)];
        let counters = encoder().text("c").blocks(&groups, 5).done();
        let splits: Vec<_> = values.iter().map(|&value| encoder().long(value % 9).done()).collect();
        let body = encoder().text("job_1").long(1300).long(1).raw(counters).blocks(&splits, 2).long(0).done();
        let mut event = event(body);
        if let Some((at, byte)) = damage {
            let at = at.index(event.len());
            event[at] = byte;
        }
        event
    })
}

proptest! {
    #[test]
    fn earlier_events_do_not_change_the_result(events in prop::collection::vec(event_with_counters(), 0..12)) {
        let plan = Plan::compile(&mini_schema()).unwrap();
        let (mut names, mut strings) = (CounterNames::default(), Interner::default());
        let mut payload = EventPayload::default();
        for bytes in &events {
            let mut fields = EventFields::default();
            let decoded = decode_event(&plan, bytes, &mut fields, &mut payload, &mut names, &mut strings);
            let (mut forgetful, mut other_fields) = (CounterNames::default(), EventFields::default());
            let mut other = EventPayload::default();
            let expected =
                decode_event(&plan, bytes, &mut other_fields, &mut other, &mut forgetful, &mut strings);
            prop_assert_eq!(decoded, expected);
            if decoded.is_ok() {
                let told = |payload: &EventPayload| {
                    let counters: Vec<_> = payload.counters.iter().collect();
                    format!("{counters:?} {:?} {:?}", payload.counters.others, payload.progress)
                };
                prop_assert_eq!(told(&payload), told(&other));
                prop_assert_eq!(format!("{fields:?}"), format!("{other_fields:?}"));
            }
        }
    }
}
