//! Events that look like ones that were decoded before.
//!
//! A history has some ten kinds of events, and those of a kind differ in their values only. What stands
//! around the values is therefore remembered, and compared with what comes next: where it is the same, keys
//! need not be told apart once more, and each value is decoded as it was the time before.
//!
//! This is sound because the values do not steer the decoder: between two of them it does what the bytes
//! between them say. An event that differs there in one byte is decoded as if nothing were known.

use super::fields::Slot;
use crate::parse::event::EventKind;
use crate::parse::scan::{Cursor, Scan, Unexpected};

/// Maps, reduces, tasks and the job start and end in their own ways.
const MAX_SHAPES: usize = 16;

/// Events with more bytes around their values are not remembered. Hadoop's have some 500.
const MAX_LEN: usize = 16 << 10;

/// Events with more values are not remembered. Hadoop's have some twenty.
const MAX_VALUES: usize = 256;

/// What to do with a value.
#[derive(Debug, Clone, Copy)]
pub(super) enum Use {
    /// Keep it; so many names of union branches may stand around it.
    Keep(Slot, usize),
    /// Pass over it, unless it is an object: some are descended into.
    Skip,
}

/// What decodes values.
pub(super) trait Values<'a> {
    /// Forgets all values so far.
    fn restart(&mut self);
    /// Takes a value.
    fn take(&mut self, cursor: &mut Cursor<'a>, purpose: Use) -> Scan<()>;
}

/// A value and where its bytes are.
#[derive(Debug, Clone, Copy)]
struct Value {
    start: usize,
    end: usize,
    purpose: Use,
}

/// The values of the event that is being decoded.
#[derive(Debug, Clone, Default)]
pub(super) struct Trace(Vec<Value>);

impl Trace {
    pub(super) fn clear(&mut self) {
        self.0.clear();
    }

    /// Notes a value by how many bytes were left at its start and at its end. Values come in the order of
    /// their bytes.
    pub(super) fn value(&mut self, left_before: usize, left_behind: usize, purpose: Use) {
        // One more than are remembered tells that there are too many.
        if self.0.len() <= MAX_VALUES {
            self.0.push(Value { start: left_before, end: left_behind, purpose });
        }
    }
}

/// An event without its values.
#[derive(Debug, Clone, Default)]
pub(super) struct Shape {
    pub(super) type_name: String,
    pub(super) kind: Option<EventKind>,
    /// What stands around the values, back to back.
    literals: Vec<u8>,
    /// Where in `literals` each value belongs, and what it is for.
    values: Vec<(usize, Use)>,
}

impl Shape {
    /// Takes the shape of an event of `len` bytes. `rest` begins with it and ends where the trace's counts do.
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

    /// Whether the bytes before the first value are those of this shape.
    fn starts_like(&self, cursor: &Cursor<'_>) -> bool {
        let end = self.values.first().map_or(self.literals.len(), |(end, _)| *end);
        self.literals.get(..end).is_some_and(|start| cursor.rest().starts_with(start))
    }

    /// Takes an event of this shape.
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

/// The shapes of the events so far.
#[derive(Debug, Clone, Default)]
pub(super) struct Shapes {
    /// The one that was met last comes first.
    list: Vec<Shape>,
}

impl Shapes {
    /// Decodes the event at the cursor as one of a known shape. `None`, and neither values nor cursor have
    /// changed, if there is no such shape.
    pub(super) fn read<'a>(
        &mut self,
        cursor: &mut Cursor<'a>,
        values: &mut impl Values<'a>,
    ) -> Option<&Shape> {
        let start = *cursor;
        let place = self.list.iter().position(|shape| {
            if !shape.starts_like(&start) {
                return false;
            }
            let read = shape.read(cursor, values);
            if read.is_err() {
                *cursor = start;
                values.restart();
            }
            read.is_ok()
        })?;
        self.list.swap(0, place);
        self.list.first()
    }

