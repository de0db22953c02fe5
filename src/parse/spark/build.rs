//! Builds an [`Application`] from the events of an event log.

mod assemble;
mod dispatch;
mod executors;
mod possible;
mod tasks;
mod work;

use std::num::NonZeroU32;

use rustc_hash::{FxHashMap, FxHashSet};

use super::block::{Block, ItemKind};
use super::event::Event;
use super::numbered::Numbered;
use super::storage::Storage;
use super::strings::{Local, Strings};
use super::sums::Sums;
use crate::limits::{self, Limits};
use crate::model::counters::Counter;
use crate::model::spark::{Executor, Job, PersistedRdd, Spark, SqlExecution, Stage, StageAttempt};
use crate::model::table::TaskGroup;
use crate::model::{Application, Engine, Symbol};
use crate::parse::problem::{Position, Problems};
use crate::parse::reading::Moments;
use crate::parse::too_long;
use crate::units::{Bytes, Timestamp};

/// Collects the contents of blocks, which must arrive in the order of the log.
pub(super) struct Builder {
    pub(super) app: Application,
    pub(super) spark: Spark,
    /// Stage attempts in the order of their first mention.
    pub(super) stages: Vec<StageRecord>,
    stage_places: FxHashMap<StageAttempt, usize>,
    /// Attempts by their task id.
    attempts: Numbered<AttemptPlace>,
    pub(super) attempts_held: usize,
    pub(super) jobs: Vec<Job>,
    job_places: FxHashMap<u32, usize>,
    pub(super) executors: Vec<Executor>,
    executor_places: FxHashMap<Symbol, usize>,
    /// When the block manager of each executor was first added.
    registered: FxHashMap<usize, Timestamp>,
    rdds: Vec<PersistedRdd>,
    rdd_places: FxHashMap<u32, usize>,
    sql: Vec<SqlExecution>,
    sql_places: FxHashMap<u64, usize>,
    driver_updates_held: usize,
    profile_places: FxHashMap<u32, usize>,
    /// Each node's exclusions that were not lifted yet.
    excluded: FxHashMap<Box<str>, Vec<usize>>,
    storage: Storage,
    /// The executors whose metrics were logged for each stage that runs.
    measured: FxHashMap<StageAttempt, FxHashSet<Symbol>>,
    pub(super) exit_code: Option<i64>,
    pub(super) seen: Seen,
    /// Ids of tasks whose end came before their start.
    pub(super) without_start: FxHashSet<u64>,
    pub(super) rollovers: Vec<i64>,
    pub(super) limits: Limits,
    /// The option whose limit ended the reading.
    pub(super) limit: Option<&'static str>,
    /// Number of the current application within the log, counted from 1.
    number: u64,
}

/// Where an attempt is stored: its stage's index in [`Builder::stages`], and its row there.
#[derive(Debug, Clone, Copy)]
struct AttemptPlace {
    stage: NonZeroU32,
    row: u32,
}

impl AttemptPlace {
    /// Counts from 1, so that `Option` needs no extra space.
    fn new(stage: usize, row: usize) -> Option<Self> {
        let stage = u32::try_from(stage).ok()?.checked_add(1).and_then(NonZeroU32::new)?;
        Some(Self { stage, row: u32::try_from(row).ok()? })
    }

    const fn stage(self) -> usize {
        self.stage.get() as usize - 1
    }
}

/// A stage attempt under construction.
pub(super) struct StageRecord {
    /// Table rows by task index, counted from 1.
    task_rows: Numbered<NonZeroU32>,
    pub(super) stage: Stage,
    pub(super) group: TaskGroup,
    /// Whether Spark's own sums over its tasks agree with ours.
    pub(super) sums: Sums,
    pub(super) submitted: bool,
    pub(super) completed: bool,
    /// The first and the last launch, and the last end, of its attempts.
    first_launch: Option<Timestamp>,
    last_launch: Option<Timestamp>,
    last_end: Option<Timestamp>,
    /// Whether it announced a task count that is not a number, or impossibly large.
    pub(super) impossible_task_count: bool,
}

