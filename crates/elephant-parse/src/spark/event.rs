//! All events except task starts and ends: which are kept, and how they are read.
//!
//! Names are those of `SparkListenerEvent`s without their package. Events without a variant here are skipped
//! by name.

mod application;
mod executor;
mod job;
mod sql;
mod stage;
mod stream;

use std::sync::LazyLock;

use memchr::memmem::Finder;

pub(super) use stream::{Progress, StreamInfo};

use super::failure_text;
use super::plan::Plan;
use super::storage::{BlockMemory, RddBlock};
use super::strings::{Local, Strings};
use crate::reading::truncate;
use crate::scan::{Cursor, RawStr, Scan};
use elephant_model::model::counters::Counter;
use elephant_model::model::spark::{
    Fallback, JobResult, Origins, Peaks, Resource, ResourceProfile, StageAttempt,
};

/// Maximum length of call sites and messages, which are only shown to people.
const MAX_NAME_LEN: usize = 500;

/// Maximum number of stages, properties, accumulables and so on in one event; events with more are skipped. Real ones
/// have thousands, and a line of the maximum length could have so many that they take twenty times as much memory.
pub(super) const MAX_LISTED: usize = 1 << 20;

/// Maximum number of resources of an executor or a profile; further ones are skipped. Real ones have a GPU.
const MAX_RESOURCES: usize = 16;

/// An event that is kept, except for tasks.
#[derive(Debug)]
pub(super) enum Event {
    LogStart {
        version: Option<String>,
    },
    /// Starts each part of a Databricks log.
    Rollover {
        version: Option<String>,
        number: Option<i64>,
    },
    ApplicationStart(ApplicationStart),
    ApplicationEnd {
        at: Option<i64>,
        exit_code: Option<i64>,
    },
    Environment(Vec<(String, String)>),
    ResourceProfile(ResourceProfile),
    JobStart(JobStart),
    JobEnd {
        id: Option<i64>,
        at: Option<i64>,
        /// `None` for a result that Spark does not have.
        result: Option<JobResult>,
        failure: Option<String>,
    },
    StageSubmitted(StageInfo),
    StageCompleted(StageInfo),
    ExecutorAdded(ExecutorAdded),
    ExecutorRemoved {
        id: Option<Local>,
        at: Option<i64>,
        reason: Option<String>,
    },
    ExecutorExcluded {
        id: Option<Local>,
        failures: Option<i64>,
    },
    NodeExcluded {
        host: Option<String>,
        at: Option<i64>,
        failures: Option<i64>,
        lifted: bool,
        /// Whether the node was excluded for a single stage only.
        of_stage: bool,
    },
    BlockManagerAdded(BlockManagerAdded),
    BlockManagerRemoved {
        id: Option<Local>,
        at: Option<i64>,
    },
    BlockUpdated {
        executor: Option<Local>,
        block: Option<RddBlock>,
        memory: Option<BlockMemory>,
    },
    Peaks {
        /// The stage that ended, unless it is a heartbeat.
        stage: Option<StageAttempt>,
        executor: Option<Local>,
        peaks: Peaks,
    },
    Unpersisted {
        rdd: Option<i64>,
    },
    SqlStart(SqlStart),
    SqlEnd {
        id: Option<i64>,
        at: Option<i64>,
        error: Option<String>,
    },
    SqlPlan {
        id: Option<i64>,
        plan: Plan,
    },
    /// Metrics of the subqueries of an execution.
    SubqueryMetrics {
        id: Option<i64>,
        metrics: Plan,
    },
    DriverAccumulators {
        id: Option<i64>,
        updates: Vec<(i64, i64)>,
    },
    /// Operators that a native engine did not run.
    Fallback {
        id: Option<i64>,
        all: Vec<Fallback>,
    },
    StreamStarted(StreamInfo),
    StreamProgress(Box<Progress>),
    StreamTerminated(StreamInfo),
}

#[derive(Debug, Default)]
pub(super) struct ApplicationStart {
    pub(super) name: Option<String>,
    pub(super) id: Option<String>,
    pub(super) at: Option<i64>,
    pub(super) user: Option<String>,
    pub(super) attempt: Option<String>,
}

#[derive(Debug, Default)]
pub(super) struct JobStart {
    pub(super) id: Option<i64>,
    pub(super) at: Option<i64>,
    pub(super) stages: Vec<i64>,
    pub(super) last_stage_name: Option<String>,
    pub(super) description: Option<String>,
    pub(super) group: Option<String>,
    pub(super) sql_execution: Option<i64>,
    /// It belongs to a batch of a stream.
    pub(super) of_stream: bool,
}

