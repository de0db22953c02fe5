//! What tells chains apart: classes and top frames, without numbers and ids.

use super::chain::{Raw, first_line, prefix};
use twox_hash::XxHash3_128;

/// Bytes of a message that count if there are no frames.
const MESSAGE: usize = 300;
/// A word of hexadecimal digits from this length on is an id.
const ID: usize = 8;

pub(crate) fn of(raw: &Raw) -> u64 {
    let has_frames = raw.has_frames();
    let mut text = String::new();
    for cause in &raw.causes {
        text += cause.class.as_deref().unwrap_or("-");
        for frame in &cause.frames {
            text.push('\n');
            text += &without_numbers(&frame.method);
        }
        if !has_frames {
            text.push('\t');
            text += &without_numbers(prefix(first_line(&cause.message), MESSAGE));
        }
        text.push('\u{1f}');
    }
    let [_, _, _, _, _, _, _, _, bytes @ ..] = XxHash3_128::oneshot(text.as_bytes()).to_be_bytes();
    u64::from_be_bytes(bytes)
}

/// The text with `#` for numbers and for words that are ids.
pub(crate) fn without_numbers(text: &str) -> String {
    let mut masked = String::with_capacity(text.len());
    let mut rest = text;
    while !rest.is_empty() {
        let end = rest.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(rest.len());
        let (word, after) = rest.split_at(end);
        let is_id = word.len() >= ID && word.bytes().all(|byte| byte.is_ascii_hexdigit());
        if is_id {
            masked.push('#');
        } else {
            let mut was_digit = false;
            for c in word.chars() {
                if !c.is_ascii_digit() {
                    masked.push(c);
                } else if !was_digit {
                    masked.push('#');
                }
                was_digit = c.is_ascii_digit();
            }
        }
        let between = after.find(|c: char| c.is_ascii_alphanumeric()).unwrap_or(after.len());
        let (separators, next) = after.split_at(between);
        masked += separators;
        rest = next;
    }
    masked
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_ids_do_not_count() {
        for (text, masked) in [
            ("task 17 of 3.5 in part-00012.parquet", "task # of #.# in part-#.parquet"),
            ("container_e42_1576097000949_30598_01_000013", "container_e#_#_#_#_#"),
            ("id 67f86249 of 123e4567-e89b-12d3", "id # of #-e#b-#d#"),
            ("Lambda$12/0x00000008012.run", "Lambda$#/#x#.run"),
            ("é7ü", "é#ü"),
        ] {
            assert_eq!(without_numbers(text), masked);
        }
    }
}
