//! Why a task was a straggler: one primary cause, and everything that speaks for one.
//!
//! The categories are those of S2, table 4 (high CPU utilisation, high disk utilisation, slow requests to the distributed
//! file system, lost packets, hardware faults, data skew), split further where a history tells more than utilisation
//! does. S2 finds them by hand from system logs; here they follow from
//!
//! - a counterfactual on times that a history measures: a task is explained by garbage collection if it would have been
//!   no straggler had no task of the group collected ([`counterfactual`]; after K. Ousterhout et al., "Making Sense of
//!   Performance in Data Analytics Frameworks", NSDI 2015, section 3),
//! - its input beside its time ([`counterfactual::Verdict`]),
//! - what the history says of its node: failures while it ran ([`faults`]), stragglers more often than elsewhere
//!   ([`node_test`]),
//! - utilisation of its node from outside ([`crate::node_metrics`], S2 table 3),
//! - and rules of thumb on CPU time, spills, first tasks of executors and copies ([`hints`]).
//!
//! What a history does not tell explains nothing.

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

pub use attribution::{LabelledGroup, StragglerCause, attribute};
pub use params::Params;
pub use summary::{CauseCounts, shares_percent};

/// A category of causes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Cause {
    /// It had more input than the others and was as fast for its input (S2 type 6).
    DataSkew,
    /// Garbage collection (S2 type 1 in part).
    Gc,
    /// Its node's CPUs were busy (S2 type 1).
    Cpu,
    /// Disks: a busy one, spills, merges or shuffle writes (S2 type 2).
    Disk,
    /// Requests to the distributed file system took long (S2 type 3).
    SlowFileSystem,
    /// It waited for data from other nodes, or packets were lost (S2 type 4).
    Network,
    /// Its node failed, or slows down what runs on it (S2 type 5).
    Hardware,
    /// It waited to be started, or for tasks that come before it.
    Scheduler,
    /// It was among the first tasks of its group on its executor: classes were loaded, code was compiled.
    ColdStart,
    /// Its code had more to do, for the same input (S2 type 1, "poor user code").
    MoreWork,
    /// It did what the others did and waited for the CPU or the disk of its node; which of them is not known.
    Contention,
    /// Nothing that is known explains it.
    Unexplained,
}

impl Cause {
    /// Every cause.
    pub const ALL: [Self; 12] = [
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
            Self::Contention => "contention",
            Self::Unexplained => "unexplained",
        }
    }

    /// What people read.
    #[must_use]
    pub const fn display_name(self) -> &'static str {
        match self {
            Self::DataSkew => "data skew",
            Self::Gc => "garbage collection",
            Self::Cpu => "busy CPUs of the node",
            Self::Disk => "disk",
            Self::SlowFileSystem => "slow file system",
            Self::Network => "network",
            Self::Hardware => "trouble with the node",
            Self::Scheduler => "waiting for maps or the scheduler",
            Self::ColdStart => "cold start of the executor",
            Self::MoreWork => "more work for the same input",
            Self::Contention => "contention on the node",
            Self::Unexplained => "unexplained",
        }
    }

    /// The type in S2's table 4; `None` for what that table does not have, or does not tell apart.
    #[must_use]
    pub const fn s2_type(self) -> Option<u8> {
        match self {
            Self::Gc | Self::Cpu | Self::MoreWork => Some(1),
            Self::Disk => Some(2),
            Self::SlowFileSystem => Some(3),
            Self::Network => Some(4),
            Self::Hardware => Some(5),
            Self::DataSkew => Some(6),
            Self::Scheduler | Self::ColdStart | Self::Contention | Self::Unexplained => None,
        }
    }
}

/// How sure it is that evidence tells the cause.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Confidence {
    /// A hint that would not stand alone.
    Weak,
    /// It follows from what was measured by a rule that can err.
    Inferred,
    /// What was measured passes its limit.
    Measured,
}

impl Confidence {
    /// The name in reports.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Weak => "weak",
            Self::Inferred => "inferred",
            Self::Measured => "measured",
        }
    }
}
