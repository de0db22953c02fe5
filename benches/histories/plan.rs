//! The amount of work.

use std::io;
use std::path::Path;

use crate::input::{Content, Folder};
use elephant_generate::spark::SparkJob;
use elephant_generate::spark::codec::Codec;
use elephant_generate::spark::recorded::Recorded;
use elephant_generate::{Format, Job};

/// The inputs of a run.
pub(crate) struct Plan {
    /// Single logs, each read with one thread and with two.
    pub(crate) large: Vec<Content>,
    /// Folders of small logs, by increasing number.
    pub(crate) folders: Vec<Folder>,
    /// Spark event logs of increasing size, for memory peaks.
    pub(crate) growing: Vec<Content>,
    /// Number of rounds, unless set by the user.
    pub(crate) rounds: usize,
}

/// A log so small that the program's own cost dominates.
pub(crate) const SMALLEST: Content = spark(1, Codec::Plain);

const fn map_reduce(format: Format, maps: u32) -> Content {
    Content::MapReduce(format, Job { maps, reduces: maps / 200 })
}

const fn spark(tasks: u32, codec: Codec) -> Content {
    Content::Spark(SparkJob::of(tasks), codec)
}

impl Plan {
    pub(crate) fn new(quick: bool, huge: bool) -> Self {
        // A task takes about 5,840 bytes of an event log.
        let (maps, tasks) = if quick { (10_000, 17_200) } else { (100_000, 172_000) };
        let counts = if quick { [100, 300, 1_000] } else { [100, 1_000, 10_000] };
        let growing = if quick { vec![4_800, tasks] } else { vec![48_000, tasks] };
        let (runs, queries) = if quick { (320, 96) } else { (3_200, 960) };
        let huge = huge.then_some(tasks * 4);
        Self {
            large: vec![
                spark(tasks, Codec::Plain),
                spark(tasks, Codec::Zstd),
                spark(tasks, Codec::Lz4),
                Content::Recorded(Recorded::Tasks, runs),
                Content::Recorded(Recorded::Queries, queries),
                map_reduce(Format::AvroJson, maps),
                map_reduce(Format::AvroBinary, maps),
                map_reduce(Format::Hadoop1, maps),
            ],
            folders: counts.map(|histories| Folder { histories }).to_vec(),
            growing: growing.into_iter().chain(huge).map(|tasks| spark(tasks, Codec::Plain)).collect(),
            rounds: if quick { 2 } else { 5 },
        }
    }

    /// All logs that a run needs.
    fn contents(&self) -> impl Iterator<Item = Content> {
        let plain = self.large.iter().map(|content| content.plain());
        plain.chain(self.large.iter().copied()).chain(self.growing.iter().copied()).chain([SMALLEST])
    }

    /// Approximate size of the logs that do not exist yet.
    pub(crate) fn missing_bytes(&self, data: &Path) -> u64 {
        let mut missing: Vec<Content> = Vec::new();
        for content in self.contents().filter(|content| !content.path(data).exists()) {
            if !missing.contains(&content) {
                missing.push(content);
            }
        }
        let lacks = |folder: &&Folder| !folder.paths(data).iter().all(|path| path.exists());
        let folders = self.folders.iter().filter(lacks).map(|folder| folder.expected_bytes()).max();
        missing.iter().map(|content| content.expected_bytes()).sum::<u64>() + folders.unwrap_or_default()
    }

    /// Writes the logs that do not exist yet.
    pub(crate) fn prepare(&self, data: &Path) -> io::Result<()> {
        self.contents().try_for_each(|content| content.prepare(data))?;
        self.folders.iter().try_for_each(|folder| folder.prepare(data))
    }
}
