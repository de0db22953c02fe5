//! The attempts of a group: one row per attempt, one column per fact and counter.

mod fill;
mod label;
mod nanos;
mod others;
mod reorder;
mod run_times;

use std::sync::LazyLock;

use self::label::Label;
use self::nanos::COLUMNS;
use self::others::Others;
use self::run_times::RunTimes;
use super::columns::Columns;
use super::rows::{Content, Rows};
use super::{EndReason, Locality, Outcome, TimePoint};
pub use nanos::NANOS_PER_MILLI;
use rustc_hash::FxHashMap;

use crate::model::counters::{Counter, CounterMask};
use crate::model::{ProgressLog, ProgressSplits, Symbol};
use elephant_base::units::{Bytes, Millis, Timestamp};

/// Maximum plausible counter value: 64 PiB, or two years in nanoseconds. Damaged numbers are mostly larger.
pub const MAX_COUNTER_VALUE: i64 = 1 << 56;

/// The attempts of a group, one row each, in the order in which the log first names them.
#[derive(Debug, Clone, Default)]
pub struct Attempts {
    rows: Rows<AttemptRows>,
}

/// The rows of a table that has some.
#[derive(Debug, Clone, Default)]
struct AttemptRows {
    task: Vec<u32>,
    outcomes: Vec<Outcome>,
    times: Columns<{ TimePoint::COUNT }>,
    /// From the end of building until a time changes: while a parser asks and sets in turn, each change would cost a
    /// pass over all rows.
    run_times: Option<RunTimes>,
    labels: Columns<{ Label::COUNT }>,
    /// The counters, and what nanoseconds add to those that are logged in them.
    counters: Columns<COLUMNS>,
    others: Others,
    diagnostics: Vec<(u32, Symbol)>,
    progress: ProgressLog,
    /// Counters that are present but cannot be read, by row.
    unreadable: FxHashMap<u32, CounterMask>,
    /// The union of `unreadable` over all rows.
    any_unreadable: CounterMask,
}

impl Content for AttemptRows {
    fn empty() -> &'static Self {
        static EMPTY: LazyLock<AttemptRows> = LazyLock::new(AttemptRows::default);
        &EMPTY
    }
}

impl Attempts {
    /// Number of attempts.
    #[must_use]
    #[inline]
    pub fn len(&self) -> usize {
        self.rows.task.len()
    }

