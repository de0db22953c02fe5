//! Numbers, sizes and changes of the heap, as every collector writes them.

use std::time::Duration;

use elephant_base::units::Bytes;

/// `before->after(capacity)`: bytes in use before and after a collection, and the size of the heap or generation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Change {
    pub(crate) before: Bytes,
    pub(crate) after: Bytes,
    pub(crate) capacity: Option<Bytes>,
}

/// Nanoseconds in a second.
const NANOS: u64 = 1_000_000_000;

/// A decimal number with a point or a comma, in units of which one has `scale` billionths: `0,0158160` seconds with a
/// scale of 10⁹ are 15,816,000. Further digits are dropped.
fn scaled(text: &str, scale: u64) -> Option<u64> {
    let (whole, fraction) = match text.find(['.', ',']) {
        Some(at) => (text.get(..at)?, text.get(at + 1..)?),
        None => (text, ""),
    };
    if whole.is_empty() || !whole.bytes().chain(fraction.bytes()).all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let mut value = whole.parse::<u64>().ok()?.checked_mul(scale)?;
    let mut place = scale;
    for digit in fraction.bytes() {
        place /= 10;
        value = value.checked_add(u64::from(digit - b'0') * place)?;
    }
    Some(value)
}

/// A number of seconds: `0.0282705` or `0,0282705`.
pub(crate) fn seconds(text: &str) -> Option<Duration> {
    scaled(text, NANOS).map(Duration::from_nanos)
}

/// A number of milliseconds: `21.861`.
pub(crate) fn millis(text: &str) -> Option<Duration> {
    scaled(text, NANOS / 1000).map(Duration::from_nanos)
}

/// The number at the end of `text`, which digits, points and commas form; and the text before it.
pub(crate) fn trailing_number(text: &str) -> Option<(&str, &str)> {
    let is_number = |byte: u8| byte.is_ascii_digit() || byte == b'.' || byte == b',';
    let digits = text.bytes().rev().take_while(|byte| is_number(*byte)).count();
    let (before, number) = text.split_at_checked(text.len() - digits)?;
    // A comma in front belongs to the sentence: `Pause Init Mark,1.2 ms`.
    let trimmed = number.trim_start_matches([',', '.']);
    (!trimmed.is_empty()).then_some((before, trimmed))
}

/// The number at the start of `text`, and the text after it.
fn leading_number(text: &str) -> Option<(&str, &str)> {
    let is_number = |byte: &u8| byte.is_ascii_digit() || *byte == b'.' || *byte == b',';
    let digits = text.bytes().take_while(is_number).count();
    text.split_at_checked(digits).filter(|(number, _)| !number.is_empty())
}

/// A size at the start of `text`, and the text after it: `16320K`, `1024.0M`, `0.0B`, `8192 MB`, `16.3G`. Units are powers
/// of 1024.
pub(crate) fn leading_size(text: &str) -> Option<(Bytes, &str)> {
    let (number, rest) = leading_number(text)?;
    let spaced = rest.strip_prefix(' ').unwrap_or(rest);
    let unit = match spaced.as_bytes().first()? {
        b'B' => 1_u64,
        b'K' | b'k' => 1 << 10,
        b'M' => 1 << 20,
        b'G' => 1 << 30,
        b'T' => 1 << 40,
        _ => return None,
    };
    // `MB` and `KB`, but not the `B` of a word.
    let after = spaced.get(1..)?;
    let after = if unit == 1 { after } else { after.strip_prefix('B').unwrap_or(after) };
    // Fractions have one digit: a tenth of 1024 is no whole number, so the scale is ten times the unit.
    let tenths = scaled(number, 10)?;
    Some((Bytes::new(u64::try_from(u128::from(tenths) * u128::from(unit) / 10).ok()?), after))
}

/// The first `before->after(capacity)` in `text`, with or without the capacity, and with a capacity or a share after
/// either: `3967K->0K(4032K)`, `9260.1M(29.9G)->9212.2M(29.9G)`, `140M(5%)->80M(3%)`.
pub(crate) fn change(text: &str) -> Option<Change> {
    let mut from = 0;
    while let Some(at) = text.get(from..)?.find("->") {
        let arrow = from + at;
        if let Some(change) = change_at(text.get(..arrow)?, text.get(arrow + 2..)?) {
            return Some(change);
        }
        from = arrow + 2;
    }
    None
}

fn change_at(left: &str, right: &str) -> Option<Change> {
    let (after, rest) = leading_size(right)?;
    let left = match left.strip_suffix(')') {
        Some(inner) => inner.get(..inner.rfind('(')?)?,
        None => left,
    };
    let unit = left.len().checked_sub(1)?;
    let (start, _) = trailing_number(left.get(..unit)?)?;
    // The number without a comma in front, which `trailing_number` cuts off.
    let before = left.get(start.len()..)?.trim_start_matches([',', '.']);
    let (before, _) = leading_size(before)?;
    Some(Change { before, after, capacity: in_parentheses(rest) })
}

