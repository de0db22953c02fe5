//! Shares of a joint saving, with their ranges, for a bounded number of replays.

use std::borrow::Cow;

use super::estimate::{Amounts, Range};
use super::game::{levelled, shapley};
use super::players::{Effect, Measure, Players, Saved};
use super::predict::Cost;
use super::troubles::SavingStatus;

/// Of the replayed troubles, so many share in all orders; further ones come one after the other.
const REPLAYED: usize = 5;
/// The same for the others, which need no replay.
const MEASURED: usize = 7;
/// The attempts that replays of one application may schedule: about half a second.
const ATTEMPTS: usize = 2_000_000;
/// So many replays are always allowed: two troubles with ranges, alone and together.
const REPLAYS: usize = 6;

const TOO_MANY: &str = "the application has too many tasks to replay this trouble, too";

/// How many replays an application gets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Budget {
    /// Replayed troubles that are looked at.
    looked_at: usize,
    /// Those of them that share in all orders.
    in_all_orders: usize,
}

impl Budget {
    /// For an application with so many attempts.
    pub(super) fn of(attempts: usize, effects: &[Effect]) -> Self {
        let replayed = effects.iter().filter(|effect| effect.is_replay()).count();
        let is_range = effects.iter().any(|effect| matches!(effect, Effect::Replay { is_range: true, .. }));
        Self::with((ATTEMPTS / attempts.max(1)).max(REPLAYS), replayed, if is_range { 2 } else { 1 })
    }

    /// With so many `replays` for `replayed` troubles, each of which needs `ends` of them.
    fn with(replays: usize, replayed: usize, ends: usize) -> Self {
        // Each alone, each set of two or more that share in all orders, and each further one after them.
        let needed = |all: usize, exact: usize| ends * (all + (1 << exact) - 1 - exact + (all - exact));
        let fits = |all: usize, exact: usize| needed(all, exact) <= replays;
        let looked_at = (0..=replayed).rev().find(|&all| fits(all, all.min(1))).unwrap_or_default();
        let exact = (0..=looked_at.min(REPLAYED)).rev().find(|&exact| fits(looked_at, exact));
        Self { looked_at, in_all_orders: exact.unwrap_or_default() }
    }
}

/// What removing a trouble saves.
#[derive(Debug, Clone)]
pub(super) struct Part {
    pub(super) status: SavingStatus,
    /// Whether it comes after others, whatever it would save before them.
    pub(super) in_order: bool,
    pub(super) alone: Amounts,
    pub(super) share: Amounts,
}

/// What a trouble saves alone.
#[derive(Debug, Clone, Copy)]
struct Single {
    place: usize,
    saved: [Saved; 2],
    error: Saved,
}

impl Single {
    fn range(&self, measure: Measure) -> Range {
        let [least, most] = self.saved.map(|saved| saved.of(measure));
        Range::between(least, most)
    }

    fn point(&self, measure: Measure) -> f64 {
        self.range(measure).point
    }

    const fn set(&self) -> u64 {
        1 << self.place
    }

    fn status(&self, cost: Cost) -> SavingStatus {
        let known = Measure::ALL.into_iter().filter(|measure| match measure {
            Measure::Wall => true,
            Measure::Cores => cost.core_hours.is_some(),
            Measure::Memory => cost.gb_hours.is_some(),
        });
        let is_beyond = |measure| self.point(measure) > self.error.of(measure).max(NOTHING);
        if known.into_iter().any(is_beyond) { SavingStatus::Estimated } else { SavingStatus::WithinError }
    }
}

/// Less than a microsecond, or than a billionth of what was held, is rounding.
const NOTHING: f64 = 1e-9;

/// What each trouble saves, or why that is unknown.
pub(super) fn share(
    players: &mut Players<'_>,
    budget: Budget,
    cost: Cost,
) -> Vec<Result<Part, Cow<'static, str>>> {
    let mut unknown = Vec::new();
    let mut singles = Vec::new();
    let mut replayed = 0;
    for place in 0..players.effects().len() {
        let is_replay = players.effects().get(place).is_some_and(Effect::is_replay);
        replayed += usize::from(is_replay);
        if is_replay && replayed > budget.looked_at {
            unknown.push(Some(Cow::Borrowed(TOO_MANY)));
            continue;
        }
        let saved = players.saved(1 << place).and_then(|saved| Ok((saved, players.error(1 << place)?)));
        unknown.push(saved.as_ref().err().map(|why| why.to_string().into()));
        singles.extend(saved.map(|(saved, error)| Single { place, saved, error }));
    }
    let exact = in_all_orders(players, budget, &singles);
    let mut parts = Game { players, singles: &singles, exact: &exact }.parts(cost).into_iter();
    let part = |why: Option<Cow<'static, str>>| match why {
        Some(why) => Err(why),
        None => parts.next().ok_or(Cow::Borrowed(TOO_MANY)),
    };
    unknown.into_iter().map(part).collect()
}

