//! Reads integers, eight digits at a time.

use super::{Cursor, Scan, Unexpected};

impl Cursor<'_> {
    /// Reads an integer; fractions and exponents are errors.
    #[inline]
    pub(crate) fn integer(&mut self) -> Scan<i64> {
        self.short_integer().or_else(|Unexpected| self.any_integer())
    }

    /// Reads an unsigned integer of fewer than sixteen digits; otherwise, and within the last eight bytes,
    /// the cursor does not move.
    #[inline]
    pub(crate) fn short_integer(&mut self) -> Scan<i64> {
        // Half of all counters are a single digit, mostly 0.
        if let [digit @ b'0'..=b'9', b',' | b'}', ..] = self.rest {
            let value = i64::from(digit - b'0');
            self.advance();
            return Ok(value);
        }
        let (value, rest) = leading_integer(self.rest).ok_or(Unexpected)?;
        if matches!(rest, [b'.' | b'e' | b'E', ..]) {
            return Err(Unexpected);
        }
        self.rest = rest;
        Ok(value)
    }

    /// As [`Cursor::short_integer`], for a caller that checks what follows: a fraction or exponent is no
    /// error.
    #[inline(always)]
    #[allow(clippy::inline_always)] // called forty times per line: without inlining, calls would be a quarter of the time
    pub(crate) fn digits(&mut self) -> Scan<i64> {
        let (value, rest) = leading_integer(self.rest).ok_or(Unexpected)?;
        self.rest = rest;
        Ok(value)
    }

    fn any_integer(&mut self) -> Scan<i64> {
        let unsigned = self.rest.strip_prefix(b"-");
        let mut text = unsigned.unwrap_or(self.rest);
        let before = text.len();
        let mut magnitude: u64 = 0;
        while let Some(head) = text.first_chunk::<8>() {
            let (count, number) = leading_digits(u64::from_le_bytes(*head));
            // Wraps only after nineteen digits, which is an error below.
            magnitude =
                magnitude.wrapping_mul(POWERS_OF_TEN.get(count).copied().unwrap_or(1)).wrapping_add(number);
            text = text.get(count..).unwrap_or_default();
            if count < 8 {
                break;
            }
        }
        // Reached only within the last eight bytes of a line.
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

    /// Reads a number; `None` if it is not an integer or does not fit into 64 bits.
    pub(crate) fn integer_in_range(&mut self) -> Scan<Option<i64>> {
        let start = *self;
        if let Ok(value) = self.integer() {
            return Ok(Some(value));
        }
        *self = start;
        self.skip_scalar().map(|()| None)
    }

    /// Reads an integer; skips any other value and returns `None`.
    #[inline]
    pub(crate) fn integer_or_skip(&mut self) -> Scan<Option<i64>> {
        // Spark writes no white space.
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
}

const POWERS_OF_TEN: [u64; 9] = [1, 10, 100, 1_000, 10_000, 100_000, 1_000_000, 10_000_000, 100_000_000];

/// An integer of fewer than sixteen digits at the start, and the text after it; `None` also within the last
/// bytes.
#[inline(always)]
#[allow(clippy::inline_always)] // as `digits`
fn leading_integer(text: &[u8]) -> Option<(i64, &[u8])> {
    let (count, number) = leading_digits(u64::from_le_bytes(*text.first_chunk()?));
    let rest = text.get(count..)?;
    match count {
        0 => None,
        1..8 => Some((number.cast_signed(), rest)),
        _ => {
            let (count, low) = leading_digits(u64::from_le_bytes(*rest.first_chunk()?));
            let scale = *POWERS_OF_TEN.get(count).filter(|_| count < 8)?;
            Some(((number * scale + low).cast_signed(), rest.get(count..)?))
        }
    }
}

/// Number of leading digits among eight bytes (the first in the lowest), and the number that they spell.
///
/// Combines pairs, then fours, then all eight digits at once (a technique by Johnny Lee and Wojciech Muła).
#[inline]
const fn leading_digits(bytes: u64) -> (usize, u64) {
    // Digits become values up to nine; for any other byte, the addition sets the highest bit or it is set
    // already. A carry can only leave a byte that is not a digit, and affects only bytes after it.
    let values = bytes ^ 0x3030_3030_3030_3030;
    let no_digit = (values | values.wrapping_add(0x7676_7676_7676_7676)) & 0x8080_8080_8080_8080;
    let bits = no_digit.trailing_zeros() & !7;
    if bits == 0 {
        return (0, 0);
    }
    // Shorter numbers get leading zeros.
    let ones = values << (64 - bits);
    let pairs = ones.wrapping_mul(10).wrapping_add(ones >> 8) & 0x00ff_00ff_00ff_00ff;
    let fours = pairs.wrapping_mul(100).wrapping_add(pairs >> 16) & 0x0000_ffff_0000_ffff;
    ((bits / 8) as usize, fours.wrapping_mul(10_000).wrapping_add(fours >> 32) & 0xffff_ffff)
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

    proptest! {
        #[test]
        fn integers_round_trip(value in any::<i64>(), shift in 0..64u32) {
            let value = value >> shift;
            let text = format!("{value},");
            prop_assert_eq!(Cursor::new(text.as_bytes()).integer(), Ok(value));
        }

        #[test]
        fn digits_end_at_other_bytes(bytes in prop::collection::vec(prop_oneof![b'0'..=b'9', any::<u8>()], 8)) {
            let digits: Vec<u8> = bytes.iter().copied().take_while(u8::is_ascii_digit).collect();
            let number = std::str::from_utf8(&digits).unwrap().parse::<u64>().unwrap_or_default();
            let found = leading_digits(u64::from_le_bytes(bytes.try_into().unwrap()));
            prop_assert_eq!(found, (digits.len(), number));
        }

        #[test]
        fn short_integers_round_trip(value in 0..1_000_000_000_000_000i64, shift in 0..50u32, after in 0..20usize) {
            let value = value >> shift;
            let text = format!("{value},{}", "x".repeat(after));
            let mut cursor = Cursor::new(text.as_bytes());
            match cursor.digits() {
                Ok(read) => {
                    prop_assert_eq!(read, value);
                    prop_assert_eq!(cursor.rest().len(), after + 1);
                }
                Err(Unexpected) => prop_assert!(text.len() < 16),
            }
            let text = format!("{}{}", i64::MAX, "x".repeat(after));
            prop_assert_eq!(Cursor::new(text.as_bytes()).digits(), Err(Unexpected));
        }
    }
}
