//! A cursor over JSON bytes: skips unneeded values at the speed of a byte search, and copies nothing.
//!
//! It checks only as much of JSON's grammar as is needed to find the ends of values. Keys and strings stay
//! raw until they are used.

mod members;
mod numbers;

use std::borrow::Cow;

use memchr::{memchr, memchr2};

/// Maximum nesting of values. Hadoop's histories nest ten levels deep, Spark's SQL plans some hundreds.
const MAX_DEPTH: usize = 4096;

/// Maximum length of a host name.
const MAX_NAME_LEN: usize = 256;

/// The input is not the expected JSON.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Unexpected;

pub(super) type Scan<T> = Result<T, Unexpected>;

/// A string between its quotes, escapes not resolved.
#[derive(Debug, Clone, Copy)]
pub(super) struct RawStr<'a> {
    pub(super) bytes: &'a [u8],
    pub(super) escaped: bool,
}

impl<'a> RawStr<'a> {
    /// The text; invalid UTF-8 and invalid escapes become replacement characters.
    pub(super) fn text(self) -> Cow<'a, str> {
        if self.escaped {
            let quoted = [b"\"".as_slice(), self.bytes, b"\""].concat();
            if let Ok(text) = serde_json::from_slice::<String>(&quoted) {
                return Cow::Owned(text);
            }
        }
        match std::str::from_utf8(self.bytes) {
            Ok(text) => Cow::Borrowed(text),
            Err(_) => String::from_utf8_lossy(self.bytes),
        }
    }
}

/// A position in JSON text.
#[derive(Debug, Clone, Copy)]
pub(super) struct Cursor<'a> {
    rest: &'a [u8],
}

