//! One event of a MapReduce job history, independent of its encoding.
//!
//! Hadoop's event classes (`org.apache.hadoop.mapreduce.jobhistory.*`) share most fields, and versions differ
//! in which of them they write. So an event is its kind plus the fields that were present;
//! [`super::build::HistoryBuilder`] reports missing ones.

use std::borrow::Cow;

use rustc_hash::FxHashMap;

use super::counter_template::CounterTemplates;
use crate::model::counters::{Counter, CounterSet, OtherCounter, is_framework_group};
use crate::model::{Interner, ProgressSplits, Symbol};

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
    pub fn from_hadoop_name(name: &str) -> Option<Self> {
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
    pub fn complete_status(hadoop_name: &str, fields: &mut EventFields<'_>) {
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
#[allow(missing_docs)] // named after Hadoop's fields
pub struct EventFields<'a> {
    pub job_id: Option<Cow<'a, str>>,
    pub task_id: Option<Cow<'a, str>>,
    pub attempt_id: Option<Cow<'a, str>>,
    pub task_type: Option<Cow<'a, str>>,
    /// `status`, `taskStatus` or `jobStatus`
    pub status: Option<Cow<'a, str>>,
    pub submit_time: Option<i64>,
    pub launch_time: Option<i64>,
    pub start_time: Option<i64>,
    pub finish_time: Option<i64>,
    pub map_finish_time: Option<i64>,
    pub shuffle_finish_time: Option<i64>,
    pub sort_finish_time: Option<i64>,
    /// `hostname`, or `trackerName` of an attempt's start, or `nodeManagerHost`
    pub host: Option<Cow<'a, str>>,
    pub rack: Option<Cow<'a, str>>,
    /// `error` or `diagnostics`
    pub error: Option<Cow<'a, str>>,
    pub split_locations: Option<Cow<'a, str>>,
    pub locality: Option<Cow<'a, str>>,
    pub avataar: Option<Cow<'a, str>>,
    pub failed_due_to_attempt: Option<Cow<'a, str>>,
    pub successful_attempt_id: Option<Cow<'a, str>>,
    pub job_name: Option<Cow<'a, str>>,
    pub user: Option<Cow<'a, str>>,
    pub queue: Option<Cow<'a, str>>,
    pub total_maps: Option<i64>,
    pub total_reduces: Option<i64>,
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
    pub fn clear(&mut self) {
        self.counters.clear();
        self.map_counters.clear();
        self.reduce_counters.clear();
        self.progress.clear();
        self.unreadable = Unreadable::default();
    }
}

/// Where the value of a counter is stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CounterSlot {
    Typed { counter: Counter, framework: bool },
    Other { group: Symbol, name: Symbol },
}

impl CounterSlot {
    /// Records a value of this counter.
    #[inline]
    pub(crate) fn record(self, value: i64, set: &mut CounterSet) {
        match self {
            Self::Typed { counter, framework } => set.record(counter, value, framework),
            Self::Other { group, name } => set.others.push(OtherCounter { group, name, value }),
        }
    }

    /// Records that this counter's value cannot be read.
    fn mark_unreadable(self, set: &mut CounterSet) {
        match self {
            Self::Typed { counter, framework } => set.mark_unreadable(counter, framework),
            Self::Other { .. } => set.mark_other_unreadable(),
        }
    }
}

/// Finds the slot of a counter by group and name.
///
/// Hadoop writes the counters of every task in the same order, so the first guess is the counter that
/// followed last time; only a wrong guess needs a hash look-up.
#[derive(Debug, Clone, Default)]
pub struct CounterNames {
    groups: Vec<Group>,
    by_name: FxHashMap<Box<str>, usize>,
    next_group: usize,
    /// Kept here because its slots refer to these names.
    templates: CounterTemplates,
}

#[derive(Debug, Clone)]
struct Group {
    name: Box<str>,
    slots: Vec<(Box<str>, CounterSlot)>,
    by_name: FxHashMap<Box<str>, usize>,
    next: usize,
}

