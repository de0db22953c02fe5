//! Targets for event logs, job histories and related files. The portions in which bytes arrive must not
//! matter.

use std::fs::File;
use std::io::{Cursor, Read, Seek, Write};

use elephant_base::limits::Limits;
use elephant_input::budget::Budget;
use elephant_input::codec::{self, Codec};
use elephant_input::kind;
use elephant_input::window::ByteWindow;
use elephant_model::model::Application;
use elephant_parse::spark::{self, Completeness, Feed, Log, Names};
use elephant_parse::{OtherCounters, Parsed, jhist};

use super::same::{Drip, assert_same, drain};

pub fn jhist_json(bytes: &[u8]) {
    parse_whole_and_in_portions(&prefixed(b"Avro-Json\n", bytes), |stream| {
        jhist::json::parse(ByteWindow::new(stream))
    });
}

pub fn jhist_binary(bytes: &[u8]) {
    parse_whole_and_in_portions(&prefixed(b"Avro-Binary\n", bytes), |stream| {
        jhist::avro::parse(ByteWindow::new(stream))
    });
}

pub fn hadoop1(bytes: &[u8]) {
    parse_whole_and_in_portions(bytes, |stream| elephant_parse::hadoop1::parse(ByteWindow::new(stream)));
}

pub fn tez(bytes: &[u8]) {
    parse_whole_and_in_portions(bytes, |stream| {
        let window = ByteWindow::new(stream);
        elephant_parse::tez::parse_one(String::new(), window, &Limits::default(), OtherCounters::Kept)
    });
}

pub fn answers(bytes: &[u8]) {
    parse_whole_and_in_portions(bytes, |stream| {
        let window = ByteWindow::new(stream);
        elephant_parse::answers::parse_one(String::new(), window, &Limits::default(), OtherCounters::Kept)
    });
}

pub fn jobconf(bytes: &[u8]) {
    let parsed = elephant_parse::jobconf::parse(bytes);
    assert_same("parsed again", &parsed, &elephant_parse::jobconf::parse(bytes));
    let _ = elephant_parse::jobconf::looks_like_conf(bytes);

    // With a comment, the general XML parser takes over from the parser for what Hadoop writes.
    let root = b"<configuration>";
    let at = bytes.windows(root.len()).position(|window| window == root);
    let once = |head: &[u8], mark| head.split(|&byte| byte == mark).count() == 2;
    let is_declaration = |head: &[u8]| {
        head.starts_with(b"<?xml ")
            && head.trim_ascii_end().ends_with(b"?>")
            && once(head, b'<')
            && once(head, b'>')
    };
    let is_plain = |head: &[u8]| head.is_empty() || is_declaration(head);
    if let Some((head, rest)) = at.map(|at| bytes.split_at(at)).filter(|(head, _)| is_plain(head)) {
        let commented = [head, &root[..], b"<!---->", &rest[root.len()..]].concat();
        let by_general_parser = elephant_parse::jobconf::parse(&commented);
        // Problems are not compared: one parser lists positions in the text, the other has its own
        // properties.
        assert!(
            parsed.0 == by_general_parser.0,
            "the parsers differ:\n  {:?}\n  {:?}",
            parsed.0,
            by_general_parser.0
        );
        assert_eq!(parsed.1.is_empty(), by_general_parser.1.is_empty(), "one parser has a problem");
    }
}

/// The kind found from the start must match the kind of the whole, and a complete start always has a kind.
pub fn kind(bytes: &[u8]) {
    assert!(elephant_parse::identify(bytes, true).is_some());
    for len in [bytes.len() / 4, bytes.len() / 2, bytes.len()] {
        let _ = elephant_parse::identify(&bytes[..len], false);
    }
    let mut decoded = codec::decode(Box::new(Cursor::new(bytes.to_vec())));
    let mut dripped = codec::decode(Box::new(Drip::new(bytes)));
    let kinds =
        [kind::of(&mut decoded, elephant_parse::identify), kind::of(&mut dripped, elephant_parse::identify)];
    // The bytes that a library decodes before damage depend on the portions.
    let is_damaged = decoded.codec() != Codec::Plain && drain(decoded, 1 << 16).error.is_some();
    assert!(kinds[0] == kinds[1] || is_damaged, "depends on the portions read: {kinds:?}");
}

/// Reading in blocks of any size, from a stream, a file or two parts must give the same application.
pub fn spark(bytes: &[u8]) {
    let whole = event_log(&[bytes], 512 << 10, |bytes| Feed::Stream(Box::new(Cursor::new(bytes.to_vec()))));
    let small = 1 + bytes.len() % 97;
    let dripped = event_log(&[bytes], small, |bytes| Feed::Stream(Box::new(Drip::new(bytes))));
    assert_alike("a stream in small blocks", &whole, &dripped);
    let filed = event_log(&[bytes], small, |bytes| Feed::File(file(bytes), bytes.len() as u64));
    assert_alike("a file in small blocks", &whole, &filed);
    let middle = bytes.len() / 2;
    if let Some(end) = bytes[middle..].iter().position(|byte| *byte == b'\n') {
        let (first, second) = bytes.split_at(middle + end + 1);
        let parts = event_log(&[first, second], small, |bytes| Feed::Stream(Box::new(Drip::new(bytes))));
        if whole.applications.len() == 1 {
            assert_same("in two parts", &whole.applications, &parts.applications);
        }
    }
}

/// Compares all fields. If a log has several applications, their string tables may contain strings of each
/// other, depending on the block size, so string numbers may differ.
fn assert_alike(what: &str, a: &Parsed, b: &Parsed) {
    if a.applications.len() == 1 {
        return assert_same(what, a, b);
    }
    let figures = |parsed: &Parsed| -> Vec<_> {
        let figures = |app: &Application| {
            let log = app.spark.as_ref().map(|spark| (spark.log, spark.gaps));
            (app.id.clone(), app.status, app.complete, app.task_count(), log)
        };
        parsed.applications.iter().map(figures).collect()
    };
    assert_same(
        what,
        &(figures(a), &a.problems, &a.part_problems),
        &(figures(b), &b.problems, &b.part_problems),
    );
}

fn event_log(parts: &[&[u8]], block_len: usize, feed: fn(&[u8]) -> Feed) -> Parsed {
    let part = |bytes: &&[u8]| {
        let bytes = bytes.to_vec();
        spark::Part { name: "log".to_owned(), open: Box::new(move || Ok(feed(&bytes))) }
    };
    let parts = parts.iter().map(part).collect();
    let log = Log { parts, names: Names::default(), completeness: Completeness::default() };
    spark::parse_in_blocks(&log, &Limits::default(), &Budget::unlimited(), block_len)
}

fn file(bytes: &[u8]) -> File {
    let mut file = tempfile::tempfile().unwrap();
    file.write_all(bytes).unwrap();
    file.rewind().unwrap();
    file
}

/// Adds a first line, which mutations would usually break.
fn prefixed(line: &[u8], bytes: &[u8]) -> Vec<u8> {
    if bytes.starts_with(line) { bytes.to_vec() } else { [line, bytes].concat() }
}

fn parse_whole_and_in_portions(bytes: &[u8], parse: fn(Box<dyn Read>) -> Parsed) {
    let whole = parse(Box::new(Cursor::new(bytes.to_vec())));
    let dripped = parse(Box::new(Drip::new(bytes)));
    assert_same("depends on the portions read", &whole, &dripped);
}
