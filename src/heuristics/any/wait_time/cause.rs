//! Finds what an application waited for, as far as its history shows.

use super::super::task_name;
use crate::finding::{Advice, Measure, Phrase, Word};
use crate::heuristics::wording::{change, grouped, name_for, plural};
use crate::heuristics::{max_concurrent::max_concurrent, spark};
use crate::metrics::Metrics;
use crate::model::conf::ConfKey;
use crate::model::table::{Outcome, TaskGroup, TaskKind, TimePoint};
use crate::model::{Application, Engine};
use crate::units::{Millis, Timestamp};

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
const FAILED_ATTEMPTS: &str = "{task} ended last, after {attempts} that failed within {took}";
const CONTAINERS: &str = "at most {at_a_time} of {tasks} {kind} tasks ran concurrently";
const UBER: &str = "its tasks ran one after another in its application master";
const LATE_TASKS: &str = "{kind} tasks started late";

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
    /// Failed attempts of the task that ended last.
    FailedAttempts { task: String, count: u64, took: Millis },
    /// Containers: only this many of the tasks ran concurrently, perhaps because of the job's own setting.
    Containers { kind: TaskKind, at_a_time: u64, tasks: u64, by: Option<(ConfKey, u64)> },
    /// Tasks of an uberized job run one after another in the application master.
    Uber,
    /// Tasks that started late although no other task held their containers.
    LateTasks { kind: TaskKind },
}

impl Cause {
    pub(super) fn of(app: &Application, metrics: &Metrics, wait: Millis) -> Self {
        if app.engine == Engine::Spark {
            let for_first = metrics.wait_for_first.filter(|&first| is_most(first, wait));
            let for_late = metrics.wait_for_late.filter(|&late| is_most(late, wait));
            return match (for_first, for_late.and_then(|_| late_executors(app))) {
                (Some(after), _) => Self::FirstExecutor { after },
                (None, Some(late)) => late,
                (None, None) => Self::Executors,
            };
        }
        let reduces = metrics.wait_of_reduces.unwrap_or_default();
        let maps = Millis::new(wait.get().saturating_sub(reduces.get()));
        let (kind, wait) = if reduces > maps { (TaskKind::Reduce, reduces) } else { (TaskKind::Map, maps) };
        app.group(kind).map_or(Self::LateTasks { kind }, |group| Self::of_tasks(app, group, wait))
    }

    /// The cause of the wait of one kind of tasks.
    fn of_tasks(app: &Application, group: &TaskGroup, wait: Millis) -> Self {
        let (kind, tasks) = (group.kind, group.tasks.len() as u64);
        if let Some(after) = master_after(app).filter(|&after| kind == TaskKind::Map && is_most(after, wait))
        {
            return Self::Master { after };
        }
        if let Some(after) = first_after(group, wait).filter(|&after| is_most(after, wait)) {
            return Self::FirstTask { kind, after };
        }
        if let Some(attempts) = failed_before_the_last(group, wait) {
            return attempts;
        }
        if app.uberized == Some(true) {
            return Self::Uber;
        }
        let own_limit = match kind {
            TaskKind::Reduce => ConfKey::RunningReduceLimit,
            _ => ConfKey::RunningMapLimit,
        };
        let limit = app.conf.integer(own_limit).and_then(|limit| u64::try_from(limit).ok());
        let at_a_time = most_at_a_time(group);
        if at_a_time == 0 || at_a_time >= tasks {
            return Self::LateTasks { kind };
        }
        let by = limit.filter(|&limit| limit > 0 && at_a_time >= limit).map(|limit| (own_limit, limit));
        Self::Containers { kind, at_a_time, tasks, by }
    }

