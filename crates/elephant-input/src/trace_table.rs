//! The published cluster traces and their tables.

use elephant_base::state::State;
use elephant_base::units::{Millis, Timestamp};

/// A published cluster trace.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, State)]
pub enum TraceFormat {
    /// Google's trace of May 2011 (`clusterdata-2011`).
    Google2011,
    /// Alibaba's trace of 2017 (`cluster-trace-v2017`).
    Alibaba2017,
    /// Alibaba's trace of 2018 (`cluster-trace-v2018`).
    Alibaba2018,
}

impl TraceFormat {
    /// Every format.
    pub const ALL: [Self; 3] = [Self::Google2011, Self::Alibaba2017, Self::Alibaba2018];

    /// The moment 0 of the trace. Google's trace begins at 19:00 EDT on 1 May 2011, which is its second 600. The dates of
    /// Alibaba's traces are not published; their days count from 1970-01-02, which is clearly no date of a trace.
    const fn beginning(self) -> Timestamp {
        Timestamp::from_millis(match self {
            Self::Google2011 => 1_304_290_200_000,
            Self::Alibaba2017 | Self::Alibaba2018 => 86_400_000,
        })
    }

    /// The time at this second of the trace; `None` before the trace, and more than 49 days after its beginning.
    #[must_use]
    #[doc(hidden)]
    pub fn at_second(self, second: f64) -> Option<Timestamp> {
        let after = u32::try_from(Millis::from_seconds(second)?.get()).ok()?;
        self.timestamp(Some(after))
    }

    /// The time so many milliseconds after the moment 0.
    #[must_use]
    #[doc(hidden)]
    pub fn timestamp(self, after: Option<u32>) -> Option<Timestamp> {
        let beginning = self.beginning().as_millis();
        Some(Timestamp::from_millis(beginning.checked_add(i64::from(after?))?))
    }

    /// The name in options.
    #[must_use]
    #[doc(hidden)]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Google2011 => "google-2011",
            Self::Alibaba2017 => "alibaba-2017",
            Self::Alibaba2018 => "alibaba-2018",
        }
    }

    /// The reason for skipping its tables if the user chose another trace.
    pub(super) const fn excluded(self) -> &'static str {
        match self {
            Self::Google2011 => {
                "it looks like a table of Google's trace of 2011; use --trace google-2011, or leave out --trace"
            }
            Self::Alibaba2017 => {
                "it looks like a table of Alibaba's trace of 2017; use --trace alibaba-2017, or leave out --trace"
            }
            Self::Alibaba2018 => {
                "it looks like a table of Alibaba's trace of 2018; use --trace alibaba-2018, or leave out --trace"
            }
        }
    }

    /// The table with its tasks.
    #[must_use]
    #[doc(hidden)]
    pub const fn tasks(self) -> TraceTable {
        match self {
            Self::Google2011 => TraceTable::GoogleTasks,
            Self::Alibaba2017 => TraceTable::Alibaba2017Instances,
            Self::Alibaba2018 => TraceTable::Alibaba2018Instances,
        }
    }

    /// The name in the engine column of reports.
    #[must_use]
    #[doc(hidden)]
    pub const fn origin(self) -> &'static str {
        match self {
            Self::Google2011 => "google-2011 trace",
            Self::Alibaba2017 => "alibaba-2017 trace",
            Self::Alibaba2018 => "alibaba-2018 trace",
        }
    }
}

/// A table of a trace; a file holds one table, or a part of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum TraceTable {
    /// `job_events`.
    GoogleJobs,
    /// `machine_events`.
    GoogleMachines,
    /// `task_events`.
    GoogleTasks,
    /// `batch_task` of 2017.
    Alibaba2017Tasks,
    /// `batch_instance` of 2017.
    Alibaba2017Instances,
    /// `batch_task` of 2018.
    Alibaba2018Tasks,
    /// `machine_meta` of 2018.
    Alibaba2018Machines,
    /// `machine_usage` of 2018.
    Alibaba2018Usage,
    /// `batch_instance` of 2018.
    Alibaba2018Instances,
}

impl TraceTable {
    /// Every table, in the order in which the tables of a trace are read: what a job consists of is known before its tasks.
    pub const ALL: [Self; 9] = [
        Self::GoogleJobs,
        Self::GoogleMachines,
        Self::GoogleTasks,
        Self::Alibaba2017Tasks,
        Self::Alibaba2017Instances,
        Self::Alibaba2018Tasks,
        Self::Alibaba2018Machines,
        Self::Alibaba2018Usage,
        Self::Alibaba2018Instances,
    ];

    /// The trace that it belongs to.
    #[must_use]
    pub const fn format(self) -> TraceFormat {
        match self {
            Self::GoogleJobs | Self::GoogleMachines | Self::GoogleTasks => TraceFormat::Google2011,
            Self::Alibaba2017Tasks | Self::Alibaba2017Instances => TraceFormat::Alibaba2017,
            Self::Alibaba2018Tasks
            | Self::Alibaba2018Machines
            | Self::Alibaba2018Usage
            | Self::Alibaba2018Instances => TraceFormat::Alibaba2018,
        }
    }

    /// Its name, that of its files or folder.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::GoogleJobs => "job_events",
            Self::GoogleMachines => "machine_events",
            Self::GoogleTasks => "task_events",
            Self::Alibaba2017Tasks | Self::Alibaba2018Tasks => "batch_task",
            Self::Alibaba2017Instances | Self::Alibaba2018Instances => "batch_instance",
            Self::Alibaba2018Machines => "machine_meta",
            Self::Alibaba2018Usage => "machine_usage",
        }
    }

    /// Whether jobs are read from it. Machines are known from their tasks.
    #[must_use]
    pub const fn has_jobs(self) -> bool {
        !matches!(self, Self::GoogleMachines | Self::Alibaba2018Machines | Self::Alibaba2018Usage)
    }

    /// The number of its columns.
    #[must_use]
    pub const fn columns(self) -> usize {
        match self {
            Self::GoogleMachines => 6,
            Self::Alibaba2018Machines => 7,
            Self::GoogleJobs | Self::Alibaba2017Tasks => 8,
            Self::Alibaba2018Tasks | Self::Alibaba2018Usage => 9,
            Self::Alibaba2017Instances => 12,
            Self::GoogleTasks => 13,
            Self::Alibaba2018Instances => 14,
        }
    }

    /// Its kind in words, to follow "taken as".
    #[must_use]
    pub(crate) const fn text(self) -> &'static str {
        match self {
            Self::GoogleJobs => "job events of Google's trace of 2011",
            Self::GoogleMachines => "machine events of Google's trace of 2011",
            Self::GoogleTasks => "task events of Google's trace of 2011",
            Self::Alibaba2017Tasks => "batch tasks of Alibaba's trace of 2017",
            Self::Alibaba2017Instances => "batch instances of Alibaba's trace of 2017",
            Self::Alibaba2018Tasks => "batch tasks of Alibaba's trace of 2018",
            Self::Alibaba2018Machines => "machines of Alibaba's trace of 2018",
            Self::Alibaba2018Usage => "machine usage of Alibaba's trace of 2018",
            Self::Alibaba2018Instances => "batch instances of Alibaba's trace of 2018",
        }
    }
}
