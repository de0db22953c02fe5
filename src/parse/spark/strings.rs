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
    /// By their bytes as they are written: those without escapes need not be looked at to be known.
    known: FxHashMap<Box<[u8]>, Local>,
}

impl Strings {
    pub(super) fn intern(&mut self, text: &str) -> Option<Local> {
        self.known.get(text.as_bytes()).copied().or_else(|| self.add(text.as_bytes(), text))
    }

    fn add(&mut self, written: &[u8], text: &str) -> Option<Local> {
        let local = Local(u32::try_from(self.texts.len()).ok()?);
        self.texts.push(text.into());
        self.known.insert(written.into(), local);
        Some(local)
    }

    /// Reads a string; anything else is passed over and `None`.
    pub(super) fn read(&mut self, cursor: &mut Cursor<'_>) -> Scan<Option<Local>> {
        let Some(raw) = cursor.string_or_skip()? else { return Ok(None) };
        if raw.escaped {
            return Ok(self.intern(&raw.text()));
        }
        Ok(self.known.get(raw.bytes).copied().or_else(|| self.add(raw.bytes, &raw.text())))
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
