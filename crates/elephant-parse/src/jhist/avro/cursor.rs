//! A reader for Avro's binary encoding (specification 1.11, "Binary Encoding").

use std::borrow::Cow;

use thiserror::Error;

use crate::MAX_EVENT_LEN;

/// Why an event could not be decoded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum DecodeError {
    /// The bytes end inside the event.
    #[error("the event is incomplete")]
    Incomplete,
    /// The bytes are not a valid encoding.
    #[error("{0}")]
    Damaged(&'static str),
}

pub(super) type Result<T> = std::result::Result<T, DecodeError>;

/// A block of an array or map.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Block {
    /// Items in the block, at least one.
    pub(super) count: usize,
    /// Encoded size of the items in bytes, if the writer gave it.
    pub(super) size: Option<usize>,
}

/// The bytes still to decode.
#[derive(Debug, Clone, Copy)]
pub(super) struct Cursor<'a> {
    rest: &'a [u8],
}

impl<'a> Cursor<'a> {
    pub(super) const fn new(bytes: &'a [u8]) -> Self {
        Self { rest: bytes }
    }

    /// Number of bytes left.
    pub(super) const fn left(&self) -> usize {
        self.rest.len()
    }

    /// The bytes that are left.
    #[inline]
    pub(super) const fn rest(&self) -> &'a [u8] {
        self.rest
    }

    #[inline]
    pub(super) fn take(&mut self, count: usize) -> Result<&'a [u8]> {
        let (taken, rest) = self.rest.split_at_checked(count).ok_or(DecodeError::Incomplete)?;
        self.rest = rest;
        Ok(taken)
    }

    /// An `int` or `long`.
    #[inline]
    pub(super) fn long(&mut self) -> Result<i64> {
        match self.rest {
            &[byte, ref rest @ ..] if byte < 0x80 => {
                self.rest = rest;
                Ok(unzigzag(u64::from(byte)))
            }
            _ => self.long_of_several_bytes(),
        }
    }

    fn long_of_several_bytes(&mut self) -> Result<i64> {
        let mut value = 0u64;
        for (index, &byte) in self.rest.iter().take(10).enumerate() {
            value |= u64::from(byte & 0x7f) << (7 * index);
            if byte < 0x80 {
                if index == 9 && byte > 1 {
                    break;
                }
                self.rest = self.rest.get(index + 1..).unwrap_or_default();
                return Ok(unzigzag(value));
            }
        }
        Err(if self.rest.len() < 10 { DecodeError::Incomplete } else { DecodeError::Damaged(TOO_LONG) })
    }

    /// An `int`, which must fit 32 bits.
    #[inline]
    pub(super) fn int(&mut self) -> Result<i32> {
        i32::try_from(self.long()?).map_err(|_| DecodeError::Damaged("an int does not fit into 32 bits"))
    }

    /// The index of an enum symbol or union branch, below `count`.
    #[inline]
    pub(super) fn choice(&mut self, count: usize, complaint: &'static str) -> Result<usize> {
        let index = usize::try_from(self.long()?).ok().filter(|&index| index < count);
        index.ok_or(DecodeError::Damaged(complaint))
    }

    /// The contents of a `string` or `bytes`.
    #[inline]
    pub(super) fn prefixed(&mut self) -> Result<&'a [u8]> {
        let len = self.long()?;
        let len = size(len)?;
        self.take(len)
    }

    /// The head of an array's or map's next block, `None` at its end.
    #[inline]
    pub(super) fn block(&mut self) -> Result<Option<Block>> {
        let count = self.long()?;
        if count == 0 {
            return Ok(None);
        }
        let size = if count < 0 { Some(size(self.long()?)?) } else { None };
        let count = usize::try_from(count.unsigned_abs()).unwrap_or(usize::MAX);
        Ok(Some(Block { count, size }))
    }
}

const TOO_LONG: &str = "a number has too many bytes";

fn size(value: i64) -> Result<usize> {
    match usize::try_from(value) {
        Ok(size) if size <= MAX_EVENT_LEN => Ok(size),
        Ok(_) => Err(DecodeError::Damaged("a value is larger than the maximum event size")),
        Err(_) => Err(DecodeError::Damaged("a length is negative")),
    }
}

const fn unzigzag(value: u64) -> i64 {
    (value >> 1).cast_signed() ^ -((value & 1).cast_signed())
}

/// The text of a `string`; copied only if it is not valid UTF-8.
#[inline]
pub(super) fn text(bytes: &[u8]) -> Cow<'_, str> {
    match std::str::from_utf8(bytes) {
        Ok(text) => Cow::Borrowed(text),
        Err(_) => String::from_utf8_lossy(bytes),
    }
}

#[cfg(test)]
mod tests {
    use super::super::encode::Encoder;
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn every_long_is_read_back(value in any::<i64>(), small in -200..200i64) {
            for value in [value, small, i64::MIN, i64::MAX] {
                let bytes = Encoder::default().long(value).done();
                let mut cursor = Cursor::new(&bytes);
                prop_assert_eq!(cursor.long(), Ok(value));
                prop_assert_eq!(cursor.left(), 0);
                for cut in 0..bytes.len() {
                    prop_assert_eq!(Cursor::new(&bytes[..cut]).long(), Err(DecodeError::Incomplete));
                }
            }
        }
    }

    #[test]
    fn numbers_that_overflow_their_type_are_damage() {
        assert_eq!(Cursor::new(&[0xff; 10]).long(), Err(DecodeError::Damaged(TOO_LONG)));
        let eleven = [&[0xff; 9][..], &[2]].concat();
        assert_eq!(Cursor::new(&eleven).long(), Err(DecodeError::Damaged(TOO_LONG)));
        let beyond = Encoder::default().long(1 << 31).done();
        assert!(matches!(Cursor::new(&beyond).int(), Err(DecodeError::Damaged(_))));
    }

    #[test]
    fn lengths_are_checked_before_use() {
        let negative = Encoder::default().long(-1).done();
        assert_eq!(Cursor::new(&negative).prefixed(), Err(DecodeError::Damaged("a length is negative")));
        let huge = Encoder::default().long(1 << 60).done();
        assert!(matches!(Cursor::new(&huge).prefixed(), Err(DecodeError::Damaged(_))));
        let short = Encoder::default().long(5).done();
        assert_eq!(Cursor::new(&short).prefixed(), Err(DecodeError::Incomplete));
    }

    #[test]
    fn blocks_may_give_their_size() {
        let bytes = Encoder::default().long(-3).long(7).long(2).long(0).done();
        let mut cursor = Cursor::new(&bytes);
        assert_eq!(cursor.block(), Ok(Some(Block { count: 3, size: Some(7) })));
        assert_eq!(cursor.block(), Ok(Some(Block { count: 2, size: None })));
        assert_eq!(cursor.block(), Ok(None));
    }

    #[test]
    fn text_that_is_not_utf8_is_kept_readable() {
        assert!(matches!(text(b"host"), Cow::Borrowed("host")));
        assert_eq!(text(b"h\xffst"), "h\u{fffd}st");
    }
}
