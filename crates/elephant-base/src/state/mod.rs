//! Writes values as bytes and reads them back exactly, so that results of several runs can be merged later: numbers bit
//! by bit, because a rounded one would change a report. Only the version that wrote such bytes reads them.

mod standard;
mod text;

pub use elephant_derive::State;
pub use text::{put_text, take_known};

/// A value that can be written and read back.
pub trait State: Sized {
    /// Appends the value.
    fn put(&self, to: &mut Vec<u8>);

    /// Reads a value; `None` if the bytes do not hold such a value.
    fn take(from: &mut Reader<'_>) -> Option<Self>;
}

/// Bytes that are read from their beginning.
#[derive(Debug)]
pub struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    /// Starts at the first byte.
    #[must_use]
    pub const fn new(bytes: &'a [u8]) -> Self {
        Self(bytes)
    }

    /// The next bytes.
    pub(crate) fn bytes(&mut self, count: usize) -> Option<&'a [u8]> {
        let (bytes, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(bytes)
    }

    /// How many bytes are left.
    #[must_use]
    pub const fn left(&self) -> usize {
        self.0.len()
    }
}

#[cfg(test)]
mod tests;
