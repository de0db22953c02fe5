//! Every other event: what of it is kept, and how it is read.
//!
//! Names are those of `SparkListenerEvent`s, without their package. What has no variant here is passed over by its
//! name alone.

use memchr::memmem;

use super::plan::{self, Plan};
use super::strings::{Local, Strings};
use super::task::peaks;
use crate::model::spark::{JobResult, Peaks, ResourceProfile};
use crate::parse::reading::{MAX_TEXT_LEN, cut};
use crate::parse::scan::{Cursor, RawStr, Scan};
use crate::units::Bytes;

/// Names of call sites and messages are for people.
const MAX_NAME_LEN: usize = 500;

/// An event that is kept, tasks aside.
#[derive(Debug)]
pub(super) enum Event {
    LogStart {
        version: Option<String>,
    },
    /// Opens each part of a log of Databricks.
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
        /// `None` for a word that Spark does not have.
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
    },
    NodeExcluded {
        host: Option<String>,
        at: Option<i64>,
        failures: Option<i64>,
        lifted: bool,
    },
    BlockManagerAdded(BlockManagerAdded),
    BlockManagerRemoved {
        id: Option<Local>,
        at: Option<i64>,
    },
    BlockUpdated {
        executor: Option<Local>,
        block: Option<Local>,
        memory: Option<i64>,
    },
    Peaks {
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
    DriverAccumulators {
        id: Option<i64>,
        updates: Vec<(i64, i64)>,
    },
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
    pub(super) sql_execution: Option<i64>,
}

#[derive(Debug, Default)]
pub(super) struct StageInfo {
    pub(super) id: Option<i64>,
    pub(super) attempt: Option<i64>,
    pub(super) name: Option<String>,
    pub(super) tasks: Option<i64>,
    pub(super) rdds: Vec<RddInfo>,
    pub(super) parents: Vec<i64>,
    pub(super) submitted: Option<i64>,
    pub(super) completed: Option<i64>,
    pub(super) failure: Option<String>,
    pub(super) accumulables: Vec<(i64, i64)>,
    pub(super) totals: Vec<(InternalMetric, i64)>,
    pub(super) resource_profile: Option<i64>,
}

/// Accumulables of Spark's own that repeat what tasks report ("internal.metrics.…").
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum InternalMetric {
    RunTime,
    GcTime,
    MemorySpilled,
    DiskSpilled,
    InputBytes,
    OutputBytes,
    ShuffleWritten,
}

/// An RDD with a storage level.
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
}

#[derive(Debug, Default)]
pub(super) struct BlockManagerAdded {
    pub(super) id: Option<Local>,
    pub(super) host: Option<Local>,
    pub(super) at: Option<i64>,
    pub(super) memory: Option<i64>,
    pub(super) on_heap: Option<i64>,
    pub(super) off_heap: Option<i64>,
}

#[derive(Debug, Default)]
pub(super) struct SqlStart {
    pub(super) id: Option<i64>,
    pub(super) description: Option<String>,
    pub(super) at: Option<i64>,
    pub(super) plan: Plan,
}

