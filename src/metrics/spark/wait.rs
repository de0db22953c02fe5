//! Time in which an application wanted executors and had none.

use super::containers::manager;
use super::shows_all_executors;
use crate::model::Application;
use crate::model::conf::ConfKey;
use crate::model::spark::{ClusterManager, Facet, Spark};
use crate::units::{Millis, Timestamp};

/// From one moment to another.
type Span = (Timestamp, Timestamp);

/// How long no executor was there while one was wanted.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Wait {
    /// Until the first one came, and while jobs ran.
    pub(super) all: Millis,
    /// The part of it before the first one came.
    pub(super) for_first: Millis,
}

/// `None` where lives of executors or jobs are unknown, and where no executor ever came.
pub(super) fn of(app: &Application, spark: &Spark) -> Option<Wait> {
    if manager(app, spark)? == ClusterManager::Local {
        return Some(Wait::default());
    }
    if !shows_all_executors(spark) || spark.gaps.reason(&[Facet::Jobs]).is_some() {
        return None;
    }
    let (start, end) = (app.submitted_at?, app.finished_at?);
    let lives = lives(spark, end)?;
    let first = lives.iter().map(|life| life.0).min()?;
    let mut wanted: Vec<Span> = Vec::with_capacity(spark.jobs.len() + 1);
    if asks_at_once(app)? {
        wanted.push((start, first.min(end)));
    }
    for job in &spark.jobs {
        wanted.push((job.submitted_at?.max(start), job.completed_at?.min(end)));
    }
    let before_first = wanted.iter().map(|&(from, to)| (from, to.min(first))).collect();
    Some(Wait { for_first: uncovered(before_first, Vec::new()), all: uncovered(wanted, lives) })
}

fn lives(spark: &Spark, end: Timestamp) -> Option<Vec<Span>> {
    let life = |executor: &crate::model::spark::Executor| {
        Some((executor.added_at?, executor.removed_at.unwrap_or(end)))
    };
    spark.executors.iter().map(life).collect()
}

/// Whether executors are asked for when the application starts: dynamic allocation may wait for the first job.
/// `None` where a setting is no number.
fn asks_at_once(app: &Application) -> Option<bool> {
    if app.conf.flag(ConfKey::DynamicAllocation) != Some(true) {
        return Some(true);
    }
    let keys = [ConfKey::DynamicAllocationMin, ConfKey::DynamicAllocationInitial, ConfKey::ExecutorInstances];
    let mut asks = false;
    for key in keys.into_iter().filter(|&key| app.conf.text(key).is_some()) {
        asks |= app.conf.integer(key)? > 0;
    }
    Some(asks)
}

/// How much of the spans `wanted` lies in none of the spans `had`.
fn uncovered(mut wanted: Vec<Span>, mut had: Vec<Span>) -> Millis {
    wanted.sort_unstable();
    had.sort_unstable();
    let mut had = had.into_iter().peekable();
    let mut wait = Millis::ZERO;
    // Everything before `done` is accounted for.
    let mut done = Timestamp::from_millis(i64::MIN);
    for (from, to) in wanted {
        done = done.max(from);
        while done < to {
            match had.peek() {
                Some(&(_, until)) if until <= done => {
                    had.next();
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

    fn wait(wanted: &[(i64, i64)], had: &[(i64, i64)]) -> u64 {
        let spans = |list: &[(i64, i64)]| {
            list.iter().map(|&(a, b)| (Timestamp::from_millis(a), Timestamp::from_millis(b))).collect()
        };
        uncovered(spans(wanted), spans(had)).get()
    }

    #[test]
    fn what_is_wanted_and_not_there_is_waited_for_once() {
        assert_eq!(wait(&[(0, 10)], &[]), 10);
        assert_eq!(wait(&[(0, 10)], &[(4, 20)]), 4);
        assert_eq!(wait(&[(0, 10), (2, 12), (30, 40)], &[(4, 6), (5, 8), (35, 99)]), 4 + 4 + 5);
        assert_eq!(wait(&[(5, 5), (9, 3)], &[]), 0);
        assert_eq!(wait(&[(0, 3), (20, 30)], &[(1, 25), (2, 3), (4, 5)]), 1 + 5);
        assert_eq!(wait(&[(0, 10)], &[(9, 1), (3, 4)]), 9);
    }
}
