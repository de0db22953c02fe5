//! Rules about jobs of MapReduce.

use super::Row;
use crate::basis::Basis::{Attempts, Figures};
use crate::basis::How::{Count, Largest, Mean, Median, Smallest, Sum};
use crate::basis::Reading::{Counters, RunTime};
use crate::basis::Which::Succeeded;
use elephant_model::model::counters::Counter;

const GC: &[&str] = &["mapper-gc", "reducer-gc"];
const MEMORY: &[&str] = &["mapper-memory", "reducer-memory"];
const SKEW: &[&str] = &["mapper-skew", "reducer-skew"];
const SPEED: &[&str] = &["mapper-speed"];
const SPILL: &[&str] = &["mapper-spill"];
const TIME: &[&str] = &["mapper-time", "reducer-time"];
const SHUFFLE: &[&str] = &["shuffle-sort"];

pub(super) const TABLE: &[Row] = &[
    (GC, "tasks_count", Attempts(Count, RunTime, Succeeded)),
    (GC, "avg_run_time_ms", Attempts(Mean, RunTime, Succeeded)),
    (GC, "avg_cpu_time_ms", Attempts(Mean, Counters(&[Counter::CpuMilliseconds]), Succeeded)),
    (GC, "avg_gc_time_ms", Attempts(Mean, Counters(&[Counter::GcTimeMillis]), Succeeded)),
    (GC, "gc_cpu_ratio", Figures("avg_gc_time_ms ÷ avg_cpu_time_ms")),
    (GC, "gc_run_time_ratio", Figures("avg_gc_time_ms ÷ avg_run_time_ms")),
    (MEMORY, "tasks_count", Attempts(Count, RunTime, Succeeded)),
    (
        MEMORY,
        "avg_physical_memory_bytes",
        Attempts(Mean, Counters(&[Counter::PhysicalMemoryBytes]), Succeeded),
    ),
    (MEMORY, "used_ratio", Figures("avg_physical_memory_bytes ÷ container_bytes")),
    (SKEW, "tasks_count", Attempts(Count, RunTime, Succeeded)),
    (
        SKEW,
        "deviation_ratio",
        Figures("|large_group_avg_bytes − small_group_avg_bytes| ÷ the smaller of the two, at least 1"),
    ),
    (
        SKEW,
        "time_deviation_ratio",
        Figures("|time_large_group_avg_ms − time_small_group_avg_ms| ÷ the smaller of the two, at least 1"),
    ),
    (SPEED, "tasks_count", Attempts(Count, RunTime, Succeeded)),
    (SPEED, "input_bytes", Attempts(Median, Counters(&Counter::INPUT_BYTES), Succeeded)),
    (SPEED, "run_time_ms", Attempts(Median, RunTime, Succeeded)),
    (SPEED, "total_input_bytes", Attempts(Sum, Counters(&Counter::INPUT_BYTES), Succeeded)),
    (SPILL, "tasks_count", Attempts(Count, RunTime, Succeeded)),
    (SPILL, "spilled_records_count", Attempts(Sum, Counters(&[Counter::SpilledRecords]), Succeeded)),
    (SPILL, "output_records_count", Attempts(Sum, Counters(&[Counter::MapOutputRecords]), Succeeded)),
    (SPILL, "spill_ratio", Figures("spilled_records_count ÷ output_records_count")),
    (TIME, "tasks_count", Attempts(Count, RunTime, Succeeded)),
    (TIME, "avg_run_time_ms", Attempts(Mean, RunTime, Succeeded)),
    (TIME, "min_run_time_ms", Attempts(Smallest, RunTime, Succeeded)),
    (TIME, "max_run_time_ms", Attempts(Largest, RunTime, Succeeded)),
    (TIME, "avg_input_bytes", Attempts(Mean, Counters(&Counter::INPUT_BYTES), Succeeded)),
    (SHUFFLE, "shuffle_reduce_ratio", Figures("avg_shuffle_ms ÷ avg_reduce_ms")),
    (SHUFFLE, "sort_reduce_ratio", Figures("avg_sort_ms ÷ avg_reduce_ms")),
    (SHUFFLE, "lost_ratio", Figures("lost_ms ÷ the run time of the job")),
    (&["wait-time"], "wait_ratio", Figures("wait_ms ÷ run_time_ms")),
    (&["mapper-side-reads"], "side_ratio", Figures("(read_bytes − input_bytes) ÷ input_bytes")),
];
