//! `Avro-Json` histories: a line `Avro-Json`, a line with the schema, then one event per line.
//!
//! Source: `org.apache.hadoop.mapreduce.jobhistory.EventWriter` with `WriteMode.JSON`. Events carry field
//! names, so the schema is not needed. Avro writes unions as `{"branch": value}`; some writers omit the
//! branch. Both forms are accepted everywhere.

mod counters;

use std::borrow::Cow;
use std::io::{self, Read};

use super::event_template::{EventTemplates, Trace, Use, Values};
use super::fields::{self, Slot, slot};
use crate::build::HistoryBuilder;
use crate::counter_names::CounterNames;
use crate::event::{EventFields, EventKind, EventPayload, Observer};
use crate::problem::{Level, Position, Problems};
use crate::scan::{Cursor, RawStr, Scan, Unexpected};
use crate::{OtherCounters, Parsed, ToldByName, too_long};
use counters::CounterReader;
use elephant_base::limits::{self, Limits};
use elephant_input::window::{ByteWindow, LineReader, NextLine};
use elephant_model::model::Interner;

/// Unions nest one level deep in real histories; allow a few more.
const MAX_WRAPPERS: usize = 4;

/// Parses a whole history.
pub fn parse<R: Read>(window: ByteWindow<R>) -> Parsed {
    parse_within(window, &Limits::default(), OtherCounters::Kept, ToldByName::default())
}

/// Parses a history within `limits` on lines and tasks.
pub fn parse_within<R: Read>(
    window: ByteWindow<R>,
    limits: &Limits,
    others: OtherCounters,
    name: ToldByName,
) -> Parsed {
    let mut reader = Reader::default();
    reader.builder.keep_within(limits, others);
    reader.builder.named(name);
    read_within(reader, window, limits)
}

/// Shows each event of a history to `observer`. Returns what could not be read.
pub fn observe<R: Read>(window: ByteWindow<R>, limits: &Limits, observer: &mut dyn Observer) -> Problems {
    let mut reader = Reader { observer: Some(observer), ..Reader::default() };
    reader.builder.keep_within(limits, OtherCounters::Dropped);
    read_within(reader, window, limits).problems
}

fn read_within<R: Read>(mut reader: Reader<'_>, window: ByteWindow<R>, limits: &Limits) -> Parsed {
    let mut lines = LineReader::new(window, limits.line_len());
    let mut damaged = false;
    let mut in_events = false;
    loop {
        let line = match lines.next_line() {
            Ok(NextLine::Line(line)) => line,
            Ok(NextLine::TooLong { number }) => {
                reader.builder.record_lost_event();
                reader.builder.reach_limit(limits::LINE);
                let at = Some(Position::Line(number));
                reader.builder.problems().warn("line-too-long", at, || too_long("a line", limits));
                continue;
            }
            Ok(NextLine::End) => break,
            Err(error) => {
                damaged = true;
                reader.stop(&error, None);
                break;
            }
        };
        let at = Position::Line(line.number);
        let bytes = line.bytes.trim_ascii();
        // Comments may precede the header, and events if the header is missing.
        let is_header = bytes == b"Avro-Json";
        in_events |= is_header || bytes.starts_with(b"{");
        if !in_events || is_header || bytes.is_empty() || bytes.starts_with(b"{\"type\":\"record\"") {
            continue;
        }
        if reader.line(bytes, at).is_err() {
            damaged |= !line.terminated;
            reader.broken_line(at, line.terminated);
        }
        if let Some(reached) = reader.builder.beyond_memory() {
            damaged = true;
            reader.stop(&reached.into(), Some(at));
            break;
        }
    }
    let beyond_memory = reader.builder.beyond_memory().is_some();
    let (application, problems) = reader.builder.finish(damaged);
    Parsed { applications: vec![application], problems, beyond_memory, ..Parsed::default() }
}