    /// Whether there are no attempts.
    #[must_use]
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.rows.task.is_empty()
    }

    /// Prepares an empty table for this many attempts.
    #[doc(hidden)]
    pub fn expect(&mut self, attempts: usize) {
        self.rows.times.expect(attempts);
        self.rows.labels.expect(attempts);
        self.rows.counters.expect(attempts);
    }

    /// Adds an attempt of the task in row `task` and returns the attempt's row.
    #[doc(hidden)]
    pub fn push(&mut self, task: u32, number: u32) -> usize {
        let row = self.rows.task.len();
        self.rows.task.push(task);
        self.rows.outcomes.push(Outcome::Unfinished);
        self.rows.run_times = None;
        self.set_label(Label::Number, row, Some(i64::from(number)));
        row
    }

    /// The row of the attempt's task.
    #[must_use]
    #[inline]
    pub fn task(&self, row: usize) -> Option<usize> {
        self.rows.task.get(row).map(|&t| t as usize)
    }

    /// The attempt's number within its task, the last part of its id.
    #[must_use]
    #[inline]
    pub fn number(&self, row: usize) -> Option<u32> {
        self.label(Label::Number, row).and_then(|n| u32::try_from(n).ok())
    }

    /// How the attempt ended.
    #[must_use]
    #[inline]
    pub fn outcome(&self, row: usize) -> Outcome {
        self.rows.outcomes.get(row).copied().unwrap_or_default()
    }

    /// The time of a point in the attempt's life.
    #[must_use]
    #[inline]
    pub fn time(&self, row: usize, point: TimePoint) -> Option<Timestamp> {
        self.rows.times.get(point as usize, row).map(Timestamp::from_millis)
    }

    /// The time between two points; `None` if either is unknown or the clock ran backwards.
    #[must_use]
    #[doc(hidden)]
    #[inline]
    pub fn span(&self, row: usize, from: TimePoint, to: TimePoint) -> Option<Millis> {
        Millis::between(self.time(row, from)?, self.time(row, to)?)
    }

    /// The time from launch to end.
    #[must_use]
    #[inline]
    pub fn run_time(&self, row: usize) -> Option<Millis> {
        let known = self.rows.run_times.as_ref().and_then(|run_times| run_times.get(row));
        known.or_else(|| self.span(row, TimePoint::Start, TimePoint::Finish))
    }

    /// When the attempt had done its work and gave its slot back: the end, or the moment from which a finished result only
    /// waited for the driver to fetch it.
    #[must_use]
    #[doc(hidden)]
    #[inline]
    pub fn work_end(&self, row: usize) -> Option<Timestamp> {
        let finish = self.time(row, TimePoint::Finish)?;
        let fetched = self.time(row, TimePoint::GettingResult);
        let launch = self.time(row, TimePoint::Start);
        Some(fetched.filter(|at| *at <= finish && Some(*at) >= launch).unwrap_or(finish))
    }

    /// The host that ran the attempt.
    #[must_use]
    #[inline]
    pub fn node(&self, row: usize) -> Option<Symbol> {
        self.symbol(Label::Node, row)
    }

    /// The rack of its host.
    #[must_use]
    #[doc(hidden)]
    pub fn rack(&self, row: usize) -> Option<Symbol> {
        self.symbol(Label::Rack, row)
    }

    /// How close the attempt ran to its input.
    #[must_use]
    #[doc(hidden)]
    pub fn locality(&self, row: usize) -> Option<Locality> {
        match self.label(Label::Locality, row)? {
            0 => Some(Locality::NodeLocal),
            1 => Some(Locality::RackLocal),
            3 => Some(Locality::ProcessLocal),
            4 => Some(Locality::NoPreference),
            _ => Some(Locality::OffSwitch),
        }
    }

    /// The executor that ran the attempt (Spark), by its id.
    #[must_use]
    #[inline]
    pub fn executor(&self, row: usize) -> Option<Symbol> {
        self.symbol(Label::Executor, row)
    }

    /// The attempt's own numeric id ("Task ID" in Spark).
    #[must_use]
    #[doc(hidden)]
    #[inline]
    pub fn id(&self, row: usize) -> Option<u64> {
        self.label(Label::Id, row).and_then(|id| u64::try_from(id).ok())
    }

    /// Why the attempt ended, if the engine says so.
    #[must_use]
    pub fn end_reason(&self, row: usize) -> Option<EndReason> {
        let code = self.label(Label::Reason, row)?;
        EndReason::ALL.into_iter().find(|&reason| reason as i64 == code)
    }

    /// Whether the attempt was launched while another attempt of its task was running.
    #[must_use]
    #[inline]
    pub fn is_speculative(&self, row: usize) -> Option<bool> {
        self.label(Label::Speculative, row).map(|flag| flag != 0)
    }

    /// The value of a counter; negative if the log says so.
    #[must_use]
    #[doc(hidden)]
    #[inline]
    pub fn counter(&self, row: usize, counter: Counter) -> Option<i64> {
        self.rows.counters.get(counter.index(), row)
    }

    /// The value of a counter that cannot be negative; `None` if it is.
    #[must_use]
    #[inline]
    pub fn count(&self, row: usize, counter: Counter) -> Option<u64> {
        self.counter(row, counter).and_then(|value| u64::try_from(value).ok())
    }

    /// The value of a counter in bytes.
    #[must_use]
    #[inline]
    pub fn bytes(&self, row: usize, counter: Counter) -> Option<Bytes> {
        self.count(row, counter).map(Bytes::new)
    }

    /// The value of a counter in milliseconds.
    #[must_use]
    #[inline]
    pub fn millis(&self, row: usize, counter: Counter) -> Option<Millis> {
        self.count(row, counter).map(Millis::new)
    }

    /// The counters of an attempt that are present but cannot be read: not a number, negative, or impossibly
    /// large.
    #[must_use]
    #[doc(hidden)]
    #[inline]
    pub fn unreadable(&self, row: usize) -> CounterMask {
        if self.rows.any_unreadable.is_empty() {
            return CounterMask::default();
        }
        let row = u32::try_from(row).ok();
        row.and_then(|row| self.rows.unreadable.get(&row)).copied().unwrap_or_default()
    }

    /// The counters that cannot be read for some attempt; their sums are unknown.
    #[must_use]
    #[doc(hidden)]
    pub fn any_unreadable(&self) -> CounterMask {
        self.rows.any_unreadable
    }

    /// Number of attempts for which one of these counters cannot be read.
    #[must_use]
    pub(crate) fn count_unreadable(&self, counters: CounterMask) -> u64 {
        self.rows.unreadable.values().filter(|unreadable| !unreadable.and(counters).is_empty()).count() as u64
    }

    /// Passes each value of a counter with its row, in order: less work than a question for each row.
    #[doc(hidden)]
    pub fn each_count(&self, counter: Counter, mut take: impl FnMut(usize, u64)) {
        self.rows.counters.each(counter.index(), |row, value| {
            if let Ok(value) = u64::try_from(value) {
                take(row, value);
            }
        });
    }

    /// The sum of these counters of an attempt; `None` if it has none of them, or one cannot be read.
    #[must_use]
    #[doc(hidden)]
    #[inline]
    pub fn total(&self, row: usize, counters: &[Counter]) -> Option<u64> {
        if self.unreadable(row).has_any(counters) {
            return None;
        }
        let known = counters.iter().filter_map(|&counter| self.count(row, counter));
        known.reduce(u64::saturating_add)
    }

    /// The sum of these counters over all attempts; `None` if no attempt has one of them, or one of any
    /// attempt cannot be read.
    #[must_use]
    #[doc(hidden)]
    pub fn sum(&self, counters: &[Counter]) -> Option<u64> {
        if self.rows.any_unreadable.has_any(counters) {
            return None;
        }
        let sums = counters.iter().filter_map(|&counter| self.sum_of_values(counter));
        sums.reduce(|sum, of_counter| sum + of_counter).map(|sum| u64::try_from(sum).unwrap_or(u64::MAX))
    }

    /// The sum of a counter over all attempts, whether or not it can be read for all of them; `None` if none has it.
    #[must_use]
    #[doc(hidden)]
    pub fn sum_of_values(&self, counter: Counter) -> Option<i128> {
        let millis = self.rows.counters.sum(counter.index())?;
        Some(millis + self.rounded_beyond(counter))
    }

    /// Whether an attempt has any typed counter.
    #[must_use]
    #[doc(hidden)]
    pub fn has_counters(&self, row: usize) -> bool {
        self.rows.counters.any(row)
    }

    /// Diagnostics of unsuccessful attempts, by row.
    #[must_use]
    #[doc(hidden)]
    pub fn diagnostics(&self) -> &[(u32, Symbol)] {
        &self.rows.diagnostics
    }

    /// The attempt's progress arrays.
    #[must_use]
    #[doc(hidden)]
    pub fn progress(&self, row: usize) -> Option<ProgressSplits> {
        self.rows.progress.get(row)
    }

    #[inline]
    fn label(&self, label: Label, row: usize) -> Option<i64> {
        self.rows.labels.get(label as usize, row)
    }

    #[inline]
    fn symbol(&self, label: Label, row: usize) -> Option<Symbol> {
        self.label(label, row).and_then(|s| u32::try_from(s).ok()).map(Symbol::from_index)
    }

    fn set_label(&mut self, label: Label, row: usize, value: Option<i64>) {
        self.rows.labels.set(label as usize, row, value);
    }

    pub(super) fn shrink(&mut self) {
        if self.is_empty() {
            return;
        }
        self.rows.times.shrink();
        self.rows.run_times = (self.len() > RunTimes::TOO_FEW).then(|| RunTimes::of(self));
        self.rows.labels.shrink();
        self.rows.counters.shrink();
        self.rows.task.shrink_to_fit();
        self.rows.outcomes.shrink_to_fit();
        self.rows.others.shrink();
        self.rows.progress.shrink();
        self.rows.unreadable.shrink_to_fit();
    }

    /// Bytes allocated.
    pub(super) fn held(&self) -> usize {
        if self.is_empty() {
            return 0;
        }
        let rows = &*self.rows;
        size_of::<AttemptRows>()
            + rows.task.capacity() * size_of::<u32>()
            + rows.outcomes.capacity() * size_of::<Outcome>()
            + rows.times.held()
            + rows.run_times.as_ref().map_or(0, RunTimes::held)
            + rows.labels.held()
            + rows.counters.held()
            + rows.others.held()
            + rows.diagnostics.capacity() * size_of::<(u32, Symbol)>()
            + rows.progress.held()
            + rows.unreadable.capacity() * size_of::<(u32, CounterMask)>()
    }
}
