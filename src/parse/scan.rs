//! A cursor over JSON bytes: skips what is not wanted at the speed of a byte search, and copies nothing.
//!
//! It checks as much of JSON's grammar as it needs to know where a value ends. Keys and strings stay raw
//! until someone wants them.

use std::borrow::Cow;

use memchr::{memchr, memchr2};

/// Values nested deeper than this are refused. Histories of Hadoop nest ten deep, SQL plans of Spark some hundreds.
const MAX_DEPTH: usize = 4096;

/// Names of hosts are this long at most.
const MAX_NAME_LEN: usize = 256;

/// The input is not the JSON that was expected at this place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Unexpected;

pub(super) type Scan<T> = Result<T, Unexpected>;

/// A string between its quotes, escapes not yet resolved.
#[derive(Debug, Clone, Copy)]
pub(super) struct RawStr<'a> {
    pub(super) bytes: &'a [u8],
    pub(super) escaped: bool,
}

impl<'a> RawStr<'a> {
    /// The text; bytes that are not UTF-8 and escapes that are not JSON's become replacement characters.
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

    /// All bytes from here on.
    #[inline]
    pub(super) fn rest(&self) -> &'a [u8] {
        self.rest
    }

    /// Passes over so many bytes.
    pub(super) fn skip(&mut self, count: usize) {
        self.rest = self.rest.get(count..).unwrap_or_default();
    }

    /// The next byte that is not white space.
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

    /// Takes exactly these bytes; leaves the cursor where it was if they are not next.
    #[inline]
    pub(super) fn literal(&mut self, expected: &[u8]) -> Scan<()> {
        let (head, rest) = self.rest.split_at_checked(expected.len()).ok_or(Unexpected)?;
        if !same(head, expected) {
            return Err(Unexpected);
        }
        self.rest = rest;
        Ok(())
    }

    /// Takes one byte behind any white space, if it is `expected`.
    #[inline]
    pub(super) fn take(&mut self, expected: u8) -> bool {
        if self.peek() != Some(expected) {
            return false;
        }
        self.rest = self.rest.get(1..).unwrap_or_default();
        true
    }

    /// Takes one byte behind any white space.
    pub(super) fn expect(&mut self, expected: u8) -> Scan<()> {
        if self.take(expected) { Ok(()) } else { Err(Unexpected) }
    }

    /// Takes a string.
    pub(super) fn string(&mut self) -> Scan<RawStr<'a>> {
        self.expect(b'"')?;
        self.string_tail()
    }

    /// Takes the rest of a string whose opening quote is already taken.
    #[inline]
    pub(super) fn string_tail(&mut self) -> Scan<RawStr<'a>> {
        let text = self.rest;
        let mut from = 0;
        let mut escaped = false;
        loop {
            let at = from + memchr2(b'"', b'\\', text.get(from..).ok_or(Unexpected)?).ok_or(Unexpected)?;
            if text.get(at) == Some(&b'"') {
                self.rest = text.get(at + 1..).unwrap_or_default();
                return Ok(RawStr { bytes: text.get(..at).unwrap_or_default(), escaped });
            }
            escaped = true;
            from = at + 2;
        }
    }

    /// Takes the bytes up to the next quote and the quote, if no escape stands in between.
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

    /// Takes a short string whose opening quote is already taken, if no escape stands in it. Names are so short that
    /// looking at eight bytes at a time is faster than a search.
    #[inline]
    pub(super) fn name_tail(&mut self) -> Scan<&'a [u8]> {
        let text = self.rest;
        let mut at = 0;
        while at < MAX_NAME_LEN {
            let Some(eight) = text.get(at..).and_then(<[u8]>::first_chunk) else { break };
            let eight = u64::from_le_bytes(*eight);
            let ends = zero_bytes(eight ^ QUOTES) | zero_bytes(eight ^ BACKSLASHES);
            if ends != 0 {
                at += (ends.trailing_zeros() / 8) as usize;
                break;
            }
            at += 8;
        }
        // Only within the last eight bytes of a line there is more to look for.
        let behind = text.get(at..MAX_NAME_LEN.min(text.len())).unwrap_or_default();
        at += behind.iter().position(|byte| matches!(byte, b'"' | b'\\')).ok_or(Unexpected)?;
        let (name, rest) = text.split_at_checked(at).ok_or(Unexpected)?;
        self.rest = rest.strip_prefix(b"\"").ok_or(Unexpected)?;
        Ok(name)
    }

    /// Takes an integer; fractions and exponents are refused.
    #[inline]
    pub(super) fn integer(&mut self) -> Scan<i64> {
        self.short_integer().or_else(|Unexpected| self.any_integer())
    }

    /// Takes an integer of fewer than sixteen digits that has no sign; leaves the cursor where it was at anything else,
    /// and within the last eight bytes.
    #[inline]
    pub(super) fn short_integer(&mut self) -> Scan<i64> {
        // Half of all counters are a single digit, mostly 0.
        if let [digit @ b'0'..=b'9', b',' | b'}', ..] = self.rest {
            let value = i64::from(digit - b'0');
            self.advance();
            return Ok(value);
        }
        if let Some(head) = self.rest.first_chunk::<8>() {
            let (count, number) = leading_digits(u64::from_le_bytes(*head));
            let rest = self.rest.get(count..).unwrap_or_default();
            if count < 8 {
                if count > 0 && !matches!(rest, [b'.' | b'e' | b'E', ..]) {
                    self.rest = rest;
                    return Ok(number.cast_signed());
                }
            } else if let Some(head) = rest.first_chunk::<8>() {
                let (count, low) = leading_digits(u64::from_le_bytes(*head));
                let rest = rest.get(count..).unwrap_or_default();
                if count < 8 && !matches!(rest, [b'.' | b'e' | b'E', ..]) {
                    self.rest = rest;
                    let scale = POWERS_OF_TEN.get(count).copied().unwrap_or(1);
                    return Ok((number * scale + low).cast_signed());
                }
            }
        }
        Err(Unexpected)
    }

    /// As [`Cursor::short_integer`], for a caller who looks at what follows: a fraction or an exponent is not refused.
    #[inline(always)]
    pub(super) fn digits(&mut self) -> Scan<i64> {
        let Some([b0, b1, b2, b3, b4, b5, b6, b7, tail @ ..]) = self.rest.first_chunk::<16>() else {
            return self.short_integer();
        };
        let (count, number) = leading_digits(u64::from_le_bytes([*b0, *b1, *b2, *b3, *b4, *b5, *b6, *b7]));
        if count < 8 {
            if count == 0 {
                return Err(Unexpected);
            }
            self.rest = self.rest.get(count..).unwrap_or_default();
            return Ok(number.cast_signed());
        }
        let (count, low) = leading_digits(u64::from_le_bytes(*tail));
        if count == 8 {
            return Err(Unexpected);
        }
        self.rest = self.rest.get(8 + count..).unwrap_or_default();
        let scale = POWERS_OF_TEN.get(count).copied().unwrap_or(1);
        Ok((number * scale + low).cast_signed())
    }

    fn any_integer(&mut self) -> Scan<i64> {
        let unsigned = self.rest.strip_prefix(b"-");
        let mut text = unsigned.unwrap_or(self.rest);
        let before = text.len();
        let mut magnitude: u64 = 0;
        while let Some(head) = text.first_chunk::<8>() {
            let (count, number) = leading_digits(u64::from_le_bytes(*head));
            // Wraps only beyond nineteen digits, which are refused below.
            magnitude =
                magnitude.wrapping_mul(POWERS_OF_TEN.get(count).copied().unwrap_or(1)).wrapping_add(number);
            text = text.get(count..).unwrap_or_default();
            if count < 8 {
                break;
            }
        }
        // Only within the last eight bytes of a line.
        while let [digit @ b'0'..=b'9', tail @ ..] = text {
            magnitude = magnitude.wrapping_mul(10).wrapping_add(u64::from(digit - b'0'));
            text = tail;
        }
        let digits = before - text.len();
        self.rest = text;
        if digits == 0 || digits > 19 || matches!(text, [b'.' | b'e' | b'E', ..]) {
            return Err(Unexpected);
        }
        let value = if unsigned.is_some() {
            0i64.checked_sub_unsigned(magnitude)
        } else {
            i64::try_from(magnitude).ok()
        };
        value.ok_or(Unexpected)
    }

    /// Takes a number; `None` for one that is no integer or takes more than 64 bits.
    pub(super) fn integer_in_range(&mut self) -> Scan<Option<i64>> {
        let start = *self;
        if let Ok(value) = self.integer() {
            return Ok(Some(value));
        }
        *self = start;
        self.skip_scalar().map(|()| None)
    }

    /// Takes a key and its colon.
    pub(super) fn key(&mut self) -> Scan<RawStr<'a>> {
        let key = self.string()?;
        self.expect(b':')?;
        Ok(key)
    }

    /// Takes an integer; anything else is passed over and `None`.
    #[inline]
    pub(super) fn integer_or_skip(&mut self) -> Scan<Option<i64>> {
        // Spark writes no blanks.
        let start = *self;
        if let Ok(value) = self.integer() {
            return Ok(Some(value));
        }
        *self = start;
        match self.peek().ok_or(Unexpected)? {
            b'-' | b'0'..=b'9' => self.integer_in_range(),
            _ => self.skip_value().map(|()| None),
        }
    }

    /// Takes a string; anything else is passed over and `None`.
    #[inline]
    pub(super) fn string_or_skip(&mut self) -> Scan<Option<RawStr<'a>>> {
        match self.peek().ok_or(Unexpected)? {
            b'"' => self.string().map(Some),
            _ => self.skip_value().map(|()| None),
        }
    }

    /// Takes `true` or `false`; anything else is passed over and `None`.
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

    /// Passes over one value and gives its bytes.
    pub(super) fn value(&mut self) -> Scan<&'a [u8]> {
        self.peek();
        let start = self.rest;
        self.skip_value()?;
        Ok(start.get(..start.len() - self.rest.len()).unwrap_or_default())
    }

    /// Reads the members of an object. `member` gets the place of the key in `keys` and takes the value; values of
    /// other keys are passed over. Anything but an object is passed over as a whole.
    ///
    /// `keys` are written with quotes and colon (`"Task ID":`), in the order in which the writer has them: each
    /// is first compared with the one expected next, which costs no search. Any other order works as well.
    #[inline]
    pub(super) fn members<F>(&mut self, keys: &[&[u8]], member: F) -> Scan<()>
    where
        F: FnMut(usize, &mut Self) -> Scan<()>,
    {
        if !self.take(b'{') {
            return self.skip_value();
        }
        if self.take(b'}') {
            return Ok(());
        }
        self.rest_of_members(keys, member)
    }

    #[inline]
    fn rest_of_members<F>(&mut self, keys: &[&[u8]], mut member: F) -> Scan<()>
    where
        F: FnMut(usize, &mut Self) -> Scan<()>,
    {
        let mut expected = 0;
        loop {
            let known = match keys.get(expected) {
                Some(key) if self.literal(key).is_ok() => Some(expected),
                _ => self.any_key(keys)?,
            };
            match known {
                Some(index) => {
                    member(index, self)?;
                    expected = index + 1;
                }
                None => self.skip_value()?,
            }
            if let [b',', rest @ ..] = self.rest {
                self.rest = rest;
            } else if !self.take(b',') {
                return self.expect(b'}');
            }
        }
    }

    /// As [`Cursor::members`], behind the first member of an object whose start is already taken.
    pub(super) fn members_after_first<F>(&mut self, keys: &[&[u8]], member: F) -> Scan<()>
    where
        F: FnMut(usize, &mut Self) -> Scan<()>,
    {
        if self.take(b'}') {
            return Ok(());
        }
        self.expect(b',')?;
        self.rest_of_members(keys, member)
    }

    /// Whether nothing but white space is left.
    pub(super) fn at_end(&mut self) -> bool {
        self.peek().is_none()
    }

    /// Takes a key and its colon and finds its place in `keys`.
    fn any_key(&mut self, keys: &[&[u8]]) -> Scan<Option<usize>> {
        let key = self.key()?;
        let is = |written: &&[u8]| {
            let name = written.strip_prefix(b"\"").and_then(|name| name.strip_suffix(b"\":"));
            name.is_some_and(|name| name == key.bytes || (key.escaped && key.text().as_bytes() == name))
        };
        Ok(keys.iter().position(is))
    }

    /// Reads all members of an object, whatever their keys; anything else is passed over.
    pub(super) fn each_member<F>(&mut self, mut member: F) -> Scan<()>
    where
        F: FnMut(RawStr<'a>, &mut Self) -> Scan<()>,
    {
        if !self.take(b'{') {
            return self.skip_value();
        }
        if self.take(b'}') {
            return Ok(());
        }
        loop {
            let key = self.key()?;
            member(key, self)?;
            if !self.take(b',') {
                return self.expect(b'}');
            }
        }
    }

    /// Reads the elements of an array; anything else is passed over.
    pub(super) fn elements<F>(&mut self, mut element: F) -> Scan<()>
    where
        F: FnMut(&mut Self) -> Scan<()>,
    {
        if !self.take(b'[') {
            return self.skip_value();
        }
        if self.take(b']') {
            return Ok(());
        }
        loop {
            element(self)?;
            if !self.take(b',') {
                return self.expect(b']');
            }
        }
    }

    /// Passes over one value of any kind.
    pub(super) fn skip_value(&mut self) -> Scan<()> {
        match self.peek().ok_or(Unexpected)? {
            b'"' => self.string().map(drop),
            b'{' | b'[' => self.skip_nested(),
            _ => self.skip_scalar(),
        }
    }

    /// Passes over an object or array. Only strings and brackets are looked at.
    fn skip_nested(&mut self) -> Scan<()> {
        let mut open: Vec<u8> = Vec::new();
        loop {
            match self.peek().ok_or(Unexpected)? {
                b'"' => drop(self.string()?),
                bracket @ (b'{' | b'[') => {
                    if open.len() == MAX_DEPTH {
                        return Err(Unexpected);
                    }
                    open.push(bracket);
                    self.advance();
                }
                bracket @ (b'}' | b']') => {
                    // '}' and ']' are each two above their opening bracket.
                    if open.pop() != Some(bracket - 2) {
                        return Err(Unexpected);
                    }
                    self.advance();
                    if open.is_empty() {
                        return Ok(());
                    }
                }
                _ => self.advance(),
            }
        }
    }

    fn skip_scalar(&mut self) -> Scan<()> {
        let before = self.rest.len();
        while let [b'0'..=b'9' | b'a'..=b'z' | b'A'..=b'Z' | b'+' | b'-' | b'.', rest @ ..] = self.rest {
            self.rest = rest;
        }
        if self.rest.len() < before { Ok(()) } else { Err(Unexpected) }
    }

    fn advance(&mut self) {
        self.rest = self.rest.get(1..).unwrap_or_default();
    }
}

