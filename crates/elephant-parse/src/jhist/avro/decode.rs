//! Runs the steps of a [`Plan`] over the bytes of one event.

use std::borrow::Cow;

use super::cursor::{Cursor, DecodeError, Result, text};
use super::plan::{MAX_DEPTH, Plan, Step};
use crate::MAX_EVENT_LEN;
use crate::counter_names::{CounterNames, GroupIndex};
use crate::counter_template::Number;
use crate::event::{EventFields, EventKind, EventPayload};
use crate::jhist::fields::{Slot, counters, mark_unreadable, set_flag, set_integer, set_text, splits};
use elephant_model::model::Interner;

/// An event's type and size; its values go into the fields and payload passed to [`decode_event`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Decoded<'a> {
    /// Encoded size in bytes.
    pub len: usize,
    /// The kind of event; `None` for an unknown type.
    pub kind: Option<EventKind>,
    /// The type's name in the schema.
    pub type_name: &'a str,
}

/// Decodes the event at the start of `bytes`.
///
/// `fields` must be empty; `payload` is cleared first. After an error both hold part of the event, and the
/// same event may be decoded again once more bytes are available.
///
/// # Errors
/// [`DecodeError::Incomplete`] if the event extends past `bytes`, [`DecodeError::Damaged`] if more bytes
/// would not help.
pub fn decode_event<'a>(
    plan: &'a Plan,
    bytes: &'a [u8],
    fields: &mut EventFields<'a>,
    payload: &mut EventPayload,
    names: &mut CounterNames,
    strings: &mut Interner,
) -> Result<Decoded<'a>> {
    payload.clear();
    let mut decoder = Decoder {
        plan,
        cursor: Cursor::new(bytes),
        fields,
        payload,
        names,
        strings,
        kind: 0,
        set: Slot::Counters,
        whole: 0,
        group: None,
        late_counts: None,
        counter: None,
        value: None,
    };
    decoder.step(plan.root(), 0)?;
    let len = bytes.len() - decoder.cursor.left();
    let (type_name, kind) = plan.kinds().get(decoder.kind).map_or(("", None), |(name, kind)| (name, *kind));
    Ok(Decoded { len, kind, type_name })
}

struct Decoder<'a, 'd> {
    plan: &'a Plan,
    cursor: Cursor<'a>,
    fields: &'d mut EventFields<'a>,
    payload: &'d mut EventPayload,
    names: &'d mut CounterNames,
    strings: &'d mut Interner,
    /// The event's type, as an index into the schema's enum.
    kind: usize,
    /// Where counters go.
    set: Slot,
    /// Number of bytes that were left at the start of the counters.
    whole: usize,
    group: Option<GroupIndex>,
    /// Start of a group's counters that came before the group's name, and their array.
    late_counts: Option<(Cursor<'a>, usize)>,
    counter: Option<&'a [u8]>,
    value: Option<i64>,
}

impl Decoder<'_, '_> {
    fn step(&mut self, step: Step, depth: usize) -> Result<()> {
        match step {
            Step::Fixed(size) => self.cursor.take(size).map(drop),
            Step::Varint => self.cursor.long().map(drop),
            Step::Prefixed => self.cursor.prefixed().map(drop),
            Step::Choice(count) => self.cursor.choice(count, BAD_SYMBOL).map(drop),
            Step::Record(list) => self.record(list, depth),
            Step::Union(list) => self.union(list, depth),
            Step::Array(items) => self.array(items, depth),
            Step::Map(items) => self.map(items, depth),
            Step::Kind => {
                self.kind = self.cursor.choice(self.plan.kinds().len(), BAD_SYMBOL)?;
                Ok(())
            }
            Step::Text(_) | Step::Integer(_) | Step::Flag(_) | Step::Symbol(..) | Step::Split(_) => {
                self.keep(step)
            }
            Step::Counters(slot, list) => {
                self.set = slot;
                self.all_counters(list, depth)
            }
            Step::Group(list) => self.group(list, depth),
            Step::GroupName => {
                let name = text(self.cursor.prefixed()?);
                self.group = Some(self.names.group(&name));
                Ok(())
            }
            Step::Counts { read, skip } => {
                if self.group.is_some() {
                    return self.array(read, depth);
                }
                self.late_counts = Some((self.cursor, read));
                self.array(skip, depth)
            }
            Step::Counter(list) => self.counter(list, depth),
            Step::CounterName => {
                self.counter = Some(self.cursor.prefixed()?);
                Ok(())
            }
            Step::CounterValue => {
                self.value = Some(self.cursor.long()?);
                Ok(())
            }
        }
    }