/// The troubles that share in all orders: the measured ones, and the largest of the replayed ones.
fn in_all_orders(players: &Players<'_>, budget: Budget, singles: &[Single]) -> Vec<Single> {
    let is_replay = |single: &Single| players.effects().get(single.place).is_some_and(Effect::is_replay);
    let (mut replayed, mut exact): (Vec<Single>, Vec<Single>) =
        singles.iter().partition(|single| is_replay(single));
    replayed.sort_by(|one, other| {
        let by = |measure| other.point(measure).total_cmp(&one.point(measure));
        by(Measure::Wall).then(by(Measure::Memory)).then(by(Measure::Cores)).then(one.place.cmp(&other.place))
    });
    exact.truncate(MEASURED);
    exact.extend(replayed.into_iter().take(budget.in_all_orders));
    exact.sort_by_key(|single| single.place);
    exact
}

/// The troubles that are shared out.
struct Game<'g, 'p> {
    players: &'g mut Players<'p>,
    singles: &'g [Single],
    exact: &'g [Single],
}

impl Game<'_, '_> {
    fn is_exact(&self, single: &Single) -> bool {
        self.exact.iter().any(|exact| exact.place == single.place)
    }

    /// What a set saves; the most of any of them if they cannot be replayed together.
    fn saved(&mut self, set: u64) -> [Saved; 2] {
        let Self { players, singles, .. } = self;
        players.saved(set).unwrap_or_else(|_| {
            let members = singles.iter().filter(|single| set & single.set() != 0);
            let largest =
                members.max_by(|one, other| one.point(Measure::Wall).total_cmp(&other.point(Measure::Wall)));
            largest.map_or([Saved::default(); 2], |single| single.saved)
        })
    }

    /// What all sets of troubles save that share in all orders.
    fn table(&mut self) -> Vec<[Saved; 2]> {
        let sets = (0..1_u32 << self.exact.len()).map(|set| {
            let members = (0_u32..).zip(self.exact).filter(|(place, _)| set >> place & 1 == 1);
            members.map(|(_, single)| single.set()).sum()
        });
        sets.collect::<Vec<u64>>().into_iter().map(|set| self.saved(set)).collect()
    }

    /// What each further trouble adds, after those that share in all orders.
    fn marginals(&mut self) -> Vec<(usize, [Saved; 2], [Saved; 2])> {
        let mut set: u64 = self.exact.iter().map(Single::set).sum();
        let mut before = self.saved(set);
        let later: Vec<Single> =
            self.singles.iter().filter(|single| !self.is_exact(single)).copied().collect();
        let mut marginals = Vec::new();
        for single in later {
            set |= single.set();
            let after = self.saved(set);
            marginals.push((single.place, before, after));
            before = after;
        }
        marginals
    }

    fn parts(mut self, cost: Cost) -> Vec<Part> {
        let (table, marginals) = (self.table(), self.marginals());
        let all = self.singles.iter().map(Single::set).sum();
        let error = self.players.error(all).unwrap_or_default();
        let count = u32::try_from(self.exact.len()).unwrap_or_default();
        let shares = Measure::ALL.map(|measure| {
            let ends = [0, 1].map(|end: usize| {
                let of = |ends: &[Saved; 2]| ends.get(end).map_or(0.0, |saved| saved.of(measure));
                let in_all_orders = shapley(count, |set| table.get(set as usize).map_or(0.0, of));
                let exact = self.exact.iter().map(|single| single.place).zip(in_all_orders);
                let later = marginals.iter().map(|(place, before, after)| (*place, of(after) - of(before)));
                let mut shares: Vec<(usize, f64)> = exact.chain(later).collect();
                shares.sort_by_key(|(place, _)| *place);
                shares.into_iter().map(|(_, share)| share).collect::<Vec<f64>>()
            });
            ranges(&ends, error.of(measure), self.players.most(measure))
        });
        let [wall, cores, memory] = shares;
        let shares = wall.into_iter().zip(cores).zip(memory);
        let part = |(single, ((wall, cores), memory)): (&Single, ((Range, Range), Range))| Part {
            status: single.status(cost),
            in_order: !self.is_exact(single),
            alone: amounts(cost, |measure| {
                single.range(measure).widened(single.error.of(measure)).within(self.players.most(measure))
            }),
            share: amounts(cost, |measure| match measure {
                Measure::Wall => wall,
                Measure::Cores => cores,
                Measure::Memory => memory,
            }),
        };
        self.singles.iter().zip(shares).map(part).collect()
    }
}