/// Reads events and passes them to the builder.
#[derive(Default)]
struct Reader<'o> {
    observer: Option<&'o mut dyn Observer>,
    builder: HistoryBuilder,
    payload: EventPayload,
    templates: EventTemplates,
    trace: Trace,
}

impl Reader<'_> {
    fn broken_line(&mut self, at: Position, terminated: bool) {
        if terminated {
            self.builder.record_lost_event();
            self.builder.problems().warn("broken-line", Some(at), || {
                "a line is not a complete event; it was skipped, and values that depend on it are unknown"
                    .into()
            });
        } else {
            self.builder.problems().warn("truncated", Some(at), || {
                "the job history ends in the middle of an event; the part before it is used".into()
            });
        }
    }

    /// Records that reading stopped because of `error`.
    fn stop(&mut self, error: &io::Error, at: Option<Position>) {
        let code = limits::code_of(error, "truncated");
        self.builder.stop(error);
        self.builder.problems().warn(code, at, || {
            format!("the job history cannot be read to its end: {error}; the part before the error is used")
        });
    }

    /// Reads the events of one line: normally one, more if the writer lost a line feed.
    fn line(&mut self, line: &[u8], at: Position) -> Scan<()> {
        let mut cursor = Cursor::new(line);
        while cursor.peek().is_some() {
            self.event(&mut cursor, at)?;
        }
        Ok(())
    }

    fn event(&mut self, cursor: &mut Cursor<'_>, at: Position) -> Scan<()> {
        let Self { observer, builder, payload, templates, trace } = self;
        payload.clear();
        let (names, strings) = builder.counter_names();
        let mut decoder = Decoder { fields: EventFields::default(), payload, names, strings, trace };
        let known = templates.read(cursor, &mut decoder);
        let (kind, type_name, mut fields) = if let Some(template) = known {
            (template.kind, Cow::Borrowed(template.type_name.as_str()), decoder.fields)
        } else {
            decoder.trace.clear();
            let rest = cursor.rest();
            let type_name = decoder.event(cursor)?.text();
            let fields = decoder.fields;
            let len = rest.len() - cursor.rest().len();
            templates.learn(rest, len, trace, &type_name);
            (EventKind::from_hadoop_name(&type_name), type_name, fields)
        };
        match kind {
            Some(kind) => {
                EventKind::complete_status(&type_name, &mut fields);
                if let Some(observer) = observer {
                    observer.event(at, kind, &fields, payload);
                }
                builder.event(at, kind, &fields, payload);
            }
            None => builder.problems().add(Level::Info, "unknown-event", Some(at), || {
                format!("events of the unknown type {type_name} were skipped")
            }),
        }
        Ok(())
    }
}

/// Decodes one event into fields and payload.
struct Decoder<'a, 'p> {
    fields: EventFields<'a>,
    payload: &'p mut EventPayload,
    names: &'p mut CounterNames,
    strings: &'p mut Interner,
    trace: &'p mut Trace,
}

impl<'a> Values<'a> for Decoder<'a, '_> {
    fn restart(&mut self) {
        self.fields = EventFields::default();
        self.payload.clear();
    }

    fn take(&mut self, cursor: &mut Cursor<'a>, purpose: Use) -> Scan<()> {
        match purpose {
            Use::Keep(slot, wrappers) => self.leaf(cursor, slot, wrappers),
            Use::Skip if cursor.peek() == Some(b'{') => Err(Unexpected),
            Use::Skip => cursor.skip_value(),
        }
    }
}

