//! Activity of the cluster's own speculation: copies, wins and losses, and the time spent on losing attempts.

use crate::stragglers::executions::AttemptsByTask;
use elephant_base::state::State;
use elephant_base::units::Millis;
use elephant_model::model::table::{Outcome, TaskGroup, TimePoint};

/// Speculative copies of the tasks of one or several groups.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, State)]
#[non_exhaustive]
pub struct Copies {
    /// Copies that were launched.
    pub launched: u64,
    /// Copies that succeeded and became their task's result.
    pub won: u64,
    /// Time of attempts, copies and originals, that were killed because another attempt of their task won.
    pub lost: Millis,
    /// The part of `lost` spent on copies.
    pub lost_by_copies: Millis,
    /// Losing attempts of unknown duration.
    pub unknown_duration: u64,
    /// Time of all attempts, whatever their outcome.
    pub all: Millis,
}

#[doc(hidden)]
impl Copies {
    /// Counts the copies of a group.
    #[must_use]
    pub fn of(group: &TaskGroup) -> Self {
        let attempts = &group.attempts;
        let mut copies = Self::default();
        for row in 0..attempts.len() {
            copies.all = copies.all + attempts.run_time(row).unwrap_or_default();
            copies.launched += u64::from(attempts.is_speculative(row) == Some(true));
        }
        if copies.launched > 0 {
            for (task, rows) in AttemptsByTask::of(group).iter() {
                copies.add_race(group, task, rows);
            }
        }
        copies
    }

    fn add_race(&mut self, group: &TaskGroup, task: usize, rows: impl Iterator<Item = usize> + Clone) {
        let attempts = &group.attempts;
        let is_copy = |row: usize| attempts.is_speculative(row) == Some(true);
        let Some(winner) = group.tasks.representative(task) else { return };
        if attempts.outcome(winner) != Outcome::Succeeded || !rows.clone().any(is_copy) {
            return;
        }
        self.won += u64::from(is_copy(winner));
        let won_at = attempts.time(winner, TimePoint::Finish);
        for row in rows.filter(|&row| row != winner) {
            let end = attempts.time(row, TimePoint::Finish);
            let lost = match attempts.outcome(row) {
                Outcome::Failed => false,
                Outcome::Unfinished => true,
                // An attempt killed long before the winner ended did not lose to it.
                Outcome::Killed | Outcome::Succeeded => end.is_none() || end >= won_at,
            };
            if !lost {
                continue;
            }
            match attempts.run_time(row) {
                Some(time) => {
                    self.lost = self.lost + time;
                    self.lost_by_copies =
                        self.lost_by_copies + if is_copy(row) { time } else { Millis::ZERO };
                }
                None => self.unknown_duration += 1,
            }
        }
    }

    /// The sum of both.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        Self {
            launched: self.launched + other.launched,
            won: self.won + other.won,
            lost: self.lost + other.lost,
            lost_by_copies: self.lost_by_copies + other.lost_by_copies,
            unknown_duration: self.unknown_duration + other.unknown_duration,
            all: self.all + other.all,
        }
    }

    /// Time of losing copies over the time of all attempts (S2 §4); `None` if all attempts together took no
    /// time.
    #[must_use]
    pub fn lost_share(&self) -> Option<f64> {
        (self.all > Millis::ZERO).then(|| self.lost_by_copies.as_f64() / self.all.as_f64())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use elephant_base::units::Timestamp;
    use elephant_model::model::table::TaskKind;

    #[test]
    fn winning_and_losing_attempts_are_counted() {
        let mut group = TaskGroup::new(TaskKind::Map);
        let task = group.tasks.push(0);
        let mut push = |outcome, start: i64, finish: i64, copy| {
            let row = group.attempts.push(0, 0);
            group.attempts.set_outcome(row, outcome);
            group.attempts.set_time(row, TimePoint::Start, Some(Timestamp::from_millis(start)));
            group.attempts.set_time(row, TimePoint::Finish, Some(Timestamp::from_millis(finish)));
            group.attempts.set_speculative(row, Some(copy));
            row
        };
        push(Outcome::Failed, 0, 100, false);
        push(Outcome::Killed, 200, 1200, false);
        let winner = push(Outcome::Succeeded, 700, 1150, true);
        push(Outcome::Killed, 800, 1160, true);
        group.tasks.set_representative(task, Some(winner));
        let copies = Copies::of(&group);
        assert_eq!((copies.launched, copies.won, copies.unknown_duration), (2, 1, 0));
        assert_eq!((copies.lost, copies.lost_by_copies), (Millis::new(1360), Millis::new(360)));
        assert_eq!(copies.lost_share(), Some(360.0 / 1910.0));
        assert_eq!(copies.and(copies).launched, 4);
    }

    #[test]
    fn without_copies_nothing_is_lost() {
        let copies = Copies::of(&TaskGroup::new(TaskKind::Reduce));
        assert_eq!((copies, copies.lost_share()), (Copies::default(), None));
    }
}
