//! `Avro-Json` histories: a line `Avro-Json`, a line with the schema, then an event a line.
//!
//! Source: `org.apache.hadoop.mapreduce.jobhistory.EventWriter` with `WriteMode.JSON`. Events carry their
//! own field names, so the schema is not needed. Avro writes unions as `{"branch": value}`; some writers
//! leave the branch out. Both are read, at any place.

use std::io::Read;

use super::fields::{self, Slot, slot};
use super::scan::{Cursor, RawStr, Scan, Unexpected};
use crate::input::window::{ByteWindow, LineReader, NextLine};
use crate::model::Interner;
use crate::model::counters::CounterSet;
use crate::parse::build::HistoryBuilder;
use crate::parse::event::{CounterNames, EventFields, EventKind, EventPayload, GroupIndex};
use crate::parse::problem::{Level, Position};
use crate::parse::{MAX_LINE_LEN, Parsed};

/// Unions nest one deep in real histories; a few more are allowed.
const MAX_WRAPPERS: usize = 4;

/// Reads a whole history.
pub fn parse<R: Read>(window: ByteWindow<R>) -> Parsed {
    let mut lines = LineReader::new(window, MAX_LINE_LEN);
    let mut builder = HistoryBuilder::default();
    let mut payload = EventPayload::default();
    let mut damaged = false;
    let mut in_events = false;
    loop {
        let line = match lines.next_line() {
            Ok(NextLine::Line(line)) => line,
            Ok(NextLine::TooLong { number }) => {
                builder.lose_event();
                builder.problems().warn("line-too-long", Some(Position::Line(number)), || {
                    format!("a line has more than {MAX_LINE_LEN} bytes; it was passed over")
                });
                continue;
            }
            Ok(NextLine::End) => break,
            Err(error) => {
                damaged = true;
                builder.problems().warn("truncated", None, || {
                    format!("the history could not be read to its end: {error}; what came before is used")
                });
                break;
            }
        };
        let at = Position::Line(line.number);
        let bytes = line.bytes.trim_ascii();
        if !in_events && !starts_like_an_event(bytes) {
            continue;
        }
        if bytes.is_empty() || bytes.starts_with(b"{\"type\":\"record\"") {
            continue;
        }
        in_events = true;
        if read_line(bytes, at, &mut builder, &mut payload).is_err() {
            if line.terminated {
                builder.lose_event();
                builder.problems().warn("broken-line", Some(at), || {
                    "a line is not a whole event; it was passed over, what rests on it is unknown".into()
                });
            } else {
                damaged = true;
                builder.problems().warn("truncated", Some(at), || {
                    "the history ends in the middle of an event; what came before is used".into()
                });
            }
        }
    }
    let (application, problems) = builder.finish(damaged);
    Parsed { applications: vec![application], confs: Vec::new(), problems }
}

fn starts_like_an_event(line: &[u8]) -> bool {
    let mut cursor = Cursor::new(line);
    cursor.expect(b'{').is_ok()
        && cursor.key().is_ok_and(|key| matches!(key.bytes, b"type" | b"event"))
        && !line.starts_with(b"{\"type\":\"record\"")
}

/// Reads the events of one line: one, but for writers that lost a line feed.
fn read_line(
    line: &[u8],
    at: Position,
    builder: &mut HistoryBuilder,
    payload: &mut EventPayload,
) -> Scan<()> {
    let mut cursor = Cursor::new(line);
    while cursor.peek().is_some() {
        payload.clear();
        let (names, strings) = builder.counter_names();
        let mut decoder = Decoder { fields: EventFields::default(), payload, names, strings };
        let type_name = decoder.event(&mut cursor)?.text();
        let mut fields = decoder.fields;
        match EventKind::from_hadoop_name(&type_name) {
            Some(kind) => {
                EventKind::complete_status(&type_name, &mut fields);
                builder.event(at, kind, &fields, payload);
            }
            None => builder.problems().add(Level::Info, "unknown-event", Some(at), || {
                format!("event type {type_name} is not known; it was passed over")
            }),
        }
    }
    Ok(())
}

/// Reads one event into fields and payload.
struct Decoder<'a, 'p> {
    fields: EventFields<'a>,
    payload: &'p mut EventPayload,
    names: &'p mut CounterNames,
    strings: &'p mut Interner,
}

