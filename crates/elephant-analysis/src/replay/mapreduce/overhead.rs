//! How the time of tasks depends on their input, and the overhead of each task.
//!
//! The start of a container has two parts. The time from the end of one attempt to the start of the next on its slot is
//! the slot's gap, which the replay keeps. What follows, the start of the JVM, is inside the attempt's time, and a job
//! history does not say how long it took: at least nothing, at most the intercept of a fit of time on input.

use super::attempts::Attempt;
use super::{Kind, Plan, Unknown};
use crate::replay::Micros;
use elephant_base::stats::descriptive::{mean, median, pearson};

/// A task is far from others if it takes more than this multiple of their median.
pub(super) const FAR: f64 = 1.5;
/// The usual maximum for the start of a task's JVM on a healthy cluster.
const USUAL_START_UP: Micros = Micros::from_millis(5000);
/// A fit with a lower correlation has no reliable intercept.
const MIN_CORRELATION: f64 = 0.5;
/// A fit with this correlation, over so many tasks, shows the fixed cost of a task and does not only bound it.
const CLEAR_CORRELATION: f64 = 0.8;
const CLEAR_TASKS: usize = 30;
/// A fit tells nothing about tasks that read more than this multiple of what the largest one read.
const MOST_BEYOND: f64 = 2.0;
/// By how much the fixed cost of larger tasks may differ from a clear fit: a merged task still opens each of its files.
const LEAST_OF_FIT: f64 = 0.9;
const MOST_OF_FIT: f64 = 1.05;
/// The correlation of n values may be chance up to this, divided by the square root of n + 2.
const CHANCE: f64 = 2.0;

/// The tasks of a kind that succeeded, with their times in a change.
#[derive(Debug, Default)]
pub(super) struct Sample {
    /// The winners' places in the plan.
    pub(super) places: Vec<usize>,
    /// Microseconds.
    pub(super) times: Vec<f64>,
    bytes: Vec<Option<u64>>,
    records: Vec<Option<u64>>,
}

impl Sample {
    /// The winners of one kind; `time` gives the time of an attempt.
    pub(super) fn of(
        plan: &Plan,
        kind: Kind,
        time: impl Fn(usize, &Attempt) -> Micros,
    ) -> Result<Self, Unknown> {
        let mut sample = Self::default();
        for (place, attempt) in plan.winners(kind) {
            sample.places.push(place);
            sample.times.push(time(place, attempt).as_f64());
            sample.bytes.push(attempt.bytes);
            sample.records.push(attempt.records);
        }
        if sample.places.is_empty() { Err(Unknown::NoTasks) } else { Ok(sample) }
    }

    /// The median time; zero without tasks.
    pub(super) fn median(&self) -> f64 {
        median(&self.times).unwrap_or_default()
    }

    /// The mean time; zero without tasks.
    pub(super) fn mean(&self) -> f64 {
        mean(&self.times).unwrap_or_default()
    }

    /// The bytes of all tasks; `None` unless all are known and some are not zero.
    pub(super) fn total_bytes(&self) -> Option<u64> {
        let total =
            self.bytes.iter().copied().try_fold(0u64, |sum, bytes| Some(sum.saturating_add(bytes?)))?;
        (total > 0).then_some(total)
    }

    /// The time that each task should take by its bytes; `None` unless half of them have some.
    pub(super) fn by_bytes(&self) -> Option<Vec<f64>> {
        self.expected(&self.bytes)
    }

    /// The time that each task should take by its records; `None` unless half of them have some.
    pub(super) fn by_records(&self) -> Option<Vec<f64>> {
        self.expected(&self.records)
    }

    /// The time that each task should take by its bytes, or the median if that is more.
    pub(super) fn at_least_median(&self) -> Vec<f64> {
        let (middle, by_bytes) = (self.median(), self.by_bytes());
        let expected = |at: usize| by_bytes.as_ref().and_then(|times| times.get(at)).copied();
        (0..self.times.len()).map(|at| expected(at).map_or(middle, |time| time.max(middle))).collect()
    }

    /// The times, without what makes a task far slower than its bytes explain.
    pub(super) fn usual(&self) -> Vec<f64> {
        let pairs = self.times.iter().zip(self.at_least_median());
        pairs.map(|(&time, usual)| if time > FAR * usual { usual } else { time }).collect()
    }

    /// The overhead plus the median rate times the amount. A task with an unknown amount takes the median time.
    fn expected(&self, amounts: &[Option<u64>]) -> Option<Vec<f64>> {
        let overhead = self.intercept_on(amounts).unwrap_or_default();
        let pairs = || self.times.iter().zip(amounts);
        let rate = |(time, amount): (&f64, &Option<u64>)| {
            let amount = amount.filter(|amount| *amount > 0)? as f64;
            Some((time - overhead).max(0.0) / amount)
        };
        let rates: Vec<f64> = pairs().filter_map(rate).collect();
        if rates.len() * 2 < self.times.len() {
            return None;
        }
        let (rate, middle) = (median(&rates)?, self.median());
        let expected = |amount: &Option<u64>| amount.map_or(middle, |amount| overhead + rate * amount as f64);
        Some(amounts.iter().map(expected).collect())
    }

