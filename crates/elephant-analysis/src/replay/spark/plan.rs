//! The plan of a replay: the data of an application that stay the same in all its replays.

use std::fmt;
use std::ops::Range;

use rustc_hash::FxHashMap;

use crate::replay::Micros;
use elephant_base::units::Timestamp;
use elephant_model::model::Symbol;
use elephant_model::model::spark::StageAttempt;
use elephant_model::model::table::Outcome;

/// Events of one moment are logged up to this much apart.
pub(super) const LOG_JITTER: Micros = Micros::from_millis(20);

/// An attempt of a task, as recorded.
#[derive(Debug, Clone, Copy)]
pub struct Attempt {
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
    pub(crate) outcome: Outcome,
    /// Whether its task has no other attempt, as almost all tasks.
    pub(super) only: bool,
}

impl Attempt {
    /// From launch to end.
    #[must_use]
    pub(crate) fn time(&self) -> Micros {
        self.finish - self.launch
    }

    /// When its executor had its slot back.
    #[must_use]
    pub(super) fn gives_back(&self) -> Micros {
        self.finish - self.early
    }

    /// Whether it succeeded.
    #[must_use]
    pub(crate) fn succeeded(&self) -> bool {
        self.outcome == Outcome::Succeeded
    }

    /// Whether it failed; killed ones did not.
    #[must_use]
    pub(crate) fn failed(&self) -> bool {
        self.outcome == Outcome::Failed
    }
}

/// The attempts of a task, in the order of their launches.
#[derive(Debug, Clone)]
pub(crate) struct Task {
    pub(crate) attempts: Range<u32>,
}

/// Why an application cannot be replayed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unknown {
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
    /// No task reports the time of its garbage collections.
    NoCollections,
    /// No task reports how much it spilled.
    NoSpill,
    /// No task reports how long it waited for shuffle data.
    NoFetchWait,
    /// A stage would have more than a million tasks.
    TooManyTasks,
    /// The replay does not end: some task never finds a slot.
    NoSlots,
}

impl fmt::Display for Unknown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::OtherEngine => "it is not a Spark application",
            Self::NoLife => "the event log does not contain the application's start and end",
            Self::Incomplete => "the event log is incomplete",
            Self::NoTasks => "no task has a launch and an end",
            Self::NoFit => {
                "the times of the stage's tasks do not grow with their data, so the cost of each task is unknown"
            }
            Self::NoCollections => "the event log does not contain the time of garbage collections",
            Self::NoSpill => "the event log does not contain what tasks spilled",
            Self::NoFetchWait => "the event log does not contain how long tasks waited for shuffle data",
            Self::TooManyTasks => "the stage would have more than a million tasks",
            Self::NoSlots => "in the replay, a task finds no executor",
        })
    }
}

/// The recorded tasks of an application, what they wait for, and the slots they run on.
#[derive(Debug)]
pub struct Plan {
    /// From submission to end.
    pub recorded: Micros,
    /// From the end of the last job to the end of the application.
    pub(super) tail: Micros,
    /// Attempts by stage, then by task, then by launch.
    pub attempts: Vec<Attempt>,
    /// Tasks by stage, then by their first launch.
    pub(crate) tasks: Vec<Task>,
    /// When the first task ended on each executor.
    pub(super) first_ends: FxHashMap<Option<Symbol>, Micros>,
    /// Stage attempts by submission.
    pub stages: Vec<Stage>,
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

/// A stage attempt, and what it waits for.
#[derive(Debug, Clone)]
pub struct Stage {
    /// Which attempt of which stage it is.
    pub id: StageAttempt,
    /// Its group in the task table.
    pub(crate) group: Option<usize>,
    /// Its tasks, as places in [`Plan::tasks`].
    pub(crate) tasks: Range<u32>,
    pub(crate) submitted: Micros,
    pub(crate) end: Micros,
    /// Whether it completed, so that it ends once each task has succeeded. Others end once all attempts have.
    pub completed: bool,
    /// Its job, as an index into [`Plan::jobs`].
    pub(crate) job: u32,
    /// The stage attempts that it waits for.
    pub(super) waits_for: Vec<u32>,
    /// From the end of what it waited for to its submission.
    pub(super) lag: Micros,
    /// From its submission to its first launch, as far as a slot was free.
    pub(super) head_lag: Micros,
    /// From the last end that it needed to its own.
    pub(super) end_lag: Micros,
}

/// A job, and what it waits for.
#[derive(Debug, Clone)]
pub(crate) struct Job {
    pub(crate) submitted: Micros,
    pub(crate) end: Micros,
    /// The order of jobs that it waits for, as an index into [`Plan::orders`], and how many of them.
    pub(super) order: u32,
    pub(super) waits_for: u32,
    /// The order of its SQL execution; 0 if it has none of its own.
    pub(super) member_of: u32,
    /// From the end of what it waited for to its submission: the time of the driver.
    pub(super) lag: Micros,
    /// Its stage attempts.
    pub(super) stages: Vec<u32>,
    /// The stage attempts whose ends it waits for.
    pub(super) needs: Vec<u32>,
    /// From the last of these ends to its own.
    pub(super) end_lag: Micros,
}

/// Jobs in the order in which they ended.
#[derive(Debug, Clone, Default)]
pub(super) struct Order {
    pub(super) jobs: Vec<u32>,
}

/// The time in which an executor offers its slots.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Window {
    pub(crate) from: Micros,
    /// `None` if it lives to the end.
    pub(crate) to: Option<Micros>,
    pub(crate) slots: u32,
}

/// A change of the number of slots.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Step {
    /// The stage attempt whose submission it follows; `None` for a fixed time.
    pub(super) after: Option<u32>,
    /// The time after that submission, or after the application's start.
    pub(super) time: Micros,
    pub(super) slots: i32,
}

/// Converts times of the log to times after the application's start.
#[derive(Debug, Clone, Copy)]
pub(super) struct Clock {
    pub(super) start: Timestamp,
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
