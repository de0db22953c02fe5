//! One event of a MapReduce job history, independent of its encoding.
//!
//! Hadoop's event classes (`org.apache.hadoop.mapreduce.jobhistory.*`) share most fields, and versions differ
//! in which of them they write. So an event is its kind plus the fields that were present;
//! `HistoryBuilder` reports missing ones.

use std::borrow::Cow;

use crate::problem::Position;
use elephant_model::model::ProgressSplits;
use elephant_model::model::counters::CounterSet;

/// What happened. The names are Hadoop's `EventType`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum EventKind {
    /// `AM_STARTED`
    MasterStarted,
    /// `JOB_SUBMITTED`
    JobSubmitted,
    /// `JOB_INITED`
    JobInited,
    /// `JOB_INFO_CHANGED`
    JobInfoChanged,
    /// `JOB_STATUS_CHANGED`
    JobStatusChanged,
    /// `JOB_PRIORITY_CHANGED`
    JobPriorityChanged,
    /// `JOB_QUEUE_CHANGED`
    JobQueueChanged,
    /// `JOB_FINISHED`
    JobFinished,
    /// `JOB_FAILED`, `JOB_KILLED`, `JOB_ERROR`: the job's status field says which.
    JobUnsuccessful,
    /// `TASK_STARTED`
    TaskStarted,
    /// `TASK_UPDATED`
    TaskUpdated,
    /// `TASK_FINISHED`
    TaskFinished,
    /// `TASK_FAILED`, also written for killed tasks
    TaskFailed,
    /// `MAP_ATTEMPT_STARTED` and its siblings for reduce, setup and cleanup
    AttemptStarted,
    /// `MAP_ATTEMPT_FINISHED` and its siblings
    AttemptFinished,
    /// `MAP_ATTEMPT_FAILED`, `MAP_ATTEMPT_KILLED` and their siblings; the status field says which
    AttemptUnsuccessful,
}

impl EventKind {
    /// The kind for Hadoop's name of an event type; `None` for types that no version up to 3.4 has.
    #[must_use]
    pub(crate) fn from_hadoop_name(name: &str) -> Option<Self> {
        Some(match name {
            "AM_STARTED" => Self::MasterStarted,
            "JOB_SUBMITTED" => Self::JobSubmitted,
            "JOB_INITED" => Self::JobInited,
            "JOB_INFO_CHANGED" => Self::JobInfoChanged,
            "JOB_STATUS_CHANGED" => Self::JobStatusChanged,
            "JOB_PRIORITY_CHANGED" => Self::JobPriorityChanged,
            "JOB_QUEUE_CHANGED" => Self::JobQueueChanged,
            "JOB_FINISHED" => Self::JobFinished,
            "JOB_FAILED" | "JOB_KILLED" | "JOB_ERROR" => Self::JobUnsuccessful,
            "TASK_STARTED" => Self::TaskStarted,
            "TASK_UPDATED" | "NORMALIZED_RESOURCE" => Self::TaskUpdated,
            "TASK_FINISHED" => Self::TaskFinished,
            "TASK_FAILED" => Self::TaskFailed,
            _ => {
                let (kind, what) = name.split_once("_ATTEMPT_")?;
                if !matches!(kind, "MAP" | "REDUCE" | "SETUP" | "CLEANUP") {
                    return None;
                }
                match what {
                    "STARTED" => Self::AttemptStarted,
                    "FINISHED" => Self::AttemptFinished,
                    "FAILED" | "KILLED" => Self::AttemptUnsuccessful,
                    _ => return None,
                }
            }
        })
    }
}

impl EventKind {
    /// Derives the status from the event type if the event has no status field: `JOB_KILLED` says enough.
    pub(crate) fn complete_status(hadoop_name: &str, fields: &mut EventFields<'_>) {
        if fields.status.is_none() {
            fields.status = match hadoop_name.rsplit('_').next() {
                Some("KILLED") => Some(Cow::Borrowed("KILLED")),
                Some("FAILED" | "ERROR") => Some(Cow::Borrowed("FAILED")),
                _ => None,
            };
        }
    }
}