/// Facts about the log that the model does not contain.
#[derive(Debug, Default, Clone, Copy)]
pub(super) struct Seen {
    pub(super) application_start: bool,
    pub(super) application_end: bool,
    pub(super) environment: bool,
    pub(super) events: u64,
    pub(super) repeated_ends: u64,
    pub(super) resubmitted: u64,
    pub(super) job_ends_without_start: u64,
    pub(super) backwards: u64,
    /// Successful tasks without a start or end time.
    pub(super) without_time: u64,
    /// Task ends long after the end of the application.
    pub(super) after_the_end: u64,
    pub(super) unusable_tasks: u64,
    pub(super) impossible_counters: u64,
    /// Task counters that are not non-negative numbers.
    pub(super) unreadable_counters: u64,
    /// The first of them, with its task id.
    pub(super) first_unreadable: Option<(Counter, Option<i64>)>,
    /// Times within tasks that are longer than the tasks.
    pub(super) beyond_task: u64,
    /// The first of them, with its task id.
    pub(super) first_beyond_task: Option<(Counter, Option<i64>)>,
    /// Tasks with a peak of execution memory beyond the memory of their executor.
    pub(super) beyond_memory: u64,
    /// The largest task id.
    pub(super) last_task: Option<u64>,
    /// Executors that the ends of stages lack the metrics of although they ran tasks, and those that they have.
    pub(super) metrics_missing: u64,
    pub(super) metrics_found: u64,
    /// Task ends that differ from their starts.
    pub(super) contradictions: u64,
    /// Times that lie outside the life of the application, the stage or the executor.
    pub(super) outside: Outside,
    /// Objects that were skipped because a limit was reached.
    pub(super) beyond_limit: BeyondLimit,
    /// Sizes of cached blocks that cannot be read.
    pub(super) unreadable_blocks: u64,
    /// Block managers whose memory cannot be read.
    pub(super) unreadable_managers: u64,
    /// Block managers whose memory is not the sum of its parts.
    pub(super) differing_managers: u64,
    /// Task ends with a reason that Spark does not have.
    pub(super) unknown_reasons: u64,
    /// Those of them whose outcome the rest of the event does not show either.
    pub(super) undecided_ends: u64,
}

impl Seen {
    /// Records that these times of a task are longer than the task.
    #[cold]
    fn beyond_task(&mut self, counters: &[Counter], task: Option<i64>) {
        self.beyond_task += counters.len() as u64;
        let first = counters.first().map(|&counter| (counter, task));
        self.first_beyond_task = self.first_beyond_task.or(first);
    }
}

/// Number of times of each kind that cannot be right.
#[derive(Debug, Default, Clone, Copy)]
pub(super) struct Outside {
    /// Launches of tasks, and ends after those of their stages.
    pub(super) tasks: u64,
    /// Starts and ends of stages.
    pub(super) stages: u64,
    /// Starts and ends of jobs.
    pub(super) jobs: u64,
    /// Starts and ends of executors, and impossible numbers of cores.
    pub(super) executors: u64,
}

/// Number of objects of each kind that were skipped because of a limit.
#[derive(Debug, Default, Clone, Copy)]
pub(super) struct BeyondLimit {
    /// Task attempts.
    pub(super) attempts: u64,
    /// Cached blocks.
    pub(super) blocks: u64,
    /// Values of driver metrics.
    pub(super) driver_values: u64,
    /// Stages, jobs, executors, queries and similar objects.
    pub(super) others: u64,
}

impl BeyondLimit {
    /// Whether any were skipped.
    pub(super) const fn any(self) -> bool {
        self.attempts + self.blocks + self.driver_values + self.others > 0
    }
}

/// Position of an event in the log.
#[derive(Clone, Copy)]
pub(super) struct Place {
    pub(super) line: u64,
}

/// Translates block-local strings to the application's symbols.
struct Symbols<'a> {
    strings: &'a Strings,
}

impl Symbols<'_> {
    fn symbol(&self, local: Option<Local>) -> Option<Symbol> {
        self.strings.symbol(local?)
    }

    fn text(&self, local: Option<Local>) -> Option<&str> {
        local.map(|local| self.strings.get(local))
    }
}

impl StageRecord {
    /// The row of the task with this index, added if new.
    fn task_row(&mut self, index: u32) -> Option<u32> {
        if let Some(row) = self.task_rows.get(index.into()) {
            return Some(row.get() - 1);
        }
        let row = u32::try_from(self.group.tasks.push(index)).ok()?;
        self.task_rows.insert(index.into(), NonZeroU32::new(row.checked_add(1)?)?);
        Some(row)
    }
}

