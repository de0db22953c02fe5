//! Line templates: a fast path for lines that differ from an earlier one only in their values.
//!
//! Events of tasks differ only in some numbers and names; the bytes between them are identical, and many of
//! the numbers are zero in every line. A template stores those bytes, including values that have never
//! changed, compares them with the next line, and reads only the other values. If anything differs, the
//! general parser reads the line, and its template is learnt if it yields the same event.

mod survey;

use memchr::memchr2;

use super::strings::Strings;
use super::task::{TaskInfo, locality};
use crate::scan::{Cursor, Scan, Unexpected};

/// Tasks of different stages report different metrics, and so do versions of Spark.
const MAX_TEMPLATES: usize = 4;

/// Longer lines are not learnt: real lines with a template have a few kilobytes.
const MAX_LEN: usize = 64 << 10;

/// Lines with deeper nested objects get no template.
const MAX_NESTING: usize = 8;

/// Longer lines are not matched: with several templates, each would search an unused value for its end.
pub(super) const MAX_MATCHED_LEN: usize = 1 << 20;

/// Learning budget: this many lines up front, then one more per [`LINES_PER_LESSON`] recognised lines.
const FIRST_LESSONS: u32 = 16;
const LINES_PER_LESSON: usize = 64;

/// Give up on a template once misses exceed hits by this many.
const CREDIT: u32 = 64;

/// The text after a task's accumulables: the end of the array, of the object, and the next key. A quote after
/// a comma ends any string, so this text cannot occur inside one.
const AFTER_ACCUMULABLES: &[u8] = b"]},\"Task ";

/// Where a value of an event is stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Slot {
    /// An integer of the event or of its "Task Info".
    Number(u8),
    /// A counter of the task, by index.
    Metric(u8),
    /// An executor metric peak, by index.
    Peak(u8),
    /// A flag.
    Flag(u8),
    /// A repeated name.
    Name(u8),
    /// A word with a fixed set of values, such as the locality.
    Word,
    /// A number or text that is not used.
    Unused,
    /// The accumulables, which are not used.
    Accumulables,
    /// Must equal the template's value.
    Fixed,
}

/// An event whose lines can have templates.
pub(super) trait Templated: Clone + Default + PartialEq {
    /// The slot of the value at a path of keys such as `Task Info/Task ID`.
    fn slot(path: &str) -> Slot;
    /// The event without its numbers, flags, names and words; `None` if its line must not become a template.
    fn blank(&self) -> Option<Self>;
    /// Sets an integer.
    fn set_number(&mut self, place: u8, value: i64);
    /// Sets a counter of the task.
    fn set_metric(&mut self, place: u8, value: i64);
    /// Sets a peak of the executor.
    fn set_peak(&mut self, place: u8, value: i64);
    /// The part with its flags, names and words.
    fn info(&mut self) -> &mut TaskInfo;
}

/// The most recent line templates of one kind of event.
#[derive(Debug)]
pub(super) struct LineTemplates<E> {
    /// Most recently used first.
    known: Vec<LineTemplate<E>>,
    lessons: u32,
    recognised: usize,
}

impl<E> Default for LineTemplates<E> {
    fn default() -> Self {
        Self { known: Vec::new(), lessons: FIRST_LESSONS, recognised: 0 }
    }
}

impl<E: Templated> LineTemplates<E> {
    /// Reads the line at the start of `rest` if it matches a template; returns its length including its line
    /// feed.
    #[inline]
    pub(super) fn read(&mut self, rest: &[u8], strings: &mut Strings, events: &mut Vec<E>) -> Option<usize> {
        let mut place = 0;
        while let Some(template) = self.known.get_mut(place) {
            if !template.starts(rest) {
                place += 1;
                continue;
            }
            events.push(template.model.clone());
            let event = events.last_mut()?;
            let mut read = template.read(rest, strings, event);
            if read.is_err() && template.relax(rest) {
                event.clone_from(&template.model);
                read = template.read(rest, strings, event);
            }
            if let Ok(len) = read {
                template.credit = CREDIT.min(template.credit + 1);
                self.known.swap(0, place);
                self.recognised += 1;
                if self.recognised.is_multiple_of(LINES_PER_LESSON) {
                    self.lessons = FIRST_LESSONS.min(self.lessons + 1);
                }
                return Some(len);
            }
            events.pop();
            template.credit -= 1;
            if template.credit == 0 {
                self.known.remove(place);
            } else {
                place += 1;
            }
        }
        None
    }

