//! The work of a stage's tasks: times, and the data that explain them.

use rustc_hash::FxHashMap;

use super::done::{Done, SLOWER, Start};
use super::warm_up::WarmUps;
use crate::fixed_cost::{FixedCost, TaskWork, fixed_cost};
use crate::replay::Micros;
use crate::replay::spark::change::Change;
use crate::replay::spark::plan::{Attempt, Plan};
use elephant_base::stats::descriptive::median;
use elephant_model::model::counters::Counter;
use elephant_model::model::{Application, Symbol};

/// A slow task must also take this much longer than usual, in microseconds. The driver looks for tasks to copy this
/// often (`spark.speculation.interval`), so shorter delays cannot be avoided.
const BEYOND: f64 = 100_000.0;

/// The successful attempts of a stage attempt.
#[derive(Debug)]
pub(super) struct Work {
    pub(super) done: Vec<Done>,
    /// The median time, in microseconds.
    pub(super) median: f64,
    /// The median overhead, in microseconds.
    pub(super) overhead: f64,
    by_bytes: Option<f64>,
    by_records: Option<f64>,
    /// What warming up adds to a task.
    warm_ups: WarmUps,
}

/// Whether an attempt that counts takes more than `times` times the median of its stage attempt. In most stages none
/// does, and nothing more is computed.
pub(super) fn has_longer(plan: &Plan, stage: u32, change: &Change, times: f64) -> bool {
    let Some(stage) = plan.stages.get(stage as usize) else { return false };
    let attempts = plan.attempt_places(&stage.tasks).zip(plan.attempts_of(&stage.tasks));
    let counted = attempts.filter(|(place, attempt)| attempt.succeeded() && change.keeps(*place, attempt));
    let spans: Vec<f64> = counted.map(|(place, attempt)| change.time(place, attempt).as_f64()).collect();
    let longest = spans.iter().copied().fold(0.0, f64::max);
    median(&spans).is_some_and(|median| longest > times * median)
}

impl Work {
    /// `None` if no attempt succeeded.
    pub(super) fn of(plan: &Plan, app: &Application, stage: u32, change: &Change) -> Option<Self> {
        let stage = plan.stages.get(stage as usize)?;
        let rows = &app.groups.get(stage.group?)?.attempts;
        let range = plan.attempt_places(&stage.tasks);
        let mut first_end = FxHashMap::default();
        for attempt in plan.attempts_of(&stage.tasks) {
            let end = first_end.entry(attempt.executor).or_insert(attempt.finish);
            *end = attempt.finish.min(*end);
        }
        let done = range.filter_map(|place| {
            let attempt = plan.attempts.get(place as usize)?;
            let counts = attempt.succeeded() && change.keeps(place, attempt);
            counts.then(|| {
                let row = attempt.row as usize;
                let run_time =
                    rows.millis(row, Counter::ExecutorRunTime).map_or(0.0, |time| time.as_f64() * 1000.0);
                let time = change.time(place, attempt).as_f64();
                let TaskWork { bytes, records, .. } = TaskWork::of(rows, row, time);
                Done {
                    place,
                    time,
                    overhead: (attempt.time().as_f64() - run_time).max(0.0),
                    bytes,
                    records,
                    executor: attempt.executor,
                    warms_up: started_first(&first_end, attempt).then(|| {
                        if started_first(&plan.first_ends, attempt) {
                            Start::NewExecutor
                        } else {
                            Start::NewStage
                        }
                    }),
                }
            })
        });
        let done: Vec<Done> = done.collect();
        let middle = |value: fn(&Done) -> f64| median(&done.iter().map(value).collect::<Vec<_>>());
        let median_time = middle(|done| done.time)?;
        let overhead = middle(|done| done.overhead)?.min(median_time);
        let warm_ups = WarmUps::default();
        let mut work =
            Self { done, median: median_time, overhead, by_bytes: None, by_records: None, warm_ups };
        work.by_bytes = work.rate(|done| done.bytes);
        work.by_records = work.rate(|done| done.records);
        work.warm_ups = WarmUps::of(&work.done, |done| work.explained(done));
        Some(work)
    }

    /// The median time for a byte or a record beyond the overhead; `None` if fewer than half of the tasks read any.
    fn rate(&self, amount: impl Fn(&Done) -> f64) -> Option<f64> {
        let readers = self.done.iter().filter(|done| amount(done) > 0.0);
        if readers.clone().count() * 2 < self.done.len() {
            return None;
        }
        let beyond = readers.filter(|done| done.time > self.overhead);
        let rates: Vec<f64> = beyond.map(|done| (done.time - self.overhead) / amount(done)).collect();
        median(&rates)
    }

    /// How long a task with this much data usually takes; the median if fewer than half of the tasks read data.
    pub(super) fn expected(&self, done: &Done) -> f64 {
        let by = |rate: Option<f64>, amount: f64| rate.map(|rate| rate.mul_add(amount, self.overhead));
        let (bytes, records) = (by(self.by_bytes, done.bytes), by(self.by_records, done.records));
        match (bytes, records) {
            (Some(bytes), Some(records)) => bytes.max(records),
            (one, other) => one.or(other).unwrap_or(self.median),
        }
    }

    /// The same; not less than the median.
    pub(super) fn explained(&self, done: &Done) -> f64 {
        self.expected(done).max(self.median)
    }

    /// How long a task that is slow for its data would usually take; `None` if it is not slow.
    pub(super) fn usual_of_slow(&self, done: &Done) -> Option<f64> {
        self.usual_beside(done, (0.0, SLOWER))
    }

    /// The same; `None` also if warming up may explain the time.
    pub(super) fn usual_of_straggler(&self, done: &Done) -> Option<f64> {
        let limit = match done.warms_up {
            Some(start) => self.warm_ups.limit(start)?,
            None => (0.0, SLOWER),
        };
        self.usual_beside(done, limit)
    }

    fn usual_beside(&self, done: &Done, (warm_up, times): (f64, f64)) -> Option<f64> {
        let usual = self.explained(done) + warm_up;
        (done.time > times * usual && done.time > usual + BEYOND).then_some(usual)
    }

    /// Whether at least half of the tasks read data, so that it is known whether data explain a time.
    pub(super) const fn knows_data(&self) -> bool {
        self.by_bytes.is_some() || self.by_records.is_some()
    }

    /// Whether the time before and after the run time is at least half of the time of a task.
    pub(super) fn is_mostly_overhead(&self) -> bool {
        2.0 * self.overhead >= self.median
    }

    /// What a task costs without any data, in microseconds; `None` if it is not known well.
    pub(super) fn fixed_cost(&self) -> Option<FixedCost> {
        let task = |done: &Done| TaskWork { time: done.time, bytes: done.bytes, records: done.records };
        fixed_cost(&self.done.iter().map(task).collect::<Vec<_>>())
    }
}

/// Whether no task had ended on the executor of this one when it was launched.
fn started_first(first_ends: &FxHashMap<Option<Symbol>, Micros>, attempt: &Attempt) -> bool {
    first_ends.get(&attempt.executor).is_none_or(|end| attempt.launch < *end)
}

/// A time as a span.
pub(super) fn span(micros: f64) -> Micros {
    Micros::from_f64(micros)
}
