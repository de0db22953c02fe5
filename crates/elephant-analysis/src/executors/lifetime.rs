//! Lifetimes of executors, and the maximum number of concurrent ones.

use super::{is_local, slots};
use elephant_base::stats::max_concurrent::max_concurrent;
use elephant_base::units::{Millis, Timestamp};
use elephant_model::model::Application;
use elephant_model::model::spark::{Executor, Spark};

/// The maximum number of concurrent executors.
#[must_use]
pub fn max_executors(executors: &[Executor]) -> u64 {
    max_concurrent(executors.iter().filter_map(|executor| Some((executor.added_at?, executor.removed_at))))
}

/// The maximum number of concurrent tasks: that of the driver in local mode, else of the executors that ran at the same
/// time. Executors that came after others had gone add nothing.
#[must_use]
pub fn most_slots(app: &Application, spark: &Spark) -> u64 {
    if is_local(app, spark) {
        return slots(app, &spark.driver);
    }
    let each = spark.executors.iter().map(|executor| slots(app, executor)).max().unwrap_or(1);
    max_executors(&spark.executors).max(1).saturating_mul(each)
}

/// The maximum number of cores at once, as [`most_slots`] counts slots; `None` if no executor announces its cores.
#[must_use]
pub fn most_cores(app: &Application, spark: &Spark) -> Option<u64> {
    if is_local(app, spark) {
        return spark.driver.cores.map(u64::from);
    }
    let each = spark.executors.iter().filter_map(|executor| executor.cores).max()?;
    Some(max_executors(&spark.executors).max(1).saturating_mul(each.into()))
}

/// The time from the application's start to its end, or to the last time in its event log.
#[must_use]
pub fn run_time(app: &Application) -> Option<Millis> {
    let start = app.submitted_at.or(app.launched_at)?;
    Millis::between(start, end(app)?)
}

/// The application's end, or the last time in its event log.
fn end(app: &Application) -> Option<Timestamp> {
    app.finished_at.or_else(|| app.spark.as_ref()?.log.last_event)
}

/// The lifetime of an executor.
#[must_use]
pub fn executor_life(app: &Application, executor: &Executor) -> Option<Millis> {
    Millis::between(executor.added_at?, executor.removed_at.or_else(|| end(app))?)
}

/// The time for which an executor could work. If dynamic allocation released it, only until its last task: dynamic
/// allocation releases executors after they were idle.
#[must_use]
pub fn working_life(app: &Application, executor: &Executor) -> Option<Millis> {
    let dynamic = app.allocates_dynamically();
    let is_released = dynamic && executor.removed_at.is_some() && !executor.was_lost();
    let until_last_task = executor.added_at.zip(executor.totals.last_task_at.filter(|_| is_released));
    let working = until_last_task.and_then(|(added, last)| Millis::between(added, last));
    working.filter(|life| *life > Millis::ZERO).or_else(|| executor_life(app, executor))
}

/// The lifetime of a worker. In local mode, the run time of the application if the driver's own lifetime is unknown.
#[must_use]
pub fn life(app: &Application, spark: &Spark, worker: &Executor) -> Option<Millis> {
    let whole = || run_time(app).filter(|_| is_local(app, spark));
    executor_life(app, worker).or_else(whole)
}

/// The sum of the lifetimes of all workers; `None` if none is known.
#[must_use]
pub fn lives(app: &Application, spark: &Spark) -> Option<Millis> {
    spark.workers().filter_map(|worker| life(app, spark, worker)).reduce(|a, b| a + b)
}

/// The lifetime in words, to follow a measurement.
#[must_use]
pub fn held(lives: Option<Millis>) -> String {
    lives.map(|lives| format!(", over a total executor lifetime of {lives}")).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn executor(added: i64, removed: Option<i64>) -> Executor {
        Executor {
            added_at: Some(Timestamp::from_millis(added)),
            removed_at: removed.map(Timestamp::from_millis),
            ..Executor::default()
        }
    }

    #[test]
    fn consecutive_executors_are_not_concurrent() {
        assert_eq!(max_executors(&[]), 0);
        assert_eq!(max_executors(&[executor(0, Some(5)), executor(5, Some(9)), executor(9, None)]), 1);
        assert_eq!(max_executors(&[executor(0, Some(6)), executor(5, None), Executor::default()]), 2);
        assert_eq!(max_executors(&[executor(7, Some(3)), executor(8, None)]), 1);
    }
}
