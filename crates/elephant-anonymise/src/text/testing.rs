//! Helpers of tests.

use crate::key::Key;
use crate::mask::Mask;

pub(crate) fn mask() -> Mask {
    Mask::new(Key::of_text(b"k"))
}

/// The text with all pseudonyms written as `*`.
pub(crate) fn shape(text: &str) -> String {
    let mut shape = String::new();
    for (place, part) in text.split_inclusive(|c: char| !c.is_ascii_alphanumeric()).enumerate() {
        let letters = part.trim_end_matches(|c: char| !c.is_ascii_alphanumeric());
        let is_pseudonym = place > 0
            && letters.len() >= 12
            && letters.bytes().take(12).all(|b| b"bcdfghjklmnpqrstvwxz".contains(&b));
        if is_pseudonym {
            shape.push('*');
            shape.push_str(part.get(12..).unwrap_or_default());
        } else {
            shape.push_str(part);
        }
    }
    shape
}