/// Reads an event behind its name; `None` for one that is not kept.
pub(super) fn read(name: &[u8], cursor: &mut Cursor<'_>, strings: &mut Strings) -> Scan<Option<Event>> {
    let short = name.rsplit(|&byte| byte == b'.').next().unwrap_or(name);
    let short = short.strip_prefix(b"SparkListener").unwrap_or(short);
    Ok(Some(match short {
        b"LogStart" => log_start(cursor)?,
        b"DBCEventLoggingListenerMetadata" => rollover(cursor)?,
        b"ApplicationStart" => application_start(cursor)?,
        b"ApplicationEnd" => application_end(cursor)?,
        b"EnvironmentUpdate" => environment(cursor)?,
        b"ResourceProfileAdded" => resource_profile(cursor)?,
        b"JobStart" => job_start(cursor)?,
        b"JobEnd" => job_end(cursor)?,
        b"StageSubmitted" => Event::StageSubmitted(stage_event(cursor)?),
        b"StageCompleted" => Event::StageCompleted(stage_event(cursor)?),
        b"ExecutorAdded" => executor_added(cursor, strings)?,
        b"ExecutorRemoved" => executor_removed(cursor, strings)?,
        b"ExecutorBlacklisted"
        | b"ExecutorExcluded"
        | b"ExecutorBlacklistedForStage"
        | b"ExecutorExcludedForStage" => executor_excluded(cursor, strings)?,
        b"NodeBlacklisted" | b"NodeExcluded" => node_excluded(cursor, false)?,
        b"NodeUnblacklisted" | b"NodeUnexcluded" => node_excluded(cursor, true)?,
        b"BlockManagerAdded" => block_manager_added(cursor, strings)?,
        b"BlockManagerRemoved" => block_manager_removed(cursor, strings)?,
        b"BlockUpdated" => block_updated(cursor, strings)?,
        b"StageExecutorMetrics" => stage_executor_metrics(cursor, strings)?,
        b"ExecutorMetricsUpdate" => executor_metrics_update(cursor, strings)?,
        b"UnpersistRDD" => unpersisted(cursor)?,
        b"SQLExecutionStart" => sql_start(cursor, strings)?,
        b"SQLExecutionEnd" => sql_end(cursor)?,
        b"SQLAdaptiveExecutionUpdate" => sql_plan(cursor, strings)?,
        b"DriverAccumUpdates" => driver_accumulators(cursor)?,
        _ => return Ok(None),
    }))
}

fn text(raw: Option<RawStr<'_>>, limit: usize) -> Option<String> {
    let text = raw?.text();
    (!text.is_empty()).then(|| cut(&text, limit).to_owned())
}

/// A field that is text, at most so many bytes of it.
fn field(cursor: &mut Cursor<'_>, limit: usize) -> Scan<Option<String>> {
    Ok(text(cursor.string_or_skip()?, limit))
}

fn log_start(cursor: &mut Cursor<'_>) -> Scan<Event> {
    let mut version = None;
    cursor.members_after_first(&[b"\"Spark Version\":"], |_, cursor| {
        version = field(cursor, MAX_NAME_LEN)?;
        Ok(())
    })?;
    Ok(Event::LogStart { version })
}

fn rollover(cursor: &mut Cursor<'_>) -> Scan<Event> {
    let (mut version, mut number) = (None, None);
    cursor.members_after_first(&[b"\"Spark Version\":", b"\"Rollover Number\":"], |key, cursor| {
        match key {
            0 => version = field(cursor, MAX_NAME_LEN)?,
            _ => number = cursor.integer_or_skip()?,
        }
        Ok(())
    })?;
    Ok(Event::Rollover { version, number })
}

fn application_start(cursor: &mut Cursor<'_>) -> Scan<Event> {
    let mut start = ApplicationStart::default();
    let keys: [&[u8]; 5] =
        [b"\"App Name\":", b"\"App ID\":", b"\"Timestamp\":", b"\"User\":", b"\"App Attempt ID\":"];
    cursor.members_after_first(&keys, |key, cursor| {
        match key {
            0 => start.name = field(cursor, MAX_TEXT_LEN)?,
            1 => start.id = field(cursor, MAX_NAME_LEN)?,
            2 => start.at = cursor.integer_or_skip()?,
            3 => start.user = field(cursor, MAX_NAME_LEN)?,
            _ => start.attempt = field(cursor, MAX_NAME_LEN)?,
        }
        Ok(())
    })?;
    Ok(Event::ApplicationStart(start))
}

fn application_end(cursor: &mut Cursor<'_>) -> Scan<Event> {
    let (mut at, mut exit_code) = (None, None);
    cursor.members_after_first(&[b"\"Timestamp\":", b"\"ExitCode\":"], |key, cursor| {
        match key {
            0 => at = cursor.integer_or_skip()?,
            _ => exit_code = cursor.integer_or_skip()?,
        }
        Ok(())
    })?;
    Ok(Event::ApplicationEnd { at, exit_code })
}

/// Spark's properties, and of Hadoop's those that tell how containers are cut.
fn environment(cursor: &mut Cursor<'_>) -> Scan<Event> {
    let mut properties = Vec::new();
    let keys: [&[u8]; 2] = [b"\"Spark Properties\":", b"\"Hadoop Properties\":"];
    cursor.members_after_first(&keys, |key, cursor| {
        let prefix = if key == 0 { "" } else { "yarn.scheduler." };
        pairs(cursor, |name, value| {
            if name.starts_with(prefix) {
                properties.push((name, cut(&value, MAX_TEXT_LEN).to_owned()));
            }
        })
    })?;
    Ok(Event::Environment(properties))
}

