//! What to do about each kind of failure, in one sentence.

use super::kind::FailureKind;
use FailureKind as Kind;

/// The remedy for each kind.
const REMEDIES: &[(FailureKind, &str)] = &[
    (Kind::HeapSpace, "give each task less data or more heap"),
    (Kind::GcOverhead, "give each task more heap or less data, and cache less"),
    (Kind::Metaspace, "raise the limit on memory for classes, or load fewer classes"),
    (Kind::DirectMemory, "allow more memory outside the heap, or fetch less at once"),
    (
        Kind::NativeThreads,
        "raise the limits on processes and open files on the nodes (ulimit -u, ulimit -n), or create fewer threads",
    ),
    (
        Kind::NativeMemory,
        "leave more memory to the operating system of the nodes, or run fewer or smaller containers on them",
    ),
    (Kind::ArraySize, "build smaller values: aggregate instead of collecting a whole group in one row"),
    (Kind::ExecutionMemory, "run fewer tasks at once in an executor, or give each task less data"),
    (Kind::ContainerMemory, "request a larger container, or use less memory outside the heap"),
    (
        Kind::ContainerVirtualMemory,
        "set yarn.nodemanager.vmem-check-enabled=false on the nodes: virtual memory is not meaningful for a JVM",
    ),
    (Kind::PythonMemory, "give Python processes more memory, or smaller batches and groups"),
    (Kind::BroadcastTooLarge, "do not broadcast the table: remove the hint BROADCAST, or lower the limit"),
    (Kind::ResultTooLarge, "write large results to a table instead of collecting them in the driver"),
    (
        Kind::DiskFull,
        "free the disks that the message names (local disks of the nodes, or HDFS), or raise the quota",
    ),
    (Kind::LocalDisks, "replace or free the local disks of the node, and keep tasks off it until then"),
    (Kind::FetchFailure, "find out why the processes with the shuffle data ended or did not answer"),
    (Kind::HeartbeatTimeout, "look for long garbage collections, and for nodes that hung or were overloaded"),
    (Kind::ExecutorLost, "read the end of the executor's log to see why its process ended"),
    (Kind::NodeLost, "ask the operators why the node was lost"),
    (Kind::BadNode, "check disks, memory and logs of the node, and keep tasks off it until then"),
    (Kind::ResourceManagerKill, "read in the resource manager and the node manager's log why it was killed"),
    (Kind::Preempted, "use a queue with a larger guaranteed share, or one without preemption"),
    (Kind::UserKill, "ask the user or the owner of the workflow why it was cancelled"),
    (
        Kind::ApplicationKill,
        "look at the other failures of the application first: it ended this attempt itself",
    ),
    (Kind::TaskTimeout, "report progress from long calls (context.progress()), or find out where they hang"),
    (Kind::TooManyFailures, "look for the first cause, which the message does not contain"),
    (Kind::MasterStart, "read the log of the application master for the first exception"),
    (Kind::LaunchFailure, "correct the command, option or request that the message names"),
    (Kind::JvmCrash, "read hs_err_pid*.log in the container's folder: it names the library that crashed"),
    (Kind::StackOverflow, "cut long chains of transformations (checkpoint), or allow deeper stacks: -Xss4m"),
    (
        Kind::MissingClass,
        "ship the missing class or module with the application (--jars or --packages; for Python, --py-files or \
         --archives)",
    ),
    (Kind::IncompatibleClass, "compile against the cluster's versions of libraries, or shade your own"),
    (Kind::NotSerializable, "create the object inside the task, or make its class serializable"),
    (Kind::KryoBuffer, "allow larger objects in Kryo's buffer, or split the object"),
    (Kind::Permission, "ask the owner for access to the path, queue or service that the message names"),
    (Kind::Authentication, "log in before submitting, and let long applications renew their tokens (keytab)"),
    (
        Kind::MissingInput,
        "check that the input exists before the application starts and is not replaced while it runs",
    ),
    (Kind::OutputExists, "write to a new folder, or overwrite the old output on purpose"),
    (
        Kind::OutputDeleted,
        "let no other job write to the same output folder or delete it meanwhile: jobs share its folder _temporary",
    ),
    (Kind::CorruptInput, "check the file that the message names, and write it again from its source"),
    (
        Kind::InvalidQuery,
        "correct the column or the part of the query that the message names, and compare it with the table's schema",
    ),
    (
        Kind::WrongType,
        "convert the value where it is read, and check whether the schema of the data has changed (try_cast gives NULL instead)",
    ),
    (Kind::CommitDenied, "usually nothing: another attempt of the task committed its output"),
    (
        Kind::Network,
        "check whether the process at the named host and port was running then, and how busy it was",
    ),
    (
        Kind::Throttled,
        "send fewer requests at once (fewer tasks at a time, fewer and larger files), let the client wait and retry more \
         often, and spread the data over more prefixes",
    ),
    (
        Kind::SafeMode,
        "wait until the name node has left safe mode (hdfs dfsadmin -safemode get), and ask the operators why it was in it",
    ),
    (
        Kind::RegionUnavailable,
        "check in HBase whether the region that the message names is online, and why its region server moved or lost it",
    ),
    (
        Kind::Localization,
        "check that the jars and files that the application ships (-libjars, -files, --jars, --files) exist for its user, \
         and do not replace them until it has ended",
    ),
    (
        Kind::InvalidSetting,
        "give the setting that the message names an allowed value; mapreduce.task.io.sort.mb is at most 2047",
    ),
    (
        Kind::CounterLimit,
        "count fewer things (no counter for each value of the data), or raise mapreduce.job.counters.max, also on the history \
         server",
    ),
    (
        Kind::SplitLimit,
        "read fewer and larger splits (CombineFileInputFormat, or merge small files), or raise \
         mapreduce.job.split.metainfo.maxsize (-1: no limit)",
    ),
    (Kind::PythonError, "fix the line that the traceback names, or the records that it fails on"),
    (Kind::UserCode, "fix the error, or the records that cause it"),
];

