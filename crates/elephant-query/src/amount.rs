//! What the metrics of operators count, by Spark's names for them.

use crate::query::{PlacedOperator, Value};
use elephant_model::model::spark::{SqlCounter as C, Unit, counter_of, names_of_counters, plain_name};

/// What a metric counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Amount {
    /// Rows, files, partitions, tasks, ….
    Count,
    /// Bytes.
    Bytes,
    /// Time.
    Time,
}

/// Metrics that no rule of ours needs, so that they have no name of our own (`SQLShuffleMetricsReporter`,
/// `HashAggregateExec`, `StateStoreWriter`, `WindowExec`).
const OTHERS: [(&str, Amount); 32] = [
    ("avg hash probe bucket list iters", Amount::Count),
    ("avg hash probes per key", Amount::Count),
    ("corrupt merged block chunks", Amount::Count),
    ("count of cache hit on states cache in provider", Amount::Count),
    ("count of cache miss on states cache in provider", Amount::Count),
    ("estimated size of state only on current version", Amount::Bytes),
    ("local blocks read", Amount::Count),
    ("local bytes read", Amount::Bytes),
    ("local merged blocks fetched", Amount::Count),
    ("local merged bytes read", Amount::Bytes),
    ("local merged chunks fetched", Amount::Count),
    ("merged fetch fallback count", Amount::Count),
    ("number of empty partitions", Amount::Count),
    ("number of input batches", Amount::Count),
    ("number of inputs which are later than watermark", Amount::Count),
    ("number of output columnar batches", Amount::Count),
    ("number of removed state rows", Amount::Count),
    ("number of rows which are dropped by watermark", Amount::Count),
    ("number of segment-tree fallback frames prepared", Amount::Count),
    ("number of segment-tree frames prepared", Amount::Count),
    ("number of updated state rows", Amount::Count),
    ("partition data size", Amount::Bytes),
    ("remote blocks read", Amount::Count),
    ("remote bytes read", Amount::Bytes),
    ("remote bytes read to disk", Amount::Bytes),
    ("remote merged blocks fetched", Amount::Count),
    ("remote merged bytes read", Amount::Bytes),
    ("remote merged chunks fetched", Amount::Count),
    ("remote merged reqs duration", Amount::Time),
    ("remote reqs duration", Amount::Time),
    ("shuffle records written", Amount::Count),
    ("time to build hash map", Amount::Time),
];

/// What the metric with this name counts; `None` if the name is not one of Spark's that are known here.
#[must_use]
pub fn amount_of(name: &str) -> Option<Amount> {
    let plain = plain_name(name);
    let other = || OTHERS.iter().find(|(known, _)| *known == plain).map(|&(_, amount)| amount);
    counter_of(plain).map(of_counter).or_else(other)
}

/// The names that are known here.
pub fn metric_names() -> impl Iterator<Item = &'static str> {
    names_of_counters().chain(OTHERS.iter().map(|&(name, _)| name))
}

const fn of_counter(counter: C) -> Amount {
    match counter {
        C::OutputRows
        | C::FilesRead
        | C::FilesSkipped
        | C::StaticFilesRead
        | C::RowsCopied
        | C::RowsUpdated
        | C::RowsDeleted
        | C::RowsInserted
        | C::TargetFiles
        | C::TargetFilesKept
        | C::PartitionsRead
        | C::RecordsRead
        | C::Partitions
        | C::CoalescedPartitions
        | C::SkewedPartitions
        | C::SkewSplits
        | C::SortFallbackTasks
        | C::FilesWritten
        | C::DynamicPartitions
        | C::StateRows => Amount::Count,
        C::FileBytesRead
        | C::StaticFileBytesRead
        | C::DataSize
        | C::ShuffleBytesWritten
        | C::PeakMemory
        | C::SpillSize
        | C::BytesWritten
        | C::PythonBytesSent
        | C::PythonBytesReturned
        | C::StateMemory => Amount::Bytes,
        C::MetadataTime
        | C::PruningTime
        | C::ScanTime
        | C::ShuffleWriteTime
        | C::FetchWaitTime
        | C::SortTime
        | C::AggregationTime
        | C::PipelineTime
        | C::RewriteTime
        | C::TaskCommitTime
        | C::JobCommitTime
        | C::BroadcastCollectTime
        | C::BroadcastBuildTime
        | C::BroadcastTime
        | C::PythonTime
        | C::PythonStartTime
        | C::PythonInitTime
        | C::StateUpdateTime
        | C::StateRemoveTime
        | C::StateCommitTime
        | C::OwnTime => Amount::Time,
    }
}

impl Value<'_> {
    /// The total in milliseconds, bytes or pieces, if it counts what `amount` says. Times are kept to the nanosecond. `None`
    /// for a value below zero, which Spark writes for one that was never set.
    #[must_use]
    pub fn as_amount(&self, amount: Amount) -> Option<f64> {
        let total = u64::try_from(self.total).ok()? as f64;
        match (self.unit(), self.kind, amount) {
            (Unit::Millis, _, Amount::Time) => Some(total),
            (Unit::Nanos, _, Amount::Time) => Some(total / 1e6),
            // An average is stored ten times.
            (Unit::Count, "average", Amount::Count) => Some(total / 10.0),
            // Sizes of Spark 2 are plain sums.
            (Unit::Count, "size", Amount::Bytes) | (Unit::Count, "sum", Amount::Bytes | Amount::Count) => {
                Some(total)
            }
            _ => None,
        }
    }
}

impl PlacedOperator<'_> {
    /// The metric with a name of Spark's, in milliseconds, bytes or pieces. `None` if the operator has no value of this name
    /// that counts what `amount` says.
    #[must_use]
    pub fn metric(&self, name: &str, amount: Amount) -> Option<f64> {
        let plain = plain_name(name);
        let named = self.values.iter().filter(|value| plain_name(value.name) == plain);
        named.filter_map(|value| value.as_amount(amount)).reduce(|one, other| one + other)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(name: &'static str, kind: &'static str, total: i64) -> Value<'static> {
        Value { name, kind, counter: counter_of(name), total, accumulator: 1 }
    }

    #[test]
    fn every_known_name_counts_one_thing() {
        let mut names: Vec<&str> = metric_names().collect();
        assert!(names.iter().all(|name| amount_of(name).is_some()));
        let count = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), count);
        assert_eq!(amount_of("spill size total (min, med, max)"), Some(Amount::Bytes));
        assert_eq!(amount_of("rows of my own connector"), None);
    }

    #[test]
    fn a_value_counts_only_what_spark_says() {
        assert_eq!(value("scan time", "timing", 5).as_amount(Amount::Time), Some(5.0));
        assert_eq!(value("shuffle write time", "nsTiming", 2_500_000).as_amount(Amount::Time), Some(2.5));
        assert_eq!(value("spill size", "size", 7).as_amount(Amount::Bytes), Some(7.0));
        assert_eq!(value("data size", "sum", 7).as_amount(Amount::Bytes), Some(7.0));
        assert_eq!(value("avg hash probes per key", "average", 15).as_amount(Amount::Count), Some(1.5));
        assert_eq!(value("spill size", "size", 7).as_amount(Amount::Count), None);
        assert_eq!(value("scan time", "timing", 5).as_amount(Amount::Bytes), None);
        assert_eq!(value("spill size", "size", -1).as_amount(Amount::Bytes), None);
    }
}
