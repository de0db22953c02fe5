//! Lines that look like ones that were read before.
//!
//! One task's event differs from the next one's in some numbers and names; what stands between them is the same to the
//! byte, and many of the numbers are zero in every line. What stands around the values is therefore remembered and
//! compared with the next line, values that have never changed included, and only the others are read. Where anything
//! differs, the line is read by the parser of any event, and its shape is learnt if that gives the same event.

use memchr::memchr2;

use super::strings::Strings;
use super::task::{NANOS, TaskInfo, locality};
use crate::parse::scan::{Cursor, Scan, Unexpected};

/// Tasks of different stages differ in what they report, and so do versions of Spark.
const MAX_SHAPES: usize = 4;

/// Longer lines are not learnt: real ones that have a shape take some kilobytes.
const MAX_LEN: usize = 64 << 10;

/// Objects nested deeper have no shape.
const MAX_NESTING: usize = 8;

/// Longer lines are not taken for one of a shape: what nobody wants in them would be searched for its end once for each.
pub(super) const MAX_KNOWN_LEN: usize = 1 << 20;

/// How many lines may be learnt before any was recognised, and for how many that were another one may.
const FIRST_LESSONS: u32 = 16;
const LINES_PER_LESSON: usize = 64;

/// So many lines more may be taken for a shape that they do not have than have it: looking costs time.
const CREDIT: u32 = 64;

/// What follows the accumulables of a task's information: the end of the array, of the object, and the next key.
/// A quote behind a comma ends any string, so this cannot stand inside of one.
const AFTER_ACCUMULABLES: &[u8] = b"]},\"Task ";

/// Where a value of an event belongs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Slot {
    /// An integer of the event or of its task's information.
    Number(u8),
    /// A counter of the task, by its place.
    Metric(u8),
    /// A counter in nanoseconds, by its place.
    Nanos(u8),
    /// A peak of the executor, by its place.
    Peak(u8),
    /// A flag.
    Flag(u8),
    /// A name that repeats.
    Name(u8),
    /// A word with a meaning of its own.
    Word,
    /// A number or text that nobody wants.
    Unwanted,
    /// What the tasks of a stage have added up so far, which nobody wants, either.
    Accumulables,
    /// Has to be what it was.
    Fixed,
}

/// An event whose lines have shapes.
pub(super) trait Shaped: Clone + Default + PartialEq {
    /// Where the value at a path of keys, as in `Task Info/Task ID`, belongs.
    fn slot(path: &str) -> Slot;
    /// The event without what numbers, flags, names and words tell, if its line may be a model for others.
    fn blank(&self) -> Option<Self>;
    /// Sets an integer.
    fn set_number(&mut self, place: u8, value: i64);
    /// Sets a counter of the task.
    fn set_metric(&mut self, place: u8, value: i64);
    /// Sets a peak of the executor.
    fn set_peak(&mut self, place: u8, value: i64);
    /// What holds its flags, names and words.
    fn info(&mut self) -> &mut TaskInfo;
}

/// The shapes of an event's lines that were met last.
#[derive(Debug)]
pub(super) struct Shapes<E> {
    /// The one that was met last comes first.
    known: Vec<Shape<E>>,
    lessons: u32,
    recognised: usize,
}

impl<E> Default for Shapes<E> {
    fn default() -> Self {
        Self { known: Vec::new(), lessons: FIRST_LESSONS, recognised: 0 }
    }
}

