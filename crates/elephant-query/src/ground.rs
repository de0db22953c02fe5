//! What rules need to know of the queries of an application, computed once.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use crate::pipeline::StageWork;
use crate::query::{Queries, Query};
use elephant_base::units::Millis;
use elephant_model::model::Application;
use elephant_model::model::spark::{Spark, SqlCounter, SqlExecution, Stage, StageAttempt};

/// Queries that took a smaller share of the run are not looked at: whatever they waste, no rule reports it.
const LEAST_SHARE: f64 = 0.005;

/// No more queries are looked at, the longest first: of those without an end, a log may have any number.
const MOST_QUERIES: usize = 1000;

/// The queries of an application that cost most.
pub struct Ground<'a> {
    /// The application.
    pub app: &'a Application,
    /// Its Spark part.
    pub spark: &'a Spark,
    /// From the submission of the application to its end, or to the last event.
    pub run_time: Millis,
    /// The queries that took at least 0.5 % of the run, in the order of their ids.
    pub queries: Vec<Query<'a>>,
    /// The work of their stages, by index into [`Spark::stages`].
    pub work: BTreeMap<u32, StageWork>,
    all: Queries<'a>,
}

/// Task time in stages, and what it cost.
#[derive(Debug, Clone, Default)]
pub struct TaskTime {
    /// The time of tasks, by stage.
    by_stage: BTreeMap<u32, Millis>,
}

/// What task time in stages cost.
#[derive(Debug, Clone, PartialEq)]
pub struct Cost {
    /// The time of tasks.
    pub tasks: Millis,
    /// Its share of the time of all tasks of these stages.
    pub share: f64,
    /// The same share of the time from submission to completion of each stage.
    pub wall: Millis,
    /// The stages, the one with most of the time first.
    pub stages: Vec<StageAttempt>,
}

impl<'a> Ground<'a> {
    /// `None` if it is not an application of Spark, or if its run time is unknown.
    #[must_use]
    pub fn of(app: &'a Application) -> Option<Self> {
        let all = Queries::of(app)?;
        let spark = all.spark();
        let end = app.finished_at.max(spark.log.last_event);
        let run_time = Millis::between(app.submitted_at?, end?).filter(|time| *time > Millis::ZERO)?;
        let is_costly = |execution: &&SqlExecution| {
            execution.duration().is_none_or(|time| time.as_f64() >= LEAST_SHARE * run_time.as_f64())
        };
        let mut costly: Vec<&SqlExecution> = spark.sql.iter().filter(is_costly).collect();
        costly.sort_by_key(|execution| (Reverse(execution.duration()), execution.id));
        costly.truncate(MOST_QUERIES);
        costly.sort_by_key(|execution| execution.id);
        let queries: Vec<Query<'a>> = costly.into_iter().map(|execution| all.query(execution)).collect();
        let work = all.work(&queries);
        Some(Self { app, spark, run_time, queries, work, all })
    }