impl<'a> Decoder<'a, '_> {
    /// Skips a value and records it in the trace.
    fn skip(&mut self, cursor: &mut Cursor<'a>) -> Scan<()> {
        let before = cursor.rest().len();
        cursor.skip_value()?;
        self.trace.value(before, cursor.rest().len(), Use::Skip);
        Ok(())
    }

    /// `{"type": …, "event": {…}}`, in any order; returns the type.
    fn event(&mut self, cursor: &mut Cursor<'a>) -> Scan<RawStr<'a>> {
        let mut type_name = None;
        members(cursor, |cursor, key| match &*plain(key) {
            b"type" => {
                type_name = Some(cursor.string()?);
                Ok(())
            }
            b"event" => self.body(cursor, MAX_WRAPPERS),
            _ => self.skip(cursor),
        })?;
        type_name.ok_or(Unexpected)
    }

    /// The event's record, optionally wrapped in the name of its union branch.
    fn body(&mut self, cursor: &mut Cursor<'a>, wrappers: usize) -> Scan<()> {
        members(cursor, |cursor, key| {
            let key = plain(key);
            let known = std::str::from_utf8(&key).ok().and_then(slot);
            match known {
                Some(slot) => self.value(cursor, slot, MAX_WRAPPERS),
                // `acls` is the only field of any version whose value is an object with arbitrary keys.
                None if cursor.peek() == Some(b'{') && wrappers > 0 && *key != *b"acls" => {
                    self.body(cursor, wrappers - 1)
                }
                None => self.skip(cursor),
            }
        })
    }

    /// The value of a known field, optionally wrapped in a union branch.
    fn value(&mut self, cursor: &mut Cursor<'a>, slot: Slot, wrappers: usize) -> Scan<()> {
        if cursor.peek() == Some(b'{') && !slot.is_counters() && wrappers > 0 {
            return members(cursor, |cursor, _branch| self.value(cursor, slot, wrappers - 1));
        }
        let before = cursor.rest().len();
        self.leaf(cursor, slot, wrappers)?;
        self.trace.value(before, cursor.rest().len(), Use::Keep(slot, wrappers));
        Ok(())
    }

    /// The value of a known field without a union branch, except for counters.
    fn leaf(&mut self, cursor: &mut Cursor<'a>, slot: Slot, wrappers: usize) -> Scan<()> {
        let taken = match cursor.peek().ok_or(Unexpected)? {
            b'"' => fields::set_text(&mut self.fields, slot, cursor.string()?.text()),
            b'-' | b'0'..=b'9' => cursor
                .integer_in_range()?
                .is_some_and(|value| fields::set_integer(&mut self.fields, slot, value)),
            b't' => {
                cursor.literal(b"true")?;
                fields::set_flag(&mut self.fields, slot, true)
            }
            b'f' => {
                cursor.literal(b"false")?;
                fields::set_flag(&mut self.fields, slot, false)
            }
            b'n' => {
                cursor.literal(b"null")?;
                false
            }
            b'[' => {
                if let Some(array) = fields::splits(self.payload, slot) {
                    return integers(cursor, array);
                }
                cursor.skip_value()?;
                false
            }
            b'{' => match fields::counters(self.payload, slot) {
                Some(set) => {
                    let mut reader =
                        CounterReader { names: self.names, strings: self.strings, set, whole: 0 };
                    return reader.read(cursor, wrappers);
                }
                None => return Err(Unexpected),
            },
            _ => return Err(Unexpected),
        };
        if !taken {
            fields::mark_unreadable(&mut self.payload.unreadable, slot);
        }
        Ok(())
    }
}

