//! Detects a Spark event log from its first lines.
//!
//! A log has one JSON object per line, with its event type under `Event`. Most logs are recognised by their
//! first bytes; others start with a vendor's events, or in the middle of a line because someone truncated
//! them.

use memchr::{memchr, memmem};

/// Prefixes of Spark's event types, and of vendors' events that may precede them.
const EVENTS: [&[u8]; 4] =
    [b"SparkListener", b"org.apache.spark.", b"DBCEventLoggingListener", b"com.databricks."];
/// Lines without an event that may precede the first event.
const MAX_DAMAGED_LINES: usize = 4;
/// How far into a line `Event` is searched. It comes first, unless another program rewrote the log.
const LINE_HEAD: usize = 4 * 1024;

/// Whether a line, or its beginning, is a Spark event.
pub(super) fn is_event(line: &[u8]) -> bool {
    event_kind(line).is_some_and(|kind| EVENTS.iter().any(|known| kind.starts_with(known)))
}

/// Whether one of the next lines is a Spark event although the first is not.
pub(super) fn starts_oddly(text: &[u8]) -> bool {
    let mut damaged = 0;
    for line in text.split(|byte| *byte == b'\n') {
        let line = line.trim_ascii();
        if is_event(line) {
            return true;
        }
        // An unknown vendor's event may still be followed by Spark's.
        damaged += usize::from(!line.is_empty() && event_kind(line).is_none());
        if damaged > MAX_DAMAGED_LINES {
            return false;
        }
    }
    false
}

/// Whether a text without an event so far looks enough like JSON to read further.
pub(super) fn may_follow(text: &[u8]) -> bool {
    memmem::find(text, b"\":").is_some()
}

/// The value of `Event` in the outermost object of a line, as far as the line is visible.
fn event_kind(line: &[u8]) -> Option<&[u8]> {
    let head = line.get(..LINE_HEAD).unwrap_or(line);
    let mut rest = head.strip_prefix(b"{")?;
    let mut depth = 1u32;
    loop {
        let (byte, after) = rest.split_first()?;
        rest = after;
        match byte {
            b'{' | b'[' => depth += 1,
            b'}' | b']' => depth = depth.checked_sub(1).filter(|depth| *depth > 0)?,
            b'"' => {
                let (text, after) = string(rest);
                rest = after;
                if depth == 1 && text == b"Event" {
                    let value = rest.trim_ascii_start().strip_prefix(b":")?.trim_ascii_start();
                    return value.strip_prefix(b"\"").map(|value| string(value).0);
                }
            }
            _ => {}
        }
    }
}

/// A string up to its closing quote, or to the end of the text; and the text after it.
fn string(text: &[u8]) -> (&[u8], &[u8]) {
    let mut from = 0;
    while let Some(at) = text.get(from..).and_then(|rest| memchr(b'"', rest)) {
        let (before, quote) = text.split_at(from + at);
        let backslashes = before.iter().rev().take_while(|byte| **byte == b'\\').count();
        if backslashes % 2 == 0 {
            return (before, quote.get(1..).unwrap_or_default());
        }
        from += at + 1;
    }
    (text, b"")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_are_recognised_by_their_type() {
        for line in [
            r#"{"Event":"SparkListenerLogStart","Spark"#,
            r#"{ "Event" : "SparkListenerTaskEnd" }"#,
            r#"{"Timestamp":1,"Event":"SparkListenerApplicationEnd"}"#,
            r#"{"a \" \\":{"Event":"x"},"b":[1,{}],"Event":"SparkListenerJobEnd"}"#,
            r#"{"Event":"org.apache.spark.sql.execution.ui.SparkListenerSQLExecutionEnd","#,
            r#"{"Event":"DBCEventLoggingListenerMetadata","Rollover Number":0}"#,
            r#"{"Event":"com.databricks.backend.daemon.driver.X"#,
        ] {
            assert!(is_event(line.as_bytes()), "{line}");
        }
        for line in [
            "",
            "{",
            "{}",
            r#"{"Event""#,
            r#"{"Event":3}"#,
            r#"{"Event":"EMRSomething"}"#,
            r#"{"message":{"Event":"SparkListenerTaskEnd"}}"#,
            r#"{"Events":"SparkListenerTaskEnd"}"#,
            r#"{"x":"\"Event\":\"SparkListenerTaskEnd\""}"#,
            r#"}{"Event":"SparkListenerTaskEnd"}"#,
        ] {
            assert!(!is_event(line.as_bytes()), "{line}");
        }
    }

    #[test]
    fn a_log_may_start_with_damage_or_with_a_vendors_events() {
        let event = "{\"Event\":\"SparkListenerJobStart\"}\n";
        let vendor = "{\"Event\":\"EMRSomething\"}\n".repeat(100);
        for start in ["cut line\"}\n", "\r\n\n", "a\nb\nc\nd\n", &vendor] {
            assert!(starts_oddly(format!("{start}{event}").as_bytes()), "{start}");
        }
        assert!(!starts_oddly(format!("a\nb\nc\nd\ne\n{event}").as_bytes()), "a program's output");
        assert!(!starts_oddly(vendor.as_bytes()));
    }
}
