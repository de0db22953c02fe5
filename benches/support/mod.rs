//! Histories of any size for benchmarks and tests, the same ones each time.
//!
//! A simulated job runs on a simulated cluster and is written as Hadoop writes it: events in the order of
//! time, every counter that a task has, the ends of tasks repeating those of their attempts, totals that are
//! the sums. Nothing is kept but the attempts that run at the moment. [`spark`] does the same for Spark,
//! [`mixed`] writes folders of many small ones.

#[allow(dead_code)] // not every benchmark needs configurations
pub(crate) mod conf;
mod counters;
mod hadoop1;
mod jhist;
mod job;
#[allow(dead_code)] // not every benchmark reads folders
pub(crate) mod mixed;
mod rng;
#[allow(dead_code)] // not every benchmark reads the logs of Spark
pub(crate) mod spark;

use std::io::{self, Write};

pub(crate) use job::Job;

/// How a history is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Format {
    /// Hadoop 2 and 3, an event a line.
    AvroJson,
    /// Hadoop 2 and 3, binary.
    AvroBinary,
    /// Hadoop 1.
    Hadoop1,
}

impl Format {
    /// The name in tables and of files.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::AvroJson => "avro-json",
            Self::AvroBinary => "avro-binary",
            Self::Hadoop1 => "hadoop-1",
        }
    }

    /// Runs `job` and writes its history.
    pub(crate) fn write(self, job: Job, out: &mut dyn Write) -> io::Result<()> {
        match self {
            Self::AvroJson => job.run(&mut jhist::Jhist::new(job, jhist::Json::new(out))),
            Self::AvroBinary => job.run(&mut jhist::Jhist::new(job, jhist::Binary::new(out)?)),
            Self::Hadoop1 => job.run(&mut hadoop1::Records::new(job, out)),
        }
    }
}
