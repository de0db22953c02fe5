//! Options of reports that are not about rules.

use std::error::Error;

use clap::{Args, ValueEnum};

use elephant_engine::engine::Sort;

/// Whether only the answer is written.
#[derive(Debug, Clone, Copy, Args)]
pub(super) struct SummaryArg {
    /// Write the answer only, without applications, tables and lists (text, json)
    #[arg(long, conflicts_with = "top")]
    pub(super) summary: bool,
}

impl SummaryArg {
    /// Fails for a format without an answer that can stand alone.
    pub(super) fn fits(self, has_answer: bool) -> Result<(), Box<dyn Error>> {
        if self.summary && !has_answer {
            return Err("--summary applies to the formats text and json".into());
        }
        Ok(())
    }
}

/// Orders of applications by stragglers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum StragglerOrder {
    /// Waited longest for stragglers first
    Saving,
    /// Most stragglers first
    Severity,
    /// Most time of losing attempts first
    Waste,
    /// Longest first
    Runtime,
    /// Names in alphabetical order
    Name,
}

impl From<StragglerOrder> for Sort {
    fn from(order: StragglerOrder) -> Self {
        match order {
            StragglerOrder::Saving => Self::Saving,
            StragglerOrder::Severity => Self::Severity,
            StragglerOrder::Waste => Self::Waste,
            StragglerOrder::Runtime => Self::RunTime,
            StragglerOrder::Name => Self::Name,
        }
    }
}

/// Orders of replayed applications.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum ReplayOrder {
    /// The most time that a change saves first
    Saving,
    /// The most memory that a change saves first
    Waste,
    /// Longest first
    Runtime,
    /// Names in alphabetical order
    Name,
}

impl From<ReplayOrder> for Sort {
    fn from(order: ReplayOrder) -> Self {
        match order {
            ReplayOrder::Saving => Self::Saving,
            ReplayOrder::Waste => Self::Waste,
            ReplayOrder::Runtime => Self::RunTime,
            ReplayOrder::Name => Self::Name,
        }
    }
}

/// Orders of pairs of runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum PairOrder {
    /// The worst finding that is new or worse first
    Severity,
    /// The largest change of wasted memory first
    Waste,
    /// The largest change of the run time first
    Runtime,
    /// Jobs in alphabetical order
    Name,
}

impl From<PairOrder> for Sort {
    fn from(order: PairOrder) -> Self {
        match order {
            PairOrder::Severity => Self::Severity,
            PairOrder::Waste => Self::Waste,
            PairOrder::Runtime => Self::RunTime,
            PairOrder::Name => Self::Name,
        }
    }
}
