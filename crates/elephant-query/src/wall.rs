//! The wall time of a query, by what happened in it.

use crate::query::Queries;
use elephant_base::state::State;
use elephant_base::units::{Millis, Timestamp};
use elephant_model::model::spark::SqlExecution;

/// The wall time of a query. Its parts add up to the total.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, State)]
pub struct Wall {
    /// From start to end.
    pub total: Millis,
    /// From the start to the first job: analysing, optimising and planning the query, listing files.
    pub planning: Millis,
    /// While a job ran.
    pub jobs: Millis,
    /// Between jobs.
    pub gaps: Millis,
    /// From the end of the last job to the end of the query: committing files, handing over results.
    pub after: Millis,
}

impl Queries<'_> {
    /// The wall time of a query; `None` if its start, its end or that of one of its jobs is unknown. The jobs of an execution
    /// are its own, and those of the executions below it.
    #[must_use]
    pub fn wall(&self, execution: &SqlExecution) -> Option<Wall> {
        let (start, end) = (execution.started_at?, execution.finished_at?);
        let total = Millis::between(start, end)?;
        let mut spans = Vec::new();
        for job in self.jobs(execution) {
            spans.push((job.submitted_at?.clamp(start, end), job.completed_at?.clamp(start, end)));
        }
        spans.sort_unstable();
        let Some(&(first, _)) = spans.first() else {
            return Some(Wall { total, planning: total, ..Wall::default() });
        };
        let (covered, last) = covered(first, &spans);
        let between = |from, to| Millis::between(from, to).unwrap_or_default();
        let gaps = Millis::new(between(first, last).get().saturating_sub(covered.get()));
        Some(Wall { total, planning: between(start, first), jobs: covered, gaps, after: between(last, end) })
    }
}

/// The time that spans cover, which are in the order of their starts, and their latest end.
fn covered(first: Timestamp, spans: &[(Timestamp, Timestamp)]) -> (Millis, Timestamp) {
    let (mut covered, mut until) = (0, first);
    for &(start, end) in spans {
        covered += Millis::between(start.max(until), end.max(until)).unwrap_or_default().get();
        until = until.max(end);
    }
    (Millis::new(covered), until)
}
