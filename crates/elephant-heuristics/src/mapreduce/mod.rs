//! The rules of MapReduce, one file per heuristic, and their shared functions.

mod distributed_cache_limit;
mod gc;
mod heap;
mod java_opts;
mod job_exception;
mod job_queue_limit;
mod lost_time;
mod mapper_input_size;
mod mapper_speed;
mod mapper_spill;
mod memory;
mod replayed;
mod run_times;
mod shuffle_sort;
mod skew;
mod sort_buffer;
mod splits;
mod time;

use super::Rule;
use super::wording::{change, grouped, limit};
use elephant_base::units::Bytes;
use elephant_model::model::conf::ConfKey;
use elephant_model::model::counters::{Counter, CounterMask};
use elephant_model::model::table::{TaskGroup, TaskKind};
use elephant_model::model::{Application, Engine, JobTool, Status};
use elephant_rule::finding::{SettingChange, Subject, Verdict};
use elephant_rule::params::choice;

/// Every rule of MapReduce, in the order of the documentation.
pub(super) const RULES: &[Rule] = &[
    skew::MAPPER,
    skew::REDUCER,
    gc::MAPPER,
    gc::REDUCER,
    time::MAPPER,
    time::REDUCER,
    mapper_speed::RULE,
    mapper_spill::RULE,
    memory::MAPPER,
    memory::REDUCER,
    shuffle_sort::RULE,
    job_exception::RULE,
    distributed_cache_limit::RULE,
    job_queue_limit::RULE,
    mapper_input_size::RULE,
];

macro_rules! rule {
    ($($fact:tt)+) => {
        $crate::rule!("mapreduce", $($fact)+)
    };
}
use rule;

pub(super) use heap::{larger_heaps, larger_sort_buffer};
pub(super) use job_exception::of_failure as remedies_of_failures;
pub(super) use memory::{no_container, no_memory};
pub(super) use replayed::{Lost, ReplayedJob};
pub(super) use run_times::waiting_for_maps;
pub(super) use shuffle_sort::slow_start;

choice! {
    /// How a missing counter is read.
    pub(super) enum MissingCounters {
        /// Unknown: the task is skipped, and without any task the rule is not evaluated.
        Unknown = "unknown",
        /// Zero, as in Dr. Elephant.
        Zero = "zero",
    }
}

/// Map or reduce tasks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Role {
    Map,
    Reduce,
}

impl Role {
    const fn kind(self) -> TaskKind {
        match self {
            Self::Map => TaskKind::Map,
            Self::Reduce => TaskKind::Reduce,
        }
    }

    const fn subject(self) -> Subject {
        Subject::Tasks(self.kind().name())
    }

    const fn memory(self) -> ConfKey {
        match self {
            Self::Map => ConfKey::MapMemoryMb,
            Self::Reduce => ConfKey::ReduceMemoryMb,
        }
    }

    const fn java_opts(self) -> ConfKey {
        match self {
            Self::Map => ConfKey::MapJavaOpts,
            Self::Reduce => ConfKey::ReduceJavaOpts,
        }
    }

    const fn speculative(self) -> ConfKey {
        match self {
            Self::Map => ConfKey::MapSpeculative,
            Self::Reduce => ConfKey::ReduceSpeculative,
        }
    }

    /// "1 map task", "20 reduce tasks".
    fn count(self, tasks: u64) -> String {
        let plural = if tasks == 1 { "" } else { "s" };
        format!("{tasks} {} task{plural}", self.kind().name())
    }

    /// "1 map task reads", "20 reduce tasks read".
    fn do_what(self, tasks: u64, verb: &str) -> String {
        let singular = if tasks == 1 { "s" } else { "" };
        format!("{} {verb}{singular}", self.count(tasks))
    }

    const fn plural(self) -> &'static str {
        match self {
            Self::Map => "map tasks",
            Self::Reduce => "reduce tasks",
        }
    }
}

/// The tasks to judge; `None` if the rule does not apply: another engine, no such tasks, or a job that did
/// not succeed although only succeeded jobs are judged.
fn tasks(app: &Application, kind: TaskKind, only_succeeded_jobs: bool) -> Option<&TaskGroup> {
    if app.engine != Engine::MapReduce || (only_succeeded_jobs && app.status != Status::Succeeded) {
        return None;
    }
    app.group(kind).filter(|group| !group.tasks.is_empty())
}

/// The verdict if [`tasks`] is `None`: not applicable, unless the tasks may be beyond a limit.
fn without_tasks(app: &Application, kind: TaskKind, only_succeeded_jobs: bool) -> Verdict {
    if app.engine != Engine::MapReduce || (only_succeeded_jobs && app.status != Status::Succeeded) {
        return Verdict::NotApplicable;
    }
    let announced = if kind == TaskKind::Reduce { app.announced.reduces } else { app.announced.maps };
    match app.limit {
        Some(limit) if announced != Some(0) => Verdict::NotEvaluated(limit.to_string()),
        _ => Verdict::NotApplicable,
    }
}

/// Why a rule that sums these counters cannot be evaluated: one of them is unreadable in some task.
fn unreadable(app: &Application, kind: TaskKind, counters: &[Counter]) -> Option<String> {
    let wanted = CounterMask::of(counters);
    app.unreadable_counters(|of| if of == kind { wanted } else { CounterMask::NONE })
}