/// The size in parentheses at the start of `text`; `None` if it is a share.
fn in_parentheses(text: &str) -> Option<Bytes> {
    let (size, rest) = leading_size(text.strip_prefix('(')?)?;
    rest.starts_with(')').then_some(size)
}

/// `used(capacity)` without an arrow, which concurrent collectors write for a stop in which nothing is freed.
pub(crate) fn occupancy(text: &str) -> Option<(Bytes, Bytes)> {
    for (at, _) in text.match_indices('(') {
        let left = text.get(..at)?;
        let Some((start, _)) = left.len().checked_sub(1).and_then(|unit| trailing_number(left.get(..unit)?))
        else {
            continue;
        };
        let used = left.get(start.len()..).and_then(|used| leading_size(used.trim_start_matches([',', '.'])));
        if let (Some((used, _)), Some(capacity)) = (used, in_parentheses(text.get(at..)?)) {
            return Some((used, capacity));
        }
    }
    None
}

/// The value of `-XX:name=value` or `-Xmx` in the flags of a JVM.
pub(crate) fn flag<'a>(flags: &'a str, name: &str) -> Option<&'a str> {
    let at = flags.find(name)?;
    flags.get(at + name.len()..)?.split_whitespace().next()
}

/// A size as a flag states it: bytes without a unit, or with one.
pub(crate) fn flag_size(value: &str) -> Option<Bytes> {
    match value.parse::<u64>() {
        Ok(bytes) => Some(Bytes::new(bytes)),
        Err(_) => leading_size(&value.to_ascii_uppercase()).map(|(size, _)| size),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const K: u64 = 1 << 10;
    const M: u64 = 1 << 20;

    fn read(text: &str) -> Option<(u64, u64, Option<u64>)> {
        change(text).map(|change| (change.before.get(), change.after.get(), change.capacity.map(Bytes::get)))
    }

    #[test]
    fn numbers_have_a_point_or_a_comma() {
        assert_eq!(seconds("0.0282705"), Some(Duration::from_nanos(28_270_500)));
        assert_eq!(seconds("0,0158160"), Some(Duration::from_micros(15_816)));
        assert_eq!(seconds("17"), Some(Duration::from_secs(17)));
        assert_eq!(millis("21.861"), Some(Duration::from_micros(21_861)));
        for wrong in ["", ".", ".5", "1.2.3", "-1", "1e3", "99999999999999999999"] {
            assert_eq!(seconds(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn sizes_are_powers_of_1024() {
        let size = |text| leading_size(text).map(|(size, _)| size.get());
        assert_eq!(size("16320K"), Some(16_320 * K));
        assert_eq!(size("1024.0M"), Some(1024 * M));
        assert_eq!(size("0.0B"), Some(0));
        assert_eq!(size("8192 MB"), Some(8192 * M));
        assert_eq!(size("29.9G"), Some(299 * 1024 * M / 10));
        assert_eq!(size("12"), None);
        assert_eq!(size("K"), None);
        assert_eq!(size("99999999999999999T"), None);
    }

    #[test]
    fn changes_are_read_in_every_form() {
        assert_eq!(read("[DefNew: 3967K->0K(4032K)"), Some((3967 * K, 0, Some(4032 * K))));
        assert_eq!(
            read("Heap: 9260.0M(29.0G)->9212.0M(29.0G)"),
            Some((9260 * M, 9212 * M, Some(29 * 1024 * M)))
        );
        assert_eq!(read("140M(5%)->80M(3%) 0.064s"), Some((140 * M, 80 * M, None)));
        assert_eq!(read("165M->72M(5632M), 0.29"), Some((165 * M, 72 * M, Some(5632 * M))));
        assert_eq!(read("regions: 51->0(44), 5K->4K"), Some((5 * K, 4 * K, None)));
        for wrong in ["->", "5K->", "->5K", "K->5K", "5K -> 4K", "(5K)->4K", "é5K->4"] {
            assert_eq!(read(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn occupancies_have_no_arrow() {
        let read = |text| occupancy(text).map(|(used, capacity)| (used.get(), capacity.get()));
        assert_eq!(read("GC 46468K(83008K), 0.0039333 secs"), Some((46_468 * K, 83_008 * K)));
        assert_eq!(read("GC (CMS Final Remark)  5K(7K)"), Some((5 * K, 7 * K)));
        assert_eq!(read("GC (Allocation Failure)"), None);
    }
}
