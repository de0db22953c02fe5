//! The texts that identify kinds of failures.

use std::sync::LazyLock;

use memchr::memmem::Finder;

use super::kind::FailureKind;
use FailureKind as Kind;

/// How much a text says about the cause. The more specific causes the less specific: a full heap breaks connections,
/// and a broken connection loses an executor.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Rank {
    /// It only says that something else failed; any exception says more.
    Wrapper,
    /// Something ended; an exit code says more.
    Vague,
    /// A symptom with many causes.
    Symptom,
    /// What happened in the cluster, for example a fetch failure, which may have a cause of its own.
    Event,
    /// The cause.
    Cause,
}

/// Strings that, all together, identify a kind.
#[derive(Debug)]
pub(super) struct Signature {
    pub(super) kind: FailureKind,
    pub(super) rank: Rank,
    /// All must occur. The exception is the one named before the end of the first.
    pub(super) strings: &'static [&'static str],
}

/// Searches for the strings of a signature.
pub(super) type Finders = Vec<Finder<'static>>;

/// For each of [`SIGNATURES`]: preparing a search takes longer than a search in a short text.
pub(super) static FINDERS: LazyLock<Vec<Finders>> = LazyLock::new(|| {
    let of_one =
        |signature: &Signature| signature.strings.iter().map(|string| Finder::new(*string)).collect();
    SIGNATURES.iter().map(of_one).collect()
});

/// Defines signatures, grouped by kind and rank. Strings joined with `&` must occur together.
macro_rules! signatures {
    ($($kind:ident, $rank:ident: [$($($string:literal)&+),* $(,)?];)*) => {
        &[$($(Signature { kind: Kind::$kind, rank: Rank::$rank, strings: &[$($string),+] },)*)*]
    };
}

