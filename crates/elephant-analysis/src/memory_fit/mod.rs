//! Whether memory of another size would hold what a run needed at its peak.
//!
//! Only what was measured counts. Executors and tasks that ran out of memory were measured up to that moment at most, so
//! what they needed is unknown, and more than they had.

mod mapreduce;
mod spark;

use elephant_base::units::Bytes;
use elephant_model::model::{Application, Status};

use crate::executors::ROOM;

/// Whether a size would hold what was needed, the safest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum MemoryVerdict {
    /// It leaves the usual room above the peak.
    Safe,
    /// It holds the peak, but leaves less room.
    Near,
    /// Too little was measured.
    Unknown,
    /// It is smaller than the peak.
    WouldBreak,
}

/// A size of memory that can be too small.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MemoryHolder {
    /// The heap of an executor.
    ExecutorHeap,
    /// The heap of the driver, which runs the tasks in local mode.
    DriverHeap,
    /// The container of an executor: all its processes.
    ExecutorContainer,
    /// The container of a map task.
    MapContainer,
    /// The container of a reduce task.
    ReduceContainer,
    /// The container of a task of a DAG.
    TaskContainer,
}

/// Whether a size would hold what was needed, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MemoryFit {
    /// The answer.
    pub fit: MemoryVerdict,
    /// The reason.
    pub why: MemoryReason,
}

/// Why a size would or would not hold what was needed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MemoryReason {
    /// What was measured.
    Peak {
        /// What has the size.
        of: MemoryHolder,
        /// The most that was in use.
        peak: Bytes,
        /// The size that it would have.
        size: Bytes,
        /// The smallest size with the usual room.
        enough: Bytes,
    },
    /// It ran out of memory in the recorded run.
    RanOut {
        /// What has the size.
        of: MemoryHolder,
        /// The size with which it did, if it is known.
        with: Option<Bytes>,
    },
    /// Spark refuses to start with a smaller heap.
    DoesNotStart {
        /// The smallest heap.
        least: Bytes,
    },
    /// Another number of tasks would share an executor than the one with which the peak was measured.
    OtherTasks {
        /// What has the size.
        of: MemoryHolder,
        /// The most that was in use.
        peak: Bytes,
    },
    /// The run was cut off, or what is known of it, so that it may have needed more.
    CutOff {
        /// What has the size.
        of: MemoryHolder,
        /// The most that was in use until then.
        peak: Bytes,
    },
    /// No peak is known.
    NotMeasured(String),
}

impl MemoryFit {
    fn unknown(why: impl Into<String>) -> Self {
        Self { fit: MemoryVerdict::Unknown, why: MemoryReason::NotMeasured(why.into()) }
    }

    /// The verdict on a measured peak; `enough` is the smallest size with the usual room.
    fn of_peak(of: MemoryHolder, (peak, enough): (Bytes, Bytes), size: Bytes) -> Self {
        let fit = match () {
            () if size < peak => MemoryVerdict::WouldBreak,
            () if size < enough => MemoryVerdict::Near,
            () => MemoryVerdict::Safe,
        };
        Self { fit, why: MemoryReason::Peak { of, peak, size, enough } }
    }

    /// The verdict where memory ran out with the size `now`: as much or less would not be enough either.
    fn of_shortage(of: MemoryHolder, now: Option<Bytes>, size: Bytes) -> Self {
        let is_more = now.is_none_or(|now| size > now);
        Self {
            fit: if is_more { MemoryVerdict::Unknown } else { MemoryVerdict::WouldBreak },
            why: MemoryReason::RanOut { of, with: now },
        }
    }

    /// The verdict on the whole run: a peak is a lower limit of what it needed if the run failed or its history ends early.
    fn of_whole_run(self, app: &Application) -> Self {
        let is_whole = app.complete && !matches!(app.status, Status::Failed | Status::Killed);
        match self.why {
            MemoryReason::Peak { of, peak, .. } if !is_whole && self.fit < MemoryVerdict::WouldBreak => {
                Self { fit: MemoryVerdict::Unknown, why: MemoryReason::CutOff { of, peak } }
            }
            why => Self { why, ..self },
        }
    }

    /// The worse of two verdicts; the first of equal ones.
    fn or_worse(self, other: Self) -> Self {
        if other.fit > self.fit { other } else { self }
    }
}

/// `peak` with the usual room.
fn with_room(peak: Bytes) -> Bytes {
    Bytes::from_f64(peak.as_f64() * ROOM).unwrap_or(peak)
}
