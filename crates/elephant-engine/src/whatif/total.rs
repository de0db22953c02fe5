//! What each change saves over all applications.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use super::WhatIfReport;
use super::application::{ApplicationReplays, Replays, Scenario};
use super::settings::Change;
use elephant_analysis::memory_fit::MemoryVerdict;
use elephant_base::units::Millis;
use elephant_verdict::savings::Range;

/// The sums over all applications.
#[derive(Debug, Clone, Default)]
pub struct Total {
    /// How many applications were replayed.
    pub replayed: u64,
    /// How long they took together.
    pub recorded: Millis,
    /// The changes that were replayed for all of them.
    pub changes: Vec<ChangeTotal>,
}

/// A change over all applications.
#[derive(Debug, Clone)]
pub struct ChangeTotal {
    /// What differs from the recorded runs.
    pub change: Change,
    /// How many applications it shortens by more than the error of the model.
    pub shortened: u64,
    /// The time saved in these applications together, in milliseconds; `None` if there are none.
    pub saves_ms: Option<Range>,
    /// How many applications it makes longer by more than the error.
    pub lengthened: u64,
    /// The time added in these applications together, in milliseconds; `None` if there are none.
    pub longer_ms: Option<Range>,
    /// The core-hours that it saves in the applications where that is more than the error; negative if it costs more.
    /// `None` without such an application.
    pub core_hours: Option<Range>,
    /// The GB-hours that it saves in the applications where that is more than the error, in the same way.
    pub gb_hours: Option<Range>,
    /// What it saves in money, in the same way.
    pub cost: Option<Range>,
    /// For how many applications the changed memory would be enough; empty if memory stays as it is.
    pub memory: BTreeMap<MemoryVerdict, u64>,
    /// Number of applications for which its effect is known, including no effect.
    pub known: u64,
    /// Number of applications for which its effect is not known.
    pub unknown: u64,
    /// The reasons why it is not known, with the number of applications.
    pub reasons: BTreeMap<String, u64>,
}

impl ChangeTotal {
    /// A change of no application.
    #[doc(hidden)]
    #[must_use]
    pub fn blank(change: Change) -> Self {
        Self {
            change,
            shortened: 0,
            saves_ms: None,
            lengthened: 0,
            longer_ms: None,
            core_hours: None,
            gb_hours: None,
            cost: None,
            memory: BTreeMap::new(),
            known: 0,
            unknown: 0,
            reasons: BTreeMap::new(),
        }
    }

    /// What a run that would break saves is no saving.
    fn add(&mut self, scenario: &Scenario) {
        if let Some(memory) = &scenario.memory {
            *self.memory.entry(memory.fit).or_default() += 1;
        }
        let prediction = match &scenario.prediction {
            Ok(prediction) => prediction,
            Err(why) => {
                self.unknown += 1;
                *self.reasons.entry(why.clone()).or_default() += 1;
                return;
            }
        };
        self.known += 1;
        if scenario.would_break() {
            return;
        }
        let saves = prediction.saves.wall_ms;
        if !prediction.within_error && saves.point > 0.0 {
            self.shortened += 1;
            add(&mut self.saves_ms, saves);
        } else if !prediction.within_error {
            self.lengthened += 1;
            add(&mut self.longer_ms, saves.subtracted_from(0.0));
        }
        for (sum, hours) in [
            (&mut self.core_hours, prediction.saves.core_hours),
            (&mut self.gb_hours, prediction.saves.gb_hours),
            (&mut self.cost, scenario.cost.map(|cost| cost.saves)),
        ] {
            if let Some(hours) = hours.filter(|hours| !hours.contains_zero()) {
                add(sum, hours);
            }
        }
    }

    /// The most frequent reason why its effect is not known; among equals the first in the alphabet.
    #[must_use]
    pub fn mostly_unknown_because(&self) -> Option<&str> {
        most_frequent(&self.reasons)
    }

    /// Whether it changes anything beyond the error, in any application, or what it needs of memory is known.
    #[must_use]
    pub fn matters(&self) -> bool {
        let times = self.saves_ms.or(self.longer_ms);
        times.or(self.core_hours).or(self.gb_hours).or(self.cost).is_some() || !self.memory.is_empty()
    }

    /// The time that it saves, less what it adds.
    #[must_use]
    pub fn net_ms(&self) -> f64 {
        let point = |range: Option<Range>| range.map_or(0.0, |range| range.point);
        point(self.saves_ms) - point(self.longer_ms)
    }
}

