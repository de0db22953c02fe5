//! How long the first tasks on executors usually take, and from what on one of them is slow.

use std::collections::BTreeSet;

use super::done::{Done, SLOWER, Start};
use elephant_base::stats::descriptive::{median, quantile};

/// A first task is slow if it takes more than this multiple of what first tasks usually take: they take unequally long, in
/// healthy runs up to twice the median.
const SLOWER_FIRST: f64 = 3.0;

/// Minimum number of tasks that show how long warming up takes.
const FEWEST: usize = 3;

/// The first tasks on this many executors show how unequally long they take, so that the limit can be lower.
const FEWEST_EXECUTORS: usize = 5;
/// The quantile of their times that shows it. Fewer of them are slow.
const USUAL: f64 = 0.75;

/// How long first tasks take beyond what their data explain, in microseconds, and the multiple of their usual time from
/// which one is slow.
type Limit = (f64, f64);

/// The limits of the first tasks of a stage attempt.
#[derive(Debug, Default)]
pub(super) struct WarmUps {
    /// `None` if too few tasks show it.
    of_all: Option<Limit>,
    on_new_executors: Option<Limit>,
    in_new_stage: Option<Limit>,
}

impl WarmUps {
    /// The limits in a stage attempt, whose tasks take the time that `explained` says by their data.
    pub(super) fn of(done: &[Done], explained: impl Fn(&Done) -> f64) -> Self {
        let first = |start: Start| -> Vec<&Done> {
            done.iter().filter(|done| done.warms_up == Some(start)).collect()
        };
        let (executors, stage) = (first(Start::NewExecutor), first(Start::NewStage));
        let all: Vec<&Done> = executors.iter().chain(&stage).copied().collect();
        Self {
            of_all: beyond(&explained, &all).map(|beyond| (beyond, SLOWER_FIRST)),
            on_new_executors: among_many(&explained, &executors),
            in_new_stage: among_many(&explained, &stage),
        }
    }

    /// The limit of a task that starts so. It is compared with those that start the same way, if they ran on many executors.
    pub(super) fn limit(&self, start: Start) -> Option<Limit> {
        let alike = match start {
            Start::NewExecutor => self.on_new_executors,
            Start::NewStage => self.in_new_stage,
        };
        alike.or(self.of_all)
    }
}

/// The median time beyond what the data explain.
fn beyond(explained: impl Fn(&Done) -> f64, first: &[&Done]) -> Option<f64> {
    let beyond: Vec<f64> = first.iter().map(|done| done.time - explained(done)).collect();
    let beyond = median(&beyond).filter(|_| beyond.len() >= FEWEST)?;
    Some(beyond.max(0.0))
}

/// The limit of first tasks on many executors: a slow executor does not hide among them, but all of them may take unequally
/// long.
fn among_many(explained: impl Fn(&Done) -> f64, first: &[&Done]) -> Option<Limit> {
    let executors: BTreeSet<_> = first.iter().map(|done| done.executor).collect();
    let beyond = beyond(&explained, first).filter(|_| executors.len() >= FEWEST_EXECUTORS)?;
    let multiples: Vec<f64> = first.iter().map(|done| done.time / (explained(done) + beyond)).collect();
    let usual = quantile(&multiples, USUAL)?;
    Some((beyond, (SLOWER * usual.max(1.0)).min(SLOWER_FIRST)))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The limit of first tasks that take these times, each on an executor of its own, beside many that take 10.
    fn limit(times: &[f64]) -> Limit {
        let first = (0..).zip(times).map(|(executor, time)| Done::first(executor, *time));
        let done: Vec<Done> = first.chain((0..20).map(|_| Done::later(10.0))).collect();
        WarmUps::of(&done, |_| 10.0).limit(Start::NewStage).unwrap()
    }

    #[test]
    fn the_limit_of_first_tasks_is_low_if_many_executors_show_that_they_take_equally_long() {
        assert_eq!(limit(&[12.0, 12.0, 12.0, 40.0]), (2.0, SLOWER_FIRST), "few executors");
        assert_eq!(limit(&[12.0, 12.0, 12.0, 12.0, 12.0, 40.0]), (2.0, SLOWER));
        let (_, unequal) = limit(&[10.0, 12.0, 12.0, 18.0, 18.0, 20.0]);
        assert!(unequal > SLOWER && unequal < SLOWER_FIRST, "{unequal}");
        assert!(limit(&[10.0, 12.0, 12.0, 12.0, 60.0, 60.0]).1 >= SLOWER_FIRST);
    }
}