    /// Wall times and values of queries.
    #[must_use]
    pub const fn all(&self) -> &Queries<'a> {
        &self.all
    }

    /// A stage by its index.
    #[must_use]
    pub fn stage(&self, place: u32) -> Option<&'a Stage> {
        self.spark.stages.get(place as usize)
    }

    /// The own time of an operator in each stage; without the rest of its pipelines.
    #[must_use]
    pub fn time_of(&self, query: &Query<'_>, operator: usize) -> TaskTime {
        let mut time = TaskTime::default();
        let stages = query.operators.get(operator).map(|operator| operator.stages.as_slice());
        for &stage in stages.unwrap_or_default() {
            for part in self.work.get(&stage).map(|work| work.parts.as_slice()).unwrap_or_default() {
                if part.execution == query.execution.id && part.operator == operator {
                    time.add(stage, part.time);
                }
            }
        }
        time
    }

    /// What no timing explains in the stages of an operator.
    #[must_use]
    pub fn rest_of(&self, query: &Query<'_>, operator: usize) -> TaskTime {
        let mut time = TaskTime::default();
        for &stage in
            query.operators.get(operator).map(|operator| operator.stages.as_slice()).unwrap_or_default()
        {
            if let Some(work) = self.work.get(&stage) {
                time.add(stage, work.rest);
            }
        }
        time
    }

    /// The most that an operator without timings may have taken: what no timing explains in its stages, and the time of the
    /// aggregation that it feeds.
    #[must_use]
    pub fn most_of(&self, query: &Query<'_>, operator: usize) -> TaskTime {
        let mut time = self.rest_of(query, operator);
        if let Some(fed) = fed_aggregation(query, operator) {
            time.add_all(&self.time_of(query, fed));
        }
        time
    }

    /// What the stages took in which these operators of a query ran, without the own times of its other operators, except the
    /// aggregations that they feed.
    #[must_use]
    pub fn time_of_all(&self, query: &Query<'_>, operators: impl IntoIterator<Item = usize>) -> TaskTime {
        let mut time = TaskTime::default();
        let mut stages = BTreeSet::new();
        let mut wanted = vec![false; query.operators.len()];
        for place in operators {
            let Some(operator) = query.operators.get(place) else { continue };
            stages.extend(operator.stages.iter().copied());
            for place in [Some(place), fed_aggregation(query, place)].into_iter().flatten() {
                if let Some(wanted) = wanted.get_mut(place) {
                    *wanted = true;
                }
            }
        }
        for stage in stages {
            let Some(work) = self.work.get(&stage) else { continue };
            let is_other = |part: &&crate::Part| {
                let is_wanted = wanted.get(part.operator).copied().unwrap_or(false);
                part.execution != query.execution.id || !is_wanted
            };
            let others: Millis = work.parts.iter().filter(is_other).map(|part| part.time).sum();
            time.add(stage, Millis::new(work.total.get().saturating_sub(others.get())));
        }
        time
    }

    /// What task time cost; `None` for none.
    #[must_use]
    pub fn cost(&self, time: &TaskTime) -> Option<Cost> {
        let (mut tasks, mut all, mut wall) = (Millis::ZERO, Millis::ZERO, 0.0);
        let mut stages = Vec::new();
        for (&place, &time) in &time.by_stage {
            let (Some(work), Some(stage)) = (self.work.get(&place), self.stage(place)) else { continue };
            let time = time.min(work.total);
            tasks = tasks + time;
            all = all + work.total;
            let span = self.span(stage).unwrap_or_default();
            wall += span.as_f64() * time.as_f64() / work.total.as_f64().max(1.0);
            stages.push((std::cmp::Reverse(time), stage.id));
        }
        stages.sort_unstable();
        let wall = Millis::from_f64(wall)?.min(self.run_time);
        (tasks > Millis::ZERO).then(|| Cost {
            tasks,
            share: tasks.as_f64() / all.as_f64(),
            wall,
            stages: stages.into_iter().map(|(_, id)| id).collect(),
        })
    }

    fn span(&self, stage: &Stage) -> Option<Millis> {
        let launched = || {
            let attempts = &self.app.groups.get(stage.group?)?.attempts;
            let starts = (0..attempts.len())
                .filter_map(|row| attempts.time(row, elephant_model::model::table::TimePoint::Start));
            starts.min()
        };
        // A stage may wait for slots that other stages have.
        Millis::between(launched().or(stage.submitted_at)?, stage.completed_at?)
    }
}

/// The first aggregation that the rows of an operator reach within its pipeline. Its time contains that of the operators
/// before it which have no timing of their own ([`SqlCounter::AggregationTime`]).
fn fed_aggregation(query: &Query<'_>, operator: usize) -> Option<usize> {
    let mut place = query.operators.get(operator).filter(|it| !it.kind.moves_rows())?.parent;
    while let Some((at, above)) = place.and_then(|at| Some((at, query.operators.get(at)?))) {
        if above.kind.moves_rows() {
            return None;
        }
        if above.total(SqlCounter::AggregationTime).is_some() {
            return Some(at);
        }
        place = above.parent;
    }
    None
}

impl TaskTime {
    /// Adds time in a stage.
    pub fn add(&mut self, stage: u32, time: Millis) {
        let sum = self.by_stage.entry(stage).or_default();
        *sum = *sum + time;
    }

    /// Adds all times of another one.
    pub fn add_all(&mut self, other: &Self) {
        for (&stage, &time) in &other.by_stage {
            self.add(stage, time);
        }
    }

    /// This share of all times.
    #[must_use]
    pub fn scaled(&self, share: f64) -> Self {
        let scaled = |time: Millis| Millis::from_f64(time.as_f64() * share).unwrap_or_default();
        Self { by_stage: self.by_stage.iter().map(|(&stage, &time)| (stage, scaled(time))).collect() }
    }

    /// Its stages, by index, with their times.
    pub(crate) fn by_stage(&self) -> impl Iterator<Item = (u32, Millis)> {
        self.by_stage.iter().map(|(stage, time)| (*stage, *time))
    }

    /// Its stages, by index.
    pub fn stages(&self) -> impl Iterator<Item = u32> {
        self.by_stage.keys().copied()
    }
}
