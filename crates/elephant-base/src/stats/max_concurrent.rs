//! The maximum number of concurrent spans.

use crate::units::Timestamp;

/// The maximum number of spans that overlap at any moment. A span without an end never ends. A span that
/// starts when another ends does not overlap it.
pub fn max_concurrent(spans: impl Iterator<Item = (Timestamp, Option<Timestamp>)>) -> u64 {
    let mut changes: Vec<(Timestamp, i64)> = Vec::new();
    for (begin, end) in spans {
        changes.push((begin, 1));
        changes.extend(end.map(|end| (end.max(begin), -1)));
    }
    changes.sort_unstable();
    let there = changes.iter().scan(0i64, |count, (_, change)| {
        *count += change;
        Some(*count)
    });
    there.max().and_then(|most| u64::try_from(most).ok()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn most(spans: &[(i64, Option<i64>)]) -> u64 {
        let moment = Timestamp::from_millis;
        max_concurrent(spans.iter().map(|&(begin, end)| (moment(begin), end.map(moment))))
    }

    #[test]
    fn spans_that_touch_do_not_overlap() {
        assert_eq!(most(&[]), 0);
        assert_eq!(most(&[(0, Some(10)), (10, Some(20)), (20, None)]), 1);
        assert_eq!(most(&[(0, Some(11)), (10, Some(20)), (5, Some(6))]), 2);
        assert_eq!(most(&[(0, None), (5, None), (9, Some(3))]), 2);
    }
}
