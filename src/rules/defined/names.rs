//! What an expression can see: names, types, and what they mean. The table in `docs/defining-rules.md` is this one.

use std::sync::LazyLock;

use super::unit::Type;
use crate::model::counters::{Counter, CounterUnit};
use crate::model::spark::ExecutorMetric;

/// A name of a namespace.
#[derive(Debug, Clone)]
pub(super) struct Named<F> {
    /// The name after the dot.
    pub(super) name: String,
    /// What stands behind it.
    pub(super) field: F,
    /// Its type.
    pub(super) kind: Type,
    /// What it means, in a few words.
    pub(super) meaning: String,
}

macro_rules! fields {
    ($(#[$doc:meta])* $enum:ident, $all:ident, $namespace:literal {
        $($name:literal $variant:ident $kind:expr, $meaning:literal;)+
    }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        #[allow(missing_docs)] // the meanings stand in the table
        pub(super) enum $enum { $($variant,)+ }

        #[doc = concat!("Every name of `", $namespace, "`.")]
        pub(super) static $all: LazyLock<Vec<Named<$enum>>> = LazyLock::new(|| vec![$(Named {
            name: $name.to_owned(),
            field: $enum::$variant,
            kind: $kind,
            meaning: $meaning.to_owned(),
        },)+]);
    };
}

fields! {
    /// Facts about the application.
    AppField, APP, "app" {
        "id" Id Type::Text, "id of the job or application";
        "name" Name Type::Text, "the name its user gave it";
        "user" User Type::Text, "its user";
        "queue" Queue Type::Text, "its queue";
        "job_type" JobType Type::Text, "what submitted a MapReduce job, such as `Hive`";
        "engine" Engine Type::Text, "`mapreduce` or `spark`";
        "engine_version" EngineVersion Type::Text, "the engine's version";
        "status" Status Type::Text, "`succeeded`, `failed`, `killed`, `running` or `unknown`";
        "complete" Complete Type::Flag, "whether the history tells it from beginning to end";
        "uberized" Uberized Type::Flag, "whether all tasks ran inside the master";
        "run_time" RunTime Type::TIME, "from submission to end";
        "wait_time" WaitTime Type::TIME, "time in which tasks waited for resources";
        "used_gb_hours" UsedGbHours Type::NUMBER, "memory held over time, in GiB·h";
        "wasted_gb_hours" WastedGbHours Type::NUMBER, "the part of it above what was needed";
        "wasted_ratio" WastedRatio Type::NUMBER, "wasted over used memory";
        "failed_gb_hours" FailedGbHours Type::NUMBER, "what failed attempts held, in GiB·h";
        "used_core_hours" UsedCoreHours Type::NUMBER, "Spark: cores that tasks held, in core·h";
        "idle_core_hours" IdleCoreHours Type::NUMBER, "Spark: cores that executors held and no task used";
        "idle_ratio" IdleRatio Type::NUMBER, "Spark: idle cores over all that executors held";
        "log_size" LogSize Type::SIZE, "Spark: the event log, decoded";
        "stored_log_size" StoredLogSize Type::SIZE, "Spark: the event log as it lies on disk";
        "log_is_rolling" LogIsRolling Type::Flag, "Spark: whether the event log is written in parts";
    }
}

fields! {
    /// Numbers about the tasks of what is judged.
    TasksField, TASKS, "tasks" {
        "total" Total Type::COUNT, "tasks";
        "succeeded" Succeeded Type::COUNT, "those that succeeded";
        "failed" Failed Type::COUNT, "those that failed";
        "killed" Killed Type::COUNT, "those that were killed";
        "container" Container Type::SIZE, "MapReduce: the memory that each container was asked with";
    }
}

fields! {
    /// Numbers about the attempts of what is judged.
    AttemptsField, ATTEMPTS, "attempts" {
        "total" Total Type::COUNT, "attempts, ended or not";
        "succeeded" Succeeded Type::COUNT, "those that succeeded";
        "failed" Failed Type::COUNT, "those that failed";
        "killed" Killed Type::COUNT, "those that were killed";
        "speculative" Speculative Type::COUNT, "those that were started beside a running one";
    }
}

fields! {
    /// Facts about a stage attempt.
    StageField, STAGE, "stage" {
        "id" Id Type::Text, "stage and attempt, such as `3.0`";
        "number" Number Type::COUNT, "the stage's number";
        "attempt" Attempt Type::COUNT, "the attempt's number, from 0";
        "name" Name Type::Text, "its name, mostly the call site";
        "status" Status Type::Text, "`complete` or `failed`; unknown without an end";
        "failure" Failure Type::Text, "what the log says about a failure";
        "duration" Duration Type::TIME, "from submission to end";
        "announced_tasks" AnnouncedTasks Type::COUNT, "tasks it announced";
    }
}

