//! Job histories in Avro's binary encoding: `Avro-Binary`, the schema, and events without separators
//! (`EventWriter.WriteMode.BINARY`).
//!
//! An event is read by its schema and written again by the same schema, so any reader of Avro can read the result.

mod schema;
mod value;

use std::io::{self, Read, Write};

use serde_json::{Deserializer, Value};

use self::schema::Schema;
use self::value::Unread;
use super::Dropped;
use super::jhist::fields;
use crate::json::{self, Context};
use crate::mask::{Mask, Meaning};
use elephant_input::window::ByteWindow;

const MAGIC: &[u8] = b"Avro-Binary";
/// The longest comment before the first line.
const LONGEST_COMMENT: usize = 64 << 10;
/// The longest schema. Hadoop's have about 10 KiB.
const LONGEST_SCHEMA: usize = 1 << 20;

pub(super) fn history(
    mask: &mut Mask,
    bytes: &mut dyn Read,
    longest: usize,
    out: &mut dyn Write,
) -> io::Result<Dropped> {
    let mut window = ByteWindow::new(bytes);
    let Some(schema) = header(&mut window) else {
        return Ok(Dropped { damaged: 1, broken_off: true, ..Dropped::default() });
    };
    let mut masked = String::new();
    let Some(types) = Schema::of(&schema) else {
        return Ok(Dropped { damaged: 1, broken_off: true, ..Dropped::default() });
    };
    // A schema that was read is valid JSON.
    if json::rewrite(mask, &schema.to_string(), Context::of(Meaning::Word), fields, &mut masked).is_err() {
        return Ok(Dropped { damaged: 1, broken_off: true, ..Dropped::default() });
    }
    out.write_all(MAGIC)?;
    writeln!(out, "\n{masked}")?;
    events(mask, &types, &mut window, longest, out)
}

fn events<R: Read>(
    mask: &mut Mask,
    types: &Schema,
    window: &mut ByteWindow<R>,
    longest: usize,
    out: &mut dyn Write,
) -> io::Result<Dropped> {
    let mut dropped = Dropped::default();
    let mut event = Vec::new();
    loop {
        match types.event_len(window.bytes()) {
            Ok(len) if len > 0 => {
                event.clear();
                types.write_event(window.bytes().get(..len).unwrap_or_default(), mask, &mut event);
                out.write_all(&event)?;
                window.consume(len);
                continue;
            }
            Err(Unread::Incomplete) if window.bytes().len() <= longest => match window.extend() {
                Ok(true) => continue,
                Ok(false) if window.bytes().is_empty() => return Ok(dropped),
                // The first byte of another event tells readers that this one is missing.
                Ok(false) | Err(_) => out.write_all(&[0])?,
            },
            Err(Unread::Incomplete) => dropped.too_long += 1,
            // An event without bytes would be read for ever.
            Ok(_) | Err(Unread::Damaged) => dropped.damaged += 1,
        }
        // Without separators, nothing after a damaged event can be read.
        dropped.broken_off = true;
        return Ok(dropped);
    }
}

/// Reads up to the first event; the schema.
fn header<R: Read>(window: &mut ByteWindow<R>) -> Option<Value> {
    let start = loop {
        let bytes = window.bytes();
        match memchr::memmem::find(bytes, MAGIC) {
            Some(at) if bytes.len() > at + MAGIC.len() => {
                let rest = bytes.get(at + MAGIC.len()..)?;
                break at
                    + MAGIC.len()
                    + rest.iter().take_while(|byte| matches!(byte, b'\r' | b'\n' | b' ')).count();
            }
            None if bytes.len() > LONGEST_COMMENT => return None,
            _ => window.extend().ok().filter(|more| *more)?,
        };
    };
    window.consume(start);
    let (schema, len) = loop {
        let mut values = Deserializer::from_slice(window.bytes()).into_iter::<Value>();
        match values.next() {
            Some(Ok(value)) => break (value, values.byte_offset()),
            Some(Err(error)) if !error.is_eof() => return None,
            _ if window.bytes().len() > LONGEST_SCHEMA => return None,
            _ => window.extend().ok().filter(|more| *more)?,
        };
    };
    window.consume(len);
    while window.bytes().len() < 2 && window.extend().unwrap_or(false) {}
    let line_end = [&b"\r\n"[..], b"\n"].into_iter().find(|end| window.bytes().starts_with(end));
    window.consume(line_end.map_or(0, <[u8]>::len));
    Some(schema)
}
