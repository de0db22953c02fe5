//! Fewer tasks that do the work of many.

/// The work of `count` tasks that do `works` together. Merging does not split a task, so those that are longer than an even
/// part stay as they are, and where they are in the order: fewer tasks do not remove skew. The others are alike.
#[must_use]
pub(super) fn merged(works: &[f64], count: usize) -> Vec<f64> {
    let mut longest: Vec<(usize, f64)> = works.iter().copied().enumerate().collect();
    longest.sort_unstable_by(|(_, a), (_, b)| b.total_cmp(a));
    let mut left: f64 = works.iter().sum();
    let mut parts: Vec<(f64, f64)> = Vec::with_capacity(count);
    let place = |number: usize, of: usize| (number as f64 + 0.5) / of.max(1) as f64;
    for (number, work) in longest {
        let others = count - parts.len();
        if others <= 1 || work * others as f64 <= left {
            break;
        }
        parts.push((place(number, works.len()), work));
        left -= work;
    }
    let others = count - parts.len();
    let even = left.max(0.0) / others.max(1) as f64;
    parts.extend((0..others).map(|number| (place(number, others), even)));
    parts.sort_by(|(a, _), (b, _)| a.total_cmp(b));
    parts.into_iter().map(|(_, work)| work).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_tasks_stay_as_they_are() {
        assert_eq!(merged(&[1.0; 12], 3), [4.0; 3]);
        assert_eq!(merged(&[30.0, 1.0, 1.0, 1.0, 1.0], 3), [30.0, 2.0, 2.0]);
        assert_eq!(merged(&[1.0, 1.0, 1.0, 1.0, 30.0], 3), [2.0, 2.0, 30.0]);
        assert_eq!(merged(&[8.0, 9.0], 1), [17.0]);
        assert_eq!(merged(&[9.0, 8.0], 2), [9.0, 8.0]);
        assert!(merged(&[1.0], 0).is_empty());
    }
}
