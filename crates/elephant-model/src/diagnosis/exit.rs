//! Exit codes of containers and processes.

use super::kind::FailureKind;
use FailureKind as Kind;

/// What an exit code means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ExitCode {
    /// The code.
    pub(crate) code: i32,
    /// Its meaning, as one sentence.
    pub(crate) meaning: &'static str,
    /// The kind of failure that a text with this code describes if it says nothing more specific.
    pub(crate) kind: FailureKind,
    /// Where the code is defined: a class, or the convention for signals.
    pub(crate) source: &'static str,
}

impl ExitCode {
    /// The meaning, to follow the code in brackets: "an error ended the executor".
    #[must_use]
    pub fn words(self) -> String {
        in_a_sentence(self.meaning)
    }
}

/// A sentence as part of another one: without its full stop, and without a capital letter unless it begins with a name.
pub(super) fn in_a_sentence(sentence: &str) -> String {
    let sentence = sentence.trim_end_matches('.');
    let mut letters = sentence.chars();
    let first = letters.next().unwrap_or_default();
    match letters.clone().next() {
        Some(second) if second.is_uppercase() => sentence.to_owned(),
        _ => first.to_lowercase().chain(letters).collect(),
    }
}

/// Hadoop's `org.apache.hadoop.yarn.api.records.ContainerExitStatus`; -109 since Hadoop 3.4.
const YARN: &str = "ContainerExitStatus";
/// Spark's `org.apache.spark.deploy.yarn.ApplicationMaster`; 17 since Spark 3.1.
const MASTER: &str = "ApplicationMaster";
/// Spark's `org.apache.spark.util.SparkExitCode`; 124 since Spark 4.0.
const SPARK: &str = "SparkExitCode";
/// Spark's `org.apache.spark.executor.ExecutorExitCode`; 57 since Spark 3.4, 58 since Spark 3.5.
const EXECUTOR: &str = "ExecutorExitCode";
/// 128 plus the number of the signal that ended the process.
const SIGNAL: &str = "signal";
/// Conventions of POSIX shells.
const SHELL: &str = "shell";

const fn code(code: i32, source: &'static str, kind: FailureKind, meaning: &'static str) -> ExitCode {
    ExitCode { code, meaning, kind, source }
}

