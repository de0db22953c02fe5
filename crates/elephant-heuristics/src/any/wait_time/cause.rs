//! Finds what an application waited for, as far as its history shows.

use super::Wait;
use super::held::{self, Held};
use crate::any::support::groups::task_name;
use crate::spark;
use elephant_analysis::metrics::Metrics;
use elephant_base::stats::max_concurrent::max_concurrent;
use elephant_base::units::{Millis, Timestamp};
use elephant_catalogue::Advised;
use elephant_model::diagnosis::taken_away;
use elephant_model::model::conf::ConfKey;
use elephant_model::model::table::{Outcome, TaskGroup, TaskKind, TimePoint};
use elephant_model::model::{Application, Engine};
use elephant_rule::finding::{Measure, Phrase, Word};
use elephant_rule::wording::{grouped, plural};

// The causes in messages.
const FIRST_EXECUTOR: &str = "its first executor started {after} after the application; the event log does not show whether \
                              the cluster was full or the start was slow";
const EXECUTORS: &str = "most of it while jobs ran without any executor";
const LATE_EXECUTORS: &str = "{count} of its {all} executors started late, the last one {after} after the first, while the others \
                              were busy; the event log does not show whether the cluster was full";
const SLOW_REQUESTS: &str = "{count} of its {all} executors started late, the last one {after} after the first, while tasks waited: \
                             dynamic allocation asks for them late ({settings})";
const FIRST_TASK: &str = "its first {kind} task started {after} late";
const MASTER: &str = "its application master started after {after}";
const FAILED_ATTEMPTS: &str = "{task} ended last, after {attempts} that {ended} within {took}";
const CONTAINERS: &str = "at most {at_a_time} of {tasks} {kind} tasks ran concurrently";
const UBER: &str = "its tasks ran one after another in its application master";
const LATE_TASKS: &str = "{kind} tasks started late";
const RESTARTED: &str =
    "its application master was started again after {after}, and the work of {lost} before that was lost";
const OWN_TASKS: &str = "its own tasks held its containers: at most {at_a_time} of {tasks} ran concurrently";
const STARVED: &str = "for {time} of it, about {few} of its tasks ran at a time while others waited; at other times up to {most} did";
const STOPPED: &str =
    "for {time} of it, none of its tasks ran while others waited; at other times up to {most} did";

/// What an application waited for most of the time.
pub(super) enum Cause {
    /// Spark: the first executor.
    FirstExecutor { after: Millis },
    /// Spark: further executors while jobs ran.
    Executors,
    /// Spark: executors that started long after the first; the settings with which dynamic allocation asks for them late.
    LateExecutors { count: u64, all: u64, after: Millis, settings: String },
    /// The first of these tasks.
    FirstTask { kind: TaskKind, after: Millis },
    /// Its application master (Hadoop 2).
    Master { after: Millis },
    /// Attempts of the task that ended last that failed, or whose containers the cluster took away.
    FailedAttempts { task: String, count: u64, took: Millis, were_killed: bool },
    /// Containers: only this many of the tasks ran concurrently, perhaps because of the job's own setting.
    Containers { kind: TaskKind, at_a_time: u64, tasks: u64, by: Option<(ConfKey, u64)> },
    /// Containers of the job's own tasks of either kind: at most this many of all of them ran concurrently.
    OwnTasks { kind: TaskKind, at_a_time: u64, tasks: u64 },
    /// Containers: for this long, the job got far fewer than at other times.
    Starved { kind: TaskKind, time: Millis, few: u64, most: u64 },
    /// An application master after the first one, and how much of the time before it no task that counts ran.
    Restarted { after: Millis, lost: Millis },
    /// Tasks of an uberized job run one after another in the application master.
    Uber,
    /// Tasks that started late although no other task held their containers.
    LateTasks { kind: TaskKind },
}

