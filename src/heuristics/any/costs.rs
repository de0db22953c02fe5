//! What rules on costs share: the parts of a history that they rest on, and why a cost is not known.

use crate::heuristics::{mapreduce, spark};
use crate::metrics::requested_container;
use crate::model::counters::CounterMask;
use crate::model::spark::Facet;
use crate::model::table::{Outcome, TaskGroup, TaskKind};
use crate::model::{Application, Engine};
use crate::params::Assumed;

/// What the memory that containers held, and what was needed of it, follow from.
pub(super) const OF_MEMORY: &[Facet] = &[Facet::Tasks, Facet::Executors, Facet::ExecutorMetrics, Facet::End];
/// What run time and wait follow from.
pub(super) const OF_TIME: &[Facet] = &[Facet::Tasks, Facet::Jobs, Facet::Executors, Facet::End];

/// What is missing of the history, in words to follow "because".
fn partial(app: &Application, facets: &[Facet]) -> Option<String> {
    app.partial(facets, |_| CounterMask::NONE)
}

/// Whether all attempts that ended by themselves tell how long they ran, so that no time is missing.
fn tells_times(group: &TaskGroup) -> bool {
    let attempts = &group.attempts;
    let ended = (0..attempts.len())
        .filter(|&row| matches!(attempts.outcome(row), Outcome::Succeeded | Outcome::Failed));
    ended.map(|row| attempts.run_time(row)).all(|time| time.is_some())
}

/// Why the memory that containers held is not known.
pub(super) fn used_unknown(app: &Application) -> String {
    let of_unknown_size = |kind: &TaskKind| {
        app.group(*kind).is_some_and(tells_times) && requested_container(app, *kind, Assumed(None)).is_none()
    };
    let kinds = [TaskKind::Map, TaskKind::Reduce];
    partial(app, OF_MEMORY).unwrap_or_else(|| match (app.engine, kinds.into_iter().find(of_unknown_size)) {
        (Engine::MapReduce, Some(kind)) => mapreduce::no_container(app, kind),
        (Engine::MapReduce, None) => "an attempt does not tell how long it held its container".to_owned(),
        (Engine::Spark, _) => "the log does not tell what each executor held, and how long".to_owned(),
    })
}

/// Why it is not known how long the application ran.
pub(super) fn run_time_unknown(app: &Application) -> String {
    partial(app, OF_TIME)
        .unwrap_or_else(|| "the history does not tell when the application began or ended".to_owned())
}

/// Why it is not known how long it waited.
pub(super) fn wait_unknown(app: &Application) -> String {
    partial(app, OF_TIME).unwrap_or_else(|| match app.engine {
        Engine::MapReduce => mapreduce::no_times(app),
        Engine::Spark => "no executor came, or not all times of executors and jobs are known".to_owned(),
    })
}

/// Why it is not known how much of it tasks needed, where it is known what containers held.
pub(super) fn needs_unknown(app: &Application) -> String {
    partial(app, OF_MEMORY).unwrap_or_else(|| match app.engine {
        Engine::MapReduce => mapreduce::no_memory(app),
        Engine::Spark => spark::no_peaks(app),
    })
}
