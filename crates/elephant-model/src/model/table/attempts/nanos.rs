//! Counters that Spark logs in nanoseconds: a task often takes less than a millisecond for them, so that sums of
//! milliseconds would lose much of the time.

use super::Attempts;
use crate::model::counters::Counter;

/// Nanoseconds in a millisecond.
#[doc(hidden)]
pub const NANOS_PER_MILLI: i64 = 1_000_000;

/// The counters that Spark logs in nanoseconds.
const IN_NANOS: [Counter; 2] = [Counter::CpuMilliseconds, Counter::ShuffleWriteTime];

/// The number of columns: a column for each counter, and one for the nanoseconds of each of [`IN_NANOS`] that its
/// milliseconds do not contain.
pub(super) const COLUMNS: usize = Counter::COUNT + IN_NANOS.len();

/// The column of the nanoseconds that the milliseconds of a counter do not contain.
#[inline]
fn column(counter: Counter) -> Option<usize> {
    IN_NANOS.iter().position(|&known| known == counter).map(|place| Counter::COUNT + place)
}

/// Half a millisecond, to round.
const HALF: i64 = NANOS_PER_MILLI / 2;

#[doc(hidden)]
impl Attempts {
    /// Sets a counter that the log has in nanoseconds. Its value is the nearest millisecond; sums are rounded once.
    #[inline]
    pub fn set_nanos(&mut self, row: usize, counter: Counter, nanos: i64) {
        if !(0..=super::MAX_COUNTER_VALUE).contains(&nanos) {
            return self.set_counter(row, counter, Some(nanos));
        }
        let millis = (nanos + HALF) / NANOS_PER_MILLI;
        self.set_counter(row, counter, Some(millis));
        self.set_beyond(row, counter, nanos - millis * NANOS_PER_MILLI);
    }

    /// The value of a counter of milliseconds in nanoseconds, as precise as the log has it; `None` if it is negative.
    #[must_use]
    pub fn nanos(&self, row: usize, counter: Counter) -> Option<i128> {
        let millis = i128::from(self.count(row, counter)?);
        let beyond = column(counter).and_then(|column| self.rows.counters.get(column, row));
        Some(millis * i128::from(NANOS_PER_MILLI) + i128::from(beyond.unwrap_or_default()))
    }

    /// Passes nanoseconds of a counter of milliseconds with their rows; those of a row add up to its [`Self::nanos`].
    pub fn each_nanos(&self, counter: Counter, mut take: impl FnMut(usize, i128)) {
        self.each_count(counter, |row, millis| take(row, i128::from(millis) * i128::from(NANOS_PER_MILLI)));
        if let Some(column) = column(counter) {
            self.rows.counters.each(column, |row, nanos| take(row, i128::from(nanos)));
        }
    }

    /// What the nanoseconds beyond the milliseconds of all attempts add up to, to the nearest millisecond.
    pub(super) fn rounded_beyond(&self, counter: Counter) -> i128 {
        let nanos = column(counter).and_then(|column| self.rows.counters.sum(column)).unwrap_or_default();
        (nanos + i128::from(HALF)).div_euclid(i128::from(NANOS_PER_MILLI))
    }

    /// Sets what the milliseconds of a counter do not contain.
    #[inline]
    pub(super) fn set_beyond(&mut self, row: usize, counter: Counter, nanos: i64) {
        if let Some(column) = column(counter) {
            self.rows.counters.set(column, row, Some(nanos).filter(|nanos| *nanos != 0));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::table::{TaskGroup, TaskKind};
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn sums_of_nanoseconds_are_rounded_once(nanos in prop::collection::vec(0..3_000_000_000_000_i64, 1..40)) {
            let mut attempts = TaskGroup::new(TaskKind::Map).attempts;
            for &nanos in &nanos {
                let row = attempts.push(0, 0);
                attempts.set_counter(row, Counter::ShuffleWriteTime, Some(7));
                attempts.set_nanos(row, Counter::ShuffleWriteTime, nanos);
                prop_assert_eq!(attempts.nanos(row, Counter::ShuffleWriteTime), Some(i128::from(nanos)));
                let nearest = (nanos + 500_000) / 1_000_000;
                prop_assert_eq!(attempts.counter(row, Counter::ShuffleWriteTime), Some(nearest));
            }
            let sum = nanos.iter().map(|&nanos| i128::from(nanos)).sum::<i128>();
            prop_assert_eq!(attempts.sum_of_values(Counter::ShuffleWriteTime), Some((sum + 500_000) / 1_000_000));
        }
    }

    #[test]
    fn a_value_in_milliseconds_replaces_one_in_nanoseconds() {
        let mut attempts = TaskGroup::new(TaskKind::Map).attempts;
        let row = attempts.push(0, 0);
        attempts.set_nanos(row, Counter::CpuMilliseconds, 1_400_000);
        attempts.set_counter(row, Counter::CpuMilliseconds, Some(5));
        assert_eq!(attempts.nanos(row, Counter::CpuMilliseconds), Some(5_000_000));
        attempts.set_nanos(row, Counter::CpuMilliseconds, i64::MAX);
        assert!(attempts.any_unreadable().has(Counter::CpuMilliseconds));
    }
}
