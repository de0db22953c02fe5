//! Why files are skipped.

use std::fmt;

use super::trace_table::TraceFormat;
use elephant_base::state::State;

/// Why a file is skipped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, State)]
pub enum Reason {
    /// A file without content.
    Empty,
    /// A checksum file of Hadoop (`.crc`).
    Checksum,
    /// The marker `_SUCCESS` of a finished job.
    SuccessMarker,
    /// The summary of a job that Hadoop writes next to its history.
    JobSummary,
    /// An Avro container file with something else than a job history.
    AvroContainer,
    /// The file that states the status of a rolling event log of Spark.
    LogMarker,
    /// A part of an event log that a compacted part replaces.
    SupersededPart,
    /// A part of an event log that is there twice.
    DuplicatePart,
    /// An archive without an event log or job history.
    ArchiveWithoutHistory,
    /// An archive inside an archive.
    Archive,
    /// Aggregated container logs in YARN's binary form.
    AggregatedLog,
    /// An archive or compressed file in a format that is not read.
    OtherFormat,
    /// A pipe, socket or device.
    SpecialFile,
    /// A cluster trace, which `stragglers` and `nodes` read.
    Trace,
    /// A table of another cluster trace than the one that the user chose.
    OtherTrace(TraceFormat),
    /// Text in UTF-16.
    Utf16,
    /// A GC log of `OpenJ9`.
    OpenJ9Log,
    /// A GC log of `JRockit`.
    JRockitLog,
    /// Safepoint statistics of a JVM without collections.
    SafepointLog,
    /// A log of a JVM without collections.
    JvmLog,
    /// An answer of Spark's REST server.
    SparkAnswer,
    /// An answer of a server of Hadoop that tells of no application.
    OtherAnswer,
    /// Other text.
    Text,
    /// Other binary data.
    Binary,
}

impl Reason {
    /// The reason in words, to follow "skipped:".
    #[must_use]
    pub const fn text(self) -> &'static str {
        match self {
            Self::Empty => "empty file",
            Self::Checksum => "Hadoop checksum file",
            Self::SuccessMarker => "_SUCCESS marker",
            Self::JobSummary => "job summary, not a job history",
            Self::AvroContainer => "Avro container file, not a Hadoop job history",
            Self::LogMarker => "marker file of a Spark event log",
            Self::SupersededPart => "part of an event log, replaced by a compacted part",
            Self::DuplicatePart => "duplicate part of an event log",
            Self::ArchiveWithoutHistory => "archive without an event log or job history",
            Self::Archive => "archive inside an archive; unpack it first",
            Self::AggregatedLog => {
                "aggregated container logs in YARN's binary form; print them with yarn logs -applicationId <id>"
            }
            Self::OtherFormat => {
                "archive or compressed file in a format that is not read: 7-Zip, RAR, LZMA or old LZ4; unpack it first"
            }
            Self::SpecialFile => "pipe, socket or device",
            Self::Trace => "cluster trace; read it with stragglers or nodes",
            Self::OtherTrace(format) => format.excluded(),
            Self::Utf16 => "text in UTF-16; convert it to UTF-8 first",
            Self::OpenJ9Log => "GC log of OpenJ9 (XML), which is not read; GC logs of HotSpot are",
            Self::JRockitLog => "GC log of JRockit, which is not read; GC logs of HotSpot are",
            Self::SafepointLog => {
                "safepoint statistics without collections; log with -XX:+PrintGCDetails or -Xlog:gc*"
            }
            Self::SparkAnswer => {
                "answer of Spark's REST server, which leaves out tasks; read the event log of the application"
            }
            Self::OtherAnswer => "answer of a server of Hadoop that tells of no application",
            Self::JvmLog => "JVM log without collections; log with -Xlog:gc*",
            Self::Text => "plain text",
            Self::Binary => "binary data",
        }
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.text())
    }
}
