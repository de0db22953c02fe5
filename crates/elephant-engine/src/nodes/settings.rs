//! Settings of a ranking.

use elephant_input::trace_table::TraceFormat;

/// Parameters of a ranking.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Settings {
    /// Groups with fewer tasks are left out: in small groups no z-score can exceed (n - 1) / √n. S1 uses jobs
    /// with more than two tasks.
    pub min_group: usize,
    /// Nodes with fewer tasks are not ranked: their wide intervals would all reach the worst level.
    pub min_node_tasks: u64,
    /// Days with fewer tasks get no mean in a node's trend.
    pub min_day_tasks: u64,
    /// The quantile to report.
    pub quantile: f64,
    /// A task with a z-score above this is an extreme value.
    pub extreme: f64,
    /// A task is a straggler from this multiple of its group's median duration.
    pub straggler: f64,
    /// A slow node has at least this mean z-score, or meets [`Self::slow_straggler_ratio`].
    pub slow_mean: f64,
    /// A slow node has at least this multiple of the other nodes' share of stragglers.
    pub slow_straggler_ratio: f64,
    /// A node with too few tasks to be ranked is suspected from this number of tasks on.
    pub suspect_tasks: u64,
    /// It is suspected if at least this share of them are stragglers, significantly more than on other nodes.
    pub suspect_share: f64,
    /// A node failed if it lost at least this many executors, ...
    pub failed_executors: u64,
    /// ... and this share of them, significantly more than other nodes.
    pub failed_share: f64,
    /// A straggler is taken out of service only if it was seen in this many applications.
    pub exclude_applications: u64,
    /// The confidence of all intervals.
    pub confidence: f64,
    /// The interval that decides the levels.
    pub interval: IntervalKind,
    /// The indicator that sorts the nodes.
    pub order: Indicator,
    /// The trace that files other than histories are from; `None` to detect it from their contents.
    pub trace: Option<TraceFormat>,
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
            slow_mean: 0.5,
            slow_straggler_ratio: 1.5,
            suspect_tasks: 3,
            suspect_share: 0.5,
            failed_executors: 3,
            failed_share: 0.5,
            exclude_applications: 2,
            confidence: 0.95,
            interval: IntervalKind::MeanConfidence,
            order: Indicator::Level,
            trace: None,
        }
    }
}

/// Kind of interval of a node's normalised task durations.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IntervalKind {
    /// The confidence interval of the mean. It narrows with the number of tasks and separates nodes.
    MeanConfidence,
    /// The interval for single tasks, by the best fit. S1 describes this one, but in one cluster the
    /// intervals of all nodes overlap.
    Prediction,
}

#[doc(hidden)]
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

/// The indicator that nodes are sorted by, worst first (S1, table 1). For all except the level and the name,
/// a greater value is worse.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Indicator {
    /// The level, then the mean z-score.
    Level,
    /// The mean z-score.
    Mean,
    /// The standard deviation of the z-scores.
    Deviation,
    /// The quantile, by the best fit.
    Quantile,
    /// The probability of an extreme value, by the best fit.
    ExtremeValue,
    /// The share of tasks that are stragglers.
    StragglerShare,
    /// No indicator: the nodes are in alphabetical order.
    Name,
}

#[doc(hidden)]
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
            Self::Name => "name",
        }
    }
}