/// The members of an object whose values are text; before Spark 1.0 it was an array of pairs.
fn pairs(cursor: &mut Cursor<'_>, mut pair: impl FnMut(String, String)) -> Scan<()> {
    cursor.each_member(|key, cursor| {
        if let Some(value) = cursor.string_or_skip()? {
            pair(key.text().into_owned(), value.text().into_owned());
        }
        Ok(())
    })
}

fn resource_profile(cursor: &mut Cursor<'_>) -> Scan<Event> {
    let mut profile = ResourceProfile::default();
    let keys: [&[u8]; 3] =
        [b"\"Resource Profile Id\":", b"\"Executor Resource Requests\":", b"\"Task Resource Requests\":"];
    cursor.members_after_first(&keys, |key, cursor| match key {
        0 => {
            let id = cursor.integer_or_skip()?;
            profile.id = id.and_then(|id| u32::try_from(id).ok()).unwrap_or_default();
            Ok(())
        }
        1 => amounts(cursor, |name, amount| {
            // Sizes are in MiB.
            let size = Bytes::from_f64(amount).map(|mib| Bytes::from_mib(mib.get()));
            match name {
                b"cores" => profile.cores = whole(amount),
                b"memory" => profile.memory = size,
                b"memoryOverhead" => profile.overhead = size,
                b"offHeap" => profile.off_heap = size,
                b"pyspark.memory" => profile.pyspark = size,
                _ => {}
            }
        }),
        _ => amounts(cursor, |name, amount| {
            if name == b"cpus" {
                profile.task_cpus_thousandths = whole(amount * 1000.0);
            }
        }),
    })?;
    Ok(Event::ResourceProfile(profile))
}

fn whole(amount: f64) -> Option<u32> {
    Bytes::from_f64(amount.round()).and_then(|whole| u32::try_from(whole.get()).ok())
}

/// `{"cores":{"Resource Name":"cores","Amount":4,…},…}`
fn amounts(cursor: &mut Cursor<'_>, mut amount: impl FnMut(&[u8], f64)) -> Scan<()> {
    cursor.each_member(|name, cursor| {
        let mut written: &[u8] = &[];
        cursor.members(&[b"\"Amount\":"], |_, cursor| {
            written = cursor.value()?;
            Ok(())
        })?;
        if let Some(value) = std::str::from_utf8(written).ok().and_then(|text| text.parse().ok()) {
            amount(name.bytes, value);
        }
        Ok(())
    })
}

fn job_start(cursor: &mut Cursor<'_>) -> Scan<Event> {
    let mut job = JobStart::default();
    let keys: [&[u8]; 5] =
        [b"\"Job ID\":", b"\"Submission Time\":", b"\"Stage Infos\":", b"\"Stage IDs\":", b"\"Properties\":"];
    let mut infos = Vec::new();
    let mut last_stage = None;
    cursor.members_after_first(&keys, |key, cursor| {
        match key {
            0 => job.id = cursor.integer_or_skip()?,
            1 => job.at = cursor.integer_or_skip()?,
            2 => cursor.elements(|cursor| {
                let (id, name) = stage_id_and_name(cursor)?;
                infos.extend(id);
                if id.is_some() && id >= last_stage {
                    last_stage = id;
                    job.last_stage_name = text(name, MAX_NAME_LEN);
                }
                Ok(())
            })?,
            3 => integers(cursor, &mut job.stages)?,
            _ => job_properties(cursor, &mut job)?,
        }
        Ok(())
    })?;
    if job.stages.is_empty() {
        job.stages = infos;
    }
    Ok(Event::JobStart(job))
}

/// Of a stage that may never run only its place is of interest.
fn stage_id_and_name<'a>(cursor: &mut Cursor<'a>) -> Scan<(Option<i64>, Option<RawStr<'a>>)> {
    let (mut id, mut name) = (None, None);
    cursor.members(&[b"\"Stage ID\":", b"\"Stage Name\":"], |key, cursor| {
        match key {
            0 => id = cursor.integer_or_skip()?,
            _ => name = cursor.string_or_skip()?,
        }
        Ok(())
    })?;
    Ok((id, name))
}

