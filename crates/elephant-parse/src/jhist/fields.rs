//! Maps the fields of history events to [`EventFields`], for all encodings.
//!
//! Names follow Hadoop's `Events.avpr`, which spells some fields differently from record to record (`status`,
//! `taskStatus`, `jobStatus`) and from version to version.

use std::borrow::Cow;

use crate::event::{EventFields, EventPayload, Unreadable};
use elephant_model::model::counters::CounterSet;

/// The destination of a field's value in [`EventFields`] or [`EventPayload`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Slot {
    /// [`EventFields::job_id`].
    JobId,
    /// [`EventFields::task_id`].
    TaskId,
    /// [`EventFields::attempt_id`].
    AttemptId,
    /// [`EventFields::task_type`].
    TaskType,
    /// [`EventFields::status`].
    Status,
    /// [`EventFields::submit_time`].
    SubmitTime,
    /// [`EventFields::launch_time`].
    LaunchTime,
    /// [`EventFields::start_time`].
    StartTime,
    /// [`EventFields::finish_time`].
    FinishTime,
    /// [`EventFields::map_finish_time`].
    MapFinishTime,
    /// [`EventFields::shuffle_finish_time`].
    ShuffleFinishTime,
    /// [`EventFields::sort_finish_time`].
    SortFinishTime,
    /// [`EventFields::host`].
    Host,
    /// `trackerName`: names the host only if no other field does.
    Tracker,
    /// [`EventFields::rack`].
    Rack,
    /// [`EventFields::error`].
    Error,
    /// [`EventFields::split_locations`].
    SplitLocations,
    /// [`EventFields::locality`].
    Locality,
    /// [`EventFields::avataar`].
    Avataar,
    /// [`EventFields::failed_due_to_attempt`].
    FailedDueToAttempt,
    /// [`EventFields::successful_attempt_id`].
    SuccessfulAttemptId,
    /// [`EventFields::job_name`].
    JobName,
    /// [`EventFields::user`].
    User,
    /// [`EventFields::queue`].
    Queue,
    /// [`EventFields::total_maps`].
    TotalMaps,
    /// [`EventFields::total_reduces`].
    TotalReduces,
    /// [`EventFields::finished_maps`].
    FinishedMaps,
    /// [`EventFields::finished_reduces`].
    FinishedReduces,
    /// [`EventFields::uberized`].
    Uberized,
    /// [`EventPayload::counters`].
    Counters,
    /// [`EventPayload::map_counters`].
    MapCounters,
    /// [`EventPayload::reduce_counters`].
    ReduceCounters,
    /// `clockSplits` of [`EventPayload::progress`].
    ClockSplits,
    /// `cpuUsages` of [`EventPayload::progress`].
    CpuUsages,
    /// `vMemKbytes` of [`EventPayload::progress`].
    VirtualMemory,
    /// `physMemKbytes` of [`EventPayload::progress`].
    PhysicalMemory,
}

/// The slot for `field`; `None` for fields that are not kept.
#[must_use]
pub fn slot(field: &str) -> Option<Slot> {
    Some(match field {
        "jobid" | "jobId" => Slot::JobId,
        "taskid" | "taskId" => Slot::TaskId,
        "attemptId" | "attemptid" => Slot::AttemptId,
        "taskType" => Slot::TaskType,
        "status" | "taskStatus" | "jobStatus" => Slot::Status,
        "submitTime" => Slot::SubmitTime,
        "launchTime" => Slot::LaunchTime,
        "startTime" => Slot::StartTime,
        "finishTime" => Slot::FinishTime,
        "mapFinishTime" => Slot::MapFinishTime,
        "shuffleFinishTime" => Slot::ShuffleFinishTime,
        "sortFinishTime" => Slot::SortFinishTime,
        "hostname" | "hostName" | "nodeManagerHost" => Slot::Host,
        "trackerName" => Slot::Tracker,
        "rackname" | "rackName" => Slot::Rack,
        "error" | "diagnostics" => Slot::Error,
        "splitLocations" => Slot::SplitLocations,
        "locality" => Slot::Locality,
        "avataar" => Slot::Avataar,
        "failedDueToAttempt" => Slot::FailedDueToAttempt,
        "successfulAttemptId" | "successAttemptId" => Slot::SuccessfulAttemptId,
        "jobName" => Slot::JobName,
        "userName" | "user" => Slot::User,
        "jobQueueName" | "queueName" => Slot::Queue,
        "totalMaps" => Slot::TotalMaps,
        "totalReduces" => Slot::TotalReduces,
        "finishedMaps" => Slot::FinishedMaps,
        "finishedReduces" => Slot::FinishedReduces,
        "uberized" => Slot::Uberized,
        "counters" | "totalCounters" => Slot::Counters,
        "mapCounters" => Slot::MapCounters,
        "reduceCounters" => Slot::ReduceCounters,
        "clockSplits" => Slot::ClockSplits,
        "cpuUsages" => Slot::CpuUsages,
        "vMemKbytes" | "vMemKBytes" => Slot::VirtualMemory,
        "physMemKbytes" | "physMemKBytes" => Slot::PhysicalMemory,
        _ => return None,
    })
}

