//! The costs of runs, compared with accepted runs of the same job.

use std::str::FromStr;

use elephant_base::units::{Millis, three_digits, three_digits_grouped};

/// A quantity of a run that is compared with earlier runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Metric {
    /// From submission to end.
    Runtime,
    /// Memory allocated over time.
    Used,
    /// The part of it that was not needed.
    Wasted,
    /// Total run time of all attempts.
    TaskTime,
    /// Failed attempts.
    FailedAttempts,
}

impl Metric {
    /// All of them, in the order of reports.
    pub const ALL: [Self; 5] =
        [Self::Runtime, Self::Used, Self::Wasted, Self::TaskTime, Self::FailedAttempts];

    /// The key in files and reports, with the unit as suffix.
    #[must_use]
    #[doc(hidden)]
    pub const fn key(self) -> &'static str {
        match self {
            Self::Runtime => "runtime_ms",
            Self::Used => "resource_used_gb_hours",
            Self::Wasted => "resource_wasted_gb_hours",
            Self::TaskTime => "task_time_ms",
            Self::FailedAttempts => "failed_attempts_count",
        }
    }

    /// The display name.
    #[must_use]
    #[doc(hidden)]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Runtime => "run time",
            Self::Used => "memory used",
            Self::Wasted => "memory wasted",
            Self::TaskTime => "task time",
            Self::FailedAttempts => "failed attempts",
        }
    }

    /// Whether more input explains a higher value.
    #[must_use]
    #[doc(hidden)]
    pub const fn grows_with_input(self) -> bool {
        !matches!(self, Self::FailedAttempts)
    }

    /// A value as text for people.
    #[must_use]
    #[doc(hidden)]
    pub fn show(self, value: f64) -> String {
        match self {
            Self::Runtime | Self::TaskTime => Millis::from_f64(value).unwrap_or_default().to_string(),
            Self::Used | Self::Wasted => format!("{} GB·h", three_digits_grouped(value)),
            Self::FailedAttempts => three_digits(value),
        }
    }

    /// A value as text, rounded only so far that the noise of computing does not show.
    #[must_use]
    #[doc(hidden)]
    pub fn show_exactly(self, value: f64) -> String {
        let value = (value * 1e6).round() / 1e6;
        match self {
            Self::Runtime | Self::TaskTime => format!("{value} ms"),
            Self::Used | Self::Wasted => format!("{value} GB·h"),
            Self::FailedAttempts => value.to_string(),
        }
    }
}

impl FromStr for Metric {
    type Err = String;

    fn from_str(key: &str) -> Result<Self, String> {
        Self::ALL.into_iter().find(|metric| metric.key() == key).ok_or_else(|| {
            let keys: Vec<&str> = Self::ALL.iter().map(|metric| metric.key()).collect();
            format!("unknown metric \"{key}\"; expected one of {}", keys.join(", "))
        })
    }
}

/// The smallest differences that count: schedulers and JVMs are not exact, so the costs of small runs differ by a large
/// share. `rules/gate.yaml` has the values.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Floors {
    /// The floor for run time.
    pub run_time: Millis,
    /// The floor for memory used and memory wasted, in GB-hours.
    pub memory_gb_hours: f64,
    /// The floor for task time.
    pub task_time: Millis,
    /// The floor for failed attempts.
    pub failed_attempts: f64,
}

impl Floors {
    /// The floor of `metric`, in the unit of its key.
    #[must_use]
    pub(crate) const fn of(&self, metric: Metric) -> f64 {
        match metric {
            Metric::Runtime => self.run_time.as_f64(),
            Metric::Used | Metric::Wasted => self.memory_gb_hours,
            Metric::TaskTime => self.task_time.as_f64(),
            Metric::FailedAttempts => self.failed_attempts,
        }
    }
}

/// What sets the limits of a [`Range`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LimitBasis {
    /// The tolerance, a share of the median.
    Tolerance,
    /// The spread of the accepted runs.
    Spread,
    /// The smallest difference that counts.
    Floor,
}

#[doc(hidden)]
impl LimitBasis {
    /// The name in reports.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Tolerance => "tolerance",
            Self::Spread => "spread",
            Self::Floor => "floor",
        }
    }
}

/// The range of a metric that the accepted runs allow.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Range {
    /// The number of runs with a value.
    pub runs: usize,
    /// Their median.
    pub median: f64,
    /// Lower values are an improvement.
    pub low: f64,
    /// Higher values are a regression.
    pub high: f64,
    /// What sets the limits.
    pub basis: LimitBasis,
    /// The smallest difference that counts, in the unit of the metric.
    pub floor: f64,
}

impl Range {
    /// The range with a limit that is `factor` times as high, because the run read more than earlier runs.
    #[must_use]
    pub(crate) fn grown(self, factor: f64) -> Self {
        Self { high: self.high * factor.max(1.0), ..self }
    }
}

/// How far the limit of a cost rises because the run read more than the accepted runs.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct LimitGrowth {
    /// The limit as a multiple of that of a run that reads as much as usual; at least 1.
    pub factor: f64,
    /// The phases that read more, the one that raises the limit most first. None if the limit rises in proportion to the
    /// input of the whole run, because the accepted runs do not tell their phases.
    pub phases: Vec<GrownPhase>,
}

impl LimitGrowth {
    /// That of a run that reads as much as usual.
    #[must_use]
    pub(crate) const fn none() -> Self {
        Self { factor: 1.0, phases: Vec::new() }
    }
}

/// A phase that read more than in the accepted runs.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct GrownPhase {
    /// Its name.
    pub phase: String,
    /// What it read, as a multiple of what it read in the accepted runs.
    pub read_ratio: f64,
}
