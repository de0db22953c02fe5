//! What of an application stays the same in every replay.

use std::fmt;
use std::ops::Range;

use super::jobs::{self, Job, Order};
use super::slots::{self, FreeSlots, Step, Window};
use super::stages::{self, Stage};
use crate::model::conf::ConfKey;
use crate::model::spark::Spark;
use crate::model::table::{Outcome, TimePoint};
use crate::model::{Application, Symbol};
use crate::replay::Micros;
use crate::units::Timestamp;

/// Events of one moment are logged up to this much apart.
pub(super) const LOG_JITTER: Micros = Micros::from_millis(20);

/// An attempt of a task, as recorded.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Attempt {
    /// Its stage attempt, as an index into [`Plan::stages`].
    pub(crate) stage: u32,
    /// Its task, as an index into [`Plan::tasks`].
    pub(crate) task: u32,
    /// Its row in the stage's group of the task table.
    pub(crate) row: u32,
    pub(crate) launch: Micros,
    pub(crate) finish: Micros,
    /// How long before `finish` its executor had its slot back. The recorded end includes the time in which the driver
    /// fetches and handles the result.
    pub(crate) early: Micros,
    pub(crate) executor: Option<Symbol>,
    pub(crate) speculative: bool,
    pub(crate) succeeded: bool,
    pub(crate) failed: bool,
}

impl Attempt {
    /// From launch to end.
    #[must_use]
    pub(crate) fn time(&self) -> Micros {
        self.finish - self.launch
    }
}

/// The attempts of a task, in the order of their launches.
#[derive(Debug, Clone)]
pub(crate) struct Task {
    pub(crate) attempts: Range<u32>,
}

/// Why an application cannot be replayed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Unknown {
    /// It is not a Spark application.
    OtherEngine,
    /// The log lacks its start or end.
    NoLife,
    /// The log is incomplete, or contradicts itself.
    Incomplete,
    /// No attempt has a launch and an end.
    NoTasks,
    /// Run times do not follow the bytes, so what a task costs without data is unknown.
    NoFit,
    /// The replay does not end: some task never finds a slot.
    NoSlots,
}

impl fmt::Display for Unknown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::OtherEngine => "it is not a Spark application",
            Self::NoLife => "the log does not contain the application's start and end",
            Self::Incomplete => "the log is incomplete",
            Self::NoTasks => "no task has a launch and an end",
            Self::NoFit => {
                "the times of the stage's tasks do not follow their data, so what each task costs is unknown"
            }
            Self::NoSlots => "in the replay, some task finds no executor",
        })
    }
}

/// The recorded tasks of an application, what they wait for, and the slots they run on.
#[derive(Debug)]
pub(crate) struct Plan {
    /// From submission to end.
    pub(crate) recorded: Micros,
    /// From the end of the last job to the end of the application.
    pub(super) tail: Micros,
    /// Attempts by stage, then by task, then by launch.
    pub(crate) attempts: Vec<Attempt>,
    /// Tasks by stage, then by their first launch.
    pub(crate) tasks: Vec<Task>,
    /// Stage attempts by submission.
    pub(crate) stages: Vec<Stage>,
    /// Jobs by submission.
    pub(crate) jobs: Vec<Job>,
    /// The orders in which jobs ended: first of all jobs, then of each SQL execution.
    pub(super) orders: Vec<Order>,
    /// The lives of executors, by their start.
    pub(super) windows: Vec<Window>,
    /// The same as changes of the number of slots.
    pub(super) steps: Vec<Step>,
    /// Whether executors come and go with the load.
    pub(super) dynamic: bool,
    /// Whether stages share the slots (`spark.scheduler.mode`).
    pub(super) fair: bool,
}

impl Plan {
    /// Reads the plan of an application.
    ///
    /// # Errors
    /// If the log lacks what a replay needs.
    pub(crate) fn of(app: &Application) -> Result<Self, Unknown> {
        let spark = app.spark.as_deref().ok_or(Unknown::OtherEngine)?;
        if !app.complete {
            return Err(Unknown::Incomplete);
        }
        let (start, end) = app.submitted_at.zip(app.finished_at).ok_or(Unknown::NoLife)?;
        let clock = Clock { start };
        let mut plan = Self {
            recorded: clock.at(end),
            tail: Micros::ZERO,
            attempts: Vec::new(),
            tasks: Vec::new(),
            stages: Vec::new(),
            jobs: Vec::new(),
            orders: Vec::new(),
            windows: Vec::new(),
            steps: Vec::new(),
            dynamic: app.conf.flag(ConfKey::DynamicAllocation) == Some(true),
            fair: app
                .conf
                .setting("spark.scheduler.mode")
                .is_some_and(|mode| mode.eq_ignore_ascii_case("FAIR")),
        };
        plan.read_stages(app, spark, clock);
        if plan.attempts.is_empty() {
            return Err(Unknown::NoTasks);
        }
        plan.windows = slots::windows(app, spark, clock, &mut plan.attempts);
        jobs::link(&mut plan, spark, clock);
        let free = FreeSlots::of(&plan.windows, &plan.attempts);
        stages::link(&mut plan, spark, &free);
        let last_end = plan.jobs.iter().map(|job| job.end).max().unwrap_or_default();
        plan.tail = (plan.recorded - last_end).or_zero();
        let submissions: Vec<Micros> = plan.stages.iter().map(|stage| stage.submitted).collect();
        plan.steps = slots::steps(&plan.windows, &submissions, plan.dynamic, last_end);
        Ok(plan)
    }

