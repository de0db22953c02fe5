//! The counters of a finished task.

use std::ops::Range;

use crate::scan::{Cursor, Scan};
use elephant_base::units::Bytes;
use elephant_model::model::counters::Counter;
use elephant_model::model::table::NANOS_PER_MILLI;

/// "Task Metrics": the counters that are kept, in the units of the log.
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

/// The object of "Task Metrics" that a metric stands in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Section {
    /// "Task Metrics" itself.
    Task,
    ShuffleRead,
    ShuffleWrite,
    Input,
    Output,
}

impl Section {
    const ALL: [Self; 5] = [Self::Task, Self::ShuffleRead, Self::ShuffleWrite, Self::Input, Self::Output];

    /// Its key in "Task Metrics".
    const fn name(self) -> &'static str {
        match self {
            Self::Task => "",
            Self::ShuffleRead => "Shuffle Read Metrics",
            Self::ShuffleWrite => "Shuffle Write Metrics",
            Self::Input => "Input Metrics",
            Self::Output => "Output Metrics",
        }
    }

    /// The places of its metrics, which stand next to each other in the table.
    pub(super) const fn places(self) -> Range<usize> {
        let (mut first, mut rest) = (0, TABLE.as_slice());
        while let [metric, others @ ..] = rest
            && metric.section as u8 != self as u8
        {
            (first, rest) = (first + 1, others);
        }
        let mut end = first;
        while let [metric, others @ ..] = rest
            && metric.section as u8 == self as u8
        {
            (end, rest) = (end + 1, others);
        }
        first..end
    }

    /// Its `N` keys in the log, for [`Cursor::members`].
    pub(super) const fn keys<const N: usize>(self) -> [&'static [u8]; N] {
        let Range { start, end } = self.places();
        assert!(end - start == N);
        let mut keys: [&[u8]; N] = [b""; N];
        let (mut left, mut metrics) = (keys.as_mut_slice(), TABLE.split_at(start).1);
        while let ([key, more @ ..], [metric, others @ ..]) = (left, metrics) {
            *key = metric.json_key;
            (left, metrics) = (more, others);
        }
        keys
    }
}

/// The unit of a value in the log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Unit {
    /// The unit of the counter.
    Same,
    /// Nanoseconds, where the counter has milliseconds.
    Nanos,
}

/// A metric of a task.
struct Metric {
    section: Section,
    key: &'static str,
    /// The key as it stands in the log, with quotes and colon.
    json_key: &'static [u8],
    unit: Unit,
    counter: Counter,
}

/// One row for each metric: section, key, unit, counter, and the name after "internal.metrics." of the accumulable in
/// which Spark sums the metric, if our sum is compared with it.
macro_rules! metrics {
    ($($section:ident $key:literal $unit:ident $counter:ident $(= $accumulable:literal)?;)+) => {
        /// The counters of a task, in the order of [`TaskMetrics::values`].
        pub(super) const METRICS: [Counter; 23] = [$(Counter::$counter),+];

        /// All that is read of a task's metrics. Their places are those of [`TaskMetrics::values`].
        const TABLE: [Metric; METRICS.len()] = [$(Metric {
            section: Section::$section,
            key: $key,
            json_key: concat!("\"", $key, "\":").as_bytes(),
            unit: Unit::$unit,
            counter: Counter::$counter,
        }),+];

        /// The counters that accumulables of Spark's own ("internal.metrics.…") repeat, with the rest of their names.
        pub(super) const SUMMED: [(&str, Counter); 13] = [$($(($accumulable, Counter::$counter),)?)+];
    };
}

metrics! {
    Task "Executor Deserialize Time" Same ExecutorDeserializeTime;
    Task "Executor Run Time" Same ExecutorRunTime = "executorRunTime";
    Task "Executor CPU Time" Nanos CpuMilliseconds;
    Task "Peak Execution Memory" Same PeakExecutionMemory;
    Task "Result Size" Same ResultSize;
    Task "JVM GC Time" Same GcTimeMillis = "jvmGCTime";
    Task "Result Serialization Time" Same ResultSerializationTime;
    Task "Memory Bytes Spilled" Same MemoryBytesSpilled = "memoryBytesSpilled";
    Task "Disk Bytes Spilled" Same DiskBytesSpilled = "diskBytesSpilled";
    ShuffleRead "Remote Blocks Fetched" Same ShuffleRemoteBlocks;
    ShuffleRead "Local Blocks Fetched" Same ShuffleLocalBlocks;
    ShuffleRead "Fetch Wait Time" Same ShuffleFetchWaitTime;
    ShuffleRead "Remote Bytes Read" Same ShuffleRemoteBytesRead = "shuffle.read.remoteBytesRead";
    ShuffleRead "Remote Bytes Read To Disk" Same ShuffleRemoteBytesReadToDisk;
    ShuffleRead "Local Bytes Read" Same ShuffleLocalBytesRead = "shuffle.read.localBytesRead";
    ShuffleRead "Total Records Read" Same ShuffleRecordsRead = "shuffle.read.recordsRead";
    ShuffleWrite "Shuffle Bytes Written" Same ShuffleBytesWritten = "shuffle.write.bytesWritten";
    ShuffleWrite "Shuffle Write Time" Nanos ShuffleWriteTime;
    ShuffleWrite "Shuffle Records Written" Same ShuffleRecordsWritten = "shuffle.write.recordsWritten";
    Input "Bytes Read" Same InputBytes = "input.bytesRead";
    Input "Records Read" Same InputRecords = "input.recordsRead";
    Output "Bytes Written" Same OutputBytes = "output.bytesWritten";
    Output "Records Written" Same OutputRecords = "output.recordsWritten";
}

