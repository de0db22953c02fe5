//! Binary histories whose schemas and lengths claim more than any file contains.

use std::fs;

use crate::run::{elephant, run};

/// An Avro `long`.
fn long(value: i64) -> Vec<u8> {
    let mut rest = (value << 1).cast_unsigned() ^ (value >> 63).cast_unsigned();
    let mut bytes = Vec::new();
    while rest >= 0x80 {
        bytes.push((rest & 0x7f) as u8 | 0x80);
        rest >>= 7;
    }
    bytes.push((rest & 0x7f) as u8);
    bytes
}

/// A history with one event type whose only field has the type `field`.
fn history(field: &str, event: &[u8]) -> Vec<u8> {
    let of_records = format!(
        "{{\"type\":\"record\",\"name\":\"TaskStarted\",\"fields\":[{{\"name\":\"x\",\"type\":{field}}}]}}"
    );
    with_bodies(&of_records, event)
}

fn with_bodies(bodies: &str, event: &[u8]) -> Vec<u8> {
    let schema = format!(
        "{{\"type\":\"record\",\"name\":\"Event\",\"fields\":[{{\"name\":\"type\",\"type\":{{\"type\":\"enum\",\"name\":\"T\",\
         \"symbols\":[\"TASK_STARTED\"]}}}},{{\"name\":\"event\",\"type\":[{bodies}]}}]}}\n"
    );
    // The first event type and the first branch of the union.
    [b"Avro-Binary\n", schema.as_bytes(), &long(0), &long(0), event].concat()
}

#[test]
fn lengths_are_not_trusted() {
    let fields = [
        "{\"type\":\"array\",\"items\":\"null\"}",
        "{\"type\":\"array\",\"items\":\"string\"}",
        "{\"type\":\"array\",\"items\":{\"type\":\"record\",\"name\":\"N\",\"fields\":[]}}",
        "{\"type\":\"array\",\"items\":{\"type\":\"array\",\"items\":{\"type\":\"array\",\"items\":\"null\"}}}",
        "{\"type\":\"map\",\"values\":\"null\"}",
        "\"string\"",
        "\"bytes\"",
        "{\"type\":\"fixed\",\"name\":\"F\",\"size\":4611686018427387904}",
    ];
    let lengths = [1 << 62, i64::MAX, i64::MIN, -1, -5, 1 << 40, 60 << 20];
    let mut histories = Vec::new();
    for field in fields {
        for length in lengths {
            for behind in [&[0; 9][..], &long(1 << 62), &[0xff; 12]] {
                histories.push(history(field, &[&long(length), behind].concat()));
            }
        }
    }
    // A type that contains itself, and types that each contain the previous one twice.
    histories.push(history("[\"null\",\"TaskStarted\"]", &long(1).repeat(1 << 20)));
    histories.push(history("\"TaskStarted\"", &[0; 100]));
    let mut doubling = vec!["{\"type\":\"record\",\"name\":\"A0\",\"fields\":[]}".to_owned()];
    for level in 1..60 {
        let before = level - 1;
        doubling.insert(0, format!("{{\"type\":\"record\",\"name\":\"A{level}\",\"fields\":[{{\"name\":\"a\",\"type\":\"A{before}\"}},{{\"name\":\"b\",\"type\":\"A{before}\"}}]}}"));
    }
    doubling.reverse();
    histories.push(with_bodies(&doubling.join(","), &[0; 10]));
    histories.push(history(
        &("{\"type\":\"array\",\"items\":".repeat(100_000) + "\"int\"" + &"}".repeat(100_000)),
        &[0; 10],
    ));
    let folder = tempfile::tempdir().unwrap();
    for (place, bytes) in histories.iter().enumerate() {
        fs::write(folder.path().join(format!("job_1_{place:04}.jhist")), bytes).unwrap();
    }
    let ran = run(elephant().args(["analyze", "--allow-empty"]).arg(folder.path()));
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    assert!(!ran.stderr.contains("panicked"), "{}", ran.stderr);
    assert!(ran.peak_mib < 300, "{} MiB", ran.peak_mib);
    for place in 0..histories.len() {
        let problems = ran.stderr.matches(&format!("job_1_{place:04}")).count();
        assert!((1..=4).contains(&problems), "{place} has {problems} problems");
    }
}