/// Whether one of these counters is unreadable in some task.
fn is_unreadable(group: &TaskGroup, counters: &[Counter]) -> bool {
    group.attempts.any_unreadable().has_any(counters)
}

/// A counter of one attempt; `missing` says how a missing one is read.
fn counter(group: &TaskGroup, row: usize, counter: Counter, missing: MissingCounters) -> Option<i64> {
    match missing {
        MissingCounters::Unknown => group.attempts.counter(row, counter).filter(|&value| value >= 0),
        MissingCounters::Zero => {
            group.attempts.has_counters(row).then(|| group.attempts.counter(row, counter).unwrap_or_default())
        }
    }
}

/// The bytes that a map task read, from all file systems except the local one.
fn input_bytes(group: &TaskGroup, row: usize, missing: MissingCounters) -> Option<i64> {
    match missing {
        MissingCounters::Unknown => {
            let total = group.attempts.total(row, &Counter::INPUT_BYTES);
            total.map(|bytes| i64::try_from(bytes).unwrap_or(i64::MAX))
        }
        MissingCounters::Zero => {
            // The four file systems that Dr. Elephant supports.
            let known =
                [Counter::HdfsBytesRead, Counter::S3BytesRead, Counter::S3aBytesRead, Counter::S3nBytesRead];
            let values = known.into_iter().filter_map(|c| counter(group, row, c, missing));
            values.fold(None, |sum: Option<i64>, value| Some(sum.unwrap_or_default().saturating_add(value)))
        }
    }
}

/// The run time of one attempt in milliseconds.
fn run_time(group: &TaskGroup, row: usize) -> Option<i64> {
    group.attempts.run_time(row).and_then(|time| i64::try_from(time.get()).ok())
}

/// The reason if no task has the data that a rule needs.
fn no_task_reports(role: Role, group: &TaskGroup, what: &str) -> String {
    if group.winners().next().is_none() {
        format!("no {} task ended successfully", role.kind().name())
    } else {
        format!("no {} task reports {what}", role.kind().name())
    }
}

/// Why the wait time of tasks is unknown, if the history is complete.
pub(super) fn no_times(app: &Application) -> String {
    let without_times = |role: Role| {
        let group = app.group(role.kind()).filter(|group| !group.tasks.is_empty())?;
        let is_timed = group.winners().any(|row| group.attempts.run_time(row).is_some());
        (!is_timed).then(|| no_task_reports(role, group, "its start and end"))
    };
    let reason = [Role::Map, Role::Reduce].into_iter().find_map(without_times);
    reason.unwrap_or_else(|| "the job history does not contain the submission time".to_owned())
}

/// Whether this tool may have submitted the job; true if the job has no configuration.
fn may_be(app: &Application, tool: JobTool) -> bool {
    app.conf.is_empty() || JobTool::of(app) == Some(tool)
}

fn to_bytes(value: i64) -> Bytes {
    Bytes::new(u64::try_from(value).unwrap_or_default())
}

fn to_millis(value: i64) -> elephant_base::units::Millis {
    elephant_base::units::Millis::new(u64::try_from(value).unwrap_or_default())
}

/// The smallest container of most clusters, and the step between sizes.
const USUAL_STEP: Bytes = Bytes::from_mib(512);

/// `needed` rounded up to a size that YARN allocates: a multiple of the smallest container, and not above the largest one.
fn container_for(app: &Application, needed: Bytes) -> Bytes {
    let step = app.conf.mebibytes(ConfKey::MinimumAllocationMb).unwrap_or(USUAL_STEP).whole_mib().max(1);
    let size =
        Bytes::from_mib(needed.get().div_ceil(Bytes::PER_MIB).div_ceil(step).max(1).saturating_mul(step));
    largest_container(app).map_or(size, |most| size.min(most))
}

/// The largest container that YARN grants. `None` if it is unknown: a job that got larger ones was configured elsewhere than
/// its cluster.
fn largest_container(app: &Application) -> Option<Bytes> {
    let most = app.conf.mebibytes(ConfKey::MaximumAllocationMb).filter(|most| most.get() > 0)?;
    let sizes = [ConfKey::MapMemoryMb, ConfKey::ReduceMemoryMb].into_iter();
    sizes.filter_map(|key| app.conf.mebibytes(key)).all(|size| size <= most).then_some(most)
}

/// Like [`change`], for numbers that should rise (or fall); `None` if the job's value is already there.
fn change_towards(app: &Application, key: ConfKey, new: u64, rise: bool) -> Option<SettingChange> {
    let now = app.conf.integer(key).and_then(|now| u64::try_from(now).ok());
    // In Hadoop, 0 and 1 mean "not set" for split sizes and similar settings.
    let now = now.filter(|&now| now > 1);
    let moves = now.is_none_or(|now| if rise { new > now } else { new < now });
    moves.then(|| change(app, key, new))
}

/// The name of the setting with the JVM options of this role only; `mapred.child.java.opts` is shared.
fn own_java_opts(app: &Application, role: Role) -> &'static str {
    let names = role.java_opts().names();
    let hadoop_1 = app.ran_on_job_tracker()
        || app.conf.find(role.memory()).is_some_and(|(name, _)| name.starts_with("mapred."));
    names.get(usize::from(hadoop_1)).copied().unwrap_or_else(|| role.java_opts().name())
}
