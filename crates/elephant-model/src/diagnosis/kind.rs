//! The kinds of failures.

use elephant_base::state::State;

/// Who can remove the cause of a failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Actor {
    /// The application's developers: its code, its dependencies, its data.
    UserCode,
    /// The person who submits the application: its settings.
    Configuration,
    /// The operators of the cluster.
    Cluster,
}

impl Actor {
    /// Who that is, for people.
    #[must_use]
    pub const fn words(self) -> &'static str {
        match self {
            Self::UserCode => "developers",
            Self::Configuration => "settings",
            Self::Cluster => "operators",
        }
    }
}

/// Defines the kinds. Each takes its page from `rules/failures/<name>.md`.
macro_rules! kinds {
    ($($kind:ident = $name:literal, $actor:ident, $cause:literal;)*) => {
        /// What went wrong, as finely as remedies differ.
        #[allow(clippy::doc_markdown, reason = "the texts are also shown to users, who see no Markdown")]
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, State)]
        pub enum FailureKind {
            $(#[doc = $cause] $kind,)*
        }

        impl FailureKind {
    /// Whether it is mostly blamed on the code or its libraries, because nothing points to another cause. If it happens in
    /// one place only, the same code worked elsewhere.
    #[must_use]
    pub const fn blames_code(self) -> bool {
        matches!(self, Self::UserCode | Self::PythonError | Self::MissingClass | Self::IncompatibleClass)
    }

                    /// Whether classes that are missing or do not fit are the cause.
            #[must_use]
            pub const fn is_about_classes(self) -> bool {
                matches!(self, Self::MissingClass | Self::IncompatibleClass)
            }

            /// Every kind.
            pub const ALL: &[Self] = &[$(Self::$kind),*];

            /// Its name in reports, and the name of its page.
            pub const fn name(self) -> &'static str {
                match self { $(Self::$kind => $name,)* }
            }

            /// What happened, as one sentence.
            pub const fn cause(self) -> &'static str {
                match self { $(Self::$kind => $cause,)* }
            }

            /// Who must act, in most cases.
            pub const fn actor(self) -> Actor {
                match self { $(Self::$kind => Actor::$actor,)* }
            }

            /// Its page, in Markdown.
            pub const fn page(self) -> &'static str {
                match self {
                    $(Self::$kind => include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/failures/", $name, ".md")),)*
                }
            }
        }
    };
}

impl FailureKind {
    /// Whether a larger heap or container helps.
    #[must_use]
    pub const fn asks_for_memory(self) -> bool {
        matches!(self, Self::HeapSpace | Self::GcOverhead | Self::ContainerMemory)
    }

    /// Whether the heap, another part of the process's memory or the container was too small.
    #[must_use]
    pub const fn is_lack_of_memory(self) -> bool {
        matches!(
            self,
            Self::HeapSpace
                | Self::GcOverhead
                | Self::Metaspace
                | Self::DirectMemory
                | Self::NativeMemory
                | Self::ContainerMemory
                | Self::ContainerVirtualMemory
        )
    }
}