/// A key with escapes resolved.
fn plain(key: RawStr<'_>) -> Cow<'_, [u8]> {
    if key.escaped { Cow::Owned(key.text().into_owned().into_bytes()) } else { Cow::Borrowed(key.bytes) }
}

/// Calls `each` with every key of an object; `each` must consume the value.
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

/// Calls `each` for every element of an array; `each` must consume the element.
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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use proptest::sample::Index;

    use super::*;

    /// Lines as Hadoop and others write them; `#` stands for a digit that may vary.
    const LINES: &[&str] = &[
        r#"{"type":"TASK_STARTED","event":{"x.TaskStarted":{"taskid":"task_1_2_m_00000#","taskType":"MAP","startTime":15#,"splitLocations":"/r/a,/r/b#"}}}"#,
        r#"{"type":"MAP_ATTEMPT_STARTED","event":{"x.A":{"taskid":"task_1_2_m_00000#","attemptId":"attempt_1_2_m_00000#_#","startTime":15#,"port":#,"locality":{"string":"NODE_LOCAL"},"avataar":null}}}"#,
        r#"{"type":"MAP_ATTEMPT_STARTED","event":{"x.A":{"taskid":"task_1_2_m_00000#","attemptId":"attempt_1_2_m_00000#_#","startTime":15#,"port":{"rackname":"/r#"},"locality":{"string":"NODE_LOCAL"},"avataar":null}}}"#,
        r#"{"type":"MAP_ATTEMPT_FINISHED","event":{"x.F":{"attemptId":"attempt_1_2_m_00000#_#","finishTime":99#,"hostname":"h#","counters":{"name":"C","groups":[{"name":"org.apache.hadoop.mapreduce.TaskCounter","displayName":"D","counts":[{"name":"SPILLED_RECORDS","displayName":"S","value":#},{"name":"ROWS","displayName":"R","value":##}]}]},"clockSplits":[#,1#]}}}"#,
        r#"{"type":"TASK_FINISHED","event":{"x.T":{"taskid":"task_1_2_m_00000#","finishTime":99#,"counters":{"name":"C","groups":[{"name":"org.apache.hadoop.mapreduce.TaskCounter","displayName":"D","counts":[{"name":"SPILLED_RECORDS","displayName":"S","value":#},{"name":"ROWS","displayName":"R","value":##}]}]},"successfulAttemptId":{"string":"attempt_1_2_m_00000#_#"}}}}"#,
        r#"{"type":"MAP_ATTEMPT_FINISHED","event":{"x.F":{"attemptId":"attempt_1_2_m_00000#_#","counters":{"groups":[{"name":"g","counts":[{"value":#,"name":"A"},{"name":"B","displayName":"b","value":#}]}]},"counters":{"a":{"groups":[{"name":"g","counts":[{"name":"A","displayName":"a","value":#}]}]}}}}}"#,
        r#"{"type":"NEWS_#","event":{"x.N":{"taskid":"task_1_2_m_00000#","uberized":true}}}"#,
        r#"{"event":{"x.F":{"finishTime":7#,"status":"KILLED"}},"type":"JOB_KILLED","more":{"a":#}}"#,
    ];

    /// Bytes that are significant to the decoder, and some that are not.
    const DAMAGE: &[u8] = b"0a{}[]\",: -\\\xff";

    /// A random variant of one of the lines, possibly with one damaged byte.
    fn line() -> impl Strategy<Value = Vec<u8>> {
        let digits = prop::collection::vec(0..4u8, 16);
        let damage = prop::option::weighted(0.3, (any::<Index>(), any::<Index>()));
        (prop::sample::select(LINES), digits, damage).prop_map(|(text, digits, damage)| {
            let mut digits = digits.into_iter().cycle();
            let digit = |byte: u8| if byte == b'#' { b'0' + digits.next().unwrap() } else { byte };
            let mut line: Vec<u8> = text.bytes().map(digit).collect();
            if let Some((at, byte)) = damage {
                let at = at.index(line.len());
                line[at] = DAMAGE[byte.index(DAMAGE.len())];
            }
            line
        })
    }

    /// The result of reading lines; `forgetful` resets the templates before each line.
    fn read(lines: &[Vec<u8>], forgetful: bool) -> String {
        let mut reader = Reader::default();
        let mut said = String::new();
        for (number, line) in (1..).zip(lines) {
            if forgetful {
                reader.templates = EventTemplates::default();
                *reader.builder.counter_names().0 = CounterNames::default();
            }
            said += if reader.line(line, Position::Line(number)).is_ok() { "+" } else { "-" };
        }
        let (app, problems) = reader.builder.finish(false);
        format!("{said} {app:?} {problems:?}")
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]
        #[test]
        fn earlier_lines_do_not_change_the_result(lines in prop::collection::vec(line(), 0..24)) {
            prop_assert_eq!(read(&lines, false), read(&lines, true));
        }
    }
}
