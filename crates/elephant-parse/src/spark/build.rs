//! Builds an [`Application`] from the events of an event log.

mod assemble;
mod cores;
mod dispatch;
mod executors;
mod held;
mod life;
mod possible;
mod queries;
mod seen;
mod streams;
mod tasks;
mod work;

use std::num::NonZeroU32;
use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};

use super::block::{Block, ItemKind};
use super::event::{Event, MAX_LISTED};
use super::numbered::Numbered;
use super::storage::Storage;
use super::strings::{Local, Strings};
use super::sums::Sums;
use crate::problem::{Position, Problems};
use crate::reading::Moments;
use crate::too_long;
use elephant_base::limits::{self, Held, LimitReached, Limits};
use elephant_base::units::{Bytes, Timestamp};
use elephant_model::model::spark::{Executor, Job, PersistedRdd, Spark, SqlExecution, Stage, StageAttempt};
use elephant_model::model::table::TaskGroup;
use elephant_model::model::{Application, Engine, Symbol};
use held::{MAP_ENTRY, Used};
pub(super) use seen::{BeyondLimit, Outside, Seen};
pub(super) use tasks::outcome;

/// Collects the contents of blocks, which must arrive in the order of the log.
pub(super) struct Builder {
    pub(super) app: Application,
    pub(super) spark: Spark,
    /// Stage attempts in the order of their first mention.
    pub(super) stages: Vec<StageRecord>,
    /// Places of first attempts by stage, counted from 1, and those of further attempts.
    stage_places: Numbered<NonZeroU32>,
    later_stage_places: FxHashMap<StageAttempt, usize>,
    /// The names of stages, most of which occur often.
    stage_names: FxHashSet<Arc<str>>,
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
    /// Places of streams by their runs.
    stream_places: FxHashMap<Box<str>, usize>,
    driver_updates_held: usize,
    operators_held: usize,
    /// Number of ends of stage attempts so far.
    stage_ends: u32,
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
    /// The bytes of this application and of those before it in the log.
    held: Held,
    used: Used,
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

/// A stage attempt under construction. A log may name millions of stages without tasks, so data that only tasks need is
/// stored separately.
pub(super) struct StageRecord {
    pub(super) stage: Stage,
    pub(super) group: TaskGroup,
    work: Option<Box<Work>>,
    /// Whether Spark's own sums over its tasks agree with ours.
    pub(super) sums: Sums,
    pub(super) submitted: bool,
    pub(super) completed: bool,
    /// Whether it announced a task count that is not a number, or impossibly large.
    pub(super) impossible_task_count: bool,
}

/// What is known about the attempts of a stage while it is under construction.
#[derive(Default)]
struct Work {
    /// Table rows by task index, counted from 1.
    task_rows: Numbered<NonZeroU32>,
    /// The first and the last launch, and the last end.
    first_launch: Option<Timestamp>,
    last_launch: Option<Timestamp>,
    last_end: Option<Timestamp>,
    /// Bytes counted so far for the tables of the stage.
    counted: usize,
}

/// Position of an event in the log.
#[derive(Clone, Copy)]
pub(super) struct Place {
    pub(super) line: u64,
}

/// Translates block-local strings to the application's symbols.
struct Symbols<'a> {
    strings: &'a Strings,
    used: &'a Used,
}

impl Symbols<'_> {
    fn symbol(&self, local: Option<Local>) -> Option<Symbol> {
        let local = local?;
        let symbol = self.strings.symbol(local)?;
        self.used.note(symbol, || self.strings.get(local).len());
        Some(symbol)
    }
}

impl StageRecord {
    /// The row of the task with this index, added if new.
    fn task_row(&mut self, index: u32) -> Option<u32> {
        let work = self.work.get_or_insert_default();
        if let Some(row) = work.task_rows.get(index.into()) {
            return Some(row.get() - 1);
        }
        let row = u32::try_from(self.group.tasks.push(index)).ok()?;
        work.task_rows.insert(index.into(), NonZeroU32::new(row.checked_add(1)?)?);
        Some(row)
    }

    fn first_launch(&self) -> Option<Timestamp> {
        self.work.as_ref()?.first_launch
    }

    fn last_launch(&self) -> Option<Timestamp> {
        self.work.as_ref()?.last_launch
    }

