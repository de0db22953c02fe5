//! The memory that remedies take together beyond what was recorded.

use super::Trouble;
use crate::savings::Range;

/// Sets how much more memory the remedy of each trouble takes than the remedies before it take already, and returns the
/// sum. Remedies that change the same setting ask for the same memory, of which the larger one is enough. A remedy that
/// is only advised on a condition changes nothing.
pub(super) fn together(troubles: &mut [Trouble]) -> Option<Range> {
    let mut sum: Option<Range> = None;
    for place in 0..troubles.len() {
        let (before, rest) = troubles.split_at_mut(place);
        let Some(trouble) = rest.first_mut() else { break };
        trouble.savings.more_of_its_own = None;
        if trouble.change.is_empty() {
            continue;
        }
        let Some(more) = trouble.savings.more_gb_hours else { continue };
        let taken = before.iter().filter(|other| changes_the_same(other, trouble));
        let taken = taken.filter_map(|other| other.savings.more_gb_hours);
        let taken = taken.max_by(|a, b| a.point.total_cmp(&b.point)).unwrap_or_default();
        let own = Range {
            low: (more.low - taken.low).max(0.0),
            point: (more.point - taken.point).max(0.0),
            high: (more.high - taken.high).max(0.0),
        };
        trouble.savings.more_of_its_own = Some(own);
        sum = Some(sum.map_or(own, |sum| sum.plus(own)));
    }
    sum
}

fn changes_the_same(one: &Trouble, other: &Trouble) -> bool {
    one.change.iter().any(|change| other.change.iter().any(|it| it.setting == change.setting))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_that_two_remedies_ask_for_counts_once() {
        let trouble = |setting: &str, more: f64| {
            let mut trouble = Trouble::named(setting);
            trouble.savings.more_gb_hours = Some(Range { low: more, point: more, high: more });
            trouble
        };
        let mut troubles = [trouble("a", 2.0), trouble("b", 1.0), trouble("a", 5.0), trouble("a", 3.0)];
        assert_eq!(together(&mut troubles).map(|more| more.point), Some(6.0));
        let own = troubles.map(|trouble| trouble.savings.more_of_its_own.map(|more| more.point));
        assert_eq!(own, [2.0, 1.0, 3.0, 0.0].map(Some));
        assert_eq!(together(&mut [Trouble::named("a")]), None);
    }

    #[test]
    fn memory_that_is_advised_on_a_condition_does_not_count() {
        let more = Range { low: 1.0, point: 2.0, high: 3.0 };
        let mut trouble = Trouble { change: Vec::new(), ..Trouble::named("a") };
        trouble.savings.more_gb_hours = Some(more);
        trouble.savings.more_of_its_own = Some(more);
        let mut troubles = [trouble];
        assert_eq!(together(&mut troubles), None);
        assert_eq!(troubles[0].savings.more_of_its_own, None);
        assert_eq!(troubles[0].savings.more_gb_hours, Some(more));
    }
}
