//! Walks back from the end of a run to its start.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use elephant_base::units::{Millis, Timestamp};

/// When something ran.
#[derive(Debug, Clone)]
pub(super) struct Span<T> {
    pub(super) from: Timestamp,
    pub(super) until: Timestamp,
    pub(super) of: T,
}

/// The time of a run by what its end waited for.
#[derive(Debug, PartialEq)]
pub(super) struct Walked<T> {
    pub(super) phases: BTreeMap<T, Millis>,
    /// The time in which nothing ran.
    pub(super) idle: Millis,
    /// The part of it before anything ran.
    pub(super) before: Millis,
    /// The part of it after all ran.
    pub(super) after: Millis,
}

/// Each moment between `from` and `to` belongs to one span, or to none. What ran outside of this time does not count.
pub(super) fn walk<T: Ord + Clone>(spans: &[Span<T>], from: Timestamp, to: Timestamp) -> Walked<T> {
    let mut walked =
        Walked { phases: BTreeMap::new(), idle: Millis::ZERO, before: Millis::ZERO, after: Millis::ZERO };
    let inside = spans.iter().filter(|span| span.from < to && span.until > from && span.from < span.until);
    let mut latest_first: Vec<(Timestamp, Timestamp, &T)> =
        inside.map(|span| (span.from.max(from), span.until.min(to), &span.of)).collect();
    latest_first.sort_unstable_by_key(|&(start, until, of)| (Reverse(until), start, of));
    let mut at = to;
    let mut rest = latest_first.iter().peekable();
    while at > from {
        // Of all that runs just before this moment, what started first.
        let mut first: Option<(Timestamp, &T)> = None;
        while let Some(&&(start, _, of)) = rest.peek().filter(|(_, until, _)| *until >= at) {
            rest.next();
            first = [first, Some((start, of))].into_iter().flatten().min();
        }
        match (first.filter(|(start, _)| *start < at), rest.peek()) {
            (Some((start, of)), _) => {
                let time = walked.phases.entry(of.clone()).or_default();
                *time = *time + between(start, at);
                at = start;
            }
            (None, next) => {
                let until = next.map_or(from, |(_, until, _)| *until);
                let idle = between(until, at);
                walked.idle = walked.idle + idle;
                if next.is_none() {
                    walked.before = idle;
                } else if at == to {
                    walked.after = idle;
                }
                at = until;
            }
        }
    }
    walked
}

fn between(from: Timestamp, to: Timestamp) -> Millis {
    Millis::between(from, to).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn at(ms: i64) -> Timestamp {
        Timestamp::from_millis(ms)
    }

    fn walked(spans: &[(i64, i64)]) -> (Vec<(usize, u64)>, u64) {
        let spans: Vec<_> = (spans.iter().enumerate())
            .map(|(of, &(from, until))| Span { from: at(from), until: at(until), of })
            .collect();
        let Walked { phases, idle, .. } = walk(&spans, at(0), at(100));
        (phases.into_iter().map(|(of, time)| (of, time.get())).collect(), idle.get())
    }

    #[test]
    fn time_belongs_to_what_the_end_waited_for() {
        assert_eq!(walked(&[]), (vec![], 100));
        assert_eq!(walked(&[(0, 40), (40, 90)]), (vec![(0, 40), (1, 50)], 10));
        // The second ends before what follows it, the first does not.
        assert_eq!(walked(&[(10, 70), (10, 30), (70, 100)]), (vec![(0, 60), (2, 30)], 10));
        assert_eq!(walked(&[(0, 100), (20, 100), (50, 60)]), (vec![(0, 100)], 0));
        // Clocks: outside of the run, and an end before the start.
        assert_eq!(walked(&[(-50, 20), (90, 900), (60, 50)]), (vec![(0, 20), (1, 10)], 70));
    }

    proptest! {
        #[test]
        fn the_parts_add_up(spans in prop::collection::vec((-20..120_i64, -20..120_i64), 0..12)) {
            let (phases, idle) = walked(&spans);
            prop_assert_eq!(phases.iter().map(|(_, time)| time).sum::<u64>() + idle, 100);
            // A second computation: the moments in which something runs.
            let runs = |moment: i64| spans.iter().any(|&(from, until)| from <= moment && moment < until);
            prop_assert_eq!(idle, (0..100).filter(|moment| !runs(*moment)).count() as u64);
            for (of, time) in phases {
                let (from, until) = spans[of];
                prop_assert!(time <= until.abs_diff(from));
            }
        }
    }
}
