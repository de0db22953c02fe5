//! Typed counters, with units, for those that rules read; all others by group and name.
//!
//! Hadoop 2 and 3 write `org.apache.hadoop.mapreduce.TaskCounter` / `FileSystemCounter`, Hadoop 1
//! `org.apache.hadoop.mapred.Task$Counter` / `FileSystemCounters`, Hadoop 0.18 only display names. A counter
//! is identified by its name in any group (as in Dr. Elephant's `MapReduceCounterData.get`); a framework
//! group takes precedence over a user's group that reuses a framework name.
//!
//! Spark's task metrics (`TaskMetrics`) are counters of the same table; both engines share the counters for
//! GC and CPU time.

mod mask;
mod set;

pub use mask::CounterMask;
pub use set::{CounterSet, OtherCounter};

use super::Engine;

/// The unit of a counter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CounterUnit {
    /// Records, files, operations.
    Count,
    /// Bytes.
    Bytes,
    /// Milliseconds.
    Millis,
}

macro_rules! counters {
    ($($(#[$doc:meta])* $variant:ident = $name:literal, $display:literal, $unit:ident;)+) => {
        /// A counter with a type of its own.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[repr(u8)]
        pub enum Counter { $($(#[$doc])* $variant,)+ }

        impl Counter {
            /// Every typed counter, in declaration order.
            pub const ALL: [Self; [$(Self::$variant),+].len()] = [$(Self::$variant),+];

            /// The name in Hadoop 1 to 3; for Spark's counters the path of the field in `TaskEnd` events.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => $name,)+ }
            }

            /// The display name, the only name in Hadoop 0.18; for Spark's counters a readable name.
            #[must_use]
            pub(crate) const fn display_name(self) -> &'static str {
                match self { $(Self::$variant => $display,)+ }
            }

            /// The counter's unit.
            #[must_use]
            pub const fn unit(self) -> CounterUnit {
                match self { $(Self::$variant => CounterUnit::$unit,)+ }
            }
        }
    };
}

counters! {
    /// Bytes read from HDFS.
    HdfsBytesRead = "HDFS_BYTES_READ", "HDFS bytes read", Bytes;
    /// Bytes read through the old `s3` scheme.
    S3BytesRead = "S3_BYTES_READ", "S3 bytes read", Bytes;
    /// Bytes read through `s3a`.
    S3aBytesRead = "S3A_BYTES_READ", "S3A bytes read", Bytes;
    /// Bytes read through `s3n`.
    S3nBytesRead = "S3N_BYTES_READ", "S3N bytes read", Bytes;
    /// Sum of bytes read through all schemes without a counter of their own, except `file` (abfs, gs, wasb,
    /// oss, viewfs, …).
    OtherFsBytesRead = "*_BYTES_READ", "*", Bytes;
    /// Sum of bytes written through all schemes except `file`.
    RemoteBytesWritten = "*_BYTES_WRITTEN", "HDFS bytes written", Bytes;
    /// Bytes read from local disks.
    FileBytesRead = "FILE_BYTES_READ", "Local bytes read", Bytes;
    /// Bytes written to local disks.
    FileBytesWritten = "FILE_BYTES_WRITTEN", "Local bytes written", Bytes;
    /// Bytes returned by the input format.
    InputFormatBytesRead = "BYTES_READ", "Bytes Read", Bytes;
    /// Bytes received by the output format.
    OutputFormatBytesWritten = "BYTES_WRITTEN", "Bytes Written", Bytes;
    /// Size of the serialised split.
    SplitRawBytes = "SPLIT_RAW_BYTES", "Input split bytes", Bytes;
    /// Records the mapper read.
    MapInputRecords = "MAP_INPUT_RECORDS", "Map input records", Count;
    /// Bytes the mapper read (Hadoop 1).
    MapInputBytes = "MAP_INPUT_BYTES", "Map input bytes", Bytes;
    /// Records the mapper emitted.
    MapOutputRecords = "MAP_OUTPUT_RECORDS", "Map output records", Count;
    /// Bytes the mapper emitted, before combining and compressing.
    MapOutputBytes = "MAP_OUTPUT_BYTES", "Map output bytes", Bytes;
    /// Stored bytes of map output, after combining and compressing.
    MapOutputMaterializedBytes = "MAP_OUTPUT_MATERIALIZED_BYTES", "Map output materialized bytes", Bytes;
    /// Records given to the combiner.
    CombineInputRecords = "COMBINE_INPUT_RECORDS", "Combine input records", Count;
    /// Records returned by the combiner.
    CombineOutputRecords = "COMBINE_OUTPUT_RECORDS", "Combine output records", Count;
    /// Distinct keys of the reducer's input.
    ReduceInputGroups = "REDUCE_INPUT_GROUPS", "Reduce input groups", Count;
    /// Records the reducer read.
    ReduceInputRecords = "REDUCE_INPUT_RECORDS", "Reduce input records", Count;
    /// Records the reducer emitted.
    ReduceOutputRecords = "REDUCE_OUTPUT_RECORDS", "Reduce output records", Count;
    /// Bytes the reducer fetched from the maps.
    ReduceShuffleBytes = "REDUCE_SHUFFLE_BYTES", "Reduce shuffle bytes", Bytes;
    /// Map outputs the reducer fetched.
    ShuffledMaps = "SHUFFLED_MAPS", "Shuffled Maps ", Count;
    /// Fetches that failed.
    FailedShuffle = "FAILED_SHUFFLE", "Failed Shuffles", Count;
    /// Map outputs merged on the reduce side.
    MergedMapOutputs = "MERGED_MAP_OUTPUTS", "Merged Map outputs", Count;
    /// Records written to disk, counted each time.
    SpilledRecords = "SPILLED_RECORDS", "Spilled Records", Count;
    /// Wall time that the JVM spent in garbage collection.
    GcTimeMillis = "GC_TIME_MILLIS", "GC time elapsed (ms)", Millis;
    /// CPU time of the task's process tree.
    CpuMilliseconds = "CPU_MILLISECONDS", "CPU time spent (ms)", Millis;
    /// Resident memory of the process tree, last snapshot.
    PhysicalMemoryBytes = "PHYSICAL_MEMORY_BYTES", "Physical memory (bytes) snapshot", Bytes;
    /// Address space of the process tree, last snapshot.
    VirtualMemoryBytes = "VIRTUAL_MEMORY_BYTES", "Virtual memory (bytes) snapshot", Bytes;
    /// Committed heap of the JVM, last snapshot.
    CommittedHeapBytes = "COMMITTED_HEAP_BYTES", "Total committed heap usage (bytes)", Bytes;
    /// Peak resident memory (Hadoop 3: `MAP_` or `REDUCE_PHYSICAL_MEMORY_BYTES_MAX`).
    PeakPhysicalMemoryBytes = "PHYSICAL_MEMORY_BYTES_MAX", "Peak Physical memory (bytes)", Bytes;
    /// Peak address space (Hadoop 3: `MAP_` or `REDUCE_VIRTUAL_MEMORY_BYTES_MAX`).
    PeakVirtualMemoryBytes = "VIRTUAL_MEMORY_BYTES_MAX", "Peak Virtual memory (bytes)", Bytes;
    /// Spark: time that the executor spent running the task's code, including shuffle reads.
    ExecutorRunTime = "Executor Run Time", "executor run time", Millis;
    /// Spark: time to deserialize the task.
    ExecutorDeserializeTime = "Executor Deserialize Time", "executor deserialize time", Millis;
    /// Spark: time to serialize the task's result.
    ResultSerializationTime = "Result Serialization Time", "result serialization time", Millis;
    /// Spark: bytes of the task's result.
    ResultSize = "Result Size", "result size", Bytes;
    /// Spark: peak execution memory: the sum of the peaks of all shuffles, aggregations and joins of the
    /// task.
    PeakExecutionMemory = "Peak Execution Memory", "peak execution memory", Bytes;
    /// Spark: size in memory of the spilled data.
    MemoryBytesSpilled = "Memory Bytes Spilled", "memory bytes spilled", Bytes;
    /// Spark: size on disk of the spilled data.
    DiskBytesSpilled = "Disk Bytes Spilled", "disk bytes spilled", Bytes;
    /// Spark: bytes read from sources and caches.
    InputBytes = "Input Metrics.Bytes Read", "input bytes", Bytes;
    /// Spark: records read from sources and caches.
    InputRecords = "Input Metrics.Records Read", "input records", Count;
    /// Spark: bytes written.
    OutputBytes = "Output Metrics.Bytes Written", "output bytes", Bytes;
    /// Spark: records written.
    OutputRecords = "Output Metrics.Records Written", "output records", Count;
    /// Spark: shuffle bytes fetched from other nodes.
    ShuffleRemoteBytesRead = "Shuffle Read Metrics.Remote Bytes Read", "remote shuffle bytes read", Bytes;
    /// Spark: remote shuffle bytes that were fetched to disk because of their size.
    ShuffleRemoteBytesReadToDisk = "Shuffle Read Metrics.Remote Bytes Read To Disk", "remote shuffle bytes read to disk", Bytes;
    /// Spark: shuffle bytes read from the same node.
    ShuffleLocalBytesRead = "Shuffle Read Metrics.Local Bytes Read", "local shuffle bytes read", Bytes;
    /// Spark: shuffle records read.
    ShuffleRecordsRead = "Shuffle Read Metrics.Total Records Read", "shuffle records read", Count;
    /// Spark: shuffle blocks fetched from other nodes.
    ShuffleRemoteBlocks = "Shuffle Read Metrics.Remote Blocks Fetched", "remote shuffle blocks", Count;
    /// Spark: shuffle blocks read from the same node.
    ShuffleLocalBlocks = "Shuffle Read Metrics.Local Blocks Fetched", "local shuffle blocks", Count;
    /// Spark: time blocked on fetching shuffle blocks.
    ShuffleFetchWaitTime = "Shuffle Read Metrics.Fetch Wait Time", "shuffle fetch wait time", Millis;
    /// Spark: shuffle bytes written.
    ShuffleBytesWritten = "Shuffle Write Metrics.Shuffle Bytes Written", "shuffle bytes written", Bytes;
    /// Spark: time blocked on writing shuffle data.
    ShuffleWriteTime = "Shuffle Write Metrics.Shuffle Write Time", "shuffle write time", Millis;
    /// Spark: shuffle records written.
    ShuffleRecordsWritten = "Shuffle Write Metrics.Shuffle Records Written", "shuffle records written", Count;
}

impl Counter {
    /// Number of typed counters.
    pub const COUNT: usize = Self::ALL.len();

    /// Hadoop's counters, which precede Spark's.
    fn of_hadoop() -> impl Iterator<Item = Self> {
        Self::ALL.into_iter().take_while(|&counter| counter != Self::ExecutorRunTime)
    }

    /// The counters whose sum is a task's input, whatever the file system.
    pub const INPUT_BYTES: [Self; 5] = [
        Self::HdfsBytesRead,
        Self::S3BytesRead,
        Self::S3aBytesRead,
        Self::S3nBytesRead,
        Self::OtherFsBytesRead,
    ];

    /// The name in this engine's logs; the engines share some counters.
    #[must_use]
    pub const fn name_in(self, engine: Engine) -> &'static str {
        match (self, engine) {
            (Self::GcTimeMillis, Engine::Spark) => "JVM GC Time",
            (Self::CpuMilliseconds, Engine::Spark) => "Executor CPU Time",
            (Self::ReduceShuffleBytes, Engine::Tez) => "SHUFFLE_BYTES",
            (Self::MapInputRecords, Engine::Tez) => "INPUT_RECORDS_PROCESSED",
            (Self::MapOutputRecords, Engine::Tez) => "OUTPUT_RECORDS",
            (Self::MapOutputBytes, Engine::Tez) => "OUTPUT_BYTES",
            (Self::MapOutputMaterializedBytes, Engine::Tez) => "OUTPUT_BYTES_PHYSICAL",
            (counter, _) => counter.name(),
        }
    }

    /// The counter that Tez writes under this name, where it does not use Hadoop's: `TaskCounter` of Tez.
    #[must_use]
    pub fn from_tez_name(name: &str) -> Option<Self> {
        let renamed = [
            Self::ReduceShuffleBytes,
            Self::MapInputRecords,
            Self::MapOutputRecords,
            Self::MapOutputBytes,
            Self::MapOutputMaterializedBytes,
        ];
        renamed.into_iter().find(|counter| counter.name_in(Engine::Tez) == name)
    }

    /// The counter's index in [`Counter::ALL`].
    #[must_use]
    pub const fn index(self) -> usize {
        self as usize
    }

    /// The typed counter with this name in Hadoop 1 to 3.
    #[must_use]
    pub fn from_name(group: &str, name: &str) -> Option<Self> {
        let exact = Self::of_hadoop().find(|counter| counter.name() == name);
        if exact.is_some() {
            return exact;
        }
        match name {
            "MAP_PHYSICAL_MEMORY_BYTES_MAX" | "REDUCE_PHYSICAL_MEMORY_BYTES_MAX" => {
                Some(Self::PeakPhysicalMemoryBytes)
            }
            "MAP_VIRTUAL_MEMORY_BYTES_MAX" | "REDUCE_VIRTUAL_MEMORY_BYTES_MAX" => {
                Some(Self::PeakVirtualMemoryBytes)
            }
            _ if !is_file_system_group(group) => None,
            _ if name.ends_with("_BYTES_READ") => Some(Self::OtherFsBytesRead),
            _ if name.ends_with("_BYTES_WRITTEN") => Some(Self::RemoteBytesWritten),
            _ => None,
        }
    }

    /// The typed counter with this display name, which Hadoop 0.18 uses.
    #[must_use]
    pub fn from_display_name(name: &str) -> Option<Self> {
        Self::of_hadoop().find(|counter| counter.display_name() == name)
    }
}

/// Whether `group` contains file system counters.
#[must_use]
pub(crate) fn is_file_system_group(group: &str) -> bool {
    matches!(group, "org.apache.hadoop.mapreduce.FileSystemCounter" | "FileSystemCounters" | "File Systems")
        || group.ends_with(".FileSystemCounter")
}

/// Whether `group` belongs to Hadoop itself, not to a user's code.
#[must_use]
pub fn is_framework_group(group: &str) -> bool {
    is_file_system_group(group)
        || group.ends_with(".TaskCounter")
        || group.ends_with(".Task$Counter")
        || group.ends_with("FileInputFormatCounter")
        || group.ends_with("FileOutputFormatCounter")
        || group.ends_with("FileInputFormat$Counter")
        || group.ends_with("FileOutputFormat$Counter")
        || group == "Map-Reduce Framework"
}

#[cfg(test)]
mod tests {
    use super::*;

    const FS: &str = "org.apache.hadoop.mapreduce.FileSystemCounter";

    #[test]
    fn every_file_system_except_the_local_one_is_input() {
        let of = |name| Counter::from_name(FS, name);
        assert_eq!(of("HDFS_BYTES_READ"), Some(Counter::HdfsBytesRead));
        assert_eq!(of("ABFS_BYTES_READ"), Some(Counter::OtherFsBytesRead));
        assert_eq!(of("WASB_BYTES_READ"), Some(Counter::OtherFsBytesRead));
        assert_eq!(of("FILE_BYTES_READ"), Some(Counter::FileBytesRead));
        assert_eq!(of("GS_READ_OPS"), None);
        assert_eq!(Counter::from_name("my.Job$Counters", "ROWS_BYTES_READ"), None);
    }

    #[test]
    fn both_spellings_name_the_same_counter() {
        let hadoop1 = Counter::from_name("org.apache.hadoop.mapred.Task$Counter", "SPILLED_RECORDS");
        assert_eq!(hadoop1, Some(Counter::SpilledRecords));
        assert_eq!(Counter::from_display_name("Spilled Records"), hadoop1);
        let peak =
            Counter::from_name("org.apache.hadoop.mapreduce.TaskCounter", "MAP_PHYSICAL_MEMORY_BYTES_MAX");
        assert_eq!(peak, Some(Counter::PeakPhysicalMemoryBytes));
    }
}
