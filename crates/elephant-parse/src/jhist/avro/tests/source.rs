//! Whole sources: headers, read sizes, and early ends.

use std::io::{self, Read};

use super::*;

/// Yields `portion` bytes at a time and may fail at its end.
struct Drip<'a> {
    bytes: &'a [u8],
    portion: usize,
    breaks: bool,
}

impl Read for Drip<'_> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let count = self.portion.min(self.bytes.len()).min(out.len());
        if count == 0 && self.breaks {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        out[..count].copy_from_slice(&self.bytes[..count]);
        self.bytes = &self.bytes[count..];
        Ok(count)
    }
}

pub(super) fn mini_schema() -> Value {
    schema(&json!([
        field("jobid", "string"),
        field("finishTime", "long"),
        field("counters", json!(["null", jh_counters()])),
        field("clockSplits", json!({"type": "array", "items": "int"})),
        field("acls", json!({"type": "map", "values": "string"})),
    ]))
}

pub(super) fn mini_event(text: &str) -> Vec<u8> {
    let counters =
        encoder().text("c").blocks(&[group("g", &[counter("A", 1), counter("B", 2)], 1)], 1).done();
    let acls = [encoder().text("k").text("v").done()];
    event(encoder().text(text).long(1300).long(1).raw(counters).long(0).blocks(&acls, 1).done())
}

pub(super) fn problems(
    events: &[u8],
    portion: usize,
    breaks: bool,
) -> Vec<(&'static str, Option<Position>, String)> {
    let source = [b"Avro-Binary\n", mini_schema().to_string().as_bytes(), b"\n", events].concat();
    let header = (source.len() - events.len()) as u64;
    let parsed = parse(ByteWindow::new(Drip { bytes: &source, portion, breaks }));
    assert_eq!(parsed.applications.len(), 1);
    let told = |problem: crate::Problem| {
        let position = problem.position.map(|position| match position {
            Position::Byte(byte) => Position::Byte(byte - header),
            line @ Position::Line(_) => line,
        });
        (problem.known_code(), position, problem.message)
    };
    // The mini schema lacks fields of a whole job; the builder reports that for every event.
    let by_decoder =
        |problem: &crate::Problem| ["truncated", "damaged", "unknown-event"].contains(&&*problem.code);
    parsed.problems.into_vec().into_iter().filter(by_decoder).map(told).collect()
}

#[test]
fn an_early_end_is_reported_with_its_position() {
    let (one, big) = (mini_event("job_1"), mini_event(&"x".repeat(3_000_000)));
    let other = encoder().long(1).long(1).done();
    let fine = [&one[..], &big, &one].concat();
    for portion in [7, 4096, usize::MAX] {
        assert_eq!(problems(&fine, portion, false), []);
    }
    let [(code, position, message)] = &problems(&fine[..fine.len() - 1], 1000, false)[..] else { panic!() };
    let last = Some(Position::Byte((one.len() + big.len()) as u64));
    assert_eq!((*code, *position), ("truncated", last));
    assert!(message.contains("only the 2 events"), "{message}");
    let [(code, position, message)] = &problems(&fine, 1000, true)[..] else { panic!() };
    assert_eq!((*code, *position), ("truncated", Some(Position::Byte(fine.len() as u64))));
    assert!(message.contains("only 3 events"), "{message}");
    let [(code, position, message)] = &problems(&[&one[..], &[9], &one].concat(), 1000, false)[..] else {
        panic!()
    };
    assert_eq!((*code, *position), ("damaged", Some(Position::Byte(one.len() as u64))));
    assert!(message.contains("only the 1 events"), "{message}");
    let [(code, position, message)] = &problems(&[&other[..], &one, &other].concat(), 1000, false)[..] else {
        panic!()
    };
    assert_eq!((*code, *position), ("unknown-event", Some(Position::Byte(0))));
    assert!(message.contains("`COFFEE`"), "{message}");
}

#[test]
fn a_source_without_a_usable_header_has_no_application() {
    let code = |source: &[u8], breaks| {
        let parsed = parse(ByteWindow::new(Drip { bytes: source, portion: 5, breaks }));
        assert!(parsed.applications.is_empty());
        let problem = parsed.problems.into_vec().remove(0);
        (problem.level, problem.known_code())
    };
    assert_eq!(code(b"Avro-Binary\n\"string\"\n", false), (Level::Error, "bad-schema"));
    assert_eq!(code(b"Avro-Binary\n{\"type\"", false), (Level::Error, "truncated"));
    assert_eq!(code(b"Avro-Binary\n{\"type\"", true), (Level::Error, "truncated"));
    assert_eq!(code(b"", false), (Level::Error, "bad-schema"));
}
