//! Measurements of a stage: run times, data and failures of its tasks.

use rustc_hash::FxHashMap;

use elephant_base::stats::median;
use elephant_base::units::{Bytes, Millis, Timestamp};
use elephant_model::diagnosis::classify;
use elephant_model::model::counters::{Counter, CounterMask};
use elephant_model::model::spark::Stage;
use elephant_model::model::table::{EndReason, Outcome, TaskGroup, TimePoint};
use elephant_model::model::{Application, Symbol};
use elephant_rule::finding::Phrase;

/// An executor fills all its cores within this time, so tasks launched by then are its first.
const FRESH: Millis = Millis::from_secs(1);

/// The score counts at most this many times the logged tasks: a failed stage did not launch all its tasks.
const MAX_SCORED_RATIO: u64 = 10;

/// The number of tasks for the score of a stage: its announced tasks, limited by the logged ones.
pub(crate) fn scored_tasks(stage: &Stage, group: &TaskGroup) -> u64 {
    let shown = group.tasks.len() as u64;
    stage.announced_tasks.unwrap_or_default().clamp(shown, shown.saturating_mul(MAX_SCORED_RATIO))
}

/// All counters that the figures are computed from.
pub(crate) const READ: CounterMask = CounterMask::of(&[
    Counter::ExecutorRunTime,
    Counter::GcTimeMillis,
    Counter::MemoryBytesSpilled,
    Counter::InputBytes,
    Counter::ShuffleRemoteBytesRead,
    Counter::ShuffleLocalBytesRead,
    Counter::ShuffleBytesWritten,
    Counter::OutputBytes,
]);

/// The measurements of a stage attempt. Medians and maxima are over successful attempts, sums over all.
pub(crate) struct Figures {
    /// The number of tasks when the stage was submitted.
    pub(crate) tasks: u64,
    /// The number of tasks for the score.
    pub(crate) scored: u64,
    pub(crate) stage_time: Option<Millis>,
    pub(crate) run_time: Option<RunTimes>,
    pub(crate) slowest: Slowest,
    /// Spill, input, shuffle read, shuffle write and output, if tasks report them.
    pub(crate) flows: Vec<Flow>,
    /// Whether the bytes that some task read or wrote, other than spill, are unreadable.
    pub(crate) moved_is_unreadable: bool,
    /// The number of failed attempts.
    pub(crate) failed: u64,
    /// Failed attempts whose JVM ran out of memory.
    pub(crate) out_of_memory: u64,
    /// Those of them whose heap was full: direct buffers and classes have limits of their own.
    pub(crate) heap_full: u64,
    /// Failed attempts whose container was killed because of memory.
    pub(crate) over_memory: u64,
}

/// Run times of the successful tasks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct RunTimes {
    pub(crate) median: Millis,
    pub(crate) longest: Millis,
}

impl RunTimes {
    /// The longest as a multiple of the median.
    pub(crate) fn ratio(self) -> f64 {
        self.longest.as_f64() / self.median.as_f64()
    }

    /// The longest minus the median.
    pub(crate) fn gap(self) -> Millis {
        Millis::new(self.longest.get().saturating_sub(self.median.get()))
    }
}

/// The task with the longest run time.
#[derive(Debug, Clone, Default)]
pub(crate) struct Slowest {
    pub(crate) executor: Option<String>,
    pub(crate) host: Option<String>,
    pub(crate) gc: Option<Millis>,
    /// Whether it is one of its executor's first tasks.
    pub(crate) first_on_executor: bool,
}

/// The kinds of data that tasks read and write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FlowKind {
    Spill,
    Input,
    ShuffleRead,
    ShuffleWrite,
    Output,
}

impl FlowKind {
    const ALL: [Self; 5] = [Self::Spill, Self::Input, Self::ShuffleRead, Self::ShuffleWrite, Self::Output];

    /// What a task does with this many bytes.
    pub(crate) fn does(self, bytes: Bytes) -> Phrase {
        let template = match self {
            Self::Spill => "spills {bytes}",
            Self::Input => "reads {bytes}",
            Self::ShuffleRead => "reads {bytes} of shuffle data",
            Self::ShuffleWrite => "writes {bytes} of shuffle data",
            Self::Output => "writes {bytes}",
        };
        Phrase::new(template, &[("bytes", &bytes)])
    }