impl<E: Shaped> Shapes<E> {
    /// Reads the line that `rest` begins with if it has a known shape; gives its length with its line feed.
    #[inline]
    pub(super) fn read(&mut self, rest: &[u8], strings: &mut Strings, events: &mut Vec<E>) -> Option<usize> {
        let mut place = 0;
        while let Some(shape) = self.known.get_mut(place) {
            if !shape.starts(rest) {
                place += 1;
                continue;
            }
            events.push(shape.model.clone());
            let event = events.last_mut()?;
            let mut read = shape.read(rest, strings, event);
            if read.is_err() && shape.relax(rest) {
                event.clone_from(&shape.model);
                read = shape.read(rest, strings, event);
            }
            if let Ok(len) = read {
                shape.credit = CREDIT.min(shape.credit + 1);
                self.known.swap(0, place);
                self.recognised += 1;
                if self.recognised.is_multiple_of(LINES_PER_LESSON) {
                    self.lessons = FIRST_LESSONS.min(self.lessons + 1);
                }
                return Some(len);
            }
            events.pop();
            shape.credit -= 1;
            if shape.credit == 0 {
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

    /// Learns the shape of a line, without its line feed, that was read as `event`.
    pub(super) fn learn(&mut self, line: &[u8], event: &E, strings: &mut Strings) {
        if self.lessons == 0 || line.len() > MAX_LEN {
            return;
        }
        let Some(mut read) = event.blank() else { return };
        self.lessons -= 1;
        let Ok(shape) = Shape::of(line, event) else { return };
        let line = [line, b"\n"].concat();
        if shape.read_each(&line, strings, &mut read).is_err() || read != *event {
            return;
        }
        self.known.truncate(MAX_SHAPES - 1);
        self.known.insert(0, shape);
    }
}

/// A line without the values that change.
#[derive(Debug, Clone)]
struct Shape<E> {
    /// The line that it was learnt from, with its line feed.
    line: Vec<u8>,
    /// Its values that may change, in order.
    values: Vec<Value>,
    /// What is compared and read of the next line: the values that have changed, with what stands in front of each.
    steps: Vec<Step>,
    /// What stands behind the last of them.
    tail: Range,
    /// The event of that line.
    model: E,
    credit: u32,
}

/// A part of the line that was learnt.
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

impl<E: Shaped> Shape<E> {
    fn of(line: &[u8], event: &E) -> Scan<Self> {
        let mut survey = Survey::<E> {
            line,
            values: Vec::new(),
            path: String::new(),
            seen: Vec::new(),
            event: std::marker::PhantomData,
        };
        let mut cursor = Cursor::new(line);
        survey.value(&mut cursor, MAX_NESTING)?;
        if !cursor.rest().is_empty() {
            return Err(Unexpected);
        }
        let values = survey.values;
        let line = [line, b"\n"].concat();
        let tail = Range { start: 0, end: line.len() };
        let mut shape = Self { line, values, steps: Vec::new(), tail, model: event.clone(), credit: CREDIT };
        shape.lay_steps();
        Ok(shape)
    }

    /// Puts what does not change together.
    fn lay_steps(&mut self) {
        self.steps.clear();
        let mut start = 0;
        for value in self.values.iter().filter(|value| value.changes) {
            let literal = Range { start, end: value.place.start };
            self.steps.push(Step { literal, slot: value.slot });
            start = value.place.end;
        }
        self.tail = Range { start, end: self.line.len() };
    }

    /// Whether it is worth a closer look.
    #[inline]
    fn starts(&self, bytes: &[u8]) -> bool {
        let first = self.steps.first().map_or(self.tail, |step| step.literal);
        bytes.starts_with(first.of(&self.line).get(..32).unwrap_or_default())
    }

    /// Reads a line of this shape; gives its length with its line feed. No line feed fits in front of that: literals have
    /// none, and no value is taken that has one.
    #[inline]
    fn read(&self, rest: &[u8], strings: &mut Strings, event: &mut E) -> Scan<usize> {
        let mut cursor = Cursor::new(rest);
        for step in &self.steps {
            cursor.literal(step.literal.of(&self.line))?;
            match step.slot {
                Slot::Metric(_) | Slot::Peak(_) | Slot::Number(_) | Slot::Nanos(_) => {
                    // What follows is compared with the shape, so that a fraction or an exponent is noticed.
                    put(step.slot, cursor.digits()?, event);
                }
                slot => take(slot, &mut cursor, strings, event)?,
            }
        }
        cursor.literal(self.tail.of(&self.line))?;
        Ok(rest.len() - cursor.rest().len())
    }

    /// As [`Shape::read`] of a line without another behind it, with every value read on its own.
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

    /// Finds the values of a line that have changed for the first time; `false` where something else has.
    fn relax(&mut self, bytes: &[u8]) -> bool {
        let mut cursor = Cursor::new(bytes);
        let mut start = 0;
        let mut changed = Vec::new();
        let mut nobody = E::default();
        let mut strings = Strings::default();
        for (number, value) in self.values.iter().enumerate() {
            let literal = Range { start, end: value.place.start };
            if cursor.literal(literal.of(&self.line)).is_err() {
                return false;
            }
            let before = cursor.rest();
            if take(value.slot, &mut cursor, &mut strings, &mut nobody).is_err() {
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
        self.lay_steps();
        !changed.is_empty()
    }
}

/// Puts a number where it belongs.
#[inline]
fn put<E: Shaped>(slot: Slot, number: i64, event: &mut E) {
    match slot {
        Slot::Metric(place) => event.set_metric(place, number),
        Slot::Peak(place) => event.set_peak(place, number),
        Slot::Nanos(place) => event.set_metric(place, number / NANOS),
        Slot::Number(place) => event.set_number(place, number),
        _ => {}
    }
}

/// Takes a value and puts it where it belongs.
fn take<E: Shaped>(slot: Slot, cursor: &mut Cursor<'_>, strings: &mut Strings, event: &mut E) -> Scan<()> {
    match slot {
        Slot::Metric(_) | Slot::Peak(_) | Slot::Number(_) | Slot::Nanos(_) => {
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
        Slot::Unwanted => match cursor.literal(b"\"") {
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

/// The rest of a short text without escapes, unless it ends in another line than it begins.
fn text_on_line<'a>(cursor: &mut Cursor<'a>) -> Scan<&'a [u8]> {
    let text = cursor.name_tail()?;
    if text.contains(&b'\n') { Err(Unexpected) } else { Ok(text) }
}

/// Where the array ends that starts `bytes`, within the line. Nearly always its end is the first bracket.
#[inline]
fn end_of_accumulables(bytes: &[u8]) -> Option<usize> {
    let mut from = 0;
    loop {
        let at = from + memchr2(b']', b'\n', bytes.get(from..)?)?;
        let behind = bytes.get(at..)?;
        if behind.starts_with(AFTER_ACCUMULABLES) {
            return Some(at + 1);
        }
        if behind.starts_with(b"\n") {
            return None;
        }
        from = at + 1;
    }
}

/// Finds the values of a line.
struct Survey<'a, E> {
    line: &'a [u8],
    values: Vec<Value>,
    path: String,
    /// What was found so far, whatever its value.
    seen: Vec<Slot>,
    event: std::marker::PhantomData<E>,
}

impl<E: Shaped> Survey<'_, E> {
    fn value(&mut self, cursor: &mut Cursor<'_>, nesting: usize) -> Scan<()> {
        let slot = E::slot(&self.path);
        if !matches!(slot, Slot::Unwanted | Slot::Fixed) {
            // Which of two counts is for the parser of any event to say.
            if self.seen.contains(&slot) {
                return Err(Unexpected);
            }
            self.seen.push(slot);
        }
        let start = self.line.len() - cursor.rest().len();
        match cursor.rest().first() {
            Some(b'{') => return self.members(cursor, nesting.checked_sub(1).ok_or(Unexpected)?),
            Some(b'[') if slot == Slot::Accumulables && !cursor.rest().starts_with(b"[]") => {
                cursor.skip_value()?;
            }
            Some(b'[') => return cursor.literal(b"[]"),
            Some(b'"') => {
                cursor.literal(b"\"")?;
                cursor.name_tail()?;
            }
            Some(b'0'..=b'9') => drop(cursor.short_integer()?),
            Some(b't') => cursor.literal(b"true")?,
            Some(b'f') => cursor.literal(b"false")?,
            _ => return cursor.literal(b"null"),
        }
        let place = Range { start, end: self.line.len() - cursor.rest().len() };
        // Names differ from line to line, and are known by a number that the next block may give to another.
        let changes = matches!(slot, Slot::Name(_) | Slot::Accumulables);
        let fits = match place.of(self.line).first() {
            Some(b'"') => matches!(slot, Slot::Name(_) | Slot::Word | Slot::Unwanted),
            Some(b'0'..=b'9') => {
                matches!(
                    slot,
                    Slot::Number(_) | Slot::Metric(_) | Slot::Nanos(_) | Slot::Peak(_) | Slot::Unwanted
                )
            }
            Some(b't' | b'f') => matches!(slot, Slot::Flag(_)),
            _ => slot == Slot::Accumulables,
        };
        if fits {
            self.values.push(Value { place, slot, changes });
        } else if matches!(slot, Slot::Name(_)) {
            return Err(Unexpected);
        }
        Ok(())
    }

    fn members(&mut self, cursor: &mut Cursor<'_>, nesting: usize) -> Scan<()> {
        cursor.literal(b"{")?;
        if cursor.literal(b"}").is_ok() {
            return Ok(());
        }
        loop {
            cursor.literal(b"\"")?;
            let key = std::str::from_utf8(cursor.plain_string_tail()?).map_err(|_| Unexpected)?;
            cursor.literal(b":")?;
            // Such a key could stand for another path.
            if key.is_empty() || key.contains('/') {
                return Err(Unexpected);
            }
            let above = self.path.len();
            if above > 0 {
                self.path.push('/');
            }
            self.path.push_str(key);
            self.value(cursor, nesting)?;
            self.path.truncate(above);
            if cursor.literal(b",").is_err() {
                return cursor.literal(b"}");
            }
        }
    }
}

#[cfg(test)]
mod tests;
