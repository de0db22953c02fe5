//! The metrics of operators under names of our own: Spark renamed many of them from version to version.

use crate::model::table::NANOS_PER_MILLI;
use elephant_base::units::Millis;

/// A metric of an operator (`org.apache.spark.sql.execution.metric.SQLMetrics`, and where it is named there).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum SqlCounter {
    /// Rows that the operator passed on.
    OutputRows,
    /// Files that a scan read (`FileSourceScanExec`).
    FilesRead,
    /// Their size, of the whole files.
    FileBytesRead,
    /// Files that statistics of a table let a scan leave out (Iceberg's `SkippedDataFiles`).
    FilesSkipped,
    /// Files that a scan would have read without dynamic pruning.
    StaticFilesRead,
    /// Their size.
    StaticFileBytesRead,
    /// Partitions of a table that a scan read.
    PartitionsRead,
    /// Time that the driver needed to find the files.
    MetadataTime,
    /// Time of dynamic partition pruning on the driver.
    PruningTime,
    /// Time that tasks read and decoded files.
    ScanTime,
    /// Size of the rows that an exchange sent (`ShuffleExchangeExec`, `BroadcastExchangeExec`).
    DataSize,
    /// Bytes that an exchange wrote.
    ShuffleBytesWritten,
    /// Time of tasks writing an exchange.
    ShuffleWriteTime,
    /// Time of tasks waiting for an exchange.
    FetchWaitTime,
    /// Rows read from an exchange.
    RecordsRead,
    /// Partitions of an exchange, or of its reader.
    Partitions,
    /// Partitions that adaptive execution merged.
    CoalescedPartitions,
    /// Partitions that adaptive execution found skewed.
    SkewedPartitions,
    /// The parts into which it split them.
    SkewSplits,
    /// Memory at the peak.
    PeakMemory,
    /// Bytes spilled.
    SpillSize,
    /// Time of sorting rows in memory (`SortExec`).
    SortTime,
    /// Time in which an aggregation read its input and built its table (`HashAggregateExec`): it contains the time of what
    /// feeds the aggregation.
    AggregationTime,
    /// Tasks in which an aggregation gave up its table and sorted.
    SortFallbackTasks,
    /// Time of a whole generated pipeline (`WholeStageCodegenExec`). Pipelines nest, so these must never be added up.
    PipelineTime,
    /// Files that a query wrote (`BasicWriteJobStatsTracker`).
    FilesWritten,
    /// Their bytes.
    BytesWritten,
    /// Partitions of the table that it wrote.
    DynamicPartitions,
    /// Rows that a command wrote again without a change (`MergeIntoCommand` and others of Delta Lake, `MergeRowsExec`).
    RowsCopied,
    /// Rows that it updated.
    RowsUpdated,
    /// Rows that it deleted.
    RowsDeleted,
    /// Rows that it inserted.
    RowsInserted,
    /// Files of the table that it changes.
    TargetFiles,
    /// Those among them that its condition did not rule out.
    TargetFilesKept,
    /// Time in which it wrote files again.
    RewriteTime,
    /// Time of committing tasks.
    TaskCommitTime,
    /// Time of committing the job, on the driver.
    JobCommitTime,
    /// Time in which the driver collected the rows of a broadcast.
    BroadcastCollectTime,
    /// Time in which it built the table.
    BroadcastBuildTime,
    /// Time in which it sent the table.
    BroadcastTime,
    /// Bytes sent to Python workers (`PythonSQLMetrics`).
    PythonBytesSent,
    /// Bytes that they returned.
    PythonBytesReturned,
    /// Time of Python workers, start included.
    PythonTime,
    /// Time in which they started.
    PythonStartTime,
    /// Time in which they were initialised.
    PythonInitTime,
    /// Time of updating a state store (`StateStoreWriter`).
    StateUpdateTime,
    /// Time of removing old state.
    StateRemoveTime,
    /// Time of committing state.
    StateCommitTime,
    /// Rows of state.
    StateRows,
    /// Memory of state.
    StateMemory,
    /// Time of the operator alone, as engines outside the JVM measure it (RAPIDS: `op time`, Photon: `exclusive time`).
    OwnTime,
}

