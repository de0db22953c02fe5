//! The colours of causes: the most frequent ones have their own, the same in every chart of the page.

use std::cmp::Reverse;

use crate::report::html::draw::Part;
use crate::survey::{Cause, CauseCounts};

/// The classes of the most frequent causes.
const OWN: [&str; 6] = ["c1", "c2", "c3", "c4", "c5", "c6"];
/// The class of all other causes.
const OTHER: &str = "c0";

/// The causes that occur, most frequent first.
pub(super) struct Palette(Vec<(Cause, u64, f64)>);

/// A row of the table of causes.
pub(super) struct CauseRow {
    pub(super) name: &'static str,
    pub(super) class: &'static str,
    pub(super) count: u64,
    pub(super) percent: f64,
    /// "2 measured, 1 weak".
    pub(super) confidence: String,
    pub(super) bar: Part,
}

impl Palette {
    pub(super) fn of(causes: &CauseCounts) -> Self {
        let known = causes.shares().filter(|&(_, count, _)| count > 0);
        let mut known: Vec<(Cause, u64, f64)> =
            known.map(|(cause, count, share)| (cause, count, share.unwrap_or_default())).collect();
        known.sort_by_key(|&(cause, count, _)| (Reverse(count), cause));
        Self(known)
    }

    /// The class of a cause.
    pub(super) fn class(&self, cause: Cause) -> &'static str {
        // Grey is for what is not known.
        let explained = self.0.iter().filter(|(known, ..)| *known != Cause::Unexplained);
        let place = explained.map(|(known, ..)| *known).position(|known| known == cause);
        place.and_then(|place| OWN.get(place)).copied().unwrap_or(OTHER)
    }

    /// The order of a cause in charts and legends.
    pub(super) fn order(&self, cause: Cause) -> usize {
        self.0.iter().position(|(known, ..)| *known == cause).unwrap_or(usize::MAX)
    }

    pub(super) fn rows(&self, causes: &CauseCounts) -> Vec<CauseRow> {
        let row = |&(cause, count, percent): &(Cause, u64, f64)| CauseRow {
            name: cause.display_name(),
            class: self.class(cause),
            count,
            percent,
            confidence: causes.confidence(cause).to_string(),
            bar: Part::of(percent / 100.0),
        };
        self.0.iter().map(row).collect()
    }
}
