//! Events of one log into one [`Application`].

use std::collections::BTreeMap;
use std::num::NonZeroU32;

use rustc_hash::{FxHashMap, FxHashSet};

use super::block::{Block, What};
use super::event::{
    ApplicationStart, BlockManagerAdded, Event, ExecutorAdded, JobStart, RddInfo, SqlStart, StageInfo,
};
use super::numbered::Numbered;
use super::plan::Plan;
use super::storage::Storage;
use super::strings::{Local, Strings};
use super::task::{TaskEnd, TaskInfo, TaskStart};
use super::verify::{Sums, Totals};
use crate::limits::Limits;
use crate::model::conf::Property;
use crate::model::spark::{
    Exclusion, Executor, Job, JobResult, PersistedRdd, PlanMetric, PlanNode, ResourceProfile, Spark,
    SqlExecution, Stage, StageAttempt, StageStatus, StorageMemory,
};
use crate::model::table::{EndReason, MOST_OF_A_COUNTER, Outcome, TaskGroup, TaskKind, TimePoint};
use crate::model::{Application, Engine, Interner, Symbol};
use crate::parse::problem::{Position, Problems};
use crate::parse::reading::Moments;
use crate::parse::too_long;
use crate::units::{Bytes, Millis, Timestamp};

/// How long after its application a task may end: the driver notes both, but not at once.
const AFTER_THE_END: Millis = Millis::from_secs(60);

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
    executor_places: FxHashMap<Box<str>, usize>,
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
    /// Ends of tasks that do not tell when.
    pub(super) without_time: u64,
    /// Ends of tasks long after that of the application.
    pub(super) after_the_end: u64,
    pub(super) unusable_tasks: u64,
    pub(super) impossible_counters: u64,
    /// Things that were passed over because there were as many of their kind as the limits allow.
    pub(super) beyond_limit: u64,
}

/// A job that needs a stage.
struct NeedingJob {
    place: usize,
    /// The earliest submission of this job and of those with larger ids that need the stage.
    earliest_from_here: Option<Timestamp>,
}

/// Where in the log an event stands.
#[derive(Clone, Copy)]
pub(super) struct Place {
    pub(super) line: u64,
}

/// Block-local strings as symbols of the application.
struct Symbols<'a> {
    strings: &'a Strings,
    symbols: Vec<Option<Symbol>>,
}

impl<'a> Symbols<'a> {
    fn of(strings: &'a Strings, interner: &mut Interner) -> Self {
        Self { strings, symbols: strings.iter().map(|text| interner.intern(text)).collect() }
    }
}