impl<'a> Cursor<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Self { rest: bytes }
    }

    #[inline]
    pub(super) fn rest(&self) -> &'a [u8] {
        self.rest
    }

    /// Skips this many bytes.
    pub(super) fn skip(&mut self, count: usize) {
        self.rest = self.rest.get(count..).unwrap_or_default();
    }

    /// The next byte after white space.
    #[inline]
    pub(super) fn peek(&mut self) -> Option<u8> {
        loop {
            match self.rest {
                [b' ' | b'\t' | b'\r' | b'\n', rest @ ..] => self.rest = rest,
                [byte, ..] => return Some(*byte),
                [] => return None,
            }
        }
    }

    /// Consumes exactly these bytes; if they do not follow, the cursor does not move.
    #[inline]
    pub(super) fn literal(&mut self, expected: &[u8]) -> Scan<()> {
        let (head, rest) = self.rest.split_at_checked(expected.len()).ok_or(Unexpected)?;
        if !same(head, expected) {
            return Err(Unexpected);
        }
        self.rest = rest;
        Ok(())
    }

    /// Skips white space and consumes one byte if it is `expected`.
    #[inline]
    pub(super) fn take(&mut self, expected: u8) -> bool {
        if self.peek() != Some(expected) {
            return false;
        }
        self.rest = self.rest.get(1..).unwrap_or_default();
        true
    }

    /// Skips white space and consumes one byte, which must be `expected`.
    pub(super) fn expect(&mut self, expected: u8) -> Scan<()> {
        if self.take(expected) { Ok(()) } else { Err(Unexpected) }
    }

    /// Reads a string.
    pub(super) fn string(&mut self) -> Scan<RawStr<'a>> {
        self.expect(b'"')?;
        self.string_tail()
    }

    /// Reads the rest of a string after its opening quote.
    #[inline]
    pub(super) fn string_tail(&mut self) -> Scan<RawStr<'a>> {
        // Half of all strings are so short that setting up a search takes longer than a direct look.
        if let Some(at) = near_end_of_string(self.rest)
            && let Some((bytes, [b'"', rest @ ..])) = self.rest.split_at_checked(at)
        {
            self.rest = rest;
            return Ok(RawStr { bytes, escaped: false });
        }
        let at = end_of_string(self.rest).ok_or(Unexpected)?;
        let (bytes, rest) = self.rest.split_at_checked(at).ok_or(Unexpected)?;
        self.rest = rest.get(1..).unwrap_or_default();
        Ok(RawStr { bytes, escaped: memchr(b'\\', bytes).is_some() })
    }

    /// Skips the rest of a string after its opening quote.
    #[inline]
    pub(super) fn skip_string_tail(&mut self) -> Scan<()> {
        let at = match near_end_of_string(self.rest).filter(|&at| self.rest.get(at) == Some(&b'"')) {
            Some(at) => at,
            None => end_of_string(self.rest).ok_or(Unexpected)?,
        };
        self.rest = self.rest.get(at + 1..).unwrap_or_default();
        Ok(())
    }

    /// Reads up to and including the next quote; fails if an escape comes first.
    #[inline]
    pub(super) fn plain_string_tail(&mut self) -> Scan<&'a [u8]> {
        let at = memchr(b'"', self.rest).ok_or(Unexpected)?;
        let (text, rest) = self.rest.split_at_checked(at).ok_or(Unexpected)?;
        if memchr(b'\\', text).is_some() {
            return Err(Unexpected);
        }
        self.rest = rest.get(1..).unwrap_or_default();
        Ok(text)
    }

    /// Reads the rest of a short string without escapes after its opening quote. Names are so short that
    /// checking eight bytes at a time is faster than a search.
    #[inline]
    pub(super) fn name_tail(&mut self) -> Scan<&'a [u8]> {
        let text = self.rest;
        let mut at = 0;
        while at < MAX_NAME_LEN {
            let Some(eight) = text.get(at..).and_then(<[u8]>::first_chunk) else { break };
            if let Some(end) = special_among(*eight) {
                at += end;
                break;
            }
            at += 8;
        }
        // Reached only within the last eight bytes.
        let after = text.get(at..MAX_NAME_LEN.min(text.len())).unwrap_or_default();
        at += after.iter().position(|byte| matches!(byte, b'"' | b'\\')).ok_or(Unexpected)?;
        let (name, rest) = text.split_at_checked(at).ok_or(Unexpected)?;
        self.rest = rest.strip_prefix(b"\"").ok_or(Unexpected)?;
        Ok(name)
    }

    /// Reads a key and its colon.
    pub(super) fn key(&mut self) -> Scan<RawStr<'a>> {
        self.expect(b'"')?;
        let key = match self.name_tail() {
            Ok(bytes) => RawStr { bytes, escaped: false },
            Err(Unexpected) => self.string_tail()?,
        };
        self.expect(b':')?;
        Ok(key)
    }

    /// Reads `"key":"text"` without white space and without escapes in the key; otherwise the cursor does not
    /// move.
    #[inline]
    fn plain_pair(&mut self) -> Scan<(RawStr<'a>, RawStr<'a>)> {
        let mut cursor = *self;
        cursor.literal(b"\"")?;
        let at = memchr2(b'"', b'\\', cursor.rest).ok_or(Unexpected)?;
        let (bytes, rest) = cursor.rest.split_at_checked(at).ok_or(Unexpected)?;
        cursor.rest = rest;
        cursor.literal(b"\":\"")?;
        let text = cursor.string_tail()?;
        *self = cursor;
        Ok((RawStr { bytes, escaped: false }, text))
    }

    /// Reads a string; skips any other value and returns `None`.
    #[inline]
    pub(super) fn string_or_skip(&mut self) -> Scan<Option<RawStr<'a>>> {
        match self.peek().ok_or(Unexpected)? {
            b'"' => self.string().map(Some),
            _ => self.skip_value().map(|()| None),
        }
    }

    /// Reads `true` or `false`; skips any other value and returns `None`.
    #[inline]
    pub(super) fn bool_or_skip(&mut self) -> Scan<Option<bool>> {
        self.peek();
        if self.literal(b"true").is_ok() {
            return Ok(Some(true));
        }
        if self.literal(b"false").is_ok() {
            return Ok(Some(false));
        }
        self.skip_value().map(|()| None)
    }

    /// Skips one value and returns its bytes.
    pub(super) fn value(&mut self) -> Scan<&'a [u8]> {
        self.peek();
        let start = self.rest;
        self.skip_value()?;
        Ok(start.get(..start.len() - self.rest.len()).unwrap_or_default())
    }

    /// Whether nothing but white space is left.
    pub(super) fn at_end(&mut self) -> bool {
        self.peek().is_none()
    }

    /// Skips one value of any kind.
    pub(super) fn skip_value(&mut self) -> Scan<()> {
        match self.peek().ok_or(Unexpected)? {
            b'"' => {
                self.advance();
                self.skip_string_tail()
            }
            b'{' | b'[' => self.skip_nested(),
            _ => self.skip_scalar(),
        }
    }

    /// Skips an object or array, looking only at strings and brackets.
    fn skip_nested(&mut self) -> Scan<()> {
        let mut open: Vec<u8> = Vec::new();
        loop {
            let (byte, rest) = self.rest.split_first().ok_or(Unexpected)?;
            self.rest = rest;
            match byte {
                b'"' => self.skip_string_tail()?,
                b'{' | b'[' => {
                    if open.len() == MAX_DEPTH {
                        return Err(Unexpected);
                    }
                    open.push(*byte);
                }
                b'}' | b']' => {
                    // In ASCII, '}' and ']' are two above their opening brackets.
                    if open.pop() != Some(byte - 2) {
                        return Err(Unexpected);
                    }
                    if open.is_empty() {
                        return Ok(());
                    }
                }
                _ => {}
            }
        }
    }

    fn advance(&mut self) {
        self.rest = self.rest.get(1..).unwrap_or_default();
    }

    fn skip_scalar(&mut self) -> Scan<()> {
        let before = self.rest.len();
        while let [b'0'..=b'9' | b'a'..=b'z' | b'A'..=b'Z' | b'+' | b'-' | b'.', rest @ ..] = self.rest {
            self.rest = rest;
        }
        if self.rest.len() < before { Ok(()) } else { Err(Unexpected) }
    }
}

