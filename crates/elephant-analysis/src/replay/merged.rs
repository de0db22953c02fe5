//! Other numbers of tasks that do the same work.

/// The work of each of `count` tasks that do `works` together. Merging does not split a task, so tasks that are longer
/// than an even part keep their work and their place in the order: fewer tasks do not remove skew. The others are all
/// equal.
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

/// The time of `count` tasks, at least as many as there are, that share work evenly. Each of `tasks` is its work, and
/// the additional time by which something slowed it down. That time is not work, so a single task keeps it.
#[must_use]
pub(super) fn spread(tasks: &[(f64, f64)], count: usize) -> Vec<f64> {
    let even = tasks.iter().map(|(work, _)| work).sum::<f64>() / count.max(1) as f64;
    let mut parts = vec![even; count];
    for (number, (_, slowed)) in tasks.iter().enumerate() {
        // The task in the same place of the order.
        if let Some(part) = parts.get_mut(number * count / tasks.len().max(1)) {
            *part += slowed;
        }
    }
    parts
}

/// How large each of `count` tasks is, at least as many as there are, in multiples of their mean, if they are as uneven as
/// tasks of these sizes.
#[must_use]
pub(super) fn as_uneven(sizes: &[f64], count: usize) -> Vec<f64> {
    let size = |number: usize| sizes.get(number * sizes.len() / count.max(1)).copied().unwrap_or_default();
    let all: f64 = (0..count).map(size).sum();
    let share = |number| if all > 0.0 { size(number) * count as f64 / all } else { 1.0 };
    (0..count).map(share).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_tasks_are_as_uneven() {
        assert_eq!(as_uneven(&[1.0, 3.0], 4), [0.5, 0.5, 1.5, 1.5]);
        assert_eq!(as_uneven(&[7.0], 3), [1.0; 3]);
        assert_eq!(as_uneven(&[0.0, 0.0], 2), [1.0; 2]);
        assert_eq!(as_uneven(&[], 2), [1.0; 2]);
        assert!(as_uneven(&[1.0], 0).is_empty());
    }

    #[test]
    fn what_slowed_a_task_down_is_not_shared() {
        assert_eq!(spread(&[(4.0, 0.0), (4.0, 9.0)], 4), [2.0, 2.0, 11.0, 2.0]);
        assert_eq!(spread(&[(6.0, 0.0)], 3), [2.0; 3]);
        assert!(spread(&[], 0).is_empty());
    }

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
