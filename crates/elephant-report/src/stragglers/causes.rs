//! The colours of causes: the most frequent ones have their own, the same in every chart of the page.

use elephant_engine::survey::{Cause, CauseCount, CauseCounts};

/// The classes of the most frequent causes.
const OWN: [&str; 6] = ["c1", "c2", "c3", "c4", "c5", "c6"];
/// The class of all other causes.
const OTHER: &str = "c0";

/// The causes that occur, most frequent first.
pub(super) struct Palette(Vec<Cause>);

impl Palette {
    pub(super) fn of(causes: &CauseCounts) -> Self {
        Self(causes.by_frequency().into_iter().map(|(count, _)| count.cause).collect())
    }

    /// The class of a cause.
    pub(super) fn class(&self, cause: Cause) -> &'static str {
        // Unexplained stragglers are grey, like causes without a class of their own.
        let mut coloured = self.0.iter().filter(|known| **known != Cause::Unexplained);
        let place = coloured.position(|known| *known == cause);
        place.and_then(|place| OWN.get(place)).copied().unwrap_or(OTHER)
    }

    /// Causes in the order of charts and legends, with their classes.
    pub(super) fn in_order(&self, counts: &CauseCounts) -> Vec<(CauseCount, &'static str)> {
        let mut causes = counts.by_frequency();
        let order = |cause: Cause| self.0.iter().position(|known| *known == cause).unwrap_or(usize::MAX);
        causes.sort_by_key(|(count, _)| order(count.cause));
        causes.into_iter().map(|(count, _)| (count, self.class(count.cause))).collect()
    }
}
