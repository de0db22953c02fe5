//! Performance levels of nodes from their intervals: the P-cores of S1 (section III E), after Batagelj and
//! Zaveršnik, "Generalized cores".

use std::cmp::Reverse;

/// An interval `[low, high]` of normalised task times; higher is slower.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Interval {
    /// The lower end, `A` in S1.
    pub low: f64,
    /// The upper end, `B` in S1.
    pub high: f64,
}

/// The level of each interval, 0 for the worst.
///
/// An interval is worse than another if it lies entirely above it, `A_j > B_i`. No interval is worse than
/// those of level 0. For each next level, only intervals of earlier levels are worse. Every interval with `B`
/// at or above the greatest remaining `A` has no worse one, so each level is a contiguous range of the
/// intervals sorted by `B`: O(n log n) for sorting and O(n) for the levels.
#[must_use]
pub fn levels(intervals: &[Interval]) -> Vec<u32> {
    let mut by_high: Vec<usize> = (0..intervals.len()).collect();
    let key = |value: Option<f64>| Reverse(TotalOrder(value.unwrap_or(f64::NEG_INFINITY)));
    by_high.sort_by_key(|&node| key(intervals.get(node).map(|interval| interval.high)));
    let mut by_low: Vec<usize> = (0..intervals.len()).collect();
    by_low.sort_by_key(|&node| key(intervals.get(node).map(|interval| interval.low)));

    let mut assigned: Vec<Option<u32>> = vec![None; intervals.len()];
    let mut waiting = by_high.into_iter().peekable();
    let mut worst = by_low.into_iter().peekable();
    let mut level = 0;
    while waiting.peek().is_some() {
        while worst.next_if(|&node| assigned.get(node).is_some_and(Option::is_some)).is_some() {}
        let greatest =
            worst.peek().and_then(|&node| intervals.get(node)).map_or(f64::NEG_INFINITY, |i| i.low);
        let mut any = false;
        while let Some(node) =
            waiting.next_if(|&node| !intervals.get(node).is_some_and(|interval| interval.high < greatest))
        {
            if let Some(slot) = assigned.get_mut(node) {
                *slot = Some(level);
            }
            any = true;
        }
        // An interval with swapped ends would otherwise never be assigned.
        if !any
            && let Some(node) = waiting.next()
            && let Some(slot) = assigned.get_mut(node)
        {
            *slot = Some(level);
        }
        level += 1;
    }
    assigned.into_iter().map(Option::unwrap_or_default).collect()
}

/// Doubles in the order of `total_cmp`.
#[derive(Debug, Clone, Copy)]
struct TotalOrder(f64);

impl PartialEq for TotalOrder {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for TotalOrder {}

impl PartialOrd for TotalOrder {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for TotalOrder {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.0.total_cmp(&other.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn of(pairs: &[(f64, f64)]) -> Vec<u32> {
        let intervals: Vec<Interval> = pairs.iter().map(|&(low, high)| Interval { low, high }).collect();
        levels(&intervals)
    }

    /// The procedure of S1, literally: repeatedly remove the nodes without an outward edge.
    fn peeled(intervals: &[Interval]) -> Vec<u32> {
        let mut left: Vec<usize> = (0..intervals.len()).collect();
        let mut found = vec![0; intervals.len()];
        let mut level = 0;
        while !left.is_empty() {
            let worse = |node: usize| left.iter().any(|&other| intervals[other].low > intervals[node].high);
            let (stay, go): (Vec<usize>, Vec<usize>) = left.iter().partition(|&&node| worse(node));
            for &node in &go {
                found[node] = level;
            }
            left = stay;
            level += 1;
        }
        found
    }

    #[test]
    fn touching_intervals_are_not_worse() {
        assert!(of(&[]).is_empty());
        assert_eq!(of(&[(0.0, 1.0), (1.0, 2.0)]), [0, 0]);
        assert_eq!(of(&[(0.0, 1.0), (1.5, 2.0)]), [1, 0]);
        assert_eq!(of(&[(0.0, 0.0), (0.0, 0.0), (1.0, 1.0)]), [1, 1, 0]);
    }

    #[test]
    fn swapped_or_nan_ends_terminate() {
        assert_eq!(of(&[(2.0, 1.0), (0.0, 0.5)]).len(), 2);
        assert_eq!(of(&[(f64::NAN, f64::NAN), (0.0, 1.0)]).len(), 2);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(1000))]

        #[test]
        fn the_sweep_matches_the_literal_procedure(
            ends in prop::collection::vec((-20i32..20, 0i32..8), 0..60),
        ) {
            let interval = |&(low, width): &(i32, i32)| Interval {
                low: f64::from(low) / 10.0,
                high: f64::from(low + width) / 10.0,
            };
            let intervals: Vec<Interval> = ends.iter().map(interval).collect();
            prop_assert_eq!(levels(&intervals), peeled(&intervals));
        }
    }
}
