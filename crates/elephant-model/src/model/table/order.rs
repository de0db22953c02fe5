//! The order of rows. A log has the starts of tasks that run side by side in any order; sums of floating-point numbers
//! and ties depend on the order of rows, so that it must not come from there.

use super::TaskGroup;

/// The rows in their new order, as they were numbered before.
pub(super) type Order = [usize];

#[doc(hidden)]
impl TaskGroup {
    /// Puts tasks into the order of their numbers, and attempts into that of their ids, or of their tasks and numbers.
    pub fn sort_rows(&mut self) {
        let key = |task: &usize| self.tasks.number(*task);
        if let Some(order) = unless_sorted(self.tasks.len(), key) {
            self.attempts.rename_tasks(&places(&order));
            self.tasks.reorder(&order);
        }
        let attempts = &self.attempts;
        let key = |row: &usize| (attempts.id(*row), attempts.task(*row), attempts.number(*row));
        if let Some(order) = unless_sorted(attempts.len(), key) {
            let places = places(&order);
            self.tasks.rename_representatives(&places);
            self.attempts.reorder(&order, &places);
        }
    }
}

/// The stable order of `count` rows by `key`; `None` if they are in it.
fn unless_sorted<K: Ord>(count: usize, key: impl Fn(&usize) -> K) -> Option<Vec<usize>> {
    if (0..count).is_sorted_by_key(|row| key(&row)) {
        return None;
    }
    let mut order: Vec<usize> = (0..count).collect();
    order.sort_by_key(key);
    Some(order)
}

/// The new place of each row.
fn places(order: &Order) -> Vec<usize> {
    let mut places = vec![0; order.len()];
    for (place, &row) in order.iter().enumerate() {
        if let Some(slot) = places.get_mut(row) {
            *slot = place;
        }
    }
    places
}

#[cfg(test)]
mod tests {
    use crate::model::counters::{Counter, CounterSet};
    use crate::model::table::{Outcome, TaskGroup, TaskKind, TimePoint};
    use crate::model::{Interner, ProgressSplits};
    use elephant_base::units::Timestamp;
    use proptest::prelude::*;

    /// A group with the attempts `id % 7` of the tasks `id / 7`, in this order, or with ids.
    fn group(ids: &[u32], with_ids: bool, strings: &mut Interner) -> TaskGroup {
        let mut group = TaskGroup::new(TaskKind::Map);
        for &id in ids {
            let (number, attempt) = (id / 7, id % 7);
            let known = (0..group.tasks.len()).find(|&task| group.tasks.number(task) == Some(number));
            let task = known.unwrap_or_else(|| {
                let task = group.tasks.push(number);
                group.tasks.set_start(task, Some(Timestamp::from_millis(number.into())));
                task
            });
            let row = group.attempts.push(u32::try_from(task).unwrap(), attempt);
            let attempts = &mut group.attempts;
            attempts.set_id(row, Some(u64::from(id)).filter(|_| with_ids));
            attempts.set_nanos(row, Counter::CpuMilliseconds, i64::from(id) * 1_234_567);
            attempts.set_time(row, TimePoint::Start, Some(Timestamp::from_millis(i64::from(id) * 10)));
            if id.is_multiple_of(2) {
                attempts.set_outcome(row, Outcome::Failed);
                attempts.set_diagnostics(row, strings.intern(&format!("d{id}")).unwrap());
                attempts.mark_unreadable(row, Counter::GcTimeMillis);
            } else {
                attempts.set_outcome(row, Outcome::Succeeded);
                if attempt == 1 {
                    group.tasks.set_representative(task, Some(row));
                }
                let clock_ms = vec![i32::try_from(id).unwrap()];
                attempts.set_progress(row, &ProgressSplits { clock_ms, ..ProgressSplits::default() });
            }
            attempts.set_counters(row, &CounterSet::default());
        }
        group.sort_rows();
        group
    }

    /// All that a group says, with names for rows and symbols.
    fn told(group: &TaskGroup, strings: &Interner) -> Vec<String> {
        let TaskGroup { tasks, attempts, .. } = group;
        let task = |row| (tasks.number(row), tasks.start(row));
        let mut told: Vec<String> = (0..tasks.len())
            .map(|row| {
                let best = tasks.representative(row).map(|row| attempts.time(row, TimePoint::Start));
                format!("{:?} {best:?}", task(row))
            })
            .collect();
        let attempt = |row: usize| {
            let diagnostics = attempts.diagnostics().iter().filter(|it| it.0 as usize == row);
            let diagnostics: Vec<_> = diagnostics.map(|it| strings.get(it.1)).collect();
            let cpu = attempts.nanos(row, Counter::CpuMilliseconds);
            let unreadable = attempts.unreadable(row).has(Counter::GcTimeMillis);
            let (start, outcome) = (attempts.time(row, TimePoint::Start), attempts.outcome(row));
            let (task, progress) = (attempts.task(row).map(task), attempts.progress(row));
            format!("{task:?} {start:?} {outcome:?} {cpu:?} {unreadable} {diagnostics:?} {progress:?}")
        };
        told.extend((0..attempts.len()).map(attempt));
        told
    }

    proptest! {
        #[test]
        fn rows_do_not_depend_on_the_order_of_events(
            ids in prop::collection::btree_set(0..120_u32, 1..30), order in any::<u64>(), with_ids in any::<bool>(),
        ) {
            let sorted: Vec<u32> = ids.into_iter().collect();
            let mut mixed = sorted.clone();
            mixed.sort_by_key(|&id| u64::from(id + 1).wrapping_mul(order | 1).rotate_left(17));
            let (mut strings, mut others) = (Interner::default(), Interner::default());
            let (one, other) = (group(&sorted, with_ids, &mut strings), group(&mixed, with_ids, &mut others));
            prop_assert_eq!(told(&one, &strings), told(&other, &others));
        }
    }
}