/// The scalar fields of an event; absent fields are `None`.
#[derive(Debug, Clone, Default)]
pub struct EventFields<'a> {
    /// `jobid`
    pub job_id: Option<Cow<'a, str>>,
    /// `taskid`
    pub task_id: Option<Cow<'a, str>>,
    /// `attemptId`
    pub attempt_id: Option<Cow<'a, str>>,
    /// `taskType`, such as `MAP`
    pub task_type: Option<Cow<'a, str>>,
    /// `status`, `taskStatus` or `jobStatus`
    pub status: Option<Cow<'a, str>>,
    /// `submitTime`, in milliseconds since 1970
    pub submit_time: Option<i64>,
    /// `launchTime`, in milliseconds since 1970
    pub launch_time: Option<i64>,
    /// `startTime`, in milliseconds since 1970
    pub start_time: Option<i64>,
    /// `finishTime`, in milliseconds since 1970
    pub finish_time: Option<i64>,
    /// `mapFinishTime`: the end of the map phase of a map attempt, in milliseconds since 1970
    pub map_finish_time: Option<i64>,
    /// `shuffleFinishTime`: the end of the shuffle of a reduce attempt, in milliseconds since 1970
    pub shuffle_finish_time: Option<i64>,
    /// `sortFinishTime`: the end of the merge of a reduce attempt, in milliseconds since 1970
    pub sort_finish_time: Option<i64>,
    /// `hostname`, or `trackerName` of an attempt's start, or `nodeManagerHost`
    pub host: Option<Cow<'a, str>>,
    /// `rackname`
    pub rack: Option<Cow<'a, str>>,
    /// `error` or `diagnostics`
    pub error: Option<Cow<'a, str>>,
    /// `splitLocations`: the nodes with the input of a map task, separated by commas
    pub split_locations: Option<Cow<'a, str>>,
    /// `locality`: how near its input a map attempt was to run
    pub locality: Option<Cow<'a, str>>,
    /// `avataar`: whether an attempt is the first one or a speculative copy
    pub avataar: Option<Cow<'a, str>>,
    /// `failedDueToAttempt`: the attempt whose failure made the task fail
    pub failed_due_to_attempt: Option<Cow<'a, str>>,
    /// `successfulAttemptId`: the attempt that became the task's result
    pub successful_attempt_id: Option<Cow<'a, str>>,
    /// `jobName`
    pub job_name: Option<Cow<'a, str>>,
    /// `userName`
    pub user: Option<Cow<'a, str>>,
    /// `jobQueueName`
    pub queue: Option<Cow<'a, str>>,
    /// `totalMaps`: map tasks, announced at the start of the job
    pub total_maps: Option<i64>,
    /// `totalReduces`: reduce tasks, announced at the start of the job
    pub total_reduces: Option<i64>,
    /// `finishedMaps`: map tasks that succeeded, logged at the end of the job
    pub finished_maps: Option<i64>,
    /// `finishedReduces`: reduce tasks that succeeded, logged at the end of the job
    pub finished_reduces: Option<i64>,
    /// Attempts of map tasks that failed or were killed, logged at the end of the job (Hadoop 1)
    pub failed_maps: Option<i64>,
    /// Attempts of reduce tasks that failed or were killed, logged at the end of the job (Hadoop 1)
    pub failed_reduces: Option<i64>,
    /// `uberized`: whether all tasks ran in the application master
    pub uberized: Option<bool>,
}

/// The bulky fields of an event, reused from event to event to avoid allocations.
#[derive(Debug, Clone, Default)]
pub struct EventPayload {
    /// `counters` or `totalCounters`
    pub counters: CounterSet,
    /// `mapCounters`
    pub map_counters: CounterSet,
    /// `reduceCounters`
    pub reduce_counters: CounterSet,
    /// `clockSplits`, `cpuUsages`, `vMemKbytes`, `physMemKbytes`
    pub progress: ProgressSplits,
    /// Fields that are present but cannot be read.
    pub unreadable: Unreadable,
}

/// Which numbers of an event are present but cannot be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Unreadable {
    /// A time.
    pub time: bool,
    /// The announced number of tasks of a job.
    pub task_count: bool,
}

impl EventPayload {
    /// Clears the payload for the next event.
    pub(crate) fn clear(&mut self) {
        self.counters.clear();
        self.map_counters.clear();
        self.reduce_counters.clear();
        self.progress.clear();
        self.unreadable = Unreadable::default();
    }
}

/// Sees the events of a history one by one, before they are put together.
pub trait Observer {
    /// An event, and where it stands in the decoded stream.
    fn event(&mut self, at: Position, kind: EventKind, fields: &EventFields<'_>, payload: &EventPayload);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_event_type_of_hadoop_has_a_kind() {
        let names = "JOB_SUBMITTED JOB_INITED JOB_FINISHED JOB_PRIORITY_CHANGED JOB_STATUS_CHANGED \
            JOB_QUEUE_CHANGED JOB_FAILED JOB_KILLED JOB_ERROR JOB_INFO_CHANGED TASK_STARTED TASK_FINISHED \
            TASK_FAILED TASK_UPDATED NORMALIZED_RESOURCE MAP_ATTEMPT_STARTED MAP_ATTEMPT_FINISHED \
            MAP_ATTEMPT_FAILED MAP_ATTEMPT_KILLED REDUCE_ATTEMPT_STARTED REDUCE_ATTEMPT_FINISHED \
            REDUCE_ATTEMPT_FAILED REDUCE_ATTEMPT_KILLED SETUP_ATTEMPT_STARTED SETUP_ATTEMPT_FINISHED \
            SETUP_ATTEMPT_FAILED SETUP_ATTEMPT_KILLED CLEANUP_ATTEMPT_STARTED CLEANUP_ATTEMPT_FINISHED \
            CLEANUP_ATTEMPT_FAILED CLEANUP_ATTEMPT_KILLED AM_STARTED";
        for name in names.split_whitespace() {
            assert!(EventKind::from_hadoop_name(name).is_some(), "{name}");
        }
        assert_eq!(EventKind::from_hadoop_name("MAP_ATTEMPT_TELEPORTED"), None);
    }
}
