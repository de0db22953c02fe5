//! Tasks and their attempts.

use super::held::MAP_ENTRY;
use super::{AttemptPlace, Builder, Seen, StageRecord, Symbols, moment};
use crate::spark::stage_attempt::stage_attempt;
use crate::spark::task::{TaskEnd, TaskInfo, TaskStart};
use crate::spark::task_metrics::Unit;
use elephant_base::units::{Bytes, Timestamp};
use elephant_model::model::counters::Counter;
use elephant_model::model::spark::StageAttempt;
use elephant_model::model::table::{Attempts, EndReason, MAX_COUNTER_VALUE, Outcome, TimePoint};

/// Execution memory of a task above this is not believed if it also exceeds the memory of its executor's block manager.
const LARGE_HEAP: Bytes = Bytes::from_mib(1 << 20);

impl Builder {
    pub(super) fn task_start(&mut self, start: &TaskStart, symbols: &Symbols<'_>) {
        let place = stage_attempt(start.stage, start.stage_attempt);
        self.attempt(place, &start.info, symbols);
        if !self.without_start.is_empty()
            && let Some(id) = start.info.id.and_then(|id| u64::try_from(id).ok())
        {
            self.without_start.remove(&id);
        }
    }

    /// The attempt with a task id, added if new; and whether it is new.
    fn attempt(
        &mut self,
        stage: Option<StageAttempt>,
        info: &TaskInfo,
        symbols: &Symbols<'_>,
    ) -> Option<(AttemptPlace, bool)> {
        let known = info.id.and_then(|id| u64::try_from(id).ok());
        if let Some(place) = known.and_then(|id| self.attempts.get(id)) {
            return Some((place, false));
        }
        let index = info.index.and_then(|index| u32::try_from(index).ok());
        let (Some(id), Some(stage), Some(index)) = (known, stage, index) else {
            self.seen.unusable_tasks += 1;
            return None;
        };
        if !self.limits.has_room(self.attempts_held) {
            self.seen.beyond_limit.attempts += 1;
            return None;
        }
        let stage = self.stage_place(stage)?;
        let record = self.stages.get_mut(stage)?;
        let task = record.task_row(index)?;
        let attempts = &mut record.group.attempts;
        let number = info.attempt.and_then(|number| u32::try_from(number).ok()).unwrap_or_default();
        if attempts.is_empty() {
            let announced = record.stage.announced_tasks;
            attempts.expect(announced.and_then(|tasks| usize::try_from(tasks).ok()).unwrap_or_default());
        }
        let row = attempts.push(task, number);
        let host = symbols.symbol(info.host);
        attempts.set_id(row, Some(id));
        attempts.set_executor(row, symbols.symbol(info.executor));
        attempts.set_node(row, host);
        attempts.set_locality(row, info.locality);
        attempts.set_speculative(row, info.speculative);
        let launched = moment(info.launched);
        attempts.set_time(row, TimePoint::Start, launched);
        let work = record.work.get_or_insert_default();
        work.first_launch = work.first_launch.into_iter().chain(launched).min();
        work.last_launch = work.last_launch.max(launched);
        record.count_attempt(&mut self.held);
        self.held.add(MAP_ENTRY);
        let place = AttemptPlace::new(stage, row)?;
        self.attempts.insert(id, place);
        self.seen.last_task = self.seen.last_task.max(Some(id));
        self.attempts_held += 1;
        if let Some(executor) = self.executor(symbols.symbol(info.executor)) {
            executor.host = executor.host.or(host);
        }
        self.saw(launched);
        Some((place, true))
    }