impl FailureKind {
    /// The remedy, as a sentence without a full stop: for kinds that no setting removes, or in addition to settings.
    #[must_use]
    pub fn remedy(self) -> &'static str {
        REMEDIES.iter().find(|(kind, _)| *kind == self).map(|(_, remedy)| *remedy).unwrap_or_default()
    }

    /// The same for a job of MapReduce.
    #[must_use]
    pub fn remedy_of_job(self) -> &'static str {
        match self {
            Self::MissingClass => {
                "ship the missing class with the job (-libjars), and name the job's own jar (job.setJarByClass)"
            }
            _ => self.remedy(),
        }
    }

    /// How much it explains. A failure has several messages if one thing led to another, or if a task failed in
    /// different ways; the root cause is the one that explains most.
    #[must_use]
    pub const fn standing(self) -> Standing {
        match self {
            Self::UserKill | Self::ApplicationKill | Self::CommitDenied | Self::TooManyFailures => {
                Standing::Aftermath
            }
            Self::FetchFailure | Self::ExecutorLost | Self::Network => Standing::Consequence,
            Self::NodeLost | Self::ResourceManagerKill | Self::Preempted => Standing::Loss,
            Self::UserCode | Self::PythonError => Standing::Error,
            _ => Standing::Cause,
        }
    }

    /// Whether memory outside the heap was full, so that a larger heap does not help.
    #[must_use]
    pub const fn is_outside_the_heap(self) -> bool {
        matches!(
            self,
            Self::DirectMemory
                | Self::Metaspace
                | Self::NativeMemory
                | Self::NativeThreads
                | Self::PythonMemory
                | Self::ContainerMemory
                | Self::ContainerVirtualMemory
        )
    }

    /// Its cause as part of a sentence: "the Java heap was full". `None` if that would say no more than "it failed".
    #[must_use]
    pub fn because(self) -> Option<String> {
        match self {
            Self::UserCode | Self::PythonError | Self::TooManyFailures | Self::ExecutorLost => None,
            _ => Some(super::exit::in_a_sentence(self.cause())),
        }
    }
}

/// How much a kind of failure explains.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Standing {
    /// It follows from other failures, or is not a failure.
    Aftermath,
    /// It mostly follows from the loss of a process.
    Consequence,
    /// The cluster took something away.
    Loss,
    /// The code threw an exception, whose cause may be anything.
    Error,
    /// The cause.
    Cause,
}

/// What a thread throws when it is interrupted. Spark counts these as a normal stop of a stream
/// (`StreamExecution.isInterruptionException`).
const INTERRUPTIONS: [&str; 3] = [
    "java.lang.InterruptedException",
    "java.io.InterruptedIOException",
    "java.nio.channels.ClosedByInterruptException",
];

/// Whether a message about a job, a stage or a query says that it was cancelled: "Job 3 cancelled as part of cancellation
/// of all jobs". `query.stop()` interrupts the batch that runs.
#[must_use]
pub fn is_cancelled(text: &str) -> bool {
    let line = text.trim_start().lines().next().unwrap_or_default();
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let words: Vec<&str> = line.split_whitespace().take(16).collect();
    let says = words.windows(3).any(|words| match words {
        [what, id, end] => {
            matches!(*what, "Job" | "Stage")
                && is_number(id)
                && end.trim_end_matches(['.', ',', ':']) == "cancelled"
        }
        _ => false,
    });
    let is_interruption = |class: &&str| {
        let rest = line.strip_prefix(*class);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(':'))
    };
    says || INTERRUPTIONS.iter().any(is_interruption)
        || line.contains("[SPARK_JOB_CANCELLED]")
        || line.trim_end_matches('.') == "Stage cancelled"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_has_a_remedy() {
        for kind in FailureKind::ALL {
            let remedy = kind.remedy();
            assert!(
                !remedy.is_empty() && !remedy.ends_with('.') && !remedy.contains('\n'),
                "{}",
                kind.name()
            );
            assert!(remedy.starts_with(char::is_lowercase), "{remedy}");
        }
    }

    #[test]
    fn causes_continue_a_sentence() {
        assert_eq!(FailureKind::HeapSpace.because().as_deref(), Some("the Java heap was full"));
        assert_eq!(FailureKind::UserCode.because(), None);
    }

    #[test]
    fn cancelled_jobs_and_stages_are_told_from_failed_ones() {
        for text in [
            "Job 3 cancelled because SparkContext was shut down",
            "Job 12 cancelled part of cancelled job group nightly",
            "Job 0 cancelled ",
            "[SPARK_JOB_CANCELLED] Job 4 cancelled as part of cancellation of all jobs SQLSTATE: XXKDA",
            "org.apache.spark.SparkException: Job 5 cancelled because Stage 3 was cancelled",
            "java.lang.InterruptedException\n\tat java.base/java.util.concurrent.locks.A.b(A.java:1081)",
            "java.io.InterruptedIOException: interrupted while waiting",
        ] {
            assert!(is_cancelled(text), "{text}");
        }
        for text in [
            "",
            "Job aborted due to stage failure: Task 1 in stage 3.0 failed 4 times",
            "Job aborted due to stage failure: java.util.concurrent.CancellationException: order cancelled",
            "java.lang.IllegalStateException: the Job was cancelled",
            "java.lang.InterruptedExceptionOfMine: no",
        ] {
            assert!(!is_cancelled(text), "{text}");
        }
    }
}
