//! Sums over the tasks of each executor.

use std::collections::hash_map::Entry;

use rustc_hash::FxHashMap;

use super::build::StageRecord;
use elephant_base::units::{Bytes, Millis};
use elephant_model::model::counters::Counter;
use elephant_model::model::spark::{Executor, ExecutorTotals, Rare};
use elephant_model::model::table::{Attempts, Outcome, TimePoint};
use elephant_model::model::{Interner, Symbol};

/// The places of executors by their ids.
#[derive(Default)]
struct Lives {
    /// The first one of each id: there may be a million, and few ids are used again.
    first: FxHashMap<Symbol, u32>,
    /// All of those ids that were used again.
    again: FxHashMap<Symbol, Vec<u32>>,
}

impl Lives {
    fn of(executors: &[Executor], strings: &Interner) -> Self {
        let mut lives = Self::default();
        for (place, executor) in (0..).zip(executors) {
            let Some(symbol) = strings.find(&executor.id) else { continue };
            match lives.first.entry(symbol) {
                Entry::Vacant(vacant) => drop(vacant.insert(place)),
                Entry::Occupied(first) => {
                    lives.again.entry(symbol).or_insert_with(|| vec![*first.get()]).push(place);
                }
            }
        }
        lives
    }

    /// The place of the executor that ran an attempt.
    fn place(&self, executors: &[Executor], attempts: &Attempts, row: usize) -> Option<u32> {
        let places = self.places(attempts.executor(row)?)?;
        let [place] = places else {
            let launched = attempts.time(row, TimePoint::Start);
            let alive = |place: &&u32| {
                let removed = executors.get(**place as usize).and_then(|executor| executor.removed_at);
                removed.is_none_or(|removed| launched.is_none_or(|launched| launched <= removed))
            };
            return places.iter().find(alive).or(places.last()).copied();
        };
        Some(*place)
    }

    /// In the order of their starts.
    fn places(&self, symbol: Symbol) -> Option<&[u32]> {
        let again = self.again.get(&symbol).map(Vec::as_slice);
        again.or_else(|| self.first.get(&symbol).map(std::slice::from_ref))
    }
}

/// Adds every attempt to its executor. If an id was used again, an attempt belongs to the executor that was
/// alive at its launch.
pub(super) fn sum_up(stages: &[StageRecord], executors: &mut [Executor], strings: &Interner) {
    let lives = Lives::of(executors, strings);
    let mut cpu_nanos = vec![0; executors.len()];
    for record in stages {
        let attempts = &record.group.attempts;
        let places: Vec<Option<u32>> =
            (0..attempts.len()).map(|row| lives.place(executors, attempts, row)).collect();
        let place = |row: usize| places.get(row).copied().flatten().map(|place| place as usize);
        for row in 0..attempts.len() {
            if let Some(executor) = place(row).and_then(|place| executors.get_mut(place)) {
                add(&mut executor.totals, attempts, row);
            }
        }
        add_counters(attempts, |row, add| {
            if let Some(executor) = place(row).and_then(|place| executors.get_mut(place)) {
                add(&mut executor.totals);
            }
        });
        attempts.each_nanos(Counter::CpuMilliseconds, |row, nanos| {
            if let Some(sum) = place(row).and_then(|place| cpu_nanos.get_mut(place)) {
                *sum += nanos;
            }
        });
    }
    for (executor, cpu_nanos) in executors.iter_mut().zip(cpu_nanos) {
        if executor.totals.cpu_time.is_some() {
            executor.totals.cpu_time = Some(Millis::from_nanos(cpu_nanos));
        }
        storage_from_metrics(executor);
    }
}

fn add(totals: &mut ExecutorTotals, attempts: &Attempts, row: usize) {
    let start = attempts.time(row, TimePoint::Start);
    let finish = attempts.time(row, TimePoint::Finish);
    totals.first_task_at = match (totals.first_task_at, start) {
        (Some(known), Some(start)) => Some(known.min(start)),
        (known, start) => known.or(start),
    };
    totals.last_task_at = totals.last_task_at.max(finish);
    totals.tasks += 1;
    totals.unreadable.insert_all(attempts.unreadable(row));
    match attempts.outcome(row) {
        Outcome::Succeeded => totals.succeeded += 1,
        Outcome::Failed => totals.failed += 1,
        Outcome::Killed => totals.killed += 1,
        Outcome::Unfinished => {}
    }
    raise(&mut totals.task_time, attempts.run_time(row));
}

