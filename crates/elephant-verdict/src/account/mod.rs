//! Where the run time went. Each moment of a run belongs to one part: to the phase that the end of the run waited for, or to
//! no phase, so the parts add up to the run time.
//!
//! The log is walked backwards from the end. Of the phases that run at a moment, the one that started first takes the time
//! back to its start; if none runs, the time back to the last end of a phase is idle.

mod fact;
mod walk;
mod words;

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use elephant_base::state::State;
use elephant_base::units::{Millis, Timestamp};
use elephant_model::model::spark::{Job, Spark, SqlExecution, Stage, StageAttempt};
use elephant_model::model::table::{TaskGroup, TaskKind, TimePoint};
use elephant_model::model::{Application, Phase, Subject};
use elephant_query::{QuerySummary, short_name_of_query};

pub use fact::PhaseFact;
use walk::{Span, Walked, walk};

/// The most parts that are told, before the rest.
const MOST_PARTS: usize = 6;
/// A stage with at least this share of the run time is a part of its own.
const ALONE: f64 = 0.2;
/// A stage with at least this share of the time of several says what they do.
const MAIN: f64 = 0.5;
/// Smaller shares belong to the rest.
const LEAST: f64 = 0.02;

/// Where the run time went.
#[derive(Debug, Clone, PartialEq, Default, State)]
pub struct Account {
    /// From the start of the run to its end, or to the last event of a log without an end.
    pub total: Millis,
    /// The parts, largest first, and the rest at the end. They add up to the total.
    pub parts: Vec<Part>,
}

/// A part of the run time.
#[derive(Debug, Clone, PartialEq, State)]
pub struct Part {
    /// What happened in it.
    pub what: What,
    /// How long it took.
    pub time: Millis,
    /// Its share of the run time, from 0 to 1.
    pub share: f64,
}

/// What happened in a part of the run time.
#[derive(Debug, Clone, PartialEq, State)]
pub enum What {
    /// A stage, or the tasks of a kind.
    Phase {
        /// The phase.
        subject: Subject,
        /// The query or job that it worked for.
        owner: Option<Owner>,
        /// Its operator that took the most time, or else its name.
        does: Option<String>,
        /// What is most worth knowing of its tasks.
        fact: Option<PhaseFact>,
    },
    /// Several stages of one query or job.
    Stages {
        /// The query or job; `None` for stages that belong to none that has a name.
        owner: Option<Owner>,
        /// How many they are.
        count: u64,
        /// What the one among them did that took most of the time.
        does: Option<String>,
    },
    /// No task ran.
    Idle {
        /// The part of it before the first task.
        before: Millis,
        /// The part of it after the last task.
        after: Millis,
    },
    /// What is too little to be told alone.
    Rest {
        /// The time in it in which no task ran.
        idle: Millis,
    },
}

/// A query or job that stages worked for.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, State)]
pub struct Owner {
    /// The id of the SQL execution that the user started.
    pub query: Option<u64>,
    /// "query 12 "daily import"", or the description of a job.
    pub name: String,
}

impl Account {
    /// `None` if the start or the end of the run is unknown. `queries` are those whose operators are known.
    #[must_use]
    pub fn of(app: &Application, queries: &[QuerySummary]) -> Option<Self> {
        let (from, to) = (app.submitted_at.or(app.launched_at)?, end(app)?);
        let total = Millis::between(from, to).filter(|total| *total > Millis::ZERO)?;
        let spans = spans(app, to);
        let walked = walk(&spans, from, to);
        let mut parts = Parts { app, queries, total, all: Vec::new() };
        parts.add_phases(&walked);
        parts.add(What::Idle { before: walked.before, after: walked.after }, walked.idle);
        Some(Self { total, parts: parts.told() })
    }
}

/// The end of the run, or the last event in its log.
fn end(app: &Application) -> Option<Timestamp> {
    app.finished_at.or_else(|| app.spark.as_ref()?.log.last_event)
}

