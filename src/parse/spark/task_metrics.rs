//! The counters of a finished task.

use std::ops::Range;

use crate::model::counters::Counter;
use crate::parse::scan::{Cursor, Scan};

/// Nanoseconds in a millisecond.
pub(super) const NANOS: i64 = 1_000_000;

/// "Task Metrics": the counters that are kept.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct TaskMetrics {
    values: [i64; METRICS.len()],
    /// One bit per counter that is present but cannot be read.
    unreadable: u32,
}

/// Marks a counter that the task does not report.
const ABSENT: i64 = i64::MIN;

impl Default for TaskMetrics {
    fn default() -> Self {
        Self { values: [ABSENT; METRICS.len()], unreadable: 0 }
    }
}

/// The counters of a task, in the order of [`TaskMetrics::values`].
pub(super) const METRICS: [Counter; 23] = [
    Counter::ExecutorDeserializeTime,
    Counter::ExecutorRunTime,
    Counter::CpuMilliseconds,
    Counter::PeakExecutionMemory,
    Counter::ResultSize,
    Counter::GcTimeMillis,
    Counter::ResultSerializationTime,
    Counter::MemoryBytesSpilled,
    Counter::DiskBytesSpilled,
    Counter::ShuffleRemoteBlocks,
    Counter::ShuffleLocalBlocks,
    Counter::ShuffleFetchWaitTime,
    Counter::ShuffleRemoteBytesRead,
    Counter::ShuffleRemoteBytesReadToDisk,
    Counter::ShuffleLocalBytesRead,
    Counter::ShuffleRecordsRead,
    Counter::ShuffleBytesWritten,
    Counter::ShuffleWriteTime,
    Counter::ShuffleRecordsWritten,
    Counter::InputBytes,
    Counter::InputRecords,
    Counter::OutputBytes,
    Counter::OutputRecords,
];

impl TaskMetrics {
    pub(super) fn iter(&self) -> impl Iterator<Item = (Counter, i64)> + '_ {
        METRICS.into_iter().zip(self.values).filter(|(_, value)| *value != ABSENT)
    }

    /// The counters that are present but cannot be read.
    pub(super) fn unreadable(&self) -> impl Iterator<Item = Counter> + '_ {
        // Nearly always there are none.
        let places = if self.unreadable == 0 { 0 } else { METRICS.len() };
        let counters = METRICS.iter().enumerate().take(places);
        counters.filter(|(place, _)| self.unreadable >> place & 1 == 1).map(|(_, &counter)| counter)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.unreadable == 0 && self.values.iter().all(|&value| value == ABSENT)
    }

    #[inline]
    pub(super) fn set(&mut self, place: usize, value: i64) {
        if let Some(slot) = self.values.get_mut(place) {
            *slot = value;
        }
    }

    #[inline]
    pub(super) fn read(&mut self, cursor: &mut Cursor<'_>, place: usize) -> Scan<()> {
        let value = cursor.integer_or_skip()?;
        self.take(place, value);
        Ok(())
    }

    /// As [`TaskMetrics::read`], converting nanoseconds to milliseconds.
    pub(super) fn read_nanos(&mut self, cursor: &mut Cursor<'_>, place: usize) -> Scan<()> {
        let nanos = cursor.integer_or_skip()?;
        self.take(place, nanos.filter(|nanos| *nanos >= 0).map(|nanos| nanos / NANOS));
        Ok(())
    }

    /// Sets a counter; negative values count as unreadable.
    #[inline]
    fn take(&mut self, place: usize, value: Option<i64>) {
        match value {
            Some(value) if value >= 0 => self.set(place, value),
            _ => self.mark_unreadable(place..place + 1),
        }
    }

    pub(super) fn mark_unreadable(&mut self, places: Range<usize>) {
        for place in places {
            self.set(place, ABSENT);
            self.unreadable |= 1 << place;
        }
    }

    /// Whether an object with the counters in `places` follows. Any other value is skipped, and the counters
    /// are marked as unreadable, except for `null`, which writers other than Spark use for absent metrics.
    pub(super) fn group(&mut self, cursor: &mut Cursor<'_>, places: Range<usize>) -> Scan<bool> {
        match cursor.peek() {
            Some(b'{') => return Ok(true),
            Some(b'n') => {}
            _ => self.mark_unreadable(places),
        }
        cursor.skip_value()?;
        Ok(false)
    }
}