fn integers(cursor: &mut Cursor<'_>, into: &mut Vec<i64>) -> Scan<()> {
    cursor.elements(|cursor| {
        into.extend(cursor.integer_or_skip()?);
        Ok(())
    })
}

/// A job's properties repeat the whole configuration: they are searched, not read.
fn job_properties(cursor: &mut Cursor<'_>, job: &mut JobStart) -> Scan<()> {
    let properties = cursor.value()?;
    let find = |key: &[u8]| {
        let at = memmem::find(properties, key)?;
        let mut value = Cursor::new(properties.get(at + key.len()..)?);
        value.take(b':').then_some(())?;
        value.string().ok()
    };
    job.sql_execution = find(b"\"spark.sql.execution.id\"").and_then(|id| id.text().parse().ok());
    job.description = text(find(b"\"spark.job.description\""), MAX_NAME_LEN);
    Ok(())
}

fn job_end(cursor: &mut Cursor<'_>) -> Scan<Event> {
    let (mut id, mut at, mut result, mut failure) = (None, None, None, None);
    let keys: [&[u8]; 3] = [b"\"Job ID\":", b"\"Completion Time\":", b"\"Job Result\":"];
    cursor.members_after_first(&keys, |key, cursor| {
        match key {
            0 => id = cursor.integer_or_skip()?,
            1 => at = cursor.integer_or_skip()?,
            _ => cursor.members(&[b"\"Result\":", b"\"Exception\":"], |key, cursor| {
                match key {
                    0 => result = cursor.string_or_skip()?,
                    _ => cursor.members(&[b"\"Message\":"], |_, cursor| {
                        failure = field(cursor, MAX_NAME_LEN)?;
                        Ok(())
                    })?,
                }
                Ok(())
            })?,
        }
        Ok(())
    })?;
    let result = result.map(RawStr::text).and_then(|result| match &*result {
        "JobSucceeded" => Some(JobResult::Succeeded),
        "JobFailed" => Some(JobResult::Failed),
        _ => None,
    });
    Ok(Event::JobEnd { id, at, result, failure })
}

fn stage_event(cursor: &mut Cursor<'_>) -> Scan<StageInfo> {
    let mut stage = StageInfo::default();
    cursor.members_after_first(&[b"\"Stage Info\":"], |_, cursor| stage_info(cursor, &mut stage))?;
    Ok(stage)
}

fn stage_info(cursor: &mut Cursor<'_>, stage: &mut StageInfo) -> Scan<()> {
    const KEYS: [&[u8]; 11] = [
        b"\"Stage ID\":",
        b"\"Stage Attempt ID\":",
        b"\"Stage Name\":",
        b"\"Number of Tasks\":",
        b"\"RDD Info\":",
        b"\"Parent IDs\":",
        b"\"Submission Time\":",
        b"\"Completion Time\":",
        b"\"Failure Reason\":",
        b"\"Accumulables\":",
        b"\"Resource Profile Id\":",
    ];
    cursor.members(&KEYS, |key, cursor| {
        match key {
            0 => stage.id = cursor.integer_or_skip()?,
            1 => stage.attempt = cursor.integer_or_skip()?,
            2 => stage.name = field(cursor, MAX_NAME_LEN)?,
            3 => stage.tasks = cursor.integer_or_skip()?,
            4 => cursor.elements(|cursor| rdd_info(cursor, &mut stage.rdds))?,
            5 => integers(cursor, &mut stage.parents)?,
            6 => stage.submitted = cursor.integer_or_skip()?,
            7 => stage.completed = cursor.integer_or_skip()?,
            8 => stage.failure = field(cursor, MAX_NAME_LEN)?,
            9 => accumulables(cursor, stage)?,
            _ => stage.resource_profile = cursor.integer_or_skip()?,
        }
        Ok(())
    })
}