/// Position of the quote that ends a string: the first one after an even number of backslashes. Texts of many lines
/// are full of escapes, so searching for quotes alone is much faster.
fn end_of_string(text: &[u8]) -> Option<usize> {
    let mut from = 0;
    loop {
        let at = from + memchr(b'"', text.get(from..)?)?;
        let backslashes = text.get(..at)?.iter().rev().take_while(|&&byte| byte == b'\\').count();
        if backslashes.is_multiple_of(2) {
            return Some(at);
        }
        from = at + 1;
    }
}

const QUOTES: u64 = u64::from_le_bytes([b'"'; 8]);
const BACKSLASHES: u64 = u64::from_le_bytes([b'\\'; 8]);

/// Position of the first quote or backslash.
#[inline]
const fn special_among(eight: [u8; 8]) -> Option<usize> {
    let eight = u64::from_le_bytes(eight);
    let ends = zero_bytes(eight ^ QUOTES) | zero_bytes(eight ^ BACKSLASHES);
    if ends == 0 { None } else { Some((ends.trailing_zeros() / 8) as usize) }
}

/// Position of the first quote or backslash, if it is among the first bytes.
#[inline]
fn near_end_of_string(text: &[u8]) -> Option<usize> {
    let near = text.first_chunk::<24>()?;
    let (eights, _) = near.as_chunks::<8>();
    eights.iter().enumerate().find_map(|(number, eight)| Some(number * 8 + special_among(*eight)?))
}