use SqlCounter as C;

/// Spark's names, without what versions add to them: "total (min, med, max)" in Spark 2, units in brackets.
const NAMES: [(&str, SqlCounter); 73] = [
    ("number of output rows", C::OutputRows),
    ("output rows", C::OutputRows),
    ("join output rows", C::OutputRows),
    ("number of files read", C::FilesRead),
    ("number of files", C::FilesRead),
    ("number of result data files", C::FilesRead),
    ("size of files read", C::FileBytesRead),
    ("total data file size", C::FileBytesRead),
    ("number of skipped data files", C::FilesSkipped),
    ("static number of files read", C::StaticFilesRead),
    ("static size of files read", C::StaticFileBytesRead),
    ("number of partitions read", C::PartitionsRead),
    ("metadata time", C::MetadataTime),
    ("dynamic partition pruning time", C::PruningTime),
    ("scan time", C::ScanTime),
    ("data size", C::DataSize),
    ("shuffle bytes written", C::ShuffleBytesWritten),
    ("shuffle write time", C::ShuffleWriteTime),
    ("fetch wait time", C::FetchWaitTime),
    ("records read", C::RecordsRead),
    ("number of partitions", C::Partitions),
    ("partitions", C::Partitions),
    ("number of coalesced partitions", C::CoalescedPartitions),
    ("number of skewed partitions", C::SkewedPartitions),
    ("number of skewed partition splits", C::SkewSplits),
    ("peak memory", C::PeakMemory),
    ("spill size", C::SpillSize),
    ("sort time", C::SortTime),
    ("time in aggregation build", C::AggregationTime),
    ("aggregate time", C::AggregationTime),
    ("number of sort fallback tasks", C::SortFallbackTasks),
    ("duration", C::PipelineTime),
    ("number of written files", C::FilesWritten),
    ("written output", C::BytesWritten),
    ("bytes of written output", C::BytesWritten),
    ("number of dynamic part", C::DynamicPartitions),
    ("number of target rows rewritten unmodified", C::RowsCopied),
    ("Number of target rows rewritten unmodified because they did not meet any condition", C::RowsCopied),
    ("number of target rows copied unmodified because they did not match any action", C::RowsCopied),
    ("number of rows copied", C::RowsCopied),
    ("number of updated rows", C::RowsUpdated),
    ("number of target rows updated", C::RowsUpdated),
    ("number of rows updated", C::RowsUpdated),
    ("number of deleted rows", C::RowsDeleted),
    ("number of target rows deleted", C::RowsDeleted),
    ("number of rows deleted", C::RowsDeleted),
    ("number of inserted rows", C::RowsInserted),
    ("number of target rows inserted", C::RowsInserted),
    ("number of target files before skipping", C::TargetFiles),
    ("number of files before skipping", C::TargetFiles),
    ("number of target files after skipping", C::TargetFilesKept),
    ("number of files after skipping", C::TargetFilesKept),
    ("time taken to rewrite the matched files", C::RewriteTime),
    ("task commit time", C::TaskCommitTime),
    ("job commit time", C::JobCommitTime),
    ("time to collect", C::BroadcastCollectTime),
    ("time to build", C::BroadcastBuildTime),
    ("time to broadcast", C::BroadcastTime),
    ("data sent to Python workers", C::PythonBytesSent),
    ("data returned from Python workers", C::PythonBytesReturned),
    ("time to run Python workers", C::PythonTime),
    ("time to execute Python code", C::PythonTime),
    ("time to start Python workers", C::PythonStartTime),
    ("time to initialize Python workers", C::PythonInitTime),
    ("time to update", C::StateUpdateTime),
    ("total time to update rows", C::StateUpdateTime),
    ("time to remove", C::StateRemoveTime),
    ("total time to remove rows", C::StateRemoveTime),
    ("time to commit changes", C::StateCommitTime),
    ("number of total state rows", C::StateRows),
    ("memory used by state", C::StateMemory),
    ("op time", C::OwnTime),
    ("exclusive time", C::OwnTime),
];

