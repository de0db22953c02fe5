//! Settings of a survey.

use std::sync::Arc;

use super::learnt::Learnt;
use crate::conditions::Conditions;
use elephant_analysis::stragglers::cause;
use elephant_analysis::stragglers::detect::options::DetectorOptions;
use elephant_analysis::stragglers::executions::Basis;
use elephant_analysis::stragglers::labels::{DOS_REPORT, Edge, Labelling, MIN_TASKS, Reference};
use elephant_analysis::stragglers::usual::UsualRule;
use elephant_base::units::Millis;
use elephant_input::trace_table::TraceFormat;

/// The definition of a straggler.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Method {
    /// A multiple of the median of its group.
    Median,
    /// A multiple of the mean of its group.
    Mean,
    /// A multiple of its own usual time.
    Usual,
    /// A DoS-index.
    DosIndex,
}

#[doc(hidden)]
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

    /// The multiple or the index given in its paper.
    #[must_use]
    pub fn usual_factor(self) -> f64 {
        match self {
            Self::Median | Self::Mean => Labelling::MEDIAN.factor,
            Self::Usual => UsualRule::default().factor,
            Self::DosIndex => DOS_REPORT,
        }
    }
}

/// Settings of a survey.
#[derive(Debug, Clone)]
pub struct Settings {
    /// The definition of a straggler.
    pub method: Method,
    /// A task is a straggler from this multiple, or this index.
    pub factor: f64,
    /// The groups that count.
    pub conditions: Conditions,
    /// Groups with fewer tasks have no stragglers.
    pub min_tasks: usize,
    /// The clock that durations are read from.
    pub basis: Basis,
    /// Whether detectors are replayed on the groups.
    pub replay: bool,
    /// Whether Spark's speculation is also tried with other settings.
    pub sweep: bool,
    /// Earlier runs, for usual times and usual progress.
    pub models: Option<Arc<Learnt>>,
    /// Whether to collect usual times and progress of these applications, for later runs.
    pub learn: bool,
    /// Changes of the detectors' settings.
    pub detectors: DetectorOptions,
    /// The usual times that detectors are rated by.
    pub usual: UsualRule,
    /// Time after launch without progress, for attempts with only launch and end known.
    pub startup: Millis,
    /// Time between reports of an attempt; `None` for the engine's default.
    pub report: Option<Millis>,
    /// The limits of the cause rules.
    pub causes: cause::Params,
    /// The trace that files other than histories are from; `None` to detect it from their contents.
    pub trace: Option<TraceFormat>,
    /// How many jobs of traces are kept, those that waited longest for stragglers; the others are only counted.
    pub most_jobs: Option<usize>,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            method: Method::Median,
            factor: Method::Median.usual_factor(),
            conditions: Conditions::default(),
            min_tasks: MIN_TASKS,
            basis: Basis::Wall,
            replay: true,
            sweep: false,
            models: None,
            learn: false,
            detectors: DetectorOptions::default(),
            usual: UsualRule::default(),
            startup: Millis::ZERO,
            report: None,
            causes: cause::Params::default(),
            trace: None,
            most_jobs: None,
        }
    }
}

impl Settings {
    /// Labels by a multiple of this reference.
    #[must_use]
    pub(crate) const fn labelling(&self, reference: Reference) -> Labelling {
        let factor = match self.method {
            Method::Median | Method::Mean => self.factor,
            Method::Usual | Method::DosIndex => Labelling::MEDIAN.factor,
        };
        Labelling { reference, factor, edge: Edge::From, min_tasks: self.min_tasks }
    }
}