    /// The counters that add up to it.
    const fn counters(self) -> &'static [Counter] {
        match self {
            Self::Spill => &[Counter::MemoryBytesSpilled],
            Self::Input => &[Counter::InputBytes],
            Self::ShuffleRead => &[Counter::ShuffleRemoteBytesRead, Counter::ShuffleLocalBytesRead],
            Self::ShuffleWrite => &[Counter::ShuffleBytesWritten],
            Self::Output => &[Counter::OutputBytes],
        }
    }

    fn of(self, group: &TaskGroup, row: usize) -> Option<u64> {
        group.attempts.total(row, self.counters())
    }

    /// Whether it is unreadable in some task.
    fn is_unread(self, group: &TaskGroup) -> bool {
        group.attempts.any_unreadable().has_any(self.counters())
    }
}

/// Bytes of one kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Flow {
    pub(crate) kind: FlowKind,
    pub(crate) total: Bytes,
    pub(crate) median: Bytes,
    pub(crate) of_slowest: Bytes,
    /// The most bytes of any task.
    pub(crate) largest: Bytes,
}

impl Flow {
    /// The bytes of the slowest task as a multiple of the median.
    pub(crate) fn ratio(self) -> f64 {
        self.of_slowest.as_f64() / self.median.as_f64()
    }

    fn of(kind: FlowKind, group: &TaskGroup, winners: &[usize], slowest: Option<usize>) -> Option<Self> {
        let total = total(kind, group)?;
        if total == Bytes::default() {
            return Some(Self { kind, total, median: total, of_slowest: total, largest: total });
        }
        let of = |row: &usize| i64::try_from(kind.of(group, *row)?).ok();
        let values: Vec<i64> = winners.iter().filter_map(of).collect();
        let middle = median(&values).and_then(|value| u64::try_from(value).ok());
        Some(Self {
            kind,
            total,
            median: Bytes::new(middle.unwrap_or(0)),
            largest: Bytes::new(values.iter().max().and_then(|&most| u64::try_from(most).ok()).unwrap_or(0)),
            of_slowest: Bytes::new(slowest.and_then(|row| kind.of(group, row)).unwrap_or(0)),
        })
    }
}

/// The total of all attempts of a group; `None` if one is unreadable.
fn total(kind: FlowKind, group: &TaskGroup) -> Option<Bytes> {
    group.attempts.sum(kind.counters()).map(Bytes::new)
}

/// Bytes that all attempts of a group spilled from memory.
pub(crate) fn spilled(group: &TaskGroup) -> Option<Bytes> {
    total(FlowKind::Spill, group)
}

impl Figures {
    pub(crate) fn of(app: &Application, stage: &Stage, group: &TaskGroup) -> Self {
        let winners: Vec<usize> = group.winners().collect();
        let times: Vec<(u64, usize)> =
            winners.iter().filter_map(|&row| Some((run_time(group, row)?.get(), row))).collect();
        let slowest = times.iter().max_by_key(|(time, row)| (*time, std::cmp::Reverse(*row))).copied();
        let count = |wanted: fn(Option<EndReason>) -> bool| {
            let failed =
                (0..group.attempts.len()).filter(|&row| group.attempts.outcome(row) == Outcome::Failed);
            failed.filter(|&row| wanted(group.attempts.end_reason(row))).count() as u64
        };
        let flow = |kind| Flow::of(kind, group, &winners, slowest.map(|(_, row)| row));
        Self {
            tasks: stage.announced_tasks.unwrap_or_default().max(group.tasks.len() as u64),
            scored: scored_tasks(stage, group),
            stage_time: stage.duration(),
            run_time: run_times(&times),
            slowest: slowest.map(|(_, row)| Slowest::of(app, group, row)).unwrap_or_default(),
            flows: FlowKind::ALL.into_iter().filter_map(flow).collect(),
            moved_is_unreadable: FlowKind::ALL
                .into_iter()
                .any(|kind| kind != FlowKind::Spill && kind.is_unread(group)),
            failed: count(|_| true),
            out_of_memory: count(|reason| reason == Some(EndReason::OutOfMemory)),
            heap_full: with_full_heap(app, group),
            over_memory: count(|reason| reason == Some(EndReason::ContainerOverMemory)),
        }
    }

