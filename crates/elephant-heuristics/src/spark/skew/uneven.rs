//! Measures how uneven the data of a stage's tasks is, and what that costs.

use std::cell::OnceCell;
use std::collections::BTreeSet;

use crate::spark::support::memory;
use elephant_base::stats::max_concurrent::max_concurrent;
use elephant_base::stats::median;
use elephant_base::units::{Bytes, Millis, Timestamp};
use elephant_model::model::Application;
use elephant_model::model::counters::{Counter, CounterMask};
use elephant_model::model::spark::{Executor, Spark};
use elephant_model::model::table::{TaskGroup, TimePoint};
use elephant_rule::wording::grouped;

const SHUFFLE: &[Counter] = &[Counter::ShuffleRemoteBytesRead, Counter::ShuffleLocalBytesRead];
const INPUT: &[Counter] = &[Counter::InputBytes];

/// All counters that are read.
pub(super) const COUNTERS: CounterMask = CounterMask::of(&[
    Counter::ExecutorRunTime,
    Counter::InputBytes,
    Counter::InputRecords,
    Counter::ShuffleRemoteBytesRead,
    Counter::ShuffleLocalBytesRead,
    Counter::ShuffleRecordsRead,
]);

/// What one task reads, and the median over the tasks of its stage. Input is read from files or caches; anything
/// else from shuffles.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Read {
    Bytes { input: bool, largest: Bytes, median: Bytes },
    Records { input: bool, largest: u64, median: u64 },
}

impl Read {
    pub(super) fn value(self) -> f64 {
        match self {
            Self::Bytes { largest, .. } => largest.as_f64(),
            Self::Records { largest, .. } => largest as f64,
        }
    }

    /// Infinite if the median task reads nothing.
    pub(super) fn ratio(self) -> f64 {
        match self {
            Self::Bytes { largest, median, .. } => largest.as_f64() / median.as_f64(),
            Self::Records { largest, median, .. } => largest as f64 / median as f64,
        }
    }

    pub(super) const fn is_input(self) -> bool {
        match self {
            Self::Bytes { input, .. } | Self::Records { input, .. } => input,
        }
    }

    /// What the task reads, in words.
    pub(super) fn amount(self) -> String {
        match self {
            Self::Bytes { largest, .. } => largest.to_string(),
            Self::Records { largest, .. } => grouped(i128::from(largest)),
        }
    }

    pub(super) fn median(self) -> String {
        match self {
            Self::Bytes { median, .. } => median.to_string(),
            Self::Records { median, .. } => grouped(i128::from(median)),
        }
    }
}

/// How much a task has to read for its data to matter.
#[derive(Debug, Clone, Copy)]
pub(super) struct Least {
    pub(super) bytes: f64,
    pub(super) records: f64,
}

/// The counters whose sum is an amount that tasks read from shuffles or as input. Bytes come before records, because
/// they explain more.
const AMOUNTS: [&[Counter]; 4] = [SHUFFLE, INPUT, &[Counter::ShuffleRecordsRead], &[Counter::InputRecords]];

/// What the tasks of a stage read.
pub(super) struct Reads<'g> {
    group: &'g TaskGroup,
    /// The medians of [`AMOUNTS`], computed when they are needed: they take time, and most stages need few of them.
    medians: [OnceCell<Option<u64>>; AMOUNTS.len()],
}

impl<'g> Reads<'g> {
    pub(super) fn of(group: &'g TaskGroup) -> Self {
        Self { group, medians: [const { OnceCell::new() }; AMOUNTS.len()] }
    }

    /// The amounts that a task reads, if they are at least `least`: bytes before records, and the more uneven one of
    /// shuffle and input first, because it explains more.
    pub(super) fn of_task(&self, task: usize, least: Least) -> Vec<Read> {
        let known = |[shuffle, input]: [usize; 2], least: f64| {
            let of = [(false, shuffle), (true, input)]
                .map(|(input, amount)| Some((input, self.with_median(task, amount, least)?)));
            of.into_iter().flatten()
        };
        let bytes = known([0, 1], least.bytes).map(|(input, (largest, median))| Read::Bytes {
            input,
            largest: Bytes::new(largest),
            median: Bytes::new(median),
        });
        let records = known([2, 3], least.records).map(|(input, (largest, median))| Read::Records {
            input,
            largest,
            median,
        });
        let by_ratio = |mut reads: Vec<Read>| {
            reads.sort_by(|a, b| b.ratio().total_cmp(&a.ratio()));
            reads
        };
        let mut all = by_ratio(bytes.collect());
        all.extend(by_ratio(records.collect()));
        all
    }

