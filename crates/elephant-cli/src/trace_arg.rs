//! The names of cluster traces as values of an option.

use clap::ValueEnum;

use elephant_engine::survey::TraceFormat;

/// A published cluster trace.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub(super) enum TraceArg {
    /// `task_events`, `job_events` and `machine_events` of Google's trace of May 2011
    #[value(name = "google-2011")]
    Google2011,
    /// `batch_instance` and `batch_task` of Alibaba's trace of 2017
    #[value(name = "alibaba-2017")]
    Alibaba2017,
    /// `batch_instance` and `batch_task` of Alibaba's trace of 2018
    #[value(name = "alibaba-2018")]
    Alibaba2018,
}

impl TraceArg {
    pub(super) const fn format(self) -> TraceFormat {
        match self {
            Self::Google2011 => TraceFormat::Google2011,
            Self::Alibaba2017 => TraceFormat::Alibaba2017,
            Self::Alibaba2018 => TraceFormat::Alibaba2018,
        }
    }
}
