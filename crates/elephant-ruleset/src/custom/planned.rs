//! The queries of an application with their operators, and its jobs, as rules judge them. One query is prepared at a time: an
//! application may have a hundred thousand.

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use super::compile::Over;
use super::scope::Judged;
use elephant_base::units::Millis;
use elephant_model::model::Application;
use elephant_model::model::counters::Counter;
use elephant_model::model::spark::{Job, Spark, SqlExecution, Stage};
use elephant_model::model::table::TaskGroup;
use elephant_query::{PlacedOperator, Queries, Wall};

/// Stages with their tasks.
#[derive(Debug, Default)]
pub(super) struct Ran<'a> {
    /// The stage attempts, in the order of the history.
    pub(super) stages: Vec<&'a Stage>,
    /// Those of their groups of tasks that the history has.
    pub(super) groups: Vec<&'a TaskGroup>,
}

/// A query.
#[derive(Debug)]
pub(super) struct PlannedQuery<'a> {
    /// The execution.
    pub(super) execution: &'a SqlExecution,
    /// Its wall time.
    pub(super) wall: Option<Wall>,
    /// Its jobs, and those of the queries that are parts of it.
    pub(super) jobs: Vec<&'a Job>,
    /// Its stages.
    pub(super) ran: Ran<'a>,
    /// The operators of its last plan, and of those that adaptive execution replaced the ones that ran.
    pub(super) operators: Vec<PlannedOperator<'a>>,
}

/// An operator of a query.
#[derive(Debug)]
pub(super) struct PlannedOperator<'a> {
    /// Its place among all operators of the query, as reports count them.
    pub(super) place: u32,
    /// The operator.
    pub(super) operator: PlacedOperator<'a>,
    /// Its own time in tasks.
    pub(super) time: Option<Millis>,
    /// The stages in which it ran.
    pub(super) ran: Ran<'a>,
}

impl<'a> Ran<'a> {
    fn of(app: &'a Application, spark: &'a Spark, places: impl IntoIterator<Item = u32>) -> Self {
        let stages: Vec<&Stage> =
            places.into_iter().filter_map(|place| spark.stages.get(place as usize)).collect();
        let groups = stages.iter().filter_map(|stage| app.groups.get(stage.group?)).collect();
        Self { stages, groups }
    }

    /// The sum of counters over all attempts; unknown if no attempt has one of them.
    pub(super) fn sum(&self, counters: &[Counter]) -> Option<u64> {
        let sums = self.groups.iter().filter_map(|group| group.attempts.sum(counters));
        sums.reduce(u64::saturating_add)
    }
}

impl<'a> PlannedQuery<'a> {
    fn of(
        app: &'a Application,
        spark: &'a Spark,
        queries: &Queries<'a>,
        execution: &'a SqlExecution,
    ) -> Self {
        let query = queries.query(execution);
        let mut times: BTreeMap<usize, Millis> = BTreeMap::new();
        for part in queries.work(std::slice::from_ref(&query)).values().flat_map(|work| &work.parts) {
            let time = times.entry(part.operator).or_default();
            *time = *time + part.time;
        }
        let ran = Ran::of(app, spark, queries.stages(&query));
        let operators = query.operators.into_iter().enumerate();
        let planned = operators.filter(|(_, operator)| operator.is_last || !operator.values.is_empty());
        let planned = planned.filter_map(|(place, operator)| {
            Some(PlannedOperator {
                place: u32::try_from(place).ok()?,
                time: times.get(&place).copied(),
                ran: Ran::of(app, spark, operator.stages.iter().copied()),
                operator,
            })
        });
        Self {
            execution,
            wall: queries.wall(execution),
            jobs: queries.jobs(execution).collect(),
            ran,
            operators: planned.collect(),
        }
    }
}

/// Calls `see` with each query, each operator or each job, as `over` says, until it breaks.
pub(super) fn each(app: &Application, over: Over, see: &mut dyn FnMut(Judged<'_>) -> ControlFlow<()>) {
    // Nothing is left to do for one who has broken off.
    let _ = match over {
        Over::Job => each_job(app, see),
        _ => each_query(app, over, see),
    };
}

fn each_query(
    app: &Application,
    over: Over,
    see: &mut dyn FnMut(Judged<'_>) -> ControlFlow<()>,
) -> ControlFlow<()> {
    let Some((spark, queries)) = app.spark.as_deref().zip(Queries::of(app)) else {
        return ControlFlow::Continue(());
    };
    for execution in &spark.sql {
        let query = PlannedQuery::of(app, spark, &queries, execution);
        if over == Over::Query {
            see(Judged::Query(&query))?;
        } else {
            query.operators.iter().try_for_each(|operator| see(Judged::Operator(&query, operator)))?;
        }
    }
    ControlFlow::Continue(())
}

fn each_job(app: &Application, see: &mut dyn FnMut(Judged<'_>) -> ControlFlow<()>) -> ControlFlow<()> {
    let Some(spark) = app.spark.as_deref() else { return ControlFlow::Continue(()) };
    let mut of_jobs = vec![Vec::new(); spark.jobs.len()];
    for (place, stage) in (0_u32..).zip(&spark.stages) {
        if let Some(stages) = stage.job.and_then(|job| of_jobs.get_mut(job)) {
            stages.push(place);
        }
    }
    for (job, stages) in spark.jobs.iter().zip(of_jobs) {
        see(Judged::Job(job, &Ran::of(app, spark, stages)))?;
    }
    ControlFlow::Continue(())
}
