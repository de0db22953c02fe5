//! What a source may hold, and how many of its first bytes are looked at to tell.

use std::fmt;

use super::codec::Decoded;

/// Bytes looked at first; more are read only for files whose first comment is longer.
pub(crate) const FIRST_LOOK: usize = 4 * 1024;
/// Bytes looked at in all.
const LONG_LOOK: usize = 64 * 1024;

/// Tells from the first bytes of a stream what it holds, or `None` if that takes more of them; if the second argument is
/// true, there are no more, and the answer is never `None`. Parsers supply it: the input knows no format.
pub type Identify = fn(&[u8], bool) -> Option<SourceKind>;

/// What a source holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum SourceKind {
    /// A Hadoop 2 or 3 history with its events as JSON, one a line.
    JhistJson,
    /// A Hadoop 2 or 3 history with its events as binary Avro.
    JhistBinary,
    /// A Hadoop 1 history, or a job tracker's log of several.
    Hadoop1History,
    /// A job configuration as XML.
    JobConf,
    /// An event log of Spark.
    SparkEventLog,
    /// Something else.
    Unrelated(Reason),
}

impl SourceKind {
    /// Whether it is a history that a parser of this crate reads.
    #[must_use]
    pub const fn is_history(self) -> bool {
        !matches!(self, Self::JobConf | Self::Unrelated(_))
    }

    /// The kind in words, to be read after "taken as".
    #[must_use]
    pub const fn text(self) -> &'static str {
        match self {
            Self::JhistJson => "a history of Hadoop 2 or 3 (Avro-Json)",
            Self::JhistBinary => "a history of Hadoop 2 or 3 (Avro-Binary)",
            Self::Hadoop1History => "a history of Hadoop 1",
            Self::JobConf => "a job configuration",
            Self::SparkEventLog => "an event log of Spark",
            Self::Unrelated(reason) => reason.text(),
        }
    }
}

/// Why a file is passed over.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[allow(missing_docs)] // `text` says what they are
pub enum Reason {
    Empty,
    Checksum,
    SuccessMarker,
    JobSummary,
    AvroContainer,
    LogMarker,
    SupersededPart,
    DoubledPart,
    ArchiveWithoutHistory,
    Archive,
    ForeignCompression,
    SpecialFile,
    Utf16,
    Text,
    Binary,
}

impl Reason {
    /// The reason in words, to be read after "skipped:".
    #[must_use]
    pub const fn text(self) -> &'static str {
        match self {
            Self::Empty => "empty file",
            Self::Checksum => "checksum file of hadoop",
            Self::SuccessMarker => "_SUCCESS marker",
            Self::JobSummary => "job summary, not a history",
            Self::AvroContainer => "avro container file, not a history of hadoop",
            Self::LogMarker => "marker file of a spark event log",
            Self::SupersededPart => "part of an event log that a compacted part replaces",
            Self::DoubledPart => "part of an event log that is there twice",
            Self::ArchiveWithoutHistory => "archive without a history",
            Self::Archive => "archive within an archive, unpack it first",
            Self::ForeignCompression => "compressed by bzip2 or xz, decompress it first",
            Self::SpecialFile => "pipe, socket or device",
            Self::Utf16 => "a history in UTF-16, convert it to UTF-8 first",
            Self::Text => "text of another kind",
            Self::Binary => "binary data of another kind",
        }
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.text())
    }
}

/// What a stream holds. Looks ahead at most 64 KiB and takes nothing from the stream.
pub fn of(stream: &mut Decoded, identify: Identify) -> SourceKind {
    for limit in [FIRST_LOOK, LONG_LOOK] {
        let head = stream.peek(limit);
        if let Some(kind) = identify(head.bytes, head.complete) {
            return kind;
        }
    }
    identify(stream.peek(LONG_LOOK).bytes, true).unwrap_or(SourceKind::Unrelated(Reason::Text))
}
