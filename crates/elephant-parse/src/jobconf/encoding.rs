//! The encoding of a configuration: UTF-8, or UTF-16 as written by Windows editors and shells.

use std::borrow::Cow;

use super::BYTE_ORDER_MARK;

/// Decoded text.
pub(super) struct Text<'a> {
    pub(super) characters: Cow<'a, str>,
    pub(super) encoding: &'static str,
    /// Offset of the first invalid byte, if one had to be replaced.
    pub(super) replaced_at: Option<u64>,
}

/// First bytes of UTF-16: a byte order mark or, without one, the `<` of a document.
const UTF16_HEADS: [(&[u8], Unit); 4] = [
    (b"\xff\xfe", u16::from_le_bytes),
    (b"\xfe\xff", u16::from_be_bytes),
    (b"<\0", u16::from_le_bytes),
    (b"\0<", u16::from_be_bytes),
];

type Unit = fn([u8; 2]) -> u16;

fn utf16_unit(bytes: &[u8]) -> Option<Unit> {
    UTF16_HEADS.into_iter().find(|(head, _)| bytes.starts_with(head)).map(|(_, unit)| unit)
}

/// Whether a document that starts with these bytes is UTF-16.
pub(super) fn is_utf16(bytes: &[u8]) -> bool {
    utf16_unit(bytes).is_some()
}

/// Decodes the text and removes its byte order mark.
pub(super) fn decode(bytes: Cow<'_, [u8]>) -> Text<'_> {
    if let Some(unit) = utf16_unit(&bytes) {
        return utf16(&bytes, unit);
    }
    let (text, replaced_at) = match without_mark(bytes) {
        Cow::Borrowed(bytes) => match std::str::from_utf8(bytes) {
            Ok(text) => (Cow::Borrowed(text), None),
            Err(error) => (String::from_utf8_lossy(bytes), Some(error)),
        },
        Cow::Owned(bytes) => match String::from_utf8(bytes) {
            Ok(text) => (Cow::Owned(text), None),
            Err(error) => {
                (String::from_utf8_lossy(error.as_bytes()).into_owned().into(), Some(error.utf8_error()))
            }
        },
    };
    let replaced_at = replaced_at.map(|error| error.valid_up_to() as u64);
    Text { characters: text, encoding: "UTF-8", replaced_at }
}

fn without_mark(bytes: Cow<'_, [u8]>) -> Cow<'_, [u8]> {
    match bytes {
        Cow::Borrowed(bytes) => bytes.strip_prefix(BYTE_ORDER_MARK).unwrap_or(bytes).into(),
        Cow::Owned(mut bytes) => {
            if bytes.starts_with(BYTE_ORDER_MARK) {
                bytes.drain(..BYTE_ORDER_MARK.len());
            }
            bytes.into()
        }
    }
}

fn utf16(bytes: &[u8], unit: Unit) -> Text<'static> {
    let (pairs, rest) = bytes.as_chunks();
    let mut text = String::with_capacity(pairs.len());
    let (mut at, mut replaced_at) = (0, None);
    for character in char::decode_utf16(pairs.iter().map(|pair| unit(*pair))) {
        if character.is_err() {
            replaced_at = replaced_at.or(Some(at));
        }
        let character = character.unwrap_or(char::REPLACEMENT_CHARACTER);
        at += 2 * character.len_utf16() as u64;
        text.push(character);
    }
    if !rest.is_empty() {
        replaced_at = replaced_at.or(Some(at));
        text.push(char::REPLACEMENT_CHARACTER);
    }
    let text = Cow::Owned(text.strip_prefix('\u{feff}').map(str::to_owned).unwrap_or(text));
    Text { characters: text, encoding: "UTF-16", replaced_at }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pairs(text: &str, bytes: fn(u16) -> [u8; 2]) -> Vec<u8> {
        text.encode_utf16().flat_map(bytes).collect()
    }

    #[test]
    fn utf16_is_detected_by_its_first_bytes() {
        let (little, big) = (u16::to_le_bytes as fn(u16) -> [u8; 2], u16::to_be_bytes as fn(u16) -> [u8; 2]);
        for mark in ["", "\u{feff}"] {
            for bytes in [little, big] {
                let bytes = pairs(&format!("{mark}<conf>é𝄞</conf>"), bytes);
                let text = decode(Cow::Borrowed(&bytes));
                assert_eq!((text.characters.as_ref(), text.replaced_at), ("<conf>é𝄞</conf>", None));
                assert!(is_utf16(&bytes));
            }
        }
        assert!(!is_utf16("\u{feff}<conf>".as_bytes()) && !is_utf16(b"<") && !is_utf16(b""));
    }

    #[test]
    fn invalid_text_is_replaced_and_reported() {
        // Half of a surrogate pair, and half of a code unit.
        let text = decode(Cow::Borrowed(b"<\0\x00\xd8a\0b"));
        assert_eq!((text.characters.as_ref(), text.replaced_at), ("<\u{fffd}a\u{fffd}", Some(2)));
        assert_eq!(decode(Cow::Borrowed(b"<\0a\0b")).replaced_at, Some(4));
        assert_eq!(decode(Cow::Borrowed(b"\xff\xfe")).characters, "");
        let text = decode(Cow::Borrowed(b"ab\xff"));
        assert_eq!((text.characters.as_ref(), text.replaced_at), ("ab\u{fffd}", Some(2)));
    }
}