fn rdd_info(cursor: &mut Cursor<'_>, persisted: &mut Vec<RddInfo>) -> Scan<()> {
    const KEYS: [&[u8]; 7] = [
        b"\"RDD ID\":",
        b"\"Name\":",
        b"\"Storage Level\":",
        b"\"Number of Partitions\":",
        b"\"Number of Cached Partitions\":",
        b"\"Memory Size\":",
        b"\"Disk Size\":",
    ];
    let mut rdd = RddInfo::default();
    let mut name = None;
    let mut is_persisted = false;
    cursor.members(&KEYS, |key, cursor| {
        match key {
            0 => rdd.id = cursor.integer_or_skip()?,
            1 => name = cursor.string_or_skip()?,
            2 => cursor.members(&[b"\"Use Disk\":", b"\"Use Memory\":"], |_, cursor| {
                is_persisted |= cursor.bool_or_skip()? == Some(true);
                Ok(())
            })?,
            3 => rdd.partitions = cursor.integer_or_skip()?,
            4 => rdd.cached = cursor.integer_or_skip()?,
            5 => rdd.memory = cursor.integer_or_skip()?,
            _ => rdd.disk = cursor.integer_or_skip()?,
        }
        Ok(())
    })?;
    if is_persisted {
        rdd.name = text(name, MAX_NAME_LEN);
        persisted.push(rdd);
    }
    Ok(())
}