/// Marks the first zero byte; higher bytes may be marked as well.
const fn zero_bytes(bytes: u64) -> u64 {
    bytes.wrapping_sub(0x0101_0101_0101_0101) & !bytes & 0x8080_8080_8080_8080
}

/// Whether two slices of the same length are equal. Compares both ends, which overlap in the middle: for
/// slices as short as keys this takes a few inlined instructions, less than a call to `memcmp`.
#[inline]
fn same(a: &[u8], b: &[u8]) -> bool {
    if let (Some(a_start), Some(b_start)) = (a.first_chunk::<16>(), b.first_chunk::<16>()) {
        return match a.len() {
            ..=32 => a_start == b_start && a.last_chunk::<16>() == b.last_chunk::<16>(),
            _ => a == b,
        };
    }
    if let (Some(a_start), Some(b_start)) = (a.first_chunk::<8>(), b.first_chunk::<8>()) {
        return a_start == b_start && a.last_chunk::<8>() == b.last_chunk::<8>();
    }
    a == b
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::{Map, Value};

    #[test]
    fn deep_nesting_is_refused_without_recursion() {
        let deep = "[".repeat(1_000_000);
        assert_eq!(Cursor::new(deep.as_bytes()).skip_value(), Err(Unexpected));
        assert_eq!(Cursor::new(b"[}").skip_value(), Err(Unexpected));
    }

    proptest! {
        #[test]
        fn strings_read_as_a_json_library_reads_them(text in ".*") {
            let json = serde_json::to_string(&text).unwrap();
            let read = Cursor::new(json.as_bytes()).string().unwrap();
            prop_assert_eq!(read.text(), text);
        }

        #[test]
        fn pairs_are_the_members_that_are_text(
            texts in prop::collection::vec((".{0,60}", ".{0,60}".prop_map(Value::from)), 0..9),
            numbers in prop::collection::vec((".{0,60}", any::<i32>().prop_map(Value::from)), 0..3),
            pretty in any::<bool>(),
        ) {
            let object: Map<String, Value> = texts.into_iter().chain(numbers).collect();
            let write = if pretty { serde_json::to_string_pretty } else { serde_json::to_string };
            let text = write(&object).unwrap();
            let mut read = Vec::new();
            let mut cursor = Cursor::new(text.as_bytes());
            cursor.each_pair(|key, value| read.push((key.text().into_owned(), value.text().into_owned()))).unwrap();
            prop_assert!(cursor.at_end());
            let texts = object.into_iter().filter_map(|(key, value)| Some((key, value.as_str()?.to_owned())));
            prop_assert_eq!(read, texts.collect::<Vec<_>>());
        }

        #[test]
        fn names_end_at_their_quote(name in "[a-z0-9._\\-]{0,300}", after in 0..20usize) {
            let text = format!("{name}\"{}", "x".repeat(after));
            let mut cursor = Cursor::new(text.as_bytes());
            if name.len() < MAX_NAME_LEN {
                prop_assert_eq!(cursor.name_tail(), Ok(name.as_bytes()));
                prop_assert_eq!(cursor.rest().len(), after);
            } else {
                prop_assert_eq!(cursor.name_tail(), Err(Unexpected));
            }
            let escaped = format!("{name}\\\"\"");
            prop_assert_eq!(Cursor::new(escaped.as_bytes()).name_tail(), Err(Unexpected));
        }

        #[test]
        fn slices_compare_like_the_standard_library(a in prop::collection::vec(any::<u8>(), 0..40), flip in any::<prop::sample::Index>()) {
            let mut b = a.clone();
            prop_assert!(same(&a, &b));
            if !b.is_empty() {
                let at = flip.index(b.len());
                b[at] ^= 1;
                prop_assert!(!same(&a, &b));
            }
        }

        #[test]
        fn any_bytes_terminate(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            let mut cursor = Cursor::new(&bytes);
            while cursor.skip_value().is_ok() {}
        }
    }
}