const POWERS_OF_TEN: [u64; 9] = [1, 10, 100, 1_000, 10_000, 100_000, 1_000_000, 10_000_000, 100_000_000];

/// How many of eight bytes, the first in the lowest, are digits before the first that is none, and the number that
/// they spell.
///
/// Pairs, then fours, then all eight are put together at once (Johnny Lee's and Wojciech Muła's way).
#[inline]
const fn leading_digits(bytes: u64) -> (usize, u64) {
    // What is left of a digit is up to nine; adding to anything else sets the highest bit, or it is set already. A carry
    // can only come out of a byte that is no digit, and spoils only those behind it.
    let values = bytes ^ 0x3030_3030_3030_3030;
    let no_digit = (values | values.wrapping_add(0x7676_7676_7676_7676)) & 0x8080_8080_8080_8080;
    let bits = no_digit.trailing_zeros() & !7;
    if bits == 0 {
        return (0, 0);
    }
    // Zeros come in front of what is shorter.
    let ones = values << (64 - bits);
    let pairs = ones.wrapping_mul(10).wrapping_add(ones >> 8) & 0x00ff_00ff_00ff_00ff;
    let fours = pairs.wrapping_mul(100).wrapping_add(pairs >> 16) & 0x0000_ffff_0000_ffff;
    ((bits / 8) as usize, fours.wrapping_mul(10_000).wrapping_add(fours >> 32) & 0xffff_ffff)
}

