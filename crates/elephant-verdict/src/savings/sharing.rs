//! Shares of a joint saving, with their ranges, for a bounded number of replays.

use super::estimate::{Amounts, Range};
use super::game::{levelled, shapley};
use super::players::{Effect, Measure, Players, Saved};
use super::predict::Cost;
use super::troubles::SavingStatus;
use super::why_unknown::WhyUnknown;
use elephant_analysis::replay::MAX_ATTEMPTS;

/// The maximum number of replayed troubles whose shares are computed over all orders; further ones come one after the
/// other.
const REPLAYED: usize = 5;
/// The same for the others, which need no replay.
const MEASURED: usize = 7;
/// This many replays are always allowed.
const REPLAYS: usize = 8;

/// How many replays an application with this many attempts gets.
pub(super) fn allowed(attempts: usize) -> usize {
    (MAX_ATTEMPTS / attempts.max(1)).max(REPLAYS)
}

/// How many of the replayed troubles can share in all orders, if `replays` more replays are allowed. Each set of two or
/// more of them takes replays, and so does each further trouble that comes after them. A set takes `ends` replays.
fn affordable(replays: usize, troubles: usize, ends: usize) -> usize {
    let sets = |exact: usize| (1 << exact) - 1 - exact;
    let fits = |exact: &usize| ends * (sets(*exact) + troubles - exact) <= replays;
    (2..=troubles.min(REPLAYED)).rev().find(fits).unwrap_or_else(|| troubles.min(1))
}

/// What removing a trouble saves.
#[derive(Debug, Clone)]
pub(super) struct Part {
    pub(super) status: SavingStatus,
    /// Whether it comes after others, whatever it would save before them.
    pub(super) in_order: bool,
    /// Whether it saves something only together with others.
    pub(super) only_together: bool,
    pub(super) alone: Amounts,
    /// The GB-hours that its remedy takes beyond those recorded, if it takes more.
    pub(super) more_gb_hours: Option<Range>,
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

    /// What it saves alone, without a share of what all save.
    fn part(&self, players: &mut Players<'_>, cost: Cost) -> Part {
        let alone = |measure| {
            let most = players.most(self.set(), measure);
            self.range(measure).widened(self.error.of(measure)).within(most)
        };
        let alone = amounts(cost, alone);
        let more = cost.gb_hours.zip(self.more(Measure::Memory));
        Part {
            status: self.status(cost),
            in_order: false,
            only_together: false,
            alone,
            more_gb_hours: more.map(|(held, more)| more.times(held)),
            share: amounts(cost, |_| Range::default()),
        }
    }

