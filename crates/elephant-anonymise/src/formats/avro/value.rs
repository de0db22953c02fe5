//! Values in Avro's binary encoding (specification 1.11, "Binary Encoding").

use super::schema::{Schema, Type, TypeId};
use crate::formats::jhist::fields;
use crate::json::{Context, Members, Numbers, Texts};
use crate::mask::{Mask, Meaning};

/// The deepest nesting of values.
const DEEPEST: usize = 64;

/// Why a value cannot be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Unread {
    /// More bytes may follow.
    Incomplete,
    Damaged,
}

type Reading<T> = Result<T, Unread>;

/// Reads values; with a mask, writes them again.
struct Cursor<'b, 'm, 'o> {
    bytes: &'b [u8],
    at: usize,
    out: Option<(&'m mut Mask, &'o mut Vec<u8>)>,
}

impl Schema {
    /// The length of the event at the start of the bytes.
    pub(super) fn event_len(&self, bytes: &[u8]) -> Reading<usize> {
        if bytes.is_empty() {
            return Err(Unread::Incomplete);
        }
        let mut cursor = Cursor { bytes, at: 0, out: None };
        cursor.value(self, self.root, Context::of(Meaning::Word), "", 0)?;
        Ok(cursor.at)
    }

    /// Writes an event that was read before, with its texts replaced.
    pub(super) fn write_event(&self, bytes: &[u8], mask: &mut Mask, out: &mut Vec<u8>) {
        let mut cursor = Cursor { bytes, at: 0, out: Some((mask, out)) };
        // It was read before, so it can be read.
        let _ = cursor.value(self, self.root, Context::of(Meaning::Word), "", 0);
    }
}

