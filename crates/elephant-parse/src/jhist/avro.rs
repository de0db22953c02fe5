//! Job histories in Avro's binary encoding (`EventWriter.WriteMode.BINARY`): a line `Avro-Binary`, the
//! writer's schema, then events without separators to the end of the file.
//!
//! Without separators, nothing after a damaged event can be read.

mod cursor;
mod decode;
#[cfg(test)]
mod encode;
mod header;
mod plan;
mod schema;
mod source;
#[cfg(test)]
mod tests;

use std::io::{self, Read};

pub use cursor::DecodeError;
pub use decode::{Decoded, decode_event};
pub use header::looks_like_binary_history;
pub use plan::Plan;
pub use schema::SchemaError;

use crate::build::HistoryBuilder;
use crate::event::{EventFields, EventKind, EventPayload, Observer};
use crate::{Level, MAX_EVENT_LEN, OtherCounters, Parsed, Position, Problems, ToldByName};
use elephant_base::limits::{self, Limits};
use elephant_base::units::Bytes;
use elephant_input::window::ByteWindow;
use header::{HeaderError, read_header};
use source::Source;

/// Parses a binary history.
pub fn parse<R: Read>(window: ByteWindow<R>) -> Parsed {
    parse_within(window, &Limits::default(), OtherCounters::Kept, ToldByName::default())
}

/// Parses a history within `limits` on events and tasks.
pub fn parse_within<R: Read>(
    window: ByteWindow<R>,
    limits: &Limits,
    others: OtherCounters,
    name: ToldByName,
) -> Parsed {
    let mut builder = HistoryBuilder::default();
    builder.keep_within(limits, others);
    builder.named(name);
    read_within(window, limits, builder, None)
}

/// Shows each event of a history to `observer`. Returns what could not be read.
pub fn observe<R: Read>(window: ByteWindow<R>, limits: &Limits, observer: &mut dyn Observer) -> Problems {
    let mut builder = HistoryBuilder::default();
    builder.keep_within(limits, OtherCounters::Dropped);
    read_within(window, limits, builder, Some(observer)).problems
}

fn read_within<R: Read>(
    window: ByteWindow<R>,
    limits: &Limits,
    builder: HistoryBuilder,
    observer: Option<&mut dyn Observer>,
) -> Parsed {
    let mut source = Source::new(window);
    let plan = match read_header(&mut source) {
        Ok(plan) => plan,
        Err(error) => return unusable(&error, source.offset()),
    };
    let mut history = History {
        plan: &plan,
        builder,
        observer,
        payload: EventPayload::default(),
        events: 0,
        max_event_len: limits.line_len().min(MAX_EVENT_LEN),
    };
    let damaged = history.read(&mut source);
    let beyond_memory = history.builder.beyond_memory().is_some();
    let (application, problems) = history.builder.finish(damaged);
    Parsed { applications: vec![application], problems, beyond_memory, ..Parsed::default() }
}

/// Where the events of a binary history are.
#[must_use]
pub fn event_ranges(bytes: &[u8]) -> Vec<std::ops::Range<usize>> {
    use crate::counter_names::CounterNames;
    use elephant_model::model::Interner;

    let mut source = Source::new(ByteWindow::new(bytes));
    let Ok(plan) = read_header(&mut source) else { return Vec::new() };
    let mut start = usize::try_from(source.offset()).unwrap_or(usize::MAX);
    let (mut payload, mut names, mut strings) =
        (EventPayload::default(), CounterNames::default(), Interner::default());
    let mut ranges = Vec::new();
    while let Some(rest) = bytes.get(start..).filter(|rest| !rest.is_empty()) {
        let fields = &mut EventFields::default();
        let Ok(event) = decode_event(&plan, rest, fields, &mut payload, &mut names, &mut strings) else {
            break;
        };
        ranges.push(start..start + event.len);
        start += event.len;
    }
    ranges
}

