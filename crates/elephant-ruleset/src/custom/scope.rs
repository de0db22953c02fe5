//! The data that an expression is evaluated on: an application and the subject in it.

use std::cell::Cell;
use std::ops::ControlFlow;

use super::compile::Over;
use super::names::Rows;
use super::planned::{PlannedOperator, PlannedQuery, Ran, each};
use super::value::{Gap, Value};
use elephant_analysis::metrics::Metrics;
use elephant_model::model::Application;
use elephant_model::model::counters::CounterMask;
use elephant_model::model::spark::{Executor, Job, Spark, Stage};
use elephant_model::model::table::{TaskGroup, TaskKind};
use elephant_rule::finding::Subject;

/// The maximum number of steps of a rule on one application: a few seconds of work.
pub(super) const MAX_WORK: u64 = 100_000_000;

/// The subject of a judgement.
#[derive(Debug, Clone, Copy)]
pub(super) enum Judged<'a> {
    /// The application.
    Application,
    /// The tasks of one kind.
    Tasks(&'a TaskGroup),
    /// One stage attempt with its tasks.
    Stage(&'a Stage, &'a TaskGroup),
    /// One executor.
    Executor(&'a Executor),
    /// One job with its stages.
    Job(&'a Job, &'a Ran<'a>),
    /// One query.
    Query(&'a PlannedQuery<'a>),
    /// One operator, and its query.
    Operator(&'a PlannedQuery<'a>, &'a PlannedOperator<'a>),
}

impl<'a> Judged<'a> {
    /// Calls `see` with each subject in `app` of a rule over `over`, in the order of the history, until it breaks.
    pub(super) fn each(app: &Application, over: Over, see: &mut dyn FnMut(Judged<'_>) -> ControlFlow<()>) {
        match over {
            Over::Job | Over::Query | Over::Operator => each(app, over, see),
            _ => {
                // Nothing is left to do for one who has broken off.
                let _ = Judged::all(app, over).into_iter().try_for_each(see);
            }
        }
    }

    fn all(app: &'a Application, over: Over) -> Vec<Self> {
        let group = |kind| {
            let group = app.group(kind).filter(|group| !group.tasks.is_empty());
            group.map(Self::Tasks).into_iter().collect()
        };
        let spark = app.spark.as_deref();
        match over {
            Over::Application => vec![Self::Application],
            Over::Map => group(TaskKind::Map),
            Over::Reduce => group(TaskKind::Reduce),
            Over::Stage => {
                let stages = spark.iter().flat_map(|spark| &spark.stages);
                let with_tasks = |stage: &'a Stage| Some(Self::Stage(stage, app.groups.get(stage.group?)?));
                stages.filter_map(with_tasks).collect()
            }
            Over::Job | Over::Query | Over::Operator => Vec::new(),
            Over::Executor => spark.into_iter().flat_map(Spark::workers).map(Self::Executor).collect(),
        }
    }

    /// The subject of its findings.
    #[must_use]
    pub(super) fn subject(self) -> Subject {
        match self {
            Self::Application => Subject::Application,
            Self::Tasks(group) => Subject::Tasks(group.kind.name()),
            Self::Stage(stage, _) => Subject::Stage(stage.id),
            Self::Executor(executor) if executor.id == "driver" => Subject::Driver,
            Self::Executor(executor) => Subject::Executor(executor.id.clone()),
            Self::Job(job, _) => Subject::Job(job.id),
            Self::Query(query) => Subject::Query(query.execution.id),
            Self::Operator(query, operator) => Subject::Operator(query.execution.id, operator.place),
        }
    }

    /// Its groups of tasks.
    pub(super) fn groups(self, app: &'a Application) -> impl Iterator<Item = &'a TaskGroup> {
        let own: &[TaskGroup] = match self {
            Self::Application => &app.groups,
            Self::Tasks(group) | Self::Stage(_, group) => std::slice::from_ref(group),
            Self::Executor(_) | Self::Job(..) | Self::Query(_) | Self::Operator(..) => &[],
        };
        let ran = self.ran().map(|ran| ran.groups.as_slice()).unwrap_or_default();
        own.iter().chain(ran.iter().copied())
    }

    /// Its stages, if it is a job, a query or an operator.
    fn ran(self) -> Option<&'a Ran<'a>> {
        match self {
            Self::Job(_, ran) => Some(ran),
            Self::Query(query) => Some(&query.ran),
            Self::Operator(_, operator) => Some(&operator.ran),
            Self::Application | Self::Tasks(_) | Self::Stage(..) | Self::Executor(_) => None,
        }
    }

    /// The steps that were needed to prepare it.
    #[must_use]
    pub(super) fn preparation(self) -> u64 {
        const OF_OPERATOR: u64 = 20;
        match self {
            Self::Query(query) => OF_OPERATOR.saturating_mul(1 + query.operators.len() as u64),
            Self::Operator(..) => OF_OPERATOR,
            _ => 1,
        }
    }

    /// The counters that are unreadable in one of its tasks.
    #[must_use]
    pub(super) fn any_unreadable(self, app: &Application) -> CounterMask {
        let mut unread = CounterMask::NONE;
        match self {
            Self::Executor(executor) => unread.insert_all(executor.totals.unreadable),
            _ => self.groups(app).for_each(|group| unread.insert_all(group.attempts.any_unreadable())),
        }
        unread
    }

    /// Its number of tasks, for the score.
    #[must_use]
    pub(super) fn task_count(self, app: &'a Application) -> u64 {
        match self {
            Self::Executor(executor) => executor.totals.tasks,
            _ => self.groups(app).map(|group| group.tasks.len() as u64).sum(),
        }
    }
}

/// One row of an aggregate.
#[derive(Debug, Clone, Copy)]
pub(super) enum Row<'a> {
    /// An attempt of a task.
    Attempt(&'a TaskGroup, usize),
    /// A stage attempt.
    Stage(&'a Stage),
    /// A job of a Spark application.
    Job(&'a Job),
    /// An executor.
    Executor(&'a Executor),
    /// A query.
    Query(&'a PlannedQuery<'a>),
    /// An operator of a query.
    Operator(&'a PlannedOperator<'a>),
}

/// Where an expression is evaluated: outside of aggregates, or on one of their rows.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Inner<'c, 'a, 'n> {
    /// The row.
    pub(super) row: Option<Row<'a>>,
    /// Values that are the same for all rows.
    pub(super) constants: &'c [Result<Value<'a>, Gap<'n>>],
}

/// The data that an expression is evaluated on.
#[derive(Debug)]
pub(super) struct Scope<'a, 'w> {
    /// The application.
    pub(super) app: &'a Application,
    /// Its costs.
    pub(super) metrics: &'a Metrics,
    /// The subject.
    pub(super) judged: Judged<'a>,
    /// The values above, by index.
    pub(super) values: Vec<Result<Value<'a>, Gap<'w>>>,
    /// Steps so far, over all subjects of this application.
    pub(super) work: &'w Cell<u64>,
}

impl<'a> Scope<'a, '_> {
    /// Spends `steps`; fails if the rule has too few left.
    pub(super) fn spend(&self, steps: u64) -> Result<(), Gap<'static>> {
        let spent = self.work.get().saturating_add(steps);
        self.work.set(spent);
        if spent > MAX_WORK { Err(Gap::TooExpensive) } else { Ok(()) }
    }

    /// The maximum number of rows.
    #[must_use]
    pub(super) fn row_count(&self, rows: Rows) -> u64 {
        let spark = self.app.spark.as_deref();
        let groups = || self.judged.groups(self.app);
        let count = match rows {
            Rows::Tasks => groups().map(|group| group.tasks.len()).sum(),
            Rows::Attempts => groups().map(|group| group.attempts.len()).sum(),
            Rows::Stages => match self.judged.ran() {
                Some(ran) => ran.stages.len(),
                None => spark.map_or(0, |spark| spark.stages.len()),
            },
            Rows::Jobs => match self.judged {
                Judged::Query(query) => query.jobs.len(),
                _ => spark.map_or(0, |spark| spark.jobs.len()),
            },
            Rows::Executors => spark.map_or(0, |spark| spark.executors.len() + 1),
            Rows::Operators => self.operators().len(),
            Rows::Queries => 0,
        };
        count as u64
    }

    /// Calls `see` with each row.
    pub(super) fn each_row(&self, rows: Rows, see: &mut dyn FnMut(Row<'a>)) {
        let groups = || self.judged.groups(self.app);
        let spark = self.app.spark.as_deref();
        match rows {
            Rows::Tasks => {
                for group in groups() {
                    group.winners().for_each(|row| see(Row::Attempt(group, row)));
                }
            }
            Rows::Attempts => {
                for group in groups() {
                    (0..group.attempts.len()).for_each(|row| see(Row::Attempt(group, row)));
                }
            }
            Rows::Stages => match self.judged.ran() {
                Some(ran) => ran.stages.iter().for_each(|stage| see(Row::Stage(stage))),
                None => spark.iter().flat_map(|spark| &spark.stages).for_each(|stage| see(Row::Stage(stage))),
            },
            Rows::Jobs => match self.judged {
                Judged::Query(query) => query.jobs.iter().for_each(|job| see(Row::Job(job))),
                _ => spark.iter().flat_map(|spark| &spark.jobs).for_each(|job| see(Row::Job(job))),
            },
            Rows::Executors => {
                spark.into_iter().flat_map(Spark::workers).for_each(|executor| see(Row::Executor(executor)));
            }
            Rows::Operators => self.operators().iter().for_each(|operator| see(Row::Operator(operator))),
            // Queries are subjects, never rows.
            Rows::Queries => {}
        }
    }

    /// The operators of the query, if the subject is one.
    fn operators(&self) -> &'a [PlannedOperator<'a>] {
        match self.judged {
            Judged::Query(query) => &query.operators,
            _ => &[],
        }
    }
}
