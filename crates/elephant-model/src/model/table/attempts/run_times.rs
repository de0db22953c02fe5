//! The run times of attempts, which more rules ask for than for any other value.

use super::super::TimePoint;
use super::Attempts;
use elephant_base::units::Millis;

/// The run times of a table by row.
#[derive(Debug, Clone)]
pub(super) struct RunTimes(Box<[u32]>);

/// An unknown run time, or one of more than 49 days.
const ABSENT: u32 = u32::MAX;

impl RunTimes {
    /// For up to this many rows, the table would take more memory than it saves time.
    pub(super) const TOO_FEW: usize = 8;

    pub(super) fn of(attempts: &Attempts) -> Self {
        let run_time = |row| attempts.span(row, TimePoint::Start, TimePoint::Finish);
        let millis = |row| run_time(row).and_then(|time| u32::try_from(time.get()).ok()).unwrap_or(ABSENT);
        Self((0..attempts.len()).map(millis).collect())
    }

    /// The run time in a row; `None` if it is unknown or too long for this table.
    #[inline]
    pub(super) fn get(&self, row: usize) -> Option<Millis> {
        let millis = *self.0.get(row)?;
        (millis != ABSENT).then(|| Millis::new(u64::from(millis)))
    }

    /// Bytes allocated.
    pub(super) fn held(&self) -> usize {
        size_of_val(&*self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::table::{TaskGroup, TaskKind};
    use elephant_base::units::Timestamp;

    #[test]
    fn run_times_follow_the_times() {
        let mut attempts = TaskGroup::new(TaskKind::Map).attempts;
        let at = |ms| Some(Timestamp::from_millis(ms));
        for row in 0..20 {
            let row = attempts.push(row, 0);
            attempts.set_time(row, TimePoint::Start, at(1000));
            attempts.set_time(row, TimePoint::Finish, at(1000 + 10 * i64::try_from(row).unwrap()));
        }
        attempts.shrink();
        assert!(attempts.rows.run_times.is_some());
        assert_eq!(attempts.run_time(7), Some(Millis::new(70)));
        attempts.set_time(7, TimePoint::Finish, at(3000));
        attempts.set_time(8, TimePoint::Finish, None);
        attempts.set_time(9, TimePoint::Finish, at(999));
        attempts.set_time(10, TimePoint::Finish, at(1000 + (1 << 40)));
        assert!(attempts.rows.run_times.is_none());
        attempts.shrink();
        let run_times =
            |rows: std::ops::Range<usize>| rows.map(|row| attempts.run_time(row)).collect::<Vec<_>>();
        assert_eq!(
            run_times(6..11),
            [Some(60), Some(2000), None, None, Some(1 << 40)].map(|it| it.map(Millis::new))
        );
        assert_eq!(attempts.run_time(20), None);
        attempts.push(20, 0);
        assert_eq!((attempts.run_time(20), attempts.run_time(19)), (None, Some(Millis::new(190))));
    }
}
