//! The changes that are replayed.

use elephant_base::units::Bytes;

/// A trouble that a replay leaves out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Trouble {
    /// Tasks that took longer because they had more data.
    Skew,
    /// Tasks that were slower than others with as much data.
    Stragglers,
    /// Attempts that failed, and work that was done again after a failure.
    Failures,
    /// Speculative copies.
    Speculation,
}

impl Trouble {
    /// Every trouble.
    pub const ALL: [Self; 4] = [Self::Skew, Self::Stragglers, Self::Failures, Self::Speculation];

    /// The name in reports and options.
    #[must_use]
    #[doc(hidden)]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Skew => "skew",
            Self::Stragglers => "stragglers",
            Self::Failures => "failures",
            Self::Speculation => "speculation",
        }
    }
}

/// A change that is replayed; several parts apply together.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Change {
    /// The number of executors (Spark).
    pub executors: Option<u32>,
    /// Cores of each executor (Spark).
    pub cores: Option<u32>,
    /// Heap of each executor (Spark), or container of each task (MapReduce). It changes the cost, not the time.
    pub memory: Option<Bytes>,
    /// The number of tasks of stages, by the stage's id (Spark).
    pub partitions: Vec<(u32, u32)>,
    /// The number of reduces (MapReduce).
    pub reducers: Option<u32>,
    /// The size of input splits (MapReduce).
    pub split_size: Option<Bytes>,
    /// Share of maps that must have ended before reduces start (MapReduce).
    pub slow_start: Option<f64>,
    /// Troubles that are left out.
    pub without: Vec<Trouble>,
}

#[doc(hidden)]
impl Change {
    /// Whether it changes nothing.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// A change in which these troubles do not occur.
    #[must_use]
    pub fn without(troubles: &[Trouble]) -> Self {
        Self { without: troubles.to_vec(), ..Self::default() }
    }
}

/// What is replayed for each application.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Settings {
    /// The changes. Without any, each trouble is left out alone, then all of them together, and executors are varied.
    pub changes: Vec<Change>,
}

impl Settings {
    /// The change that was asked for; no change if there are several, or if the usual ones are replayed.
    #[must_use]
    pub(crate) fn requested(&self) -> Change {
        match self.changes.as_slice() {
            [only] => only.clone(),
            _ => Change::default(),
        }
    }
}
