//! The part of a plan that is drawn: without operators that only wrap others, and with a bounded number of the others.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

use crate::summary::OperatorSummary;
use elephant_base::state::State;
use elephant_base::units::Millis;

/// The operators of a plan that are drawn.
#[derive(Debug, Clone, PartialEq, Default, State)]
pub struct Drawn {
    /// Parents before children, siblings in the order of the plan.
    pub operators: Vec<DrawnOperator>,
    /// Operators that were left out because they only wrap others, or stand for another part of the plan.
    pub folded: u64,
    /// Operators that were left out because there are too many: those below which least time was spent.
    pub left_out: u64,
    /// Operators that adaptive execution replaced after they ran, and those of subqueries that the plan does not contain.
    pub others: Vec<OperatorSummary>,
}

/// An operator that is drawn.
#[derive(Debug, Clone, PartialEq, State)]
pub struct DrawnOperator {
    /// The operator.
    pub operator: OperatorSummary,
    /// The operator that takes its rows, as an index into [`Drawn::operators`].
    pub feeds: Option<usize>,
    /// Others that use its rows again.
    pub feeds_again: Vec<usize>,
    /// How many operators that feed it, directly or not, were left out.
    pub left_out_below: u64,
}

/// The operators that may be drawn, and their children, by place among all of them.
struct Kept {
    /// The nearest operator above each that is kept, and whether it is kept itself.
    of: Vec<(Option<usize>, bool)>,
    children: BTreeMap<usize, Vec<usize>>,
    roots: Vec<usize>,
}

impl Drawn {
    /// At most `most` of the operators of a query, which stand in their places.
    #[must_use]
    pub fn of(operators: &[OperatorSummary], most: usize) -> Self {
        let kept = Kept::of(operators);
        let below = kept.below(operators);
        let chosen = kept.chosen(&below, most);
        let places: BTreeMap<usize, usize> =
            chosen.iter().enumerate().map(|(drawn, &place)| (place, drawn)).collect();
        let mut drawn: Vec<DrawnOperator> = Vec::with_capacity(chosen.len());
        for &place in &chosen {
            let Some(operator) = operators.get(place) else { continue };
            let feeds = kept.above(place).and_then(|above| places.get(&above).copied());
            drawn.push(DrawnOperator {
                operator: operator.clone(),
                feeds,
                feeds_again: Vec::new(),
                left_out_below: kept.left_out_below(place, &places, &below),
            });
        }
        for (place, operator) in operators.iter().enumerate() {
            // The topmost operator of each repeated part says who takes its rows.
            let parent = operator.parent.and_then(|parent| operators.get(parent as usize));
            let is_top = operator.repeats.is_some() && parent.is_none_or(|parent| parent.repeats.is_none());
            let original = operator.repeats.filter(|_| is_top).and_then(|it| places.get(&(it as usize)));
            let taker = kept.above(place).and_then(|above| places.get(&above).copied());
            if let (Some(original), Some(taker)) = (original.and_then(|&it| drawn.get_mut(it)), taker) {
                original.feeds_again.push(taker);
            }
        }
        let last = operators.iter().filter(|operator| operator.is_last).count() as u64;
        let all = kept.of.iter().filter(|(_, is_kept)| *is_kept).count() as u64;
        let others = operators.iter().filter(|operator| !operator.is_last && !operator.only_refers);
        Self {
            folded: last.saturating_sub(all),
            left_out: all.saturating_sub(drawn.len() as u64),
            operators: drawn,
            others: others.take(most).cloned().collect(),
        }
    }
}

impl Kept {
    fn of(operators: &[OperatorSummary]) -> Self {
        let mut of: Vec<(Option<usize>, bool)> = Vec::with_capacity(operators.len());
        let mut children: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        let mut roots = Vec::new();
        for (place, operator) in operators.iter().enumerate() {
            // Parents come before their children; a place that is not there yet is no parent.
            let parent = operator.parent.map(|parent| parent as usize).filter(|parent| *parent < place);
            let above = parent.and_then(|parent| match of.get(parent)? {
                (_, true) => Some(parent),
                (above, false) => *above,
            });
            let is_kept = operator.is_last && !operator.only_refers && operator.repeats.is_none();
            of.push((above, is_kept));
            match above {
                _ if !is_kept => {}
                Some(above) => children.entry(above).or_default().push(place),
                None => roots.push(place),
            }
        }
        Self { of, children, roots }
    }

    fn above(&self, place: usize) -> Option<usize> {
        self.of.get(place).and_then(|(above, _)| *above)
    }

