//! Facts of Spark, Hadoop and the JVM that rules compute with: one table, each with the version and the source that it is
//! from. What a rule finds much or little is no fact: it stands in the rule's YAML. Defaults of settings by version are in
//! [`defaults`](crate::model::conf::defaults).

use elephant_base::units::{Bytes, Millis};

/// Facts of Spark.
pub mod spark {
    use super::{Bytes, Millis};

    /// The call site of every call from Python or R (Java's reflection, through Py4J): it names nothing of the user's.
    pub const CALL_THROUGH_REFLECTION: &str = "NativeMethodAccessorImpl.java";
    /// The part of a heap that Spark reserves for itself (since 1.6: `UnifiedMemoryManager.RESERVED_SYSTEM_MEMORY_BYTES`).
    pub const RESERVED_MEMORY: Bytes = Bytes::from_mib(300);
    /// The smallest heap with which Spark starts (since 1.6: 1.5 times the part that it reserves for itself, in
    /// `UnifiedMemoryManager.getMaxMemory`).
    pub const LEAST_HEAP: Bytes = Bytes::from_mib(450);
    /// The default overhead as a share of the heap (`spark.executor.memoryOverheadFactor`, since 3.3; before,
    /// `YarnSparkHadoopUtil.MEMORY_OVERHEAD_FACTOR`, since 1.4).
    pub const OVERHEAD_FACTOR: f64 = 0.1;
    /// The least default overhead: `YarnSparkHadoopUtil.MEMORY_OVERHEAD_MIN` since 1.2, `ResourceProfile.MEMORY_OVERHEAD_MIN_MIB`
    /// since 3.1, and the default of `spark.executor.minMemoryOverhead` since 4.0.
    pub const LEAST_OVERHEAD: Bytes = Bytes::from_mib(384);
    /// The default of `spark.network.timeout` (`config.Network.NETWORK_TIMEOUT`, since 1.3).
    pub const NETWORK_TIMEOUT: Millis = Millis::new(120_000);
    /// The default of `spark.driver.maxResultSize` (`config.MAX_RESULT_SIZE`, since 1.2).
    pub const MAX_RESULT_SIZE: Bytes = Bytes::from_mib(1024);
    /// The default of `spark.kryoserializer.buffer.max` (`KryoSerializer`, since 1.4).
    pub const KRYO_BUFFER: Bytes = Bytes::from_mib(64);
    /// The largest value of `spark.kryoserializer.buffer.max`: it must be below 2 GiB (`KryoSerializer`, since 1.4).
    pub const LARGEST_KRYO_BUFFER: Bytes = Bytes::from_mib(2047);
    /// The default of `spark.dynamicAllocation.executorIdleTimeout` (`config.DYN_ALLOCATION_EXECUTOR_IDLE_TIMEOUT`; the setting
    /// exists since 1.2, with this default in 2.0 and later).
    pub const IDLE_TIMEOUT: Millis = Millis::from_secs(60);
    /// The first version whose adaptive execution splits skewed partitions (`OptimizeSkewedJoin`, SPARK-29544).
    pub const SPLITS_JOINS: (u32, u32) = (3, 0);
    /// The first version that also splits them for shuffled hash joins (SPARK-35214).
    pub const SPLITS_HASH_JOINS: (u32, u32) = (3, 2);
    /// The first version with the setting that splits a join although its result must then be shuffled again
    /// (`spark.sql.adaptive.forceOptimizeSkewedJoin`, SPARK-33832).
    pub const SPLITS_JOINS_BY_FORCE: (u32, u32) = (3, 3);
}

/// Facts of Hadoop.
pub mod hadoop {
    use super::Bytes;

    /// The share of a container that Hadoop gives to the heap (`mapreduce.job.heap.memory-mb.ratio`, since 3.0: MAPREDUCE-5785).
    pub const HEAP_SHARE: f64 = 0.8;
    /// How far a heap may be from that share of its container because both are whole MiB, as a share of it.
    pub const HEAP_ROUNDING: f64 = 0.002;
    /// The heap of tasks if no limit is set (`JobConf.DEFAULT_MAPRED_TASK_JAVA_OPTS`: -Xmx200m before 3.0, and empty since, where
    /// [`HEAP_SHARE`] counts instead).
    pub const USUAL_HEAP: Bytes = Bytes::from_mib(200);
    /// Milliseconds without progress after which a task is killed (`mapreduce.task.timeout` in `mapred-default.xml`, before 0.21
    /// `mapred.task.timeout`).
    pub const TASK_TIMEOUT_MS: u64 = 600_000;
    /// Bytes of metadata for each record in the sort buffer (`MapTask.MapOutputBuffer.METASIZE`, since 0.21).
    pub const SORT_METADATA: u64 = 16;
    /// The largest sort buffer in MiB (`MapTask.MapOutputBuffer` rejects a size of more than 11 bits, all versions).
    pub const LARGEST_SORT_BUFFER_MIB: u64 = 2047;
    /// The pause of the speculator after a scan that copied nothing (`mapreduce.job.speculative.retry-after-no-speculate`,
    /// since 2.7: MAPREDUCE-6143).
    pub const PAUSE_WITHOUT_COPY_MS: i64 = 1000;
}

/// Facts of the JVM and the operating system.
pub mod process {
    use super::Bytes;

    /// The largest heap with short references, rounded down: from 32 GiB on, `HotSpot` needs twice the memory for them
    /// (`-XX:+UseCompressedOops`).
    pub const LARGEST_COMPRESSED_HEAP: Bytes = Bytes::from_mib(31 * 1024);
    /// The exit code of a process that SIGKILL ended: 128 and the number of the signal.
    pub const SIGKILL: i32 = 137;
}