    /// What the remedy takes beyond what was recorded, as a share of it, if it takes more.
    fn more(&self, measure: Measure) -> Option<Range> {
        let more = self.range(measure).widened(self.error.of(measure)).subtracted_from(0.0);
        (more.point > NOTHING).then(|| more.within(f64::INFINITY))
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

/// A trouble that adds less than this many milliseconds to what others save together is not one of them.
const SAME_TIME: f64 = 1.0;

/// What each trouble saves, or why that is unknown.
pub(super) fn share(players: &mut Players<'_>, replays: usize, cost: Cost) -> Vec<Result<Part, WhyUnknown>> {
    let mut unknown = Vec::new();
    let mut singles = Vec::new();
    for place in 0..players.effects().len() {
        let is_replay = players.effects().get(place).is_some_and(Effect::is_replay);
        if is_replay && players.count() >= replays {
            unknown.push(Some(WhyUnknown::TooManyTasks));
            continue;
        }
        let saved = players.saved(1 << place).and_then(|saved| Ok((saved, players.error(1 << place)?)));
        unknown.push(saved.as_ref().err().map(|why| why.to_string().into()));
        singles.extend(saved.map(|(saved, error)| Single { place, saved, error }));
    }
    // A saving within its error may be none at all, so it has no part in what all remedies save.
    let (mut sold, mut doubtful): (Vec<Single>, Vec<Single>) =
        singles.into_iter().partition(|single| single.status(cost) == SavingStatus::Estimated);
    let joined = only_together(players, replays, (&sold, &doubtful));
    let is_joined = |single: &Single| joined & single.set() != 0;
    sold.extend(doubtful.iter().filter(|single| is_joined(single)).copied());
    doubtful.retain(|single| !is_joined(single));
    sold.sort_by_key(|single| single.place);
    let exact = in_all_orders(players, replays, &sold);
    let mut parts = Game { players, singles: &sold, exact: &exact, joined }.parts(cost);
    parts.extend(doubtful.iter().map(|single| (single.place, single.part(players, cost))));
    parts.sort_by_key(|(place, _)| *place);
    let mut parts = parts.into_iter().map(|(_, part)| part);
    let part = |why: Option<WhyUnknown>| match why {
        Some(why) => Err(why),
        None => parts.next().ok_or(WhyUnknown::TooManyTasks),
    };
    unknown.into_iter().map(part).collect()
}

/// The troubles that save nothing alone, because others hold up the application as long, but save something if all of
/// these are removed: a set of `doubtful` ones, without those that can just as well stay.
fn only_together(players: &mut Players<'_>, replays: usize, (sold, doubtful): (&[Single], &[Single])) -> u64 {
    let set_of = |singles: &[Single]| singles.iter().map(Single::set).sum::<u64>();
    let candidates: Vec<Single> =
        doubtful.iter().filter(|single| players.replays_a_cause(single.place)).copied().collect();
    let before = set_of(sold);
    let needed = 2 * (candidates.len() + 2);
    if candidates.is_empty()
        || sold.len() + candidates.len() < 2
        || players.count() + needed > replays
        || !players.gains(before | set_of(&candidates), before)
    {
        return 0;
    }
    let all = set_of(&candidates);
    let counts = |single: &&Single| {
        let without = all & !single.set();
        let walls = players.wall(before | without).zip(players.wall(before | all));
        walls.is_none_or(|(without, with)| with - without > SAME_TIME)
    };
    let needed: u64 = candidates.iter().filter(counts).map(Single::set).sum();
    // If removing only a part of them is enough but it is not known which part, take all.
    if players.gains(before | needed, before) { needed } else { all }
}

/// The troubles that share in all orders: the measured ones, and the largest of the replayed ones. Those that did not occur
/// share nothing in any order.
fn in_all_orders(players: &Players<'_>, replays: usize, singles: &[Single]) -> Vec<Single> {
    let occurs = |single: &Single| players.occurs(single.place);
    let is_replay = |single: &&Single| players.effects().get(single.place).is_some_and(Effect::is_replay);
    let mut replayed: Vec<Single> = singles.iter().filter(is_replay).copied().filter(occurs).collect();
    let mut exact: Vec<Single> = singles.iter().filter(|single| !is_replay(single)).copied().collect();
    let is_range = |single: &Single| players.effects().get(single.place).is_some_and(Effect::is_range);
    let ends = if replayed.iter().any(is_range) { 2 } else { 1 };
    let affordable = affordable(replays.saturating_sub(players.count()), replayed.len(), ends);
    replayed.sort_by(|one, other| {
        let by = |measure| other.point(measure).total_cmp(&one.point(measure));
        by(Measure::Wall).then(by(Measure::Memory)).then(by(Measure::Cores)).then(one.place.cmp(&other.place))
    });
    exact.truncate(MEASURED);
    exact.extend(replayed.into_iter().take(affordable));
    exact.sort_by_key(|single| single.place);
    exact
}

/// The troubles that are shared out.
struct Game<'g, 'p> {
    players: &'g mut Players<'p>,
    singles: &'g [Single],
    exact: &'g [Single],
    /// Those that save something only together with others.
    joined: u64,
}

impl Game<'_, '_> {
    fn is_exact(&self, single: &Single) -> bool {
        self.exact.iter().any(|exact| exact.place == single.place)
    }

    /// Whether removing it changes anything.
    fn is_effective(&self, single: &Single) -> bool {
        let is_replay = self.players.effects().get(single.place).is_some_and(Effect::is_replay);
        !is_replay || self.players.occurs(single.place)
    }

    /// What a set saves; the most of any of them if they cannot be replayed together.
    fn saved(&mut self, set: u64) -> [Saved; 2] {
        let (players, singles) = (&mut self.players, self.singles);
        players.saved(set).unwrap_or_else(|_| {
            let members = singles.iter().filter(|single| set & single.set() != 0);
            let largest =
                members.max_by(|one, other| one.point(Measure::Wall).total_cmp(&other.point(Measure::Wall)));
            largest.map_or([Saved::default(); 2], |single| single.saved)
        })
    }

    /// What each set of those troubles saves that share in all orders.
    fn table(&mut self) -> Vec<[Saved; 2]> {
        let sets = (0..1_u32 << self.exact.len()).map(|set| {
            let members = (0_u32..).zip(self.exact).filter(|(place, _)| set >> place & 1 == 1);
            members.map(|(_, single)| single.set()).sum()
        });
        sets.collect::<Vec<u64>>().into_iter().map(|set| self.saved(set)).collect()
    }

    /// What is saved with each further trouble, after those that share in all orders.
    fn marginals(&mut self) -> Vec<(usize, [Saved; 2])> {
        let mut set: u64 = self.exact.iter().map(Single::set).sum();
        let later = self.singles.iter().filter(|single| !self.is_exact(single));
        let later: Vec<Single> = later.copied().collect();
        let mut marginals = Vec::new();
        for single in later {
            set |= single.set();
            marginals.push((single.place, self.saved(set)));
        }
        marginals
    }

    /// The part, marked with how its share was computed.
    fn told_of(&self, single: &Single, mut part: Part) -> Part {
        part.in_order = !self.is_exact(single) && self.is_effective(single);
        part.only_together = self.joined & single.set() != 0 && part.share.wall_ms.point > SAME_TIME;
        if part.only_together {
            part.status = SavingStatus::Estimated;
        }
        part
    }

    /// The parts of the troubles, by their place.
    fn parts(mut self, cost: Cost) -> Vec<(usize, Part)> {
        let (table, marginals, singles) = (self.table(), self.marginals(), self.singles);
        let all = self.singles.iter().map(Single::set).sum();
        let error = self.players.error(all).unwrap_or_default();
        let count = u32::try_from(self.exact.len()).unwrap_or_default();
        let shares = Measure::ALL.map(|measure| {
            let ends = [0, 1].map(|end: usize| {
                let of = |ends: &[Saved; 2]| ends.get(end).map_or(0.0, |saved| saved.of(measure));
                let values: Vec<f64> = table.iter().map(of).collect();
                let best = best_of_subsets(&values);
                let in_all_orders = shapley(count, |set| best.get(set as usize).copied().unwrap_or_default());
                let exact = self.exact.iter().map(|single| single.place).zip(in_all_orders);
                let mut so_far = best.last().copied().unwrap_or_default();
                let later = marginals.iter().map(|(place, after)| {
                    let before = so_far;
                    so_far = before.max(of(after));
                    (*place, so_far - before)
                });
                let mut shares: Vec<(usize, f64)> = exact.chain(later).collect();
                shares.sort_by_key(|(place, _)| *place);
                shares.into_iter().map(|(_, share)| share).collect::<Vec<f64>>()
            });
            ranges(&ends, error.of(measure), self.players.most(all, measure))
        });
        let [mut wall, cores, memory] = shares;
        // What was waited has no error, and a share of it is not more than all of it.
        for (single, share) in singles.iter().zip(&mut wall) {
            let most =
                self.players.waited(single.place).map(|waited| single.range(Measure::Wall).within(waited));
            *share = most.map_or(*share, |most| share.within(most.high));
        }
        let shares = wall.into_iter().zip(cores).zip(memory);
        let part = |(single, ((wall, cores), memory)): (&Single, ((Range, Range), Range))| {
            let share = amounts(cost, |measure| match measure {
                Measure::Wall => wall,
                Measure::Cores => cores,
                Measure::Memory => memory,
            });
            let part = single.part(self.players, cost);
            (single.place, self.told_of(single, Part { share, ..part }))
        };
        singles.iter().zip(shares).map(part).collect()
    }
}

/// The most that any subset of each set of troubles saves, by what each set saves. Two remedies may hinder each other:
/// fewer tasks do not help a stage in which one task already has too much data. Then only one of them is applied, so
/// all together never save less than one alone.
fn best_of_subsets(values: &[f64]) -> Vec<f64> {
    let mut best: Vec<f64> = Vec::with_capacity(values.len());
    for (set, value) in values.iter().enumerate() {
        let bits = (0..usize::BITS).map(|bit| 1 << bit).filter(|bit| set & bit != 0);
        let without = bits.filter_map(|bit| best.get(set ^ bit).copied());
        best.push(without.fold(*value, f64::max));
    }
    best
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

fn amounts(cost: Cost, mut of: impl FnMut(Measure) -> Range) -> Amounts {
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
        assert_eq!((allowed(0), allowed(1000), allowed(1_000_000)), (400_000, 400, 8));
        assert_eq!((affordable(1000, 5, 2), affordable(1000, 8, 2), affordable(1000, 0, 1)), (5, 5, 0));
        // The sets of two or more of five are 26; of four, 11 and one with the fifth.
        assert_eq!((affordable(26, 5, 1), affordable(25, 5, 1), affordable(51, 5, 2)), (5, 4, 4));
        assert_eq!((affordable(12, 5, 1), affordable(11, 5, 1)), (4, 3));
        // One after the other in any case.
        assert_eq!((affordable(0, 5, 1), affordable(0, 1, 1)), (1, 1));
    }

    #[test]
    fn remedies_that_hinder_each_other_save_as_much_as_the_better_one() {
        // The first saves 4, the second loses 1; both lose 2.
        let best = best_of_subsets(&[0.0, 4.0, -1.0, -2.0]);
        assert_eq!(best, [0.0, 4.0, 0.0, 4.0]);
        assert_eq!(shapley(2, |set| best[set as usize]), [4.0, 0.0]);
        assert_eq!(best_of_subsets(&[0.0, 4.0, 3.0, 5.0]), [0.0, 4.0, 3.0, 5.0]);
    }

    #[test]
    fn ranges_add_up_and_share_the_error() {
        let near = |one: f64, other: f64| (one - other).abs() < 1e-9;
        // The first saving is certain, except for the error; the second may be zero.
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