/// The metric with a name of Spark's; `None` for one that no rule needs.
#[must_use]
pub fn counter_of(name: &str) -> Option<SqlCounter> {
    let name = plain_name(name);
    NAMES.iter().find(|(known, _)| *known == name).map(|&(_, counter)| counter)
}

/// All of Spark's names that have one of ours.
pub fn names_of_counters() -> impl Iterator<Item = &'static str> {
    NAMES.iter().map(|&(name, _)| name)
}

/// The name of a metric without what versions of Spark add to it.
#[must_use]
pub fn plain_name(name: &str) -> &str {
    let name = name.split_once(" (").map_or(name, |(name, _)| name);
    name.strip_suffix(" total").unwrap_or(name).trim_end_matches('.').trim()
}

/// How the values of a metric are counted (`SQLMetricInfo.metricType`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    /// A time in milliseconds.
    Millis,
    /// A time in nanoseconds.
    Nanos,
    /// Anything but a time.
    Count,
}

impl Unit {
    /// The unit of a metric. Before Spark 2.3, times were sums with their unit in the name.
    #[must_use]
    pub fn of(kind: &str, name: &str) -> Self {
        match kind {
            "timing" => Self::Millis,
            "nsTiming" => Self::Nanos,
            "sum" if name.ends_with("(ms)") => Self::Millis,
            _ => Self::Count,
        }
    }

    /// A value in this unit as nanoseconds, so that sums are rounded once; `None` if it counts something else, or is
    /// negative.
    #[must_use]
    pub fn nanos(self, value: i64) -> Option<i128> {
        let value = u64::try_from(value).ok().map(i128::from)?;
        match self {
            Self::Millis => Some(value * i128::from(NANOS_PER_MILLI)),
            Self::Nanos => Some(value),
            Self::Count => None,
        }
    }

    /// A value in this unit as a time; `None` if it counts something else, or is negative.
    #[must_use]
    pub fn millis(self, value: i64) -> Option<Millis> {
        self.nanos(value).map(Millis::from_nanos)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_all_versions_mean_the_same_metric() {
        for (name, expected) in [
            ("spill size", Some(C::SpillSize)),
            ("spill size total (min, med, max)", Some(C::SpillSize)),
            ("metadata time (ms)", Some(C::MetadataTime)),
            ("data size (bytes)", Some(C::DataSize)),
            ("total data file size (bytes)", Some(C::FileBytesRead)),
            ("number of rows copied.", Some(C::RowsCopied)),
            ("avg hash probe (min, med, max)", None),
        ] {
            assert_eq!(counter_of(name), expected, "{name}");
        }
    }

    #[test]
    fn no_name_is_there_twice() {
        let names: std::collections::BTreeSet<_> = NAMES.iter().map(|(name, _)| name).collect();
        assert_eq!(names.len(), NAMES.len());
    }

    #[test]
    fn only_times_are_times() {
        assert_eq!(Unit::of("nsTiming", "x").millis(2_500_000), Some(Millis::new(3)));
        assert_eq!(Unit::of("nsTiming", "x").nanos(2_400_000), Some(2_400_000));
        assert_eq!(Unit::of("timing", "x").nanos(2), Some(2_000_000));
        assert_eq!(Unit::of("sum", "time to collect (ms)").millis(7), Some(Millis::new(7)));
        assert_eq!(Unit::of("sum", "number of output rows").millis(7), None);
        assert_eq!(Unit::of("timing", "x").millis(-1), None);
    }
}
