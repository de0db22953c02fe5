//! Stores repeated strings (hosts, racks, messages) once and names them by a small number.

use std::sync::Arc;

use rustc_hash::FxHashMap;

/// Index of a string in an [`Interner`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Symbol(u32);

#[doc(hidden)]
impl Symbol {
    /// The symbol's index in its interner, in order of first appearance.
    #[must_use]
    pub const fn index(self) -> u32 {
        self.0
    }

    /// The symbol with this index; meaningful only with the interner it came from.
    #[must_use]
    pub const fn from_index(index: u32) -> Self {
        Self(index)
    }
}

/// A set of strings in order of first appearance.
#[derive(Debug, Clone, Default)]
pub struct Interner {
    strings: Vec<Arc<str>>,
    symbols: FxHashMap<Arc<str>, Symbol>,
    /// Length of all strings.
    text: usize,
}

impl Interner {
    /// Bytes that a string takes in addition to its text.
    pub const PER_STRING: usize = 80;

    /// The symbol of `text`, added if new. `None` only if there are 2³² different strings.
    #[doc(hidden)]
    pub fn intern(&mut self, text: &str) -> Option<Symbol> {
        if let Some(&symbol) = self.symbols.get(text) {
            return Some(symbol);
        }
        let symbol = Symbol(u32::try_from(self.strings.len()).ok()?);
        self.text += text.len();
        let text: Arc<str> = text.into();
        self.strings.push(Arc::clone(&text));
        self.symbols.insert(text, symbol);
        Some(symbol)
    }

    /// Bytes that the strings take.
    #[must_use]
    #[doc(hidden)]
    pub fn held(&self) -> usize {
        self.text + self.strings.len() * Self::PER_STRING
    }

    /// Number of strings.
    #[must_use]
    #[doc(hidden)]
    pub fn len(&self) -> usize {
        self.strings.len()
    }

    /// Whether there are no strings.
    #[must_use]
    #[doc(hidden)]
    pub fn is_empty(&self) -> bool {
        self.strings.is_empty()
    }

    /// The string of `symbol`; `None` for a symbol of another interner.
    #[must_use]
    pub fn get(&self, symbol: Symbol) -> Option<&str> {
        self.strings.get(symbol.0 as usize).map(AsRef::as_ref)
    }

    /// The symbol of `text`, if it is known.
    #[must_use]
    #[doc(hidden)]
    pub fn find(&self, text: &str) -> Option<Symbol> {
        self.symbols.get(text).copied()
    }
}