impl<'a> Decoder<'a, '_> {
    /// `{"type": …, "event": {…}}`, in any order; returns the type.
    fn event(&mut self, cursor: &mut Cursor<'a>) -> Scan<RawStr<'a>> {
        let mut type_name = None;
        members(cursor, |cursor, key| match key.bytes {
            b"type" => {
                type_name = Some(cursor.string()?);
                Ok(())
            }
            b"event" => self.body(cursor, MAX_WRAPPERS),
            _ => cursor.skip_value(),
        })?;
        type_name.ok_or(Unexpected)
    }

    /// The event's record, with or without the name of its union branch around it.
    fn body(&mut self, cursor: &mut Cursor<'a>, wrappers: usize) -> Scan<()> {
        members(cursor, |cursor, key| {
            let known = std::str::from_utf8(key.bytes).ok().and_then(slot);
            match known {
                Some(slot) => self.value(cursor, slot, MAX_WRAPPERS),
                // `acls` is the only field of any version whose value is an object of free keys.
                None if cursor.peek() == Some(b'{') && wrappers > 0 && key.bytes != b"acls" => {
                    self.body(cursor, wrappers - 1)
                }
                None => cursor.skip_value(),
            }
        })
    }

    /// The value of a known field, with or without a union branch around it.
    fn value(&mut self, cursor: &mut Cursor<'a>, slot: Slot, wrappers: usize) -> Scan<()> {
        match cursor.peek().ok_or(Unexpected)? {
            b'"' => {
                let text = cursor.string()?.text();
                fields::set_text(&mut self.fields, slot, text);
                Ok(())
            }
            b'-' | b'0'..=b'9' => {
                if let Some(value) = cursor.integer_in_range()? {
                    fields::set_integer(&mut self.fields, slot, value);
                }
                Ok(())
            }
            b't' => {
                fields::set_flag(&mut self.fields, slot, true);
                cursor.literal(b"true")
            }
            b'f' => {
                fields::set_flag(&mut self.fields, slot, false);
                cursor.literal(b"false")
            }
            b'n' => cursor.literal(b"null"),
            b'[' => match fields::splits(self.payload, slot) {
                Some(array) => integers(cursor, array),
                None => cursor.skip_value(),
            },
            b'{' => match fields::counters(self.payload, slot) {
                Some(set) => {
                    let mut reader = CounterReader { names: self.names, strings: self.strings, set };
                    reader.counters(cursor, wrappers)
                }
                None if wrappers > 0 => {
                    members(cursor, |cursor, _branch| self.value(cursor, slot, wrappers - 1))
                }
                None => Err(Unexpected),
            },
            _ => Err(Unexpected),
        }
    }
}

/// Reads a `JhCounters` record.
struct CounterReader<'p> {
    names: &'p mut CounterNames,
    strings: &'p mut Interner,
    set: &'p mut CounterSet,
}

impl CounterReader<'_> {
    /// `{"name": …, "groups": […]}`, with or without the name of its union branch around it.
    fn counters(&mut self, cursor: &mut Cursor<'_>, wrappers: usize) -> Scan<()> {
        members(cursor, |cursor, key| match key.bytes {
            b"groups" => elements(cursor, |cursor| self.group(cursor)),
            _ if cursor.peek() == Some(b'{') && wrappers > 0 => self.counters(cursor, wrappers - 1),
            _ => cursor.skip_value(),
        })
    }

    fn group(&mut self, cursor: &mut Cursor<'_>) -> Scan<()> {
        let mut group = None;
        members(cursor, |cursor, key| match (key.bytes, group) {
            (b"name", _) => {
                group = Some(self.names.group(&cursor.string()?.text()));
                Ok(())
            }
            (b"counts", Some(group)) => elements(cursor, |cursor| self.counter(cursor, group)),
            _ => cursor.skip_value(),
        })
    }

    fn counter(&mut self, cursor: &mut Cursor<'_>, group: GroupIndex) -> Scan<()> {
        let start = *cursor;
        if let Ok((name, value)) = as_hadoop_writes_it(cursor) {
            self.names.record(group, name, value, self.set, self.strings);
            return Ok(());
        }
        *cursor = start;
        let (mut name, mut value) = (None, None);
        members(cursor, |cursor, key| {
            match key.bytes {
                b"name" => name = Some(cursor.string()?),
                b"value" => {
                    cursor.peek();
                    value = cursor.integer_in_range()?;
                }
                _ => cursor.skip_value()?,
            }
            Ok(())
        })?;
        if let (Some(name), Some(value)) = (name, value) {
            self.names.record(group, &name.text(), value, self.set, self.strings);
        }
        Ok(())
    }
}

/// One counter in the order and spacing of Hadoop's own writer; anything else is left to the slow way.
#[inline]
fn as_hadoop_writes_it<'a>(cursor: &mut Cursor<'a>) -> Scan<(&'a str, i64)> {
    cursor.literal(b"{\"name\":\"")?;
    let name = cursor.plain_string_tail()?;
    cursor.literal(b",\"displayName\":\"")?;
    cursor.plain_string_tail()?;
    cursor.literal(b",\"value\":")?;
    let value = cursor.integer()?;
    cursor.literal(b"}")?;
    Ok((std::str::from_utf8(name).map_err(|_| Unexpected)?, value))
}

/// Calls `each` with every key of an object; `each` takes the value.
fn members<'a>(
    cursor: &mut Cursor<'a>,
    mut each: impl FnMut(&mut Cursor<'a>, RawStr<'a>) -> Scan<()>,
) -> Scan<()> {
    cursor.expect(b'{')?;
    if cursor.take(b'}') {
        return Ok(());
    }
    loop {
        let key = cursor.key()?;
        each(cursor, key)?;
        if !cursor.take(b',') {
            return cursor.expect(b'}');
        }
    }
}

/// Calls `each` with every element of an array; `each` takes the element.
fn elements<'a>(cursor: &mut Cursor<'a>, mut each: impl FnMut(&mut Cursor<'a>) -> Scan<()>) -> Scan<()> {
    if cursor.peek() == Some(b'n') {
        return cursor.literal(b"null");
    }
    cursor.expect(b'[')?;
    if cursor.take(b']') {
        return Ok(());
    }
    loop {
        each(cursor)?;
        if !cursor.take(b',') {
            return cursor.expect(b']');
        }
    }
}

/// An array of 32-bit integers.
fn integers(cursor: &mut Cursor<'_>, array: &mut Vec<i32>) -> Scan<()> {
    array.clear();
    elements(cursor, |cursor| {
        cursor.peek();
        array.push(i32::try_from(cursor.integer()?).map_err(|_| Unexpected)?);
        Ok(())
    })
}
