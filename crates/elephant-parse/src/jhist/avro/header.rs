//! Reads the header: an optional comment, the line `Avro-Binary`, the schema.

use std::io::{self, Read};
use std::sync::{Arc, Mutex, PoisonError};

use memchr::{memchr, memmem};
use serde_json::{Deserializer, Value};
use thiserror::Error;

use super::plan::Plan;
use super::schema::SchemaError;
use super::source::Source;

/// The first line of a binary history (`EventWriter.VERSION_BINARY`).
const MAGIC: &[u8] = b"Avro-Binary";
/// Maximum number of bytes before the first line.
const MAX_PREAMBLE: usize = 64 * 1024;
/// Maximum length of a schema. Hadoop's have about 10 KiB.
const MAX_SCHEMA: usize = 1 << 20;

/// Number of bytes to read before parsing the schema; Hadoop's schemas fit into it.
const FIRST_LOOK: usize = 32 * 1024;

/// Number of schemas to cache; a cluster has few versions of Hadoop.
const MAX_KNOWN: usize = 4;

/// The text of a schema and its compiled plan.
struct Known {
    schema: Box<[u8]>,
    plan: Arc<Plan>,
}

/// Cache of compiled schemas. A folder holds thousands of histories with the same schema, and compiling it
/// takes as long as reading a small history.
static KNOWN: Mutex<Vec<Known>> = Mutex::new(Vec::new());

