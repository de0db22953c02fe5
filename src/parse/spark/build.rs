//! Events of one log into one [`Application`].

mod assemble;
mod executors;
mod tasks;
mod work;

use std::num::NonZeroU32;

use rustc_hash::{FxHashMap, FxHashSet};

use super::block::{Block, What};
use super::event::{ApplicationStart, Event};
use super::numbered::Numbered;
use super::storage::Storage;
use super::strings::{Local, Strings};
use super::verify::Sums;
use crate::limits::{self, Limits};
use crate::model::conf::Property;
use crate::model::counters::Counter;
use crate::model::spark::{
    Executor, Job, PersistedRdd, ResourceProfile, Spark, SqlExecution, Stage, StageAttempt,
};
use crate::model::table::TaskGroup;
use crate::model::{Application, Engine, Symbol};
use crate::parse::problem::{Position, Problems};
use crate::parse::reading::Moments;
use crate::parse::too_long;
use crate::units::{Bytes, Timestamp};

/// Collects what the blocks of a log tell. Blocks must come in the order of the log.
pub(super) struct Builder {
    pub(super) app: Application,
    pub(super) spark: Spark,
    /// Stage attempts in the order in which they were first named.
    pub(super) stages: Vec<StageRecord>,
    stage_places: FxHashMap<StageAttempt, usize>,
    /// Attempts by their task id.
    attempts: Numbered<AttemptPlace>,
    attempts_held: usize,
    pub(super) jobs: Vec<Job>,
    job_places: FxHashMap<u32, usize>,
    pub(super) executors: Vec<Executor>,
    executor_places: FxHashMap<Symbol, usize>,
    rdds: Vec<PersistedRdd>,
    rdd_places: FxHashMap<u32, usize>,
    sql: Vec<SqlExecution>,
    sql_places: FxHashMap<u64, usize>,
    driver_updates_held: usize,
    profile_places: FxHashMap<u32, usize>,
    /// Exclusions of each node that were not lifted yet.
    excluded: FxHashMap<Box<str>, Vec<usize>>,
    storage: Storage,
    pub(super) exit_code: Option<i64>,
    pub(super) seen: Seen,
    /// Tasks whose end came before their start, by id.
    pub(super) without_start: FxHashSet<u64>,
    pub(super) rollovers: Vec<i64>,
    pub(super) limits: Limits,
    /// The option of a limit that ended the reading.
    pub(super) limit: Option<&'static str>,
    /// Counts the applications of the log from 1.
    number: u64,
}

/// Where an attempt stands: the place of its stage in [`Builder::stages`], and its row there.
#[derive(Debug, Clone, Copy)]
struct AttemptPlace {
    stage: NonZeroU32,
    row: u32,
}

impl AttemptPlace {
    /// Counted from 1, so that an attempt that is not there takes no space of its own.
    fn new(stage: usize, row: usize) -> Option<Self> {
        let stage = u32::try_from(stage).ok()?.checked_add(1).and_then(NonZeroU32::new)?;
        Some(Self { stage, row: u32::try_from(row).ok()? })
    }

    const fn stage(self) -> usize {
        self.stage.get() as usize - 1
    }
}

/// A stage attempt while the log is read.
pub(super) struct StageRecord {
    /// Rows of its tasks by index, counted from 1.
    task_rows: Numbered<NonZeroU32>,
    pub(super) stage: Stage,
    pub(super) group: TaskGroup,
    /// Whether its tasks add up to Spark's own sums.
    pub(super) sums: Sums,
    pub(super) submitted: bool,
    pub(super) completed: bool,
    /// Whether it announced a number of tasks that is none, or that no stage can have.
    pub(super) impossible_tasks: bool,
}

/// What was met on the way that the model does not show.
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
    /// Tasks that succeeded without telling when they began or ended.
    pub(super) without_time: u64,
    /// Ends of tasks long after that of the application.
    pub(super) after_the_end: u64,
    pub(super) unusable_tasks: u64,
    pub(super) impossible_counters: u64,
    /// Counters of tasks that are no numbers from 0 on.
    pub(super) unread_counters: u64,
    /// The first of them, and the id of its task.
    pub(super) first_unread: Option<(Counter, Option<i64>)>,
    /// Things that were passed over because there were as many of their kind as the limits allow.
    pub(super) beyond_limit: BeyondLimit,
    /// Sizes of cached blocks that cannot be read.
    pub(super) unreadable_blocks: u64,
    /// Block managers whose memory cannot be read.
    pub(super) unreadable_managers: u64,
    /// Ends of tasks for reasons that are not Spark's.
    pub(super) unknown_reasons: u64,
    /// Those of them that nothing else in the event decides.
    pub(super) undecided_ends: u64,
}

