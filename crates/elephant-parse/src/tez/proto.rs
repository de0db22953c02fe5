//! The protobuf form: a `HistoryEventProto` per event, in sequence files (`ProtoHistoryLoggingService`).
//!
//! Source: `HistoryLogger.proto` of Tez's protobuf history plugin, and the wire format of Protocol Buffers. Files of
//! `dag_meta` hold a `ManifestEntryProto` per DAG instead, which repeats ids and names files.

use serde_json::Value;

use super::id::Id;
use super::info::Info;
use super::record::{Record, Subject};

/// What a message is.
pub(super) enum Message {
    Event(Box<Record>),
    /// An entry of a manifest, or an event about something that is not read, such as a container.
    NoEvent,
}

/// Reads a value of a sequence file: a message after its length; `None` if it is damaged.
pub(super) fn message(value: &[u8]) -> Option<Message> {
    let mut wire = Wire(value);
    let len = usize::try_from(wire.varint()?).ok()?;
    let message = wire.0.get(..len)?;
    event(message)
}

/// The fields of a `HistoryEventProto`.
fn event(message: &[u8]) -> Option<Message> {
    let mut wire = Wire(message);
    let (mut kind, mut time, mut id, mut user) = (None, None, None, None);
    let mut info = Info::default();
    while !wire.0.is_empty() {
        match wire.field()? {
            (1, Field::Bytes(text)) => kind = Some(std::str::from_utf8(text).ok()?.to_owned()),
            // Numbers of 64 bits are written in two's complement.
            (2, Field::Number(number)) => time = Some(number.cast_signed()),
            (3, Field::Bytes(text)) => user = Some(std::str::from_utf8(text).ok()?.to_owned()),
            // From the application to the attempt: the last is the most specific.
            (4 | 6..=9, Field::Bytes(text)) => id = Id::parse(std::str::from_utf8(text).ok()?).or(id),
            (10, Field::Bytes(pair)) => add(&mut info, pair)?,
            _ => {}
        }
    }
    // In a manifest, the first field is the id of a DAG.
    let Some((kind, id)) = kind.filter(|kind| Id::parse(kind).is_none()).zip(id) else {
        return Some(Message::NoEvent);
    };
    info.user = user.or(info.user);
    let events = time.map(|time| (kind, time)).into_iter().collect();
    Some(Message::Event(Box::new(Record { subject: Subject::Tez(id), info, events })))
}

/// Adds a `KVPair`.
fn add(info: &mut Info, pair: &[u8]) -> Option<()> {
    let mut wire = Wire(pair);
    let (mut key, mut value) = ("", None);
    while !wire.0.is_empty() {
        match wire.field()? {
            (1, Field::Bytes(text)) => key = std::str::from_utf8(text).ok()?,
            (2, Field::Bytes(text)) => value = Some(String::from_utf8_lossy(text)),
            _ => {}
        }
    }
    if let Some(value) = value.filter(|_| Info::keeps(key)) {
        info.set(key, Value::String(value.into_owned()));
    }
    Some(())
}

/// The bytes of a message that are still to be read.
struct Wire<'a>(&'a [u8]);

enum Field<'a> {
    Number(u64),
    Bytes(&'a [u8]),
    Other,
}

impl<'a> Wire<'a> {
    /// The next field, with its number.
    fn field(&mut self) -> Option<(u64, Field<'a>)> {
        let key = self.varint()?;
        let field = match key & 7 {
            0 => Field::Number(self.varint()?),
            1 => self.skip(8)?,
            2 => {
                let len = usize::try_from(self.varint()?).ok()?;
                let (bytes, rest) = self.0.split_at_checked(len)?;
                self.0 = rest;
                Field::Bytes(bytes)
            }
            5 => self.skip(4)?,
            _ => return None,
        };
        Some((key >> 3, field))
    }

    fn skip(&mut self, len: usize) -> Option<Field<'a>> {
        self.0 = self.0.get(len..)?;
        Some(Field::Other)
    }

    /// Seven bits per byte, the lowest first.
    fn varint(&mut self) -> Option<u64> {
        let mut number = 0;
        for shift in (0..64).step_by(7) {
            let (&byte, rest) = self.0.split_first()?;
            self.0 = rest;
            number |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return Some(number);
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn varint(mut number: u64) -> Vec<u8> {
        let mut bytes = Vec::new();
        while number >= 0x80 {
            bytes.push(u8::try_from(number & 0x7f).unwrap() | 0x80);
            number >>= 7;
        }
        bytes.push(u8::try_from(number).unwrap());
        bytes
    }

    fn text(field: u64, text: &[u8]) -> Vec<u8> {
        [varint(field << 3 | 2), varint(text.len() as u64), text.to_vec()].concat()
    }

    #[test]
    fn an_event_is_about_its_most_specific_id() {
        let pair = [text(1, b"vertexName"), text(2, b"Map 1")].concat();
        let other = [text(1, b"stats"), text(2, b"{}")].concat();
        let message_bytes = [
            text(1, b"VERTEX_INITIALIZED"),
            [varint(2 << 3), varint(1_500_000_000_000)].concat(),
            text(4, b"application_7_0001"),
            text(6, b"dag_7_0001_1"),
            text(7, b"vertex_7_0001_1_03"),
            text(10, &pair),
            text(10, &other),
        ]
        .concat();
        let value = [varint(message_bytes.len() as u64), message_bytes].concat();
        let Some(Message::Event(record)) = message(&value) else { panic!("no event") };
        assert!(matches!(record.subject, Subject::Tez(Id::Vertex(_, 3))));
        assert_eq!(record.info.name.as_deref(), Some("Map 1"));
        assert_eq!(record.events, [("VERTEX_INITIALIZED".to_owned(), 1_500_000_000_000)]);
        for cut in 1..value.len() {
            assert!(message(&value[..cut]).is_none(), "{cut}");
        }
    }

    #[test]
    fn manifests_hold_no_events() {
        let entry =
            [text(1, b"dag_7_0001_1"), text(2, b"application_7_0001"), text(5, b"/x/dag_data/f")].concat();
        let value = [varint(entry.len() as u64), entry].concat();
        assert!(matches!(message(&value), Some(Message::NoEvent)));
    }
}
