//! Keeps the charts of the worst applications while all are read. An application is in memory only during its visit, and
//! charts of thousands would need too much memory.
//!
//! Which of several copies of a history counts is known only after all are read. So equal copies share one place.
//! Histories that a more complete copy may replace have places of their own, so that they take none from those that
//! stay.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::hash::{Hash, Hasher};
use std::sync::{Mutex, MutexGuard, PoisonError};

use rustc_hash::FxHasher;

use super::copies::RunCopy;
use super::rank::Place;
use super::visit::Turn;
use crate::results::{ApplicationReport, Leading};
use elephant_base::severity::Severity;
use elephant_base::units::MbMillis;
use elephant_verdict::charts::Charts;

/// The [`Place`] of an application that is no longer in memory, with its turn instead of its sources.
type Key = (Leading, Reverse<Severity>, Reverse<u64>, Reverse<Option<MbMillis>>, String, Turn);

/// Whether a history may turn out to be a copy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Copied {
    /// It counts.
    No,
    /// The first of all with the same number counts.
    AsOften(u64),
    /// A more complete history may replace it.
    Perhaps,
}

impl Copied {
    /// `replaceable` if a later attempt may replace it.
    pub(super) fn of(copy: &RunCopy, turn: Turn, place: Place<'_>, replaceable: bool) -> Self {
        match copy.content_hash() {
            _ if replaceable => Self::Perhaps,
            _ if !turn.may_be_copied => Self::No,
            None => Self::Perhaps,
            Some(content) => {
                let mut hasher = FxHasher::default();
                // Another configuration gives other findings.
                (content, place.severity, place.score, place.sources.len()).hash(&mut hasher);
                Self::AsOften(hasher.finish())
            }
        }
    }
}

/// The charts of the worst applications so far.
pub(super) struct WorstCharts {
    most: usize,
    worst: Mutex<Worst>,
}

#[derive(Default)]
struct Worst {
    lasting: Charted,
    replaceable: Charted,
}

/// For each application, the copies that it belongs to, and its charts.
type Charted = BTreeMap<Key, (Copied, Box<Charts>)>;

impl WorstCharts {
    pub(super) fn new(most: usize) -> Self {
        Self { most, worst: Mutex::default() }
    }

    /// Makes and keeps charts if the application is among the worst.
    pub(super) fn offer(&self, place: Place<'_>, turn: Turn, copied: Copied, make: impl FnOnce() -> Charts) {
        if self.most == 0 {
            return;
        }
        let key = key(place, turn);
        if !self.admits(self.lock().of(copied), &key, copied) {
            return;
        }
        let charts = Box::new(make());
        let mut worst = self.lock();
        let charted = worst.of(copied);
        if !self.admits(charted, &key, copied) {
            return;
        }
        if let Copied::AsOften(_) = copied {
            charted.retain(|_, (known, _)| *known != copied);
        }
        charted.insert(key, (copied, charts));
        if charted.len() > self.most {
            charted.pop_last();
        }
    }

    /// Whether the application is among the worst so far. `false` is final.
    fn admits(&self, charted: &Charted, key: &Key, copied: Copied) -> bool {
        let is_known = |(known, (of, _)): (&Key, &(Copied, _))| *of == copied && known <= key;
        if matches!(copied, Copied::AsOften(_)) && charted.iter().any(is_known) {
            return false;
        }
        charted.len() < self.most || charted.last_key_value().is_some_and(|(last, _)| key < last)
    }

    /// Moves the charts into their applications, which are in the order of the report.
    pub(super) fn hand_out(self, applications: &mut [(ApplicationReport, Turn)]) {
        let Worst { lasting, replaceable } = self.worst.into_inner().unwrap_or_else(PoisonError::into_inner);
        let charted = lasting.into_iter().chain(replaceable);
        let mut charts: BTreeMap<Turn, Box<Charts>> =
            charted.map(|((.., turn), (_, charts))| (turn, charts)).collect();
        let found = applications.iter_mut().filter_map(|(app, turn)| Some((app, charts.remove(turn)?)));
        for (app, charts) in found.take(self.most) {
            app.charts = Some(charts);
        }
    }