/// How much of each kind was passed over because of a limit.
#[derive(Debug, Default, Clone, Copy)]
pub(super) struct BeyondLimit {
    /// Attempts of tasks.
    pub(super) attempts: u64,
    /// Blocks that executors cache.
    pub(super) blocks: u64,
    /// Values of the driver's metrics.
    pub(super) driver_values: u64,
    /// Stages, jobs, executors, queries and the like.
    pub(super) others: u64,
}

/// Where in the log an event stands.
#[derive(Clone, Copy)]
pub(super) struct Place {
    pub(super) line: u64,
}

/// Block-local strings as symbols of the application.
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
    /// The row of the task with this index, made where it is new.
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
            rdds: Vec::new(),
            rdd_places: FxHashMap::default(),
            sql: Vec::new(),
            sql_places: FxHashMap::default(),
            driver_updates_held: 0,
            profile_places: FxHashMap::default(),
            excluded: FxHashMap::default(),
            storage: Storage::default(),
            exit_code: None,
            seen: Seen::default(),
            without_start: FxHashSet::default(),
            rollovers: Vec::new(),
            limits: *limits,
            limit: None,
            number: 1,
        }
    }

    /// Takes over a block whose first line is the one behind `lines_before`. Where another application begins in
    /// it, `end` gets this one, and the rest of the block belongs to the next.
    pub(super) fn take(
        &mut self,
        block: &mut Block,
        lines_before: u64,
        problems: &mut Problems,
        end: &mut dyn FnMut(Self),
    ) {
        let Block { items, starts, ends, strings, bytes, .. } = block;
        // Where the lines of this application start in the block.
        let mut from = 0;
        strings.name_in(self.number, &mut self.app.strings);
        let mut starts = starts.iter();
        let mut ends = ends.iter();
        for item in items.drain(..) {
            if let What::Event(event) = &item.what
                && self.is_of_another(event)
            {
                self.count_decoded(item.at - from);
                from = item.at;
                let next = Self { number: self.number + 1, ..Self::within(&self.limits) };
                end(std::mem::replace(self, next));
                strings.name_in(self.number, &mut self.app.strings);
            }
            let symbols = Symbols { strings };
            let place = Place { line: lines_before + item.line + 1 };
            match item.what {
                What::Start => {
                    if let Some(start) = starts.next() {
                        self.task_start(start, &symbols);
                    }
                }
                What::End => {
                    if let Some(end) = ends.next() {
                        self.task_end(end, &symbols);
                    }
                }
                What::Event(event) => self.event(*event, &symbols),
                What::Malformed { terminated } => {
                    self.malformed(terminated, place, problems);
                    continue;
                }
                What::TooLong => {
                    self.spark.gaps.unread += 1;
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

    /// Whether an event opens another application: logs that somebody has put one behind the other.
    fn is_of_another(&self, event: &Event) -> bool {
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
            self.spark.gaps.unread += 1;
            problems.warn("malformed-event", position, || {
                "the line is no event of Spark and was passed over; what it tells is missing".to_owned()
            });
        } else {
            self.spark.gaps.cut_behind_the_end |= self.seen.application_end;
            problems.warn("truncated", position, || {
                "the log ends in the middle of an event; what comes before was used".to_owned()
            });
        }
    }

    fn event(&mut self, event: Event, symbols: &Symbols<'_>) {
        match event {
            Event::LogStart { version } => {
                self.app.engine_version = version.or(self.app.engine_version.take());
            }
            Event::Rollover { version, number } => {
                self.app.engine_version = self.app.engine_version.take().or(version);
                self.rollovers.extend(number);
            }
            Event::ApplicationStart(start) => self.application_start(start),
            Event::ApplicationEnd { at, exit_code } => {
                self.seen.application_end = true;
                self.app.finished_at = moment(at).or(self.app.finished_at);
                self.exit_code = exit_code;
                self.saw(moment(at));
            }
            Event::Environment(properties) => {
                self.seen.environment = true;
                self.environment(properties);
            }
            Event::ResourceProfile(profile) => {
                self.resource_profile(profile);
            }
            Event::JobStart(start) => self.job_start(start),
            Event::JobEnd { id, at, result, failure } => self.job_end(id, at, result, failure),
            Event::StageSubmitted(info) => {
                if let Some(record) = self.stage_info(info) {
                    record.submitted = true;
                }
            }
            Event::StageCompleted(info) => self.stage_completed(info),
            Event::ExecutorAdded(added) => self.executor_added(&added, symbols),
            Event::ExecutorRemoved { id, at, reason } => {
                let at = moment(at);
                self.saw(at);
                if let Some(executor) = self.executor(symbols.symbol(id)) {
                    // Its block manager's removal is told by another clock.
                    executor.removed_at = at.or(executor.removed_at);
                    executor.removed_reason = reason.or(executor.removed_reason.take());
                }
            }
            Event::ExecutorExcluded { id } => {
                if let Some(executor) = self.executor(symbols.symbol(id)) {
                    executor.exclusions += 1;
                }
            }
            Event::NodeExcluded { host, at, failures, lifted } => {
                self.node_excluded(host, at, failures, lifted);
            }
            Event::BlockManagerAdded(added) => self.block_manager_added(&added, symbols),
            Event::BlockManagerRemoved { id, at } => {
                let at = moment(at);
                if let Some(executor) = self.executor(symbols.symbol(id)) {
                    executor.removed_at = executor.removed_at.or(at);
                }
            }
            Event::BlockUpdated { executor, block, memory } => {
                if let (Some(block), Some(memory)) = (symbols.text(block), memory)
                    && let Some(place) = self.executor_place(symbols.symbol(executor))
                {
                    self.block_memory(place, block, memory);
                }
            }
            Event::Peaks { executor, peaks } => {
                if let Some(executor) = self.executor(symbols.symbol(executor)) {
                    executor.peaks.raise_all(&peaks);
                }
            }
            Event::Unpersisted { rdd } => {
                if let Some(rdd) = rdd.and_then(|id| self.rdd(id)) {
                    rdd.unpersisted = true;
                }
            }
            Event::SqlStart(start) => self.sql_start(start, symbols),
            Event::SqlEnd { id, at, error } => {
                if let Some(execution) = self.execution(id) {
                    execution.finished_at = moment(at);
                    execution.error = error;
                }
            }
            Event::SqlPlan { id, plan } => {
                if let Some(execution) = self.execution(id) {
                    work::set_plan(execution, &plan, symbols);
                }
            }
            Event::DriverAccumulators { id, updates } => self.driver_updates(id, updates),
        }
    }

    fn application_start(&mut self, start: ApplicationStart) {
        self.seen.application_start = true;
        let app = &mut self.app;
        app.name = start.name.or(app.name.take());
        app.user = start.user.or(app.user.take());
        if let Some(id) = start.id {
            app.id = id;
        }
        self.spark.attempt = start.attempt;
        app.submitted_at = moment(start.at);
        self.saw(moment(start.at));
    }

    fn environment(&mut self, properties: Vec<(String, String)>) {
        for (name, value) in properties {
            self.app.conf.insert(name, Property { value, is_final: false });
        }
    }

    fn resource_profile(&mut self, profile: ResourceProfile) {
        if let Some(known) = self.profile_places.get(&profile.id) {
            if let Some(known) = self.spark.resource_profiles.get_mut(*known) {
                *known = profile;
            }
        } else if let Some(place) = self.new_place(self.spark.resource_profiles.len()) {
            self.profile_places.insert(profile.id, place);
            self.spark.resource_profiles.push(profile);
        }
    }

    /// The place of one more thing of a kind; `None` where the limit is reached, which is noted.
    fn new_place(&mut self, held: usize) -> Option<usize> {
        let room = self.limits.has_room_for_other_items(held);
        self.seen.beyond_limit.others += u64::from(!room);
        room.then_some(held)
    }

    /// Notes the latest moment of which the log tells.
    fn saw(&mut self, at: Option<Timestamp>) {
        self.spark.log.last_event = self.spark.log.last_event.max(at);
    }
}

fn stage_attempt(stage: Option<i64>, attempt: Option<i64>) -> Option<StageAttempt> {
    let number = |value: i64| u32::try_from(value).ok();
    // Spark 1.0 and before do not count attempts.
    Some(StageAttempt { stage: number(stage?)?, attempt: number(attempt.unwrap_or_default())? })
}

fn moment(ms: Option<i64>) -> Option<Timestamp> {
    Moments::default().read(ms)
}