    /// The time and the number of each operator that is kept, with all that feed it.
    fn below(&self, operators: &[OperatorSummary]) -> Vec<(Millis, u64)> {
        let mut below = vec![(Millis::ZERO, 0); operators.len()];
        for (place, operator) in operators.iter().enumerate().rev() {
            let Some(&(above, true)) = self.of.get(place) else { continue };
            let (fed, count) = below.get(place).copied().unwrap_or_default();
            let own = (fed + operator.time.unwrap_or_default(), count + 1);
            if let Some(slot) = below.get_mut(place) {
                *slot = own;
            }
            if let Some(slot) = above.and_then(|above| below.get_mut(above)) {
                *slot = (slot.0 + own.0, slot.1 + own.1);
            }
        }
        below
    }

    /// The places of at most `most` operators, each with the one above it: first those below which most time was spent.
    fn chosen(&self, below: &[(Millis, u64)], most: usize) -> Vec<usize> {
        let rank = |place: usize| (below.get(place).map(|(time, _)| *time), Reverse(place));
        let mut open: BinaryHeap<(Option<Millis>, Reverse<usize>)> =
            self.roots.iter().map(|&root| rank(root)).collect();
        let mut chosen = Vec::new();
        while let Some((_, Reverse(place))) = open.pop().filter(|_| chosen.len() < most) {
            chosen.push(place);
            open.extend(self.children.get(&place).into_iter().flatten().map(|&child| rank(child)));
        }
        chosen.sort_unstable();
        chosen
    }

    fn left_out_below(&self, place: usize, chosen: &BTreeMap<usize, usize>, below: &[(Millis, u64)]) -> u64 {
        let children = self.children.get(&place).into_iter().flatten();
        let left_out = children.filter(|child| !chosen.contains_key(child));
        left_out.filter_map(|&child| below.get(child)).map(|(_, count)| *count).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn operator(place: u32, parent: Option<u32>, name: &str) -> OperatorSummary {
        OperatorSummary { parent, only_refers: name == "InputAdapter", ..OperatorSummary::named(place, name) }
    }

    fn names(drawn: &Drawn) -> Vec<(&str, Option<usize>)> {
        drawn.operators.iter().map(|it| (it.operator.name.as_str(), it.feeds)).collect()
    }

    #[test]
    fn wrappers_are_folded_and_their_children_stay_connected() {
        let plan = [
            operator(0, None, "InputAdapter"),
            operator(1, Some(0), "Join"),
            operator(2, Some(1), "InputAdapter"),
            operator(3, Some(2), "InputAdapter"),
            operator(4, Some(3), "Scan"),
            operator(5, Some(1), "Range"),
        ];
        let drawn = Drawn::of(&plan, 500);
        assert_eq!(names(&drawn), [("Join", None), ("Scan", Some(0)), ("Range", Some(0))]);
        assert_eq!((drawn.folded, drawn.left_out), (3, 0));
    }

    #[test]
    fn a_reused_exchange_is_drawn_once_and_feeds_several() {
        let copy =
            |place, parent| OperatorSummary { repeats: Some(1), ..operator(place, Some(parent), "Exchange") };
        let plan = [
            operator(0, None, "Join"),
            operator(1, Some(0), "Exchange"),
            operator(2, Some(1), "Scan"),
            operator(3, Some(0), "Sort"),
            operator(4, Some(3), "InputAdapter"),
            copy(5, 4),
            copy(6, 5),
        ];
        let drawn = Drawn::of(&plan, 500);
        assert_eq!(
            names(&drawn),
            [("Join", None), ("Exchange", Some(0)), ("Scan", Some(1)), ("Sort", Some(0))]
        );
        assert_eq!(drawn.operators[1].feeds_again, [3]);
        assert_eq!(drawn.folded, 3);
    }

    #[test]
    fn of_too_many_operators_those_stay_below_which_time_was_spent() {
        let timed = |place, parent, time| OperatorSummary {
            time: Some(Millis::new(time)),
            ..operator(place, parent, "Sort")
        };
        let plan = [
            timed(0, None, 1),
            timed(1, Some(0), 0),
            timed(2, Some(1), 3),
            timed(3, Some(0), 0),
            timed(4, Some(3), 900),
        ];
        let drawn = Drawn::of(&plan, 3);
        let places: Vec<u32> = drawn.operators.iter().map(|it| it.operator.place).collect();
        assert_eq!(places, [0, 3, 4]);
        assert_eq!((drawn.left_out, drawn.operators[0].left_out_below), (2, 2));
    }

    #[test]
    fn replaced_operators_are_not_part_of_the_tree() {
        let plan = [
            operator(0, None, "Scan"),
            OperatorSummary { is_last: false, ..operator(1, None, "Exchange") },
            // A damaged plan.
            operator(2, Some(9), "Sort"),
        ];
        let drawn = Drawn::of(&plan, 500);
        assert_eq!(names(&drawn), [("Scan", None), ("Sort", None)]);
        assert_eq!(drawn.others.len(), 1);
        assert_eq!(Drawn::of(&[], 500), Drawn::default());
    }
}
