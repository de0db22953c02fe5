//! What Compass and Dr. Elephant tell of logs is told at least as well: one line for each of their rules.

use elephant_container_log::Form;

use super::{digest, kind};

/// The kind of the failure that a line tells; "-" if it has none.
fn told(log: &str) -> String {
    let digest = digest(Form::Text, log.as_bytes());
    let failure = digest.chains.iter().find(|chain| !chain.is_echo()).or(digest.chains.first());
    failure.map_or("-", kind).to_owned()
}

#[test]
fn every_rule_of_compass_has_a_kind() {
    for (log, expected) in [
        // Driver.
        (
            "23/06/08 19:24:12 WARN YarnSchedulerBackend$YarnSchedulerEndpoint: Container marked as failed: container_1_0001_01_000003 on host: h. Exit status: 1. Diagnostics: Exception from container-launch.",
            "user-code",
        ),
        (
            "23/06/08 19:24:12 WARN YarnAllocator: Container marked as failed: container_1_0001_01_000003 on host: h. Exit status: -102. Diagnostics: Container preempted by scheduler",
            "preempted",
        ),
        (
            "23/06/08 19:24:12 ERROR TaskSetManager: Task 3 in stage 1.0 failed 4 times; aborting job",
            "task-failed",
        ),
        (
            "23/06/08 19:24:12 ERROR SparkSQLDriver: Failed in [x]\norg.apache.spark.SparkException: Job aborted due to stage failure: File does not exist: /x\n\tat a.B.c(B.java:1)\n",
            "missing-input",
        ),
        (
            "23/06/08 19:24:12 ERROR Driver: the required privilege is hive://u:user@z/hive/d/t?option=SELECT",
            "permission",
        ),
        (
            "23/06/08 19:24:12 ERROR Driver: Operation not allowed: CREATE EXTERNAL TABLE must be accompanied by LOCATION",
            "invalid-query",
        ),
        (
            "23/06/08 19:24:12 ERROR Driver: org.apache.spark.SparkException: Could not execute broadcast in 300 secs.",
            "broadcast-too-large",
        ),
        (
            "23/06/08 19:24:12 ERROR Driver: org.apache.hadoop.hdfs.BlockMissingException: Could not obtain block: BP-1:blk_1",
            "corrupt-input",
        ),
        (
            "23/06/08 19:24:12 INFO org.apache.spark.SparkException: Job aborted due to stage failure: ExecutorLostFailure (executor 3 exited) Reason: Container killed by YARN for exceeding memory limits. 5.5 GB of 5.5 GB physical memory used.",
            "container-memory",
        ),
        (
            "23/06/08 19:24:12 INFO org.apache.spark.SparkException: Job aborted due to stage failure: ExecutorLostFailure (executor 3 exited) Reason: Container killed by YARN for exceeding physical memory limits. 5.5 GB of 5.5 GB physical memory used.",
            "container-memory",
        ),
        (
            "23/06/08 19:24:12 WARN TaskSetManager: Lost task 0.0 in stage 1.0 (TID 1) (h executor 1): FetchFailed(BlockManagerId(1, h, 1, None), shuffleId=0)",
            "fetch-failure",
        ),
        (
            "23/06/08 19:24:12 ERROR Utils: Uncaught exception in thread: java.lang.OutOfMemoryError: Java heap space",
            "heap-space",
        ),
        // Executor.
        (
            "23/06/08 19:24:12 ERROR ShuffleBlockFetcherIterator: Failed to get block(s) from h:7337\njava.io.IOException: Failed to connect to h/10.0.0.1:7337\n\tat a.B.c(B.java:1)\n",
            "network",
        ),
        (
            "23/06/08 19:24:12 ERROR Executor: Exit as unable to send heartbeats to driver more than 60 times",
            "heartbeat-timeout",
        ),
        (
            "23/06/08 19:24:12 ERROR TransportChannelHandler: Connection to h/10.0.0.1:7337 has been quiet for 120000 ms while there are outstanding requests. Assuming connection is dead; please adjust spark.network.timeout if this is wrong.",
            "network",
        ),
        (
            "23/06/08 19:24:12 ERROR ResourceLeakDetector: LEAK: ByteBuf.release() was not called before it's garbage-collected.",
            "buffer-leak",
        ),
        (
            "23/06/08 19:24:12 ERROR GPLNativeCodeLoader: Could not load native gpl library\njava.lang.UnsatisfiedLinkError: no gplcompression in java.library.path\n\tat a.B.c(B.java:1)\n",
            "missing-class",
        ),
        (
            "23/06/08 19:24:12 ERROR DiskBlockObjectWriter: Uncaught exception while reverting partial writes to file /x",
            "local-disks",
        ),
        // YARN, container of MapReduce.
        ("23/06/08 19:24:12 INFO Client: exitCode: 137, OOMKilled", "container-memory"),
        (
            "org.apache.hadoop.mapred.FileAlreadyExistsException: Output directory hdfs://nn/x already exists",
            "output-exists",
        ),
        (
            "23/06/08 19:24:12 INFO Job: Kill job job_1_0001 received from hive (auth:SIMPLE) at 10.0.0.1 Job received Kill while in RUNNING state.",
            "user-kill",
        ),
        ("23/06/08 19:24:12 INFO Client: Application killed by user.", "user-kill"),
        (
            "User class threw exception: java.sql.SQLException: Access denied for user 'u'@'10.0.0.1'",
            "permission",
        ),
        (
            "User class threw exception: org.apache.hadoop.security.AccessControlException: Permission denied: user=u, access=WRITE, inode=\"/x\"",
            "permission",
        ),
        (
            "23/06/08 19:24:12 ERROR Client: This token is expired. Note: System times on machines may be out of sync.",
            "clock-difference",
        ),
    ] {
        assert_eq!(told(log), expected, "{log}");
    }
}

