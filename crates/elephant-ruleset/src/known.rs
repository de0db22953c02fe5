//! The ids of all rules.

use rustc_hash::FxHashSet;

use elephant_rule::params::words::did_you_mean;
use elephant_rule::params::work;

/// Maximum number of suggestions for misspelt ids: each compares the id with all known ids.
const MOST_SUGGESTIONS: usize = 100;

/// The ids of all rules, in catalogue order.
pub(super) struct KnownIds<'i> {
    list: Vec<&'i str>,
    set: FxHashSet<&'i str>,
    suggestions: usize,
}

impl<'i> KnownIds<'i> {
    pub(super) fn new(ids: impl Iterator<Item = &'i str>) -> Self {
        let list: Vec<&str> = ids.collect();
        Self { set: list.iter().copied().collect(), list, suggestions: 0 }
    }

    pub(super) fn extend(&mut self, ids: impl Iterator<Item = &'i str>) {
        for id in ids {
            self.list.push(id);
            self.set.insert(id);
        }
    }

    pub(super) fn contains(&self, id: &str) -> bool {
        self.set.contains(id)
    }

    pub(super) fn all(&self) -> impl Iterator<Item = &'i str> {
        self.list.iter().copied().inspect(|_| work::count(1))
    }

    /// `did you mean "mapper-time"?`, if a known id is similar, and not too many were asked for.
    pub(super) fn suggestion(&mut self, id: &str) -> Option<String> {
        self.suggestions += 1;
        (self.suggestions <= MOST_SUGGESTIONS).then(|| did_you_mean(id, self.all())).flatten()
    }
}
