//! The names that an expression can use, with types and meanings. The table in `docs/rule-language.md` is
//! generated from them.

mod columns;

use std::sync::LazyLock;

pub(super) use columns::{ATTEMPT, AttemptField, EXECUTOR, ExecutorField, snake_case, type_of};

use super::unit::Type;

/// A name of a namespace.
#[derive(Debug, Clone)]
pub(super) struct Named<F> {
    /// The name after the dot.
    pub(super) name: String,
    /// The fact that it names.
    pub(super) field: F,
    /// Its type.
    pub(super) kind: Type,
    /// Its meaning, in a few words.
    pub(super) meaning: String,
}

macro_rules! fields {
    ($(#[$doc:meta])* $enum:ident, $all:ident, $namespace:literal {
        $($name:literal $variant:ident $kind:expr, $meaning:literal;)+
    }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
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
        "name" Name Type::Text, "its name";
        "user" User Type::Text, "the user who submitted it";
        "queue" Queue Type::Text, "its queue";
        "job_type" JobType Type::Text, "what submitted a MapReduce job, such as `Hive`";
        "engine" Engine Type::Text, "`mapreduce` or `spark`";
        "engine_version" EngineVersion Type::Text, "version of the engine";
        "status" Status Type::Text, "`succeeded`, `failed`, `killed`, `running` or `unknown`";
        "complete" Complete Type::Flag, "whether the history is complete";
        "uberized" Uberized Type::Flag, "whether all tasks ran inside the application master (uber mode)";
        "submit_hour" SubmitHour Type::COUNT, "hour of the day of the submission, 0 to 23, in UTC";
        "submit_time" SubmitTime Type::TIME, "time of the day of the submission, since midnight, in UTC";
        "submit_weekday" SubmitWeekday Type::Text, "day of the week of the submission in UTC, such as `monday`";
        "input_files" InputFiles Type::COUNT, "MapReduce: input files, as the input format counted them; unknown if it combines files";
        "files_per_map" FilesPerMap Type::NUMBER, "the same per map task; below 1 if files are split";
        "run_time" RunTime Type::TIME, "from submission to end";
        "wait_time" WaitTime Type::TIME, "time in which tasks waited for resources";
        "used_gb_hours" UsedGbHours Type::NUMBER, "memory allocated over time, in GiB·h";
        "wasted_gb_hours" WastedGbHours Type::NUMBER, "the part of it that was not needed";
        "wasted_ratio" WastedRatio Type::NUMBER, "wasted memory as a share of used memory";
        "failed_gb_hours" FailedGbHours Type::NUMBER, "memory allocated to failed attempts, in GiB·h";
        "used_core_hours" UsedCoreHours Type::NUMBER, "Spark: cores that tasks used, in core-hours";
        "idle_core_hours" IdleCoreHours Type::NUMBER, "Spark: cores of executors that no task used, in core-hours";
        "idle_ratio" IdleRatio Type::NUMBER, "Spark: idle cores as a share of all executor cores";
        "log_size" LogSize Type::SIZE, "Spark: size of the event log, decompressed";
        "stored_log_size" StoredLogSize Type::SIZE, "Spark: size of the event log as stored";
        "log_is_rolling" LogIsRolling Type::Flag, "Spark: whether the event log is rolling, written in parts";
    }
}

fields! {
    /// Numbers about the subject's tasks.
    TasksField, TASKS, "tasks" {
        "total" Total Type::COUNT, "tasks";
        "succeeded" Succeeded Type::COUNT, "successful tasks";
        "failed" Failed Type::COUNT, "failed tasks";
        "killed" Killed Type::COUNT, "killed tasks";
        "container" Container Type::SIZE, "MapReduce: the requested memory of each container";
    }
}

fields! {
    /// Numbers about the subject's attempts.
    AttemptsField, ATTEMPTS, "attempts" {
        "total" Total Type::COUNT, "attempts, finished or not";
        "succeeded" Succeeded Type::COUNT, "successful attempts";
        "failed" Failed Type::COUNT, "failed attempts";
        "killed" Killed Type::COUNT, "killed attempts";
        "speculative" Speculative Type::COUNT, "speculative copies";
    }
}

fields! {
    /// Facts about a stage attempt.
    StageField, STAGE, "stage" {
        "id" Id Type::Text, "stage and attempt, such as `3.0`";
        "number" Number Type::COUNT, "the stage's number";
        "attempt" Attempt Type::COUNT, "the attempt's number, from 0";
        "name" Name Type::Text, "its name, usually the call site";
        "status" Status Type::Text, "`complete` or `failed`; unknown if the end is not logged";
        "failure" Failure Type::Text, "the logged reason of a failure";
        "duration" Duration Type::TIME, "from submission to end";
        "announced_tasks" AnnouncedTasks Type::COUNT, "number of tasks when it was submitted";
    }
}

fields! {
    /// Facts about a job of a Spark application.
    JobField, JOB, "job" {
        "number" Number Type::COUNT, "the job's number";
        "result" Result Type::Text, "`succeeded` or `failed`; unknown if the end is not logged";
        "failure" Failure Type::Text, "the logged reason of a failure";
        "description" Description Type::Text, "the description that the user's code set";
        "duration" Duration Type::TIME, "from submission to end";
        "stages" Stages Type::COUNT, "its stages, whether run or skipped";
        "group" Group Type::Text, "the group that the user's code put it into (`setJobGroup`)";
        "query" Query Type::COUNT, "the number of the query that it is a part of";
    }
}

