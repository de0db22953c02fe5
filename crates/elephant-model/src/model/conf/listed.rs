//! Properties stored as ranges of the text that they were read from.
//!
//! A job has about 1,500 properties, of which few are used: creating strings for all of them, or sorting them
//! by name, takes longer than reading them.

use std::cmp::Ordering;
use std::hash::Hasher;
use std::ops::Range;

use rustc_hash::FxHasher;

use super::{Conf, Properties};

/// Typical length of a property with its tags in bytes, for preallocation.
const TYPICAL_LEN: usize = 170;

/// Properties stored in their text. Unescaped names and values are appended to it.
#[derive(Debug, Clone, Default)]
pub(super) struct Listed {
    text: String,
    /// Sorted by hash, then by name.
    entries: Vec<Entry>,
}

#[derive(Debug, Clone, Copy)]
struct Entry {
    hash: u32,
    name: Place,
    value: Place,
    is_final: bool,
    set_by: SetBy,
}

/// Where the value of a property comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum SetBy {
    /// The configuration does not tell.
    #[default]
    Unknown,
    /// A file of defaults, such as `mapred-default.xml`.
    Defaults,
    /// The application, or the configuration of the cluster.
    Other,
}

impl SetBy {
    /// The origin according to the first source of a property, from which the value was copied from file to file.
    #[must_use]
    pub fn source(source: &str) -> Self {
        match source.trim() {
            "" => Self::Unknown,
            source if source.ends_with("-default.xml") => Self::Defaults,
            _ => Self::Other,
        }
    }
}

/// A byte range of the text.
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
    fn cmp(&self, hash: u32, name: &str, text: &str) -> Ordering {
        self.hash.cmp(&hash).then_with(|| self.name.of_text(text).cmp(name))
    }
}

fn hash(name: &str) -> u32 {
    let mut hasher = FxHasher::default();
    hasher.write(name.as_bytes());
    let [a, b, c, d, ..] = hasher.finish().to_le_bytes();
    u32::from_le_bytes([a, b, c, d])
}

/// Collects properties in the order of their text.
#[derive(Debug)]
pub struct Listing<'a> {
    text: &'a str,
    found: Found,
}

/// The properties of a text, without the text itself.
#[derive(Debug, Default)]
pub struct Found {
    entries: Vec<Entry>,
    /// Unescaped names and values, which are appended to the text.
    unescaped: String,
}

impl<'a> Listing<'a> {
    /// Starts a list of the properties of `text`.
    #[must_use]
    pub fn of(text: &'a str) -> Self {
        let entries = Vec::with_capacity(text.len() / TYPICAL_LEN);
        Self { text, found: Found { entries, unescaped: String::new() } }
    }

    /// Adds a property with these byte ranges as name and value. `None` if the text is too long.
    pub fn add(
        &mut self,
        name: &Range<usize>,
        value: &Range<usize>,
        is_final: bool,
        set_by: SetBy,
    ) -> Option<()> {
        let hash = hash(self.text(name));
        let entry = Entry { hash, name: Place::of(name)?, value: Place::of(value)?, is_final, set_by };
        self.found.entries.push(entry);
        Some(())
    }

    /// The text in this range.
    #[must_use]
    pub fn text(&self, place: &Range<usize>) -> &str {
        let words = match place.start.checked_sub(self.text.len()) {
            Some(start) => self.found.unescaped.get(start..place.end.saturating_sub(self.text.len())),
            None => self.text.get(place.clone()),
        };
        words.unwrap_or_default()
    }

    /// Appends text that is not in the document, and returns its range.
    pub fn keep(&mut self, words: &str) -> Range<usize> {
        let start = self.text.len() + self.found.unescaped.len();
        self.found.unescaped.push_str(words);
        start..start + words.len()
    }

    /// Returns the properties.
    #[must_use]
    pub fn finish(self) -> Found {
        self.found
    }
}

impl Found {
    /// Whether there are no properties.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// The configuration of these properties in their text. Of several properties with the same name the last one is
    /// kept, unless an earlier one is final.
    #[must_use]
    pub fn in_text(self, mut text: String) -> Conf {
        let Self { entries: found, unescaped } = self;
        text.push_str(&unescaped);
        // Sort by hash and position in one number first, without branches; names with equal hashes are rare.
        let number = |(place, entry): (u64, &Entry)| u64::from(entry.hash) << 32 | place;
        let mut order: Vec<u64> = (0..).zip(&found).map(number).collect();
        order.sort_unstable();
        let place = |number: u64| usize::try_from(number & u64::from(u32::MAX)).ok();
        let entry = |number| found.get(place(number)?).copied();
        let mut entries = Vec::with_capacity(order.len());
        entries.extend(order.into_iter().filter_map(entry));
        for alike in entries.chunk_by_mut(|one, other| one.hash == other.hash) {
            alike.sort_by(|one, other| one.name.of_text(&text).cmp(other.name.of_text(&text)));
        }
        entries.dedup_by(|later, earlier| {
            let same = later.cmp(earlier.hash, earlier.name.of_text(&text), &text).is_eq();
            if same && !earlier.is_final {
                *earlier = *later;
            }
            same
        });
        Conf { properties: Properties::Listed(Listed { text, entries }) }
    }
}

impl Listed {
    /// Number of properties.
    pub(super) const fn len(&self) -> usize {
        self.entries.len()
    }

    fn entry(&self, name: &str) -> Option<&Entry> {
        let hash = hash(name);
        let at = self.entries.binary_search_by(|entry| entry.cmp(hash, name, &self.text)).ok()?;
        self.entries.get(at)
    }

    pub(super) fn get(&self, name: &str) -> Option<&str> {
        Some(self.entry(name)?.value.of_text(&self.text))
    }

    pub(super) fn set_by(&self, name: &str) -> Option<SetBy> {
        Some(self.entry(name)?.set_by)
    }

    /// Name, value, whether it is final, and who set it, in name order.
    pub(super) fn in_order(&self) -> Vec<(&str, &str, bool, SetBy)> {
        let text = &self.text;
        let words = |entry: &Entry| {
            (entry.name.of_text(text), entry.value.of_text(text), entry.is_final, entry.set_by)
        };
        let mut properties: Vec<_> = self.entries.iter().map(words).collect();
        properties.sort_unstable_by_key(|(name, ..)| *name);
        properties
    }
}
