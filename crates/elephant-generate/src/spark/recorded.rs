//! The recordings of real applications that benchmarks repeat.

use std::fs;
use std::io::{self, BufReader, Write};
use std::path::Path;

use super::amplify::Recording;

/// A recorded application of Spark 3.5, compressed with zstd.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Recorded {
    /// Half of the log are lines of tasks.
    Tasks,
    /// Many queries with few tasks: plans, RDDs and configurations fill four fifths of the log.
    Queries,
}

impl Recorded {
    /// The name in tables and file names.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Tasks => "tasks",
            Self::Queries => "queries",
        }
    }

    /// Task attempts of one run.
    #[must_use]
    pub const fn tasks(self) -> u32 {
        match self {
            Self::Tasks => 28,
            Self::Queries => 41,
        }
    }

    /// Approximate length of one run.
    #[must_use]
    pub const fn bytes(self) -> u64 {
        match self {
            Self::Tasks => 310_000,
            Self::Queries => 1_040_000,
        }
    }

    const fn path(self) -> &'static str {
        match self {
            Self::Tasks => "testdata/spark/3.5.9/healthy/app-20261121085752-0000.zstd",
            Self::Queries => "benches/recordings/spark-3.5.9-queries.zst",
        }
    }

    /// Writes a log in which the application runs this many times.
    pub fn write(self, times: u32, out: &mut dyn Write) -> io::Result<()> {
        self.read()?.write(times, out)
    }

    fn read(self) -> io::Result<Recording> {
        let packed = fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(self.path()))?;
        Recording::read(&mut BufReader::new(zstd::Decoder::new(packed.as_slice())?))
    }
}
