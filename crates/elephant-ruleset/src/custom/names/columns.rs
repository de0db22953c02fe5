//! The names of facts about attempts and executors: counters, metrics, and values derived from them.

use std::sync::LazyLock;

use super::Named;
use crate::custom::unit::Type;
use elephant_model::model::counters::{Counter, CounterUnit};
use elephant_model::model::spark::ExecutorMetric;

/// Facts about an attempt of a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::custom) enum AttemptField {
    Counter(Counter),
    InputBytes,
    ShuffleBytesRead,
    RunTime,
    StartedAfter,
    FinishedAfter,
    ShuffleTime,
    SortTime,
    ReduceTime,
    Outcome,
    EndReason,
    Node,
    Rack,
    Locality,
    Executor,
    Speculative,
    TaskNumber,
    AttemptNumber,
}

/// The type of a counter.
pub(in crate::custom) const fn type_of(counter: Counter) -> Type {
    match counter.unit() {
        CounterUnit::Count => Type::COUNT,
        CounterUnit::Bytes => Type::SIZE,
        CounterUnit::Millis => Type::TIME,
    }
}

/// Every name of `task` and `attempt`.
pub(in crate::custom) static ATTEMPT: LazyLock<Vec<Named<AttemptField>>> = LazyLock::new(|| {
    use AttemptField as F;
    let named = |name: &str, field, kind, meaning: &str| Named {
        name: name.to_owned(),
        field,
        kind,
        meaning: meaning.to_owned(),
    };
    let mut names = vec![
        named("run_time", F::RunTime, Type::TIME, "from launch to end"),
        named("started_after", F::StartedAfter, Type::TIME, "from the application's submission to launch"),
        named("finished_after", F::FinishedAfter, Type::TIME, "from the application's submission to end"),
        named(
            "input_bytes",
            F::InputBytes,
            Type::SIZE,
            "bytes read: from all file systems except the local one; in Spark, from sources and caches",
        ),
        named(
            "shuffle_bytes_read",
            F::ShuffleBytesRead,
            Type::SIZE,
            "shuffle bytes read: `REDUCE_SHUFFLE_BYTES`; in Spark, local and remote bytes",
        ),
        named(
            "shuffle_time",
            F::ShuffleTime,
            Type::TIME,
            "reduce tasks: from launch until all map outputs were fetched",
        ),
        named(
            "sort_time",
            F::SortTime,
            Type::TIME,
            "reduce tasks: from the end of the shuffle until the map outputs were merged",
        ),
        named("reduce_time", F::ReduceTime, Type::TIME, "reduce tasks: from the end of the sort to the end"),
        named(
            "outcome",
            F::Outcome,
            Type::Text,
            "`succeeded`, `failed` or `killed`; unknown if the end is not logged",
        ),
        named(
            "end_reason",
            F::EndReason,
            Type::Text,
            "Spark: `success`, `exception`, `out_of_memory`, `fetch_failed`, `executor_lost`, `container_over_memory`, `killed`, `commit_denied`, `result_lost`, `other`",
        ),
        named("node", F::Node, Type::Text, "the host it ran on"),
        named("rack", F::Rack, Type::Text, "the rack of that host"),
        named(
            "locality",
            F::Locality,
            Type::Text,
            "`process_local`, `node_local`, `rack_local`, `off_switch` or `no_preference`",
        ),
        named("executor", F::Executor, Type::Text, "Spark: id of the executor"),
        named("speculative", F::Speculative, Type::Flag, "whether it is a speculative copy"),
        named("task_number", F::TaskNumber, Type::COUNT, "the task's number"),
        named("attempt_number", F::AttemptNumber, Type::COUNT, "the attempt's number within its task"),
    ];
    for counter in Counter::ALL {
        // `input_bytes` already has the bytes that Spark reads.
        if counter == Counter::InputBytes {
            continue;
        }
        let kind = type_of(counter);
        names.push(Named {
            name: counter_name(counter),
            field: F::Counter(counter),
            kind,
            meaning: format!("counter `{}`", counter.name()),
        });
    }
    names
});

fn counter_name(counter: Counter) -> String {
    match counter {
        Counter::GcTimeMillis => "gc_time".to_owned(),
        Counter::CpuMilliseconds => "cpu_time".to_owned(),
        _ => snake_case(&format!("{counter:?}")),
    }
}

