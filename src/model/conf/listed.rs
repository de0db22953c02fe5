//! Properties as places in the text that they were read from.
//!
//! A job has some 1,500 of which a few are ever looked at: to make strings of all, or to put them into the order of their
//! names, takes longer than to read them.

use std::cmp::Ordering;
use std::hash::Hasher;
use std::ops::Range;

use rustc_hash::FxHasher;

/// Properties of a text that grows by the values that are not written as they are meant.
#[derive(Debug, Clone, Default)]
pub struct Listed {
    text: String,
    /// In the order of hashes, then of names.
    entries: Vec<Entry>,
}

#[derive(Debug, Clone, Copy)]
struct Entry {
    hash: u64,
    name: Place,
    value: Place,
    is_final: bool,
}

/// Bytes of the text.
#[derive(Debug, Clone, Copy)]
struct Place {
    start: u32,
    end: u32,
}

impl Place {
    /// `None` beyond 4 GiB.
    fn of(bytes: &Range<usize>) -> Option<Self> {
        Some(Self { start: u32::try_from(bytes.start).ok()?, end: u32::try_from(bytes.end).ok()? })
    }

    fn of_text(self, text: &str) -> &str {
        text.get(self.start as usize..self.end as usize).unwrap_or_default()
    }
}

impl Entry {
    fn cmp(&self, hash: u64, name: &str, text: &str) -> Ordering {
        self.hash.cmp(&hash).then_with(|| self.name.of_text(text).cmp(name))
    }
}

fn hash(name: &str) -> u64 {
    let mut hasher = FxHasher::default();
    hasher.write(name.as_bytes());
    hasher.finish()
}

/// Gathers properties in the order of their text.
#[derive(Debug)]
pub struct Listing {
    listed: Listed,
}

impl Listing {
    /// Of this text.
    #[must_use]
    pub fn of(text: String) -> Self {
        Self { listed: Listed { text, entries: Vec::new() } }
    }

    /// Adds a property whose name and value are these bytes of the text. `None` where the text is too long.
    pub fn add(&mut self, name: &Range<usize>, value: &Range<usize>, is_final: bool) -> Option<()> {
        let hash = hash(self.text(name));
        let entry = Entry { hash, name: Place::of(name)?, value: Place::of(value)?, is_final };
        self.listed.entries.push(entry);
        Some(())
    }

    /// The words in this place.
    #[must_use]
    pub fn text(&self, place: &Range<usize>) -> &str {
        self.listed.text.get(place.clone()).unwrap_or_default()
    }

    /// Adds words that are not in the text, and tells where they are.
    pub fn keep(&mut self, words: &str) -> Range<usize> {
        let start = self.listed.text.len();
        self.listed.text.push_str(words);
        start..self.listed.text.len()
    }

    /// All that were added. Of those with the same name the last one, unless an earlier one is final.
    #[must_use]
    pub fn finish(self) -> Listed {
        let Self { listed: Listed { text, mut entries } } = self;
        entries.sort_by(|one, other| one.cmp(other.hash, other.name.of_text(&text), &text));
        entries.dedup_by(|later, earlier| {
            let same = later.cmp(earlier.hash, earlier.name.of_text(&text), &text).is_eq();
            if same && !earlier.is_final {
                *earlier = *later;
            }
            same
        });
        Listed { text, entries }
    }
}

impl Listed {
    /// Number of properties.
    pub(super) const fn len(&self) -> usize {
        self.entries.len()
    }

    pub(super) fn get(&self, name: &str) -> Option<&str> {
        let hash = hash(name);
        let at = self.entries.binary_search_by(|entry| entry.cmp(hash, name, &self.text)).ok()?;
        Some(self.entries.get(at)?.value.of_text(&self.text))
    }

    /// Name, value and whether it is final, in the order of names.
    pub(super) fn in_order(&self) -> Vec<(&str, &str, bool)> {
        let text = &self.text;
        let words = |entry: &Entry| (entry.name.of_text(text), entry.value.of_text(text), entry.is_final);
        let mut properties: Vec<_> = self.entries.iter().map(words).collect();
        properties.sort_unstable();
        properties
    }
}
