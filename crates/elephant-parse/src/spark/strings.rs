//! Interns the strings of blocks: executors, hosts and messages repeat on every line.

use rustc_hash::FxHashMap;

use super::metric_forms::{MetricForms, Naming};
use crate::scan::{Cursor, Scan};
use elephant_model::model::spark::{OperatorKind, SqlCounter, counter_of};
use elephant_model::model::{Interner, Symbol};

/// Maximum number of strings kept from one block to the next.
const MAX_KEPT: usize = 1024;

/// Index of a string within its block.
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
    /// By their raw bytes: those without escapes are found without decoding.
    known: FxHashMap<Box<[u8]>, Local>,
    /// The symbols of the strings in the application with the number `owner`, as far as they were requested.
    symbols: Vec<Option<Symbol>>,
    owner: u64,
    /// What the names of operators and metrics say, as far as it was requested: plans repeat a few names.
    kinds: FxHashMap<Local, OperatorKind>,
    counters: FxHashMap<Local, Option<SqlCounter>>,
    pub(super) forms: MetricForms,
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

    /// Reads a string; skips any other value and returns `None`.
    pub(super) fn read(&mut self, cursor: &mut Cursor<'_>) -> Scan<Option<Local>> {
        let Some(raw) = cursor.string_or_skip()? else { return Ok(None) };
        if raw.escaped {
            return Ok(self.intern(&raw.text()));
        }
        Ok(self.known.get(raw.bytes).copied().or_else(|| self.add(raw.bytes, &raw.text())))
    }

    /// Interns a raw string without escapes.
    #[inline]
    pub(super) fn plain(&mut self, written: &[u8]) -> Option<Local> {
        self.known.get(written).copied().or_else(|| self.add(written, &String::from_utf8_lossy(written)))
    }

    pub(super) fn get(&self, local: Local) -> &str {
        self.texts.get(local.index()).map(AsRef::as_ref).unwrap_or_default()
    }

    /// What an operator with this name does.
    pub(super) fn operator_kind(&mut self, name: Local) -> OperatorKind {
        let Self { texts, kinds, .. } = self;
        let of_name = || texts.get(name.index()).map_or(OperatorKind::Other, |text| OperatorKind::of(text));
        *kinds.entry(name).or_insert_with(of_name)
    }

    /// Our name for a metric with this name.
    pub(super) fn sql_counter(&mut self, name: Local) -> Option<SqlCounter> {
        let Self { texts, counters, .. } = self;
        *counters.entry(name).or_insert_with(|| texts.get(name.index()).and_then(|text| counter_of(text)))
    }

    /// Remembers how a metric was written.
    pub(super) fn remember_metric(&mut self, written: &[u8], naming: Naming) {
        let Self { texts, forms, .. } = self;
        let text = |local: Local| texts.get(local.index()).map(AsRef::as_ref).unwrap_or_default();
        forms.remember(written, naming, [text(naming.name), text(naming.kind)]);
    }

    /// Interns all new strings for the application with the unique number `owner`.
    pub(super) fn name_in(&mut self, owner: u64, interner: &mut Interner) {
        if self.owner != owner {
            self.owner = owner;
            self.symbols.clear();
        }
        let new = self.texts.iter().skip(self.symbols.len());
        self.symbols.extend(new.map(|text| interner.intern(text)));
    }

    /// The symbol of a string in the application last passed to [`Self::name_in`].
    pub(super) fn symbol(&self, local: Local) -> Option<Symbol> {
        self.symbols.get(local.index()).copied().flatten()
    }

    /// Clears the strings if there are many. Executors and hosts are usually the same in the next block.
    pub(super) fn clear(&mut self) {
        if self.texts.len() > MAX_KEPT {
            self.texts.clear();
            self.known.clear();
            self.symbols.clear();
            self.kinds.clear();
            self.counters.clear();
            self.forms.clear();
        }
    }
}