    fn keep(&mut self, step: Step) -> Result<()> {
        let (slot, taken) = match step {
            Step::Text(slot) => (slot, set_text(self.fields, slot, text(self.cursor.prefixed()?))),
            Step::Integer(slot) => (slot, set_integer(self.fields, slot, self.cursor.long()?)),
            Step::Flag(slot) => (slot, set_flag(self.fields, slot, self.cursor.take(1)? == [1])),
            Step::Symbol(slot, id) => {
                let symbols = self.plan.symbols(id);
                let index = self.cursor.choice(symbols.len(), BAD_SYMBOL)?;
                let symbol = symbols.get(index).map(String::as_str).unwrap_or_default();
                (slot, set_text(self.fields, slot, Cow::Borrowed(symbol)))
            }
            Step::Split(slot) => {
                let value = self.cursor.int()?;
                if let Some(array) = splits(self.payload, slot) {
                    array.push(value);
                }
                return Ok(());
            }
            _ => return Ok(()),
        };
        if !taken {
            mark_unreadable(&mut self.payload.unreadable, slot);
        }
        Ok(())
    }

    #[inline]
    fn record(&mut self, list: usize, depth: usize) -> Result<()> {
        let depth = deeper(depth)?;
        let plan = self.plan;
        plan.list(list).iter().try_for_each(|&step| self.step(step, depth))
    }

    fn union(&mut self, list: usize, depth: usize) -> Result<()> {
        let depth = deeper(depth)?;
        let branches = self.plan.list(list);
        let index = self.cursor.choice(branches.len(), "a union has no such branch")?;
        branches.get(index).map_or(Ok(()), |&step| self.step(step, depth))
    }

    fn array(&mut self, items: usize, depth: usize) -> Result<()> {
        let depth = deeper(depth)?;
        let items = self.plan.items(items);
        while let Some(block) = self.cursor.block()? {
            match (items.step, block.size) {
                (_, Some(size)) if items.skip => drop(self.cursor.take(size)?),
                (Step::Fixed(size), _) => drop(self.cursor.take(size.saturating_mul(block.count))?),
                (Step::Counter(list), _) => self.counters(list, countable(block.count)?, depth)?,
                (Step::Split(slot), _) => self.splits(slot, countable(block.count)?)?,
                (step, _) => {
                    for _ in 0..countable(block.count)? {
                        self.step(step, depth)?;
                    }
                }
            }
        }
        Ok(())
    }

    fn map(&mut self, items: usize, depth: usize) -> Result<()> {
        let depth = deeper(depth)?;
        let items = self.plan.items(items);
        while let Some(block) = self.cursor.block()? {
            if let Some(size) = block.size {
                self.cursor.take(size)?;
                continue;
            }
            for _ in 0..countable(block.count)? {
                self.cursor.prefixed()?;
                self.step(items.step, depth)?;
            }
        }
        Ok(())
    }