/// Shares with their ranges: both ends levelled, and the error of the joint saving in proportion to the points. The highs
/// add up to at most `most`.
fn ranges(ends: &[Vec<f64>; 2], error: f64, most: f64) -> Vec<Range> {
    let [least, greatest] = ends;
    let middle: Vec<f64> =
        least.iter().zip(greatest).map(|(one, other)| f64::midpoint(*one, *other)).collect();
    let points = levelled(&middle);
    let joint: f64 = points.iter().sum();
    let ranges = levelled(least).into_iter().zip(levelled(greatest)).zip(&points);
    let ranges = ranges.map(|((least, greatest), &point)| {
        let error = if joint > 0.0 { error * point / joint } else { 0.0 };
        let range =
            Range { low: least.min(greatest).min(point), point, high: least.max(greatest).max(point) };
        Range { low: (range.low - error).max(0.0), ..range.widened(error) }
    });
    let mut ranges: Vec<Range> = ranges.collect();
    let (beyond, room) = (ranges.iter().map(|range| range.high - range.point).sum::<f64>(), most - joint);
    if beyond > room {
        let scale = if beyond > 0.0 { (room / beyond).max(0.0) } else { 0.0 };
        for range in &mut ranges {
            range.high = scale.mul_add(range.high - range.point, range.point);
        }
    }
    ranges
}

fn amounts(cost: Cost, of: impl Fn(Measure) -> Range) -> Amounts {
    Amounts {
        wall_ms: of(Measure::Wall),
        core_hours: cost.core_hours.map(|held| of(Measure::Cores).times(held)),
        gb_hours: cost.gb_hours.map(|held| of(Measure::Memory).times(held)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn replays_are_bounded() {
        let budget = |looked_at, in_all_orders| Budget { looked_at, in_all_orders };
        assert_eq!(Budget::with(1000, 5, 2), budget(5, 5));
        assert_eq!(Budget::with(1000, 8, 2), budget(8, 5));
        // Five alone and 26 sets.
        assert_eq!(Budget::with(31, 5, 1), budget(5, 5));
        // Five alone, 11 sets of four, and one more.
        assert_eq!(Budget::with(30, 5, 1), budget(5, 4));
        assert_eq!(Budget::with(9, 5, 1), budget(5, 2));
        assert_eq!(Budget::with(8, 5, 1), budget(4, 3));
        assert_eq!(Budget::with(6, 5, 2), budget(2, 2));
        assert_eq!(Budget::with(6, 0, 1), budget(0, 0));
        assert_eq!(Budget::with(6, 1, 2), budget(1, 1));
    }

    #[test]
    fn ranges_add_up_and_share_the_error() {
        let near = |one: f64, other: f64| (one - other).abs() < 1e-9;
        // The first is certain but for the error, the second may save nothing.
        let ranges = ranges(&[vec![30.0, 0.0], vec![30.0, 20.0]], 4.0, 100.0);
        let [skew, collections] = ranges[..] else { panic!("{ranges:?}") };
        assert!(near(skew.low, 27.0) && near(skew.point, 30.0) && near(skew.high, 33.0), "{skew:?}");
        assert!(near(collections.low, 0.0) && near(collections.point, 10.0) && near(collections.high, 21.0));
        let capped = super::ranges(&[vec![30.0, 0.0], vec![30.0, 20.0]], 4.0, 45.0);
        assert!(near(capped.iter().map(|range| range.high).sum(), 45.0), "{capped:?}");
        assert!(near(capped[0].point, 30.0));
        let none = super::ranges(&[vec![-3.0, 1.0], vec![-3.0, 1.0]], 4.0, 45.0);
        assert!(none.iter().all(|range| *range == Range::default()), "{none:?}");
    }
}