/// Facts about an executor, or about the driver if it runs the tasks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::custom) enum ExecutorField {
    Id,
    Host,
    Cores,
    Lost,
    Tasks,
    Succeeded,
    Failed,
    Killed,
    TaskTime,
    RunTime,
    CpuTime,
    GcTime,
    InputBytes,
    OutputBytes,
    ShuffleBytesRead,
    ShuffleBytesWritten,
    MemoryBytesSpilled,
    DiskBytesSpilled,
    StorageMemory,
    PeakStorage,
    PeakHeap,
    PeakUnified,
    PeakResident,
    Peak(ExecutorMetric),
}

/// Every name of `executor`.
pub(in crate::custom) static EXECUTOR: LazyLock<Vec<Named<ExecutorField>>> = LazyLock::new(|| {
    use ExecutorField as F;
    let named = |name: &str, field, kind, meaning: &str| Named {
        name: name.to_owned(),
        field,
        kind,
        meaning: meaning.to_owned(),
    };
    let mut names = vec![
        named("id", F::Id, Type::Text, "its id; `driver` in local mode"),
        named("host", F::Host, Type::Text, "its host"),
        named("cores", F::Cores, Type::COUNT, "its cores"),
        named(
            "lost",
            F::Lost,
            Type::Flag,
            "whether it was lost before the end, other than by dynamic allocation",
        ),
        named("tasks", F::Tasks, Type::COUNT, "attempts that ran on it"),
        named("succeeded", F::Succeeded, Type::COUNT, "successful attempts"),
        named("failed", F::Failed, Type::COUNT, "failed attempts"),
        named("killed", F::Killed, Type::COUNT, "killed attempts"),
        named("task_time", F::TaskTime, Type::TIME, "total time of its attempts, from launch to end"),
        named("run_time", F::RunTime, Type::TIME, "total `Executor Run Time`"),
        named("cpu_time", F::CpuTime, Type::TIME, "total `Executor CPU Time`"),
        named("gc_time", F::GcTime, Type::TIME, "total `JVM GC Time`"),
        named("input_bytes", F::InputBytes, Type::SIZE, "bytes read from sources and caches"),
        named("output_bytes", F::OutputBytes, Type::SIZE, "bytes written"),
        named("shuffle_bytes_read", F::ShuffleBytesRead, Type::SIZE, "shuffle bytes read"),
        named("shuffle_bytes_written", F::ShuffleBytesWritten, Type::SIZE, "shuffle bytes written"),
        named("memory_bytes_spilled", F::MemoryBytesSpilled, Type::SIZE, "memory bytes spilled"),
        named("disk_bytes_spilled", F::DiskBytesSpilled, Type::SIZE, "disk bytes spilled"),
        named("storage_memory", F::StorageMemory, Type::SIZE, "memory available for execution and storage"),
        named("peak_storage", F::PeakStorage, Type::SIZE, "highest storage memory used by cached blocks"),
        named("peak_heap", F::PeakHeap, Type::SIZE, "highest heap usage"),
        named("peak_unified", F::PeakUnified, Type::SIZE, "highest sum of execution and storage memory"),
        named("peak_resident", F::PeakResident, Type::SIZE, "highest resident memory of its processes"),
    ];
    for metric in ExecutorMetric::ALL {
        let variant = format!("{metric:?}");
        let kind = match () {
            () if variant.ends_with("Count") => Type::COUNT,
            () if variant.ends_with("Time") => Type::TIME,
            () => Type::SIZE,
        };
        names.push(Named {
            name: format!("peak_{}", snake_case(&variant)),
            field: F::Peak(metric),
            kind,
            meaning: format!("highest `{}`", metric.name()),
        });
    }
    names
});

/// Converts `HdfsBytesRead` to `hdfs_bytes_read`.
pub(in crate::custom) fn snake_case(variant: &str) -> String {
    let mut name = String::with_capacity(variant.len() + 8);
    for (place, letter) in variant.chars().enumerate() {
        if place > 0 && letter.is_ascii_uppercase() {
            name.push('_');
        }
        name.push(letter.to_ascii_lowercase());
    }
    name
}
