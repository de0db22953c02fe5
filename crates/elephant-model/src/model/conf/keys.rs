//! The settings that are looked up, each with all its names.

macro_rules! conf_keys {
    ($($(#[$doc:meta])* $variant:ident = $current:literal $(| $old:literal)*;)+) => {
        /// A setting that the tool looks up, by any of its names.
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
    /// Memory of a container of Tez in MiB; Hive sets its own.
    TezTaskMemoryMb = "tez.task.resource.memory.mb";
    /// Memory of a container of Tez that Hive asks for, in MiB.
    HiveContainerMb = "hive.tez.container.size";
    /// Memory of the container of Tez's application master, in MiB.
    TezMasterMemoryMb = "tez.am.resource.memory.mb";
    /// JVM options of tasks of Tez; Hive sets its own.
    TezJavaOpts = "hive.tez.java.opts" | "tez.task.launch.cmd-opts";
    /// Sort buffer of an output of Tez in MiB.
    TezSortMb = "tez.runtime.io.sort.mb";
    /// Largest group of input splits that one task of Tez reads, in bytes.
    TezGroupingMax = "tez.grouping.max-size";
    /// Smallest group of input splits that one task of Tez reads, in bytes.
    TezGroupingMin = "tez.grouping.min-size";
    /// Bytes that Hive gives each reduce task.
    BytesPerReducer = "hive.exec.reducers.bytes.per.reducer";
    /// Whether Tez runs speculative copies.
    TezSpeculation = "tez.am.speculation.enabled";
    /// Failures of attempts on one node after which Tez avoids it.
    TezFailuresPerNode = "tez.am.maxtaskfailures.per.node";
    /// Queue of an application of Tez.
    TezQueue = "tez.queue.name";
    /// Memory of the application master's container in MiB.
    MasterMemoryMb = "yarn.app.mapreduce.am.resource.mb";
    /// JVM options of the application master.
    MasterJavaOpts = "yarn.app.mapreduce.am.command-opts";
    /// JVM options of map tasks.
    MapJavaOpts = "mapreduce.map.java.opts" | "mapred.map.child.java.opts" | "mapred.child.java.opts";
    /// JVM options of reduce tasks.
    ReduceJavaOpts = "mapreduce.reduce.java.opts" | "mapred.reduce.child.java.opts" | "mapred.child.java.opts";
    /// Smallest container that YARN grants, in MiB.
    MinimumAllocationMb = "yarn.scheduler.minimum-allocation-mb";
    /// Largest container that YARN grants, in MiB.
    MaximumAllocationMb = "yarn.scheduler.maximum-allocation-mb";
    /// Share of maps that must have ended before reduces start.
    SlowStart = "mapreduce.job.reduce.slowstart.completedmaps" | "mapred.reduce.slowstart.completed.maps";
    /// Largest share of the containers that reduces get while maps wait.
    ReduceRampUp = "yarn.app.mapreduce.am.job.reduce.rampup.limit";
    /// Number of maps: what the job asked for, and once it is submitted, what it got.
    Maps = "mapreduce.job.maps" | "mapred.map.tasks";
    /// Number of reduces.
    Reduces = "mapreduce.job.reduces" | "mapred.reduce.tasks";
    /// Queue of the job.
    Queue = "mapreduce.job.queuename" | "mapred.job.queue.name";
    /// Maximum number of maps of the job that run at once; 0 for no limit.
    RunningMapLimit = "mapreduce.job.running.map.limit";
    /// Maximum number of reduces of the job that run at once; 0 for no limit.
    RunningReduceLimit = "mapreduce.job.running.reduce.limit";
    /// Whether a small job runs inside its application master.
    UberTask = "mapreduce.job.ubertask.enable";
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
    /// Share of a reduce task's memory for fetched data from which on the data is merged.
    ShuffleMergePercent = "mapreduce.reduce.shuffle.merge.percent" | "mapred.job.shuffle.merge.percent";
    /// Whether map output is compressed.
    MapOutputCompress = "mapreduce.map.output.compress" | "mapred.compress.map.output";
    /// Milliseconds without progress after which a task is killed.
    TaskTimeout = "mapreduce.task.timeout" | "mapred.task.timeout";
    /// Failures of a job's tasks on one node after which the job avoids it.
    MaxFailuresPerTracker = "mapreduce.job.maxtaskfailures.per.tracker" | "mapred.max.tracker.failures";
    /// Files of the distributed cache.
    CacheFiles = "mapreduce.job.cache.files" | "mapred.cache.files";
    /// Sizes of those files.
    CacheFileSizes = "mapreduce.job.cache.files.filesizes" | "mapred.cache.files.filesizes";
    /// Archives of the distributed cache.
    CacheArchives = "mapreduce.job.cache.archives" | "mapred.cache.archives";
    /// Sizes of those archives.
    CacheArchiveSizes = "mapreduce.job.cache.archives.filesizes" | "mapred.cache.archives.filesizes";
    /// Whether maps may be executed speculatively.
    MapSpeculative = "mapreduce.map.speculative" | "mapred.map.tasks.speculative.execution";
    /// Whether reduces may be executed speculatively.
    ReduceSpeculative = "mapreduce.reduce.speculative" | "mapred.reduce.tasks.speculative.execution";
    /// Largest share of the running tasks that is executed a second time.
    SpeculativeCapRunning = "mapreduce.job.speculative.speculative-cap-running-tasks" | "mapreduce.job.speculative.speculativecap";
    /// Number of tasks that may be executed a second time, whatever their share.
    SpeculativeMinimum = "mapreduce.job.speculative.minimum-allowed-tasks";
    /// Milliseconds from one second attempt to the next.
    SpeculativeRetryAfter = "mapreduce.job.speculative.retry-after-speculate";
    /// How the application master estimates the end of tasks.
    TaskEstimator = "yarn.app.mapreduce.am.job.task.estimator.class";
    /// Hive: whether it aggregates twice, with the frequent keys distributed in between.
    HiveGroupBySkew = "hive.groupby.skewindata";
    /// Hive: whether it joins frequent keys in a job of their own.
    HiveSkewJoin = "hive.optimize.skewjoin";
    /// Hive: how it reads files.
    HiveInputFormat = "hive.input.format";
    /// Pig: up to which size it combines small files into one split.
    PigSplitSize = "pig.maxCombinedSplitSize";
    /// Pig: whether it combines small files.
    PigCombines = "pig.splitCombination";
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
    /// Spark: how long tasks wait before dynamic allocation asks for executors.
    DynamicAllocationBacklog = "spark.dynamicAllocation.schedulerBacklogTimeout";
    /// Spark: how long they wait before it asks for more.
    DynamicAllocationSustained = "spark.dynamicAllocation.sustainedSchedulerBacklogTimeout";
    /// Spark: idle time after which dynamic allocation gives an executor back.
    DynamicAllocationIdleTimeout = "spark.dynamicAllocation.executorIdleTimeout";
    /// Spark: the same for an executor that holds cached blocks.
    DynamicAllocationCachedTimeout = "spark.dynamicAllocation.cachedExecutorIdleTimeout";
    /// Spark: whether dynamic allocation works by tracking shuffles, without a shuffle service.
    ShuffleTracking = "spark.dynamicAllocation.shuffleTracking.enabled";
    /// Spark: the idle time after which an executor with tracked shuffle files is given back.
    ShuffleTrackingTimeout = "spark.dynamicAllocation.shuffleTracking.timeout";
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
    /// Spark: whether adaptive plans merge small partitions.
    AdaptiveCoalesce = "spark.sql.adaptive.coalescePartitions.enabled";
    /// Spark: partitions of a shuffle before adaptive plans merge them.
    AdaptiveInitialPartitions = "spark.sql.adaptive.coalescePartitions.initialPartitionNum";
    /// Spark: whether adaptive plans split skewed partitions of joins.
    AdaptiveSkewJoin = "spark.sql.adaptive.skewJoin.enabled";
    /// Spark: adaptive plans split partitions of joins from this size on.
    AdaptiveSkewThreshold = "spark.sql.adaptive.skewJoin.skewedPartitionThresholdInBytes";
    /// Spark: adaptive plans split partitions of joins from this multiple of the median on.
    AdaptiveSkewFactor = "spark.sql.adaptive.skewJoin.skewedPartitionFactor";
    /// Spark: size of partitions that adaptive plans aim at.
    AdaptivePartitionSize = "spark.sql.adaptive.advisoryPartitionSizeInBytes" | "spark.sql.adaptive.shuffle.targetPostShuffleInputSize";
    /// Spark: most bytes of files in a partition of SQL.
    FilesMaxPartitionBytes = "spark.sql.files.maxPartitionBytes";
    /// Spark: how long a task waits for an executor that is close to its data.
    LocalityWait = "spark.locality.wait";
    /// Spark: share of the requested executors that must have started before tasks run.
    MinRegisteredRatio = "spark.scheduler.minRegisteredResourcesRatio";
    /// Spark: the serializer of RDDs and shuffles.
    Serializer = "spark.serializer";
    /// Spark: share of the heap (less 300 MiB) for execution and storage.
    MemoryFraction = "spark.memory.fraction";
    /// Spark: share of that which storage can keep.
    MemoryStorageFraction = "spark.memory.storageFraction";
    /// Spark: whether memory off the heap is used.
    OffHeapEnabled = "spark.memory.offHeap.enabled";
    /// Spark: size of off-heap memory.
    OffHeapSize = "spark.memory.offHeap.size";
    /// Spark: whether executors report the memory of all their processes.
    ProcessTreeMetrics = "spark.executor.processTreeMetrics.enabled";
    /// Spark on YARN: jars to distribute (Spark 1).
    SecondaryJars = "spark.yarn.secondary.jars";
    /// Spark: CPUs of a task.
    TaskCpus = "spark.task.cpus";
    /// Spark: failures of one task that end its job.
    TaskMaxFailures = "spark.task.maxFailures";
    /// Spark: whether slow tasks are run a second time.
    Speculation = "spark.speculation";
    /// Spark: a task is copied once it runs this multiple of the median.
    SpeculationMultiplier = "spark.speculation.multiplier";
    /// Spark: share of a stage's tasks that must be finished before any is copied.
    SpeculationQuantile = "spark.speculation.quantile";
    /// Spark: minimum run time of a task before it is copied.
    SpeculationMinTaskRuntime = "spark.speculation.minTaskRuntime";
    /// Spark: whether nodes and executors on which tasks fail get no more tasks.
    ExcludeOnFailure = "spark.excludeOnFailure.enabled" | "spark.blacklist.enabled";
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
    /// Spark: the longest silence between processes, after which a connection or an executor counts as lost.
    NetworkTimeout = "spark.network.timeout";
    /// How much shuffle data a task fetches at once.
    MaxSizeInFlight = "spark.reducer.maxSizeInFlight";
    /// Spark: most bytes of results that the tasks of a job may send to the driver.
    DriverMaxResultSize = "spark.driver.maxResultSize";
    /// Spark: the largest object that Kryo can serialize.
    KryoBufferMax = "spark.kryoserializer.buffer.max";
    /// Spark: the largest table that joins broadcast; -1 for none.
    BroadcastThreshold = "spark.sql.autoBroadcastJoinThreshold";
    /// Spark: whether executors hand over their work before they are removed.
    Decommission = "spark.decommission.enabled";
    /// Spark: whether they also hand over their blocks.
    StorageDecommission = "spark.storage.decommission.enabled";
    /// Spark: the codec of shuffle files and other internal data.
    IoCodec = "spark.io.compression.codec";
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
