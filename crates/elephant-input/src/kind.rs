//! What a file may hold, and how many of its first bytes are read to detect it. File names are ignored, unless the
//! content is of no known kind.

use std::io::{self, ErrorKind, Read};
use std::path::Path;

use super::codec::{self, Codec, Decoded};
use super::error::InputError;
use super::history_name;
pub use super::reason::Reason;
use super::trace_table::TraceTable;
use elephant_base::limits;
use elephant_gc_log::Owner;

/// Bytes read at first; more are read only if the file starts with a longer comment.
pub const FIRST_LOOK: usize = 4 * 1024;
/// Maximum number of bytes read of most files.
const LONG_LOOK: usize = 64 * 1024;
/// Maximum number of bytes read if no line ends before, or if the file is named like a history: a log may have lost its
/// first bytes, and its second line holds all settings.
const LONGEST_LOOK: usize = 1024 * 1024;

/// Number of further decoded bytes that may be read to find damage in compressed streams without history. All streams
/// of an archive share one budget, because a small archive can hold many streams that decode to much data.
#[derive(Debug)]
pub(super) struct Verification {
    left: usize,
}

/// Larger than the decoded first block of most formats.
const BLOCK: usize = 2 << 20;

/// The largest decoded block of bzip2. At worst, its 900,000 bytes are run lengths, where five bytes stand for 259. The
/// checksum follows the block, so damage may show only then.
const BLOCK_OF_BZIP2: usize = 900_000 / 5 * 259 + 1;

impl Verification {
    /// For one file.
    pub(super) const fn of_file() -> Self {
        Self { left: BLOCK_OF_BZIP2 }
    }

    /// For the members of an archive.
    pub(super) const fn of_archive() -> Self {
        Self { left: 64 << 20 }
    }

    /// Reads a stream up to its end or the maximum, for its errors only.
    fn read(&mut self, decoded: &mut Decoded) -> io::Result<()> {
        let mut buffer = [0; 16 * 1024];
        let most = self.left.min(if decoded.codec() == Codec::Bzip2 { BLOCK_OF_BZIP2 } else { BLOCK });
        let mut read = 0;
        while read < most {
            match decoded.read(&mut buffer) {
                Ok(0) => break,
                Ok(count) => read += count,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        self.left = self.left.saturating_sub(read);
        Ok(())
    }
}

/// Detects what a stream with these first bytes holds, or `None` if more bytes are needed. If the second argument is
/// true, there are no more bytes, and the result is never `None`. Parsers supply it: the input knows no format.
pub type Identify = fn(&[u8], bool) -> Option<SourceKind>;

/// What a source holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum SourceKind {
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
    /// A history of Tez as JSON: entities of the timeline server, a simple history, or Hive's account of its queries.
    TezJson,
    /// A history of Tez as protobuf messages in a sequence file.
    TezProto,
    /// An answer of the REST server of MapReduce's application masters, its history server, or the resource manager.
    Answers,
    /// A log of a JVM's garbage collector, also one within other output of its process.
    GcLog,
    /// A log of a container, a driver or an executor.
    ProcessLog,
    /// A table of a cluster trace, or a part of it.
    Trace(TraceTable),
    /// Something else.
    Unrelated(Reason),
}

impl SourceKind {
    /// Whether it is a job history or event log that this crate can parse.
    #[must_use]
    pub const fn is_history(self) -> bool {
        !matches!(self, Self::JobConf | Self::GcLog | Self::ProcessLog | Self::Trace(_) | Self::Unrelated(_))
    }

    /// Whether it is a history of Tez.
    #[must_use]
    pub const fn is_of_tez(self) -> bool {
        matches!(self, Self::TezJson | Self::TezProto)
    }

    /// Whether the history of one application may have several files.
    #[must_use]
    pub const fn is_spread(self) -> bool {
        self.is_of_tez() || matches!(self, Self::Answers)
    }

    /// The kind in words, to follow "taken as".
    #[must_use]
    pub const fn text(self) -> &'static str {
        match self {
            Self::JhistJson => "a Hadoop 2 or 3 job history (Avro-Json)",
            Self::JhistBinary => "a Hadoop 2 or 3 job history (Avro-Binary)",
            Self::Hadoop1History => "a Hadoop 1 job history",
            Self::JobConf => "a job configuration",
            Self::SparkEventLog => "a Spark event log",
            Self::TezJson => "a history of Tez (JSON)",
            Self::TezProto => "a history of Tez (protobuf)",
            Self::Answers => "an answer of a history server or resource manager",
            Self::GcLog => "a log of a garbage collector",
            Self::ProcessLog => "a log of a container, driver or executor",
            Self::Trace(table) => table.text(),
            Self::Unrelated(reason) => reason.text(),
        }
    }
}

/// Detects what a stream holds. Looks ahead at most 64 KiB, or 1 MiB in a line that does not end, and consumes nothing.
pub fn of(stream: &mut Decoded, identify: Identify) -> SourceKind {
    for limit in [FIRST_LOOK, LONG_LOOK] {
        let head = stream.peek(limit);
        if let Some(kind) = identify(head.bytes, head.complete) {
            return kind;
        }
    }
    let has_line = memchr::memchr(b'\n', stream.peek(LONG_LOOK).bytes).is_some();
    of_first(stream, if has_line { LONG_LOOK } else { LONGEST_LOOK }, identify)
}