/// The times of all phases; a phase without an end lasts until `to`.
fn spans(app: &Application, to: Timestamp) -> Vec<Span<Subject>> {
    match app.spark.as_deref() {
        Some(spark) => spark.stages.iter().filter_map(|stage| span_of_stage(app, stage, to)).collect(),
        None => spans_of_kinds(app, to),
    }
}

/// The time of a stage from the launch of its first task: before that, it waited for executors or the driver.
fn span_of_stage(app: &Application, stage: &Stage, to: Timestamp) -> Option<Span<Subject>> {
    let group = stage.group.and_then(|place| app.groups.get(place));
    let from = group.and_then(first_launch)?;
    let until = stage.completed_at.unwrap_or(to);
    Some(Span { from, until, of: Subject::Stage(stage.id) })
}

/// Maps, and then reduces: a reduce task waits for all maps.
fn spans_of_kinds(app: &Application, to: Timestamp) -> Vec<Span<Subject>> {
    let mut spans: Vec<Span<Subject>> = Vec::new();
    for kind in [TaskKind::Map, TaskKind::Reduce] {
        let Some(group) = app.groups.iter().find(|group| group.kind == kind) else { continue };
        let Some(from) = first_launch(group) else { continue };
        let maps_end = spans.first().map_or(from, |maps| maps.until);
        let until = last_end(group).unwrap_or(to);
        spans.push(Span { from: from.max(maps_end), until, of: Phase::subject(kind) });
    }
    spans
}

fn first_launch(group: &TaskGroup) -> Option<Timestamp> {
    (0..group.attempts.len()).filter_map(|row| group.attempts.time(row, TimePoint::Start)).min()
}

fn last_end(group: &TaskGroup) -> Option<Timestamp> {
    (0..group.attempts.len()).filter_map(|row| group.attempts.time(row, TimePoint::Finish)).max()
}

/// Collects the parts of an account.
struct Parts<'a> {
    app: &'a Application,
    queries: &'a [QuerySummary],
    total: Millis,
    all: Vec<Part>,
}

impl Parts<'_> {
    fn add(&mut self, what: What, time: Millis) {
        let share = time.share_of(self.total).unwrap_or_default();
        self.all.push(Part { what, time, share });
    }

    /// Adds large phases alone, and the others by the query or job that they worked for.
    fn add_phases(&mut self, walked: &Walked<Subject>) {
        let mut small: BTreeMap<Option<Owner>, Vec<(&Subject, Millis)>> = BTreeMap::new();
        for (subject, time) in &walked.phases {
            let owner = Owner::of(self.app, subject);
            if time.share_of(self.total).unwrap_or_default() >= ALONE {
                self.add_phase(subject, owner, *time);
            } else {
                small.entry(owner).or_default().push((subject, *time));
            }
        }
        for (owner, phases) in small {
            let time = phases.iter().map(|(_, time)| *time).sum();
            let longest = phases.iter().max_by_key(|(_, time)| *time);
            match (phases.as_slice(), longest) {
                ([(subject, _)], _) => self.add_phase(subject, owner, time),
                (_, longest) => {
                    let is_main = |own: Millis| own.share_of(time).unwrap_or_default() >= MAIN;
                    let main = longest.filter(|(_, own)| owner.is_some() && is_main(*own));
                    let does = main.and_then(|(subject, _)| self.does(subject));
                    self.add(What::Stages { owner, count: phases.len() as u64, does }, time);
                }
            }
        }
    }

    fn add_phase(&mut self, subject: &Subject, owner: Option<Owner>, time: Millis) {
        let does = self.does(subject);
        self.add(What::Phase { subject: subject.clone(), owner, does, fact: None }, time);
    }

    /// The operator of a stage that took the most time, or else the name of the stage.
    fn does(&self, subject: &Subject) -> Option<String> {
        let stage = stage_of(self.app, subject)?;
        let operator = self.queries.iter().find_map(|query| main_operator(query, stage.id));
        operator.or_else(|| Some(words::plain_call(stage.name.as_deref()?)?.to_owned()))
    }

    /// The largest parts with their facts, and the rest.
    fn told(mut self) -> Vec<Part> {
        self.all.retain(|part| part.time > Millis::ZERO);
        // The sort is stable: equal parts keep the order of their queries and stages.
        self.all.sort_by_key(|part| Reverse(part.time));
        let large = self.all.iter().take_while(|part| part.share >= LEAST).count();
        let rest = self.all.split_off(large.min(MOST_PARTS));
        for part in &mut self.all {
            if let What::Phase { subject, fact, .. } = &mut part.what {
                *fact = PhaseFact::of(self.app, subject);
            }
        }
        match <[Part; 1]>::try_from(rest) {
            Ok(only) => self.all.extend(only),
            Err(rest) if rest.is_empty() => {}
            Err(rest) => {
                let idle = rest
                    .iter()
                    .filter(|part| matches!(part.what, What::Idle { .. }))
                    .map(|part| part.time)
                    .sum();
                let time = rest.iter().map(|part| part.time).sum();
                self.add(What::Rest { idle }, time);
            }
        }
        self.all
    }
}