    pub(super) fn task_end(&mut self, end: &TaskEnd, symbols: &Symbols<'_>) {
        if end.resubmitted {
            self.seen.resubmitted += 1;
            return;
        }
        let stage = stage_attempt(end.stage, end.stage_attempt);
        let Some((place, is_new)) = self.attempt(stage, &end.info, symbols) else { return };
        if is_new {
            self.without_start.extend(end.info.id.and_then(|id| u64::try_from(id).ok()));
        }
        let executor = self.executor_place(symbols.symbol(end.info.executor));
        let Some(record) = self.stages.get_mut(place.stage()) else { return };
        let (attempts, row) = (&mut record.group.attempts, place.row as usize);
        if attempts.outcome(row) != Outcome::Unfinished {
            self.seen.repeated_ends += 1;
            return;
        }
        let finished = moment(end.info.finished);
        let outcome = outcome(end);
        self.seen.unknown_reasons += u64::from(end.unknown_reason);
        if end.unknown_reason && outcome == Outcome::Unfinished {
            self.seen.undecided_ends += 1;
        }
        attempts.set_outcome(row, outcome);
        attempts.set_end_reason(row, end.reason);
        attempts.set_time(row, TimePoint::Finish, finished);
        if attempts.time(row, TimePoint::Start).is_none() {
            attempts.set_time(row, TimePoint::Start, moment(end.info.launched));
        }
        attempts.set_time(row, TimePoint::GettingResult, moment(end.info.getting_result));
        if let Some(text) = symbols.symbol(end.message) {
            attempts.set_diagnostics(row, text);
        }
        let memory = executor.and_then(|place| self.executors.get(place)?.storage.total);
        let memory = memory.map(|memory| memory.max(LARGE_HEAP));
        set_counters(attempts, row, end, memory, &mut self.seen);
        let contradicts = !is_new && contradicts(record, row, (stage, end), symbols);
        let attempts = &mut record.group.attempts;
        if contradicts {
            self.seen.contradictions += 1;
            attempts.set_time(row, TimePoint::Start, None);
        }
        let started = attempts.time(row, TimePoint::Start);
        let work = record.work.get_or_insert_default();
        work.last_end = work.last_end.max(finished);
        if started.is_some_and(|start| finished.is_some_and(|end| end < start)) {
            self.seen.backwards += 1;
        }
        let is_timeless = !contradicts && (started.is_none() || finished.is_none());
        self.seen.without_time += u64::from(is_timeless);
        if let Some(place) = executor {
            self.executor_of_end(place, end);
        }
        self.saw(finished);
    }

    /// What the end of a task says about its executor.
    fn executor_of_end(&mut self, place: usize, end: &TaskEnd) {
        if let Some(executor) = self.executors.get_mut(place) {
            executor.peaks.raise_all(&end.peaks);
        }
        for &(block, memory) in &end.blocks {
            self.block_memory(place, block, memory);
        }
    }
}

/// Sets the counters of an attempt that ended. Impossible values become unknown; `memory` is the memory of its
/// executor.
fn set_counters(attempts: &mut Attempts, row: usize, end: &TaskEnd, memory: Option<Bytes>, seen: &mut Seen) {
    for (counter, unit, value) in end.metrics.iter() {
        seen.impossible_counters += u64::from(value > MAX_COUNTER_VALUE);
        match unit {
            Unit::Same => attempts.set_counter(row, counter, Some(value)),
            Unit::Nanos => attempts.set_nanos(row, counter, value),
        }
    }
    for counter in end.metrics.unreadable() {
        attempts.mark_unreadable(row, counter);
        seen.unreadable_counters += 1;
        seen.first_unreadable.get_or_insert((counter, end.info.id));
    }
    if memory.is_some_and(|memory| end.metrics.peak_memory() > memory) {
        seen.beyond_memory += 1;
        attempts.forget_counter(row, Counter::PeakExecutionMemory);
    }
    if let (Some(launched), Some(finished)) = (end.info.launched, end.info.finished)
        && launched <= finished
    {
        let beyond = end.metrics.times_beyond(finished.saturating_sub(launched));
        if !beyond.is_empty() {
            seen.beyond_task(beyond, end.info.id);
            for &counter in beyond {
                attempts.forget_counter(row, counter);
            }
        }
    }
}

/// Whether the end of an attempt differs from its start in what both say.
fn contradicts(
    record: &StageRecord,
    row: usize,
    (stage, end): (Option<StageAttempt>, &TaskEnd),
    symbols: &Symbols<'_>,
) -> bool {
    let (group, attempts) = (&record.group, &record.group.attempts);
    let info = &end.info;
    let differ =
        |one: Option<i64>, other: Option<i64>| one.zip(other).is_some_and(|(one, other)| one != other);
    let launched = attempts.time(row, TimePoint::Start).map(Timestamp::as_millis);
    let index = attempts.task(row).and_then(|task| group.tasks.number(task)).map(i64::from);
    let executor = attempts.executor(row).zip(symbols.symbol(info.executor));
    differ(launched, info.launched)
        || differ(index, info.index)
        || executor.is_some_and(|(one, other)| one != other)
        || stage.is_some_and(|stage| stage != record.stage.id)
}

/// How an attempt ended.
pub(in crate::spark) fn outcome(end: &TaskEnd) -> Outcome {
    match end.reason {
        Some(EndReason::Success) => Outcome::Succeeded,
        Some(EndReason::Killed | EndReason::CommitDenied) => Outcome::Killed,
        Some(_) => Outcome::Failed,
        None if end.info.killed == Some(true) => Outcome::Killed,
        None if end.info.failed == Some(true) => Outcome::Failed,
        None if end.unknown_reason => Outcome::Unfinished,
        None if !end.metrics.is_empty() => Outcome::Succeeded,
        None => Outcome::Unfinished,
    }
}