    fn last_end(&self) -> Option<Timestamp> {
        self.work.as_ref()?.last_end
    }
}

impl Builder {
    pub(super) fn within(limits: &Limits) -> Self {
        Self {
            app: Application::new(Engine::Spark),
            spark: Spark::default(),
            stages: Vec::new(),
            stage_places: Numbered::default(),
            later_stage_places: FxHashMap::default(),
            stage_names: FxHashSet::default(),
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
            stream_places: FxHashMap::default(),
            driver_updates_held: 0,
            operators_held: 0,
            stage_ends: 0,
            profile_places: FxHashMap::default(),
            excluded: FxHashMap::default(),
            storage: Storage::default(),
            measured: FxHashMap::default(),
            exit_code: None,
            seen: Seen::default(),
            without_start: FxHashSet::default(),
            rollovers: Vec::new(),
            limits: *limits,
            held: Held::within(limits),
            used: Used::default(),
            limit: None,
            number: 1,
        }
    }

    /// Processes a block that starts after `lines_before` lines. If another application begins in it, passes
    /// the current one to `end`, and the rest of the block goes to the next.
    ///
    /// # Errors
    /// If what is kept exceeds the limit on memory, with the line at which it does.
    pub(super) fn take(
        &mut self,
        block: &mut Block,
        lines_before: u64,
        problems: &mut Problems,
        end: &mut dyn FnMut(Self),
    ) -> Result<(), (u64, LimitReached)> {
        let Block { items, starts, ends, strings, bytes, .. } = block;
        // First item of this application in the block.
        let mut from = 0;
        let mut used = self.name(strings);
        let mut starts = starts.iter();
        let mut ends = ends.iter();
        for item in items.drain(..) {
            if let ItemKind::Event(event) = &item.kind
                && self.starts_another_application(event)
            {
                self.count_decoded(item.at - from);
                from = item.at;
                let next = Self { number: self.number + 1, held: self.held, ..Self::within(&self.limits) };
                end(std::mem::replace(self, next));
                used = self.name(strings);
            }
            let symbols = Symbols { strings, used: &used };
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
                skipped => {
                    self.skipped(&skipped, place, problems);
                    continue;
                }
            }
            self.seen.events += 1;
            self.held.add(used.take());
            if let Some(reached) = self.held.beyond() {
                self.count_decoded(item.at - from);
                return Err((place.line, reached));
            }
        }
        self.used = used;
        self.count_decoded(*bytes - from);
        Ok(())
    }

    /// Names the strings of a block in the application; returns which of its strings the application used so far.
    fn name(&mut self, strings: &mut Strings) -> Used {
        strings.name_in(self.number, &mut self.app.strings);
        let mut used = std::mem::take(&mut self.used);
        used.grow(self.app.strings.len());
        used
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

    /// Reports a line that was skipped.
    fn skipped(&mut self, kind: &ItemKind, place: Place, problems: &mut Problems) {
        let at = Some(Position::Line(place.line));
        match kind {
            ItemKind::Malformed { terminated } => return self.malformed(*terminated, place, problems),
            ItemKind::TooLong => {
                self.limit.get_or_insert(limits::LINE);
                problems.warn("line-too-long", at, || too_long("a line", &self.limits));
            }
            ItemKind::ListsTooMuch => problems.warn(limits::REACHED, at, || {
                format!(
                    "an event has a list of more than {MAX_LISTED} elements, which Spark does not write; the event \
                     was skipped, and its contents are missing"
                )
            }),
            ItemKind::Start | ItemKind::End | ItemKind::Event(_) => return,
        }
        self.spark.gaps.unreadable += 1;
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

    /// The index for one more object of a kind, a `T`; `None` if the limit is reached, which is recorded.
    fn new_place<T>(&mut self, others: usize) -> Option<usize> {
        let room = self.limits.has_room_for_other_items(others);
        self.seen.beyond_limit.others += u64::from(!room);
        self.held.add(if room { size_of::<T>() + MAP_ENTRY } else { 0 });
        room.then_some(others)
    }

    /// Updates the time of the latest event.
    fn saw(&mut self, at: Option<Timestamp>) {
        self.spark.log.last_event = self.spark.log.last_event.max(at);
    }
}

pub(super) fn moment(ms: Option<i64>) -> Option<Timestamp> {
    Moments::default().read(ms)
}
