//! Replay of MapReduce jobs.
//!
//! A job may run as many maps, reduces and containers at once as the recording shows at its peak, and fewer containers
//! while the recording did not use some of them although tasks waited (see `capacity`). If all tasks of a kind ran at
//! once, additional ones may use the containers of both kinds (see `room`). A map slot opens when the recording used it
//! first. A reduce slot opens some time after as many maps have ended as had in the recording, so it moves with the maps. A
//! freed container starts its next attempt after the mean time that it took in the recording. Waiting attempts start in
//! recorded order. While maps wait, reduces get as many containers as the application master asks for then (see
//! `ramp_up`).
//!
//! A reduce ends its shuffle after its own fetching, but not before the last map has ended and the rest of the shuffle
//! after it; then it sorts and reduces. A retry waits for the failure of the attempt before it. If the recorded retry
//! then waited for something other than a container, it waits as long here. A speculative copy starts as long after its
//! original as in the recording; the first success ends the others.
//!
//! The time from submission to the first container, and from the last task to the job's end, stays as recorded.

mod attempts;
mod capacity;
mod change;
mod counterfactuals;
mod gaps;
mod overhead;
mod plan;
mod queue;
mod ramp_up;
mod room;
mod scene;
mod simulate;
mod slots;
mod slowdown;
mod workload;

#[cfg(test)]
mod tests;

use std::fmt;

pub use change::Change;
pub use counterfactuals::{Cause, StartUp};
pub use plan::Plan;

use elephant_model::model::table::TaskKind;

/// The kinds of tasks that a job spends its time on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// Map tasks.
    Map,
    /// Reduce tasks.
    Reduce,
}

impl Kind {
    /// Both, in the order in which they run.
    pub const ALL: [Self; 2] = [Self::Map, Self::Reduce];

    /// The group of the task table.
    #[must_use]
    pub const fn group(self) -> TaskKind {
        match self {
            Self::Map => TaskKind::Map,
            Self::Reduce => TaskKind::Reduce,
        }
    }
}

/// One value for maps, one for reduces.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ByKind<T> {
    /// For maps.
    pub map: T,
    /// For reduces.
    pub(crate) reduce: T,
}

impl<T> ByKind<T> {
    /// The same function of each kind.
    fn of(mut value: impl FnMut(Kind) -> T) -> Self {
        Self { map: value(Kind::Map), reduce: value(Kind::Reduce) }
    }

    /// The value of a kind.
    pub(crate) const fn get(&self, kind: Kind) -> &T {
        match kind {
            Kind::Map => &self.map,
            Kind::Reduce => &self.reduce,
        }
    }

    /// The value of a kind, to change it.
    pub(crate) const fn get_mut(&mut self, kind: Kind) -> &mut T {
        match kind {
            Kind::Map => &mut self.map,
            Kind::Reduce => &mut self.reduce,
        }
    }
}

/// Why a job cannot be replayed, or not with a change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unknown {
    /// Events are missing, or the job has no end.
    Incomplete,
    /// The job did not succeed, so a part of its work was never recorded.
    Unsuccessful,
    /// There is nothing to replay.
    NoTimes,
    /// Work that must have been done has no times.
    TaskWithoutTimes,
    /// Times contradict each other: the shuffle needs the last map.
    ShuffleBeforeLastMap,
    /// The job has no tasks of this kind that succeeded.
    NoTasks,
    /// Skew and split sizes need the tasks' input.
    NoInput,
    /// No task reports the time of its garbage collections.
    NoCollections,
    /// No task reports what it read from local disks.
    NoSpill,
    /// All tasks ran at once, so there may be room for more of them, or not.
    NoRoom,
    /// The value that was asked for is not possible.
    BadValue,
    /// The job would have more than a million tasks of a kind.
    TooManyTasks,
}

impl fmt::Display for Unknown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Incomplete => "the job history is incomplete",
            Self::Unsuccessful => "the job did not succeed",
            Self::NoTimes => "no attempt has a start and an end",
            Self::TaskWithoutTimes => "a task that succeeded has no attempt with a start and an end",
            Self::ShuffleBeforeLastMap => "a shuffle ended before the last map task",
            Self::NoTasks => "no task of this kind succeeded",
            Self::NoInput => "the job history does not contain the input of its tasks",
            Self::NoCollections => "the job history does not contain the time of garbage collections",
            Self::NoSpill => "the job history does not contain what tasks read from local disks",
            Self::NoRoom => {
                "no task waited for another one to end, so the number of containers that more tasks would get is unknown"
            }
            Self::BadValue => "the new value is not possible",
            Self::TooManyTasks => "the job would have more than a million tasks",
        })
    }
}