/// All signatures. If several in one message are equally specific, the first counts, so special cases precede general
/// ones.
pub(super) const SIGNATURES: &[Signature] = signatures! {
    GcOverhead, Cause: ["GC overhead limit exceeded"];
    // Task JVMs of Hadoop report only the message of an error: "Error: Metaspace".
    // Kubernetes names the resource that a node was short of when it evicted a pod.
    DiskFull, Cause: [
        "low on resource: ephemeral-storage", "low on resource: nodefs", "low on resource: imagefs",
        "low on resource: inodes", "ephemeral local storage usage exceeds", "local ephemeral storage limit",
        "Usage of EmptyDir volume" & "exceeds the limit",
    ];
    ContainerMemory, Cause: ["low on resource: memory"];
    NativeThreads, Cause: ["low on resource: pids"];
    Metaspace, Cause: ["Error: Metaspace", "Error: Compressed class space", "PermGen space"];
    DirectMemory, Cause: [
        "Direct buffer memory", "OutOfDirectMemoryError", "bytes of direct memory",
        "Cannot reserve" & "direct buffer memory",
    ];
    NativeThreads, Cause: [
        "unable to create new native thread", "unable to create native thread", "Failed to start thread",
        "Cannot run program" & "error=11,", "Too many open files",
    ];
    ArraySize, Cause: [
        "Requested array size exceeds VM limit", "Cannot grow BufferHolder", "Required array length too large",
        "Required array size too large", "Size exceeds Integer.MAX_VALUE",
    ];
    NativeMemory, Cause: [
        "insufficient memory for the Java Runtime Environment", "Cannot allocate memory", "Out of swap space",
        "mmap failed", "Native memory allocation",
    ];
    HeapSpace, Cause: ["Java heap space"];
    ExecutionMemory, Cause: [
        "SparkOutOfMemoryError", "Unable to acquire" & "bytes of memory", "UNABLE_TO_ACQUIRE_MEMORY",
        "Can not build a HashedRelation", "Could not allocate a page",
    ];
    BroadcastTooLarge, Cause: [
        "Not enough memory to build and broadcast", "Cannot broadcast the table",
        "CANNOT_BROADCAST_TABLE_OVER", "NOT_ENOUGH_MEMORY_TO_BUILD_AND_BROADCAST",
        "Could not execute broadcast in", "EXECUTE_BROADCAST_TIMEOUT", "_LEGACY_ERROR_TEMP_2249",
    ];
    ResultTooLarge, Cause: ["spark.driver.maxResultSize", "Result of task is too large"];
    ContainerVirtualMemory, Cause: ["virtual memory limits", "exceeding virtual memory"];
    ContainerMemory, Cause: [
        "physical memory limits", "exceeding memory limits", "exceeding physical memory", "OOMKilled",
        "OOM-killer", "Memory cgroup out of memory", "Container killed on request" & "OutOfMemory",
        "beyond the 'PHYSICAL' memory limit", "memory limit of the container", "Container killed by OOM",
        "running beyond memory-limits", "running beyond physical memory-limits",
    ];
    ContainerVirtualMemory, Cause: ["beyond the 'VIRTUAL' memory limit"];
    PythonMemory, Cause: [
        "Python worker exited unexpectedly", "PYTHON_WORKER_EXITED", "Python worker failed to connect back",
        "numpy.core._exceptions._ArrayMemoryError", "pyarrow.lib.ArrowMemoryError",
    ];
    HeapSpace, Cause: ["OutOfMemoryError"];
    PythonMemory, Cause: ["MemoryError"];
    StackOverflow, Cause: ["StackOverflowError"];

    DiskFull, Cause: [
        "No space left on device", "not enough space on the disk", "Disk quota exceeded", "QuotaExceededException",
        "could not find any valid local directory", "Could not find any valid local directory",
        "could only be replicated to 0 nodes", "could only be written to 0 of",
    ];
    LocalDisks, Cause: [
        "Failed to create local dir", "Failed to create a temp directory", "local-dirs are bad", "log-dirs are bad",
        "No good local directories", "local-dirs turned bad", "local-dirs usable space is below",
        "Read-only file system", "Most of the disks failed",
    ];

    FetchFailure, Cause: [
        "MetadataFetchFailedException", "Missing an output location for shuffle",
        "FileNotFoundException" & "shuffle_", "FileNotFoundException" & "file.out.index",
        "NoSuchFileException" & "shuffle_", "Too many fetch-failures", "Too many fetch failures",
        "Too Many fetch failures",
        "FetchFailed" & "corrupt", "Exceeded MAX_FAILED_UNIQUE_FETCHES", "error in shuffle in fetcher",
    ];
    FetchFailure, Event: [
        "FetchFailedException", "FetchFailed(", "Failed to get broadcast_", "Failed to fetch broadcast",
        "Shuffle$ShuffleError", "ShuffleError", "BlockNotFoundException", "Block rdd_" & "not found",
        "Could not read or find a block", "has failed the maximum allowable number of times",
    ];

    Preempted, Cause: [
        "Container preempted by scheduler", "preempted by", "was preempted", "Preempted by", "due to preemption",
        "make room for Guaranteed", "Container De-queued", "PREEMPTED", "to admit critical pod", "brief reason: Preempt",
    ];
    NodeLost, Cause: [
        "on a *lost* node", "Container released on a", "decommission", "Decommission", "Lost node", "lost node",
        "NODE_LOST", "Node lost", "node lost", "Container expired since it was unused", "is lost. Killing",
        "worker lost", "Worker lost", "TaskTracker lost", "Lost task tracker", "TaskAttempt killed because it ran on",
        "imminent node shutdown", "brief reason: NodeShutdown", "brief reason: NodeLost", "NoExecute taint",
        "on an unhealthy node", "on unusable node", "Node unhealthy", "spot instance", "Unhealthy Node",
    ];
    HeartbeatTimeout, Event: [
        "Executor heartbeat timed out", "heartbeat timed out", "Unable to send heartbeats", "no recent heartbeats",
        "Heartbeat timeout", "Issue communicating with driver in heartbeater",
        "unable to send heartbeats",
    ];
    TaskTimeout, Cause: [
        "failed to report status for", "Timed out after" & "AttemptID:", "Timed out after" & "attempt_",
        "Timed out after" & " secs",
    ];
    // Application masters kill such jobs themselves.
    LaunchFailure, Cause: ["than the supported max container capability"];
    UserKill, Cause: [
        "killed by user", "Killed by user", "Kill" & "received from", "Application killed by", "cancelled by user",
        "cancelled because SparkContext was shut down", "cancelled as part of cancellation", "cancelled part of cancelled job group",
        "Job" & "cancelled", "killed via the Web UI", "killed via Web UI", "KilledByUser", "User killed",
        "spark.driver.timeout", "Job received Kill",
    ];
    ApplicationKill, Cause: [
        "another attempt succeeded", "succeeded first!", "Stage finished", "Stage cancelled", "stage cancelled",
        "Executor killed by driver", "Container killed by the ApplicationMaster", "explicit termination request",
        "killed by driver", "Killed by the driver", "has been idle for", "Container released by application", "Task KILL is received",
        "TaskKilled", "Attempt killed", "Reducer preempted to make room for pending map", "Killed by the application",
        "Tasks result lost" & "stage", "Finished stage", "killed intentionally",
    ];
    ResourceManagerKill, Event: [
        "killed by the ResourceManager", "killed by ResourceManager", "Container killed by the framework",
        "excess log", "ApplicationMaster for attempt" & "timed out", "Application master timed out",
        "exceeds maximum application lifetime", "Application is killed by ResourceManager",
        "was deleted by a user or the framework", "The executor may have been deleted", "brief reason: Evicted",
    ];

    // Before permissions and connections, which services also name.
    Throttled, Cause: [
        "Error Code: SlowDown", "reduce your request rate", "503 Slow Down", "AWSServiceThrottledException",
        "ThrottlingException", "ThrottledException", "RequestLimitExceeded", "ProvisionedThroughputExceeded",
        "TooManyRequestsException", "Too Many Requests", "Error Code: Throttling", "ServerBusy", "Server Busy",
        "over the account limit", "rateLimitExceeded", "RateLimitExceeded", "Rate Limit Exceeded", "Rate exceeded",
    ];
    SafeMode, Cause: ["SafeModeException", "ame node is in safe mode", "NameNode is in safe mode"];
    RegionUnavailable, Cause: [
        "NotServingRegionException", "RegionTooBusyException", "NoServerForRegionException", "RegionServerStoppedException",
        "RegionServerAbortedException", "RegionMovedException", "RegionOpeningException", "Region" & "is not online",
        "CallQueueTooBigException",
    ];
    CounterLimit, Cause: [
        "Too many counters", "Too many counter groups", "counters.LimitExceededException",
        "CountersExceededException", "Exceeded limits on number of counters",
    ];
    SplitLimit, Cause: ["Split metadata size exceeded"];
    InvalidSetting, Cause: [
        "Invalid \"mapreduce.", "Invalid \"io.sort", "should be boolean, but was", "should be int, but was",
        "should be long, but was", "should be double, but was", "INVALID_CONF_VALUE", "CANNOT_MODIFY_CONFIG",
        "in the config \"" & "is invalid", "Invalid value" & "for configuration",
        "Invalid value of" & "for mapreduce.",
    ];
    CommitDenied, Cause: [
        "TaskCommitDenied", "CommitDeniedException", "Commit denied", "commit denied", "Authorized committer",
        "not committed because the driver did not authorize commit",
    ];
    Authentication, Cause: [
        "GSSException", "Failed to find any Kerberos tgt", "token" & "can't be found in cache", "InvalidToken",
        "token" & "is expired", "Token has expired", "LoginException", "Unable to authenticate",
        "Client cannot authenticate via", "ExpiredToken", "SaslException", "No valid credentials provided",
        "Kerberos", "Invalid AMRMToken",
    ];
    Permission, Cause: [
        "AccessControlException", "AccessDeniedException", "Permission denied", "AccessDenied", "Access Denied",
        "java.security.AccessControl", "is not authorized", "User" & "cannot submit applications to queue",
        "Status Code: 403", "SecurityException", "the required privilege is ", "Access denied for user",
    ];
    MissingClass, Cause: [
        "ClassNotFoundException", "NoClassDefFoundError", "Could not find or load main class",
        "ModuleNotFoundError", "No module named", "ImportError", "UnsatisfiedLinkError", "Failed to find data source",
        "DATA_SOURCE_NOT_FOUND",
    ];
    IncompatibleClass, Cause: [
        "NoSuchMethodError", "NoSuchFieldError", "AbstractMethodError", "IncompatibleClassChangeError",
        "UnsupportedClassVersionError", "local class incompatible", "but class was expected", "but interface was expected", "VerifyError", "IllegalAccessError",
        "InaccessibleObjectException", "BootstrapMethodError",
    ];
    KryoBuffer, Cause: ["Buffer overflow. Available", "spark.kryoserializer.buffer"];
    NotSerializable, Cause: [
        "Task not serializable", "NotSerializableException", "PicklingError", "Could not serialize object",
        "can't pickle", "cannot pickle", "KryoException", "Could not serialize",
    ];
    OutputExists, Cause: [
        "FileAlreadyExistsException", "TableAlreadyExistsException", "TABLE_OR_VIEW_ALREADY_EXISTS",
        "PATH_ALREADY_EXISTS", "Output directory" & "already exists", "path" & "already exists.",
    ];
    // Before missing input, because these messages also say that a file does not exist.
    OutputDeleted, Cause: [
        "LeaseExpiredException", "FileNotFoundException" & "/_temporary/", "File does not exist" & "/_temporary/",
    ];
    Localization, Cause: [
        "changed on src filesystem", "FileNotFoundException" & "initialization failed", "Failed to download rsrc",
        "Failed to download resource", "Failed to localize", "FileNotFoundException" & "filecache",
        "FileNotFoundException" & ".sparkStaging", "File does not exist" & ".sparkStaging",
        "FileNotFoundException" & "/.staging/", "File does not exist" & "/.staging/",
        "is not publicly accessible and as such cannot be part of the public cache",
    ];
    MissingInput, Cause: [
        "Input path does not exist", "FileNotFoundException", "NoSuchFileException", "Path does not exist",
        "PATH_NOT_FOUND", "FileNotFoundError", "TABLE_OR_VIEW_NOT_FOUND", "Table or view not found",
        "NoSuchTableException", "Input Pattern" & "matches 0 files", "File does not exist", "NoSuchBucket",
        "FAILED_READ_FILE.FILE_NOT_EXIST",
    ];
    CorruptInput, Cause: [
        "is not a Parquet file", "ChecksumException", "Checksum error", "not a SequenceFile", "BlockMissingException",
        "Could not obtain block", "Malformed ORC file", "Malformed records are detected", "MALFORMED_RECORD",
        "Not a data file", "Not an Avro data file", "ZipException", "Could not read footer", "corrupt", "Corrupt",
        "incorrect header check", "invalid stored block lengths", "FAILED_READ_FILE", "MalformedInputException",
        "JsonParseException", "BadZipFile", "UnicodeDecodeError", "SchemaColumnConvertNotSupportedException",
        "CANNOT_PARSE",
    ];
    InvalidQuery, Cause: [
        "UNRESOLVED_COLUMN", "MISSING_ATTRIBUTES", "DATATYPE_MISMATCH", "PARSE_SYNTAX_ERROR", "catalyst.parser.ParseException",
        "AnalysisException" & "cannot resolve ", "Operation not allowed: ", "SemanticException", "ql.parse.ParseException",
        "Invalid column reference", "Invalid table alias or column reference",
    ];
    WrongType, Cause: ["ClassCastException", "CAST_INVALID_INPUT", "CAST_OVERFLOW"];
    CorruptInput, Symptom: ["EOFException", "Unexpected end of", "Premature EOF"];

    JvmCrash, Cause: ["SIGSEGV", "SIGBUS", "A fatal error has been detected by the Java Runtime", "Segmentation fault", "core dumped"];
    LaunchFailure, Cause: [
        "Could not create the Java Virtual Machine", "Invalid maximum heap size", "Could not reserve enough space",
        "command not found", "Unrecognized VM option", "Cannot run program", "bad substitution",
        "Required executor memory", "Required AM memory", "Invalid resource request", "InvalidResourceRequestException",
        "Could not find or load main class org.apache.hadoop.mapreduce.v2.app.MRAppMaster",
    ];
    MasterStart, Cause: [
        "SparkContext did not initialize", "User did not initialize spark context",
        "Uncaught exception: Shutdown hook called", "Shutdown hook called before final status",
        "Failed to connect to driver", "Driver unexpectedly terminated",
    ];
    TooManyFailures, Symptom: [
        "Max number of executor failures", "Due to executor failures all available nodes are",
        "Master removed our application",
    ];
    Network, Symptom: [
        "ConnectException", "Connection refused", "Connection reset", "Broken pipe", "UnknownHostException",
        "NoRouteToHostException", "No route to host", "SocketTimeoutException", "ConnectTimeoutException",
        "ClosedChannelException", "Connection from" & "closed", "Failed to connect to", "All datanodes",
        "SocketException", "RpcTimeoutException", "Futures timed out", "Connection timed out", "SSLException",
        "Network is unreachable", "BindException", "NoHttpResponseException", "StandbyException",
        "Assuming connection is dead",
    ];

    ExecutorLost, Vague: [
        "ExecutorLostFailure", "Remote RPC client disassociated", "Remote Akka client disassociated", "Executor lost",
        "executor lost", "Lost executor", "Command exited with code", "Slave lost", "TaskResultLost",
        "result lost from block manager", "Executor Process Lost", "Executor process lost", "executor exited",
        "Executor exited", "Resubmitted", "Unknown executor exit code",
    ];
    ResourceManagerKill, Vague: [
        "Container killed on request", "Killed by external signal", "Container marked as failed", "Container exited",
        "exited with exit code", "RECEIVED SIGNAL", "Exception from container-launch",
    ];
    PythonError, Wrapper: ["Traceback (most recent call last)", "PythonException"];
    UserCode, Wrapper: ["Task failed while writing", "Exception thrown in awaitResult"];
    TooManyFailures, Wrapper: [
        "cannot run anywhere due to", "Cannot run anywhere due to",
        "Job aborted", "Job failed as tasks failed", "Task failed task_", "# of failed", "Task failed" & "times",
    ];
};
