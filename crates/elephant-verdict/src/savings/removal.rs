//! What would remove a trouble, as far as savings are computed from it.

use super::method::Source;
use super::spark::Resources;
use super::why_unknown::WhyUnknown;
use elephant_base::units::{Bytes, Millis};
use elephant_model::model::Subject;

/// What a replay leaves out or changes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Cause {
    /// Attempts that failed, and what was done again after them.
    Failures,
    /// Garbage collection beyond this share of the time of tasks.
    Collections {
        /// The share that remains.
        limit: f64,
    },
    /// Data that did not fit into memory, written to the disk and read again.
    Spill,
    /// Waiting for shuffle data (Spark).
    FetchWait,
    /// The work of an operator of a query (Spark).
    Work {
        /// Its share of the time of the tasks of its stages, at most.
        share: f64,
    },
    /// Tasks that were slower than others with as much data.
    Stragglers,
    /// Tasks that took longer because they had more data.
    Skew,
    /// As `Skew`; and tasks that were slower for another reason, if they hold up the same parts as long.
    Uneven,
    /// Too few or too many tasks.
    Tasks {
        /// How many tasks do the same work.
        count: u32,
    },
    /// Too small or too large parts of the input.
    Splits {
        /// What each map task reads.
        size: Bytes,
    },
    /// Reduce tasks that wait for map tasks.
    SlowStart {
        /// The share of the map tasks that has ended when they start.
        share: f64,
    },
    /// Speculative copies that lost.
    Copies {
        /// The share of what is held that they took.
        lost: f64,
    },
}

impl Cause {
    /// How the saving is computed.
    pub(super) const fn source(self) -> Source {
        match self {
            Self::Failures
            | Self::Stragglers
            | Self::Skew
            | Self::Tasks { .. }
            | Self::Splits { .. }
            | Self::SlowStart { .. } => Source::Replay,
            Self::Uneven => Source::ReplayWithoutStragglers,
            Self::Collections { .. } | Self::Spill | Self::FetchWait => Source::UnvalidatedReplay,
            Self::Work { .. } => Source::Operator,
            Self::Copies { .. } => Source::LosingCopies,
        }
    }
}

/// By how much the memory held changes. Troubles that change the same containers propose the same size, which counts once.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct MemoryChange {
    /// For executors (Spark): the size that is proposed, and by which factor it changes what is held.
    pub executors: Option<(Resources, f64)>,
    /// For containers of map tasks: the share of all memory held that is saved; negative if they take more.
    pub maps: Option<f64>,
    /// The same for containers of reduce tasks.
    pub reduces: Option<f64>,
}

impl MemoryChange {
    /// These changes, and those of `other` where this one has none.
    pub(super) fn and(self, other: Self) -> Self {
        Self {
            executors: self.executors.or(other.executors),
            maps: self.maps.or(other.maps),
            reduces: self.reduces.or(other.reduces),
        }
    }

    /// By which factor the memory of containers changes (MapReduce).
    pub(super) fn of_containers(&self) -> f64 {
        (1.0 - self.maps.unwrap_or_default() - self.reduces.unwrap_or_default()).max(0.0)
    }
}

/// What would remove a trouble.
#[derive(Debug, Clone, PartialEq)]
pub enum Removal {
    /// The application runs without a cause: in these stages (Spark), in tasks of these kinds (MapReduce), or everywhere
    /// if they include another subject, or none is named.
    Replay(Cause, Vec<Subject>),
    /// The application runs on executors of another number or size (Spark), as `whatif` replays it, and without a cause
    /// that this removes.
    Resized(Resources, Option<(Cause, Vec<Subject>)>),
    /// The job runs without a cause in containers of another size (MapReduce).
    Containers {
        /// By how much the memory held changes.
        memory: MemoryChange,
        /// What does not happen in these containers.
        cause: Cause,
        /// Where it does not happen, as in [`Removal::Replay`].
        subjects: Vec<Subject>,
    },
    /// Containers of another size. It takes no time and saves none.
    Memory(MemoryChange),
    /// Executors are not held while they are idle. It saves no time.
    Idle {
        /// The idle share of held resources.
        share: f64,
    },
    /// The driver does not work alone, or not as long. Nothing is held in this time.
    Driver {
        /// The most time that this can save.
        time: Millis,
    },
    /// Resources come at once. Nothing is held while an application waits.
    Waiting {
        /// The most time that this can save.
        time: Millis,
    },
    /// Executors of another number or size: the memory that they take is known, but not what they save.
    Costs(Resources, WhyUnknown),
    /// What would remove it, or what that would save, is unknown.
    Unknown(WhyUnknown),
}

impl Removal {
    /// Whether it takes a replay of the application.
    pub(super) const fn is_replay(&self) -> bool {
        matches!(self, Self::Replay(..) | Self::Resized(..) | Self::Containers { .. } | Self::Costs(..))
    }

    /// Whether memory is held in pieces of another size.
    pub(super) const fn is_resized(&self) -> bool {
        matches!(self, Self::Resized(..) | Self::Containers { .. })
    }

    /// How the saving is computed.
    pub(super) const fn source(&self) -> Source {
        match self {
            Self::Replay(cause, _) | Self::Resized(_, Some((cause, _))) | Self::Containers { cause, .. } => {
                cause.source()
            }
            Self::Resized(_, None) => Source::Replay,
            Self::Memory(_) => Source::Memory,
            Self::Idle { .. } => Source::IdleTime,
            Self::Driver { .. } => Source::DriverTime,
            Self::Waiting { .. } => Source::WaitingTime,
            Self::Costs(..) | Self::Unknown(_) => Source::Nothing,
        }
    }
}
