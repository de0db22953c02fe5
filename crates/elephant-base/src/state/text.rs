//! `State` for texts.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};

use super::{Reader, State};

fn put(text: &str, to: &mut Vec<u8>) {
    text.len().put(to);
    to.extend_from_slice(text.as_bytes());
}

fn take<'a>(from: &mut Reader<'a>) -> Option<&'a str> {
    let len = usize::take(from)?;
    std::str::from_utf8(from.bytes(len)?).ok()
}

macro_rules! text {
    ($($kind:ty),+) => {$(
        impl State for $kind {
            fn put(&self, to: &mut Vec<u8>) {
                put(self, to);
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
        put(self, to);
    }

    fn take(from: &mut Reader<'_>) -> Option<Self> {
        String::take(from).map(Self::Owned)
    }
}

impl State for &'static str {
    fn put(&self, to: &mut Vec<u8>) {
        put(self, to);
    }

    fn take(from: &mut Reader<'_>) -> Option<Self> {
        take(from).map(kept)
    }
}

/// Keeps the text for the rest of the run. These are names that the program itself has, a few hundred, each kept once.
fn kept(text: &str) -> &'static str {
    static KNOWN: Mutex<BTreeSet<&'static str>> = Mutex::new(BTreeSet::new());
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(text) = known.get(text) {
        return text;
    }
    let text: &'static str = Box::leak(text.into());
    known.insert(text);
    text
}
