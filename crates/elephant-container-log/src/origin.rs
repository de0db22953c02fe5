//! Which process wrote a log.

/// The process that a log is of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Origin {
    /// A driver of Spark.
    Driver,
    /// An application master.
    ApplicationMaster,
    /// An executor of Spark.
    Executor,
    /// A task of MapReduce or Tez.
    Container,
    /// A scheduler or another program that submits applications.
    Scheduler,
    /// Diagnostics of a resource manager.
    Diagnostics,
}

/// Words in the loggers of each.
const LOGGERS: [(&str, Origin); 17] = [
    ("CoarseGrainedExecutorBackend", Origin::Executor),
    ("executor.Executor", Origin::Executor),
    ("YarnCoarseGrainedExecutorBackend", Origin::Executor),
    ("ApplicationMaster", Origin::ApplicationMaster),
    ("MRAppMaster", Origin::ApplicationMaster),
    ("DAGAppMaster", Origin::ApplicationMaster),
    ("YarnChild", Origin::Container),
    ("mapred.MapTask", Origin::Container),
    ("mapred.ReduceTask", Origin::Container),
    ("TezChild", Origin::Container),
    ("SparkContext", Origin::Driver),
    ("DAGScheduler", Origin::Driver),
    ("TaskSetManager", Origin::Driver),
    ("utils.LineBufferedStream", Origin::Scheduler),
    ("yarn.Client", Origin::Scheduler),
    ("azkaban.", Origin::Scheduler),
    ("livy.", Origin::Scheduler),
];

impl Origin {
    /// Its name in rule files.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Driver => "driver",
            Self::ApplicationMaster => "am",
            Self::Executor => "executor",
            Self::Container => "container",
            Self::Scheduler => "scheduler",
            Self::Diagnostics => "diagnostics",
        }
    }

    /// All of them.
    pub const ALL: [Self; 6] = [
        Self::Driver,
        Self::ApplicationMaster,
        Self::Executor,
        Self::Container,
        Self::Scheduler,
        Self::Diagnostics,
    ];

    /// By the logger of a line.
    pub(crate) fn of_logger(logger: &str) -> Option<Self> {
        LOGGERS.iter().find(|(word, _)| logger.contains(word)).map(|(_, origin)| *origin)
    }

    /// By the id of a container: the first one of an attempt is that of the application master.
    pub(crate) fn of_container(id: &str) -> Option<Self> {
        id.ends_with("_000001").then_some(Self::ApplicationMaster)
    }
}
