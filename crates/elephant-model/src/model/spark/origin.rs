//! Where the tasks of a stage come from, as far as the RDDs of the stage tell.

/// What an RDD of a stage is or does, by its name or by the operation that made it (`RDDInfo`, "Name" and "Scope").
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u16)]
pub enum Origin {
    /// Reads a database (`JDBCRDD`).
    Jdbc = 1,
    /// Reads files (`FileScanRDD`, `HadoopRDD`, `NewHadoopRDD`).
    Files = 1 << 1,
    /// Reads a source of the second version of the interface of Spark SQL (`DataSourceRDD`).
    DataSource = 1 << 2,
    /// Reads Kafka (`KafkaSourceRDD`, `KafkaRDD`).
    Kafka = 1 << 3,
    /// Holds a collection of the driver (`ParallelCollectionRDD`).
    Parallelized = 1 << 4,
    /// Runs a receiver of Spark Streaming as long as the application runs.
    Receiver = 1 << 5,
    /// Runs Python (`PythonRDD`).
    Python = 1 << 6,
    /// Reads a shuffle.
    Shuffle = 1 << 7,
    /// Merges partitions to a number given in the code (`coalesce`).
    Coalesced = 1 << 8,
    /// Shuffles to a number of partitions given in the code (`repartition`).
    Repartitioned = 1 << 9,
    /// Takes a sample (`PartitionwiseSampledRDD`, `takeSample`).
    Sampled = 1 << 10,
    /// Reads a table of `HBase` (`TableInputFormat`).
    HBase = 1 << 11,
}

/// A set of origins.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Origins(u16);

impl Origins {
    /// Adds an origin.
    pub const fn add(&mut self, origin: Origin) {
        self.0 |= origin as u16;
    }

    /// Adds all origins of another set.
    pub const fn add_all(&mut self, others: Self) {
        self.0 |= others.0;
    }

    /// Whether the set has an origin.
    #[must_use]
    pub const fn has(self, origin: Origin) -> bool {
        self.0 & origin as u16 != 0
    }
}