kinds! {
    HeapSpace = "heap-space", Configuration,
        "The Java heap was full.";
    GcOverhead = "gc-overhead", Configuration,
        "The JVM spent nearly all time on garbage collection and freed almost nothing.";
    Metaspace = "metaspace", Configuration,
        "The memory for classes was full: Metaspace, or PermGen before Java 8.";
    DirectMemory = "direct-memory", Configuration,
        "The memory for direct buffers outside the heap was full.";
    NativeThreads = "native-threads", Cluster,
        "The operating system refused to create another thread.";
    NativeMemory = "native-memory", Cluster,
        "The operating system had no memory left for the process.";
    ArraySize = "array-size", UserCode,
        "A single array or row buffer would have exceeded 2 GiB.";
    ExecutionMemory = "execution-memory", Configuration,
        "A task could not get enough of Spark's execution memory.";
    ContainerMemory = "container-memory", Configuration,
        "The container was killed because it used more physical memory than requested.";
    ContainerVirtualMemory = "container-virtual-memory", Cluster,
        "The container was killed because it used more virtual memory than allowed.";
    PythonMemory = "python-memory", Configuration,
        "A Python process ran out of memory or died while a task used it.";
    BroadcastTooLarge = "broadcast-too-large", Configuration,
        "A table was too large to be broadcast to all executors.";
    ResultTooLarge = "result-too-large", UserCode,
        "The results that tasks sent to the driver exceeded the driver's limit.";
    DiskFull = "disk-full", Cluster,
        "A disk, a directory quota or HDFS had no space left.";
    LocalDisks = "local-disks", Cluster,
        "No local directory of the node could be used.";
    FetchFailure = "fetch-failure", Cluster,
        "A task could not fetch shuffle data, or the data was lost.";
    HeartbeatTimeout = "heartbeat-timeout", Configuration,
        "The driver heard nothing from an executor for too long.";
    ExecutorLost = "executor-lost", Cluster,
        "An executor's process ended, and the message does not say why.";
    NodeLost = "node-lost", Cluster,
        "A node was lost or decommissioned with everything that ran on it.";
    BadNode = "bad-node", Cluster,
        "Attempts failed in one place only, and other nodes did the same work.";
    ResourceManagerKill = "resource-manager-kill", Cluster,
        "The resource manager or a node manager killed the container.";
    Preempted = "preempted", Cluster,
        "The scheduler took the container back for another application or queue.";
    UserKill = "user-kill", UserCode,
        "A user or a program of the user killed the application or the task.";
    ApplicationKill = "application-kill", UserCode,
        "The application itself ended the attempt or the executor, because it was no longer needed.";
    TaskTimeout = "task-timeout", UserCode,
        "A task reported no progress for longer than the limit.";
    TooManyFailures = "too-many-failures", UserCode,
        "The limit on failed tasks or executors was reached; the message does not contain the first cause.";
    MasterStart = "master-start", UserCode,
        "The application master ended early: the application did not start or did not register in time.";
    LaunchFailure = "launch-failure", Configuration,
        "The process could not be started.";
    JvmCrash = "jvm-crash", UserCode,
        "The process crashed in native code.";
    StackOverflow = "stack-overflow", UserCode,
        "Calls were nested too deeply.";
    MissingClass = "missing-class", UserCode,
        "A class or module was not found where the code ran.";
    IncompatibleClass = "incompatible-class", UserCode,
        "A class was found, but in a version that does not fit.";
    NotSerializable = "not-serializable", UserCode,
        "Something that must be sent to other processes cannot be serialized.";
    KryoBuffer = "kryo-buffer", Configuration,
        "An object was larger than Kryo's buffer.";
    Permission = "permission", Cluster,
        "Access to a file, a queue or a service was denied.";
    Authentication = "authentication", Cluster,
        "Credentials were missing, invalid or expired: Kerberos or delegation tokens.";
    MissingInput = "missing-input", UserCode,
        "An input file or folder does not exist.";
    OutputExists = "output-exists", UserCode,
        "The output folder or table already exists.";
    OutputDeleted = "output-deleted", UserCode,
        "A file was deleted while it was being written, mostly with the output folder's temporary files.";
    CorruptInput = "corrupt-input", UserCode,
        "Data could not be read: cut off, damaged, or in another format.";
    InvalidQuery = "invalid-query", UserCode,
        "A query names a column that does not exist, or is not valid.";
    WrongType = "wrong-type", UserCode,
        "A value has another type than the code or the query expects.";
    CommitDenied = "commit-denied", Cluster,
        "Another attempt of the task was allowed to commit its output.";
    Network = "network", Cluster,
        "A connection failed: refused, reset, timed out, or the host is unknown.";
    Throttled = "throttled", Configuration,
        "A service refused requests because there were too many of them.";
    SafeMode = "safe-mode", Cluster,
        "The name node was in safe mode, in which nothing can be written.";
    RegionUnavailable = "region-unavailable", Cluster,
        "A region of HBase was not online, or too busy to answer.";
    Localization = "localization", UserCode,
        "A file that the application ships to the nodes, such as a jar, was missing or had changed.";
    InvalidSetting = "invalid-setting", Configuration,
        "A setting has a value that is not allowed.";
    CounterLimit = "counter-limit", UserCode,
        "The job has more counters than the cluster allows.";
    SplitLimit = "split-limit", Configuration,
        "The job has so many input splits that their list exceeds its limit.";
    PythonError = "python-error", UserCode,
        "The application's Python code raised an exception.";
    UserCode = "user-code", UserCode,
        "The code that ran threw an exception.";
}