impl Part {
    /// The kind of part in reports.
    #[must_use]
    pub const fn kind(&self) -> &'static str {
        match self.what {
            What::Phase { .. } => "phase",
            What::Stages { .. } => "stages",
            What::Idle { .. } => "idle",
            What::Rest { .. } => "rest",
        }
    }

    /// The query or job that it worked for.
    #[must_use]
    pub const fn owner(&self) -> Option<&Owner> {
        match &self.what {
            What::Phase { owner, .. } | What::Stages { owner, .. } => owner.as_ref(),
            What::Idle { .. } | What::Rest { .. } => None,
        }
    }

    /// The phase, if it is only one.
    #[must_use]
    pub const fn subject(&self) -> Option<&Subject> {
        match &self.what {
            What::Phase { subject, .. } => Some(subject),
            What::Stages { .. } | What::Idle { .. } | What::Rest { .. } => None,
        }
    }

    /// The operator that took the most time, or else the name of a stage.
    #[must_use]
    pub fn does(&self) -> Option<&str> {
        match &self.what {
            What::Phase { does, .. } | What::Stages { does, .. } => does.as_deref(),
            What::Idle { .. } | What::Rest { .. } => None,
        }
    }
}

impl Owner {
    /// The query or job that a stage worked for.
    #[must_use]
    pub fn of(app: &Application, subject: &Subject) -> Option<Self> {
        let (spark, stage) = (app.spark.as_deref()?, stage_of(app, subject)?);
        let job = spark.job_of(stage)?;
        execution_of(spark, job).map(Self::of_query).or_else(|| Self::of_job(job, stage))
    }

    fn of_query(execution: &SqlExecution) -> Self {
        Self { query: Some(execution.id), name: short_name_of_query(execution) }
    }

    /// A job that the user's code describes. Spark itself describes a job by the name of its last stage.
    fn of_job(job: &Job, stage: &Stage) -> Option<Self> {
        let name = job.description.as_deref().filter(|told| Some(*told) != stage.name.as_deref())?;
        Some(Self { query: None, name: words::plain_call(name)?.to_owned() })
    }
}

fn stage_of<'a>(app: &'a Application, subject: &Subject) -> Option<&'a Stage> {
    let Subject::Stage(id) = subject else { return None };
    app.spark.as_deref()?.stage(*id)
}

/// The execution that the user started, of which a job is a part.
fn execution_of<'a>(spark: &'a Spark, job: &Job) -> Option<&'a SqlExecution> {
    let mut seen = BTreeSet::new();
    let mut execution = spark.query(job.sql_execution?)?;
    // The log may say that executions are parts of each other.
    while let Some(root) = execution.root.filter(|root| seen.insert(*root)).and_then(|root| spark.query(root))
    {
        execution = root;
    }
    Some(execution)
}

/// The operator of a query that took the most time of a stage.
fn main_operator(query: &QuerySummary, stage: StageAttempt) -> Option<String> {
    let of_stage =
        query.operators.iter().filter(|operator| operator.stages == [stage] && operator.time.is_some());
    of_stage
        .max_by_key(|operator| (operator.time, Reverse(operator.place)))
        .map(|operator| operator.name.clone())
}
