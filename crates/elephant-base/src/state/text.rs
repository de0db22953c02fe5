//! `State` for texts.

use std::borrow::Cow;
use std::sync::Arc;

use super::{Reader, State};

/// Appends a text.
pub fn put_text(text: &str, to: &mut Vec<u8>) {
    text.len().put(to);
    to.extend_from_slice(text.as_bytes());
}

/// Reads a name that must be among these.
pub fn take_known<'n>(from: &mut Reader<'_>, known: &[&'n str]) -> Option<&'n str> {
    let text = take(from)?;
    known.iter().find(|known| **known == text).copied()
}

fn take<'a>(from: &mut Reader<'a>) -> Option<&'a str> {
    let len = usize::take(from)?;
    std::str::from_utf8(from.bytes(len)?).ok()
}

macro_rules! text {
    ($($kind:ty),+) => {$(
        impl State for $kind {
            fn put(&self, to: &mut Vec<u8>) {
                put_text(self, to);
            }

            fn take(from: &mut Reader<'_>) -> Option<Self> {
                take(from).map(Self::from)
            }
        }
    )+};
}

text!(String, Box<str>, Arc<str>);

impl State for Cow<'static, str> {
    fn put(&self, to: &mut Vec<u8>) {
        put_text(self, to);
    }

    fn take(from: &mut Reader<'_>) -> Option<Self> {
        String::take(from).map(Self::Owned)
    }
}