    pub(crate) fn flow(&self, kind: FlowKind) -> Option<Flow> {
        self.flows.iter().find(|flow| flow.kind == kind).copied()
    }

    /// Bytes spilled from memory by all tasks.
    pub(crate) fn spilled(&self) -> Option<Bytes> {
        self.flow(FlowKind::Spill).map(|flow| flow.total)
    }

    /// The largest total of what tasks read and wrote, other than spill; `None` if one is unreadable.
    pub(crate) fn largest_flow(&self) -> Option<Bytes> {
        if self.moved_is_unreadable {
            return None;
        }
        self.flows.iter().filter(|flow| flow.kind != FlowKind::Spill).map(|flow| flow.total).max()
    }

    /// Whether shuffle partitions, rather than input files, determine the number of tasks.
    pub(crate) fn reads_shuffle_only(&self) -> bool {
        let some = |kind| self.flow(kind).is_some_and(|flow| flow.total > Bytes::default());
        some(FlowKind::ShuffleRead) && !some(FlowKind::Input)
    }
}

/// Failed attempts that ran out of memory, as far as their messages do not name memory outside the heap.
fn with_full_heap(app: &Application, group: &TaskGroup) -> u64 {
    let attempts = &group.attempts;
    let ran_out = |row: &usize| {
        attempts.outcome(*row) == Outcome::Failed && attempts.end_reason(*row) == Some(EndReason::OutOfMemory)
    };
    let rows: Vec<usize> = (0..attempts.len()).filter(ran_out).collect();
    if rows.is_empty() {
        return 0;
    }
    let texts: FxHashMap<usize, Symbol> =
        attempts.diagnostics().iter().map(|&(row, text)| (row as usize, text)).collect();
    // Attempts mostly share a message.
    let mut known: FxHashMap<Symbol, bool> = FxHashMap::default();
    let is_of_heap = |row: &usize| {
        let Some(&text) = texts.get(row) else { return true };
        *known.entry(text).or_insert_with(|| {
            let told = app.strings.get(text).and_then(classify);
            told.is_none_or(|told| !told.kind.is_outside_the_heap())
        })
    };
    rows.iter().map(is_of_heap).filter(|of_heap| *of_heap).count() as u64
}

impl Slowest {
    fn of(app: &Application, group: &TaskGroup, row: usize) -> Self {
        let attempts = &group.attempts;
        let executor = attempts.executor(row).and_then(|id| app.strings.get(id));
        let start = attempts.time(row, TimePoint::Start);
        let worker = app.spark.iter().flat_map(|spark| spark.workers());
        let fresh = |first: Timestamp| start.is_some_and(|start| first <= start && start <= first + FRESH);
        let first = worker
            .filter(|worker| Some(worker.id.as_str()) == executor)
            .any(|worker| worker.totals.first_task_at.is_some_and(fresh));
        Self {
            executor: executor.map(str::to_owned),
            host: attempts.node(row).and_then(|host| app.strings.get(host)).map(str::to_owned),
            gc: attempts.millis(row, Counter::GcTimeMillis),
            first_on_executor: first,
        }
    }
}

/// "Executor Run Time", or the time from launch to end if the event log lacks it.
fn run_time(group: &TaskGroup, row: usize) -> Option<Millis> {
    group.attempts.millis(row, Counter::ExecutorRunTime).or_else(|| group.attempts.run_time(row))
}

fn run_times(times: &[(u64, usize)]) -> Option<RunTimes> {
    let values: Vec<i64> = times.iter().filter_map(|(time, _)| i64::try_from(*time).ok()).collect();
    let middle = u64::try_from(median(&values)?).ok()?;
    let longest = times.iter().map(|(time, _)| *time).max()?;
    Some(RunTimes { median: Millis::new(middle), longest: Millis::new(longest) })
}
