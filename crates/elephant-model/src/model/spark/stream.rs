//! Queries of Structured Streaming, and the progress of their batches.

use std::collections::VecDeque;

use elephant_base::units::{Bytes, Millis, Timestamp};

/// One run of a streaming query (`StreamingQueryListener.QueryStartedEvent`, `…QueryProgressEvent`,
/// `…QueryTerminatedEvent`).
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Stream {
    /// Its id, which a restart from the same checkpoint keeps.
    pub id: Option<String>,
    /// The id of this run.
    pub run: String,
    /// The name that the user gave to it.
    pub name: Option<String>,
    /// When it started.
    pub started_at: Option<Timestamp>,
    /// Whether the log contains its end.
    pub has_end: bool,
    /// The error that it ended with.
    pub error: Option<String>,
    /// What its sources read, in the order of their progress.
    pub sources: Vec<String>,
    /// The operators that keep its state, in the order of their progress; `None` for one without a name (before Spark 3.2).
    pub state_operators: Vec<Option<String>>,
    /// Whether its state is in `RocksDB`.
    pub has_rocksdb: bool,
    /// Its latest batches, in the order of the log.
    pub batches: VecDeque<Batch>,
    /// The batches before them, of which only sums are kept.
    pub earlier: EarlierBatches,
}

/// Sums over batches that are not kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct EarlierBatches {
    /// Their number.
    pub count: u64,
    /// How long they took.
    pub time: Millis,
    /// The longest.
    pub longest: Millis,
    /// The rows that they read.
    pub rows: u64,
    /// The rows that came too late for the watermark.
    pub late_rows: u64,
}

/// A batch of a stream.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Batch {
    /// Its number.
    pub number: Option<u64>,
    /// When it began.
    pub started_at: Option<Timestamp>,
    /// How long it took (`triggerExecution`).
    pub time: Option<Millis>,
    /// Parts of that time, in the order of [`BatchPart::ALL`].
    pub parts: [Option<Millis>; BatchPart::ALL.len()],
    /// Events older than this are too late.
    pub watermark: Option<Timestamp>,
    /// The time of the latest event.
    pub latest_event: Option<Timestamp>,
    /// What it read from each source.
    pub sources: Vec<SourceProgress>,
    /// What each operator with state keeps after it.
    pub states: Vec<StateProgress>,
}

/// A part of the time of a batch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum BatchPart {
    /// Asks the sources how far they are.
    Offsets,
    /// Prepares what the sources give.
    Batch,
    /// Plans the query.
    Planning,
    /// Runs the query and writes its result.
    Work,
    /// Writes the checkpoint's logs.
    Logs,
}

impl BatchPart {
    /// All parts.
    pub const ALL: [Self; 5] = [Self::Offsets, Self::Batch, Self::Planning, Self::Work, Self::Logs];

    /// The part with this name in Spark's `durationMs`.
    #[must_use]
    #[doc(hidden)]
    pub fn named(name: &[u8]) -> Option<Self> {
        Some(match name {
            b"latestOffset" | b"getOffset" | b"setOffsetRange" | b"getEndOffset" => Self::Offsets,
            b"getBatch" => Self::Batch,
            b"queryPlanning" => Self::Planning,
            b"addBatch" => Self::Work,
            b"walCommit" | b"commitOffsets" | b"commitBatch" => Self::Logs,
            _ => return None,
        })
    }
}

/// What a batch read from a source.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct SourceProgress {
    /// Rows read.
    pub rows: Option<u64>,
    /// Rows a second that came since the batch before it began.
    pub input_rate: Option<f64>,
    /// Rows a second that the batch processed.
    pub processed_rate: Option<f64>,
    /// Offsets that the source had and the batch left: records, for Kafka.
    pub backlog: Option<u64>,
}

/// What an operator keeps after a batch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct StateProgress {
    /// Rows kept.
    pub rows: Option<u64>,
    /// Rows added or changed by the batch.
    pub updated: Option<u64>,
    /// Memory that they take.
    pub memory: Option<Bytes>,
    /// How long its tasks took, together, to save them.
    pub commit: Option<Millis>,
    /// Rows that came too late for the watermark.
    pub late_rows: Option<u64>,
    /// Partitions of the state, which the checkpoint fixes.
    pub partitions: Option<u64>,
}