/// Index of a group within [`CounterNames`].
#[derive(Debug, Clone, Copy)]
pub struct GroupIndex(usize);

impl CounterNames {
    /// The group with this name, added if new.
    pub fn group(&mut self, name: &str) -> GroupIndex {
        let guess = self.next_group;
        let index = match self.groups.get(guess) {
            Some(group) if *group.name == *name => guess,
            _ => self.find_or_add_group(name),
        };
        self.next_group = index + 1;
        if self.next_group >= self.groups.len() {
            self.next_group = 0;
        }
        if let Some(group) = self.groups.get_mut(index) {
            group.next = 0;
        }
        GroupIndex(index)
    }

    /// Records the value of counter `name` of a group into `set`.
    pub fn record(
        &mut self,
        group: GroupIndex,
        name: &str,
        value: i64,
        set: &mut CounterSet,
        strings: &mut Interner,
    ) {
        if let Some(slot) = self.slot(group, name, strings) {
            slot.record(value, set);
        }
    }

    /// Records in `set` that the value of counter `name` of a group cannot be read.
    pub fn mark_unreadable(
        &mut self,
        group: GroupIndex,
        name: &str,
        set: &mut CounterSet,
        strings: &mut Interner,
    ) {
        match self.slot(group, name, strings) {
            Some(slot) => slot.mark_unreadable(set),
            None => set.mark_other_unreadable(),
        }
    }

    /// The slot of counter `name` of a group.
    pub(crate) fn slot(
        &mut self,
        group: GroupIndex,
        name: &str,
        strings: &mut Interner,
    ) -> Option<CounterSlot> {
        let group = self.groups.get_mut(group.0)?;
        let index = match group.slots.get(group.next) {
            Some((guess, _)) if **guess == *name => group.next,
            _ => match group.by_name.get(name) {
                Some(&index) => index,
                None => group.add(name, strings)?,
            },
        };
        group.next = index + 1;
        group.slots.get(index).map(|&(_, slot)| slot)
    }

    /// Templates of counters that were decoded before.
    pub(crate) fn templates(&mut self) -> &mut CounterTemplates {
        &mut self.templates
    }

    fn find_or_add_group(&mut self, name: &str) -> usize {
        if let Some(&index) = self.by_name.get(name) {
            return index;
        }
        let index = self.groups.len();
        let group = Group { name: name.into(), slots: Vec::new(), by_name: FxHashMap::default(), next: 0 };
        self.groups.push(group);
        self.by_name.insert(name.into(), index);
        index
    }
}

impl Group {
    fn add(&mut self, name: &str, strings: &mut Interner) -> Option<usize> {
        let framework = is_framework_group(&self.name);
        let typed = Counter::from_name(&self.name, name)
            .or_else(|| if framework { Counter::from_display_name(name) } else { None });
        let slot = match typed {
            Some(counter) => CounterSlot::Typed { counter, framework },
            None => CounterSlot::Other { group: strings.intern(&self.name)?, name: strings.intern(name)? },
        };
        let index = self.slots.len();
        self.slots.push((name.into(), slot));
        self.by_name.insert(name.into(), index);
        Some(index)
    }
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

    #[test]
    fn counters_find_their_slot_in_any_order() {
        let (mut names, mut strings) = (CounterNames::default(), Interner::default());
        for order in [["SPILLED_RECORDS", "ROWS"], ["ROWS", "SPILLED_RECORDS"]] {
            let mut set = CounterSet::default();
            let group = names.group("org.apache.hadoop.mapreduce.TaskCounter");
            for (value, name) in (1..).zip(order) {
                names.record(group, name, value, &mut set, &mut strings);
            }
            let expected = if order[0] == "ROWS" { 2 } else { 1 };
            assert_eq!(set.get(Counter::SpilledRecords), Some(expected));
            assert_eq!(set.others.len(), 1);
        }
        assert!(strings.find("ROWS").is_some());
    }
}