    /// Decodes the counters of an attempt, task or job, from a template if one matches.
    fn all_counters(&mut self, list: usize, depth: usize) -> Result<()> {
        let bytes = self.cursor.rest();
        // Hadoop never writes counters twice in one event.
        let mut alone = false;
        if let Some(set) = counters(self.payload, self.set)
            && set.is_empty()
        {
            alone = true;
            if let Some(len) = self.names.templates().read::<Long>(list, bytes, set) {
                return self.cursor.take(len).map(drop);
            }
        }
        self.whole = bytes.len();
        self.names.templates().trace().start();
        self.record(list, depth)?;
        if let (true, Some(set)) = (alone, counters(self.payload, self.set)) {
            let len = bytes.len() - self.cursor.left();
            self.names.templates().learn(bytes.get(..len).unwrap_or_default(), set);
        }
        Ok(())
    }

    fn group(&mut self, list: usize, depth: usize) -> Result<()> {
        self.group = None;
        self.late_counts = None;
        self.record(list, depth)?;
        if let Some((start, counts)) = self.late_counts.take() {
            self.names.templates().trace().mark_incomplete();
            let end = std::mem::replace(&mut self.cursor, start);
            self.array(counts, depth)?;
            self.cursor = end;
        }
        Ok(())
    }

    /// The numbers of one block of a progress array.
    fn splits(&mut self, slot: Slot, count: usize) -> Result<()> {
        let Some(array) = splits(self.payload, slot) else {
            return (0..count).try_for_each(|_| self.cursor.int().map(drop));
        };
        let mut cursor = self.cursor;
        for _ in 0..count {
            array.push(cursor.int()?);
        }
        self.cursor = cursor;
        Ok(())
    }

    /// The counters of a block: most bytes of any history, so Hadoop's own layout has a fast path.
    fn counters(&mut self, list: usize, count: usize, depth: usize) -> Result<()> {
        let usual = [Step::CounterName, Step::Prefixed, Step::CounterValue];
        let (Some(group), true) = (self.group, *self.plan.list(list) == usual) else {
            return (0..count).try_for_each(|_| self.counter(list, depth));
        };
        let Some(set) = counters(self.payload, self.set) else { return Ok(()) };
        let mut cursor = self.cursor;
        for _ in 0..count {
            let name = cursor.prefixed()?;
            cursor.prefixed()?;
            let value_at = cursor.left();
            let value = cursor.long()?;
            let Some(slot) = self.names.slot(group, &text(name), self.strings) else {
                self.names.templates().trace().mark_incomplete();
                continue;
            };
            slot.record(value, set);
            self.names.templates().trace().value(self.whole - value_at, self.whole - cursor.left(), slot);
        }
        self.cursor = cursor;
        Ok(())
    }

    fn counter(&mut self, list: usize, depth: usize) -> Result<()> {
        self.counter = None;
        self.value = None;
        self.names.templates().trace().mark_incomplete();
        self.record(list, depth)?;
        let Some(set) = counters(self.payload, self.set) else { return Ok(()) };
        match (self.group, self.counter, self.value) {
            (Some(group), Some(name), Some(value)) => {
                self.names.record(group, &text(name), value, set, self.strings);
            }
            (Some(group), Some(name), None) => {
                self.names.mark_unreadable(group, &text(name), set, self.strings);
            }
            _ => set.mark_nameless_unreadable(),
        }
        Ok(())
    }
}

/// The values of counters.
struct Long;

impl Number for Long {
    #[inline]
    fn take(bytes: &mut &[u8]) -> Option<i64> {
        let mut cursor = Cursor::new(bytes);
        let value = cursor.long().ok()?;
        *bytes = cursor.rest();
        Some(value)
    }
}

const BAD_SYMBOL: &str = "an enum has no such symbol";

fn deeper(depth: usize) -> Result<usize> {
    if depth < MAX_DEPTH { Ok(depth + 1) } else { Err(DecodeError::Damaged("values are nested too deeply")) }
}

/// Each item takes at least a byte, so their count cannot exceed the event's size.
fn countable(count: usize) -> Result<usize> {
    if count <= MAX_EVENT_LEN {
        Ok(count)
    } else {
        Err(DecodeError::Damaged("an array is larger than the maximum event size"))
    }
}
