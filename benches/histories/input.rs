//! What is measured, and its files.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use crate::support::spark::SparkJob;
use crate::support::spark::codec::Codec;
use crate::support::{Format, Job};

/// Changes with everything that changes the histories, so that old ones are not used again.
const EDITION: u32 = 2;

/// A history.
#[derive(Clone, Copy)]
pub(crate) enum Content {
    MapReduce(Format, Job),
    Spark(SparkJob, Codec),
}

/// A history, and the numbers of threads to read it with; `None` is the command's own choice.
#[derive(Clone, Copy)]
pub(crate) struct Input {
    pub(crate) content: Content,
    pub(crate) threads: &'static [Option<u32>],
}

impl Content {
    /// The name in the table.
    pub(crate) fn name(self) -> String {
        match self {
            Self::MapReduce(format, _) => format.name().to_owned(),
            Self::Spark(_, codec) => format!("spark{}", codec.ending()),
        }
    }

    /// Attempts for MapReduce, where each task has one.
    pub(crate) fn tasks(self) -> u32 {
        match self {
            Self::MapReduce(_, job) => job.maps + job.reduces,
            Self::Spark(job, _) => job.tasks,
        }
    }

    /// The same kind of history with one task.
    pub(crate) fn smallest(self) -> Self {
        match self {
            Self::MapReduce(format, _) => Self::MapReduce(format, Job { maps: 1, reduces: 0 }),
            Self::Spark(job, codec) => Self::Spark(SparkJob { tasks: 1, ..job }, codec),
        }
    }

    /// The same history, not packed.
    pub(crate) fn plain(self) -> Self {
        match self {
            Self::MapReduce(..) => self,
            Self::Spark(job, _) => Self::Spark(job, Codec::Plain),
        }
    }

    pub(crate) fn codec(self) -> Codec {
        match self {
            Self::MapReduce(..) => Codec::Plain,
            Self::Spark(_, codec) => codec,
        }
    }

    /// The file, written unless an earlier run did. A file with this name is complete.
    pub(crate) fn file(self, folder: &Path) -> io::Result<PathBuf> {
        let name = self.file_name();
        let (place, unfinished) = (folder.join(&name), folder.join(format!("{name}.part")));
        if !place.exists() {
            println!("writing {}", place.display());
            let mut out = BufWriter::with_capacity(1 << 18, File::create(&unfinished)?);
            self.write(&mut out)?;
            out.flush()?;
            fs::rename(&unfinished, &place)?;
        }
        Ok(place)
    }

    fn file_name(self) -> String {
        match self {
            Self::MapReduce(format, job) => {
                format!("{}-{}-maps-{}-reduces.{EDITION}.jhist", format.name(), job.maps, job.reduces)
            }
            Self::Spark(job, codec) => format!("spark-{}-tasks-{EDITION}{}", job.tasks, codec.ending()),
        }
    }

    fn write(self, out: &mut dyn Write) -> io::Result<()> {
        match self {
            Self::MapReduce(format, job) => format.write(job, out),
            Self::Spark(job, codec) => codec.pack(out, |out| job.write(out)),
        }
    }
}