impl Cause {
    pub(super) fn of((app, metrics): (&Advised<'_>, &Metrics), wait: Millis, params: &Wait) -> Self {
        if app.engine == Engine::Spark {
            let for_first = metrics.wait_for_first.filter(|&first| is_most(first, wait));
            let for_late = metrics.wait_for_late.filter(|&late| is_most(late, wait));
            return match (for_first, for_late.and_then(|_| late_executors(app))) {
                (Some(after), _) => Self::FirstExecutor { after },
                (None, Some(late)) => late,
                (None, None) => Self::Executors,
            };
        }
        let maps = metrics.wait_of_maps.unwrap_or_default();
        let reduces = metrics.wait_of_reduces.unwrap_or_default();
        let (kind, wait) = if reduces > maps { (TaskKind::Reduce, reduces) } else { (TaskKind::Map, maps) };
        app.group(kind).map_or(Self::LateTasks { kind }, |group| Self::of_tasks(app, group, wait, params))
    }

    /// The cause of the wait of one kind of tasks.
    fn of_tasks(app: &Application, group: &TaskGroup, wait: Millis, params: &Wait) -> Self {
        let (kind, tasks) = (group.kind, group.tasks.len() as u64);
        let could = could_start(group, wait);
        if let Some(restarted) = could.and_then(|could| restarted(app, could, wait)) {
            return restarted;
        }
        if let Some(after) = master_after(app).filter(|&after| kind == TaskKind::Map && is_most(after, wait))
        {
            return Self::Master { after };
        }
        let held = Held::of(app, kind, [params.full_share.get(), params.starved_share.get()]);
        let first = could.zip(first_start(group));
        let after = first.and_then(|(could, first)| Millis::between(could, first));
        if let Some(after) = after.filter(|&after| is_most(after, wait)) {
            let own = own_tasks(app, &held, kind, first);
            return own.unwrap_or(Self::FirstTask { kind, after });
        }
        if let Some(attempts) = failed_before_the_last(app, group, wait) {
            return attempts;
        }
        if app.uberized == Some(true) {
            return Self::Uber;
        }
        let at_a_time = most_at_a_time(group);
        if let Some(by) = own_limit(app, kind).filter(|&(_, limit)| at_a_time >= limit && at_a_time < tasks) {
            return Self::Containers { kind, at_a_time, tasks, by: Some(by) };
        }
        let last_start = held::last_start(group);
        let starved = last_start.and_then(|last| held.starved(group, last));
        if let Some(held::Starved { time, few, most }) = starved.filter(|it| is_most(it.time, wait)) {
            return Self::Starved { kind, time, few, most };
        }
        if at_a_time == 0 || at_a_time >= tasks {
            let own = own_tasks(app, &held, kind, could.zip(last_start));
            return own.unwrap_or(Self::LateTasks { kind });
        }
        Self::Containers { kind, at_a_time, tasks, by: None }
    }

    /// The number of waves in which the tasks ran, if the job got fewer containers than tasks and kept all of them
    /// busy.
    pub(super) fn waves(&self) -> Option<f64> {
        match self {
            Self::Containers { by: None, at_a_time, tasks, .. } | Self::OwnTasks { at_a_time, tasks, .. } => {
                Some(*tasks as f64 / *at_a_time as f64)
            }
            _ => None,
        }
    }

    /// The cause in a message, to follow the measured wait.
    pub(super) fn phrase(&self) -> Phrase {
        match self {
            Self::FirstExecutor { after } => Phrase::new(FIRST_EXECUTOR, &[("after", after)]),
            Self::Executors => Phrase::new(EXECUTORS, &[]),
            Self::LateExecutors { count, all, after, settings } => {
                let template = if settings.is_empty() { LATE_EXECUTORS } else { SLOW_REQUESTS };
                let words: [Word<'_>; 4] =
                    [("count", count), ("all", all), ("after", after), ("settings", settings)];
                Phrase::new(template, &words)
            }
            Self::FirstTask { kind, after } => {
                Phrase::new(FIRST_TASK, &[("kind", &kind.name()), ("after", after)])
            }
            Self::Master { after } => Phrase::new(MASTER, &[("after", after)]),
            Self::FailedAttempts { task, count, took, were_killed } => {
                let ended = if *were_killed { "the cluster killed" } else { "failed" };
                let attempts = plural(*count, "attempt");
                let words: [Word<'_>; 4] =
                    [("task", task), ("attempts", &attempts), ("ended", &ended), ("took", took)];
                Phrase::new(FAILED_ATTEMPTS, &words)
            }
            Self::Containers { kind, at_a_time, tasks, .. } => {
                let [at_a_time, tasks] = [*at_a_time, *tasks].map(|count| grouped(i128::from(count)));
                let words: [Word<'_>; 3] =
                    [("at_a_time", &at_a_time), ("tasks", &tasks), ("kind", &kind.name())];
                Phrase::new(CONTAINERS, &words)
            }
            Self::OwnTasks { at_a_time, tasks, .. } => {
                let [at_a_time, tasks] = [*at_a_time, *tasks].map(|count| grouped(i128::from(count)));
                Phrase::new(OWN_TASKS, &[("at_a_time", &at_a_time), ("tasks", &tasks)])
            }
            Self::Starved { time, few, most, .. } => {
                let template = if *few == 0 { STOPPED } else { STARVED };
                Phrase::new(template, &[("time", time), ("few", few), ("most", most)])
            }
            Self::Restarted { after, lost } => Phrase::new(RESTARTED, &[("after", after), ("lost", lost)]),
            Self::Uber => Phrase::new(UBER, &[]),
            Self::LateTasks { kind } => Phrase::new(LATE_TASKS, &[("kind", &kind.name())]),
        }
    }

    pub(super) fn evidence(&self) -> Vec<(&'static str, Measure)> {
        match self {
            Self::FirstExecutor { after } => vec![("first_executor_after_ms", Measure::Time(*after))],
            Self::LateExecutors { count, after, .. } => vec![
                ("late_executors_count", Measure::Count(*count)),
                ("last_executor_after_ms", Measure::Time(*after)),
            ],
            Self::FirstTask { kind, after } => vec![
                ("waiting_tasks_text", Measure::Text(format!("{}s", kind.name()))),
                ("first_task_after_ms", Measure::Time(*after)),
            ],
            Self::Master { after } => vec![("master_after_ms", Measure::Time(*after))],
            Self::FailedAttempts { task, count, took, .. } => vec![
                ("last_task_text", Measure::Text(task.clone())),
                ("failed_before_count", Measure::Count(*count)),
                ("failed_before_ms", Measure::Time(*took)),
            ],
            Self::Containers { kind, at_a_time, tasks, .. } | Self::OwnTasks { kind, at_a_time, tasks } => {
                vec![
                    ("waiting_tasks_text", Measure::Text(format!("{}s", kind.name()))),
                    ("at_a_time_count", Measure::Count(*at_a_time)),
                    ("waiting_tasks_count", Measure::Count(*tasks)),
                ]
            }
            Self::Starved { kind, time, few, most } => vec![
                ("waiting_tasks_text", Measure::Text(format!("{}s", kind.name()))),
                ("few_at_a_time_ms", Measure::Time(*time)),
                ("few_at_a_time_count", Measure::Count(*few)),
                ("most_at_a_time_count", Measure::Count(*most)),
            ],
            Self::Restarted { after, lost } => vec![
                ("last_master_after_ms", Measure::Time(*after)),
                ("lost_before_master_ms", Measure::Time(*lost)),
            ],
            Self::LateTasks { kind } => {
                vec![("waiting_tasks_text", Measure::Text(format!("{}s", kind.name())))]
            }
            Self::Executors | Self::Uber => Vec::new(),
        }
    }
}

/// The executors that started in the later half of the time in which executors started.
fn late_executors(app: &Advised<'_>) -> Option<Cause> {
    let executors = &app.spark.as_deref()?.executors;
    let starts: Vec<Timestamp> = executors.iter().filter_map(|executor| executor.added_at).collect();
    let first = starts.iter().min()?;
    let after = |at: &Timestamp| Millis::between(*first, *at).unwrap_or_default();
    let last = starts.iter().map(after).max()?;
    let count = starts.iter().filter(|at| 2 * after(at).get() >= last.get()).count() as u64;
    let slow = spark::slow_requests(app);
    let value =
        |key: ConfKey| format!("{}={}", app.conf.name_in_use(key), app.conf.text(key).unwrap_or_default());
    let settings = slow.into_iter().map(value).collect::<Vec<_>>().join(", ");
    Some(Cause::LateExecutors { count, all: executors.len() as u64, after: last, settings })
}

/// Whether a part is at least half of the whole.
const fn is_most(part: Millis, whole: Millis) -> bool {
    part.get().saturating_mul(2) >= whole.get()
}

/// When the tasks of a group could have started, if the group waited this long: this follows from the definition of the
/// wait.
fn could_start(group: &TaskGroup, wait: Millis) -> Option<Timestamp> {
    let attempts = &group.attempts;
    let longest = group.winners().filter_map(|row| attempts.run_time(row)).max()?;
    let last = group.winners().filter_map(|row| attempts.time(row, TimePoint::Finish)).max()?;
    Some(Timestamp::from_millis(last.as_millis().saturating_sub_unsigned((longest + wait).get())))
}

fn first_start(group: &TaskGroup) -> Option<Timestamp> {
    (0..group.attempts.len()).filter_map(|row| group.attempts.time(row, TimePoint::Start)).min()
}

/// The job's own limit on concurrent tasks of a kind.
fn own_limit(app: &Application, kind: TaskKind) -> Option<(ConfKey, u64)> {
    let key = match kind {
        TaskKind::Reduce => ConfKey::RunningReduceLimit,
        _ => ConfKey::RunningMapLimit,
    };
    let limit = app.conf.integer(key).and_then(|limit| u64::try_from(limit).ok());
    limit.filter(|&limit| limit > 0).map(|limit| (key, limit))
}

/// The job's own tasks as the cause of a wait between two moments, if they held its containers.
fn own_tasks(
    app: &Application,
    held: &Held,
    kind: TaskKind,
    wait: Option<(Timestamp, Timestamp)>,
) -> Option<Cause> {
    let kinds = [TaskKind::Map, TaskKind::Reduce].into_iter().filter_map(|kind| app.group(kind));
    let tasks = kinds.map(|group| group.tasks.len() as u64).sum();
    let at_a_time = held.most_tasks().max(1);
    wait.filter(|wait| held.is_busy(*wait)).map(|_| Cause::OwnTasks { kind, at_a_time, tasks })
}

/// The last application master, if it was not the first and no task that counts ran for most of the wait before it: then
/// the work of the masters before it was lost.
fn restarted(app: &Application, could: Timestamp, wait: Millis) -> Option<Cause> {
    let starts = || app.masters.iter().filter_map(|master| master.started_at);
    let last = starts().max().filter(|last| starts().min() < Some(*last))?;
    let before = Millis::between(could, last)?;
    let ran = held::time_between(app, could, last);
    let lost = Millis::new(before.get().saturating_sub(ran.get()));
    let after = Millis::between(app.submitted_at?, last)?;
    is_most(lost, wait).then_some(Cause::Restarted { after, lost })
}

/// The time from submission to the start of the job's first application master.
fn master_after(app: &Application) -> Option<Millis> {
    let first = app.masters.iter().filter_map(|master| master.started_at).min()?;
    Millis::between(app.submitted_at?, first)
}

/// The attempts of the task that ended last that failed, or whose containers the cluster took away, if they ran for most of
/// the wait.
fn failed_before_the_last(app: &Application, group: &TaskGroup, wait: Millis) -> Option<Cause> {
    let attempts = &group.attempts;
    let winners = group.winners().filter_map(|row| Some((attempts.time(row, TimePoint::Finish)?, row)));
    let (_, last) = winners.max()?;
    let task = attempts.task(last)?;
    let of_task = |row: &usize| attempts.task(*row) == Some(task);
    let failed = (0..attempts.len()).filter(of_task).filter(|row| attempts.outcome(*row) == Outcome::Failed);
    let failed: Vec<usize> = failed.collect();
    let killed: Vec<usize> = taken_away(app, group).into_iter().filter(of_task).collect();
    let time = |row: &usize| attempts.run_time(*row);
    let of_killed: Millis = killed.iter().filter_map(time).sum();
    let of_failed: Millis = failed.iter().filter_map(time).sum();
    let (count, took) = ((failed.len() + killed.len()) as u64, of_failed + of_killed);
    let were_killed = of_killed > of_failed;
    let cause = Cause::FailedAttempts { task: task_name(group, task), count, took, were_killed };
    (count > 0 && is_most(took, wait)).then_some(cause)
}

/// The maximum number of concurrent attempts of a group.
fn most_at_a_time(group: &TaskGroup) -> u64 {
    let attempts = &group.attempts;
    max_concurrent((0..attempts.len()).filter_map(|row| {
        Some((attempts.time(row, TimePoint::Start)?, attempts.time(row, TimePoint::Finish)))
    }))
}