fn unusable(error: &HeaderError, offset: u64) -> Parsed {
    let code = match error {
        HeaderError::Truncated | HeaderError::Io(_) => "truncated",
        _ => "bad-schema",
    };
    let mut problems = Problems::default();
    problems.add(Level::Error, code, Some(Position::Byte(offset)), || {
        format!("the events of the binary history cannot be read: {error}; nothing was read")
    });
    Parsed { problems, ..Parsed::default() }
}

struct History<'p, 'o> {
    plan: &'p Plan,
    builder: HistoryBuilder,
    observer: Option<&'o mut dyn Observer>,
    payload: EventPayload,
    events: u64,
    max_event_len: usize,
}

impl History<'_, '_> {
    /// Reads all events; `true` if the source ends or breaks early.
    fn read<R: Read>(&mut self, source: &mut Source<R>) -> bool {
        loop {
            let (len, stop) = self.events(source.bytes(), source.offset());
            source.consume(len);
            if let Some(reached) = self.builder.beyond_memory() {
                return self.truncated(source.offset(), Some(&reached.into()));
            }
            let left = source.bytes().len();
            match stop {
                DecodeError::Damaged(reason) => return self.damaged(source.offset(), reason),
                DecodeError::Incomplete if left > self.max_event_len => {
                    return self.too_large(source.offset());
                }
                DecodeError::Incomplete if source.grow() => {}
                DecodeError::Incomplete => {
                    let failure = source.take_failure();
                    return (left > 0 || failure.is_some())
                        && self.truncated(source.offset(), failure.as_ref());
                }
            }
        }
    }

    /// Decodes the events in `bytes`; returns the bytes used and why decoding stopped.
    fn events(&mut self, bytes: &[u8], offset: u64) -> (usize, DecodeError) {
        let mut start = 0;
        loop {
            let rest = bytes.get(start..).unwrap_or_default();
            if rest.is_empty() {
                return (start, DecodeError::Incomplete);
            }
            let mut fields = EventFields::default();
            let (names, strings) = self.builder.counter_names();
            let event = match decode_event(self.plan, rest, &mut fields, &mut self.payload, names, strings) {
                Ok(event) => event,
                Err(error) => return (start, error),
            };
            let at = Position::Byte(offset + start as u64);
            match event.kind {
                Some(kind) => {
                    EventKind::complete_status(event.type_name, &mut fields);
                    if let Some(observer) = &mut self.observer {
                        observer.event(at, kind, &fields, &self.payload);
                    }
                    self.builder.event(at, kind, &fields, &self.payload);
                }
                None => self.builder.problems().add(Level::Info, "unknown-event", Some(at), || {
                    format!("events of the unknown type `{}` were skipped", event.type_name)
                }),
            }
            self.events += 1;
            start += event.len;
            if self.builder.beyond_memory().is_some() {
                return (start, DecodeError::Incomplete);
            }
        }
    }

    fn damaged(&mut self, offset: u64, reason: &str) -> bool {
        let events = self.events;
        self.builder.problems().warn("damaged", Some(Position::Byte(offset)), || {
            format!(
                "an event cannot be decoded: {reason}; binary histories have no separators to resume at, so only \
                 the {events} events before it were read"
            )
        });
        true
    }

    fn too_large(&mut self, offset: u64) -> bool {
        let (events, most) = (self.events, Bytes::new(self.max_event_len as u64));
        self.builder.reach_limit(limits::LINE);
        self.builder.problems().warn(limits::REACHED, Some(Position::Byte(offset)), || {
            format!(
                "an event is larger than {most}; binary histories have no separators to resume at, so only the {events} \
                 events before it were read (--max-line allows up to {})",
                Bytes::new(MAX_EVENT_LEN as u64)
            )
        });
        true
    }

    fn truncated(&mut self, offset: u64, failure: Option<&io::Error>) -> bool {
        let events = self.events;
        let code = failure.map_or("truncated", |error| limits::code_of(error, "truncated"));
        if let Some(error) = failure {
            self.builder.stop(error);
        }
        self.builder.problems().warn(code, Some(Position::Byte(offset)), || match failure {
            Some(error) => {
                format!("the source cannot be read further: {error}; only {events} events were read")
            }
            None => format!("the source ends within an event; only the {events} events before it were read"),
        });
        true
    }
}