/// The final values of a stage's accumulables that are whole numbers, written as numbers or as text.
fn accumulables(cursor: &mut Cursor<'_>, stage: &mut StageInfo) -> Scan<()> {
    const KEYS: [&[u8]; 3] = [b"\"ID\":", b"\"Name\":", b"\"Value\":"];
    cursor.elements(|cursor| {
        let (mut id, mut name, mut value): (_, Option<RawStr<'_>>, &[u8]) = (None, None, &[]);
        cursor.members(&KEYS, |key, cursor| {
            match key {
                0 => id = cursor.integer_or_skip()?,
                1 => name = cursor.string_or_skip()?,
                _ => value = cursor.value()?,
            }
            Ok(())
        })?;
        let digits = value.strip_prefix(b"\"").and_then(|text| text.strip_suffix(b"\"")).unwrap_or(value);
        let number = std::str::from_utf8(digits).ok().and_then(|text| text.parse::<i64>().ok());
        if let (Some(id), Some(number)) = (id, number) {
            stage.accumulables.push((id, number));
            if let Some(metric) = name.and_then(|name| internal_metric(name.bytes)) {
                stage.totals.push((metric, number));
            }
        }
        Ok(())
    })
}

fn internal_metric(name: &[u8]) -> Option<InternalMetric> {
    Some(match name.strip_prefix(b"internal.metrics.")? {
        b"executorRunTime" => InternalMetric::RunTime,
        b"jvmGCTime" => InternalMetric::GcTime,
        b"memoryBytesSpilled" => InternalMetric::MemorySpilled,
        b"diskBytesSpilled" => InternalMetric::DiskSpilled,
        b"input.bytesRead" => InternalMetric::InputBytes,
        b"output.bytesWritten" => InternalMetric::OutputBytes,
        b"shuffle.write.bytesWritten" => InternalMetric::ShuffleWritten,
        _ => return None,
    })
}

fn executor_added(cursor: &mut Cursor<'_>, strings: &mut Strings) -> Scan<Event> {
    let mut added = ExecutorAdded::default();
    let keys: [&[u8]; 3] = [b"\"Timestamp\":", b"\"Executor ID\":", b"\"Executor Info\":"];
    let info_keys: [&[u8]; 3] = [b"\"Host\":", b"\"Total Cores\":", b"\"Resource Profile Id\":"];
    cursor.members_after_first(&keys, |key, cursor| {
        match key {
            0 => added.at = cursor.integer_or_skip()?,
            1 => added.id = strings.read(cursor)?,
            _ => cursor.members(&info_keys, |key, cursor| {
                match key {
                    0 => added.host = strings.read(cursor)?,
                    1 => added.cores = cursor.integer_or_skip()?,
                    _ => added.resource_profile = cursor.integer_or_skip()?,
                }
                Ok(())
            })?,
        }
        Ok(())
    })?;
    Ok(Event::ExecutorAdded(added))
}

fn executor_removed(cursor: &mut Cursor<'_>, strings: &mut Strings) -> Scan<Event> {
    let (mut id, mut at, mut reason) = (None, None, None);
    let keys: [&[u8]; 3] = [b"\"Timestamp\":", b"\"Executor ID\":", b"\"Removed Reason\":"];
    cursor.members_after_first(&keys, |key, cursor| {
        match key {
            0 => at = cursor.integer_or_skip()?,
            1 => id = strings.read(cursor)?,
            _ => reason = field(cursor, MAX_NAME_LEN)?,
        }
        Ok(())
    })?;
    Ok(Event::ExecutorRemoved { id, at, reason })
}

fn executor_excluded(cursor: &mut Cursor<'_>, strings: &mut Strings) -> Scan<Event> {
    let mut id = None;
    cursor.members_after_first(&[b"\"executorId\":"], |_, cursor| {
        id = strings.read(cursor)?;
        Ok(())
    })?;
    Ok(Event::ExecutorExcluded { id })
}

fn node_excluded(cursor: &mut Cursor<'_>, lifted: bool) -> Scan<Event> {
    let (mut host, mut at, mut failures) = (None, None, None);
    let keys: [&[u8]; 3] = [b"\"time\":", b"\"hostId\":", b"\"executorFailures\":"];
    cursor.members_after_first(&keys, |key, cursor| {
        match key {
            0 => at = cursor.integer_or_skip()?,
            1 => host = field(cursor, MAX_NAME_LEN)?,
            _ => failures = cursor.integer_or_skip()?,
        }
        Ok(())
    })?;
    Ok(Event::NodeExcluded { host, at, failures, lifted })
}

fn block_manager_id(cursor: &mut Cursor<'_>, strings: &mut Strings) -> Scan<(Option<Local>, Option<Local>)> {
    let (mut id, mut host) = (None, None);
    cursor.members(&[b"\"Executor ID\":", b"\"Host\":"], |key, cursor| {
        match key {
            0 => id = strings.read(cursor)?,
            _ => host = strings.read(cursor)?,
        }
        Ok(())
    })?;
    Ok((id, host))
}

fn block_manager_added(cursor: &mut Cursor<'_>, strings: &mut Strings) -> Scan<Event> {
    let mut added = BlockManagerAdded::default();
    let keys: [&[u8]; 5] = [
        b"\"Block Manager ID\":",
        b"\"Maximum Memory\":",
        b"\"Timestamp\":",
        b"\"Maximum Onheap Memory\":",
        b"\"Maximum Offheap Memory\":",
    ];
    cursor.members_after_first(&keys, |key, cursor| {
        match key {
            0 => (added.id, added.host) = block_manager_id(cursor, strings)?,
            1 => added.memory = cursor.integer_or_skip()?,
            2 => added.at = cursor.integer_or_skip()?,
            3 => added.on_heap = cursor.integer_or_skip()?,
            _ => added.off_heap = cursor.integer_or_skip()?,
        }
        Ok(())
    })?;
    Ok(Event::BlockManagerAdded(added))
}

fn block_manager_removed(cursor: &mut Cursor<'_>, strings: &mut Strings) -> Scan<Event> {
    let (mut id, mut at) = (None, None);
    cursor.members_after_first(&[b"\"Block Manager ID\":", b"\"Timestamp\":"], |key, cursor| {
        match key {
            0 => id = block_manager_id(cursor, strings)?.0,
            _ => at = cursor.integer_or_skip()?,
        }
        Ok(())
    })?;
    Ok(Event::BlockManagerRemoved { id, at })
}

fn block_updated(cursor: &mut Cursor<'_>, strings: &mut Strings) -> Scan<Event> {
    let (mut executor, mut block, mut memory) = (None, None, None);
    let keys: [&[u8]; 3] = [b"\"Block Manager ID\":", b"\"Block ID\":", b"\"Memory Size\":"];
    cursor.members_after_first(&[b"\"Block Updated Info\":"], |_, cursor| {
        cursor.members(&keys, |key, cursor| {
            match key {
                0 => executor = block_manager_id(cursor, strings)?.0,
                1 => block = strings.read(cursor)?,
                _ => memory = cursor.integer_or_skip()?,
            }
            Ok(())
        })
    })?;
    let block = block.filter(|&block| strings.get(block).starts_with("rdd_"));
    Ok(Event::BlockUpdated { executor, block, memory })
}

fn stage_executor_metrics(cursor: &mut Cursor<'_>, strings: &mut Strings) -> Scan<Event> {
    let (mut executor, mut highest) = (None, Peaks::default());
    cursor.members_after_first(&[b"\"Executor ID\":", b"\"Executor Metrics\":"], |key, cursor| {
        match key {
            0 => executor = strings.read(cursor)?,
            _ => peaks(cursor, &mut highest)?,
        }
        Ok(())
    })?;
    Ok(Event::Peaks { executor, peaks: highest })
}

fn executor_metrics_update(cursor: &mut Cursor<'_>, strings: &mut Strings) -> Scan<Event> {
    let (mut executor, mut highest) = (None, Peaks::default());
    let keys: [&[u8]; 2] = [b"\"Executor ID\":", b"\"Executor Metrics Updated\":"];
    cursor.members_after_first(&keys, |key, cursor| {
        match key {
            0 => executor = strings.read(cursor)?,
            _ => cursor.elements(|cursor| {
                cursor.members(&[b"\"Executor Metrics\":"], |_, cursor| peaks(cursor, &mut highest))
            })?,
        }
        Ok(())
    })?;
    Ok(Event::Peaks { executor, peaks: highest })
}

fn unpersisted(cursor: &mut Cursor<'_>) -> Scan<Event> {
    let mut rdd = None;
    cursor.members_after_first(&[b"\"RDD ID\":"], |_, cursor| {
        rdd = cursor.integer_or_skip()?;
        Ok(())
    })?;
    Ok(Event::Unpersisted { rdd })
}

fn sql_start(cursor: &mut Cursor<'_>, strings: &mut Strings) -> Scan<Event> {
    let mut start = SqlStart::default();
    let keys: [&[u8]; 4] = [b"\"executionId\":", b"\"description\":", b"\"sparkPlanInfo\":", b"\"time\":"];
    cursor.members_after_first(&keys, |key, cursor| {
        match key {
            0 => start.id = cursor.integer_or_skip()?,
            1 => start.description = field(cursor, MAX_NAME_LEN)?,
            2 => start.plan = plan::read(cursor, strings)?,
            _ => start.at = cursor.integer_or_skip()?,
        }
        Ok(())
    })?;
    Ok(Event::SqlStart(start))
}

fn sql_end(cursor: &mut Cursor<'_>) -> Scan<Event> {
    let (mut id, mut at, mut error) = (None, None, None);
    cursor.members_after_first(
        &[b"\"executionId\":", b"\"time\":", b"\"errorMessage\":"],
        |key, cursor| {
            match key {
                0 => id = cursor.integer_or_skip()?,
                1 => at = cursor.integer_or_skip()?,
                _ => error = field(cursor, MAX_NAME_LEN)?,
            }
            Ok(())
        },
    )?;
    Ok(Event::SqlEnd { id, at, error })
}

fn sql_plan(cursor: &mut Cursor<'_>, strings: &mut Strings) -> Scan<Event> {
    let (mut id, mut nodes) = (None, Plan::default());
    cursor.members_after_first(&[b"\"executionId\":", b"\"sparkPlanInfo\":"], |key, cursor| {
        match key {
            0 => id = cursor.integer_or_skip()?,
            _ => nodes = plan::read(cursor, strings)?,
        }
        Ok(())
    })?;
    Ok(Event::SqlPlan { id, plan: nodes })
}

fn driver_accumulators(cursor: &mut Cursor<'_>) -> Scan<Event> {
    let (mut id, mut updates) = (None, Vec::new());
    cursor.members_after_first(&[b"\"executionId\":", b"\"accumUpdates\":"], |key, cursor| {
        match key {
            0 => id = cursor.integer_or_skip()?,
            _ => cursor.elements(|cursor| {
                let mut pair = Vec::with_capacity(2);
                integers(cursor, &mut pair)?;
                if let [accumulator, value] = pair.as_slice() {
                    updates.push((*accumulator, *value));
                }
                Ok(())
            })?,
        }
        Ok(())
    })?;
    Ok(Event::DriverAccumulators { id, updates })
}
