//! The benchmark inputs and their files.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use elephant_generate::mixed;
use elephant_generate::spark::SparkJob;
use elephant_generate::spark::codec::Codec;
use elephant_generate::spark::recorded::Recorded;
use elephant_generate::{Format, Job};

/// Increment this when the generated logs change, so that old files are not reused.
const EDITION: u32 = 3;

/// One generated log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Content {
    MapReduce(Format, Job),
    Spark(SparkJob, Codec),
    /// A recorded event log, whose jobs run this many times.
    Recorded(Recorded, u32),
}

impl Content {
    /// The name in the table.
    pub(crate) fn name(self) -> String {
        match self {
            Self::MapReduce(Format::AvroJson, _) => "MapReduce, Avro-Json".to_owned(),
            Self::MapReduce(Format::AvroBinary, _) => "MapReduce, Avro-Binary".to_owned(),
            Self::MapReduce(Format::Hadoop1, _) => "MapReduce, Hadoop 1".to_owned(),
            Self::Spark(_, Codec::Plain) => "Spark".to_owned(),
            Self::Spark(_, Codec::Zstd) => "Spark, zstd".to_owned(),
            Self::Spark(_, Codec::Lz4) => "Spark, LZ4 blocks".to_owned(),
            Self::Recorded(recorded, _) => format!("Spark, recorded {}", recorded.name()),
        }
    }

    /// For MapReduce these are also the attempts, because each task has one.
    pub(crate) const fn tasks(self) -> u32 {
        match self {
            Self::MapReduce(_, job) => job.maps + job.reduces,
            Self::Spark(job, _) => job.tasks,
            Self::Recorded(recorded, times) => recorded.tasks() * times,
        }
    }

    /// The same log, uncompressed.
    pub(crate) const fn plain(self) -> Self {
        match self {
            Self::MapReduce(..) | Self::Recorded(..) => self,
            Self::Spark(job, _) => Self::Spark(job, Codec::Plain),
        }
    }

    pub(crate) const fn codec(self) -> Codec {
        match self {
            Self::MapReduce(..) | Self::Recorded(..) => Codec::Plain,
            Self::Spark(_, codec) => codec,
        }
    }

    /// Approximate file size.
    pub(crate) const fn expected_bytes(self) -> u64 {
        let per_task = match self {
            Self::MapReduce(Format::AvroJson, _) => 6_900,
            Self::MapReduce(Format::AvroBinary, _) => 3_600,
            Self::MapReduce(Format::Hadoop1, _) => 3_200,
            Self::Spark(_, Codec::Plain) => 5_840,
            Self::Spark(_, Codec::Zstd) => 400,
            Self::Spark(_, Codec::Lz4) => 1_200,
            Self::Recorded(recorded, _) => recorded.bytes() / recorded.tasks() as u64,
        };
        self.tasks() as u64 * per_task
    }

    /// Path of the file.
    pub(crate) fn path(self, data: &Path) -> PathBuf {
        data.join(match self {
            Self::MapReduce(format, job) => {
                format!("{}-{}-maps-{}-reduces.{EDITION}.jhist", format.name(), job.maps, job.reduces)
            }
            Self::Spark(job, codec) => format!("spark-{}-tasks-{EDITION}{}", job.tasks, codec.extension()),
            Self::Recorded(recorded, times) => {
                format!("spark-recorded-{}-{times}-times-{EDITION}", recorded.name())
            }
        })
    }

    /// Writes the file, unless it exists. A file with its final name is complete.
    pub(crate) fn prepare(self, data: &Path) -> io::Result<()> {
        let path = self.path(data);
        if path.exists() {
            return Ok(());
        }
        eprintln!("writing {}", path.display());
        let unfinished = data.join("unfinished.part");
        let mut out = BufWriter::with_capacity(1 << 18, File::create(&unfinished)?);
        match self {
            Self::MapReduce(format, job) => format.write(job, &mut out)?,
            Self::Spark(job, codec) => codec.pack(&mut out, |out| job.write(out))?,
            Self::Recorded(recorded, times) => recorded.write(times, &mut out)?,
        }
        out.flush()?;
        fs::rename(&unfinished, &path)
    }
}

/// A number of small logs of all kinds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Folder {
    /// A multiple of [`mixed::PER_FOLDER`].
    pub(crate) histories: u32,
}

impl Folder {
    /// Approximate size of all files.
    pub(crate) const fn expected_bytes(self) -> u64 {
        self.histories as u64 * 190_000
    }

    /// The folders to read; a smaller number of logs uses the first of the same folders.
    pub(crate) fn paths(self, data: &Path) -> Vec<PathBuf> {
        let folders = 0..self.histories / mixed::PER_FOLDER;
        folders.map(|folder| data.join(format!("mixed-{EDITION}/{folder:06}"))).collect()
    }

    /// Writes the folders that do not exist yet.
    pub(crate) fn prepare(self, data: &Path) -> io::Result<()> {
        let paths = self.paths(data);
        if !paths.iter().all(|path| path.exists()) {
            eprintln!("writing {} small logs", self.histories);
        }
        (0..).zip(&paths).try_for_each(|(number, path)| mixed::write_folder(number, path))
    }
}
