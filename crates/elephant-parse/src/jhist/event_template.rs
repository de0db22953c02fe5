//! Event templates: a fast path for events that differ from an earlier one only in their values.
//!
//! A history has about ten kinds of events, and events of one kind differ only in their values. The bytes
//! around the values are stored as a template and compared with the next event: if they match, keys need not
//! be parsed again, and each value is decoded as before.
//!
//! This is sound because values do not affect the decoder: between two values, it depends only on the bytes
//! between them. An event that differs there in a single byte is decoded from scratch.

use super::fields::Slot;
use crate::event::EventKind;
use crate::scan::{Cursor, Scan, Unexpected};

/// Maps, reduces, tasks and the job each have their own start and end events.
const MAX_TEMPLATES: usize = 16;

/// Events with more bytes around their values get no template. Hadoop's have about 500.
const MAX_LEN: usize = 16 << 10;

/// Events with more values get no template. Hadoop's have about twenty.
const MAX_VALUES: usize = 256;

/// How to decode a value.
#[derive(Debug, Clone, Copy)]
pub(super) enum Use {
    /// Store it; up to this many union branches may wrap it.
    Keep(Slot, usize),
    /// Skip it, unless it is an object: some objects are descended into.
    Skip,
}

/// Decodes and stores values.
pub(super) trait Values<'a> {
    /// Discards all values so far.
    fn restart(&mut self);
    /// Decodes one value.
    fn take(&mut self, cursor: &mut Cursor<'a>, purpose: Use) -> Scan<()>;
}

/// A value and the position of its bytes.
#[derive(Debug, Clone, Copy)]
struct Value {
    start: usize,
    end: usize,
    purpose: Use,
}

/// The values found while decoding an event.
#[derive(Debug, Clone, Default)]
pub(super) struct Trace(Vec<Value>);

impl Trace {
    pub(super) fn clear(&mut self) {
        self.0.clear();
    }

    /// Records a value by the number of bytes left before and after it. Values must be recorded in the order
    /// of their bytes.
    pub(super) fn value(&mut self, left_before: usize, left_behind: usize, purpose: Use) {
        // Store one more than the maximum, to detect that there are too many.
        if self.0.len() <= MAX_VALUES {
            self.0.push(Value { start: left_before, end: left_behind, purpose });
        }
    }
}

/// An event without its values.
#[derive(Debug, Clone, Default)]
pub(super) struct EventTemplate {
    pub(super) type_name: String,
    pub(super) kind: Option<EventKind>,
    /// The bytes around the values, concatenated.
    literals: Vec<u8>,
    /// The position of each value in `literals`, and how to decode it.
    values: Vec<(usize, Use)>,
}

impl EventTemplate {
    /// Learns an event of `len` bytes. `rest` begins with it, and the trace counts from the end of `rest`.
    fn learn(&mut self, rest: &[u8], len: usize, trace: &Trace, type_name: &str) {
        let bytes = rest.get(..len).unwrap_or_default();
        self.literals.clear();
        self.values.clear();
        type_name.clone_into(&mut self.type_name);
        self.kind = EventKind::from_hadoop_name(type_name);
        let mut from = 0;
        for value in &trace.0 {
            let (start, end) = (rest.len() - value.start, rest.len() - value.end);
            self.literals.extend_from_slice(bytes.get(from..start).unwrap_or_default());
            self.values.push((self.literals.len(), value.purpose));
            from = end;
        }
        self.literals.extend_from_slice(bytes.get(from..).unwrap_or_default());
    }

    /// Whether the bytes before the first value match.
    fn starts_like(&self, cursor: &Cursor<'_>) -> bool {
        let end = self.values.first().map_or(self.literals.len(), |(end, _)| *end);
        self.literals.get(..end).is_some_and(|start| cursor.rest().starts_with(start))
    }

    /// Decodes an event that matches this template.
    fn read<'a>(&self, cursor: &mut Cursor<'a>, values: &mut impl Values<'a>) -> Scan<()> {
        let mut from = 0;
        for &(end, purpose) in &self.values {
            cursor.literal(self.literals.get(from..end).ok_or(Unexpected)?)?;
            values.take(cursor, purpose)?;
            from = end;
        }
        cursor.literal(self.literals.get(from..).ok_or(Unexpected)?)
    }
}

/// The templates of the most recent events.
#[derive(Debug, Clone, Default)]
pub(super) struct EventTemplates {
    /// Most recently used first.
    list: Vec<EventTemplate>,
}