impl Symbols<'_> {
    fn symbol(&self, local: Option<Local>) -> Option<Symbol> {
        self.symbols.get(local?.index()).copied().flatten()
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
        let mut symbols = Symbols::of(strings, &mut self.app.strings);
        let mut starts = starts.iter();
        let mut ends = ends.iter();
        for item in items.drain(..) {
            if let What::Event(event) = &item.what
                && self.is_of_another(event)
            {
                self.count_decoded(item.at - from);
                from = item.at;
                let next = Self::within(&self.limits);
                end(std::mem::replace(self, next));
                symbols = Symbols::of(strings, &mut self.app.strings);
            }
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
        } else if !self.seen.application_end {
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
            Event::JobEnd { id, at, succeeded, failure } => self.job_end(id, at, succeeded, failure),
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
                if let Some(executor) = self.executor(symbols.text(id)) {
                    // Its block manager's removal is told by another clock.
                    executor.removed_at = at.or(executor.removed_at);
                    executor.removed_reason = reason.or(executor.removed_reason.take());
                }
            }
            Event::ExecutorExcluded { id } => {
                if let Some(executor) = self.executor(symbols.text(id)) {
                    executor.exclusions += 1;
                }
            }
            Event::NodeExcluded { host, at, failures, lifted } => {
                self.node_excluded(host, at, failures, lifted);
            }
            Event::BlockManagerAdded(added) => self.block_manager_added(&added, symbols),
            Event::BlockManagerRemoved { id, at } => {
                let at = moment(at);
                if let Some(executor) = self.executor(symbols.text(id)) {
                    executor.removed_at = executor.removed_at.or(at);
                }
            }
            Event::BlockUpdated { executor, block, memory } => {
                if let (Some(block), Some(memory)) = (symbols.text(block), memory)
                    && let Some(place) = self.executor_place(symbols.text(executor))
                {
                    self.block_memory(place, block, memory);
                }
            }
            Event::Peaks { executor, peaks } => {
                if let Some(executor) = self.executor(symbols.text(executor)) {
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
                    set_plan(execution, &plan, symbols);
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

    fn job_start(&mut self, start: JobStart) {
        let Some(id) = start.id.and_then(|id| u32::try_from(id).ok()) else { return };
        self.saw(moment(start.at));
        let Some(job) = self.job(id) else { return };
        job.submitted_at = moment(start.at);
        job.stages = start.stages.into_iter().filter_map(|id| u32::try_from(id).ok()).collect();
        job.stages.sort_unstable();
        job.stages.dedup();
        job.description = start.description.or(start.last_stage_name);
        job.sql_execution = start.sql_execution.and_then(|id| u64::try_from(id).ok());
    }

    fn job_end(
        &mut self,
        id: Option<i64>,
        at: Option<i64>,
        succeeded: Option<bool>,
        failure: Option<String>,
    ) {
        let Some(id) = id.and_then(|id| u32::try_from(id).ok()) else { return };
        self.saw(moment(at));
        if !self.job_places.contains_key(&id) {
            self.seen.job_ends_without_start += 1;
        }
        let Some(job) = self.job(id) else { return };
        job.completed_at = moment(at);
        job.result = succeeded.map(|good| if good { JobResult::Succeeded } else { JobResult::Failed });
        job.failure = failure;
    }

    fn job(&mut self, id: u32) -> Option<&mut Job> {
        if let Some(&place) = self.job_places.get(&id) {
            return self.jobs.get_mut(place);
        }
        let place = self.new_place(self.jobs.len())?;
        self.job_places.insert(id, place);
        self.jobs.push(Job::new(id));
        self.jobs.get_mut(place)
    }

    /// The place of one more thing of a kind; `None` where the limit is reached, which is noted.
    fn new_place(&mut self, held: usize) -> Option<usize> {
        let room = self.limits.has_room_beside_tasks(held);
        self.seen.beyond_limit += u64::from(!room);
        room.then_some(held)
    }

    fn stage_place(&mut self, id: StageAttempt) -> Option<usize> {
        if let Some(&place) = self.stage_places.get(&id) {
            return Some(place);
        }
        let place = self.new_place(self.stages.len())?;
        self.stage_places.insert(id, place);
        self.stages.push(StageRecord {
            task_rows: Numbered::default(),
            stage: Stage::new(id),
            group: TaskGroup::new(TaskKind::Stage(id)),
            sums: Sums::Agree,
            submitted: false,
            completed: false,
        });
        Some(place)
    }

    fn stage_info(&mut self, info: StageInfo) -> Option<&mut StageRecord> {
        let id = stage_attempt(info.id, info.attempt)?;
        self.saw(moment(info.submitted));
        for rdd in info.rdds {
            self.persisted(rdd);
        }
        let place = self.stage_place(id)?;
        let record = self.stages.get_mut(place)?;
        let stage = &mut record.stage;
        stage.name = info.name.or(stage.name.take());
        stage.announced_tasks = info.tasks.and_then(|n| u64::try_from(n).ok()).or(stage.announced_tasks);
        stage.parents = info.parents.into_iter().filter_map(|id| u32::try_from(id).ok()).collect();
        stage.submitted_at = moment(info.submitted).or(stage.submitted_at);
        stage.resource_profile =
            info.resource_profile.and_then(|id| u32::try_from(id).ok()).or(stage.resource_profile);
        stage.failure = info.failure.or(stage.failure.take());
        if info.completed.is_some() {
            stage.completed_at = moment(info.completed);
            let known = |(id, value): (i64, i64)| Some((u64::try_from(id).ok()?, value));
            stage.accumulables = info.accumulables.into_iter().filter_map(known).collect();
            stage.accumulables.sort_unstable();
            record.sums = Totals::of(&info.totals).compare(&record.group.attempts);
        }
        Some(record)
    }

    fn stage_completed(&mut self, info: StageInfo) {
        self.saw(moment(info.completed));
        let Some(record) = self.stage_info(info) else { return };
        record.completed = true;
        record.stage.status =
            if record.stage.failure.is_some() { StageStatus::Failed } else { StageStatus::Complete };
        // Ends of tasks that lost their race may still come; they are few.
        record.group.shrink();
        record.stage.accumulables.shrink_to_fit();
    }

    fn task_start(&mut self, start: &TaskStart, symbols: &Symbols<'_>) {
        let place = stage_attempt(start.stage, start.stage_attempt);
        self.attempt(place, &start.info, symbols);
        if !self.without_start.is_empty()
            && let Some(id) = start.info.id.and_then(|id| u64::try_from(id).ok())
        {
            self.without_start.remove(&id);
        }
    }

    /// The attempt of a task by its id, made where it is new, and whether it was.
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
            self.seen.beyond_limit += 1;
            return None;
        }
        let stage = self.stage_place(stage)?;
        let record = self.stages.get_mut(stage)?;
        let task = record.task_row(index)?;
        let attempts = &mut record.group.attempts;
        let number = info.attempt.and_then(|number| u32::try_from(number).ok()).unwrap_or_default();
        let row = attempts.push(task, number);
        let host = symbols.symbol(info.host);
        attempts.set_id(row, Some(id));
        attempts.set_executor(row, symbols.symbol(info.executor));
        attempts.set_node(row, host);
        attempts.set_locality(row, info.locality);
        attempts.set_speculative(row, info.speculative);
        let launched = moment(info.launched);
        attempts.set_time(row, TimePoint::Start, launched);
        let place = AttemptPlace::new(stage, row)?;
        self.attempts.insert(id, place);
        self.attempts_held += 1;
        if let Some(executor) = self.executor(symbols.text(info.executor)) {
            executor.host = executor.host.or(host);
        }
        self.saw(launched);
        Some((place, true))
    }

    fn task_end(&mut self, end: &TaskEnd, symbols: &Symbols<'_>) {
        if end.resubmitted {
            self.seen.resubmitted += 1;
            return;
        }
        let stage = stage_attempt(end.stage, end.stage_attempt);
        let Some((place, is_new)) = self.attempt(stage, &end.info, symbols) else { return };
        if is_new {
            self.without_start.extend(end.info.id.and_then(|id| u64::try_from(id).ok()));
        }
        let executor = self.executor_place(symbols.text(end.info.executor));
        let Some(record) = self.stages.get_mut(place.stage()) else { return };
        let (attempts, row) = (&mut record.group.attempts, place.row as usize);
        if attempts.outcome(row) != Outcome::Unfinished {
            self.seen.repeated_ends += 1;
            return;
        }
        let finished = moment(end.info.finished);
        attempts.set_outcome(row, outcome(end));
        attempts.set_end_reason(row, end.reason);
        attempts.set_time(row, TimePoint::Finish, finished);
        attempts.set_time(row, TimePoint::GettingResult, moment(end.info.getting_result));
        if let Some(text) = symbols.symbol(end.message) {
            attempts.set_diagnostics(row, text);
        }
        for (counter, value) in end.metrics.iter() {
            self.seen.impossible_counters += u64::from(value > MOST_OF_A_COUNTER);
            attempts.set_counter(row, counter, Some(value));
        }
        if attempts.time(row, TimePoint::Start).is_some_and(|start| finished.is_some_and(|end| end < start)) {
            self.seen.backwards += 1;
        }
        self.seen.without_time +=
            u64::from(finished.is_none() && attempts.outcome(row) == Outcome::Succeeded);
        if let Some(place) = executor {
            if let Some(executor) = self.executors.get_mut(place) {
                executor.peaks.raise_all(&end.peaks);
            }
            for (block, memory) in &end.blocks {
                if let Some(block) = symbols.text(Some(*block)) {
                    self.block_memory(place, block, *memory);
                }
            }
        }
        self.saw(finished);
    }

    fn executor_place(&mut self, id: Option<&str>) -> Option<usize> {
        let id = id.filter(|id| !id.is_empty())?;
        if let Some(&place) = self.executor_places.get(id) {
            return Some(place);
        }
        let place = self.new_place(self.executors.len())?;
        self.executors.push(Executor { id: id.to_owned(), ..Executor::default() });
        self.executor_places.insert(id.into(), place);
        Some(place)
    }

    fn executor(&mut self, id: Option<&str>) -> Option<&mut Executor> {
        let place = self.executor_place(id)?;
        self.executors.get_mut(place)
    }

    fn executor_added(&mut self, added: &ExecutorAdded, symbols: &Symbols<'_>) {
        let at = moment(added.at);
        self.saw(at);
        let Some(id) = symbols.text(added.id) else { return };
        // Mesos used ids again: this is another life.
        let gone = self
            .executor(Some(id))
            .is_some_and(|executor| executor.removed_at.is_some_and(|gone| at > Some(gone)));
        if gone {
            self.executor_places.remove(id);
        }
        let Some(executor) = self.executor(Some(id)) else { return };
        executor.added_at = at.or(executor.added_at);
        executor.host = symbols.symbol(added.host).or(executor.host);
        executor.cores = added.cores.and_then(|cores| u32::try_from(cores).ok()).or(executor.cores);
        executor.resource_profile =
            added.resource_profile.and_then(|id| u32::try_from(id).ok()).or(executor.resource_profile);
    }

    fn block_manager_added(&mut self, added: &BlockManagerAdded, symbols: &Symbols<'_>) {
        let at = moment(added.at);
        self.saw(at);
        let size = |bytes: Option<i64>| bytes.and_then(|bytes| u64::try_from(bytes).ok()).map(Bytes::new);
        let host = symbols.symbol(added.host);
        if let Some(executor) = self.executor(symbols.text(added.id)) {
            // Up to Spark 1.2 this is all that tells of an executor's beginning.
            executor.added_at = executor.added_at.or(at);
            executor.host = executor.host.or(host);
            let peak_used = executor.storage.peak_used;
            executor.storage = StorageMemory {
                total: size(added.memory),
                on_heap: size(added.on_heap),
                off_heap: size(added.off_heap),
                peak_used,
            };
        }
    }

    fn block_memory(&mut self, executor: usize, block: &str, memory: i64) {
        let used = self.storage.note(executor, block, memory, &self.limits);
        self.seen.beyond_limit += u64::from(used.is_none());
        if let Some(executor) = self.executors.get_mut(executor) {
            executor.storage.peak_used = executor.storage.peak_used.max(used);
        }
    }

    fn node_excluded(&mut self, host: Option<String>, at: Option<i64>, failures: Option<i64>, lifted: bool) {
        let Some(name) = host else { return };
        if lifted {
            for place in self.excluded.remove(name.as_str()).unwrap_or_default() {
                if let Some(node) = self.spark.excluded_nodes.get_mut(place) {
                    node.lifted = true;
                }
            }
            return;
        }
        let task_failures = failures.and_then(|count| u64::try_from(count).ok());
        let Some(place) = self.new_place(self.spark.excluded_nodes.len()) else { return };
        self.excluded.entry(name.as_str().into()).or_default().push(place);
        self.spark.excluded_nodes.push(Exclusion { name, at: moment(at), task_failures, lifted: false });
    }

    fn rdd(&mut self, id: i64) -> Option<&mut PersistedRdd> {
        let place = *self.rdd_places.get(&u32::try_from(id).ok()?)?;
        self.rdds.get_mut(place)
    }

    fn persisted(&mut self, info: RddInfo) {
        let Some(id) = info.id.and_then(|id| u32::try_from(id).ok()) else { return };
        let count = |value: Option<i64>| value.and_then(|value| u64::try_from(value).ok());
        let rdd = PersistedRdd {
            id,
            name: info.name,
            partitions: count(info.partitions),
            cached_partitions: count(info.cached),
            memory: count(info.memory).map(Bytes::new),
            disk: count(info.disk).map(Bytes::new),
            unpersisted: false,
        };
        if let Some(known) = self.rdd(i64::from(id)) {
            *known = PersistedRdd { unpersisted: known.unpersisted, ..rdd };
        } else {
            let Some(place) = self.new_place(self.rdds.len()) else { return };
            self.rdd_places.insert(id, place);
            self.rdds.push(rdd);
        }
    }

    fn execution(&mut self, id: Option<i64>) -> Option<&mut SqlExecution> {
        let id = u64::try_from(id?).ok()?;
        if let Some(&place) = self.sql_places.get(&id) {
            return self.sql.get_mut(place);
        }
        let place = self.new_place(self.sql.len())?;
        self.sql_places.insert(id, place);
        self.sql.push(SqlExecution::new(id));
        self.sql.get_mut(place)
    }

    fn driver_updates(&mut self, id: Option<i64>, updates: Vec<(i64, i64)>) {
        let mut held = self.driver_updates_held;
        let limits = self.limits;
        let Some(execution) = self.execution(id) else { return };
        let mut beyond = 0;
        for (accumulator, value) in updates {
            let Ok(accumulator) = u64::try_from(accumulator) else { continue };
            if limits.has_room(held) {
                execution.driver_updates.push((accumulator, value));
                held += 1;
            } else {
                beyond += 1;
            }
        }
        self.driver_updates_held = held;
        self.seen.beyond_limit += beyond;
    }

    fn sql_start(&mut self, start: SqlStart, symbols: &Symbols<'_>) {
        if let Some(execution) = self.execution(start.id) {
            execution.description = start.description;
            execution.started_at = moment(start.at);
            set_plan(execution, &start.plan, symbols);
        }
    }

    /// Notes the latest moment of which the log tells.
    fn saw(&mut self, at: Option<Timestamp>) {
        self.spark.log.last_event = self.spark.log.last_event.max(at);
    }

    /// Puts everything in its order and sums up the executors.
    pub(super) fn assemble(&mut self) {
        self.attempts = Numbered::default();
        for place in std::mem::take(&mut self.storage).unknown() {
            if let Some(executor) = self.executors.get_mut(place) {
                executor.storage.peak_used = None;
            }
        }
        self.stages.sort_by_key(|record| record.stage.id);
        self.doubt_ends_after_the_last();
        for record in &mut self.stages {
            record.task_rows = Numbered::default();
            super::outcomes::settle(&mut record.group);
            record.group.shrink();
        }
        super::executors::sum_up(&self.stages, &mut self.executors, &self.app.strings);
        let is_driver =
            |executor: &Executor| matches!(executor.id.as_str(), "driver" | "<driver>" | "localhost");
        let executors = std::mem::take(&mut self.executors);
        let (drivers, mut executors): (Vec<_>, Vec<_>) = executors.into_iter().partition(is_driver);
        // "localhost" is what Spark 1 calls the driver's executor in local mode.
        self.spark.driver = drivers.into_iter().reduce(super::executors::merge).unwrap_or_default();
        executors.sort_by(|a, b| {
            Executor::order(&a.id).cmp(&Executor::order(&b.id)).then(a.added_at.cmp(&b.added_at))
        });
        self.spark.executors = executors;
        self.jobs.sort_by_key(|job| job.id);
        self.find_jobs();
        self.sql.sort_by_key(|execution| execution.id);
        self.rdds.sort_by_key(|rdd| rdd.id);
        self.spark.sql = std::mem::take(&mut self.sql);
        self.spark.rdds = std::mem::take(&mut self.rdds);
        self.spark.resource_profiles.sort_by_key(|profile| profile.id);
        let first_task = |record: &StageRecord| {
            let attempts = &record.group.attempts;
            (0..attempts.len()).filter_map(|row| attempts.time(row, TimePoint::Start)).min()
        };
        self.app.launched_at = self.stages.iter().filter_map(first_task).min();
    }

    /// No task ends after its application: such an end is not known.
    fn doubt_ends_after_the_last(&mut self) {
        let Some(end) = self.app.finished_at.map(|end| end + AFTER_THE_END) else { return };
        if self.spark.log.last_event.is_none_or(|last| last <= end) {
            return;
        }
        for record in &mut self.stages {
            let attempts = &mut record.group.attempts;
            for row in 0..attempts.len() {
                if attempts.time(row, TimePoint::Finish).is_some_and(|finished| finished > end) {
                    attempts.set_time(row, TimePoint::Finish, None);
                    self.seen.after_the_end += 1;
                }
            }
        }
    }

    /// Tells each stage attempt the job that ran it.
    fn find_jobs(&mut self) {
        let mut jobs_of_stage: BTreeMap<u32, Vec<NeedingJob>> = BTreeMap::new();
        for (place, job) in self.jobs.iter().enumerate() {
            for &stage in &job.stages {
                let job = NeedingJob { place, earliest_from_here: job.submitted_at };
                jobs_of_stage.entry(stage).or_default().push(job);
            }
        }
        for jobs in jobs_of_stage.values_mut() {
            let mut earliest = None;
            for job in jobs.iter_mut().rev() {
                earliest = job.earliest_from_here.into_iter().chain(earliest).min();
                job.earliest_from_here = earliest;
            }
        }
        for record in &mut self.stages {
            let stage = &mut record.stage;
            let Some(needed_by) = jobs_of_stage.get(&stage.id.stage) else { continue };
            // The last job that was there: nothing from it on was submitted earlier than all behind it.
            let was_there = |job: &NeedingJob| {
                job.earliest_from_here.zip(stage.submitted_at).is_some_and(|(job, stage)| job <= stage)
            };
            let behind = needed_by.partition_point(was_there);
            let last = behind.checked_sub(1).and_then(|last| needed_by.get(last));
            stage.job = last.or(needed_by.first()).map(|job| job.place);
        }
    }

    /// The application, its stages and jobs in order.
    pub(super) fn finish(mut self) -> Application {
        for record in self.stages {
            let mut stage = record.stage;
            if !record.group.tasks.is_empty() {
                stage.group = Some(self.app.groups.len());
                self.app.groups.push(record.group);
            }
            self.spark.stages.push(stage);
        }
        self.spark.jobs = self.jobs;
        self.app.spark = Some(Box::new(self.spark));
        self.app
    }
}

