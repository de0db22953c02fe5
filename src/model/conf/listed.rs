//! Properties as places in the text that they were read from.
//!
//! A job has some 1,500 of which a few are ever looked at: to make strings of all takes longer than to read them.

use std::ops::Range;

/// Properties by name, of a text that grows by the values that are not written as they are meant.
#[derive(Debug, Clone, Default)]
pub struct Listed {
    text: String,
    entries: Vec<Entry>,
}

#[derive(Debug, Clone, Copy)]
struct Entry {
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
        let entry = Entry { name: Place::of(name)?, value: Place::of(value)?, is_final };
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
        entries.sort_by(|one, other| one.name.of_text(&text).cmp(other.name.of_text(&text)));
        entries.dedup_by(|later, earlier| {
            let same = later.name.of_text(&text) == earlier.name.of_text(&text);
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
        let at = self.entries.binary_search_by(|entry| entry.name.of_text(&self.text).cmp(name)).ok()?;
        Some(self.entries.get(at)?.value.of_text(&self.text))
    }

    /// Name, value and whether it is final, in the order of names.
    pub(super) fn iter(&self) -> impl Iterator<Item = (&str, &str, bool)> {
        let text = &self.text;
        self.entries.iter().map(|entry| (entry.name.of_text(text), entry.value.of_text(text), entry.is_final))
    }
}