impl Cursor<'_, '_, '_> {
    fn value(
        &mut self,
        schema: &Schema,
        id: TypeId,
        context: Context,
        key: &str,
        depth: usize,
    ) -> Reading<()> {
        if depth > DEEPEST {
            return Err(Unread::Damaged);
        }
        match schema.types.get(id).ok_or(Unread::Damaged)? {
            Type::Null => {}
            Type::Boolean => self.raw(1)?,
            Type::Whole => self.number(context)?,
            Type::Float => self.raw(4)?,
            Type::Double => self.raw(8)?,
            Type::Bytes => {
                let len = self.length()?;
                self.skip(len)?;
                self.put_long(0);
            }
            Type::Text => self.text(context, key)?,
            Type::Fixed(size) => {
                self.skip(*size)?;
                if let Some((_, out)) = &mut self.out {
                    out.resize(out.len() + size, 0);
                }
            }
            Type::Enum(symbols) => {
                let symbol = self.index(*symbols)?;
                self.put_long(symbol);
            }
            Type::Array(items) => {
                self.blocks(|cursor| cursor.value(schema, *items, context, key, depth + 1))?;
            }
            Type::Map(values) => self.blocks(|cursor| {
                let name = cursor.name(context)?;
                cursor.value(schema, *values, context, &name, depth + 1)
            })?,
            Type::Union(branches) => {
                let branch = self.index(branches.len())?;
                self.put_long(branch);
                let branch = usize::try_from(branch)
                    .ok()
                    .and_then(|branch| branches.get(branch))
                    .ok_or(Unread::Damaged)?;
                self.value(schema, *branch, context, key, depth + 1)?;
            }
            Type::Record(members) => {
                for (name, id) in members {
                    let inner = fields(context.members, name).unwrap_or_else(|| Context::of_other_key(name));
                    self.value(schema, *id, inner, name, depth + 1)?;
                }
            }
        }
        Ok(())
    }

    /// The items of an array or a map, written as one block.
    fn blocks(&mut self, mut item: impl FnMut(&mut Self) -> Reading<()>) -> Reading<()> {
        loop {
            let mut count = self.long()?;
            if count < 0 {
                // The size of the block in bytes follows.
                self.long()?;
                count = count.checked_neg().ok_or(Unread::Damaged)?;
            }
            self.put_long(count);
            if count == 0 {
                return Ok(());
            }
            for _ in 0..count {
                let before = self.at;
                item(self)?;
                // Items without bytes could be any number.
                if self.at == before {
                    return Err(Unread::Damaged);
                }
            }
        }
    }

    fn number(&mut self, context: Context) -> Reading<()> {
        let number = self.long()?;
        if let Some((mask, _)) = &mut self.out {
            let is_moved = context.numbers != Numbers::Kept;
            let number = if is_moved { mask.clock.millis(number) } else { number };
            self.put_long(number);
        }
        Ok(())
    }

    fn text(&mut self, context: Context, key: &str) -> Reading<()> {
        let text = self.string()?;
        if let Some((mask, _)) = &mut self.out {
            let masked = match context.texts {
                Texts::Of(meaning) => mask.text(meaning, &text).into_owned(),
                Texts::Setting => mask.setting_value(key, &text),
                Texts::Scope => mask.text(Meaning::Unknown, &text).into_owned(),
            };
            self.put_text(&masked);
        }
        Ok(())
    }

    /// The key of a map.
    fn name(&mut self, context: Context) -> Reading<String> {
        let name = self.string()?;
        if let Some((mask, _)) = &mut self.out {
            let masked = match context.members {
                Members::Settings => mask.setting_name(&name),
                _ => mask.text(Meaning::Unknown, &name).into_owned(),
            };
            self.put_text(&masked);
        }
        Ok(name)
    }

    fn string(&mut self) -> Reading<String> {
        let len = self.length()?;
        let start = self.at;
        self.skip(len)?;
        let bytes = self.bytes.get(start..self.at).unwrap_or_default();
        Ok(String::from_utf8_lossy(bytes).into_owned())
    }

    fn length(&mut self) -> Reading<usize> {
        usize::try_from(self.long()?).map_err(|_| Unread::Damaged)
    }

    fn index(&mut self, among: usize) -> Reading<i64> {
        let index = self.long()?;
        let is_valid = usize::try_from(index).is_ok_and(|index| index < among);
        if is_valid { Ok(index) } else { Err(Unread::Damaged) }
    }

    fn long(&mut self) -> Reading<i64> {
        let mut number = 0_u64;
        for shift in (0..64).step_by(7) {
            let byte = *self.bytes.get(self.at).ok_or(Unread::Incomplete)?;
            self.at += 1;
            number |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Ok((number >> 1).cast_signed() ^ -(number & 1).cast_signed());
            }
        }
        Err(Unread::Damaged)
    }

    fn skip(&mut self, len: usize) -> Reading<()> {
        let end = self.at.checked_add(len).ok_or(Unread::Damaged)?;
        if end > self.bytes.len() {
            return Err(Unread::Incomplete);
        }
        self.at = end;
        Ok(())
    }

    /// Bytes that stay as they are.
    fn raw(&mut self, len: usize) -> Reading<()> {
        let start = self.at;
        self.skip(len)?;
        let bytes = self.bytes.get(start..self.at).unwrap_or_default();
        if let Some((_, out)) = &mut self.out {
            out.extend_from_slice(bytes);
        }
        Ok(())
    }

    fn put_long(&mut self, number: i64) {
        let Some((_, out)) = &mut self.out else { return };
        let mut rest = (number << 1 ^ number >> 63).cast_unsigned();
        while rest >= 0x80 {
            out.push((rest & 0x7f) as u8 | 0x80);
            rest >>= 7;
        }
        out.push((rest & 0x7f) as u8);
    }

    fn put_text(&mut self, text: &str) {
        self.put_long(i64::try_from(text.len()).unwrap_or(0));
        if let Some((_, out)) = &mut self.out {
            out.extend_from_slice(text.as_bytes());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::key::Key;
    use proptest::prelude::*;
    use serde_json::json;

    fn schema() -> Schema {
        let schema = json!({"type": "record", "name": "Event", "fields": [
            {"name": "type", "type": {"type": "enum", "name": "EventType", "symbols": ["A", "B"]}},
            {"name": "event", "type": [
                {"type": "record", "name": "Started", "fields": [
                    {"name": "hostname", "type": "string"}, {"name": "startTime", "type": "long"}, {"name": "maps", "type": "int"},
                    {"name": "acls", "type": {"type": "map", "values": "string"}},
                    {"name": "clockSplits", "type": {"type": "array", "items": "int"}}]},
                {"type": "record", "name": "Other", "fields": [{"name": "avataar", "type": ["null", "string"]}]}]}]});
        Schema::of(&schema).unwrap()
    }

    /// A started event on this host.
    fn event(host: &str) -> Vec<u8> {
        let mut bytes = Vec::new();
        let mut mask = Mask::new(Key::of_text(b"k"));
        let mut cursor = Cursor { bytes: &[], at: 0, out: Some((&mut mask, &mut bytes)) };
        for long in [0, 0] {
            cursor.put_long(long);
        }
        cursor.put_text(host);
        for long in [1_795_255_830_918, 7, 1] {
            cursor.put_long(long);
        }
        cursor.put_text("mapreduce.job.acl-view-job");
        cursor.put_text("alice");
        for long in [0, 2, -1, 64, 0] {
            cursor.put_long(long);
        }
        bytes
    }

    #[test]
    fn events_are_read_and_written_by_their_schema() {
        let (schema, bytes) = (schema(), event("acme7"));
        assert_eq!(schema.event_len(&bytes), Ok(bytes.len()));
        for end in 0..bytes.len() {
            assert_eq!(schema.event_len(&bytes[..end]), Err(Unread::Incomplete), "{end}");
        }
        let (mut mask, mut out) = (Mask::new(Key::of_text(b"k")), Vec::new());
        schema.write_event(&bytes, &mut mask, &mut out);
        assert_eq!(schema.event_len(&out), Ok(out.len()));
        let text = String::from_utf8_lossy(&out);
        assert!(text.contains("host-") && !text.contains("acme7") && !text.contains("alice"), "{text}");
    }

    proptest! {
        #[test]
        fn any_bytes_end(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            let schema = schema();
            if let Ok(len) = schema.event_len(&bytes) {
                let (mut mask, mut out) = (Mask::new(Key::of_text(b"k")), Vec::new());
                schema.write_event(&bytes[..len], &mut mask, &mut out);
                prop_assert_eq!(schema.event_len(&out), Ok(out.len()));
            }
        }
    }
}