fn set_plan(execution: &mut SqlExecution, plan: &Plan, symbols: &Symbols<'_>) {
    let Some(nameless) = symbols.symbols.iter().flatten().next().copied() else { return };
    let node = |node: &super::plan::Node| PlanNode {
        name: symbols.symbol(node.name).unwrap_or(nameless),
        parent: node.parent,
    };
    execution.plan = plan.nodes.iter().map(node).collect();
    let metric = |metric: &super::plan::Metric| {
        Some(PlanMetric {
            node: metric.node,
            name: symbols.symbol(Some(metric.name))?,
            kind: symbols.symbol(Some(metric.kind))?,
            accumulator: metric.accumulator,
        })
    };
    execution.metrics = plan.metrics.iter().filter_map(metric).collect();
}

fn stage_attempt(stage: Option<i64>, attempt: Option<i64>) -> Option<StageAttempt> {
    let number = |value: i64| u32::try_from(value).ok();
    // Spark 1.0 and before do not count attempts.
    Some(StageAttempt { stage: number(stage?)?, attempt: number(attempt.unwrap_or_default())? })
}

fn moment(ms: Option<i64>) -> Option<Timestamp> {
    Moments::default().read(ms)
}

fn outcome(end: &TaskEnd) -> Outcome {
    match end.reason {
        Some(EndReason::Success) => Outcome::Succeeded,
        Some(EndReason::Killed | EndReason::CommitDenied) => Outcome::Killed,
        Some(_) => Outcome::Failed,
        None if end.info.killed == Some(true) => Outcome::Killed,
        None if end.info.failed == Some(true) => Outcome::Failed,
        None if !end.metrics.is_empty() => Outcome::Succeeded,
        None => Outcome::Unfinished,
    }
}
