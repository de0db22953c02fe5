//! Rules about applications of Spark, and about both engines.

use super::Row;
use crate::basis::Basis::{Attempts, Figures};
use crate::basis::How::{Count, Largest, Median, Sum};
use crate::basis::Reading::{self, Counters, RunTime};
use crate::basis::Which::{Ended, Failed, Succeeded};
use elephant_model::model::counters::Counter;

/// The time of a task in its executor.
const EXECUTOR_TIME: Reading = Counters(&[Counter::ExecutorRunTime]);
/// What a task reads, from sources and from shuffles.
const READ_BYTES: Reading =
    Counters(&[Counter::InputBytes, Counter::ShuffleRemoteBytesRead, Counter::ShuffleLocalBytesRead]);
const SHUFFLED_BYTES: Reading = Counters(&[Counter::ShuffleRemoteBytesRead, Counter::ShuffleLocalBytesRead]);
const READ_RECORDS: Reading = Counters(&[Counter::InputRecords, Counter::ShuffleRecordsRead]);

const GC: &[&str] = &["spark-executor-gc"];
const SPILL: &[&str] = &["spark-executor-spill"];
const FETCH: &[&str] = &["spark-fetch-wait"];
const PARAMETERS: &[&str] = &["spark-configuration-parameters"];
const SKEW: &[&str] = &["spark-skew"];
const STAGE: &[&str] = &["spark-stage-metrics"];
const STAGE_RUNTIME: &[&str] = &["spark-stage-runtime"];
const FAILED: &[&str] = &["failed-attempts"];
const COPIES: &[&str] = &["speculation-waste"];
const FAILED_TASKS: &[&str] = &["spark-stages-with-failed-tasks"];
const QUERIES: &[&str] = &[
    "spark-cache",
    "spark-engine-fallback",
    "spark-exploding-join",
    "spark-nested-loop-join",
    "spark-partition-pruning",
    "spark-python-functions",
    "spark-repeated-work",
    "spark-rewritten-rows",
    "spark-schema-inference",
    "spark-selective-scan",
    "spark-shuffle-volume",
    "spark-small-files-read",
    "spark-small-files-written",
    "spark-table-scan",
    "spark-would-broadcast",
];