#[derive(Debug, Default)]
pub(super) struct StageInfo {
    pub(super) id: Option<i64>,
    pub(super) attempt: Option<i64>,
    pub(super) name: Option<String>,
    pub(super) tasks: Option<i64>,
    /// The task count is present but not a number.
    pub(super) unreadable_task_count: bool,
    pub(super) rdds: Vec<RddInfo>,
    /// All its tasks must run at the same time.
    pub(super) is_barrier: bool,
    pub(super) origins: Origins,
    /// The first line of the call stack.
    pub(super) first_call: Option<String>,
    pub(super) parents: Vec<i64>,
    pub(super) submitted: Option<i64>,
    pub(super) completed: Option<i64>,
    pub(super) failure: Option<String>,
    pub(super) accumulables: Vec<(i64, i64)>,
    /// Spark's own sums over the stage's tasks.
    pub(super) totals: Vec<(Counter, i64)>,
    pub(super) resource_profile: Option<i64>,
}

/// An RDD that has a storage level.
#[derive(Debug, Default)]
pub(super) struct RddInfo {
    pub(super) id: Option<i64>,
    pub(super) name: Option<String>,
    pub(super) partitions: Option<i64>,
    pub(super) cached: Option<i64>,
    pub(super) memory: Option<i64>,
    pub(super) disk: Option<i64>,
}

#[derive(Debug, Default)]
pub(super) struct ExecutorAdded {
    pub(super) id: Option<Local>,
    pub(super) at: Option<i64>,
    pub(super) host: Option<Local>,
    pub(super) cores: Option<i64>,
    pub(super) resource_profile: Option<i64>,
    pub(super) resources: Vec<Resource>,
}

#[derive(Debug, Default)]
pub(super) struct BlockManagerAdded {
    pub(super) id: Option<Local>,
    pub(super) host: Option<Local>,
    pub(super) at: Option<i64>,
    pub(super) memory: Option<BlockMemory>,
    pub(super) on_heap: Option<i64>,
    pub(super) off_heap: Option<i64>,
}

#[derive(Debug, Default)]
pub(super) struct SqlStart {
    pub(super) id: Option<i64>,
    pub(super) root: Option<i64>,
    pub(super) description: Option<String>,
    pub(super) call_stack: Option<String>,
    pub(super) tags: Vec<String>,
    pub(super) at: Option<i64>,
    pub(super) plan: Plan,
}

/// Reads an event after its name; `None` for one that is not kept.
pub(super) fn read(name: &[u8], cursor: &mut Cursor<'_>, strings: &mut Strings) -> Scan<Option<Event>> {
    let short = name.rsplit(|&byte| byte == b'.').next().unwrap_or(name);
    let short = short.strip_prefix(b"SparkListener").unwrap_or(short);
    Ok(Some(match short {
        b"LogStart" => application::log_start(cursor)?,
        b"DBCEventLoggingListenerMetadata" => application::rollover(cursor)?,
        b"ApplicationStart" => application::application_start(cursor)?,
        b"ApplicationEnd" => application::application_end(cursor)?,
        b"EnvironmentUpdate" => application::environment(cursor)?,
        b"ResourceProfileAdded" => application::resource_profile(cursor)?,
        b"JobStart" => job::job_start(cursor)?,
        b"JobEnd" => job::job_end(cursor)?,
        b"StageSubmitted" => Event::StageSubmitted(stage::stage_event(cursor)?),
        b"StageCompleted" => Event::StageCompleted(stage::stage_event(cursor)?),
        b"ExecutorAdded" => executor::executor_added(cursor, strings)?,
        b"ExecutorRemoved" => executor::executor_removed(cursor, strings)?,
        b"ExecutorBlacklisted"
        | b"ExecutorExcluded"
        | b"ExecutorBlacklistedForStage"
        | b"ExecutorExcludedForStage" => executor::executor_excluded(cursor, strings)?,
        b"NodeBlacklisted" | b"NodeExcluded" | b"NodeBlacklistedForStage" | b"NodeExcludedForStage" => {
            executor::node_excluded(cursor, false)?
        }
        b"NodeUnblacklisted" | b"NodeUnexcluded" => executor::node_excluded(cursor, true)?,
        b"BlockManagerAdded" => executor::block_manager_added(cursor, strings)?,
        b"BlockManagerRemoved" => executor::block_manager_removed(cursor, strings)?,
        b"BlockUpdated" => executor::block_updated(cursor, strings)?,
        b"StageExecutorMetrics" => executor::stage_executor_metrics(cursor, strings)?,
        b"ExecutorMetricsUpdate" => executor::executor_metrics_update(cursor, strings)?,
        b"UnpersistRDD" => stage::unpersisted(cursor)?,
        b"SQLExecutionStart" => sql::sql_start(cursor, strings)?,
        b"SQLExecutionEnd" => sql::sql_end(cursor)?,
        b"SQLAdaptiveExecutionUpdate" => sql::sql_plan(cursor, strings)?,
        b"SQLAdaptiveSQLMetricUpdates" => sql::subquery_metrics(cursor, strings)?,
        b"DriverAccumUpdates" => sql::driver_accumulators(cursor)?,
        b"GlutenPlanFallbackEvent" => sql::fallback(cursor)?,
        b"StreamingQueryListener$QueryStartedEvent" => stream::started(cursor)?,
        b"StreamingQueryListener$QueryProgressEvent" => stream::progress(cursor)?,
        b"StreamingQueryListener$QueryTerminatedEvent" => stream::terminated(cursor)?,
        _ => return Ok(None),
    }))
}