    /// Moves all charts into their applications: which of these count is known later.
    pub(super) fn hand_out_all<'r>(
        &self,
        applications: impl Iterator<Item = (&'r mut ApplicationReport, Turn)>,
    ) {
        let Worst { lasting, replaceable } = std::mem::take(&mut *self.lock());
        let charted = lasting.into_iter().chain(replaceable);
        let mut charts: BTreeMap<Turn, Box<Charts>> =
            charted.map(|((.., turn), (_, charts))| (turn, charts)).collect();
        for (app, turn) in applications {
            app.charts = charts.remove(&turn);
        }
    }

    fn lock(&self) -> MutexGuard<'_, Worst> {
        self.worst.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Worst {
    const fn of(&mut self, copied: Copied) -> &mut Charted {
        match copied {
            Copied::Perhaps => &mut self.replaceable,
            Copied::No | Copied::AsOften(_) => &mut self.lasting,
        }
    }
}

fn key(place: Place<'_>, turn: Turn) -> Key {
    let Place { leading, severity, score, wasted, id, sources: _ } = place;
    (leading.clone(), Reverse(severity), Reverse(score), Reverse(wasted), id.to_owned(), turn)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// An application: its score, which copies it is of, and whether it counts in the end.
    type Run = (u64, Copied, bool);

    fn charted(runs: &[Run], order: &[usize], most: usize) -> Vec<bool> {
        let worst = WorstCharts::new(most);
        let app = |place: usize| ApplicationReport { score: runs[place].0, ..ApplicationReport::blank("a") };
        for &place in order {
            let make = || {
                Charts::of(
                    &elephant_model::model::Application::new(elephant_model::model::Engine::Spark),
                    &RULES,
                    &[],
                )
            };
            worst.offer(Place::of(&app(place)), Turn::of_place(place), runs[place].1, make);
        }
        let counted = (0..runs.len()).filter(|&place| runs[place].2);
        let mut apps: Vec<_> = counted.map(|place| (app(place), Turn::of_place(place))).collect();
        apps.sort_by_key(|(app, turn)| (Reverse(app.score), *turn));
        worst.hand_out(&mut apps);
        apps.iter().map(|(app, _)| app.charts.is_some()).collect()
    }

    static RULES: std::sync::LazyLock<elephant_ruleset::RuleSet> =
        std::sync::LazyLock::new(|| elephant_ruleset::RuleSet::new(elephant_heuristics::BUILT_IN).unwrap());

    #[test]
    fn copies_take_no_places() {
        let (twice, cut) = (Copied::AsOften(1), Copied::Perhaps);
        let runs =
            [(9, twice, true), (9, twice, false), (9, cut, false), (5, Copied::No, true), (4, cut, true)];
        for order in [[0, 1, 2, 3, 4], [4, 3, 2, 1, 0], [1, 3, 0, 4, 2]] {
            assert_eq!(charted(&runs, &order, 2), [true, true, false], "{order:?}");
        }
        assert_eq!(charted(&runs, &[0, 1, 2, 3, 4], 3), [true; 3]);
    }

    proptest! {
        #[test]
        fn the_worst_that_count_have_charts_in_any_order(
            scores in prop::collection::vec((0..9u64, 1..4usize), 0..12),
            most in 0..6usize,
            seed in any::<u64>(),
        ) {
            let mut runs: Vec<Run> = Vec::new();
            for (number, &(score, copies)) in scores.iter().enumerate() {
                let copied = if copies == 1 { Copied::No } else { Copied::AsOften(number as u64) };
                runs.extend((0..copies).map(|copy| (score, copied, copy == 0)));
            }
            let mut order: Vec<usize> = (0..runs.len()).collect();
            order.sort_by_key(|&place| (place as u64 ^ 0x5bd1).wrapping_mul(seed | 1).rotate_left(17));
            let expected: Vec<bool> = (0..scores.len()).map(|place| place < most).collect();
            prop_assert_eq!(charted(&runs, &order, most), expected);
        }
    }
}