/// Every known code, in ascending order.
const CODES: &[ExitCode] = &[
    code(
        -1000,
        YARN,
        Kind::ResourceManagerKill,
        "The container has no exit code: it did not run to its end.",
    ),
    code(
        -109,
        YARN,
        Kind::ResourceManagerKill,
        "The node manager killed the container because its logs were too large.",
    ),
    code(
        -108,
        YARN,
        Kind::Preempted,
        "The node manager killed the container to make room for a guaranteed one.",
    ),
    code(-107, YARN, Kind::ApplicationKill, "The container was killed because its application had ended."),
    code(-106, YARN, Kind::ResourceManagerKill, "The resource manager killed the container."),
    code(-105, YARN, Kind::ApplicationKill, "The application master stopped the container."),
    code(-104, YARN, Kind::ContainerMemory, "The container used more physical memory than it had requested."),
    code(-103, YARN, Kind::ContainerVirtualMemory, "The container used more virtual memory than allowed."),
    code(-102, YARN, Kind::Preempted, "The scheduler preempted the container."),
    code(-101, YARN, Kind::LocalDisks, "Too many local or log directories of the node are bad or full."),
    code(-100, YARN, Kind::NodeLost, "The container was released or lost, mostly together with its node."),
    code(1, SHELL, Kind::UserCode, "The process failed; its log contains the error."),
    code(2, SHELL, Kind::LaunchFailure, "A command of the shell was used wrongly."),
    code(10, MASTER, Kind::UserCode, "The application master ended because of an uncaught exception."),
    code(11, MASTER, Kind::TooManyFailures, "Too many executors failed (spark.executor.maxNumFailures)."),
    code(12, MASTER, Kind::Network, "The application master could not reach the resource manager."),
    code(
        13,
        MASTER,
        Kind::MasterStart,
        "The application created no Spark context in time (spark.yarn.am.waitTime).",
    ),
    code(14, MASTER, Kind::Permission, "A security exception stopped the application master."),
    code(15, MASTER, Kind::UserCode, "The application's main class threw an exception."),
    code(
        16,
        MASTER,
        Kind::MasterStart,
        "The application called System.exit, or was stopped, before it ended.",
    ),
    code(17, MASTER, Kind::MasterStart, "The application master lost the connection to the driver."),
    code(50, SPARK, Kind::UserCode, "An uncaught exception ended the executor."),
    code(51, SPARK, Kind::UserCode, "An uncaught exception ended the executor, and could not be logged."),
    code(52, SPARK, Kind::HeapSpace, "An OutOfMemoryError ended the executor."),
    code(
        53,
        EXECUTOR,
        Kind::LocalDisks,
        "The executor could not create a local directory (spark.local.dir).",
    ),
    code(54, EXECUTOR, Kind::LaunchFailure, "The external block store did not start (Spark 1 and 2)."),
    code(
        55,
        EXECUTOR,
        Kind::LocalDisks,
        "The external block store could not create a directory (Spark 1 and 2).",
    ),
    code(56, EXECUTOR, Kind::HeartbeatTimeout, "The executor could not send heartbeats to the driver."),
    code(
        57,
        EXECUTOR,
        Kind::ApplicationKill,
        "The task reaper ended the executor: a killed task did not stop.",
    ),
    code(
        58,
        EXECUTOR,
        Kind::HeartbeatTimeout,
        "The executor could not register its block manager with the driver again.",
    ),
    code(101, SPARK, Kind::MissingClass, "The main class was not found, or a class that it needs."),
    code(124, SPARK, Kind::UserKill, "The driver ran longer than its limit (spark.driver.timeout)."),
    code(126, SHELL, Kind::LaunchFailure, "The command exists but cannot be executed."),
    code(127, SHELL, Kind::LaunchFailure, "The command was not found, for example java or python."),
    code(129, SIGNAL, Kind::ResourceManagerKill, "SIGHUP: the session that started the process ended."),
    code(130, SIGNAL, Kind::UserKill, "SIGINT: a user pressed Ctrl-C."),
    code(131, SIGNAL, Kind::JvmCrash, "SIGQUIT: the process was told to stop with a core dump."),
    code(
        132,
        SIGNAL,
        Kind::JvmCrash,
        "SIGILL: native code contains an instruction that the processor lacks.",
    ),
    code(134, SIGNAL, Kind::JvmCrash, "SIGABRT: the JVM or native code aborted."),
    code(
        135,
        SIGNAL,
        Kind::JvmCrash,
        "SIGBUS: memory could not be accessed, often because a mapped file's disk is full.",
    ),
    code(136, SIGNAL, Kind::JvmCrash, "SIGFPE: native code divided by zero."),
    code(
        137,
        SIGNAL,
        Kind::ContainerMemory,
        "SIGKILL: killed from outside, usually for using too much memory.",
    ),
    code(139, SIGNAL, Kind::JvmCrash, "SIGSEGV: native code accessed invalid memory."),
    code(
        143,
        SIGNAL,
        Kind::ResourceManagerKill,
        "SIGTERM: another process, mostly of the cluster manager, asked this one to stop.",
    ),
];

/// The meaning of an exit code; `None` if the code is 0, or neither YARN, Spark nor the JVM defines it.
///
/// Codes are those of Hadoop's `ContainerExitStatus` and Spark's `ApplicationMaster`, `SparkExitCode` and
/// `ExecutorExitCode`; from 129, 128 plus the number of a signal. Applications that call `System.exit` may use the same
/// numbers with other meanings.
#[must_use]
pub fn exit_code(code: i32) -> Option<ExitCode> {
    let place = CODES.binary_search_by_key(&code, |known| known.code).ok()?;
    CODES.get(place).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_in_ascending_order() {
        assert!(CODES.is_sorted_by(|a, b| a.code < b.code));
        assert!(CODES.iter().all(|known| exit_code(known.code) == Some(*known)));
    }

    #[test]
    fn unknown_codes_have_no_meaning() {
        for code in [0, -1, 3, 99, 239, 255, i32::MIN, i32::MAX] {
            assert_eq!(exit_code(code), None, "{code}");
        }
    }

    #[test]
    fn the_codes_that_operators_ask_about_are_explained() {
        let kinds = [
            (52, Kind::HeapSpace),
            (56, Kind::HeartbeatTimeout),
            (137, Kind::ContainerMemory),
            (143, Kind::ResourceManagerKill),
            (-100, Kind::NodeLost),
            (-102, Kind::Preempted),
            (-104, Kind::ContainerMemory),
        ];
        for (code, kind) in kinds {
            assert_eq!(exit_code(code).map(|known| known.kind), Some(kind), "{code}");
        }
    }
}
