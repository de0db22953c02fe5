//! The cost of runs with one configuration before and after it changed.
//!
//! A job's cost changes with its data, too. So it is compared for each byte read, if that varies less from run to run. And
//! a cost that changed at another time than the configuration did is no effect of it: the runs with each configuration are
//! split where their level changed, as often as it did, and only the levels next to the change are compared.

use super::steps::MeasuredRun;
use elephant_base::stats::change_point::change_point;
use elephant_base::stats::descriptive::{mean, median};
use elephant_base::stats::rank_sum::rank_sum;

/// Runs that are needed on both sides of a change. A single run may have been slow by chance.
pub(super) const LEAST_RUNS: usize = 3;
/// The last runs before a change that are compared with those after it.
pub(super) const MOST_BEFORE: usize = 20;
/// Smaller changes of the cost are within the variation from run to run.
const SMALLEST_CHANGE: f64 = 0.1;
/// A change is one if it is less likely by chance.
const CHANCE: f64 = 0.05;
/// The runs next to a change that must show it themselves: a cost that changed later is no effect of it.
const NEXT_TO_IT: usize = 5;

/// How much the runs next to a change took.
#[derive(Debug, Clone)]
pub(super) struct Effect<'r> {
    /// The runs that are compared.
    pub(super) before: &'r [&'r MeasuredRun],
    pub(super) after: &'r [&'r MeasuredRun],
    pub(super) basis: Basis,
    /// The probability of such a difference by chance.
    pub(super) p: f64,
}

/// What costs are compared for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Basis {
    /// A run.
    Run,
    /// A byte that a run reads.
    Byte,
}

impl Basis {
    /// The basis on which the cost of runs with the same configuration varies less.
    fn of(sections: [&[&MeasuredRun]; 2]) -> Self {
        let is_known = sections.iter().all(|runs| runs.iter().all(|run| Self::Byte.size(run).is_some()));
        let spread = |basis: Self| {
            let deviations = sections.iter().flat_map(|runs| {
                let costs: Vec<f64> = runs.iter().filter_map(|run| basis.cost(run)).collect();
                let middle = median(&costs).filter(|&middle| middle > 0.0);
                costs.into_iter().filter_map(move |cost| middle.map(|middle| (cost - middle).abs() / middle))
            });
            mean(&deviations.collect::<Vec<f64>>()).unwrap_or(0.0)
        };
        if is_known && spread(Self::Byte) <= spread(Self::Run) { Self::Byte } else { Self::Run }
    }

    /// How many of it a run has.
    pub(super) fn size(self, run: &MeasuredRun) -> Option<f64> {
        match self {
            Self::Run => Some(1.0),
            Self::Byte => run.input.filter(|&bytes| bytes > 0.0),
        }
    }

    fn cost(self, run: &MeasuredRun) -> Option<f64> {
        Some(run.used_gb_hours / self.size(run)?)
    }

    /// The medians of a value before and after, for each of it.
    pub(super) fn medians(
        self,
        (before, after): (&[&MeasuredRun], &[&MeasuredRun]),
        value: impl Fn(&MeasuredRun) -> Option<f64>,
    ) -> Option<(f64, f64)> {
        let of = |runs: &[&MeasuredRun]| {
            let values = runs.iter().filter_map(|run| Some(value(run)? / self.size(run)?));
            median(&values.collect::<Vec<f64>>())
        };
        Some((of(before)?, of(after)?))
    }
}

/// The effect of a change from the configuration of one section to that of the next, if there is one.
pub(super) fn effect<'r>(before: &'r [&'r MeasuredRun], after: &'r [&'r MeasuredRun]) -> Option<Effect<'r>> {
    let basis = Basis::of([before, after]);
    let costs = |runs: &[&MeasuredRun]| runs.iter().filter_map(|run| basis.cost(run)).collect::<Vec<f64>>();
    let (before, after) = {
        let last = starts_of_levels(&costs(before)).into_iter().max().unwrap_or(0);
        let first = starts_of_levels(&costs(after)).into_iter().min().unwrap_or(after.len());
        let (_, before) = before.split_at_checked(last.max(before.len().saturating_sub(MOST_BEFORE)))?;
        let (after, _) = after.split_at_checked(first)?;
        (before, after)
    };
    let (old, new) = (costs(before), costs(after));
    let (usual, now) = (median(&old)?, median(&new)?);
    if old.len().min(new.len()) < LEAST_RUNS || !differ(usual, now) {
        return None;
    }
    // The runs next to the change are on the side of the middle that theirs is.
    let middle = f64::midpoint(usual, now);
    let (_, last) = old.split_at_checked(old.len().saturating_sub(NEXT_TO_IT))?;
    let (first, _) = new.split_at_checked(new.len().min(NEXT_TO_IT))?;
    let is_below = usual < middle;
    let are_apart = (median(last)? < middle) == is_below && (median(first)? < middle) != is_below;
    let p = rank_sum(&old, &new)?;
    (are_apart && p < CHANCE).then_some(Effect { before, after, basis, p })
}

/// Where the level of a series changed: the first value of each level but the first one.
fn starts_of_levels(series: &[f64]) -> Vec<usize> {
    let (mut starts, mut parts) = (Vec::new(), vec![(0, series)]);
    while let Some((from, part)) = parts.pop() {
        let clear =
            change_point(part).filter(|change| change.p < CHANCE && differ(change.before, change.after));
        let Some(change) = clear.filter(|it| it.at.min(part.len() - it.at) >= LEAST_RUNS) else { continue };
        let Some((before, after)) = part.split_at_checked(change.at) else { continue };
        starts.push(from + change.at);
        parts.extend([(from, before), (from + change.at, after)]);
    }
    starts
}

/// Whether a change is larger than the variation from run to run.
fn differ(before: f64, after: f64) -> bool {
    (before - after).abs() >= SMALLEST_CHANGE * before.max(after)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_series_is_split_as_often_as_its_level_changed() {
        let level = |value: f64, runs: u8| (0..runs).map(move |run| value + f64::from(run % 3));
        let series: Vec<f64> = level(100.0, 15).chain(level(60.0, 15)).chain(level(30.0, 15)).collect();
        let mut starts = starts_of_levels(&series);
        starts.sort_unstable();
        assert_eq!(starts, [15, 30]);
        assert_eq!(starts_of_levels(&[5.0; 40]), Vec::<usize>::new());
    }
}