    /// The most that starting a task usually takes: not more than the shortest task, which also started. Half of a median
    /// task is possible, though, because the shortest may have been cut off.
    pub(super) fn usual_start_up(&self) -> f64 {
        let shortest = self.times.iter().copied().min_by(f64::total_cmp).unwrap_or_default();
        USUAL_START_UP.as_f64().min(shortest.max(self.median() / 2.0))
    }

    /// The part of a task's time that does not depend on its input: the intercept of a fit of time on bytes.
    pub(super) fn intercept(&self) -> Option<f64> {
        self.intercept_on(&self.bytes)
    }

    /// The fixed cost of a task if `count` tasks do the same work: what a clear fit of time on bytes says. `None` if the tasks
    /// do not show it.
    pub(super) fn fixed_cost(&self, count: usize) -> Option<FixedCost> {
        let largest = self.bytes.iter().copied().max().flatten()? as f64;
        let each = self.total_bytes()? as f64 / count.max(1) as f64;
        let Fit { correlation, intercept, tasks, .. } = self.fit_on(&self.bytes)?;
        let is_clear = correlation >= CLEAR_CORRELATION && tasks >= CLEAR_TASKS && intercept > 0.0;
        (is_clear && each <= MOST_BEYOND * largest).then(|| FixedCost {
            least: LEAST_OF_FIT * intercept,
            likely: intercept,
            most: (MOST_OF_FIT * intercept).min(self.median()),
        })
    }

    /// From zero to the shortest time.
    fn intercept_on(&self, amounts: &[Option<u64>]) -> Option<f64> {
        let fit = self.fit_on(amounts)?;
        let least = MIN_CORRELATION.max(CHANCE / (fit.tasks as f64 + 2.0).sqrt());
        (fit.correlation >= least).then(|| fit.intercept.clamp(0.0, fit.shortest.max(0.0)))
    }

    /// Least squares of time on amounts; `None` for fewer than three tasks.
    fn fit_on(&self, amounts: &[Option<u64>]) -> Option<Fit> {
        let known =
            self.times.iter().zip(amounts).filter_map(|(time, amount)| Some(((*amount)? as f64, *time)));
        let (x, y): (Vec<f64>, Vec<f64>) = known.unzip();
        let correlation = pearson(&x, &y).filter(|_| x.len() >= 3)?;
        let (mean_x, mean_y) = (mean(&x)?, mean(&y)?);
        let squares: f64 = x.iter().map(|x| (x - mean_x).powi(2)).sum();
        let products: f64 = x.iter().zip(&y).map(|(x, y)| (x - mean_x) * (y - mean_y)).sum();
        let shortest = y.iter().copied().min_by(f64::total_cmp)?;
        let intercept = mean_y - products / squares * mean_x;
        Some(Fit { correlation, intercept, shortest, tasks: x.len() })
    }
}

/// What a task costs whatever it reads, in microseconds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct FixedCost {
    pub(super) least: f64,
    pub(super) likely: f64,
    pub(super) most: f64,
}

/// A straight line through the times of tasks by what they read.
struct Fit {
    correlation: f64,
    /// The time of a task that reads nothing.
    intercept: f64,
    shortest: f64,
    tasks: usize,
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Tasks of 16 s and a second for each of their MiB, which are these.
    fn sample(mib: impl Iterator<Item = u64>, noise: f64) -> Sample {
        let mut sample = Sample::default();
        for (place, mib) in mib.enumerate() {
            let off = if place % 2 == 0 { noise } else { -noise };
            sample.places.push(place);
            sample.times.push(1e6 * (16.0 + mib as f64 + off));
            sample.bytes.push(Some(mib << 20));
            sample.records.push(None);
        }
        sample
    }

    #[test]
    fn tasks_show_their_fixed_cost_if_their_times_follow_their_bytes() {
        let even = sample(1..=40, 0.5);
        let cost = even.fixed_cost(20).unwrap();
        assert!((cost.likely / 1e6 - 16.0).abs() < 0.2, "{cost:?}");
        assert!(cost.least < cost.likely && cost.likely < cost.most && cost.most <= even.median());
        // 820 MiB in five tasks are more than twice what the largest task read.
        assert_eq!(even.fixed_cost(5), None);
        assert_eq!(sample(1..=10, 0.5).fixed_cost(5), None, "too few tasks");
        assert_eq!(sample(1..=40, 60.0).fixed_cost(20), None, "other reasons for their times");
        assert_eq!(sample(std::iter::repeat_n(5, 40), 0.5).fixed_cost(20), None, "all alike");
    }
}
