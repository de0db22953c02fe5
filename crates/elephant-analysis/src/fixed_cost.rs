//! What a task costs however little data it has, judging by the times and the data of all tasks of a stage.

use elephant_base::stats::descriptive::{mean, quantile};
use elephant_model::model::counters::Counter;
use elephant_model::model::table::Attempts;

/// The bytes that tasks of Spark read.
pub const BYTES: [Counter; 3] =
    [Counter::InputBytes, Counter::ShuffleRemoteBytesRead, Counter::ShuffleLocalBytesRead];
/// The records that they read.
pub const RECORDS: [Counter; 2] = [Counter::InputRecords, Counter::ShuffleRecordsRead];

/// A straight line through fewer tasks says nothing about a task without data.
const FEWEST: usize = 10;
/// The time of a task without data counts from this multiple of its standard error on.
const SIGNIFICANT: f64 = 2.0;
/// That standard error is at most this share of the mean time: otherwise even a time that differs from zero may be anything.
const PRECISE: f64 = 0.1;
/// The quantile of the times that no task without data exceeds.
const SHORTEST: f64 = 0.05;
/// Larger tasks may take longer for their data than the line says, because they have to spill or to sort more: this share
/// of what the line says is left at least.
const LEAST: f64 = 0.7;

/// What a task costs however little data it has, in the unit of the times.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FixedCost {
    /// At least this, if fewer tasks do the work.
    pub least: f64,
    /// What the recorded tasks say.
    pub likely: f64,
}

/// The time of a task, and what it read.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TaskWork {
    /// Its time, in any unit.
    pub time: f64,
    /// Bytes that it read.
    pub bytes: f64,
    /// Records that it read.
    pub records: f64,
}

impl TaskWork {
    /// What an attempt read in this time.
    #[must_use]
    pub fn of(attempts: &Attempts, row: usize, time: f64) -> Self {
        let amount = |counters: &[Counter]| attempts.total(row, counters).map_or(0.0, |total| total as f64);
        Self { time, bytes: amount(&BYTES), records: amount(&RECORDS) }
    }
}

/// The time of a task without any data: the intercept of the straight line through times over bytes, or over records if
/// these explain the times better, at most the time of the shortest tasks. `None` if it is not known well: a line through
/// few points, or through tasks with about as much data, hits the axis anywhere.
#[must_use]
pub fn fixed_cost(tasks: &[TaskWork]) -> Option<FixedCost> {
    if tasks.len() < FEWEST {
        return None;
    }
    let times: Vec<f64> = tasks.iter().map(|task| task.time).collect();
    let (mean_time, shortest) = (mean(&times)?, quantile(&times, SHORTEST)?);
    let lines = [Line::of(tasks, |task| task.bytes), Line::of(tasks, |task| task.records)];
    let line = lines.into_iter().flatten().min_by(|a, b| a.variance.total_cmp(&b.variance))?;
    let is_known = line.intercept > SIGNIFICANT * line.error && line.error <= PRECISE * mean_time;
    let least = LEAST * SIGNIFICANT.mul_add(-line.error, line.intercept);
    is_known.then(|| FixedCost { least: least.min(shortest), likely: line.intercept.min(shortest) })
}

/// A straight line of times over amounts that does not fall.
struct Line {
    intercept: f64,
    /// The standard error of the intercept.
    error: f64,
    /// The variance of the times beside the line.
    variance: f64,
}

impl Line {
    /// Least squares; `None` if all amounts are the same.
    fn of(tasks: &[TaskWork], amount: impl Fn(&TaskWork) -> f64) -> Option<Self> {
        let count = tasks.len() as f64;
        let mean_amount = tasks.iter().map(&amount).sum::<f64>() / count;
        let mean_time = tasks.iter().map(|task| task.time).sum::<f64>() / count;
        let squares: f64 = tasks.iter().map(|task| (amount(task) - mean_amount).powi(2)).sum();
        let products: f64 =
            tasks.iter().map(|task| (amount(task) - mean_amount) * (task.time - mean_time)).sum();
        if squares <= 0.0 {
            return None;
        }
        let slope = (products / squares).max(0.0);
        let intercept = slope.mul_add(-mean_amount, mean_time);
        let beside = |task: &TaskWork| slope.mul_add(-amount(task), task.time - intercept).powi(2);
        let variance = tasks.iter().map(beside).sum::<f64>() / (count - 2.0);
        let error = (variance * (count.recip() + mean_amount * mean_amount / squares)).sqrt();
        Some(Self { intercept, error, variance })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Tasks with these bytes and times.
    fn of_bytes(tasks: impl IntoIterator<Item = (f64, f64)>) -> Option<f64> {
        let tasks = tasks.into_iter().map(|(bytes, time)| TaskWork { time, bytes, records: 1.0 });
        Some(fixed_cost(&tasks.collect::<Vec<_>>())?.likely)
    }

    fn noise(task: i32) -> f64 {
        f64::from(task * 7 % 5 - 2) * 10.0
    }

    #[test]
    fn a_task_without_data_takes_what_a_line_through_many_different_tasks_says() {
        let line =
            |tasks: std::ops::Range<i32>| {
                of_bytes(tasks.map(|task| {
                    (f64::from(task), 10.0f64.mul_add(f64::from(task) * 10.0, 1000.0) + noise(task))
                }))
            };
        let known = line(0..40).unwrap();
        assert!((known - 1000.0).abs() < 30.0, "{known}");
        // A few tasks, or tasks with about as much data.
        assert_eq!(line(0..8), None);
        let alike = (0..20).map(|task| (1e9 + f64::from(task % 3) * 1e6, 1e6 + 2e4 * noise(task)));
        assert_eq!(of_bytes(alike), None);
    }

    #[test]
    fn a_task_without_data_takes_no_longer_than_the_shortest_ones() {
        let flat = (0..40).map(|task| (f64::from(task), if task % 10 == 0 { 900.0 } else { 1000.0 }));
        assert_eq!(of_bytes(flat), Some(900.0));
    }

    #[test]
    fn records_count_where_they_explain_more_than_bytes() {
        let task = |task: i32| TaskWork {
            time: f64::from(task).mul_add(50.0, 2000.0) + noise(task),
            bytes: f64::from(task * 13 % 40),
            records: f64::from(task),
        };
        let FixedCost { least, likely } = fixed_cost(&(0..40).map(task).collect::<Vec<_>>()).unwrap();
        assert!((likely - 2000.0).abs() < 40.0, "{likely}");
        assert!((1300.0..1420.0).contains(&least), "{least}");
    }
}