    fn with_median(&self, task: usize, amount: usize, least: f64) -> Option<(u64, u64)> {
        let counters = AMOUNTS.get(amount)?;
        let own = self.group.attempts.total(task, counters).filter(|own| *own as f64 >= least)?;
        let median = self.medians.get(amount)?.get_or_init(|| median_of(&values(self.group, counters)));
        Some((own, (*median)?))
    }
}

/// The bytes that this task reads of input or shuffles, and the median.
pub(super) fn bytes_of(group: &TaskGroup, task: usize, input: bool) -> Option<(Bytes, Bytes)> {
    let counters = bytes_read(input);
    let own = group.attempts.total(task, counters)?;
    Some((Bytes::new(own), Bytes::new(median_of(&values(group, counters))?)))
}

const fn bytes_read(input: bool) -> &'static [Counter] {
    if input { INPUT } else { SHUFFLE }
}

/// The task that reads most, of input or shuffles, whichever is more uneven; `None` if neither of them matters.
pub(super) fn of_fullest(group: &TaskGroup, matters: impl Fn(Bytes) -> bool) -> Option<Read> {
    let most = [false, true].into_iter().filter_map(|input| {
        let values = values(group, bytes_read(input));
        let largest = Bytes::new(u64::try_from(*values.iter().max()?).ok()?);
        Some((input, largest, values))
    });
    let most: Vec<_> = most.collect();
    if !most.iter().any(|(_, largest, _)| matters(*largest)) {
        return None;
    }
    let reads = most.into_iter().filter_map(|(input, largest, values)| {
        Some(Read::Bytes { input, largest, median: Bytes::new(median_of(&values)?) })
    });
    reads.filter(|read| read.ratio().is_finite()).max_by(|a, b| a.ratio().total_cmp(&b.ratio()))
}

/// The value of each successful attempt.
fn values(group: &TaskGroup, counters: &[Counter]) -> Vec<i64> {
    let values = group.winners().filter_map(|row| group.attempts.total(row, counters));
    values.filter_map(|value| i64::try_from(value).ok()).collect()
}

fn median_of(values: &[i64]) -> Option<u64> {
    median(values).and_then(|value| u64::try_from(value).ok())
}

/// The most bytes that any stage reads or writes; `None` if the bytes of a stage are unreadable.
pub(super) fn most_data(app: &Application) -> Option<Bytes> {
    let all = [INPUT, SHUFFLE, &[Counter::ShuffleBytesWritten], &[Counter::OutputBytes]];
    let mut most = Bytes::default();
    for group in &app.groups {
        for counters in all {
            if group.attempts.any_unreadable().has_any(counters) {
                return None;
            }
            most = most.max(group.attempts.sum(counters).map(Bytes::new).unwrap_or_default());
        }
    }
    Some(most)
}

/// The maximum number of slow tasks of a stage that are examined.
const MOST_SLOW: usize = 4;

/// Run times of the successful attempts of a stage.
#[derive(Debug, Clone, Copy)]
pub(super) struct Times {
    /// The row of the longest attempt.
    pub(super) slowest: usize,
    pub(super) longest: Millis,
    pub(super) median: Millis,
    total: Millis,
    count: u64,
}

/// The time that a stage loses because its data is uneven.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct LostTime {
    pub(super) time: Millis,
    /// The same as a share of the application's run time.
    pub(super) share: Option<f64>,
}

impl Times {
    /// `None` for fewer than two tasks.
    pub(super) fn of(group: &TaskGroup) -> Option<Self> {
        let times: Vec<(u64, usize)> =
            group.winners().filter_map(|row| Some((run_time(group, row)?.get(), row))).collect();
        let &(longest, slowest) = times.iter().max_by_key(|(time, row)| (*time, std::cmp::Reverse(*row)))?;
        let values: Vec<i64> = times.iter().filter_map(|(time, _)| i64::try_from(*time).ok()).collect();
        let median = Millis::new(median_of(&values)?);
        let total = times.iter().map(|(time, _)| Millis::new(*time)).fold(Millis::ZERO, |a, b| a + b);
        let count = times.len() as u64;
        (count > 1).then_some(Self { slowest, longest: Millis::new(longest), median, total, count })
    }