/// Stores a text. Integer and flag slots parse it; others ignore it. Returns whether it was used.
pub fn set_text<'a>(fields: &mut EventFields<'a>, slot: Slot, text: Cow<'a, str>) -> bool {
    let place = match slot {
        Slot::JobId => &mut fields.job_id,
        Slot::TaskId => &mut fields.task_id,
        Slot::AttemptId => &mut fields.attempt_id,
        Slot::TaskType => &mut fields.task_type,
        Slot::Status => &mut fields.status,
        Slot::Tracker if fields.host.is_some() => return true,
        Slot::Host | Slot::Tracker => &mut fields.host,
        Slot::Rack => &mut fields.rack,
        Slot::Error => &mut fields.error,
        Slot::SplitLocations => &mut fields.split_locations,
        Slot::Locality => &mut fields.locality,
        Slot::Avataar => &mut fields.avataar,
        Slot::FailedDueToAttempt => &mut fields.failed_due_to_attempt,
        Slot::SuccessfulAttemptId => &mut fields.successful_attempt_id,
        Slot::JobName => &mut fields.job_name,
        Slot::User => &mut fields.user,
        Slot::Queue => &mut fields.queue,
        _ => {
            return match (text.parse::<i64>(), text.parse::<bool>()) {
                (Ok(value), _) => set_integer(fields, slot, value),
                (_, Ok(value)) => set_flag(fields, slot, value),
                _ => false,
            };
        }
    };
    *place = Some(text);
    true
}

/// Stores an integer (times in milliseconds since 1970); other slots ignore it. Returns whether it was used.
pub fn set_integer(fields: &mut EventFields<'_>, slot: Slot, value: i64) -> bool {
    let place = match slot {
        Slot::SubmitTime => &mut fields.submit_time,
        Slot::LaunchTime => &mut fields.launch_time,
        Slot::StartTime => &mut fields.start_time,
        Slot::FinishTime => &mut fields.finish_time,
        Slot::MapFinishTime => &mut fields.map_finish_time,
        Slot::ShuffleFinishTime => &mut fields.shuffle_finish_time,
        Slot::SortFinishTime => &mut fields.sort_finish_time,
        Slot::TotalMaps => &mut fields.total_maps,
        Slot::TotalReduces => &mut fields.total_reduces,
        Slot::FinishedMaps => &mut fields.finished_maps,
        Slot::FinishedReduces => &mut fields.finished_reduces,
        _ => return false,
    };
    *place = Some(value);
    true
}

/// Stores a flag; other slots ignore it. Returns whether it was used.
pub fn set_flag(fields: &mut EventFields<'_>, slot: Slot, value: bool) -> bool {
    let taken = slot == Slot::Uberized;
    if taken {
        fields.uberized = Some(value);
    }
    taken
}

/// Records a value that a numeric slot could not use.
pub(crate) fn mark_unreadable(unreadable: &mut Unreadable, slot: Slot) {
    match slot {
        Slot::SubmitTime
        | Slot::LaunchTime
        | Slot::StartTime
        | Slot::FinishTime
        | Slot::MapFinishTime
        | Slot::ShuffleFinishTime
        | Slot::SortFinishTime => unreadable.time = true,
        Slot::TotalMaps | Slot::TotalReduces => unreadable.task_count = true,
        _ => {}
    }
}