impl Builder {
    pub(super) fn within(limits: &Limits) -> Self {
        Self {
            app: Application::new(Engine::Spark),
            spark: Spark::default(),
            stages: Vec::new(),
            stage_places: FxHashMap::default(),
            attempts: Numbered::default(),
            attempts_held: 0,
            jobs: Vec::new(),
            job_places: FxHashMap::default(),
            executors: Vec::new(),
            executor_places: FxHashMap::default(),
            registered: FxHashMap::default(),
            rdds: Vec::new(),
            rdd_places: FxHashMap::default(),
            sql: Vec::new(),
            sql_places: FxHashMap::default(),
            driver_updates_held: 0,
            profile_places: FxHashMap::default(),
            excluded: FxHashMap::default(),
            storage: Storage::default(),
            measured: FxHashMap::default(),
            exit_code: None,
            seen: Seen::default(),
            without_start: FxHashSet::default(),
            rollovers: Vec::new(),
            limits: *limits,
            limit: None,
            number: 1,
        }
    }

    /// Processes a block that starts after `lines_before` lines. If another application begins in it, passes
    /// the current one to `end`, and the rest of the block goes to the next.
    pub(super) fn take(
        &mut self,
        block: &mut Block,
        lines_before: u64,
        problems: &mut Problems,
        end: &mut dyn FnMut(Self),
    ) {
        let Block { items, starts, ends, strings, bytes, .. } = block;
        // First item of this application in the block.
        let mut from = 0;
        strings.name_in(self.number, &mut self.app.strings);
        let mut starts = starts.iter();
        let mut ends = ends.iter();
        for item in items.drain(..) {
            if let ItemKind::Event(event) = &item.kind
                && self.starts_another_application(event)
            {
                self.count_decoded(item.at - from);
                from = item.at;
                let next = Self { number: self.number + 1, ..Self::within(&self.limits) };
                end(std::mem::replace(self, next));
                strings.name_in(self.number, &mut self.app.strings);
            }
            let symbols = Symbols { strings };
            let place = Place { line: lines_before + item.line + 1 };
            match item.kind {
                ItemKind::Start => {
                    if let Some(start) = starts.next() {
                        self.task_start(start, &symbols);
                    }
                }
                ItemKind::End => {
                    if let Some(end) = ends.next() {
                        self.task_end(end, &symbols);
                    }
                }
                ItemKind::Event(event) => self.event(*event, &symbols),
                ItemKind::Malformed { terminated } => {
                    self.malformed(terminated, place, problems);
                    continue;
                }
                ItemKind::TooLong => {
                    self.spark.gaps.unreadable += 1;
                    self.limit.get_or_insert(limits::LINE);
                    let at = Some(Position::Line(place.line));
                    problems.warn("line-too-long", at, || too_long("a line", &self.limits));
                    continue;
                }
            }
            self.seen.events += 1;
        }
        self.count_decoded(*bytes - from);
    }

    fn count_decoded(&mut self, bytes: u64) {
        self.spark.log.decoded = self.spark.log.decoded + Bytes::new(bytes);
    }

    /// Whether an event starts another application: several logs may have been concatenated.
    fn starts_another_application(&self, event: &Event) -> bool {
        match event {
            Event::LogStart { .. } => self.seen.application_start || self.seen.application_end,
            Event::ApplicationStart(start) => {
                self.seen.application_start
                    && (self.seen.application_end || start.id.as_ref().is_some_and(|id| *id != self.app.id))
            }
            _ => false,
        }
    }

    fn malformed(&mut self, terminated: bool, place: Place, problems: &mut Problems) {
        let position = Some(Position::Line(place.line));
        if terminated {
            self.spark.gaps.unreadable += 1;
            problems.warn("malformed-event", position, || {
                "the line is not a Spark event and was skipped; its contents are missing".to_owned()
            });
        } else {
            self.spark.gaps.truncated_after_end |= self.seen.application_end;
            problems.warn("truncated", position, || {
                "the event log ends in the middle of an event; the part before it is used".to_owned()
            });
        }
    }

    /// The index for one more object of a kind; `None` if the limit is reached, which is recorded.
    fn new_place(&mut self, held: usize) -> Option<usize> {
        let room = self.limits.has_room_for_other_items(held);
        self.seen.beyond_limit.others += u64::from(!room);
        room.then_some(held)
    }

    /// Updates the time of the latest event.
    fn saw(&mut self, at: Option<Timestamp>) {
        self.spark.log.last_event = self.spark.log.last_event.max(at);
    }
}

pub(super) fn stage_attempt(stage: Option<i64>, attempt: Option<i64>) -> Option<StageAttempt> {
    let number = |value: i64| u32::try_from(value).ok();
    // Spark 1.0 and older do not number stage attempts.
    Some(StageAttempt { stage: number(stage?)?, attempt: number(attempt.unwrap_or_default())? })
}

fn moment(ms: Option<i64>) -> Option<Timestamp> {
    Moments::default().read(ms)
}