/// Passes what each counter of an attempt adds to the sums of its executor, counter after counter.
fn add_counters(attempts: &Attempts, mut add: impl FnMut(usize, &dyn Fn(&mut ExecutorTotals))) {
    let mut millis = |counter, sum: fn(&mut ExecutorTotals) -> &mut Option<Millis>| {
        attempts.each_count(counter, |row, value| {
            add(row, &|totals| raise(sum(totals), Some(Millis::new(value))));
        });
    };
    millis(Counter::ExecutorRunTime, |totals| &mut totals.run_time);
    millis(Counter::CpuMilliseconds, |totals| &mut totals.cpu_time);
    millis(Counter::GcTimeMillis, |totals| &mut totals.gc_time);
    let mut bytes = |counter, sum: fn(&mut ExecutorTotals) -> &mut Option<Bytes>| {
        attempts.each_count(counter, |row, value| {
            add(row, &|totals| raise(sum(totals), Some(Bytes::new(value))));
        });
    };
    bytes(Counter::InputBytes, |totals| &mut totals.input);
    bytes(Counter::OutputBytes, |totals| &mut totals.output);
    bytes(Counter::ShuffleRemoteBytesRead, |totals| &mut totals.shuffle_read);
    bytes(Counter::ShuffleLocalBytesRead, |totals| &mut totals.shuffle_read);
    bytes(Counter::ShuffleBytesWritten, |totals| &mut totals.shuffle_write);
    bytes(Counter::MemoryBytesSpilled, |totals| &mut totals.memory_spilled);
    bytes(Counter::DiskBytesSpilled, |totals| &mut totals.disk_spilled);
}

fn raise<T: Copy + std::ops::Add<Output = T>>(sum: &mut Option<T>, part: Option<T>) {
    if let Some(part) = part {
        *sum = Some(sum.map_or(part, |sum| sum + part));
    }
}

/// A sum over an unreadable value is unknown.
pub(super) fn drop_unreadable_sums(totals: &mut Rare<ExecutorTotals>) {
    let unreadable = totals.unreadable;
    if unreadable.is_empty() {
        return;
    }
    let totals: &mut ExecutorTotals = totals;
    let times = [
        (&mut totals.run_time, Counter::ExecutorRunTime),
        (&mut totals.cpu_time, Counter::CpuMilliseconds),
        (&mut totals.gc_time, Counter::GcTimeMillis),
    ];
    for (sum, _) in times.into_iter().filter(|(_, counter)| unreadable.has(*counter)) {
        *sum = None;
    }
    let sizes = [
        (&mut totals.input, Counter::InputBytes),
        (&mut totals.output, Counter::OutputBytes),
        (&mut totals.shuffle_write, Counter::ShuffleBytesWritten),
        (&mut totals.memory_spilled, Counter::MemoryBytesSpilled),
        (&mut totals.disk_spilled, Counter::DiskBytesSpilled),
    ];
    for (sum, _) in sizes.into_iter().filter(|(_, counter)| unreadable.has(*counter)) {
        *sum = None;
    }
    if unreadable.has_any(&[Counter::ShuffleRemoteBytesRead, Counter::ShuffleLocalBytesRead]) {
        totals.shuffle_read = None;
    }
}

/// Since Spark 3.0, executors report their storage memory themselves.
fn storage_from_metrics(executor: &mut Executor) {
    let peak = executor.peaks.storage();
    if peak > executor.storage.peak_used {
        executor.storage.peak_used = peak;
    }
}

/// Merges two records of the same process under different names.
pub(super) fn merge(mut one: Executor, other: Executor) -> Executor {
    one.host = one.host.or(other.host);
    one.cores = one.cores.or(other.cores);
    if one.resources.is_empty() {
        one.resources = other.resources;
    }
    one.resource_profile = one.resource_profile.or(other.resource_profile);
    one.added_at = one.added_at.into_iter().chain(other.added_at).min();
    one.removed_at = one.removed_at.or(other.removed_at);
    one.removed_reason = one.removed_reason.or(other.removed_reason);
    one.exclusions += other.exclusions;
    one.failures_before_exclusion = one.failures_before_exclusion.max(other.failures_before_exclusion);
    one.storage.total = one.storage.total.or(other.storage.total);
    one.storage.peak_used = one.storage.peak_used.max(other.storage.peak_used);
    one.peaks.raise_all(&other.peaks);
    let (mine, theirs) = (&*one.totals, &*other.totals);
    let millis = |a: Option<Millis>, b: Option<Millis>| a.into_iter().chain(b).reduce(|a, b| a + b);
    let bytes = |a: Option<Bytes>, b: Option<Bytes>| a.into_iter().chain(b).reduce(|a, b| a + b);
    let mut totals = ExecutorTotals {
        tasks: mine.tasks + theirs.tasks,
        succeeded: mine.succeeded + theirs.succeeded,
        failed: mine.failed + theirs.failed,
        killed: mine.killed + theirs.killed,
        first_task_at: mine.first_task_at.into_iter().chain(theirs.first_task_at).min(),
        last_task_at: mine.last_task_at.max(theirs.last_task_at),
        task_time: millis(mine.task_time, theirs.task_time),
        run_time: millis(mine.run_time, theirs.run_time),
        cpu_time: millis(mine.cpu_time, theirs.cpu_time),
        gc_time: millis(mine.gc_time, theirs.gc_time),
        input: bytes(mine.input, theirs.input),
        output: bytes(mine.output, theirs.output),
        shuffle_read: bytes(mine.shuffle_read, theirs.shuffle_read),
        shuffle_write: bytes(mine.shuffle_write, theirs.shuffle_write),
        memory_spilled: bytes(mine.memory_spilled, theirs.memory_spilled),
        disk_spilled: bytes(mine.disk_spilled, theirs.disk_spilled),
        unreadable: mine.unreadable,
    };
    totals.unreadable.insert_all(theirs.unreadable);
    one.totals = totals.into();
    one
}