/// Why no event of a source can be decoded.
#[derive(Debug, Error)]
pub(super) enum HeaderError {
    /// Not a binary history.
    #[error("it does not start with the line `Avro-Binary`")]
    NotBinary,
    /// The source ends before its events.
    #[error("it ends within its schema")]
    Truncated,
    /// The source cannot be read up to its events.
    #[error("it cannot be read to the end of its schema: {0}")]
    Io(io::Error),
    /// The schema is not JSON.
    #[error("the schema is not JSON: {0}")]
    Json(serde_json::Error),
    /// The schema is longer than any written by Hadoop.
    #[error("the schema is larger than 1 MiB")]
    TooLong,
    /// The schema is JSON but does not describe events.
    #[error("the schema cannot be used: {0}")]
    Schema(#[from] SchemaError),
}

/// Whether `head`, the start of a source, belongs to a binary history.
#[must_use]
pub fn looks_like_binary_history(head: &[u8]) -> bool {
    matches!(preamble(head), Preamble::Magic | Preamble::Schema(_))
}

/// Reads the header up to the first event.
///
/// # Errors
/// [`HeaderError`] if no event can be decoded.
pub(super) fn read_header<R: Read>(source: &mut Source<R>) -> Result<Arc<Plan>, HeaderError> {
    let start = loop {
        match preamble(source.bytes()) {
            Preamble::Schema(start) => break start,
            Preamble::Magic | Preamble::Unknown if source.bytes().len() > MAX_PREAMBLE => {
                return Err(HeaderError::NotBinary);
            }
            Preamble::Magic | Preamble::Unknown if source.grow() => {}
            Preamble::Magic => return Err(truncated(source)),
            Preamble::Unknown | Preamble::Other => return Err(HeaderError::NotBinary),
        }
    };
    source.consume(start);
    while source.bytes().len() < FIRST_LOOK && source.grow() {}
    if let Some((len, plan)) = known(source.bytes()) {
        source.consume(len);
        pass_line_end(source);
        return Ok(plan);
    }
    let (schema, len) = loop {
        let mut values = Deserializer::from_slice(source.bytes()).into_iter::<Value>();
        match values.next() {
            Some(Ok(value)) => break (value, values.byte_offset()),
            Some(Err(error)) if !error.is_eof() => return Err(HeaderError::Json(error)),
            _ if source.bytes().len() > MAX_SCHEMA => return Err(HeaderError::TooLong),
            _ if source.grow() => {}
            _ => return Err(truncated(source)),
        }
    };
    if len > MAX_SCHEMA {
        return Err(HeaderError::TooLong);
    }
    let plan = Arc::new(Plan::compile(&schema)?);
    remember(source.bytes().get(..len).unwrap_or_default(), &plan);
    source.consume(len);
    pass_line_end(source);
    Ok(plan)
}

fn pass_line_end<R: Read>(source: &mut Source<R>) {
    while source.bytes().len() < 2 && source.grow() {}
    // Only these: any other white space may be the first byte of an event.
    let line_end = [&b"\r\n"[..], b"\n"].into_iter().find(|end| source.bytes().starts_with(end));
    source.consume(line_end.map_or(0, <[u8]>::len));
}

/// The cached plan for the schema at the start of `bytes`, and the schema's length.
fn known(bytes: &[u8]) -> Option<(usize, Arc<Plan>)> {
    let known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    let found = known.iter().find(|known| bytes.starts_with(&known.schema));
    found.map(|known| (known.schema.len(), Arc::clone(&known.plan)))
}

fn remember(schema: &[u8], plan: &Arc<Plan>) {
    // Only a closing bracket proves that the schema ends here.
    if !schema.ends_with(b"}") && !schema.ends_with(b"]") {
        return;
    }
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    if known.len() < MAX_KNOWN && !known.iter().any(|known| *known.schema == *schema) {
        known.push(Known { schema: schema.into(), plan: Arc::clone(plan) });
    }
}

fn truncated<R: Read>(source: &mut Source<R>) -> HeaderError {
    source.take_failure().map_or(HeaderError::Truncated, HeaderError::Io)
}

#[derive(Debug, PartialEq, Eq)]
enum Preamble {
    /// The schema starts here.
    Schema(usize),
    /// The first line may be incomplete.
    Magic,
    /// The first line is not visible yet.
    Unknown,
    Other,
}

/// Skips blank lines and comments (`<!-- -->`, as in histories kept as test data, `#`, `//`).
fn preamble(bytes: &[u8]) -> Preamble {
    let mut rest = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    loop {
        rest = rest.trim_ascii_start();
        let (end, end_len) = if rest.starts_with(b"<!--") {
            (memmem::find(rest, b"-->"), 3)
        } else if rest.starts_with(b"#") || rest.starts_with(b"//") {
            (memchr(b'\n', rest), 1)
        } else {
            break;
        };
        let Some(end) = end else { return Preamble::Unknown };
        rest = rest.get(end + end_len..).unwrap_or_default();
    }
    let Some(after) = rest.strip_prefix(MAGIC) else {
        let starts = |text: &[u8]| text.starts_with(rest);
        return if starts(MAGIC) || starts(b"<!--") || starts(b"//") {
            Preamble::Unknown
        } else {
            Preamble::Other
        };
    };
    let line = memchr(b'\n', after);
    let blank = after.get(..line.unwrap_or(after.len())).unwrap_or_default().trim_ascii().is_empty();
    match line {
        _ if !blank => Preamble::Other,
        Some(line) => Preamble::Schema(bytes.len() - after.len() + line + 1),
        None => Preamble::Magic,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use elephant_input::window::ByteWindow;

    #[test]
    fn binary_histories_are_recognised() {
        for head in
            ["Avro-Binary\n{", "\n\nAvro-Binary\r\n", "<!--\n # > -->\nAvro-Binary\n", "# a\nAvro-Binary"]
        {
            assert!(looks_like_binary_history(head.as_bytes()), "{head}");
        }
        for head in ["Avro-Json\n{", "", "\n", "Avro-Bin", "Avro-BinaryX\n", "<!-- Avro-Binary\n", "Obj\x01"]
        {
            assert!(!looks_like_binary_history(head.as_bytes()), "{head}");
        }
    }

    #[test]
    fn truncated_headers_are_reported_as_truncated() {
        let header = "<!-- a --># b\n// c\n\n Avro-Binary\n";
        for cut in 0..header.len() {
            assert_ne!(preamble(&header.as_bytes()[..cut]), Preamble::Other, "{cut}");
        }
        assert_eq!(preamble(header.as_bytes()), Preamble::Schema(header.len()));
    }

    const SCHEMA: &str = r#"{"type": "record", "name": "Event", "fields": [
        {"name": "type", "type": {"type": "enum", "name": "T", "symbols": ["AM_STARTED"]}},
        {"name": "event", "type": [{"type": "record", "name": "A", "fields": []}]}]}"#;

    #[test]
    fn reading_the_header_stops_at_the_first_event() {
        for (end, events) in [("\n", "\n\n"), ("\r\n", " x"), ("", "x")] {
            let source = format!("Avro-Binary\n{SCHEMA}{end}{events}");
            let mut read = Source::new(ByteWindow::new(source.as_bytes()));
            read_header(&mut read).unwrap();
            assert_eq!(read.bytes(), events.as_bytes());
            assert_eq!(read.offset(), (source.len() - events.len()) as u64);
        }
    }

    #[test]
    fn unusable_headers_give_the_reason() {
        let why = |source: &str| {
            let mut source = Source::new(ByteWindow::new(source.as_bytes()));
            read_header(&mut source).unwrap_err().to_string()
        };
        assert!(why("Avro-Json\n").contains("does not start"));
        assert!(why("Avro-Binary\n{\"type\":").contains("ends within"));
        assert!(why("Avro-Binary\n[}").contains("not JSON"));
        assert!(why("Avro-Binary\n\"string\"\n").contains("not a record"));
        assert!(why(&format!("Avro-Binary\n[{}", " ".repeat(3 << 20))).contains("1 MiB"));
        assert!(why(&format!("Avro-Binary\n{}", "[".repeat(3 << 20))).contains("JSON"));
    }
}