fields! {
    /// Facts about a query of a Spark application.
    QueryField, QUERY, "query" {
        "number" Number Type::COUNT, "number of its SQL execution";
        "description" Description Type::Text, "the description that the user's code set, or else its call site";
        "name" Name Type::Text, "its number and description, as reports name it";
        "error" Error Type::Text, "the error it ended with";
        "part_of" PartOf Type::COUNT, "number of the query that it is a part of, since Spark 3.4";
        "wall_time" WallTime Type::TIME, "from start to end";
        "planning_time" PlanningTime Type::TIME, "from start to its first job: planning, listing files; all of a query without jobs";
        "jobs_time" JobsTime Type::TIME, "while one of its jobs ran";
        "gap_time" GapTime Type::TIME, "between its jobs";
        "commit_time" CommitTime Type::TIME, "from the end of its last job to its end: committing files, handing over results";
        "task_time" TaskTime Type::TIME, "time of its tasks in executors, of all attempts";
        "input_bytes" InputBytes Type::SIZE, "bytes read from sources and caches";
        "output_bytes" OutputBytes Type::SIZE, "bytes written";
        "shuffle_bytes_written" ShuffleBytesWritten Type::SIZE, "shuffle bytes written";
        "memory_bytes_spilled" MemoryBytesSpilled Type::SIZE, "memory bytes spilled";
        "jobs" Jobs Type::COUNT, "its jobs, and those of queries that are parts of it";
        "stages" Stages Type::COUNT, "its stage attempts";
        "operators" Operators Type::COUNT, "its operators, with those that adaptive execution replaced after they had run";
    }
}

fields! {
    /// Facts about an operator of a query.
    OperatorField, OPERATOR, "node" {
        "name" Name Type::Text, "the name of its node, such as `SortMergeJoin`";
        "detail" Detail Type::Text, "its node with keys, expressions, table or path; Spark cuts long lists";
        "place" Place Type::COUNT, "its place among the operators of its query, from 0, as in `queries` of the JSON report";
        "in_last_plan" InLastPlan Type::Flag, "whether it is part of the last plan, and was not replaced by adaptive execution";
        "rows" Rows Type::COUNT, "rows that it passed on (`number of output rows`)";
        "time" Time Type::TIME, "its own time in tasks; unknown if no timing of Spark tells it";
        "stages" Stages Type::COUNT, "stage attempts in which it ran";
    }
}

/// The kinds of rows that aggregates run over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Rows {
    /// Successful tasks, each represented by one attempt.
    Tasks,
    /// All attempts.
    Attempts,
    /// Stage attempts.
    Stages,
    /// Jobs of a Spark application.
    Jobs,
    /// Executors.
    Executors,
    /// Queries.
    Queries,
    /// Operators of a query.
    Operators,
}

impl Rows {
    /// The namespace of these rows.
    #[must_use]
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Tasks => "task",
            Self::Attempts => "attempt",
            Self::Stages => "stage",
            Self::Jobs => "job",
            Self::Executors => "executor",
            Self::Queries => "query",
            Self::Operators => "node",
        }
    }

    /// The kind of rows with this namespace.
    #[must_use]
    pub(super) fn named(name: &str) -> Option<Self> {
        const ALL: [Rows; 7] = [
            Rows::Tasks,
            Rows::Attempts,
            Rows::Stages,
            Rows::Jobs,
            Rows::Executors,
            Rows::Queries,
            Rows::Operators,
        ];
        ALL.into_iter().find(|rows| rows.name() == name)
    }
}

/// A fact about one row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RowField {
    Attempt(AttemptField),
    Stage(StageField),
    Job(JobField),
    Executor(ExecutorField),
    Query(QueryField),
    Operator(OperatorField),
}

fn find<F: Copy>(names: &[Named<F>], name: &str) -> Option<(F, Type)> {
    names.iter().find(|named| named.name == name).map(|named| (named.field, named.kind))
}

/// The fact with this name in a namespace of rows.
#[must_use]
pub(super) fn row_field(rows: Rows, name: &str) -> Option<(RowField, Type)> {
    match rows {
        Rows::Tasks | Rows::Attempts => find(&ATTEMPT, name).map(|(f, kind)| (RowField::Attempt(f), kind)),
        Rows::Stages => find(&STAGE, name).map(|(f, kind)| (RowField::Stage(f), kind)),
        Rows::Jobs => find(&JOB, name).map(|(f, kind)| (RowField::Job(f), kind)),
        Rows::Executors => find(&EXECUTOR, name).map(|(f, kind)| (RowField::Executor(f), kind)),
        Rows::Queries => find(&QUERY, name).map(|(f, kind)| (RowField::Query(f), kind)),
        Rows::Operators => find(&OPERATOR, name).map(|(f, kind)| (RowField::Operator(f), kind)),
    }
}

/// The fact `app.<name>`.
#[must_use]
pub(super) fn app_field(name: &str) -> Option<(AppField, Type)> {
    find(&APP, name)
}

/// The fact `tasks.<name>`.
#[must_use]
pub(super) fn tasks_field(name: &str) -> Option<(TasksField, Type)> {
    find(&TASKS, name)
}

/// The fact `attempts.<name>`.
#[must_use]
pub(super) fn attempts_field(name: &str) -> Option<(AttemptsField, Type)> {
    find(&ATTEMPTS, name)
}

/// The namespaces.
pub(super) const NAMESPACES: [&str; 10] =
    ["app", "tasks", "attempts", "task", "attempt", "stage", "job", "executor", "query", "node"];

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
        "query" => of(&QUERY),
        "node" => of(&OPERATOR),
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use elephant_model::model::counters::Counter;

    #[test]
    fn every_name_is_unique() {
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
