//! The rendered texts of an application, kept until all applications are read: one after the other, each with
//! its length. If a text depends on other applications, it has a mark that is filled in at the end.

use std::io::{self, Write};

use serde::Serialize;
use serde::de::DeserializeOwned;

/// Begins and ends a mark. No format writes it: names from histories are cleaned or escaped.
pub(super) const MARK: &str = "\0";

/// The bytes of a length.
const LENGTH: usize = size_of::<u64>();

/// Texts of an application that are put together.
#[derive(Default)]
pub(super) struct Parts(Vec<u8>);

impl Parts {
    /// Begins with `head`, the data needed to put the texts together.
    pub(super) fn with_head(head: &impl Serialize) -> io::Result<Self> {
        let mut parts = Self::default();
        parts.add(&serde_json::to_vec(head)?);
        Ok(parts)
    }

    pub(super) fn add(&mut self, text: &[u8]) {
        self.0.extend_from_slice(&(text.len() as u64).to_le_bytes());
        self.0.extend_from_slice(text);
    }

    pub(super) fn into_bytes(self) -> Vec<u8> {
        self.0
    }
}

/// Takes the texts apart again.
#[derive(Clone, Copy)]
pub(super) struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    pub(super) const fn new(bytes: &'a [u8]) -> Self {
        Self(bytes)
    }

    pub(super) fn head<T: DeserializeOwned>(&mut self) -> io::Result<T> {
        Ok(serde_json::from_slice(self.next_part()?)?)
    }

    /// The next text.
    pub(super) fn next_part(&mut self) -> io::Result<&'a [u8]> {
        let (length, rest) = self.0.split_first_chunk::<LENGTH>().ok_or(io::ErrorKind::UnexpectedEof)?;
        let length = usize::try_from(u64::from_le_bytes(*length)).unwrap_or(usize::MAX);
        let (part, rest) = rest.split_at_checked(length).ok_or(io::ErrorKind::UnexpectedEof)?;
        self.0 = rest;
        Ok(part)
    }

    /// The next text, as text.
    pub(super) fn next_text(&mut self) -> io::Result<&'a str> {
        std::str::from_utf8(self.next_part()?)
            .map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))
    }
}

/// Writes `text`, with `fill` called for each mark in it.
pub(super) fn filled(
    text: &str,
    out: &mut dyn Write,
    mut fill: impl FnMut(&str, &mut dyn Write) -> io::Result<()>,
) -> io::Result<()> {
    for (place, part) in text.split(MARK).enumerate() {
        if place % 2 == 0 {
            out.write_all(part.as_bytes())?;
        } else {
            fill(part, out)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_come_back_in_their_order() {
        let mut parts = Parts::with_head(&("a", 7)).unwrap();
        parts.add(b"");
        parts.add("ä\0b".as_bytes());
        let bytes = parts.into_bytes();
        let mut reader = Reader::new(&bytes);
        assert_eq!(reader.head::<(String, u32)>().unwrap(), ("a".to_owned(), 7));
        assert_eq!(reader.next_text().unwrap(), "");
        assert_eq!(reader.next_text().unwrap(), "ä\0b");
        assert_eq!(reader.next_part().unwrap_err().kind(), io::ErrorKind::UnexpectedEof);
    }

    #[test]
    fn marks_are_filled_in() {
        let mut out = Vec::new();
        filled("a\0x\0b\0y\0", &mut out, |mark, out| write!(out, "<{mark}>")).unwrap();
        assert_eq!(String::from_utf8(out).unwrap(), "a<x>b<y>");
    }
}
