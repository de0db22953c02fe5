//! How many bytes an application takes while it is built: what is kept, by its kind.

use std::cell::Cell;

use super::{Builder, StageRecord};
use elephant_base::limits::{Held, LimitReached};
use elephant_model::model::spark::{Batch, Executor, Job, PersistedRdd, Plan, SqlExecution, Stage, Stream};
use elephant_model::model::{Interner, Symbol};

const ALLOCATION: usize = Held::PER_ALLOCATION;
/// An entry of a hash map with small keys, with the room that the map leaves free.
pub(super) const MAP_ENTRY: usize = 32;
/// Bytes per attempt until its table is measured. Most take less; those of a stage with a single task are in one list.
const ATTEMPT: usize = 200;
/// Tables with a first row.
const TABLES: usize = 1000;
/// Bytes that rules need for a stage with tasks while they compare all stages.
const FIGURES: usize = 900;
/// Bytes that rules and metrics need for each executor while they compare all of them.
const FIGURES_OF_EXECUTOR: usize = 750;
/// Bytes that rules need for each job.
pub(super) const FIGURES_OF_JOB: usize = 150;
/// Allocations of a stage's tables, apart from columns.
const ALLOCATIONS_OF_TABLES: usize = 12;
/// Number of attempts from which the tables of a stage that runs are measured, each time they have doubled.
const MEASURED_FROM: usize = 64;
/// A stage of a job: its id, and a line in the list that links stages to jobs at the end.
const STAGE_OF_JOB: usize = 28;

fn text(text: Option<&str>) -> usize {
    text.map_or(0, |text| text.len() + ALLOCATION)
}

const fn list<T>(list: &[T]) -> usize {
    if list.is_empty() { 0 } else { size_of_val(list) + ALLOCATION }
}

/// Bytes of a stage apart from its record.
pub(super) fn of_stage(stage: &Stage) -> usize {
    text(stage.failure.as_deref()) + list(&stage.parents) + list(&stage.accumulables)
}

pub(super) fn of_job(job: &Job) -> usize {
    let stages = if job.stages.is_empty() { 0 } else { job.stages.len() * STAGE_OF_JOB + ALLOCATION };
    let told = [&job.failure, &job.description, &job.group];
    told.into_iter().map(|told| text(told.as_deref())).sum::<usize>() + stages
}

pub(super) fn of_execution(execution: &SqlExecution) -> usize {
    let SqlExecution {
        description,
        call_stack,
        tags,
        error,
        plan,
        replaced,
        subqueries,
        driver_updates,
        fallbacks,
        ..
    } = execution;
    [description, call_stack, error].into_iter().map(|told| text(told.as_deref())).sum::<usize>()
        + list(tags)
        + tags.iter().map(|tag| text(Some(tag))).sum::<usize>()
        + [plan, replaced, subqueries].into_iter().map(of_plan).sum::<usize>()
        + list(driver_updates)
        + list(fallbacks)
        + fallbacks.iter().map(|it| text(Some(&it.operator)) + text(Some(&it.reason))).sum::<usize>()
}

fn of_plan(plan: &Plan) -> usize {
    list(&plan.operators)
        + list(&plan.metrics)
        + list(&plan.facts)
        + text(Some(&plan.texts).filter(|text| !text.is_empty()).map(String::as_str))
}

/// A stream apart from its batches.
pub(super) fn of_stream(stream: &Stream) -> usize {
    let Stream { id, run, name, error, sources, state_operators, .. } = stream;
    text(Some(run))
        + [id, name, error].into_iter().map(|told| text(told.as_deref())).sum::<usize>()
        + list(sources)
        + sources.iter().map(|source| text(Some(source))).sum::<usize>()
        + list(state_operators)
        + state_operators.iter().map(|name| text(name.as_deref())).sum::<usize>()
}

/// A batch of a stream, in a list that doubles its size.
pub(super) fn of_batch(batch: &Batch) -> usize {
    2 * size_of_val(batch) + list(&batch.sources) + list(&batch.states)
}

pub(super) fn of_executor(executor: &Executor) -> usize {
    let names: usize = executor.resources.iter().map(|resource| text(Some(&resource.name))).sum();
    let resources = list(&executor.resources) + names;
    text(Some(&executor.id)) + text(executor.removed_reason.as_deref()) + resources + FIGURES_OF_EXECUTOR
}

pub(super) fn of_rdd(rdd: &PersistedRdd) -> usize {
    text(rdd.name.as_deref())
}

/// A property of the configuration.
pub(super) const fn of_property(name: &str, value: &str) -> usize {
    name.len() + value.len() + 2 * ALLOCATION + 2 * size_of::<String>() + MAP_ENTRY
}

/// A text that is kept twice: in its item, and to find the item.
pub(super) const fn of_key(key: &str) -> usize {
    2 * (key.len() + ALLOCATION) + MAP_ENTRY
}

/// Which strings of the blocks the application uses. A block may also hold strings of other applications, so that only the
/// used ones count.
#[derive(Debug, Default)]
pub(super) struct Used {
    known: Vec<Cell<bool>>,
    /// Bytes of the strings used since they were last counted.
    new: Cell<usize>,
}

impl Used {
    /// Makes room for the symbols below `count`.
    pub(super) fn grow(&mut self, count: usize) {
        if self.known.len() < count {
            self.known.resize(count, Cell::new(false));
        }
    }

    #[inline]
    pub(super) fn note(&self, symbol: Symbol, len: impl FnOnce() -> usize) {
        if self.known.get(symbol.index() as usize).is_some_and(|known| !known.replace(true)) {
            self.new.set(self.new.get() + len() + Interner::PER_STRING);
        }
    }

    /// The bytes of the strings used since the last call.
    #[inline]
    pub(super) fn take(&self) -> usize {
        self.new.take()
    }
}

impl Builder {
    /// The limit on memory, if what is kept exceeds it.
    #[inline]
    pub(in crate::spark) fn beyond_memory(&self) -> Option<LimitReached> {
        self.held.beyond()
    }
}

impl StageRecord {
    /// Counts one more attempt.
    pub(super) fn count_attempt(&mut self, held: &mut Held) {
        let count = self.group.attempts.len();
        if count >= MEASURED_FROM && count.is_power_of_two() {
            return self.measure(held);
        }
        let bytes = ATTEMPT + if count == 1 { TABLES + FIGURES } else { 0 };
        held.add(bytes);
        if let Some(work) = &mut self.work {
            work.counted += bytes;
        }
    }

    /// Counts the tables with the bytes that they take now.
    pub(super) fn measure(&mut self, held: &mut Held) {
        if let Some(work) = &mut self.work {
            let fixed = size_of_val(&**work) + ALLOCATIONS_OF_TABLES * ALLOCATION + FIGURES;
            let now = self.group.held() + fixed;
            held.change(work.counted, now);
            work.counted = now;
        }
    }
}