impl EventTemplates {
    /// Decodes the event at the cursor with a matching template. `None`, with values and cursor unchanged, if
    /// there is none.
    pub(super) fn read<'a>(
        &mut self,
        cursor: &mut Cursor<'a>,
        values: &mut impl Values<'a>,
    ) -> Option<&EventTemplate> {
        let start = *cursor;
        let place = self.list.iter().position(|template| {
            if !template.starts_like(&start) {
                return false;
            }
            let read = template.read(cursor, values);
            if read.is_err() {
                *cursor = start;
                values.restart();
            }
            read.is_ok()
        })?;
        self.list.swap(0, place);
        self.list.first()
    }

    /// Learns the event of `len` bytes at the start of `rest`, which was traced while it was decoded.
    pub(super) fn learn(&mut self, rest: &[u8], len: usize, trace: &Trace, type_name: &str) {
        let values: usize = trace.0.iter().map(|value| value.start - value.end).sum();
        if len - values > MAX_LEN || trace.0.len() > MAX_VALUES {
            return;
        }
        if self.list.len() < MAX_TEMPLATES {
            self.list.push(EventTemplate::default());
        }
        if let Some(template) = self.list.last_mut() {
            template.learn(rest, len, trace, type_name);
            self.list.rotate_right(1);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Keeps digits.
    #[derive(Default)]
    struct Digits(String);

    impl<'a> Values<'a> for Digits {
        fn restart(&mut self) {
            self.0.clear();
        }

        fn take(&mut self, cursor: &mut Cursor<'a>, _: Use) -> Scan<()> {
            self.0 += &cursor.integer()?.to_string();
            Ok(())
        }
    }

    /// Reads `text` with one of the templates: its type with its values, and the text after it.
    fn read(templates: &mut EventTemplates, text: &str) -> Option<(String, String)> {
        let (mut digits, mut cursor) = (Digits::default(), Cursor::new(text.as_bytes()));
        let name = templates.read(&mut cursor, &mut digits).map(|template| template.type_name.clone());
        if name.is_none() {
            assert_eq!((digits.0.as_str(), cursor.rest()), ("", text.as_bytes()));
        }
        Some((format!("{} {}", name?, digits.0), String::from_utf8(cursor.rest().to_vec()).unwrap()))
    }

    /// Learns `text` with its digits as values.
    fn learn(templates: &mut EventTemplates, text: &str, type_name: &str) {
        let mut trace = Trace::default();
        for (at, _) in text.match_indices(|c: char| c.is_ascii_digit()) {
            trace.value(text.len() - at, text.len() - at - 1, Use::Skip);
        }
        templates.learn(text.as_bytes(), text.len(), &trace, type_name);
    }

    #[test]
    fn text_after_an_event_is_not_part_of_it() {
        let mut templates = EventTemplates::default();
        let mut trace = Trace::default();
        let line = "[1]:[2] and more";
        for at in [1, 5] {
            trace.value(line.len() - at, line.len() - at - 1, Use::Skip);
        }
        templates.learn(line.as_bytes(), 7, &trace, "A");
        assert_eq!(read(&mut templates, "[34]:[5]"), Some(("A 345".into(), String::new())));
    }

    #[test]
    fn only_values_may_differ() {
        let mut templates = EventTemplates::default();
        assert_eq!(read(&mut templates, "[1]:[2]"), None);
        learn(&mut templates, "[1]:[2]", "A");
        learn(&mut templates, "(1)", "B");
        learn(&mut templates, "[1]:(2)", "C");
        assert_eq!(read(&mut templates, "[34]:[5] {"), Some(("A 345".into(), " {".into())));
        assert_eq!(read(&mut templates, "(7)"), Some(("B 7".into(), String::new())));
        assert_eq!(read(&mut templates, "[8]:(9)"), Some(("C 89".into(), String::new())));
        assert_eq!(read(&mut templates, "[8]:[9]"), Some(("A 89".into(), String::new())));
        for text in ["", "[3]:[5", "[3];[5]", "[x]:[5]", "{3}:[5]", "[3]:[]", " (7)"] {
            assert_eq!(read(&mut templates, text), None, "{text}");
        }
    }

    #[test]
    fn the_latest_templates_are_kept_unless_too_long() {
        let mut templates = EventTemplates::default();
        for name in 'a'..='z' {
            learn(&mut templates, &format!("{name}0"), "A");
        }
        let kept: String =
            ('a'..='z').filter(|name| read(&mut templates, &format!("{name}1")).is_some()).collect();
        assert_eq!(kept.len(), MAX_TEMPLATES);
        assert!(kept.ends_with('z'));
        for text in ["x".repeat(MAX_LEN + 1), "1,".repeat(MAX_VALUES + 1)] {
            learn(&mut templates, &text, "B");
            assert_eq!(read(&mut templates, &text), None);
        }
    }
}