#[test]
fn any_error_is_told_as_compass_does() {
    // Its rules "otherError": a line of level ERROR, whatever it says.
    let log =
        digest(Form::Text, b"23/06/08 19:24:12 ERROR a.B: went wrong\n23/06/08 19:24:12 INFO a.B: went on\n");
    assert_eq!((log.chains.len(), log.chains[0].logger.as_deref()), (1, Some("a.B")));
}

#[test]
fn lack_of_memory_is_told_as_dr_elephant_does() {
    for (log, expected) in [
        ("java.lang.OutOfMemoryError: GC overhead limit exceeded\n\tat a.B.c(B.java:1)\n", "gc-overhead"),
        (
            "Container [pid=1,containerID=container_1_0001_01_000002] is running beyond physical memory limits. Current usage: 5.1 GB of 5 GB physical memory used; 8.1 GB of 10.5 GB virtual memory used. Killing container.",
            "container-memory",
        ),
        (
            "Container [pid=1,containerID=container_1_0001_01_000002] is running beyond virtual memory limits. Current usage: 1.0 GB of 5 GB physical memory used; 11.1 GB of 10.5 GB virtual memory used. Killing container.",
            "container-virtual-memory",
        ),
        ("23/06/08 19:24:12 INFO a.B: Container exited. Exit status: -103", "container-virtual-memory"),
        ("23/06/08 19:24:12 INFO a.B: Container exited. Exit status: -104", "container-memory"),
        // Its tests call these the user's fault.
        ("java.lang.NullPointerException\n\tat com.acme.Job.run(Job.java:1)\n", "user-code"),
        (
            "org.apache.spark.sql.AnalysisException: cannot resolve '`x`' given input columns: [y]; line 1 pos 7;\n\tat a.B.c(B.java:1)\n",
            "invalid-query",
        ),
        ("java.lang.ClassCastException: a.B cannot be cast to a.C\n\tat a.B.c(B.java:1)\n", "wrong-type"),
    ] {
        assert_eq!(told(log), expected, "{log}");
    }
}

#[test]
fn a_process_that_was_killed_lacked_memory_only_if_a_limit_is_told() {
    let killed = "23/06/08 19:24:12 WARN YarnAllocator: Container marked as failed: container_1_0001_01_000003 on host: h. Exit status: 137. Diagnostics: Container killed on request. Exit code is 137";
    assert_eq!(told(killed), "executor-lost");
    assert_eq!(
        told(&format!("{killed}\nMemory cgroup out of memory: Killed process 17 (java)")),
        "container-memory"
    );
    let ended = "23/06/08 19:24:12 INFO YarnAllocator: Container exited. Exit code is 143";
    assert_eq!(told(ended), "resource-manager-kill");
}
