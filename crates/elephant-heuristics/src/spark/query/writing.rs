//! The tasks of a query that write its result.

use std::collections::BTreeSet;

use elephant_query::{Ground, Query, TaskTime};

/// The time of the tasks that write: those of the last stage in which an operator of the query ran, without the own times of
/// its operators. A command of a table format runs its jobs in executions of their own; then of the last stage of these.
pub(super) fn time_of_writing(ground: &Ground<'_>, query: &Query<'_>) -> TaskTime {
    let of_operators = query.operators.iter().flat_map(|operator| operator.stages.iter().copied()).max();
    let of_jobs = || {
        let all: BTreeSet<u32> =
            ground.all().jobs(query.execution).flat_map(|job| job.stages.iter().copied()).collect();
        let is_of_them =
            |place: &u32| ground.stage(*place).is_some_and(|stage| all.contains(&stage.id.stage));
        ground.work.keys().copied().filter(is_of_them).max()
    };
    let mut time = TaskTime::default();
    let last = of_operators.or_else(of_jobs);
    if let Some((stage, work)) = last.and_then(|stage| Some((stage, ground.work.get(&stage)?))) {
        time.add(stage, work.rest);
    }
    time
}
