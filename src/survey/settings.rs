//! How a survey is made.

use crate::stragglers::cause;
use crate::stragglers::executions::Basis;
use crate::stragglers::labels::{DOS_REPORT, Edge, Labelling, MIN_TASKS, Reference, UsualRule};
use crate::units::Millis;

/// What makes a task a straggler.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Method {
    /// A multiple of the median of its group.
    Median,
    /// A multiple of the mean of its group.
    Mean,
    /// More than a multiple of what it usually takes.
    Usual,
    /// Its DoS-index.
    DosIndex,
}

impl Method {
    /// The name in reports.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Median => "median",
            Self::Mean => "mean",
            Self::Usual => "usual",
            Self::DosIndex => "dos-index",
        }
    }

    /// The multiple or the index of its source.
    #[must_use]
    pub fn usual_factor(self) -> f64 {
        match self {
            Self::Median | Self::Mean => Labelling::MEDIAN.factor,
            Self::Usual => UsualRule::default().factor,
            Self::DosIndex => DOS_REPORT,
        }
    }
}

/// How a survey is made.
#[derive(Debug, Clone)]
pub struct Settings {
    /// What makes a task a straggler.
    pub method: Method,
    /// The multiple or the index from which it is one.
    pub factor: f64,
    /// Groups with fewer tasks have no stragglers.
    pub min_tasks: usize,
    /// The clock that durations are read from.
    pub basis: Basis,
    /// Whether detectors are taken through the groups.
    pub replay: bool,
    /// Whether Spark's speculation is tried with other settings, too.
    pub sweep: bool,
    /// What detectors are judged by.
    pub usual: UsualRule,
    /// Time after its launch in which an attempt of which only launch and end are known makes no progress.
    pub startup: Millis,
    /// Time between reports of an attempt; the engine's own where it is not set.
    pub report: Option<Millis>,
    /// The limits by which causes are found.
    pub causes: cause::Params,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            method: Method::Median,
            factor: Method::Median.usual_factor(),
            min_tasks: MIN_TASKS,
            basis: Basis::Wall,
            replay: true,
            sweep: false,
            usual: UsualRule::default(),
            startup: Millis::ZERO,
            report: None,
            causes: cause::Params::default(),
        }
    }
}

impl Settings {
    /// Labels by a multiple of this reference.
    #[must_use]
    pub const fn labelling(&self, reference: Reference) -> Labelling {
        let factor = match self.method {
            Method::Median | Method::Mean => self.factor,
            Method::Usual | Method::DosIndex => Labelling::MEDIAN.factor,
        };
        Labelling { reference, factor, edge: Edge::From, min_tasks: self.min_tasks }
    }
}