/// The counters for a slot; `None` for slots of other kinds.
pub fn counters(payload: &mut EventPayload, slot: Slot) -> Option<&mut CounterSet> {
    match slot {
        Slot::Counters => Some(&mut payload.counters),
        Slot::MapCounters => Some(&mut payload.map_counters),
        Slot::ReduceCounters => Some(&mut payload.reduce_counters),
        _ => None,
    }
}

/// The progress array for a slot; `None` for slots of other kinds.
pub fn splits(payload: &mut EventPayload, slot: Slot) -> Option<&mut Vec<i32>> {
    match slot {
        Slot::ClockSplits => Some(&mut payload.progress.clock_ms),
        Slot::CpuUsages => Some(&mut payload.progress.cpu_ms),
        Slot::VirtualMemory => Some(&mut payload.progress.virtual_kib),
        Slot::PhysicalMemory => Some(&mut payload.progress.physical_kib),
        _ => None,
    }
}

impl Slot {
    /// Whether the slot holds counters.
    #[must_use]
    pub(crate) const fn is_counters(self) -> bool {
        matches!(self, Self::Counters | Self::MapCounters | Self::ReduceCounters)
    }

    /// Whether the slot is one of the progress arrays.
    #[must_use]
    pub(crate) const fn is_splits(self) -> bool {
        matches!(self, Self::ClockSplits | Self::CpuUsages | Self::VirtualMemory | Self::PhysicalMemory)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tracker_names_the_host_only_if_no_other_field_does() {
        for order in [["hostname", "trackerName"], ["trackerName", "hostname"]] {
            let mut fields = EventFields::default();
            for name in order {
                set_text(&mut fields, slot(name).unwrap(), name.into());
            }
            assert_eq!(fields.host.as_deref(), Some("hostname"));
        }
        let mut fields = EventFields::default();
        set_text(&mut fields, slot("trackerName").unwrap(), "a".into());
        assert_eq!(fields.host.as_deref(), Some("a"));
    }

    #[test]
    fn values_of_another_type_are_used_if_unambiguous() {
        let mut fields = EventFields::default();
        set_text(&mut fields, Slot::FinishTime, "1300".into());
        set_text(&mut fields, Slot::Uberized, "true".into());
        set_text(&mut fields, Slot::StartTime, "noon".into());
        set_integer(&mut fields, Slot::JobName, 7);
        set_flag(&mut fields, Slot::TotalMaps, true);
        assert_eq!((fields.finish_time, fields.uberized), (Some(1300), Some(true)));
        assert_eq!((fields.start_time, fields.job_name, fields.total_maps), (None, None, None));
    }

    #[test]
    fn unusable_numbers_are_recorded_as_unreadable() {
        let (mut fields, mut unreadable) = (EventFields::default(), Unreadable::default());
        assert!(!set_text(&mut fields, Slot::StartTime, "noon".into()));
        assert!(!set_flag(&mut fields, Slot::TotalMaps, true) && !set_integer(&mut fields, Slot::JobName, 7));
        assert!(
            set_text(&mut fields, Slot::TotalMaps, "7".into()) && set_flag(&mut fields, Slot::Uberized, true)
        );
        mark_unreadable(&mut unreadable, Slot::JobName);
        assert_eq!(unreadable, Unreadable::default());
        mark_unreadable(&mut unreadable, Slot::SortFinishTime);
        assert_eq!(unreadable, Unreadable { time: true, task_count: false });
        mark_unreadable(&mut unreadable, Slot::TotalReduces);
        assert!(unreadable.task_count);
    }

    #[test]
    fn bulky_slots_are_stored_in_the_payload() {
        let mut payload = EventPayload::default();
        let bulky = ["totalCounters", "mapCounters", "reduceCounters", "clockSplits", "vMemKBytes"];
        for slot in bulky.map(|name| slot(name).unwrap()) {
            assert_eq!(counters(&mut payload, slot).is_some(), slot.is_counters());
            assert_eq!(splits(&mut payload, slot).is_some(), slot.is_splits());
        }
        assert_eq!(slot("workflowId"), None);
    }
}