const QUOTES: u64 = u64::from_le_bytes([b'"'; 8]);
const BACKSLASHES: u64 = u64::from_le_bytes([b'\\'; 8]);

/// Marks the first byte that is zero; bytes above it may be marked as well.
const fn zero_bytes(bytes: u64) -> u64 {
    bytes.wrapping_sub(0x0101_0101_0101_0101) & !bytes & 0x8080_8080_8080_8080
}

/// Whether two pieces of the same length are equal. Both ends are compared, which overlap in the middle: for pieces as
/// long as keys this takes a handful of instructions in place, where a call would cost more than the comparison.
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

    #[test]
    fn integers_have_limits() {
        let read = |text: &str| Cursor::new(text.as_bytes()).integer().ok();
        assert_eq!(read("0,"), Some(0));
        assert_eq!(read("-12}"), Some(-12));
        assert_eq!(read("9223372036854775807"), Some(i64::MAX));
        assert_eq!(read("-9223372036854775808"), Some(i64::MIN));
        for bad in
            ["9223372036854775808", "-9223372036854775809", "99999999999999999999999", "-", "x", "1.5", "1e3"]
        {
            assert_eq!(read(bad), None, "{bad}");
        }
    }

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
        fn integers_read_as_they_are_written(value in any::<i64>(), shift in 0..64u32) {
            let value = value >> shift;
            let text = format!("{value},");
            prop_assert_eq!(Cursor::new(text.as_bytes()).integer(), Ok(value));
        }

        #[test]
        fn digits_are_told_from_other_bytes(bytes in prop::collection::vec(prop_oneof![b'0'..=b'9', any::<u8>()], 8)) {
            let digits: Vec<u8> = bytes.iter().copied().take_while(u8::is_ascii_digit).collect();
            let number = std::str::from_utf8(&digits).unwrap().parse::<u64>().unwrap_or_default();
            let found = leading_digits(u64::from_le_bytes(bytes.try_into().unwrap()));
            prop_assert_eq!(found, (digits.len(), number));
        }

        #[test]
        fn short_integers_read_as_they_are_written(value in 0..1_000_000_000_000_000i64, shift in 0..50u32, behind in 0..20usize) {
            let value = value >> shift;
            let text = format!("{value},{}", "x".repeat(behind));
            let mut cursor = Cursor::new(text.as_bytes());
            match cursor.digits() {
                Ok(read) => {
                    prop_assert_eq!(read, value);
                    prop_assert_eq!(cursor.rest().len(), behind + 1);
                }
                Err(Unexpected) => prop_assert!(text.len() < 16),
            }
            let text = format!("{}{}", i64::MAX, "x".repeat(behind));
            prop_assert_eq!(Cursor::new(text.as_bytes()).digits(), Err(Unexpected));
        }

        #[test]
        fn names_end_at_their_quote(name in "[a-z0-9._\\-]{0,300}", behind in 0..20usize) {
            let text = format!("{name}\"{}", "x".repeat(behind));
            let mut cursor = Cursor::new(text.as_bytes());
            if name.len() < MAX_NAME_LEN {
                prop_assert_eq!(cursor.name_tail(), Ok(name.as_bytes()));
                prop_assert_eq!(cursor.rest().len(), behind);
            } else {
                prop_assert_eq!(cursor.name_tail(), Err(Unexpected));
            }
            let escaped = format!("{name}\\\"\"");
            prop_assert_eq!(Cursor::new(escaped.as_bytes()).name_tail(), Err(Unexpected));
        }

        #[test]
        fn pieces_are_the_same_or_not(a in prop::collection::vec(any::<u8>(), 0..40), flip in any::<prop::sample::Index>()) {
            let mut b = a.clone();
            prop_assert!(same(&a, &b));
            if !b.is_empty() {
                let at = flip.index(b.len());
                b[at] ^= 1;
                prop_assert!(!same(&a, &b));
            }
        }

        #[test]
        fn any_bytes_end(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            let mut cursor = Cursor::new(&bytes);
            while cursor.skip_value().is_ok() {}
        }
    }
}
