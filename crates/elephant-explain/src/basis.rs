//! What figures are computed from, by rule and key of the evidence.

use super::tables;
use elephant_model::model::counters::Counter;

/// How the values of attempts become a figure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum How {
    /// Their sum.
    Sum,
    /// Their mean.
    Mean,
    /// The one in the middle.
    Median,
    /// The largest.
    Largest,
    /// The smallest.
    Smallest,
    /// How many there are.
    Count,
}

impl How {
    /// In words, before "of".
    #[must_use]
    pub const fn words(self) -> &'static str {
        match self {
            Self::Sum => "the sum",
            Self::Mean => "the mean",
            Self::Median => "the median",
            Self::Largest => "the largest",
            Self::Smallest => "the smallest",
            Self::Count => "the number",
        }
    }

    /// The name in JSON.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Sum => "sum",
            Self::Mean => "mean",
            Self::Median => "median",
            Self::Largest => "largest",
            Self::Smallest => "smallest",
            Self::Count => "count",
        }
    }
}

/// What is read of an attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reading {
    /// Counters; several are added.
    Counters(&'static [Counter]),
    /// One counter, which a rule names at run time.
    Counter(Counter),
    /// From its start to its end.
    RunTime,
}

/// Which attempts are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Which {
    /// Those that ended.
    Ended,
    /// Those that succeeded.
    Succeeded,
    /// Those that failed.
    Failed,
}

impl Which {
    /// The name in JSON, and in words before "attempts".
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Ended => "ended",
            Self::Succeeded => "succeeded",
            Self::Failed => "failed",
        }
    }
}

/// What a figure is computed from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Basis {
    /// Values of attempts.
    Attempts(How, Reading, Which),
    /// Other figures of the finding.
    Figures(&'static str),
}

/// What the figure under `key` of a finding of `rule` may be computed from, the most frequent first; nothing if only its rule
/// knows. Rules read what a log has: the time of its executor for a task, or else the time from its start to its end.
pub fn bases(rule: &str, key: &str) -> impl Iterator<Item = Basis> {
    let rows = tables::ALL.iter().flat_map(|table| table.iter());
    rows.filter(move |row| row.0.contains(&rule) && row.1 == key).map(|row| row.2)
}
