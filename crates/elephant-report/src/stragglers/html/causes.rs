//! The colours of causes: the most frequent ones have their own, the same in every chart of the page.

use crate::html::draw::Part;
use elephant_engine::survey::{Cause, CauseCount, CauseCounts};

/// The classes of the most frequent causes.
const OWN: [&str; 6] = ["c1", "c2", "c3", "c4", "c5", "c6"];
/// The class of all other causes.
const OTHER: &str = "c0";

/// The causes that occur, most frequent first.
pub(super) struct Palette(Vec<(CauseCount, f64)>);

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
        Self(causes.by_frequency())
    }

    /// The class of a cause.
    pub(super) fn class(&self, cause: Cause) -> &'static str {
        // Unexplained stragglers are grey, like causes without a class of their own.
        let known = self.0.iter().map(|(count, _)| count.cause);
        let place = known.filter(|known| *known != Cause::Unexplained).position(|known| known == cause);
        place.and_then(|place| OWN.get(place)).copied().unwrap_or(OTHER)
    }

    /// The order of a cause in charts and legends.
    pub(super) fn order(&self, cause: Cause) -> usize {
        self.0.iter().position(|(count, _)| count.cause == cause).unwrap_or(usize::MAX)
    }

    pub(super) fn rows(&self) -> Vec<CauseRow> {
        let row = |(count, percent): &(CauseCount, f64)| CauseRow {
            name: count.cause.display_name(),
            class: self.class(count.cause),
            count: count.primary,
            percent: *percent,
            confidence: count.confidence().to_string(),
            bar: Part::of(percent / 100.0),
        };
        self.0.iter().map(row).collect()
    }
}
