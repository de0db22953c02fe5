//! Shared by the rules on costs: the parts of a history that costs depend on, and why a cost is unknown.

use crate::{mapreduce, spark, tez};
use elephant_analysis::metrics::requested_container;
use elephant_model::model::counters::CounterMask;
use elephant_model::model::spark::Facet;
use elephant_model::model::table::{Outcome, TaskGroup, TaskKind};
use elephant_model::model::{Application, Engine};
use elephant_rule::params::Assumed;

/// The data that allocated and needed memory are computed from.
pub(in crate::any) const OF_MEMORY: &[Facet] =
    &[Facet::Tasks, Facet::Executors, Facet::ExecutorMetrics, Facet::End];
/// The data that run time and wait time are computed from.
pub(in crate::any) const OF_TIME: &[Facet] = &[Facet::Tasks, Facet::Jobs, Facet::Executors, Facet::End];

/// What the history lacks, phrased to follow "because".
fn partial(app: &Application, facets: &[Facet]) -> Option<String> {
    app.partial(facets, |_| CounterMask::NONE)
}

/// Whether every attempt that succeeded or failed has a run time.
fn has_all_times(group: &TaskGroup) -> bool {
    let attempts = &group.attempts;
    let ended = (0..attempts.len())
        .filter(|&row| matches!(attempts.outcome(row), Outcome::Succeeded | Outcome::Failed));
    ended.map(|row| attempts.run_time(row)).all(|time| time.is_some())
}

/// Why the allocated memory is unknown.
pub(in crate::any) fn used_unknown(app: &Application) -> String {
    let of_unknown_size = |kind: &TaskKind| {
        app.group(*kind).is_some_and(has_all_times)
            && requested_container(app, *kind, Assumed(None)).is_none()
    };
    let kinds = [TaskKind::Map, TaskKind::Reduce];
    partial(app, OF_MEMORY).unwrap_or_else(|| match (app.engine, kinds.into_iter().find(of_unknown_size)) {
        (Engine::MapReduce, Some(kind)) => mapreduce::no_container(app, kind),
        (Engine::MapReduce, None) => "the history does not contain the run time of every attempt".to_owned(),
        (Engine::Tez, _) => tez::no_cost(app),
        (Engine::Spark, _) => {
            "the event log does not contain the memory and lifetime of every executor".to_owned()
        }
    })
}

/// Why the run time is unknown.
pub(in crate::any) fn run_time_unknown(app: &Application) -> String {
    partial(app, OF_TIME)
        .unwrap_or_else(|| "the history does not contain the start or end of the application".to_owned())
}

/// Why the wait time is unknown.
pub(in crate::any) fn wait_unknown(app: &Application) -> String {
    partial(app, OF_TIME).unwrap_or_else(|| match app.engine {
        Engine::MapReduce => mapreduce::no_times(app),
        Engine::Tez => tez::NO_WAIT.to_owned(),
        Engine::Spark => "no executor started, or not all times of executors and jobs are known".to_owned(),
    })
}

/// Why the memory that tasks needed is unknown, if the allocated memory is known.
pub(in crate::any) fn needs_unknown(app: &Application) -> String {
    partial(app, OF_MEMORY).unwrap_or_else(|| match app.engine {
        Engine::MapReduce => mapreduce::no_memory(app),
        Engine::Tez => tez::NO_MEMORY.to_owned(),
        Engine::Spark => spark::no_peaks(app),
    })
}