    /// Remembers the event of `len` bytes that was traced while it was decoded from the beginning of `rest`.
    pub(super) fn learn(&mut self, rest: &[u8], len: usize, trace: &Trace, type_name: &str) {
        let values: usize = trace.0.iter().map(|value| value.start - value.end).sum();
        if len - values > MAX_LEN || trace.0.len() > MAX_VALUES {
            return;
        }
        if self.list.len() < MAX_SHAPES {
            self.list.push(Shape::default());
        }
        if let Some(shape) = self.list.last_mut() {
            shape.learn(rest, len, trace, type_name);
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

    /// Reads `text` as one of the shapes: its type with its values, and what is left behind it.
    fn read(shapes: &mut Shapes, text: &str) -> Option<(String, String)> {
        let (mut digits, mut cursor) = (Digits::default(), Cursor::new(text.as_bytes()));
        let name = shapes.read(&mut cursor, &mut digits).map(|shape| shape.type_name.clone());
        if name.is_none() {
            assert_eq!((digits.0.as_str(), cursor.rest()), ("", text.as_bytes()));
        }
        Some((format!("{} {}", name?, digits.0), String::from_utf8(cursor.rest().to_vec()).unwrap()))
    }

    /// Learns `text` with its digits as values.
    fn learn(shapes: &mut Shapes, text: &str, type_name: &str) {
        let mut trace = Trace::default();
        for (at, _) in text.match_indices(|c: char| c.is_ascii_digit()) {
            trace.value(text.len() - at, text.len() - at - 1, Use::Skip);
        }
        shapes.learn(text.as_bytes(), text.len(), &trace, type_name);
    }

    #[test]
    fn what_follows_an_event_in_its_line_is_no_part_of_it() {
        let mut shapes = Shapes::default();
        let mut trace = Trace::default();
        let line = "[1]:[2] and more";
        for at in [1, 5] {
            trace.value(line.len() - at, line.len() - at - 1, Use::Skip);
        }
        shapes.learn(line.as_bytes(), 7, &trace, "A");
        assert_eq!(read(&mut shapes, "[34]:[5]"), Some(("A 345".into(), String::new())));
    }

    #[test]
    fn only_values_may_differ() {
        let mut shapes = Shapes::default();
        assert_eq!(read(&mut shapes, "[1]:[2]"), None);
        learn(&mut shapes, "[1]:[2]", "A");
        learn(&mut shapes, "(1)", "B");
        learn(&mut shapes, "[1]:(2)", "C");
        assert_eq!(read(&mut shapes, "[34]:[5] {"), Some(("A 345".into(), " {".into())));
        assert_eq!(read(&mut shapes, "(7)"), Some(("B 7".into(), String::new())));
        assert_eq!(read(&mut shapes, "[8]:(9)"), Some(("C 89".into(), String::new())));
        assert_eq!(read(&mut shapes, "[8]:[9]"), Some(("A 89".into(), String::new())));
        for text in ["", "[3]:[5", "[3];[5]", "[x]:[5]", "{3}:[5]", "[3]:[]", " (7)"] {
            assert_eq!(read(&mut shapes, text), None, "{text}");
        }
    }

    #[test]
    fn the_latest_shapes_are_kept_unless_they_are_long() {
        let mut shapes = Shapes::default();
        for name in 'a'..='z' {
            learn(&mut shapes, &format!("{name}0"), "A");
        }
        let kept: String =
            ('a'..='z').filter(|name| read(&mut shapes, &format!("{name}1")).is_some()).collect();
        assert_eq!(kept.len(), MAX_SHAPES);
        assert!(kept.ends_with('z'));
        for text in ["x".repeat(MAX_LEN + 1), "1,".repeat(MAX_VALUES + 1)] {
            learn(&mut shapes, &text, "B");
            assert_eq!(read(&mut shapes, &text), None);
        }
    }
}
