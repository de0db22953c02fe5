//! The causes of lost executors.

use crate::model::Application;
use crate::model::spark::{ClusterManager, Executor, Spark};

/// The cause of a lost executor.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::heuristics) enum Loss {
    /// Its JVM ran out of memory (exit code 52, `SparkExitCode.OOM`).
    OutOfMemory,
    /// Its container exceeded its memory limit.
    OverMemory,
    /// Killed by SIGKILL (exit code 137): usually by the kernel or the cluster manager, because of memory.
    Killed,
    /// Terminated by SIGTERM (exit code 143): preempted, or its node was stopped.
    Terminated,
    /// It stopped sending heartbeats.
    Silent,
    /// Its node was lost.
    NodeLost,
    /// Anything else.
    Other,
}

impl Loss {
    /// The cause that a removal reason states.
    pub(in crate::heuristics) fn of(reason: Option<&str>) -> Self {
        let reason = reason.unwrap_or_default().to_ascii_lowercase();
        let has = |needle: &str| reason.contains(needle);
        let code = |code: &str| exit_code(&reason) == Some(code);
        // A message about memory is more specific than the exit code that comes with it.
        if has("exceeding memory limits")
            || has("physical memory")
            || has("oomkilled")
            || has("container oom")
        {
            Self::OverMemory
        } else if code("52") || has("outofmemory") {
            Self::OutOfMemory
        } else if code("137") {
            Self::Killed
        } else if code("143") || has("preempted") {
            Self::Terminated
        } else if has("heartbeat") {
            Self::Silent
        } else if has("worker lost") || has("node lost") || has("lost node") || has("host is lost") {
            Self::NodeLost
        } else {
            Self::Other
        }
    }

    /// Whether more memory overhead helps: the container exceeded its limit, or YARN or Kubernetes killed
    /// it outright.
    pub(in crate::heuristics) fn is_over_memory(self, app: &Application) -> bool {
        let limited = [Some(ClusterManager::Yarn), Some(ClusterManager::Kubernetes)];
        self == Self::OverMemory || self == Self::Killed && limited.contains(&ClusterManager::of(&app.conf))
    }
}

/// Every lost executor with its cause, in the order of the executors.
pub(in crate::heuristics) fn lost_executors(spark: &Spark) -> impl Iterator<Item = (&Executor, Loss)> {
    let lost = spark.executors.iter().filter(|executor| executor.was_lost());
    lost.map(|executor| (executor, Loss::of(executor.removed_reason.as_deref())))
}

/// The number after "exit code", "exit status", "exited with code" or "exited with exit code".
fn exit_code(reason: &str) -> Option<&str> {
    ["exit code", "exit status", "exited with code"].iter().find_map(|words| {
        let (_, rest) = reason.split_once(words)?;
        let rest = rest.trim_start_matches([':', '=', ' ']);
        rest.split(|c: char| !c.is_ascii_digit()).next().filter(|code| !code.is_empty())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reasons_of_cluster_managers_are_recognised() {
        for (reason, loss) in [
            ("Command exited with code 137", Loss::Killed),
            ("Command exited with code 52", Loss::OutOfMemory),
            (
                "Container from a bad node: container_1 on host: n1. Exit status: 143. Diagnostics: x",
                Loss::Terminated,
            ),
            (
                "Container killed by YARN for exceeding memory limits. 5.5 GB of 5.5 GB physical memory used",
                Loss::OverMemory,
            ),
            (
                "The executor with id 1 exited with exit code 137(SIGKILL, possible container OOM).",
                Loss::OverMemory,
            ),
            ("Executor heartbeat timed out after 125000 ms", Loss::Silent),
            ("worker lost: 127.0.0.1:4321 got disassociated", Loss::NodeLost),
            ("Command exited with code 1370", Loss::Other),
            ("", Loss::Other),
        ] {
            assert_eq!(Loss::of(Some(reason)), loss, "{reason}");
        }
        assert_eq!(Loss::of(None), Loss::Other);
    }
}
