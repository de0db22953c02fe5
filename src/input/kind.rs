//! What a file may hold, and how many of its first bytes are read to detect it. File names are ignored.

use std::fmt;
use std::path::Path;

use super::codec::{Codec, Decoded};
use super::error::InputError;
use crate::limits;

/// Bytes read at first; more are read only if the file starts with a longer comment.
pub(crate) const FIRST_LOOK: usize = 4 * 1024;
/// Maximum number of bytes read.
const LONG_LOOK: usize = 64 * 1024;

/// Detects what a stream with these first bytes holds, or `None` if more bytes are needed. If the second argument is
/// true, there are no more bytes, and the result is never `None`. Parsers supply it: the input knows no format.
pub(crate) type Identify = fn(&[u8], bool) -> Option<SourceKind>;

/// What a source holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum SourceKind {
    /// A Hadoop 2 or 3 job history with events as JSON, one per line.
    JhistJson,
    /// A Hadoop 2 or 3 job history with events as binary Avro.
    JhistBinary,
    /// A Hadoop 1 job history, or a job tracker's log of several jobs.
    Hadoop1History,
    /// A job configuration as XML.
    JobConf,
    /// A Spark event log.
    SparkEventLog,
    /// Something else.
    Unrelated(Reason),
}

impl SourceKind {
    /// Whether it is a job history or event log that this crate can parse.
    #[must_use]
    pub(crate) const fn is_history(self) -> bool {
        !matches!(self, Self::JobConf | Self::Unrelated(_))
    }

    /// The kind in words, to follow "taken as".
    #[must_use]
    pub(crate) const fn text(self) -> &'static str {
        match self {
            Self::JhistJson => "a Hadoop 2 or 3 job history (Avro-Json)",
            Self::JhistBinary => "a Hadoop 2 or 3 job history (Avro-Binary)",
            Self::Hadoop1History => "a Hadoop 1 job history",
            Self::JobConf => "a job configuration",
            Self::SparkEventLog => "a Spark event log",
            Self::Unrelated(reason) => reason.text(),
        }
    }
}

/// Why a file is skipped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[allow(missing_docs)] // `text` describes each of them
pub(crate) enum Reason {
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
    ForeignCompression,
    SpecialFile,
    Utf16,
    Text,
    Binary,
}

impl Reason {
    /// The reason in words, to follow "skipped:".
    #[must_use]
    pub(crate) const fn text(self) -> &'static str {
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
            Self::ForeignCompression => "compressed with bzip2 or xz; decompress it first",
            Self::SpecialFile => "pipe, socket or device",
            Self::Utf16 => "text in UTF-16; convert it to UTF-8 first",
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

/// Detects what a stream holds. Looks ahead at most 64 KiB and consumes nothing.
pub(crate) fn of(stream: &mut Decoded, identify: Identify) -> SourceKind {
    for limit in [FIRST_LOOK, LONG_LOOK] {
        let head = stream.peek(limit);
        if let Some(kind) = identify(head.bytes, head.complete) {
            return kind;
        }
    }
    identify(stream.peek(LONG_LOOK).bytes, true).unwrap_or(SourceKind::Unrelated(Reason::Text))
}

/// As [`of`]; an error if it breaks before that is possible.
pub(super) fn identified(
    decoded: &mut Decoded,
    path: &Path,
    identify: Identify,
) -> Result<SourceKind, InputError> {
    let kind = of(decoded, identify);
    if let SourceKind::Unrelated(_) = kind
        && let Some(source) = decoded.take_error()
    {
        return Err(match decoded.codec() {
            codec if codec != Codec::Plain && limits::behind(&source).is_none() => {
                InputError::Undecodable { path: path.to_path_buf(), codec, source }
            }
            _ => InputError::from_io(path, source),
        });
    }
    Ok(kind)
}