pub(super) const TABLE: &[Row] = &[
    (GC, "gc_time_ms", Attempts(Sum, Counters(&[Counter::GcTimeMillis]), Ended)),
    (GC, "task_time_ms", Attempts(Sum, RunTime, Ended)),
    (GC, "gc_ratio", Figures("gc_time_ms ÷ task_time_ms, at most 1")),
    (SPILL, "spilled_bytes", Attempts(Sum, Counters(&[Counter::MemoryBytesSpilled]), Ended)),
    (SPILL, "spilled_to_disk_bytes", Attempts(Sum, Counters(&[Counter::DiskBytesSpilled]), Ended)),
    (SPILL, "executors_ratio", Figures("spilling_executors_count ÷ executors_count")),
    (FETCH, "waiting_task_time_ms", Attempts(Sum, Counters(&[Counter::ShuffleFetchWaitTime]), Succeeded)),
    (FETCH, "task_time_ms", Attempts(Sum, RunTime, Succeeded)),
    (FETCH, "wait_ratio", Figures("waiting_task_time_ms ÷ task_time_ms")),
    (FETCH, "remote_blocks_count", Attempts(Sum, Counters(&[Counter::ShuffleRemoteBlocks]), Succeeded)),
    (PARAMETERS, "tasks_count", Attempts(Count, RunTime, Succeeded)),
    (PARAMETERS, "median_run_time_ms", Attempts(Median, EXECUTOR_TIME, Succeeded)),
    (PARAMETERS, "median_run_time_ms", Attempts(Median, RunTime, Succeeded)),
    (PARAMETERS, "longest_run_time_ms", Attempts(Largest, EXECUTOR_TIME, Succeeded)),
    (PARAMETERS, "longest_run_time_ms", Attempts(Largest, RunTime, Succeeded)),
    (PARAMETERS, "spilled_bytes", Attempts(Sum, Counters(&[Counter::MemoryBytesSpilled]), Succeeded)),
    (PARAMETERS, "failed_attempts_count", Attempts(Count, RunTime, Failed)),
    (SKEW, "median_run_time_ms", Attempts(Median, EXECUTOR_TIME, Succeeded)),
    (SKEW, "median_run_time_ms", Attempts(Median, RunTime, Succeeded)),
    (SKEW, "longest_run_time_ms", Attempts(Largest, EXECUTOR_TIME, Succeeded)),
    (SKEW, "longest_run_time_ms", Attempts(Largest, RunTime, Succeeded)),
    (SKEW, "data_ratio", Figures("largest_read_bytes ÷ median_read_bytes")),
    (SKEW, "largest_read_bytes", Attempts(Largest, READ_BYTES, Succeeded)),
    (SKEW, "largest_read_bytes", Attempts(Largest, SHUFFLED_BYTES, Succeeded)),
    (SKEW, "median_read_bytes", Attempts(Median, READ_BYTES, Succeeded)),
    (SKEW, "median_read_bytes", Attempts(Median, SHUFFLED_BYTES, Succeeded)),
    (SKEW, "largest_records_count", Attempts(Largest, READ_RECORDS, Succeeded)),
    (SKEW, "median_records_count", Attempts(Median, READ_RECORDS, Succeeded)),
    (SKEW, "lost_ratio", Figures("lost_ms ÷ the run time of the application")),
    (STAGE, "succeeded_attempts_count", Attempts(Count, RunTime, Succeeded)),
    (STAGE, "failed_attempts_count", Attempts(Count, RunTime, Failed)),
    (
        STAGE,
        "failed_attempts_ratio",
        Figures("failed_attempts_count ÷ (failed_attempts_count + succeeded_attempts_count)"),
    ),
    (
        STAGE,
        "failed_stages_ratio",
        Figures("failed_stages_count ÷ (failed_stages_count + completed_stages_count)"),
    ),
    (STAGE_RUNTIME, "succeeded_tasks_count", Attempts(Count, RunTime, Succeeded)),
    (STAGE_RUNTIME, "stage_ms", Figures("Completion Time − Submission Time in SparkListenerStageCompleted")),
    (STAGE_RUNTIME, "run_time_ratio", Figures("stage_ms ÷ the run time of the application")),
    (
        STAGE_RUNTIME,
        "task_failure_ratio",
        Figures("failed_tasks_count ÷ (failed_tasks_count + succeeded_tasks_count)"),
    ),
    (FAILED, "attempts_count", Attempts(Count, RunTime, Ended)),
    (FAILED, "failed_attempts_count", Attempts(Count, RunTime, Failed)),
    (FAILED, "failed_time_ms", Attempts(Sum, RunTime, Failed)),
    (FAILED, "task_time_ms", Attempts(Sum, RunTime, Ended)),
    (FAILED, "failed_ratio", Figures("failed_attempts_count ÷ attempts_count")),
    (COPIES, "task_time_ms", Attempts(Sum, RunTime, Ended)),
    (FAILED_TASKS, "failed_attempts_count", Attempts(Count, RunTime, Failed)),
    (FAILED_TASKS, "done_count", Attempts(Count, RunTime, Succeeded)),
    (
        PARAMETERS,
        "stage_time_ms",
        Figures("Completion Time − Submission Time in SparkListenerStageCompleted"),
    ),
    (&["spark-driver-time"], "lost_ratio", Figures("lost_ms ÷ the run time of the application")),
    (&["spark-parallelism"], "lost_ratio", Figures("lost_ms ÷ the run time of the application")),
    (&["wasted-resources"], "wasted_ratio", Figures("wasted_gb_hours ÷ used_gb_hours")),
    (
        &["wasted-resources"],
        "driver_alone_ratio",
        Figures("driver_alone_ms ÷ the run time of the application"),
    ),
    (
        &["spark-job-metrics"],
        "failed_jobs_ratio",
        Figures("failed_jobs_count ÷ (failed_jobs_count + completed_jobs_count)"),
    ),
    (
        &["spark-jvm-used-memory"],
        "heap_ratio",
        Figures("heap_bytes ÷ (peak_used_bytes + the memory that Spark reserves)"),
    ),
    (QUERIES, "lost_ratio", Figures("lost_ms ÷ the run time of the application")),
    (QUERIES, "work_ratio", Figures("work_ms ÷ the time of all tasks")),
];