/// Detects what a stream holds from so many of its first bytes.
fn of_first(stream: &mut Decoded, most: usize, identify: Identify) -> SourceKind {
    identify(stream.peek(most).bytes, true).unwrap_or(SourceKind::Unrelated(Reason::Text))
}

/// As [`of`], with an error if the stream is damaged, so that its kind is unknown. A compressed stream without history
/// is read further, because its first bytes may be damaged and the error may occur only at the end. `checked` says the
/// same of a stream whose compression or checksum is outside of `decoded`.
pub(super) fn identified(
    decoded: &mut Decoded,
    checked: bool,
    verification: &mut Verification,
    path: &Path,
    identify: Identify,
) -> Result<SourceKind, InputError> {
    let mut kind = of(decoded, identify);
    let is_named = history_name::is_history(path);
    if is_named && matches!(kind, SourceKind::Unrelated(Reason::Text | Reason::Binary)) {
        kind = of_first(decoded, LONGEST_LOOK, identify);
    }
    let is_text = matches!(kind, SourceKind::Unrelated(Reason::Text | Reason::JvmLog | Reason::SafepointLog));
    if is_text && may_hold_gc_log(path) {
        // The output of a container or an executor: its garbage collector may write into it only later.
        let longer = of_first(decoded, LONG_LOOK, identify);
        kind = if longer == SourceKind::GcLog { longer } else { kind };
    }
    let SourceKind::Unrelated(reason) = kind else { return Ok(kind) };
    let failed = |codec: Codec, source: io::Error| match codec {
        codec if codec != Codec::Plain && limits::behind(&source).is_none() => {
            InputError::Undecodable { path: path.to_path_buf(), codec, source }
        }
        _ => InputError::from_io(path, source),
    };
    let codec = decoded.codec();
    if let Some(source) = decoded.take_error() {
        return Err(failed(codec, source));
    }
    if reason == Reason::Archive {
        return Ok(kind);
    }
    let is_packed = checked || codec != Codec::Plain;
    if let Some(format) = damaged_format(decoded, is_packed, reason, identify) {
        return Err(InputError::DamagedStart { path: path.to_path_buf(), format });
    }
    if is_packed {
        verification.read(decoded).map_err(|source| failed(codec, source))?;
    }
    if is_named && matches!(reason, Reason::Text | Reason::Binary | Reason::Utf16) {
        return Err(InputError::NamedLikeHistory { path: path.to_path_buf(), reason });
    }
    Ok(kind)
}

/// Whether a file belongs to a container or an executor, or is named after the collector.
fn may_hold_gc_log(path: &Path) -> bool {
    let name = path.file_name().map(|name| name.to_string_lossy().to_ascii_lowercase());
    Owner::in_path(path).is_some() || name.is_some_and(|name| name.contains("gc"))
}

/// The format that a stream has except for a few of its first bytes.
fn damaged_format(
    decoded: &mut Decoded,
    is_packed: bool,
    reason: Reason,
    identify: Identify,
) -> Option<&'static str> {
    /// Enough for a whole block of the formats with the shortest magic numbers.
    const BLOCK: usize = (64 << 10) + 16;
    let head = decoded.peek(BLOCK);
    let is_short = head.complete && head.bytes.len() < codec::LONG_MAGIC_LEN;
    if !matches!(reason, Reason::Binary | Reason::Text) {
        return None;
    }
    if is_damaged_history(head.bytes, is_packed, identify) {
        return Some("an event log or a job history");
    }
    let is_ascii = head.bytes.get(..codec::LONG_MAGIC_LEN).unwrap_or(head.bytes).is_ascii();
    if reason == Reason::Text && is_ascii && !is_short {
        return None;
    }
    codec::nearly_magic(head.bytes, head.complete).or_else(|| nearly_tar(head.bytes).then_some("tar"))
}

/// Whether these are the first bytes of a history with a damaged first line. In compressed bytes, one wrong bit can damage
/// many lines.
fn is_damaged_history(head: &[u8], is_packed: bool, identify: Identify) -> bool {
    // Compressed data copies earlier bytes, so one damaged byte can appear several times.
    const LOG: (&[u8], usize) = (b"{\"Event\":\"SparkListenerLogStart\"", 8);
    let is_near = |(header, wrong): (&[u8], usize)| {
        let start = head.get(..header.len()).unwrap_or_default();
        start.iter().zip(header).filter(|(byte, expected)| byte == expected).count() + wrong >= header.len()
    };
    let damaged_lines = if is_packed { 50 } else { 1 };
    let line_ends = memchr::memchr_iter(b'\n', head).take(damaged_lines);
    let mut rests = line_ends.filter_map(|end| head.get(end + 1..).filter(|rest| !rest.is_empty()));
    [(&b"Avro-Json\n"[..], 1), (b"Avro-Binary\n", 1)].into_iter().any(is_near)
        || (is_packed && is_near(LOG))
        || rests.any(|rest| identify(rest, false).is_some_and(SourceKind::is_history))
}

/// Whether these are the first bytes of a tar file with one changed byte in the name of the format.
fn nearly_tar(head: &[u8]) -> bool {
    const NAME: &[u8] = b"ustar";
    let field = head.get(257..257 + NAME.len()).unwrap_or_default();
    field.iter().zip(NAME).filter(|(byte, expected)| byte == expected).count() + 1 >= NAME.len()
}