    /// The times with each slow task as the slowest in turn, the slowest first. The others take at least twice as long
    /// as the median.
    pub(super) fn of_slow(self, group: &TaskGroup) -> Vec<Self> {
        let slow = |time: Millis| time.get() >= self.median.get().saturating_mul(2);
        let times = group.winners().filter_map(|row| Some((run_time(group, row)?, row)));
        let mut others: Vec<(Millis, usize)> =
            times.filter(|&(time, row)| row != self.slowest && slow(time)).collect();
        others.sort_by_key(|(time, row)| (std::cmp::Reverse(*time), *row));
        let others = others.into_iter().take(MOST_SLOW - 1);
        let others = others.map(|(longest, slowest)| Self { slowest, longest, ..self });
        std::iter::once(self).chain(others).collect()
    }

    /// The longest as a multiple of the median.
    pub(super) fn ratio(self) -> f64 {
        self.longest.as_f64() / self.median.as_f64()
    }

    /// How much longer the slowest task takes than the mean: the stage loses no more.
    pub(super) fn beyond(self) -> Millis {
        less(self.longest, self.even(self.count))
    }

    fn even(self, parts: u64) -> Millis {
        Millis::new(self.total.get() / parts.max(1))
    }

    /// How much longer the stage takes than if its slots shared its task time evenly: at most the time for which only
    /// long tasks still ran, and at most as long as the longest task ran beyond the mean.
    pub(super) fn lost(self, app: &Application, spark: &Spark, group: &TaskGroup) -> LostTime {
        let beyond = self.beyond();
        let levelled = self.even(slots(app, spark, group).min(self.count));
        let idle = less(span(group).unwrap_or_default(), levelled);
        let time = beyond.min(idle).min(self.tail(group).unwrap_or_default());
        let whole = memory::run_time(app).filter(|whole| *whole > Millis::ZERO);
        LostTime { time, share: whole.map(|whole| (time.as_f64() / whole.as_f64()).min(1.0)) }
    }

    /// From the end of the last task of usual length to the end of the slowest; `None` if that ended first.
    fn tail(self, group: &TaskGroup) -> Option<Millis> {
        let middle = u64::midpoint(self.median.get(), self.longest.get());
        let usual =
            group.winners().filter(|&row| run_time(group, row).is_some_and(|time| time.get() <= middle));
        let last = usual.filter_map(|row| group.attempts.time(row, TimePoint::Finish)).max()?;
        Millis::between(last, group.attempts.time(self.slowest, TimePoint::Finish)?)
    }
}

fn less(a: Millis, b: Millis) -> Millis {
    Millis::new(a.get().saturating_sub(b.get()))
}

/// "Executor Run Time", or the time from launch to end if the event log lacks it.
fn run_time(group: &TaskGroup, row: usize) -> Option<Millis> {
    group.attempts.millis(row, Counter::ExecutorRunTime).or_else(|| group.attempts.run_time(row))
}

/// From the first launch to the last end of a successful attempt.
fn span(group: &TaskGroup) -> Option<Millis> {
    let first = group.winners().filter_map(|row| group.attempts.time(row, TimePoint::Start)).min()?;
    let last = group.winners().filter_map(|row| group.attempts.time(row, TimePoint::Finish)).max()?;
    Millis::between(first, last)
}

/// How many tasks of the stage ran at once: no more than its executors have slots. The driver notices an end only
/// after the next task has started, so ends follow from the run times.
fn slots(app: &Application, spark: &Spark, group: &TaskGroup) -> u64 {
    let end = |row: usize, start: Timestamp| {
        let time = run_time(group, row)?;
        Some(Timestamp::from_millis(start.as_millis().saturating_add_unsigned(time.get())))
    };
    let spans = group.winners().filter_map(|row| {
        let start = group.attempts.time(row, TimePoint::Start)?;
        Some((start, Some(end(row, start)?)))
    });
    let at_once = max_concurrent(spans).max(1);
    of_executors(app, spark, group).map_or(at_once, |slots| slots.min(at_once))
}

/// The slots of the executors that ran the stage; `None` if the cores of one are unknown.
fn of_executors(app: &Application, spark: &Spark, group: &TaskGroup) -> Option<u64> {
    let symbols: BTreeSet<_> = group.winners().filter_map(|row| group.attempts.executor(row)).collect();
    let ids = symbols.into_iter().filter_map(|symbol| app.strings.get(symbol));
    let slots = ids.map(|id| {
        // An id may be reused; the larger of its executors counts.
        let driver = Some(&spark.driver).filter(|driver| driver.id == id);
        let same = spark.executors_with_id(id).iter().chain(driver);
        let known = same.filter(|executor: &&Executor| executor.cores.is_some());
        known.map(|executor| memory::slots(app, executor)).max()
    });
    slots.sum::<Option<u64>>().filter(|&slots| slots > 0)
}
