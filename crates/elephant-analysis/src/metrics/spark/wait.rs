//! Time that an application wanted executors but had none.

use super::containers::manager;
use super::late::{self, Span};
use super::shows_all_executors;
use elephant_base::units::{Millis, Timestamp};
use elephant_model::model::Application;
use elephant_model::model::conf::ConfKey;
use elephant_model::model::spark::{ClusterManager, Facet, Spark};

/// Time that an application waited for executors: with none of them, or with only a part of them.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Wait {
    /// Time without any executor, before the first one started or while jobs ran, plus `for_late`.
    pub(super) all: Millis,
    /// The part before the first executor started.
    pub(super) for_first: Millis,
    /// The part for executors that started long after the first.
    pub(super) for_late: Millis,
}

/// `None` if executor lifetimes or jobs are unknown, or if no executor ever started.
/// Executors are late if they start `late` after the first.
pub(super) fn of(app: &Application, spark: &Spark, late: Millis) -> Option<Wait> {
    if manager(app, spark)? == ClusterManager::Local {
        return Some(Wait::default());
    }
    if !shows_all_executors(spark) || spark.gaps.reason(&[Facet::Jobs]).is_some() {
        return None;
    }
    let (start, end) = (app.submitted_at?, app.finished_at?);
    let lifetimes = lifetimes(spark, end)?;
    let first = lifetimes.iter().map(|lifetime| lifetime.0).min()?;
    let mut wanted: Vec<Span> = Vec::with_capacity(spark.jobs.len() + 1);
    if asks_at_once(app)? {
        wanted.push((start, first.min(end)));
    }
    for job in &spark.jobs {
        wanted.push((job.submitted_at?.max(start), job.completed_at?.min(end)));
    }
    let before_first = wanted.iter().map(|&(from, to)| (from, to.min(first))).collect();
    let for_late = late::wait(app, spark, &lifetimes, late);
    Some(Wait {
        for_first: uncovered(before_first, Vec::new()),
        for_late,
        all: uncovered(wanted, lifetimes) + for_late,
    })
}

fn lifetimes(spark: &Spark, end: Timestamp) -> Option<Vec<Span>> {
    let lifetime = |executor: &elephant_model::model::spark::Executor| {
        Some((executor.added_at?, executor.removed_at.unwrap_or(end)))
    };
    spark.executors.iter().map(lifetime).collect()
}

/// Whether executors are requested when the application starts; dynamic allocation may wait for the first
/// job. `None` if a setting is not a number.
fn asks_at_once(app: &Application) -> Option<bool> {
    if !app.allocates_dynamically() {
        return Some(true);
    }
    let keys = [ConfKey::DynamicAllocationMin, ConfKey::DynamicAllocationInitial, ConfKey::ExecutorInstances];
    let mut asks = false;
    for key in keys.into_iter().filter(|&key| app.conf.text(key).is_some()) {
        asks |= app.conf.integer(key)? > 0;
    }
    Some(asks)
}

/// Time within the spans `wanted` that no span of `available` covers.
fn uncovered(mut wanted: Vec<Span>, mut available: Vec<Span>) -> Millis {
    wanted.sort_unstable();
    available.sort_unstable();
    let mut available = available.into_iter().peekable();
    let mut wait = Millis::ZERO;
    // Everything before `done` has been counted.
    let mut done = Timestamp::from_millis(i64::MIN);
    for (from, to) in wanted {
        done = done.max(from);
        while done < to {
            match available.peek() {
                Some(&(_, until)) if until <= done => {
                    available.next();
                }
                Some(&(since, until)) if since <= done => done = until.min(to),
                next => {
                    let until = next.map_or(to, |&(since, _)| since.min(to));
                    wait = wait + Millis::between(done, until).unwrap_or_default();
                    done = until;
                }
            }
        }
    }
    wait
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wait(wanted: &[(i64, i64)], available: &[(i64, i64)]) -> u64 {
        let spans = |list: &[(i64, i64)]| {
            list.iter().map(|&(a, b)| (Timestamp::from_millis(a), Timestamp::from_millis(b))).collect()
        };
        uncovered(spans(wanted), spans(available)).get()
    }

    #[test]
    fn wanted_time_without_executors_is_counted_once() {
        assert_eq!(wait(&[(0, 10)], &[]), 10);
        assert_eq!(wait(&[(0, 10)], &[(4, 20)]), 4);
        assert_eq!(wait(&[(0, 10), (2, 12), (30, 40)], &[(4, 6), (5, 8), (35, 99)]), 4 + 4 + 5);
        assert_eq!(wait(&[(5, 5), (9, 3)], &[]), 0);
        assert_eq!(wait(&[(0, 3), (20, 30)], &[(1, 25), (2, 3), (4, 5)]), 1 + 5);
        assert_eq!(wait(&[(0, 10)], &[(9, 1), (3, 4)]), 9);
    }
}