/// The most frequent reason; among equals the first in the alphabet.
#[must_use]
pub fn most_frequent(reasons: &BTreeMap<String, u64>) -> Option<&str> {
    Some(reasons.iter().max_by_key(|&(why, count)| (count, Reverse(why)))?.0)
}

fn add(sum: &mut Option<Range>, range: Range) {
    *sum = Some(sum.map_or(range, |sum| sum.plus(range)));
}

impl Total {
    /// Sums up `changes`.
    pub(super) fn of<'a>(
        applications: impl IntoIterator<Item = &'a ApplicationReplays>,
        changes: &[Change],
    ) -> Self {
        let applications: Vec<&ApplicationReplays> = applications.into_iter().collect();
        let replayed: Vec<&Replays> =
            applications.iter().filter_map(|app| app.replays.as_ref().ok()).collect();
        let total = |change: &Change| {
            let mut total = ChangeTotal::blank(change.clone());
            let checks = applications.iter().flat_map(|app| &app.memory);
            for check in checks.filter(|check| check.change == *change) {
                *total.memory.entry(check.fit.fit).or_default() += 1;
            }
            let of_change = |scenario: &&Scenario| scenario.change == *change;
            replayed
                .iter()
                .filter_map(|replays| replays.scenarios.iter().find(of_change))
                .for_each(|scenario| total.add(scenario));
            total
        };
        Self {
            replayed: replayed.len() as u64,
            recorded: replayed.iter().map(|replays| replays.recorded).sum(),
            changes: changes.iter().map(total).collect(),
        }
    }

    /// The change that saves most time; among equals the first, which leaves out the fewest troubles.
    #[must_use]
    pub fn best(&self) -> Option<&ChangeTotal> {
        let mut best: Option<&ChangeTotal> = None;
        for total in self.changes.iter().filter(|total| total.net_ms() > 0.0) {
            if best.is_none_or(|best| total.net_ms() > best.net_ms()) {
                best = Some(total);
            }
        }
        best
    }
}

#[doc(hidden)]
impl WhatIfReport {
    /// Why applications were not replayed, and how many.
    #[must_use]
    pub fn not_replayed(&self) -> BTreeMap<String, u64> {
        let mut reasons: BTreeMap<String, u64> = BTreeMap::new();
        for why in self.applications.iter().filter_map(|app| app.replays.as_ref().err()) {
            *reasons.entry(why.clone()).or_default() += 1;
        }
        reasons
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::whatif::Trouble;
    use elephant_verdict::savings::{Amounts, Prediction};

    #[test]
    fn time_that_is_added_is_not_time_that_is_saved() {
        let scenario = |saves: f64, within_error: bool, hours: f64| {
            let range = |point: f64| Range { low: point - 1.0, point, high: point + 1.0 };
            let takes = Amounts { wall_ms: range(100.0), core_hours: None, gb_hours: None };
            let saves = Amounts { wall_ms: range(saves), core_hours: None, gb_hours: Some(range(hours)) };
            let prediction = Ok(Prediction { takes, saves, within_error });
            Scenario { change: Change::default(), prediction, cost: None, memory: None, is_local: false }
        };
        let mut total = ChangeTotal::blank(Change::without(&[Trouble::Skew]));
        for scenario in [scenario(9.0, false, 5.0), scenario(-3.0, false, -7.0), scenario(0.5, true, 0.5)] {
            total.add(&scenario);
        }
        assert_eq!((total.shortened, total.lengthened, total.known, total.unknown), (1, 1, 3, 0));
        assert_eq!(total.saves_ms.map(|saves| saves.point), Some(9.0));
        let longer = total.longer_ms.unwrap();
        assert_eq!((longer.low, longer.point, longer.high), (2.0, 3.0, 4.0));
        assert_eq!(total.gb_hours.map(|hours| hours.point), Some(-2.0), "an amount within its error counts");
        assert_eq!(total.net_ms().to_bits(), 6.0_f64.to_bits());
    }

    #[test]
    fn the_most_frequent_reason_is_named() {
        let unknown = |why: &str| Scenario {
            change: Change::default(),
            prediction: Err(why.to_owned()),
            cost: None,
            memory: None,
            is_local: false,
        };
        let mut total = ChangeTotal::blank(Change::default());
        assert_eq!(total.mostly_unknown_because(), None);
        for why in ["b", "c", "c", "b", "a"] {
            total.add(&unknown(why));
        }
        assert_eq!((total.known, total.unknown, total.mostly_unknown_because()), (0, 5, Some("b")));
    }
}
