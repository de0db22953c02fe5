//! The documented defaults of settings, for settings that an application does not set: one table for all rules.
//!
//! Sources: `configuration.md` and `sql-performance-tuning.md` of Spark, `mapred-default.xml`, `hdfs-default.xml` and
//! `yarn-default.xml` of Hadoop. Settings whose default depends on the cluster (such as `spark.executor.cores`) are
//! not listed.

use super::{Conf, ConfKey, Property};
use crate::model::{Application, Engine};
use elephant_base::units::Bytes;

/// Major and minor version of an engine.
pub type Version = (u32, u32);

/// A setting, and its default from each version on.
pub type Default = (&'static str, &'static [(Version, &'static str)]);

/// The defaults of Spark. Those of Spark 1 are listed only where they are used.
pub const SPARK: &[Default] = &[
    ("spark.broadcast.blockSize", &[((2, 0), "4m")]),
    ("spark.broadcast.compress", &[((1, 0), "true")]),
    ("spark.decommission.enabled", &[((3, 1), "false")]),
    ("spark.driver.cores", &[((1, 3), "1")]),
    ("spark.driver.maxResultSize", &[((1, 2), "1g")]),
    ("spark.driver.memory", &[((2, 0), "1g")]),
    ("spark.dynamicAllocation.cachedExecutorIdleTimeout", &[((1, 4), "infinity")]),
    ("spark.dynamicAllocation.enabled", &[((1, 2), "false")]),
    ("spark.dynamicAllocation.executorAllocationRatio", &[((2, 4), "1")]),
    ("spark.dynamicAllocation.executorIdleTimeout", &[((2, 0), "60s")]),
    ("spark.dynamicAllocation.minExecutors", &[((1, 3), "0")]),
    ("spark.dynamicAllocation.schedulerBacklogTimeout", &[((2, 0), "1s")]),
    ("spark.dynamicAllocation.shuffleTracking.enabled", &[((3, 0), "false"), ((3, 4), "true")]),
    ("spark.dynamicAllocation.shuffleTracking.timeout", &[((3, 0), "infinity")]),
    ("spark.eventLog.compress", &[((1, 0), "false"), ((4, 0), "true")]),
    ("spark.eventLog.logBlockUpdates.enabled", &[((2, 3), "false")]),
    ("spark.eventLog.rolling.enabled", &[((3, 0), "false"), ((4, 0), "true")]),
    ("spark.eventLog.rolling.maxFileSize", &[((3, 0), "128m")]),
    ("spark.excludeOnFailure.enabled", &[((2, 1), "false")]),
    ("spark.executor.heartbeatInterval", &[((2, 0), "10s")]),
    ("spark.executor.memory", &[((2, 0), "1g")]),
    ("spark.executor.processTreeMetrics.enabled", &[((3, 0), "false")]),
    ("spark.io.compression.codec", &[((1, 1), "snappy"), ((2, 0), "lz4")]),
    ("spark.io.compression.zstd.level", &[((2, 3), "1")]),
    ("spark.kryo.registrationRequired", &[((1, 1), "false")]),
    ("spark.kryoserializer.buffer", &[((2, 0), "64k")]),
    ("spark.kryoserializer.buffer.max", &[((2, 0), "64m")]),
    ("spark.locality.wait", &[((2, 0), "3s")]),
    ("spark.memory.fraction", &[((1, 6), "0.75"), ((2, 0), "0.6")]),
    ("spark.memory.offHeap.enabled", &[((1, 6), "false")]),
    ("spark.memory.offHeap.size", &[((1, 6), "0")]),
    ("spark.memory.storageFraction", &[((1, 6), "0.5")]),
    ("spark.network.timeout", &[((2, 0), "120s")]),
    ("spark.rdd.compress", &[((1, 0), "false")]),
    ("spark.reducer.maxSizeInFlight", &[((2, 0), "48m")]),
    ("spark.rpc.message.maxSize", &[((2, 0), "128")]),
    ("spark.scheduler.mode", &[((1, 0), "FIFO")]),
    ("spark.serializer", &[((1, 0), "org.apache.spark.serializer.JavaSerializer")]),
    ("spark.shuffle.compress", &[((1, 0), "true")]),
    ("spark.shuffle.file.buffer", &[((2, 0), "32k")]),
    ("spark.shuffle.io.maxRetries", &[((1, 2), "3")]),
    ("spark.shuffle.io.retryWait", &[((2, 0), "5s")]),
    ("spark.shuffle.manager", &[((1, 2), "sort")]),
    ("spark.shuffle.service.enabled", &[((1, 2), "false")]),
    ("spark.shuffle.sort.bypassMergeThreshold", &[((1, 2), "200")]),
    ("spark.shuffle.spill.compress", &[((1, 0), "true")]),
    ("spark.speculation", &[((1, 0), "false")]),
    ("spark.speculation.interval", &[((2, 0), "100ms")]),
    ("spark.speculation.minTaskRuntime", &[((3, 2), "100ms")]),
    ("spark.speculation.multiplier", &[((1, 0), "1.5"), ((4, 0), "3")]),
    ("spark.speculation.quantile", &[((1, 0), "0.75"), ((4, 0), "0.9")]),
    ("spark.sql.adaptive.advisoryPartitionSizeInBytes", &[((3, 0), "64m")]),
    ("spark.sql.adaptive.coalescePartitions.enabled", &[((3, 0), "true")]),
    ("spark.sql.adaptive.coalescePartitions.minPartitionSize", &[((3, 2), "1MB")]),
    ("spark.sql.adaptive.coalescePartitions.parallelismFirst", &[((3, 2), "true")]),
    ("spark.sql.adaptive.enabled", &[((2, 0), "false"), ((3, 2), "true")]),
    ("spark.sql.adaptive.localShuffleReader.enabled", &[((3, 0), "true")]),
    ("spark.sql.adaptive.skewJoin.enabled", &[((3, 0), "true")]),
    ("spark.sql.adaptive.skewJoin.skewedPartitionFactor", &[((3, 1), "5")]),
    ("spark.sql.adaptive.skewJoin.skewedPartitionThresholdInBytes", &[((3, 0), "256m")]),
    ("spark.sql.autoBroadcastJoinThreshold", &[((1, 1), "10485760")]),
    ("spark.sql.broadcastTimeout", &[((2, 0), "300")]),
    ("spark.sql.cbo.enabled", &[((2, 2), "false")]),
    ("spark.sql.execution.arrow.pyspark.enabled", &[((3, 0), "false")]),
    ("spark.sql.files.maxPartitionBytes", &[((2, 0), "134217728")]),
    ("spark.sql.files.openCostInBytes", &[((2, 0), "4194304")]),
    ("spark.sql.inMemoryColumnarStorage.batchSize", &[((2, 0), "10000")]),
    ("spark.sql.inMemoryColumnarStorage.compressed", &[((1, 1), "true")]),
    ("spark.sql.parquet.compression.codec", &[((2, 0), "snappy")]),
    ("spark.sql.parquet.filterPushdown", &[((2, 0), "true")]),
    ("spark.sql.shuffle.partitions", &[((1, 1), "200")]),
    ("spark.sql.sources.partitionOverwriteMode", &[((2, 3), "STATIC")]),
    ("spark.stage.maxConsecutiveAttempts", &[((2, 2), "4")]),
    ("spark.storage.decommission.enabled", &[((3, 1), "false")]),
    ("spark.streaming.backpressure.enabled", &[((1, 5), "false")]),
    ("spark.task.cpus", &[((1, 0), "1")]),
    ("spark.task.maxFailures", &[((1, 0), "4")]),
    ("spark.yarn.am.cores", &[((1, 3), "1")]),
    ("spark.yarn.am.memory", &[((1, 3), "512m")]),
];

/// The defaults of Hadoop. A job history does not tell Hadoop's version.
pub const HADOOP: &[Default] = &[
    ("dfs.blocksize", &[((1, 0), "67108864"), ((2, 0), "134217728")]),
    ("dfs.replication", &[((1, 0), "3")]),
    ("mapreduce.client.submit.file.replication", &[((1, 0), "10")]),
    ("mapreduce.input.fileinputformat.split.minsize", &[((1, 0), "0")]),
    ("mapreduce.job.jvm.numtasks", &[((1, 0), "1")]),
    ("mapreduce.job.queuename", &[((1, 0), "default")]),
    ("mapreduce.job.reduce.slowstart.completedmaps", &[((1, 0), "0.05")]),
    ("mapreduce.job.reduces", &[((1, 0), "1")]),
    ("mapreduce.job.running.map.limit", &[((2, 7), "0")]),
    ("mapreduce.job.running.reduce.limit", &[((2, 7), "0")]),
    ("mapreduce.job.speculative.minimum-allowed-tasks", &[((2, 7), "10")]),
    ("mapreduce.job.speculative.retry-after-speculate", &[((2, 7), "15000")]),
    ("mapreduce.job.speculative.speculative-cap-running-tasks", &[((2, 7), "0.1")]),
    ("mapreduce.job.ubertask.enable", &[((2, 0), "false")]),
    ("mapreduce.job.ubertask.maxmaps", &[((2, 0), "9")]),
    ("mapreduce.job.ubertask.maxreduces", &[((2, 0), "1")]),
    ("mapreduce.map.cpu.vcores", &[((2, 2), "1")]),
    ("mapreduce.map.maxattempts", &[((1, 0), "4")]),
    ("mapreduce.map.memory.mb", &[((2, 0), "1024"), ((3, 0), "-1")]),
    ("mapreduce.map.output.compress", &[((1, 0), "false")]),
    ("mapreduce.map.output.compress.codec", &[((1, 0), "org.apache.hadoop.io.compress.DefaultCodec")]),
    ("mapreduce.map.sort.spill.percent", &[((1, 0), "0.80")]),
    ("mapreduce.map.speculative", &[((1, 0), "true")]),
    ("mapreduce.output.fileoutputformat.compress", &[((1, 0), "false")]),
    ("mapreduce.output.fileoutputformat.compress.type", &[((1, 0), "RECORD")]),
    ("mapreduce.reduce.cpu.vcores", &[((2, 2), "1")]),
    ("mapreduce.reduce.input.buffer.percent", &[((1, 0), "0.0")]),
    ("mapreduce.reduce.maxattempts", &[((1, 0), "4")]),
    ("mapreduce.reduce.memory.mb", &[((2, 0), "1024"), ((3, 0), "-1")]),
    ("mapreduce.reduce.merge.inmem.threshold", &[((1, 0), "1000")]),
    ("mapreduce.reduce.shuffle.input.buffer.percent", &[((1, 0), "0.70")]),
    ("mapreduce.reduce.shuffle.merge.percent", &[((1, 0), "0.66")]),
    ("mapreduce.reduce.shuffle.parallelcopies", &[((1, 0), "5")]),
    ("mapreduce.reduce.speculative", &[((1, 0), "true")]),
    ("mapreduce.task.io.sort.factor", &[((1, 0), "10")]),
    ("mapreduce.task.io.sort.mb", &[((1, 0), "100")]),
    ("mapreduce.task.timeout", &[((1, 0), "600000")]),
    ("yarn.app.mapreduce.am.job.reduce.rampup.limit", &[((2, 0), "0.5")]),
    ("yarn.app.mapreduce.am.resource.mb", &[((2, 0), "1536")]),
    ("yarn.scheduler.minimum-allocation-mb", &[((2, 0), "1024")]),
];

/// The default of `spark.executor.memory` and `spark.driver.memory`.
pub const HEAP: Bytes = Bytes::from_mib(1024);
/// The default of `spark.memory.fraction` since Spark 2.0.
pub const MEMORY_FRACTION: f64 = 0.6;
/// The default of `spark.sql.shuffle.partitions`.
pub const SHUFFLE_PARTITIONS: u64 = 200;
/// The default of `dfs.blocksize` since Hadoop 2.
pub const BLOCK: Bytes = Bytes::from_mib(128);

/// The defaults of a setting of this engine, by any of its names.
fn of(engine: Engine, name: &str) -> Option<&'static [(Version, &'static str)]> {
    let table = match engine {
        // A DAG of Tez has the settings of Hadoop, too.
        Engine::MapReduce | Engine::Tez => HADOOP,
        Engine::Spark => SPARK,
    };
    let find = |name: &str| table.iter().find(|(known, _)| *known == name).map(|(_, values)| *values);
    find(name).or_else(|| find(ConfKey::named(name)?.name()))
}

/// The value that holds in `version`. Without a version, the value if all versions have the same.
fn in_version(values: &[(Version, &'static str)], version: Option<Version>) -> Option<&'static str> {
    match (version, values) {
        (Some(version), values) => {
            values.iter().rev().find(|(since, _)| version >= *since).map(|(_, value)| *value)
        }
        (None, [(_, only)]) => Some(only),
        (None, _) => None,
    }
}

#[doc(hidden)]
impl Application {
    /// Whether executors come and go with the tasks: `spark.dynamicAllocation.enabled`, which Spark before 2.0 ignores, with a
    /// warning, if the number of executors is set.
    #[must_use]
    pub fn allocates_dynamically(&self) -> bool {
        self.conf.flag(ConfKey::DynamicAllocation) == Some(true) && !self.fixes_executors()
    }

    /// Whether `spark.executor.instances` switches dynamic allocation off.
    #[must_use]
    pub fn fixes_executors(&self) -> bool {
        let is_set = self.conf.integer(ConfKey::ExecutorInstances).is_some_and(|count| count > 0);
        is_set && self.version().is_some_and(|version| version < (2, 0))
    }

    /// Major and minor version of the engine, if the history tells them.
    #[must_use]
    pub fn version(&self) -> Option<Version> {
        let mut parts = self.engine_version.as_deref()?.split('.');
        Some((parts.next()?.parse().ok()?, parts.next()?.parse().ok()?))
    }

    /// The documented default of a setting in the version that ran the application. `None` if there is none, or if the
    /// version is unknown and the default differs between versions.
    #[must_use]
    pub fn default_setting(&self, name: &str) -> Option<&'static str> {
        in_version(of(self.engine, name)?, self.version())
    }

    /// The value that `read` finds for the setting: the one that the application sets, or else its default in the
    /// version that ran the application (in the latest version if that is unknown).
    #[must_use]
    pub fn in_force<T>(&self, key: ConfKey, read: impl Fn(&Conf, ConfKey) -> Option<T>) -> Option<T> {
        read(&self.conf, key).or_else(|| {
            let values = of(self.engine, key.name())?;
            let value = match self.version() {
                Some(version) => in_version(values, Some(version)),
                None => values.last().map(|(_, value)| *value),
            };
            read(&Conf::of_one(key.name(), value?), key)
        })
    }

    /// Whether a setting is set, by the application or by the configuration of the cluster, and is not only a default.
    /// `None` if there is no configuration, or if it does not tell where the value comes from.
    #[must_use]
    pub fn is_set(&self, name: &str) -> Option<bool> {
        if self.conf.is_empty() {
            return None;
        }
        let Some((found, value)) = self.conf.setting_and_name(name) else { return Some(false) };
        if self.engine == Engine::Spark {
            return Some(true);
        }
        // The configuration of a job contains all defaults.
        let told = self.conf.is_default(found).map(|is_default| !is_default);
        told.or_else(|| {
            let defaults = of(self.engine, name)?;
            defaults.iter().all(|(_, default)| *default != value).then_some(true)
        })
    }
}

#[doc(hidden)]
impl Conf {
    /// A configuration of one setting.
    #[must_use]
    pub fn of_one(name: &str, value: &str) -> Self {
        let mut conf = Self::default();
        conf.insert(name.to_owned(), Property { value: value.to_owned(), is_final: false });
        conf
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn app(engine: Engine, version: Option<&str>) -> Application {
        let mut app = Application::new(engine);
        app.engine_version = version.map(str::to_owned);
        app
    }

    #[test]
    fn tables_are_in_order_and_name_settings_as_they_are_called_now() {
        for table in [SPARK, HADOOP] {
            assert!(table.is_sorted_by(|(one, _), (other, _)| one < other));
            for (name, values) in table {
                assert!(values.is_sorted_by(|one, other| one.0 < other.0 && one.1 != other.1), "{name}");
                assert!(ConfKey::named(name).is_none_or(|key| key.name() == *name), "{name}");
            }
        }
    }

    #[test]
    fn constants_are_those_of_the_tables() {
        let spark = app(Engine::Spark, None);
        assert_eq!(spark.in_force(ConfKey::ExecutorMemory, Conf::spark_memory), Some(HEAP));
        assert_eq!(spark.in_force(ConfKey::DriverMemory, Conf::spark_memory), Some(HEAP));
        assert_eq!(spark.in_force(ConfKey::MemoryFraction, Conf::fraction), Some(MEMORY_FRACTION));
        let partitions = spark.in_force(ConfKey::ShufflePartitions, Conf::integer);
        assert_eq!(partitions.and_then(|count| u64::try_from(count).ok()), Some(SHUFFLE_PARTITIONS));
        assert_eq!(app(Engine::MapReduce, None).in_force(ConfKey::BlockSize, Conf::bytes), Some(BLOCK));
    }

    #[test]
    fn defaults_depend_on_the_version() {
        let of = |version, name: &str| app(Engine::Spark, version).default_setting(name);
        let quantile = "spark.speculation.quantile";
        assert_eq!(of(Some("3.5.1"), quantile), Some("0.75"));
        assert_eq!(of(Some("4.0.0"), quantile), Some("0.9"));
        assert_eq!(of(None, quantile), None);
        assert_eq!(of(None, "spark.sql.shuffle.partitions"), Some("200"));
        assert_eq!(of(Some("1.0.2"), "spark.sql.shuffle.partitions"), None);
        assert_eq!(of(Some("2.4.0"), "spark.blacklist.enabled"), Some("false"));
        assert_eq!(of(Some("3.5.1"), "mapreduce.task.io.sort.mb"), None);
        assert_eq!(of(Some("3.5.1"), "my.own"), None);
        let of = |name: &str| app(Engine::MapReduce, None).default_setting(name);
        assert_eq!((of("io.sort.mb"), of("dfs.blocksize")), (Some("100"), None));
    }

    #[test]
    fn a_value_in_force_is_the_set_one_or_the_default() {
        let mut app = app(Engine::Spark, Some("3.1.2"));
        assert_eq!(app.in_force(ConfKey::AdaptiveEnabled, Conf::flag), Some(false));
        app.engine_version = None;
        assert_eq!(app.in_force(ConfKey::AdaptiveEnabled, Conf::flag), Some(true));
        app.conf = Conf::of_one("spark.sql.adaptive.enabled", "false");
        assert_eq!(app.in_force(ConfKey::AdaptiveEnabled, Conf::flag), Some(false));
    }

    #[test]
    fn set_means_not_only_by_default() {
        let mut spark = app(Engine::Spark, Some("3.5.1"));
        assert_eq!(spark.is_set("spark.speculation"), None);
        spark.conf = Conf::of_one("spark.speculation", "false");
        assert_eq!(spark.is_set("spark.speculation"), Some(true));
        assert_eq!(spark.is_set("spark.task.cpus"), Some(false));
        // Without a source, a value that differs from the default was set.
        let mut job = app(Engine::MapReduce, None);
        job.conf = Conf::of_one("io.sort.mb", "100");
        assert_eq!(job.is_set("mapreduce.task.io.sort.mb"), None);
        job.conf = Conf::of_one("io.sort.mb", "200");
        assert_eq!(job.is_set("mapreduce.task.io.sort.mb"), Some(true));
    }
}