/// Reads an event after its name with shortcuts, which nearly always apply. In a line of valid JSON, a shortcut that ends
/// in a wrong place leaves a rest that cannot be read to its end as members of the event: then the event is read again
/// without shortcuts.
fn either_way<'a, T>(
    cursor: &mut Cursor<'a>,
    mut read: impl FnMut(&mut Cursor<'a>, bool) -> Scan<T>,
) -> Scan<T> {
    let at_start = *cursor;
    if let Ok(event) = read(cursor, true)
        && cursor.at_end()
    {
        return Ok(event);
    }
    *cursor = at_start;
    read(cursor, false)
}

/// Skips a map of texts that nearly always is the last member of its event, and returns its bytes. The shortcut looks
/// only at its end and for nested objects, so it does not notice damage inside the map.
fn last_member<'a>(cursor: &mut Cursor<'a>, shortcut: bool) -> Scan<&'a [u8]> {
    static NESTED: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new(b"\":{"));
    let rest = cursor.rest();
    if shortcut
        && let Some(map) = rest.strip_suffix(b"}")
        && map.starts_with(b"{")
        && let [.., before, b'"', b'}'] = map
        // Otherwise this may be a bracket inside a text where the line was cut.
        && !matches!(before, b'\\' | b':' | b',' | b'{')
        && NESTED.find(map).is_none()
    {
        cursor.skip(map.len());
        return Ok(map);
    }
    cursor.value()
}

fn text(raw: Option<RawStr<'_>>, limit: usize) -> Option<String> {
    let text = raw?.text();
    (!text.is_empty()).then(|| truncate(&text, limit).to_owned())
}

/// A text field, truncated to `limit` bytes.
fn field(cursor: &mut Cursor<'_>, limit: usize) -> Scan<Option<String>> {
    Ok(text(cursor.string_or_skip()?, limit))
}

/// The text of a failure: its start, and its last cause.
fn failure_field(cursor: &mut Cursor<'_>) -> Scan<Option<String>> {
    Ok(cursor.string_or_skip()?.and_then(|raw| failure_text::shortened(raw, MAX_NAME_LEN)))
}

fn integers(cursor: &mut Cursor<'_>, into: &mut Vec<i64>) -> Scan<()> {
    cursor.elements(|cursor| {
        if let Some(number) = cursor.integer_or_skip()? {
            push(into, number);
        }
        Ok(())
    })
}

/// Adds to a list, up to one element too many.
fn push<T>(list: &mut Vec<T>, element: T) {
    if list.len() <= MAX_LISTED {
        list.push(element);
    }
}

impl Event {
    /// Whether a list in the event is longer than [`MAX_LISTED`].
    pub(super) fn lists_too_much(&self) -> bool {
        let of_plan = |plan: &Plan| plan.operators.len().max(plan.metrics.len()).max(plan.facts.len());
        let longest = match self {
            Self::Environment(properties) => properties.len(),
            Self::JobStart(start) => start.stages.len(),
            Self::StageSubmitted(info) | Self::StageCompleted(info) => {
                info.rdds.len().max(info.parents.len()).max(info.accumulables.len())
            }
            Self::SqlStart(start) => of_plan(&start.plan),
            Self::SqlPlan { plan, .. } | Self::SubqueryMetrics { metrics: plan, .. } => of_plan(plan),
            Self::DriverAccumulators { updates, .. } => updates.len(),
            _ => 0,
        };
        longest > MAX_LISTED
    }
}

#[cfg(test)]
mod tests;