    /// The number of waves in which the tasks ran, if the job got fewer containers than tasks and kept all of them
    /// busy.
    pub(super) fn waves(&self) -> Option<f64> {
        match self {
            Self::Containers { by: None, at_a_time, tasks, .. } => Some(*tasks as f64 / *at_a_time as f64),
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
            Self::FailedAttempts { task, count, took } => Phrase::new(
                FAILED_ATTEMPTS,
                &[("task", task), ("attempts", &plural(*count, "attempt")), ("took", took)],
            ),
            Self::Containers { kind, at_a_time, tasks, .. } => {
                let [at_a_time, tasks] = [*at_a_time, *tasks].map(|count| grouped(i128::from(count)));
                let words: [Word<'_>; 3] =
                    [("at_a_time", &at_a_time), ("tasks", &tasks), ("kind", &kind.name())];
                Phrase::new(CONTAINERS, &words)
            }
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
            Self::FailedAttempts { task, count, took } => vec![
                ("last_task_text", Measure::Text(task.clone())),
                ("failed_before_count", Measure::Count(*count)),
                ("failed_before_ms", Measure::Time(*took)),
            ],
            Self::Containers { kind, at_a_time, tasks, .. } => vec![
                ("waiting_tasks_text", Measure::Text(format!("{}s", kind.name()))),
                ("at_a_time_count", Measure::Count(*at_a_time)),
                ("waiting_tasks_count", Measure::Count(*tasks)),
            ],
            Self::LateTasks { kind } => {
                vec![("waiting_tasks_text", Measure::Text(format!("{}s", kind.name())))]
            }
            Self::Executors | Self::Uber => Vec::new(),
        }
    }

    pub(super) fn advice(&self, app: &Application) -> Vec<Advice> {
        let queue = match app.queue.as_deref() {
            Some(queue) => format!("queue {queue}"),
            None => "its queue".to_owned(),
        };
        let setting = name_for(app, ConfKey::Queue);
        match self {
            Self::FirstExecutor { .. } | Self::LateExecutors { .. } => {
                spark::waiting_advice(app, spark::Missing::First)
            }
            Self::Executors => spark::waiting_advice(app, spark::Missing::Later),
            Self::FirstTask { kind, .. } => vec![
                Advice::new(format!(
                    "if {queue} had no free capacity for its {} tasks, which the history does not show: use another queue \
                     ({setting}), run off-peak, or add capacity",
                    kind.name()
                ))
                .conditional(),
            ],
            Self::Master { .. } => vec![
                Advice::new(format!(
                    "if {queue} had no free capacity for its application master, which the history does not show: use another \
                     queue ({setting}) or run off-peak; the queue also limits the resources of all application masters \
                     (yarn.scheduler.capacity.maximum-am-resource-percent)"
                ))
                .conditional(),
            ],
            Self::FailedAttempts { task, .. } => vec![
                format!("find out why the other attempts of {task} failed: more capacity would not help").into(),
            ],
            Self::Containers { by: Some((key, limit)), tasks, .. } => {
                let more = limit.saturating_mul(2).min(*tasks);
                vec![Advice::new("allow more concurrent tasks").set([change(app, *key, more)])]
            }
            Self::Containers { kind, at_a_time, by: None, .. } => vec![
                Advice::new(format!(
                    "if {queue} had capacity for only {} of its {} tasks: give the queue a larger share of the cluster, or use \
                     a queue with more capacity ({setting})",
                    grouped(i128::from(*at_a_time)),
                    kind.name(),
                ))
                .conditional(),
            ],
            Self::Uber => {
                vec![Advice::new("run its tasks in parallel").set([change(app, ConfKey::UberTask, false)])]
            }
            Self::LateTasks { kind } => {
                let kind = kind.name();
                vec![format!("check what else ran in {queue} when its {kind} tasks could have started").into()]
            }
        }
    }
}

/// The executors that started in the later half of the time in which executors started.
fn late_executors(app: &Application) -> Option<Cause> {
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

/// How much later than possible the first task of a group started, if the group waited this long.
fn first_after(group: &TaskGroup, wait: Millis) -> Option<Millis> {
    let attempts = &group.attempts;
    let longest = group.winners().filter_map(|row| attempts.run_time(row)).max()?;
    let last = group.winners().filter_map(|row| attempts.time(row, TimePoint::Finish)).max()?;
    // This follows from the definition of the wait.
    let could = Timestamp::from_millis(last.as_millis().saturating_sub_unsigned((longest + wait).get()));
    let first = (0..attempts.len()).filter_map(|row| attempts.time(row, TimePoint::Start)).min()?;
    Millis::between(could, first)
}

/// The time from submission to the start of the job's first application master.
fn master_after(app: &Application) -> Option<Millis> {
    let first = app.masters.iter().filter_map(|master| master.started_at).min()?;
    Millis::between(app.submitted_at?, first)
}

/// The failed attempts of the task that ended last, if they ran for most of the wait.
fn failed_before_the_last(group: &TaskGroup, wait: Millis) -> Option<Cause> {
    let attempts = &group.attempts;
    let winners = group.winners().filter_map(|row| Some((attempts.time(row, TimePoint::Finish)?, row)));
    let (_, last) = winners.max()?;
    let task = attempts.task(last)?;
    let failed = |row: &usize| attempts.task(*row) == Some(task) && attempts.outcome(*row) == Outcome::Failed;
    let times = (0..attempts.len()).filter(failed).filter_map(|row| attempts.run_time(row));
    let (count, took) = times.fold((0, Millis::ZERO), |(count, sum), time| (count + 1, sum + time));
    let cause = Cause::FailedAttempts { task: task_name(group, task), count, took };
    (count > 0 && is_most(took, wait)).then_some(cause)
}

/// The maximum number of concurrent attempts of a group.
fn most_at_a_time(group: &TaskGroup) -> u64 {
    let attempts = &group.attempts;
    max_concurrent((0..attempts.len()).filter_map(|row| {
        Some((attempts.time(row, TimePoint::Start)?, attempts.time(row, TimePoint::Finish)))
    }))
}
