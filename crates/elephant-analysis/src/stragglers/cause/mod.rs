//! Why a task was a straggler: one primary cause, and all evidence.
//!
//! The categories are those of S2, table 4 (high CPU utilisation, high disk utilisation, slow requests to the
//! distributed file system, lost packets, hardware faults, data skew), split further where logs say more than
//! utilisation does. S2 finds them by hand from system logs; here they follow from
//!
//! - a counterfactual on logged times: garbage collection explains a task if it would not have been a
//!   straggler had no task of the group collected garbage ([`counterfactual`]; after K. Ousterhout et al.,
//!   "Making Sense of Performance in Data Analytics Frameworks", NSDI 2015, section 5),
//! - its input compared with its time ([`counterfactual::Verdict`]),
//! - logs about its node: failures while it ran ([`faults`]), more stragglers than on other nodes
//!   ([`node_test`]),
//! - external utilisation metrics of its node ([`crate::node_metrics`], S2 table 3),
//! - and rules of thumb on CPU time, spills, first tasks of executors and copies ([`hints`]).
//!
//! Missing data never explains a straggler.

use elephant_base::state::State;

mod attribution;
pub mod components;
pub mod counterfactual;
pub mod evidence;
pub mod faults;
pub mod hints;
pub mod node_test;
mod params;
mod summary;
#[cfg(test)]
mod tests;

pub use attribution::{Grounds, LabelledGroup, StragglerCause, attribute, attribute_on};
pub use params::Params;
pub use summary::{CauseCount, CauseCounts, Confidences, shares_percent};

/// A category of causes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, State)]
pub enum Cause {
    /// It had more input than the others, and was as fast for its input (S2 type 6).
    DataSkew,
    /// Garbage collection (partly S2 type 1).
    Gc,
    /// Its node's CPUs were busy (S2 type 1).
    Cpu,
    /// Disks: a busy one, spills, merges or shuffle writes (S2 type 2).
    Disk,
    /// Requests to the distributed file system took long (S2 type 3).
    SlowFileSystem,
    /// It waited for data from other nodes, or packets were lost (S2 type 4).
    Network,
    /// Its node failed, or is slow for all tasks (S2 type 5).
    Hardware,
    /// It waited to be started, or for earlier tasks.
    Scheduler,
    /// It was among the first tasks of its stage on its executor: classes were loaded, code was compiled, broadcast variables
    /// were fetched.
    ColdStart,
    /// Its code had more work for the same input (S2 type 1, "poor user code").
    MoreWork,
    /// It was slow in every attempt, on different nodes: its input or its code, not its node.
    EveryAttempt,
    /// It had the same work as the others and waited for the CPU or the disk of its node; which of the two is
    /// unknown.
    Contention,
    /// No known cause.
    Unexplained,
}

impl Cause {
    /// Whether a copy of a straggler with this cause would have been faster; `None` if that is unknown.
    #[must_use]
    pub const fn copy_helps(self) -> Option<bool> {
        match self {
            Self::Gc
            | Self::Cpu
            | Self::Disk
            | Self::SlowFileSystem
            | Self::Network
            | Self::Hardware
            | Self::ColdStart
            | Self::Contention => Some(true),
            // The copy has the same data, runs the same code, and waits for the same tasks.
            Self::DataSkew | Self::MoreWork | Self::EveryAttempt | Self::Scheduler => Some(false),
            Self::Unexplained => None,
        }
    }

    /// Every cause.
    pub const ALL: [Self; 13] = [
        Self::DataSkew,
        Self::Gc,
        Self::Cpu,
        Self::Disk,
        Self::SlowFileSystem,
        Self::Network,
        Self::Hardware,
        Self::Scheduler,
        Self::ColdStart,
        Self::MoreWork,
        Self::EveryAttempt,
        Self::Contention,
        Self::Unexplained,
    ];

    /// The name in reports.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::DataSkew => "data-skew",
            Self::Gc => "gc",
            Self::Cpu => "cpu",
            Self::Disk => "disk",
            Self::SlowFileSystem => "slow-file-system",
            Self::Network => "network",
            Self::Hardware => "hardware",
            Self::Scheduler => "scheduler",
            Self::ColdStart => "cold-start",
            Self::MoreWork => "more-work",
            Self::EveryAttempt => "every-attempt",
            Self::Contention => "contention",
            Self::Unexplained => "unexplained",
        }
    }

    /// The name for readers.
    #[must_use]
    pub const fn display_name(self) -> &'static str {
        match self {
            Self::DataSkew => "data skew",
            Self::Gc => "garbage collection",
            Self::Cpu => "busy CPUs on the node",
            Self::Disk => "disk",
            Self::SlowFileSystem => "slow file system",
            Self::Network => "network",
            Self::Hardware => "faulty or slow node",
            Self::Scheduler => "waiting for input or the scheduler",
            Self::ColdStart => "warm-up on the executor",
            Self::MoreWork => "more work for the same input",
            Self::EveryAttempt => "slow in every attempt",
            Self::Contention => "contention on the node",
            Self::Unexplained => "unexplained",
        }
    }
}

/// How certain the evidence is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, State)]
#[non_exhaustive]
pub enum Confidence {
    /// A hint that is not enough on its own.
    Weak,
    /// Derived from measurements by a rule that can be wrong.
    Inferred,
    /// A measured value exceeds its limit.
    Measured,
}

impl Confidence {
    /// Every level, the least certain first.
    pub const ALL: [Self; 3] = [Self::Weak, Self::Inferred, Self::Measured];

    /// The name in reports.
    #[must_use]
    #[doc(hidden)]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Weak => "weak",
            Self::Inferred => "inferred",
            Self::Measured => "measured",
        }
    }
}