fields! {
    /// Facts about a job of a Spark application.
    JobField, JOB, "job" {
        "number" Number Type::COUNT, "the job's number";
        "result" Result Type::Text, "`succeeded` or `failed`; unknown without an end";
        "failure" Failure Type::Text, "what the log says about a failure";
        "description" Description Type::Text, "what the user's code says it does";
        "duration" Duration Type::TIME, "from submission to end";
        "stages" Stages Type::COUNT, "stages it needs, run or skipped";
    }
}

/// Facts about an attempt of a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)] // the meanings stand in the table
pub(super) enum AttemptField {
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

/// Every name of `task` and `attempt`.
pub(super) static ATTEMPT: LazyLock<Vec<Named<AttemptField>>> = LazyLock::new(|| {
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
            "bytes read: from all file systems but the local one, or by Spark from sources and caches",
        ),
        named(
            "shuffle_bytes_read",
            F::ShuffleBytesRead,
            Type::SIZE,
            "shuffle bytes read: `REDUCE_SHUFFLE_BYTES`, or Spark's local and remote ones",
        ),
        named(
            "shuffle_time",
            F::ShuffleTime,
            Type::TIME,
            "reduces: from launch until all map outputs were fetched",
        ),
        named("sort_time", F::SortTime, Type::TIME, "reduces: from then until they were merged"),
        named("reduce_time", F::ReduceTime, Type::TIME, "reduces: from then to the end"),
        named("outcome", F::Outcome, Type::Text, "`succeeded`, `failed` or `killed`; unknown without an end"),
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
        named("speculative", F::Speculative, Type::Flag, "whether it was started beside a running attempt"),
        named("task_number", F::TaskNumber, Type::COUNT, "the task's number"),
        named("attempt_number", F::AttemptNumber, Type::COUNT, "the attempt's number within its task"),
    ];
    for counter in Counter::ALL {
        // The bytes that Spark reads are `input_bytes` already.
        if counter == Counter::InputBytes {
            continue;
        }
        let kind = match counter.unit() {
            CounterUnit::Count => Type::COUNT,
            CounterUnit::Bytes => Type::SIZE,
            CounterUnit::Millis => Type::TIME,
        };
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

/// Facts about an executor, or about the driver where it runs the tasks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)] // the meanings stand in the table
pub(super) enum ExecutorField {
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
pub(super) static EXECUTOR: LazyLock<Vec<Named<ExecutorField>>> = LazyLock::new(|| {
    use ExecutorField as F;
    let named = |name: &str, field, kind, meaning: &str| Named {
        name: name.to_owned(),
        field,
        kind,
        meaning: meaning.to_owned(),
    };
    let mut names = vec![
        named("id", F::Id, Type::Text, "its id, `driver` in local mode"),
        named("host", F::Host, Type::Text, "its host"),
        named("cores", F::Cores, Type::COUNT, "its cores"),
        named(
            "lost",
            F::Lost,
            Type::Flag,
            "whether something other than the end or dynamic allocation took it away",
        ),
        named("tasks", F::Tasks, Type::COUNT, "attempts that it ran"),
        named("succeeded", F::Succeeded, Type::COUNT, "those that succeeded"),
        named("failed", F::Failed, Type::COUNT, "those that failed"),
        named("killed", F::Killed, Type::COUNT, "those that were killed"),
        named("task_time", F::TaskTime, Type::TIME, "time of its attempts, from launch to end, added up"),
        named("run_time", F::RunTime, Type::TIME, "`Executor Run Time`, added up"),
        named("cpu_time", F::CpuTime, Type::TIME, "`Executor CPU Time`, added up"),
        named("gc_time", F::GcTime, Type::TIME, "`JVM GC Time`, added up"),
        named("input_bytes", F::InputBytes, Type::SIZE, "bytes read from sources and caches"),
        named("output_bytes", F::OutputBytes, Type::SIZE, "bytes written"),
        named("shuffle_bytes_read", F::ShuffleBytesRead, Type::SIZE, "shuffle bytes read"),
        named("shuffle_bytes_written", F::ShuffleBytesWritten, Type::SIZE, "shuffle bytes written"),
        named(
            "memory_bytes_spilled",
            F::MemoryBytesSpilled,
            Type::SIZE,
            "size in memory of what was spilled",
        ),
        named("disk_bytes_spilled", F::DiskBytesSpilled, Type::SIZE, "size on disk of what was spilled"),
        named("storage_memory", F::StorageMemory, Type::SIZE, "memory that execution and storage may use"),
        named("peak_storage", F::PeakStorage, Type::SIZE, "the most that cached blocks were seen to use"),
        named("peak_heap", F::PeakHeap, Type::SIZE, "the highest heap in use"),
        named(
            "peak_unified",
            F::PeakUnified,
            Type::SIZE,
            "the highest execution and storage memory together",
        ),
        named("peak_resident", F::PeakResident, Type::SIZE, "the highest resident memory of its processes"),
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

/// `HdfsBytesRead` as `hdfs_bytes_read`.
pub(super) fn snake_case(variant: &str) -> String {
    let mut name = String::with_capacity(variant.len() + 8);
    for (place, letter) in variant.chars().enumerate() {
        if place > 0 && letter.is_ascii_uppercase() {
            name.push('_');
        }
        name.push(letter.to_ascii_lowercase());
    }
    name
}

/// What has a row each: what aggregates run over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Rows {
    /// The attempts that stand for tasks that succeeded.
    Tasks,
    /// All attempts.
    Attempts,
    /// Stage attempts.
    Stages,
    /// Jobs of a Spark application.
    Jobs,
    /// Executors.
    Executors,
}

impl Rows {
    /// The namespace of such a row.
    #[must_use]
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Tasks => "task",
            Self::Attempts => "attempt",
            Self::Stages => "stage",
            Self::Jobs => "job",
            Self::Executors => "executor",
        }
    }

    /// The rows of a namespace.
    #[must_use]
    pub(super) fn named(name: &str) -> Option<Self> {
        [Self::Tasks, Self::Attempts, Self::Stages, Self::Jobs, Self::Executors]
            .into_iter()
            .find(|rows| rows.name() == name)
    }
}

/// A fact about one row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)] // each is the field of its namespace
pub(super) enum RowField {
    Attempt(AttemptField),
    Stage(StageField),
    Job(JobField),
    Executor(ExecutorField),
}

fn find<F: Copy>(names: &[Named<F>], name: &str) -> Option<(F, Type)> {
    names.iter().find(|named| named.name == name).map(|named| (named.field, named.kind))
}

/// The fact behind `name` in a namespace of rows.
#[must_use]
pub(super) fn row_field(rows: Rows, name: &str) -> Option<(RowField, Type)> {
    match rows {
        Rows::Tasks | Rows::Attempts => find(&ATTEMPT, name).map(|(f, kind)| (RowField::Attempt(f), kind)),
        Rows::Stages => find(&STAGE, name).map(|(f, kind)| (RowField::Stage(f), kind)),
        Rows::Jobs => find(&JOB, name).map(|(f, kind)| (RowField::Job(f), kind)),
        Rows::Executors => find(&EXECUTOR, name).map(|(f, kind)| (RowField::Executor(f), kind)),
    }
}

/// The fact behind `app.<name>`.
#[must_use]
pub(super) fn app_field(name: &str) -> Option<(AppField, Type)> {
    find(&APP, name)
}

/// The fact behind `tasks.<name>`.
#[must_use]
pub(super) fn tasks_field(name: &str) -> Option<(TasksField, Type)> {
    find(&TASKS, name)
}

/// The fact behind `attempts.<name>`.
#[must_use]
pub(super) fn attempts_field(name: &str) -> Option<(AttemptsField, Type)> {
    find(&ATTEMPTS, name)
}

/// The namespaces.
pub(super) const NAMESPACES: [&str; 8] =
    ["app", "tasks", "attempts", "task", "attempt", "stage", "job", "executor"];

/// A line of the table: name within the namespace, type, meaning.
pub(super) type Line = (String, Type, String);

/// Every name of a namespace, for messages and documentation.
#[must_use]
pub(super) fn lines(namespace: &str) -> Vec<Line> {
    fn of<F>(names: &[Named<F>]) -> Vec<Line> {
        names.iter().map(|named| (named.name.clone(), named.kind, named.meaning.clone())).collect()
    }
    match namespace {
        "app" => of(&APP),
        "tasks" => of(&TASKS),
        "attempts" => of(&ATTEMPTS),
        "task" | "attempt" => of(&ATTEMPT),
        "stage" => of(&STAGE),
        "job" => of(&JOB),
        "executor" => of(&EXECUTOR),
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_stands_once() {
        for namespace in NAMESPACES {
            let mut names: Vec<String> = lines(namespace).into_iter().map(|(name, ..)| name).collect();
            let count = names.len();
            assert!(count > 0, "{namespace}");
            names.sort();
            names.dedup();
            assert_eq!(names.len(), count, "{namespace}");
        }
    }

    #[test]
    fn counters_have_their_unit() {
        assert_eq!(
            row_field(Rows::Tasks, "gc_time"),
            Some((RowField::Attempt(AttemptField::Counter(Counter::GcTimeMillis)), Type::TIME))
        );
        assert_eq!(row_field(Rows::Tasks, "s3a_bytes_read").map(|(_, kind)| kind), Some(Type::SIZE));
        assert_eq!(row_field(Rows::Attempts, "no_such"), None);
    }
}
