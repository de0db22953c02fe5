//! A job's configuration: raw properties, and typed look-ups that know Hadoop 1 and Hadoop 2 names.
//!
//! Hadoop renamed most keys in 0.21 (`DeprecatedProperties` in its documentation). A look-up by
//! [`ConfKey`] tries the current name first, then the old ones, so rules never spell a key.

mod named;

use std::collections::BTreeMap;

use crate::units::{Bytes, Millis};

/// How deep `${…}` may nest, as in Hadoop's `Configuration.MAX_SUBST`.
const MAX_SUBSTITUTIONS: usize = 20;
/// How long a substituted value may become; longer ones stay unresolved.
const MAX_VALUE_LEN: usize = 1 << 20;

/// One property of the configuration.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Property {
    /// The value as written, variables not yet resolved.
    pub value: String,
    /// Whether the file marks the property `<final>`.
    pub is_final: bool,
}

/// The properties of a job, in name order.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Conf {
    properties: BTreeMap<String, Property>,
}

macro_rules! conf_keys {
    ($($(#[$doc:meta])* $variant:ident = $current:literal $(| $old:literal)*;)+) => {
        /// A setting that the tool looks up, under any of its names.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum ConfKey { $($(#[$doc])* $variant,)+ }

        impl ConfKey {
            /// Every setting.
            pub const ALL: &[Self] = &[$(Self::$variant),+];

            /// The names of the setting, the current one first.
            #[must_use]
            pub const fn names(self) -> &'static [&'static str] {
                match self { $(Self::$variant => &[$current $(, $old)*],)+ }
            }
        }
    };
}

conf_keys! {
    /// Memory of a map container in MiB.
    MapMemoryMb = "mapreduce.map.memory.mb" | "mapred.job.map.memory.mb";
    /// Memory of a reduce container in MiB.
    ReduceMemoryMb = "mapreduce.reduce.memory.mb" | "mapred.job.reduce.memory.mb";
    /// Memory of the application master's container in MiB.
    MasterMemoryMb = "yarn.app.mapreduce.am.resource.mb";
    /// JVM options of map tasks.
    MapJavaOpts = "mapreduce.map.java.opts" | "mapred.map.child.java.opts" | "mapred.child.java.opts";
    /// JVM options of reduce tasks.
    ReduceJavaOpts = "mapreduce.reduce.java.opts" | "mapred.reduce.child.java.opts" | "mapred.child.java.opts";
    /// Smallest container that YARN grants, in MiB.
    MinimumAllocationMb = "yarn.scheduler.minimum-allocation-mb";
    /// Share of maps that must have ended before reduces start.
    SlowStart = "mapreduce.job.reduce.slowstart.completedmaps" | "mapred.reduce.slowstart.completed.maps";
    /// Number of reduces.
    Reduces = "mapreduce.job.reduces" | "mapred.reduce.tasks";
    /// Queue of the job.
    Queue = "mapreduce.job.queuename" | "mapred.job.queue.name";
    /// Name of the job.
    JobName = "mapreduce.job.name" | "mapred.job.name";
    /// User of the job.
    User = "mapreduce.job.user.name" | "user.name";
    /// Block size of files the job writes.
    BlockSize = "dfs.blocksize" | "dfs.block.size";
    /// Largest input split.
    SplitMaxSize = "mapreduce.input.fileinputformat.split.maxsize" | "mapred.max.split.size";
    /// Smallest input split.
    SplitMinSize = "mapreduce.input.fileinputformat.split.minsize" | "mapred.min.split.size";
    /// Sort buffer of a map in MiB.
    SortMb = "mapreduce.task.io.sort.mb" | "io.sort.mb";
    /// Share of the sort buffer that starts a spill.
    SortSpillPercent = "mapreduce.map.sort.spill.percent" | "io.sort.spill.percent";
    /// Streams merged at once.
    SortFactor = "mapreduce.task.io.sort.factor" | "io.sort.factor";
    /// Parallel fetches of a reduce.
    ParallelCopies = "mapreduce.reduce.shuffle.parallelcopies" | "mapred.reduce.parallel.copies";
    /// Whether map output is compressed.
    MapOutputCompress = "mapreduce.map.output.compress" | "mapred.compress.map.output";
    /// Milliseconds without progress after which a task is killed.
    TaskTimeout = "mapreduce.task.timeout" | "mapred.task.timeout";
    /// Files of the distributed cache.
    CacheFiles = "mapreduce.job.cache.files" | "mapred.cache.files";
    /// Sizes of those files.
    CacheFileSizes = "mapreduce.job.cache.files.filesizes" | "mapred.cache.files.filesizes";
    /// Archives of the distributed cache.
    CacheArchives = "mapreduce.job.cache.archives" | "mapred.cache.archives";
    /// Sizes of those archives.
    CacheArchiveSizes = "mapreduce.job.cache.archives.filesizes" | "mapred.cache.archives.filesizes";
    /// Whether maps may be run twice.
    MapSpeculative = "mapreduce.map.speculative" | "mapred.map.tasks.speculative.execution";
    /// Whether reduces may be run twice.
    ReduceSpeculative = "mapreduce.reduce.speculative" | "mapred.reduce.tasks.speculative.execution";
    /// Spark: the cluster manager.
    SparkMaster = "spark.master";
    /// Spark: name of the application.
    SparkAppName = "spark.app.name";
    /// Spark: id of the application.
    SparkAppId = "spark.app.id";
    /// Spark on YARN: the queue.
    SparkQueue = "spark.yarn.queue";
    /// Spark: where the driver runs, `client` or `cluster`.
    SparkDeployMode = "spark.submit.deployMode";
    /// Spark: heap of an executor.
    ExecutorMemory = "spark.executor.memory";
    /// Spark: memory of an executor's container beyond its heap.
    ExecutorMemoryOverhead = "spark.executor.memoryOverhead" | "spark.yarn.executor.memoryOverhead" | "spark.kubernetes.executor.memoryOverhead" | "spark.mesos.executor.memoryOverhead";
    /// Spark: the same as a share of the heap.
    ExecutorMemoryOverheadFactor = "spark.executor.memoryOverheadFactor" | "spark.kubernetes.memoryOverheadFactor";
    /// Spark: memory of an executor's Python workers.
    ExecutorPysparkMemory = "spark.executor.pyspark.memory";
    /// Spark: cores of an executor.
    ExecutorCores = "spark.executor.cores";
    /// Spark: number of executors, without dynamic allocation.
    ExecutorInstances = "spark.executor.instances";
    /// Spark: cores of all executors together (standalone, Mesos).
    CoresMax = "spark.cores.max";
    /// Spark: JVM options of executors.
    ExecutorJavaOptions = "spark.executor.extraJavaOptions";
    /// Spark: heap of the driver.
    DriverMemory = "spark.driver.memory";
    /// Spark: memory of the driver's container beyond its heap.
    DriverMemoryOverhead = "spark.driver.memoryOverhead" | "spark.yarn.driver.memoryOverhead" | "spark.kubernetes.driver.memoryOverhead";
    /// Spark: the same as a share of the heap.
    DriverMemoryOverheadFactor = "spark.driver.memoryOverheadFactor" | "spark.kubernetes.memoryOverheadFactor";
    /// Spark: cores of the driver.
    DriverCores = "spark.driver.cores";
    /// Spark: whether executors come and go with the load.
    DynamicAllocation = "spark.dynamicAllocation.enabled";
    /// Spark: fewest executors of dynamic allocation.
    DynamicAllocationMin = "spark.dynamicAllocation.minExecutors";
    /// Spark: most executors of dynamic allocation.
    DynamicAllocationMax = "spark.dynamicAllocation.maxExecutors";
    /// Spark: executors that dynamic allocation starts with.
    DynamicAllocationInitial = "spark.dynamicAllocation.initialExecutors";
    /// Spark: idle time after which dynamic allocation gives an executor back.
    DynamicAllocationIdleTimeout = "spark.dynamicAllocation.executorIdleTimeout";
    /// Spark: whether dynamic allocation works by tracking shuffles, without a shuffle service.
    ShuffleTracking = "spark.dynamicAllocation.shuffleTracking.enabled";
    /// Spark: whether an external shuffle service keeps shuffle files.
    ShuffleService = "spark.shuffle.service.enabled";
    /// Spark: the shuffle manager.
    ShuffleManager = "spark.shuffle.manager";
    /// Spark: partitions after a shuffle of SQL.
    ShufflePartitions = "spark.sql.shuffle.partitions";
    /// Spark: partitions after a shuffle of RDDs.
    DefaultParallelism = "spark.default.parallelism";
    /// Spark: whether SQL plans change while they run.
    AdaptiveEnabled = "spark.sql.adaptive.enabled";
    /// Spark: whether adaptive plans split skewed partitions of joins.
    AdaptiveSkewJoin = "spark.sql.adaptive.skewJoin.enabled";
    /// Spark: the serializer of RDDs and shuffles.
    Serializer = "spark.serializer";
    /// Spark: share of the heap (less 300 MiB) for execution and storage.
    MemoryFraction = "spark.memory.fraction";
    /// Spark: share of that which storage can keep.
    MemoryStorageFraction = "spark.memory.storageFraction";
    /// Spark: whether memory off the heap is used.
    OffHeapEnabled = "spark.memory.offHeap.enabled";
    /// Spark: how much.
    OffHeapSize = "spark.memory.offHeap.size";
    /// Spark on YARN: jars to distribute (Spark 1).
    SecondaryJars = "spark.yarn.secondary.jars";
    /// Spark: CPUs of a task.
    TaskCpus = "spark.task.cpus";
    /// Spark: failures of one task that end its job.
    TaskMaxFailures = "spark.task.maxFailures";
    /// Spark: whether slow tasks are run a second time.
    Speculation = "spark.speculation";
    /// Spark: how many times the median a task runs before it is copied.
    SpeculationMultiplier = "spark.speculation.multiplier";
    /// Spark: share of a stage's tasks that has to be done before any is copied.
    SpeculationQuantile = "spark.speculation.quantile";
    /// Spark: how long a task runs at least before it is copied.
    SpeculationMinTaskRuntime = "spark.speculation.minTaskRuntime";
    /// Spark: whether event logs are written in parts.
    EventLogRolling = "spark.eventLog.rolling.enabled";
    /// Spark: size of a part.
    EventLogRollingMaxFileSize = "spark.eventLog.rolling.maxFileSize";
    /// Spark: whether block updates are logged.
    EventLogBlockUpdates = "spark.eventLog.logBlockUpdates.enabled";
    /// Spark 4: the least memory of an executor's container beyond its heap, where no size is set.
    ExecutorMinMemoryOverhead = "spark.executor.minMemoryOverhead";
    /// Spark 4: the same for the driver.
    DriverMinMemoryOverhead = "spark.driver.minMemoryOverhead";
    /// Spark on YARN in client mode: heap of the application master.
    YarnMasterMemory = "spark.yarn.am.memory";
    /// Spark on YARN in client mode: memory of the application master's container beyond its heap.
    YarnMasterMemoryOverhead = "spark.yarn.am.memoryOverhead";
    /// Spark on YARN: whether the application is written in Python.
    YarnIsPython = "spark.yarn.isPython";
    /// Spark on Kubernetes: the language of the application: `java`, `python` or `r`.
    KubernetesResourceType = "spark.kubernetes.resource.type";
    /// Step in which YARN's fair scheduler grants containers, in MiB.
    IncrementAllocationMb = "yarn.scheduler.increment-allocation-mb";
}

impl ConfKey {
    /// The setting's current name.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.names().first().copied().unwrap_or_default()
    }
}

