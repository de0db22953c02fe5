//! Counters of a history in JSON.

use super::{elements, members, plain};
use crate::counter_names::{CounterNames, GroupIndex};
use crate::counter_template::Number;
use crate::scan::{Cursor, Scan, Unexpected};
use elephant_model::model::Interner;
use elephant_model::model::counters::CounterSet;

/// Reads a `JhCounters` record.
pub(super) struct CounterReader<'p> {
    pub(super) names: &'p mut CounterNames,
    pub(super) strings: &'p mut Interner,
    pub(super) set: &'p mut CounterSet,
    /// Number of bytes that were left at the start of the counters.
    pub(super) whole: usize,
}

impl CounterReader<'_> {
    /// Reads the counters, from a template if one matches.
    pub(super) fn read(&mut self, cursor: &mut Cursor<'_>, wrappers: usize) -> Scan<()> {
        let bytes = cursor.rest();
        // Hadoop never writes counters twice in one event.
        let alone = self.set.is_empty();
        if alone && let Some(len) = self.names.templates().read::<Integer>(0, bytes, self.set) {
            cursor.skip(len);
            return Ok(());
        }
        self.whole = bytes.len();
        self.names.templates().trace().start();
        self.counters(cursor, wrappers)?;
        if alone {
            let len = bytes.len() - cursor.rest().len();
            self.names.templates().learn(bytes.get(..len).unwrap_or_default(), self.set);
        }
        Ok(())
    }

    /// `{"name": …, "groups": […]}`, optionally wrapped in the name of its union branch.
    fn counters(&mut self, cursor: &mut Cursor<'_>, wrappers: usize) -> Scan<()> {
        members(cursor, |cursor, key| match &*plain(key) {
            b"groups" => elements(cursor, |cursor| self.group(cursor)),
            _ if cursor.peek() == Some(b'{') && wrappers > 0 => {
                // How many more levels may follow depends on the levels already seen.
                self.names.templates().trace().mark_incomplete();
                self.counters(cursor, wrappers - 1)
            }
            _ => cursor.skip_value(),
        })
    }

    fn group(&mut self, cursor: &mut Cursor<'_>) -> Scan<()> {
        let mut group = None;
        let mut without_name = Vec::new();
        members(cursor, |cursor, key| match (&*plain(key), group) {
            (b"name", _) => {
                group = Some(self.names.group(&cursor.string()?.text()));
                Ok(())
            }
            (b"counts", Some(group)) => elements(cursor, |cursor| self.counter(cursor, group)),
            (b"counts", None) => {
                without_name.push(*cursor);
                cursor.skip_value()
            }
            _ => cursor.skip_value(),
        })?;
        if without_name.is_empty() {
            return Ok(());
        }
        self.names.templates().trace().mark_incomplete();
        let Some(group) = group else {
            self.set.mark_nameless_unreadable();
            return Ok(());
        };
        let mut counts = without_name.into_iter();
        counts.try_for_each(|mut counts| elements(&mut counts, |cursor| self.counter(cursor, group)))
    }

    fn counter(&mut self, cursor: &mut Cursor<'_>, group: GroupIndex) -> Scan<()> {
        let start = *cursor;
        if let Ok((name, value, value_at)) = as_hadoop_writes_it(cursor)
            && let Some(slot) = self.names.slot(group, name, self.strings)
        {
            slot.record(value, self.set);
            let end = self.whole - cursor.rest().len() - 1;
            self.names.templates().trace().value(self.whole - value_at, end, slot);
            return Ok(());
        }
        *cursor = start;
        self.names.templates().trace().mark_incomplete();
        let (mut name, mut value) = (None, None);
        members(cursor, |cursor, key| {
            match &*plain(key) {
                b"name" => name = Some(cursor.string()?),
                b"value" => {
                    value = match cursor.peek() {
                        Some(b'"') => cursor.string()?.text().parse().ok(),
                        _ => cursor.integer_or_skip()?,
                    };
                }
                _ => cursor.skip_value()?,
            }
            Ok(())
        })?;
        match (name, value) {
            (Some(name), Some(value)) => {
                self.names.record(group, &name.text(), value, self.set, self.strings);
            }
            (Some(name), None) => self.names.mark_unreadable(group, &name.text(), self.set, self.strings),
            (None, _) => self.set.mark_nameless_unreadable(),
        }
        Ok(())
    }
}

/// The values of counters.
struct Integer;

impl Number for Integer {
    #[inline]
    fn take(bytes: &mut &[u8]) -> Option<i64> {
        let mut cursor = Cursor::new(bytes);
        let value = cursor.integer().ok()?;
        *bytes = cursor.rest();
        Some(value)
    }
}

/// Fast path: one counter in the order and spacing of Hadoop's own writer. Returns its name, its value, and
/// the number of bytes left before the value.
#[inline]
fn as_hadoop_writes_it<'a>(cursor: &mut Cursor<'a>) -> Scan<(&'a str, i64, usize)> {
    cursor.literal(b"{\"name\":\"")?;
    let name = cursor.plain_string_tail()?;
    cursor.literal(b",\"displayName\":\"")?;
    cursor.plain_string_tail()?;
    cursor.literal(b",\"value\":")?;
    let value_at = cursor.rest().len();
    let value = cursor.integer()?;
    cursor.literal(b"}")?;
    Ok((std::str::from_utf8(name).map_err(|_| Unexpected)?, value, value_at))
}
