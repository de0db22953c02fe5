//! Derives the outcomes of tasks from those of their attempts.

use std::cmp::Reverse;

use elephant_model::model::table::{Outcome, TaskGroup, TimePoint};

/// Sets each task's outcome and representative attempt: the first to succeed, else the last to fail, else the
/// last killed. A task with an open attempt is unfinished unless another attempt succeeded.
pub(super) fn set_outcomes(group: &mut TaskGroup) {
    let attempts = &group.attempts;
    let mut best: Vec<Option<usize>> = vec![None; group.tasks.len()];
    // Rows are in launch order, so among equal attempts the later row is the later attempt.
    let rank = |row: usize| {
        let finish = attempts.time(row, TimePoint::Finish);
        match attempts.outcome(row) {
            Outcome::Succeeded => (3, Reverse(finish), Reverse(row)),
            Outcome::Unfinished => (2, Reverse(None), Reverse(usize::MAX - row)),
            Outcome::Failed => (1, Reverse(None), Reverse(usize::MAX - row)),
            Outcome::Killed => (0, Reverse(None), Reverse(usize::MAX - row)),
        }
    };
    for row in 0..attempts.len() {
        if let Some(slot) = attempts.task(row).and_then(|task| best.get_mut(task))
            && slot.is_none_or(|known| rank(row) > rank(known))
        {
            *slot = Some(row);
        }
    }
    for (task, row) in best.into_iter().enumerate() {
        let outcome = row.map_or(Outcome::Unfinished, |row| group.attempts.outcome(row));
        group.tasks.set_outcome(task, outcome);
        group.tasks.set_representative(task, row.filter(|_| outcome != Outcome::Unfinished));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use elephant_base::units::Timestamp;
    use elephant_model::model::table::TaskKind;

    fn outcomes_of(ends: &[(Outcome, Option<i64>)]) -> (Outcome, Option<usize>) {
        let mut group = TaskGroup::new(TaskKind::Map);
        let task = group.tasks.push(0);
        for (number, (outcome, finish)) in ends.iter().enumerate() {
            let row = group.attempts.push(0, u32::try_from(number).unwrap());
            group.attempts.set_outcome(row, *outcome);
            group.attempts.set_time(row, TimePoint::Finish, finish.map(Timestamp::from_millis));
        }
        set_outcomes(&mut group);
        (group.tasks.outcome(task), group.tasks.representative(task))
    }

    #[test]
    fn the_first_successful_attempt_represents_the_task() {
        use Outcome::{Failed, Killed, Succeeded, Unfinished};
        assert_eq!(
            outcomes_of(&[(Failed, Some(5)), (Succeeded, Some(9)), (Succeeded, Some(7))]),
            (Succeeded, Some(2))
        );
        assert_eq!(outcomes_of(&[(Unfinished, None), (Succeeded, Some(9))]), (Succeeded, Some(1)));
        assert_eq!(
            outcomes_of(&[(Failed, Some(5)), (Failed, Some(6)), (Killed, Some(9))]),
            (Failed, Some(1))
        );
        assert_eq!(outcomes_of(&[(Failed, Some(5)), (Unfinished, None)]), (Unfinished, None));
        assert_eq!(outcomes_of(&[(Killed, Some(5))]), (Killed, Some(0)));
    }
}
