//! Counters and run times of attempts, and how missing ones are read.

use elephant_base::stats::truncated_mean;
use elephant_base::units::{Bytes, Millis};
use elephant_model::model::Application;
use elephant_model::model::counters::{Counter, CounterMask};
use elephant_model::model::table::{TaskGroup, TaskKind};
use elephant_rule::params::choice;

choice! {
    /// How a missing counter is read.
    pub(crate) enum MissingCounters {
        /// Unknown: the task is skipped, and without any task the rule is not evaluated.
        Unknown = "unknown",
        /// Zero, as in Dr. Elephant.
        Zero = "zero",
    }
}

/// Why a rule that sums these counters cannot be evaluated: one of them is unreadable in some task.
pub(in crate::mapreduce) fn unreadable(
    app: &Application,
    kind: TaskKind,
    counters: &[Counter],
) -> Option<String> {
    let wanted = CounterMask::of(counters);
    app.unreadable_counters(|of| if of == kind { wanted } else { CounterMask::NONE })
}

/// Whether one of these counters is unreadable in some task.
pub(in crate::mapreduce) fn is_unreadable(group: &TaskGroup, counters: &[Counter]) -> bool {
    group.attempts.any_unreadable().has_any(counters)
}

/// A counter of one attempt; `missing` says how a missing one is read.
pub(crate) fn counter(
    group: &TaskGroup,
    row: usize,
    counter: Counter,
    missing: MissingCounters,
) -> Option<i64> {
    match missing {
        MissingCounters::Unknown => group.attempts.counter(row, counter).filter(|&value| value >= 0),
        MissingCounters::Zero => {
            group.attempts.has_counters(row).then(|| group.attempts.counter(row, counter).unwrap_or_default())
        }
    }
}

/// The bytes that a map task read, from all file systems except the local one.
pub(crate) fn input_bytes(group: &TaskGroup, row: usize, missing: MissingCounters) -> Option<i64> {
    match missing {
        MissingCounters::Unknown => {
            let total = group.attempts.total(row, &Counter::INPUT_BYTES);
            total.map(|bytes| i64::try_from(bytes).unwrap_or(i64::MAX))
        }
        MissingCounters::Zero => {
            // The four file systems that Dr. Elephant supports.
            let known =
                [Counter::HdfsBytesRead, Counter::S3BytesRead, Counter::S3aBytesRead, Counter::S3nBytesRead];
            let values = known.into_iter().filter_map(|c| counter(group, row, c, missing));
            values.fold(None, |sum: Option<i64>, value| Some(sum.unwrap_or_default().saturating_add(value)))
        }
    }
}

/// The mean input of the tasks that succeeded.
pub(in crate::mapreduce) fn mean_input(group: &TaskGroup) -> Option<Bytes> {
    let inputs = group.winners().filter_map(|row| input_bytes(group, row, MissingCounters::Unknown));
    truncated_mean(&inputs.collect::<Vec<_>>()).map(to_bytes)
}

/// The run time of one attempt in milliseconds.
pub(crate) fn run_time(group: &TaskGroup, row: usize) -> Option<i64> {
    group.attempts.run_time(row).and_then(|time| i64::try_from(time.get()).ok())
}

pub(crate) fn to_bytes(value: i64) -> Bytes {
    Bytes::new(u64::try_from(value).unwrap_or_default())
}

pub(crate) fn to_millis(value: i64) -> Millis {
    Millis::new(u64::try_from(value).unwrap_or_default())
}
