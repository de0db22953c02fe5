//! Finds the values of a line that becomes a template.

use super::{Range, Slot, Templated, Value};
use crate::scan::{Cursor, Scan, Unexpected};

/// The values of a line, in order. Objects may be nested `nesting` levels deep.
pub(super) fn values<E: Templated>(line: &[u8], nesting: usize) -> Scan<Vec<Value>> {
    let mut survey = Survey::<E> {
        line,
        values: Vec::new(),
        path: String::new(),
        seen: Vec::new(),
        event: std::marker::PhantomData,
    };
    let mut cursor = Cursor::new(line);
    survey.value(&mut cursor, nesting)?;
    if cursor.rest().is_empty() { Ok(survey.values) } else { Err(Unexpected) }
}

/// A walk through a line.
struct Survey<'a, E> {
    line: &'a [u8],
    values: Vec<Value>,
    path: String,
    /// The slots found so far, whatever their values.
    seen: Vec<Slot>,
    event: std::marker::PhantomData<E>,
}

impl<E: Templated> Survey<'_, E> {
    fn value(&mut self, cursor: &mut Cursor<'_>, nesting: usize) -> Scan<()> {
        let slot = E::slot(&self.path);
        if !matches!(slot, Slot::Unused | Slot::Fixed) {
            // Leave duplicate keys to the general parser.
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
        // Names differ from line to line, and their block-local numbers differ from block to block.
        let changes = matches!(slot, Slot::Name(_) | Slot::Accumulables);
        let fits = match place.of(self.line).first() {
            Some(b'"') => matches!(slot, Slot::Name(_) | Slot::Word | Slot::Unused),
            Some(b'0'..=b'9') => {
                matches!(slot, Slot::Number(_) | Slot::Metric(_) | Slot::Peak(_) | Slot::Unused)
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
            // Such a key could be mistaken for another path.
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