impl FromIterator<(String, Property)> for Conf {
    /// As if each were inserted in turn.
    fn from_iter<T: IntoIterator<Item = (String, Property)>>(properties: T) -> Self {
        let mut all: Vec<(String, Property)> = properties.into_iter().collect();
        all.sort_by(|(one, _), (other, _)| one.cmp(other));
        all.dedup_by(|later, earlier| {
            let same = later.0 == earlier.0;
            if same && !earlier.1.is_final {
                std::mem::swap(&mut later.1, &mut earlier.1);
            }
            same
        });
        Self { properties: all.into_iter().collect() }
    }
}

impl Conf {
    /// Adds a property. A later value replaces an earlier one unless the earlier one is final.
    pub fn insert(&mut self, name: String, property: Property) {
        match self.properties.get(&name) {
            Some(earlier) if earlier.is_final => {}
            _ => {
                self.properties.insert(name, property);
            }
        }
    }

    /// Takes a property out whose later value cannot be told, unless it is final.
    pub fn forget(&mut self, name: &str) {
        if self.properties.get(name).is_some_and(|property| !property.is_final) {
            self.properties.remove(name);
        }
    }

    /// Whether there are no properties.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.properties.is_empty()
    }

    /// Number of properties.
    #[must_use]
    pub fn len(&self) -> usize {
        self.properties.len()
    }

    /// All properties in name order, values as written.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Property)> {
        self.properties.iter().map(|(name, property)| (name.as_str(), property))
    }

    /// A property by its exact name, variables resolved; unknown variables stay as they are written.
    #[must_use]
    pub fn raw(&self, name: &str) -> Option<String> {
        self.properties.get(name).map(|property| self.resolve(&property.value))
    }

    /// A setting under any of its names, the current name first; blank values count as absent.
    #[must_use]
    pub fn text(&self, key: ConfKey) -> Option<String> {
        self.find(key).map(|(_, value)| value)
    }

    /// A setting together with the name under which it was found, so that advice names what the user set.
    #[must_use]
    pub fn find(&self, key: ConfKey) -> Option<(&'static str, String)> {
        key.names().iter().find_map(|&name| {
            let value = self.raw(name)?;
            (!value.trim().is_empty()).then(|| (name, value.trim().to_owned()))
        })
    }

    /// The name to use in advice: the one the job used, or else the current one.
    #[must_use]
    pub fn name_in_use(&self, key: ConfKey) -> &'static str {
        self.find(key).map_or_else(|| key.name(), |(name, _)| name)
    }

    /// A setting that is a whole number, also `0x…` as Hadoop allows; `None` when absent or not a number.
    #[must_use]
    pub fn integer(&self, key: ConfKey) -> Option<i64> {
        let text = self.text(key)?;
        match text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
            Some(hex) => i64::from_str_radix(hex, 16).ok(),
            None => text.parse().ok(),
        }
    }

    /// A setting that is a fraction.
    #[must_use]
    pub fn fraction(&self, key: ConfKey) -> Option<f64> {
        self.text(key)?.parse().ok().filter(|value: &f64| value.is_finite())
    }

    /// A setting that is true or false.
    #[must_use]
    pub fn flag(&self, key: ConfKey) -> Option<bool> {
        match self.text(key)?.to_ascii_lowercase().as_str() {
            "true" => Some(true),
            "false" => Some(false),
            _ => None,
        }
    }

    /// A setting in whole MiB. Zero and below (Hadoop's "not set") are `None`.
    #[must_use]
    pub fn mebibytes(&self, key: ConfKey) -> Option<Bytes> {
        let mib = self.integer(key)?;
        u64::try_from(mib).ok().filter(|&mib| mib > 0).map(Bytes::from_mib)
    }

    /// A setting in bytes, with Hadoop's binary suffixes `k m g t p e` (`StringUtils.TraditionalBinaryPrefix`).
    #[must_use]
    pub fn bytes(&self, key: ConfKey) -> Option<Bytes> {
        parse_binary_prefix(&self.text(key)?)
    }

    /// A size as Spark writes them (`JavaUtils.byteStringAs`): binary suffixes, and `bare_unit` for a number
    /// without one. Zero is a value here: an off-heap size of 0 means none.
    #[must_use]
    pub fn spark_size(&self, key: ConfKey, bare_unit: Bytes) -> Option<Bytes> {
        let text = self.text(key)?;
        match text.parse::<u64>() {
            Ok(number) => number.checked_mul(bare_unit.get()).map(Bytes::new),
            Err(_) => parse_spark_size(&text),
        }
    }

    /// A size of memory as Spark writes them. A bare number means MiB to some parts of Spark and bytes to others;
    /// only one of the two can have worked: nobody asks for a TiB by the million, nor for less than a MiB.
    #[must_use]
    pub fn spark_memory(&self, key: ConfKey) -> Option<Bytes> {
        let number = self.text(key).and_then(|text| text.parse::<u64>().ok());
        let in_bytes = number.is_some_and(|number| number >= Bytes::PER_MIB);
        self.spark_size(key, if in_bytes { Bytes::new(1) } else { Bytes::from_mib(1) })
    }

    /// A span of time as Spark writes them (`JavaUtils.timeStringAs`), in seconds for a number without a unit.
    #[must_use]
    pub fn spark_duration(&self, key: ConfKey) -> Option<Millis> {
        parse_spark_duration(&self.text(key)?)
    }

    /// The heap limit in JVM options (`-Xmx`), from the last one given, as the JVM does.
    #[must_use]
    pub fn heap_limit(&self, key: ConfKey) -> Option<Bytes> {
        let options = self.text(key)?;
        let limit = options.split_whitespace().rev().find_map(|option| option.strip_prefix("-Xmx"))?;
        parse_binary_prefix(limit)
    }

    fn resolve(&self, value: &str) -> String {
        let mut text = value.to_owned();
        for _ in 0..MAX_SUBSTITUTIONS {
            let Some((start, end, replacement)) = self.first_variable(&text) else { break };
            if text.len() + replacement.len() > MAX_VALUE_LEN {
                break;
            }
            text.replace_range(start..end, replacement);
        }
        text
    }

    /// The first `${name}` whose name is a property: its range and the property's value.
    fn first_variable<'a>(&'a self, text: &str) -> Option<(usize, usize, &'a str)> {
        let mut from = 0;
        loop {
            let start = from + text.get(from..)?.find("${")?;
            let body = start + 2;
            let end = body + text.get(body..)?.find('}')?;
            if let Some(property) = self.properties.get(text.get(body..end)?) {
                return Some((start, end + 1, &property.value));
            }
            from = body;
        }
    }
}

