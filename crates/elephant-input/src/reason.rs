//! Why files are skipped.

use std::fmt;

use super::trace_table::TraceFormat;
use elephant_base::state::State;

/// Why a file is skipped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, State)]
#[allow(missing_docs)] // `text` describes each of them
pub enum Reason {
    Empty,
    Checksum,
    SuccessMarker,
    JobSummary,
    AvroContainer,
    LogMarker,
    SupersededPart,
    DuplicatePart,
    ArchiveWithoutHistory,
    Archive,
    AggregatedLog,
    OtherFormat,
    SpecialFile,
    Trace,
    OtherTrace(TraceFormat),
    Utf16,
    OpenJ9Log,
    JRockitLog,
    SafepointLog,
    JvmLog,
    SparkAnswer,
    OtherAnswer,
    Text,
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