    #[cfg(test)]
    pub(super) fn recognised(&self) -> usize {
        self.recognised
    }

    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.known.len()
    }

    /// Learns a template from a line, without its line feed, that was read as `event`.
    pub(super) fn learn(&mut self, line: &[u8], event: &E, strings: &mut Strings) {
        if self.lessons == 0 || line.len() > MAX_LEN {
            return;
        }
        let Some(mut read) = event.blank() else { return };
        self.lessons -= 1;
        let Ok(template) = LineTemplate::of(line, event) else { return };
        let line = [line, b"\n"].concat();
        if template.read_each(&line, strings, &mut read).is_err() || read != *event {
            return;
        }
        self.known.truncate(MAX_TEMPLATES - 1);
        self.known.insert(0, template);
    }
}

/// A line without its changing values.
#[derive(Debug, Clone)]
struct LineTemplate<E> {
    /// The line that it was learnt from, with its line feed.
    line: Vec<u8>,
    /// Its values that may change, in order.
    values: Vec<Value>,
    /// The parts compared and read of the next line: each changing value with the bytes before it.
    steps: Vec<Step>,
    /// The bytes after the last changing value.
    tail: Range,
    /// The event of that line.
    model: E,
    credit: u32,
}

/// A range of the template's line.
#[derive(Debug, Clone, Copy)]
struct Range {
    start: usize,
    end: usize,
}

impl Range {
    #[inline]
    fn of(self, line: &[u8]) -> &[u8] {
        line.get(self.start..self.end).unwrap_or_default()
    }
}

#[derive(Debug, Clone, Copy)]
struct Value {
    place: Range,
    slot: Slot,
    changes: bool,
}

#[derive(Debug, Clone, Copy)]
struct Step {
    literal: Range,
    slot: Slot,
}

impl<E: Templated> LineTemplate<E> {
    fn of(line: &[u8], event: &E) -> Scan<Self> {
        let values = survey::values::<E>(line, MAX_NESTING)?;
        let line = [line, b"\n"].concat();
        let tail = Range { start: 0, end: line.len() };
        let mut template =
            Self { line, values, steps: Vec::new(), tail, model: event.clone(), credit: CREDIT };
        template.build_steps();
        Ok(template)
    }

    /// Merges everything that does not change into the literals of the steps.
    fn build_steps(&mut self) {
        self.steps.clear();
        let mut start = 0;
        for value in self.values.iter().filter(|value| value.changes) {
            let literal = Range { start, end: value.place.start };
            self.steps.push(Step { literal, slot: value.slot });
            start = value.place.end;
        }
        self.tail = Range { start, end: self.line.len() };
    }

    /// Whether the line may match: a quick check of its first bytes.
    #[inline]
    fn starts(&self, bytes: &[u8]) -> bool {
        let first = self.steps.first().map_or(self.tail, |step| step.literal);
        bytes.starts_with(first.of(&self.line).get(..32).unwrap_or_default())
    }

    /// Reads a line that matches; returns its length including its line feed. The line cannot contain another
    /// line feed: literals have none, and values with one are rejected.
    #[inline]
    fn read(&self, rest: &[u8], strings: &mut Strings, event: &mut E) -> Scan<usize> {
        let mut cursor = Cursor::new(rest);
        for step in &self.steps {
            cursor.literal(step.literal.of(&self.line))?;
            match step.slot {
                Slot::Metric(_) | Slot::Peak(_) | Slot::Number(_) => {
                    // The bytes after the number are compared with the template, which detects fractions and
                    // exponents.
                    put(step.slot, cursor.digits()?, event);
                }
                slot => take(slot, &mut cursor, strings, event)?,
            }
        }
        cursor.literal(self.tail.of(&self.line))?;
        Ok(rest.len() - cursor.rest().len())
    }