fn parse_binary_prefix(text: &str) -> Option<Bytes> {
    let text = text.trim();
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let shift = match text.get(digits.len()..)?.to_ascii_lowercase().as_str() {
        "" | "b" => 0,
        "k" | "kb" => 10,
        "m" | "mb" => 20,
        "g" | "gb" => 30,
        "t" | "tb" => 40,
        "p" => 50,
        "e" => 60,
        _ => return None,
    };
    digits.trim().parse::<u64>().ok()?.checked_mul(1 << shift).map(Bytes::new)
}

fn parse_spark_duration(text: &str) -> Option<Millis> {
    let text = text.to_ascii_lowercase();
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let number: u64 = digits.trim().parse().ok()?;
    let scale = match text.get(digits.len()..)? {
        "us" => return Some(Millis::new(number / 1000)),
        "ms" => 1,
        "" | "s" => 1000,
        "m" | "min" => 60_000,
        "h" => 3_600_000,
        "d" => 86_400_000,
        _ => return None,
    };
    number.checked_mul(scale).map(Millis::new)
}

/// As [`parse_binary_prefix`], also with fractions, which Spark 1 and Dr. Elephant take: `1.5g`, `500 MB`.
fn parse_spark_size(text: &str) -> Option<Bytes> {
    if let Some(bytes) = parse_binary_prefix(text) {
        return Some(bytes);
    }
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let unit = parse_binary_prefix(&format!("1{}", text.get(digits.len()..)?))?;
    let number: f64 = digits.trim().replace(',', "").parse().ok()?;
    Bytes::from_f64(number * unit.as_f64())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn conf(properties: &[(&str, &str)]) -> Conf {
        let mut conf = Conf::default();
        for (name, value) in properties {
            conf.insert((*name).to_owned(), Property { value: (*value).to_owned(), is_final: false });
        }
        conf
    }

    #[test]
    fn old_names_answer_for_new_ones() {
        let old = conf(&[("mapred.job.map.memory.mb", "1024"), ("io.sort.mb", "200")]);
        assert_eq!(old.mebibytes(ConfKey::MapMemoryMb), Some(Bytes::from_mib(1024)));
        assert_eq!(old.name_in_use(ConfKey::SortMb), "io.sort.mb");
        let both = conf(&[("mapred.job.map.memory.mb", "1024"), ("mapreduce.map.memory.mb", "2048")]);
        assert_eq!(both.mebibytes(ConfKey::MapMemoryMb), Some(Bytes::from_mib(2048)));
    }

    #[test]
    fn minus_one_means_not_set() {
        assert_eq!(conf(&[("mapreduce.map.memory.mb", "-1")]).mebibytes(ConfKey::MapMemoryMb), None);
        assert_eq!(conf(&[("mapreduce.map.memory.mb", "lots")]).mebibytes(ConfKey::MapMemoryMb), None);
    }

    #[test]
    fn variables_resolve_and_loops_end() {
        let c = conf(&[
            ("mapreduce.map.memory.mb", "${base}"),
            ("base", "${factor}024"),
            ("factor", "1"),
            ("a", "${b}"),
            ("b", "${a}"),
            ("grow", "${grow}${grow}"),
            ("half", "${unknown}/${factor} and ${open"),
        ]);
        assert_eq!(c.mebibytes(ConfKey::MapMemoryMb), Some(Bytes::from_mib(1024)));
        assert!(c.raw("a").is_some_and(|value| value.starts_with("${")));
        assert!(c.raw("grow").is_some_and(|value| value.len() <= MAX_VALUE_LEN));
        assert_eq!(c.raw("half").as_deref(), Some("${unknown}/1 and ${open"));
    }

    #[test]
    fn final_properties_hold_against_later_ones() {
        let mut c = Conf::default();
        c.insert("k".into(), Property { value: "first".into(), is_final: true });
        c.insert("k".into(), Property { value: "second".into(), is_final: false });
        assert_eq!(c.raw("k").as_deref(), Some("first"));
    }

    #[test]
    fn the_last_heap_limit_counts() {
        let c = conf(&[("mapreduce.map.java.opts", "-Xmx512m -Dx=y -Xmx1G"), ("dfs.blocksize", "64m")]);
        assert_eq!(c.heap_limit(ConfKey::MapJavaOpts), Some(Bytes::new(1 << 30)));
        assert_eq!(c.bytes(ConfKey::BlockSize), Some(Bytes::from_mib(64)));
        assert_eq!(parse_binary_prefix("99999999999999999999"), None);
        assert_eq!(parse_binary_prefix("16e"), None);
    }

    #[test]
    fn sizes_and_times_of_spark() {
        let c = conf(&[
            ("spark.executor.memory", "4g"),
            ("spark.driver.memory", "1.5g"),
            ("spark.executor.memoryOverhead", "512"),
            ("spark.memory.offHeap.size", "0"),
            ("spark.dynamicAllocation.executorIdleTimeout", "2min"),
        ]);
        let mib = Bytes::from_mib(1);
        assert_eq!(c.spark_size(ConfKey::ExecutorMemory, mib), Some(Bytes::from_mib(4096)));
        assert_eq!(c.spark_size(ConfKey::DriverMemory, mib), Some(Bytes::from_mib(1536)));
        assert_eq!(c.spark_size(ConfKey::ExecutorMemoryOverhead, mib), Some(Bytes::from_mib(512)));
        assert_eq!(c.spark_size(ConfKey::OffHeapSize, Bytes::new(1)), Some(Bytes::new(0)));
        assert_eq!(c.spark_memory(ConfKey::ExecutorMemoryOverhead), Some(Bytes::from_mib(512)));
        let bare = conf(&[("spark.executor.memory", "2147483648")]);
        assert_eq!(bare.spark_memory(ConfKey::ExecutorMemory), Some(Bytes::from_mib(2048)));
        assert_eq!(c.spark_duration(ConfKey::DynamicAllocationIdleTimeout), Some(Millis::from_secs(120)));
    }
}
