//! Detects a job history of Hadoop 2 or 3 by its first line.

use memchr::memchr;

use crate::event::EventKind;
use elephant_input::kind::SourceKind;

/// The kind of a Hadoop 2 or 3 job history by its first line, or by its second if the header is missing.
pub(super) fn jhist(line: &[u8]) -> Option<SourceKind> {
    match line {
        b"Avro-Json" => return Some(SourceKind::JhistJson),
        b"Avro-Binary" => return Some(SourceKind::JhistBinary),
        _ => {}
    }
    let (kind, rest) = json_string(after_tokens(line, &[b"{", b"\"type\"", b":"])?)?;
    let is_history = if kind == b"record" {
        is_event_schema(rest)
    } else {
        std::str::from_utf8(kind).ok().and_then(EventKind::from_hadoop_name).is_some()
            && after_tokens(rest, &[b",", b"\"event\"", b":", b"{"]).is_some()
    };
    is_history.then_some(SourceKind::JhistJson)
}

/// Whether an Avro schema is that of Hadoop's events; other programs also have records called `Event`.
fn is_event_schema(after_type: &[u8]) -> bool {
    const NAMESPACE: &[u8] = b"org.apache.hadoop.mapreduce.jobhistory";
    let Some(rest) = after_tokens(after_type, &[b",", b"\"name\"", b":", b"\"Event\""]) else { return false };
    match after_tokens(rest, &[b",", b"\"namespace\"", b":"]) {
        Some(namespace) => json_string(namespace).is_some_and(|(namespace, _)| namespace == NAMESPACE),
        None => true,
    }
}

/// The text after these tokens, which may be separated by white space.
fn after_tokens<'a>(text: &'a [u8], tokens: &[&[u8]]) -> Option<&'a [u8]> {
    tokens.iter().try_fold(text, |rest, token| rest.trim_ascii_start().strip_prefix(*token))
}

/// A string without escapes at the start of `text`, and the text after it.
fn json_string(text: &[u8]) -> Option<(&[u8], &[u8])> {
    let text = text.trim_ascii_start().strip_prefix(b"\"")?;
    let end = memchr(b'"', text)?;
    Some((text.get(..end)?, text.get(end + 1..)?))
}