/// The places of times that are part of the task's duration.
const TIMES: [usize; 7] = [
    place_of(Counter::ExecutorDeserializeTime),
    place_of(Counter::ExecutorRunTime),
    place_of(Counter::CpuMilliseconds),
    place_of(Counter::GcTimeMillis),
    place_of(Counter::ResultSerializationTime),
    place_of(Counter::ShuffleFetchWaitTime),
    place_of(Counter::ShuffleWriteTime),
];

/// How much longer than the task a part of it may be, in milliseconds: their clocks differ.
const TIME_TOLERANCE: i64 = 1000;

/// The place of a counter.
pub(super) const fn place_of(counter: Counter) -> usize {
    let (mut place, mut rest) = (0, TABLE.as_slice());
    while let [metric, others @ ..] = rest
        && metric.counter as usize != counter as usize
    {
        (place, rest) = (place + 1, others);
    }
    assert!(place < TABLE.len());
    place
}

/// The place of the metric under this path, such as `Input Metrics/Bytes Read`. Logs of some versions mix
/// up what is read and what is written: either key stands for the amount of its section.
pub(super) fn find(path: &str) -> Option<usize> {
    let (section, key) = path.split_once('/').unwrap_or(("", path));
    let section = Section::ALL.into_iter().find(|known| known.name() == section)?;
    let at = |section: Section| TABLE.get(section.places())?.iter().position(|metric| metric.key == key);
    let offset = at(section).or_else(|| match section {
        Section::Input => at(Section::Output),
        Section::Output => at(Section::Input),
        Section::Task | Section::ShuffleRead | Section::ShuffleWrite => None,
    })?;
    Some(section.places().start + offset)
}

impl TaskMetrics {
    pub(super) fn iter(&self) -> impl Iterator<Item = (Counter, Unit, i64)> + '_ {
        let values = TABLE.iter().zip(self.values).filter(|(_, value)| *value != ABSENT);
        values.map(|(metric, value)| (metric.counter, metric.unit, value))
    }

    /// The counters that are present but cannot be read.
    pub(super) fn unreadable(&self) -> impl Iterator<Item = Counter> + '_ {
        // Nearly always there are none.
        let places = if self.unreadable == 0 { 0 } else { METRICS.len() };
        let counters = METRICS.iter().enumerate().take(places);
        counters.filter(|(place, _)| self.unreadable >> place & 1 == 1).map(|(_, &counter)| counter)
    }

    /// The times that cannot be part of a task that took `whole` milliseconds, within a tolerance: nearly always none.
    ///
    /// The task's thread measures them, and spends its time on deserialisation, on the work, and on the result. Collections
    /// may stop it in all three.
    #[inline]
    pub(super) fn times_beyond(&self, whole: i64) -> &'static [Counter] {
        const THREE: [Counter; 3] =
            [Counter::ExecutorDeserializeTime, Counter::ExecutorRunTime, Counter::ResultSerializationTime];
        let most = whole.saturating_add(TIME_TOLERANCE);
        let [deserialize, run, cpu, gc, serialize, wait, write] =
            TIMES.map(|place| self.millis(place).max(0));
        let all = deserialize.saturating_add(run).saturating_add(serialize);
        if all <= most && cpu.max(gc).max(wait).max(write) <= most {
            return &[];
        }
        let one = TIMES.into_iter().find(|&place| self.millis(place) > most);
        one.and_then(|place| METRICS.get(place..=place)).unwrap_or(&THREE)
    }

    /// The most execution memory that the task held; zero if unknown.
    #[inline]
    pub(super) fn peak_memory(&self) -> Bytes {
        const PEAK: usize = place_of(Counter::PeakExecutionMemory);
        Bytes::new(u64::try_from(self.value(PEAK)).unwrap_or_default())
    }

    /// A time in milliseconds.
    #[inline]
    fn millis(&self, place: usize) -> i64 {
        match TABLE.get(place).map(|metric| metric.unit) {
            Some(Unit::Nanos) => self.value(place) / NANOS_PER_MILLI,
            _ => self.value(place),
        }
    }

    #[inline]
    fn value(&self, place: usize) -> i64 {
        self.values.get(place).copied().unwrap_or(ABSENT)
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

    /// Reads a counter; negative values count as unreadable.
    #[inline]
    pub(super) fn read(&mut self, cursor: &mut Cursor<'_>, place: usize) -> Scan<()> {
        match cursor.integer_or_skip()? {
            Some(value) if value >= 0 => self.set(place, value),
            _ => self.mark_unreadable(place..place + 1),
        }
        Ok(())
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
