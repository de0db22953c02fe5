//! Settings of detectors that users may change, and settings of an engine that make it work like a detector.

use std::fmt;

use super::pool::Pool;
use elephant_base::units::Millis;

/// A user's changes to the settings of detectors; `None` keeps the value from the detector's source.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct DetectorOptions {
    /// The speculative lag of the detectors of S0: no flag earlier than this.
    pub lag: Option<Millis>,
    /// The gap of Default and Hierarchical: a straggler's progress is more than this below the average.
    pub gap: Option<f64>,
    /// The slow task threshold of LATE, in standard deviations.
    pub alpha: Option<f64>,
    /// The tasks over which Default and Hierarchical take the average.
    pub pool: Option<Pool>,
    /// `spark.speculation.quantile`.
    pub quantile: Option<f64>,
    /// `spark.speculation.multiplier`.
    pub multiplier: Option<f64>,
}

/// A setting of an engine.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct EngineSetting {
    /// Its name.
    pub name: &'static str,
    /// Its value as written in a configuration.
    pub value: String,
}

impl EngineSetting {
    /// A setting and its value.
    pub(crate) fn new(name: &'static str, value: &dyn fmt::Display) -> Self {
        Self { name, value: value.to_string() }
    }
}
