//! Generates logs of any size for benchmarks and tests, the same ones each time.
//!
//! A simulated job runs on a simulated cluster and is logged as Hadoop does it: events in time order, all
//! counters of a task, task ends that repeat those of their attempts, and totals that equal the sums. Only
//! running attempts are kept in memory. [`spark`] does the same for Spark, [`mixed`] writes folders of many
//! small logs.

pub mod conf;
mod counters;
mod hadoop1;
mod jhist;
mod job;
pub mod mixed;
mod rng;
pub mod spark;
pub mod trace_folder;
pub mod traces;

use std::io::{self, Write};

pub use job::Job;

/// Format of a job history.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// Hadoop 2 and 3, one event per line.
    AvroJson,
    /// Hadoop 2 and 3, binary.
    AvroBinary,
    /// Hadoop 1.
    Hadoop1,
}

impl Format {
    /// The name in tables and file names.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::AvroJson => "avro-json",
            Self::AvroBinary => "avro-binary",
            Self::Hadoop1 => "hadoop-1",
        }
    }

    /// Runs `job` and writes its job history.
    pub fn write(self, job: Job, out: &mut dyn Write) -> io::Result<()> {
        match self {
            Self::AvroJson => job.run(&mut jhist::Jhist::new(job, jhist::Json::new(out))),
            Self::AvroBinary => job.run(&mut jhist::Jhist::new(job, jhist::Binary::new(out)?)),
            Self::Hadoop1 => job.run(&mut hadoop1::Records::new(job, out)),
        }
    }
}
