//! What a ranking can be told.

use crate::units::Timestamp;

/// The parameters of a ranking.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Settings {
    /// Groups with fewer tasks are left out: their z-scores cannot show much, as none exceeds (n - 1) / √n. S1 takes
    /// jobs of more than two tasks.
    pub min_group: usize,
    /// Nodes with fewer tasks are not ranked: wide intervals would all reach the worst level.
    pub min_node_tasks: u64,
    /// Days with fewer tasks have no mean in a node's trend.
    pub min_day_tasks: u64,
    /// The quantile that is reported.
    pub quantile: f64,
    /// A task with a z-score above this is an extreme value.
    pub extreme: f64,
    /// A task is a straggler from this multiple of its group's median time on.
    pub straggler: f64,
    /// The confidence of all intervals.
    pub confidence: f64,
    /// Which interval decides the levels.
    pub interval: IntervalKind,
    /// What decides the order of the nodes.
    pub order: Indicator,
    /// Only attempts that start from this moment on.
    pub since: Option<Timestamp>,
    /// Only attempts that start before this moment.
    pub until: Option<Timestamp>,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            min_group: 3,
            min_node_tasks: 30,
            min_day_tasks: 10,
            quantile: 0.9,
            extreme: 2.0,
            straggler: 1.5,
            confidence: 0.95,
            interval: IntervalKind::MeanConfidence,
            order: Indicator::Level,
            since: None,
            until: None,
        }
    }
}

impl Settings {
    /// Whether an attempt that starts at `start` counts. One whose start is unknown counts where there is no window.
    #[must_use]
    pub fn counts(&self, start: Option<Timestamp>) -> bool {
        match start {
            Some(start) => {
                self.since.is_none_or(|since| start >= since) && self.until.is_none_or(|until| start < until)
            }
            None => self.since.is_none() && self.until.is_none(),
        }
    }
}

/// Which interval of a node's normalised task times is compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IntervalKind {
    /// The confidence interval of the mean: it narrows with the number of tasks and tells nodes apart.
    MeanConfidence,
    /// The interval that holds most single tasks, by the best fit. S1's words describe it, but those of all nodes of a
    /// cluster overlap.
    Prediction,
}

impl IntervalKind {
    /// The name in reports.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::MeanConfidence => "ci_mean",
            Self::Prediction => "prediction",
        }
    }
}

/// What nodes are ordered by, the worst first (S1, table 1). All but the level are values of which more is worse.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Indicator {
    /// The level, then the mean.
    Level,
    /// The mean z-score.
    Mean,
    /// The standard deviation of the z-scores.
    Deviation,
    /// The quantile by the best fit.
    Quantile,
    /// The probability of an extreme value by the best fit.
    ExtremeValue,
    /// The share of tasks that are stragglers.
    StragglerShare,
}

impl Indicator {
    /// The name in reports.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Level => "level",
            Self::Mean => "mean",
            Self::Deviation => "sd",
            Self::Quantile => "quantile",
            Self::ExtremeValue => "extreme_value",
            Self::StragglerShare => "straggler_share",
        }
    }
}