    /// Stages that were submitted or ran tasks, with the attempts of tasks that ended.
    fn read_stages(&mut self, app: &Application, spark: &Spark, clock: Clock) {
        let mut order: Vec<(Micros, usize)> = Vec::new();
        for (place, stage) in spark.stages.iter().enumerate() {
            let group = stage.group.and_then(|group| app.groups.get(group));
            let first_launch = group.and_then(|group| {
                (0..group.attempts.len()).filter_map(|row| group.attempts.time(row, TimePoint::Start)).min()
            });
            if let Some(submitted) = stage.submitted_at.or(first_launch) {
                order.push((clock.at(submitted), place));
            }
        }
        order.sort_unstable();
        for (submitted, place) in order {
            let Some(logged) = spark.stages.get(place) else { continue };
            let number = to_u32(self.stages.len());
            let first_task = to_u32(self.tasks.len());
            if let Some(group) = logged.group {
                self.read_attempts(app, group, number, clock);
            }
            let tasks = first_task..to_u32(self.tasks.len());
            let attempts = self.attempts_of(&tasks);
            let last_finish = attempts.iter().map(|attempt| attempt.finish).max();
            let stage = Stage::new(logged, submitted, clock, last_finish, tasks);
            self.stages.push(stage);
        }
    }

    fn read_attempts(&mut self, app: &Application, group: usize, stage: u32, clock: Clock) {
        let Some(group) = app.groups.get(group) else { return };
        let rows = &group.attempts;
        let mut first_launch = vec![Micros::MAX; group.tasks.len()];
        let mut read: Vec<Attempt> = Vec::with_capacity(rows.len());
        for row in 0..rows.len() {
            let launch = rows.time(row, TimePoint::Start).map(|at| clock.at(at));
            let finish = rows.time(row, TimePoint::Finish).map(|at| clock.at(at));
            let (Some(launch), Some(finish), Some(task)) = (launch, finish, rows.task(row)) else { continue };
            if let Some(first) = first_launch.get_mut(task) {
                *first = launch.min(*first);
            }
            let outcome = rows.outcome(row);
            read.push(Attempt {
                stage,
                task: to_u32(task),
                row: to_u32(row),
                launch,
                finish: finish.max(launch),
                early: Micros::ZERO,
                executor: rows.executor(row),
                speculative: rows.is_speculative(row) == Some(true),
                succeeded: outcome == Outcome::Succeeded,
                failed: outcome == Outcome::Failed,
            });
        }
        let first =
            |attempt: &Attempt| first_launch.get(attempt.task as usize).copied().unwrap_or(Micros::MAX);
        read.sort_by_key(|attempt| (first(attempt), attempt.task, attempt.launch, attempt.row));
        for same_task in read.chunk_by(|a, b| a.task == b.task) {
            let from = to_u32(self.attempts.len());
            let task = to_u32(self.tasks.len());
            self.attempts.extend(same_task.iter().map(|attempt| Attempt { task, ..*attempt }));
            self.tasks.push(Task { attempts: from..to_u32(self.attempts.len()) });
        }
    }

    /// The attempts of consecutive tasks.
    #[must_use]
    pub(crate) fn attempts_of(&self, tasks: &Range<u32>) -> &[Attempt] {
        let places = self.attempt_places(tasks);
        self.attempts.get(places.start as usize..places.end as usize).unwrap_or_default()
    }

    /// The places of these attempts.
    #[must_use]
    pub(super) fn attempt_places(&self, tasks: &Range<u32>) -> Range<u32> {
        let of = |task: u32| self.tasks.get(task as usize);
        let last = tasks.end.checked_sub(1).filter(|last| *last >= tasks.start);
        let ends = of(tasks.start).zip(last.and_then(of));
        ends.map_or(0..0, |(first, last)| first.attempts.start..last.attempts.end)
    }
}

/// Converts times of the log to times after the application's start.
#[derive(Debug, Clone, Copy)]
pub(super) struct Clock {
    start: Timestamp,
}

impl Clock {
    pub(super) const fn at(self, at: Timestamp) -> Micros {
        Micros::between(self.start, at)
    }
}

/// A place in a table. Logs are limited to far fewer rows than fit into 32 bits.
pub(super) fn to_u32(place: usize) -> u32 {
    u32::try_from(place).unwrap_or(u32::MAX)
}
