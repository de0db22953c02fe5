//! Strings of one block of lines, each held once: executors, hosts and messages repeat on every line.

use rustc_hash::FxHashMap;

use crate::parse::scan::{Cursor, Scan};

/// Names a string of its block.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Local(u32);

impl Local {
    pub(super) const fn index(self) -> usize {
        self.0 as usize
    }
}

/// See the module.
#[derive(Debug, Default)]
pub(super) struct Strings {
    texts: Vec<Box<str>>,
    known: FxHashMap<Box<str>, Local>,
}

impl Strings {
    pub(super) fn intern(&mut self, text: &str) -> Option<Local> {
        if let Some(&local) = self.known.get(text) {
            return Some(local);
        }
        let local = Local(u32::try_from(self.texts.len()).ok()?);
        self.texts.push(text.into());
        self.known.insert(text.into(), local);
        Some(local)
    }

    /// Reads a string; anything else is passed over and `None`.
    pub(super) fn read(&mut self, cursor: &mut Cursor<'_>) -> Scan<Option<Local>> {
        let Some(raw) = cursor.string_or_skip()? else { return Ok(None) };
        Ok(self.intern(&raw.text()))
    }

    pub(super) fn get(&self, local: Local) -> &str {
        self.texts.get(local.index()).map(AsRef::as_ref).unwrap_or_default()
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &str> {
        self.texts.iter().map(AsRef::as_ref)
    }

    pub(super) fn clear(&mut self) {
        self.texts.clear();
        self.known.clear();
    }
}