    /// As [`LineTemplate::read`], but reads every value separately, and nothing may follow the line.
    fn read_each(&self, line: &[u8], strings: &mut Strings, event: &mut E) -> Scan<()> {
        let mut cursor = Cursor::new(line);
        let mut start = 0;
        for value in &self.values {
            let literal = Range { start, end: value.place.start };
            cursor.literal(literal.of(&self.line))?;
            take(value.slot, &mut cursor, strings, event)?;
            start = value.place.end;
        }
        let tail = Range { start, end: self.line.len() };
        if cursor.rest() == tail.of(&self.line) { Ok(()) } else { Err(Unexpected) }
    }

    /// Marks the values that differ from the template's for the first time as changing; `false` if anything
    /// else differs.
    fn relax(&mut self, bytes: &[u8]) -> bool {
        let mut cursor = Cursor::new(bytes);
        let mut start = 0;
        let mut changed = Vec::new();
        let mut unused = E::default();
        let mut strings = Strings::default();
        for (number, value) in self.values.iter().enumerate() {
            let literal = Range { start, end: value.place.start };
            if cursor.literal(literal.of(&self.line)).is_err() {
                return false;
            }
            let before = cursor.rest();
            if take(value.slot, &mut cursor, &mut strings, &mut unused).is_err() {
                return false;
            }
            let text = before.get(..before.len() - cursor.rest().len()).unwrap_or_default();
            if !value.changes && text != value.place.of(&self.line) {
                changed.push(number);
            }
            start = value.place.end;
        }
        for &number in &changed {
            if let Some(value) = self.values.get_mut(number) {
                value.changes = true;
            }
        }
        self.build_steps();
        !changed.is_empty()
    }
}

/// Stores a number.
#[inline]
fn put<E: Templated>(slot: Slot, number: i64, event: &mut E) {
    match slot {
        Slot::Metric(place) => event.set_metric(place, number),
        Slot::Peak(place) => event.set_peak(place, number),
        Slot::Number(place) => event.set_number(place, number),
        _ => {}
    }
}

/// Reads a value and stores it.
fn take<E: Templated>(slot: Slot, cursor: &mut Cursor<'_>, strings: &mut Strings, event: &mut E) -> Scan<()> {
    match slot {
        Slot::Metric(_) | Slot::Peak(_) | Slot::Number(_) => {
            put(slot, cursor.digits()?, event);
        }
        Slot::Name(place) => {
            cursor.literal(b"\"")?;
            let name = strings.plain(text_on_line(cursor)?).ok_or(Unexpected)?;
            event.info().set_name(place, name);
        }
        Slot::Flag(place) => {
            let is_true = cursor.literal(b"true").is_ok();
            if !is_true {
                cursor.literal(b"false")?;
            }
            event.info().set_flag(place, is_true);
        }
        Slot::Word => {
            cursor.literal(b"\"")?;
            event.info().locality = locality(text_on_line(cursor)?);
        }
        Slot::Unused => match cursor.literal(b"\"") {
            Ok(()) => drop(text_on_line(cursor)?),
            Err(Unexpected) => drop(cursor.digits()?),
        },
        Slot::Accumulables => {
            let end = end_of_accumulables(cursor.rest()).ok_or(Unexpected)?;
            cursor.skip(end);
        }
        Slot::Fixed => return Err(Unexpected),
    }
    Ok(())
}

/// The rest of a short text without escapes, which must end in the same line.
fn text_on_line<'a>(cursor: &mut Cursor<'a>) -> Scan<&'a [u8]> {
    let text = cursor.name_tail()?;
    if text.contains(&b'\n') { Err(Unexpected) } else { Ok(text) }
}

/// The end of the array at the start of `bytes`, within the line. Nearly always it is the first bracket.
#[inline]
fn end_of_accumulables(bytes: &[u8]) -> Option<usize> {
    let mut from = 0;
    loop {
        let at = from + memchr2(b']', b'\n', bytes.get(from..)?)?;
        let after = bytes.get(at..)?;
        if after.starts_with(AFTER_ACCUMULABLES) {
            return Some(at + 1);
        }
        if after.starts_with(b"\n") {
            return None;
        }
        from = at + 1;
    }
}

#[cfg(test)]
mod tests;