impl Stream {
    /// The number of all batches.
    #[must_use]
    pub fn batch_count(&self) -> u64 {
        self.earlier.count + self.batches.len() as u64
    }

    /// Forgets the first of the kept batches, except for what sums need.
    #[doc(hidden)]
    pub fn fold_first(&mut self) {
        let Some(first) = self.batches.pop_front() else { return };
        let time = first.time.unwrap_or_default();
        let earlier = &mut self.earlier;
        earlier.count = earlier.count.saturating_add(1);
        earlier.time = earlier.time + time;
        earlier.longest = earlier.longest.max(time);
        earlier.rows = earlier.rows.saturating_add(first.rows().unwrap_or_default());
        earlier.late_rows = earlier.late_rows.saturating_add(first.late_rows());
    }
}

impl Batch {
    /// A part of its time.
    #[must_use]
    pub fn part(&self, part: BatchPart) -> Option<Millis> {
        self.parts.get(part as usize).copied().flatten()
    }

    /// Adds to a part of its time.
    #[doc(hidden)]
    pub fn add_part(&mut self, part: BatchPart, time: Millis) {
        if let Some(known) = self.parts.get_mut(part as usize) {
            *known = Some(known.unwrap_or_default() + time);
        }
    }

    /// The rows read from all sources; `None` if those of one are unknown.
    #[must_use]
    pub fn rows(&self) -> Option<u64> {
        self.of_sources(|source| source.rows).map(|rows| rows.fold(0, u64::saturating_add))
    }

    /// Rows a second that came, over all sources.
    #[must_use]
    pub fn input_rate(&self) -> Option<f64> {
        self.of_sources(|source| source.input_rate).map(Iterator::sum)
    }

    /// Rows a second that were processed, over all sources.
    #[must_use]
    pub fn processed_rate(&self) -> Option<f64> {
        self.of_sources(|source| source.processed_rate).map(Iterator::sum)
    }

    /// Offsets that all sources had and the batch left.
    #[must_use]
    pub fn backlog(&self) -> Option<u64> {
        self.of_sources(|source| source.backlog).map(|offsets| offsets.fold(0, u64::saturating_add))
    }

    /// Rows that came too late for the watermark.
    #[must_use]
    pub fn late_rows(&self) -> u64 {
        self.states.iter().filter_map(|state| state.late_rows).fold(0, u64::saturating_add)
    }

    fn of_sources<T>(&self, value: impl Fn(&SourceProgress) -> Option<T>) -> Option<impl Iterator<Item = T>> {
        let all: Vec<T> = self.sources.iter().map(value).collect::<Option<_>>()?;
        (!all.is_empty()).then(|| all.into_iter())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_over_sources_need_all_of_them() {
        let source = |rows, rate| SourceProgress { rows, input_rate: rate, ..SourceProgress::default() };
        let batch =
            Batch { sources: vec![source(Some(1), Some(0.5)), source(Some(2), None)], ..Batch::default() };
        assert_eq!((batch.rows(), batch.input_rate(), Batch::default().rows()), (Some(3), None, None));
    }

    #[test]
    fn forgotten_batches_stay_in_the_sums() {
        let batch = |seconds, late| Batch {
            time: Some(Millis::from_secs(seconds)),
            sources: vec![SourceProgress { rows: Some(10), ..SourceProgress::default() }],
            states: vec![StateProgress { late_rows: Some(late), ..StateProgress::default() }],
            ..Batch::default()
        };
        let mut stream =
            Stream { batches: [batch(1, 2), batch(3, 0), batch(2, 1)].into(), ..Stream::default() };
        stream.fold_first();
        stream.fold_first();
        let expected = EarlierBatches {
            count: 2,
            time: Millis::from_secs(4),
            longest: Millis::from_secs(3),
            rows: 20,
            late_rows: 2,
        };
        assert_eq!((stream.earlier, stream.batches.len(), stream.batch_count()), (expected, 1, 3));
    }
}
