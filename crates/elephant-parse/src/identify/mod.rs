//! Detects what a file holds from its first bytes. File names are ignored.

mod jhist;
mod spark;
mod tez;
mod trace;

use memchr::{memchr, memmem};

use super::{answers, hadoop1, jobconf};
use elephant_gc_log::NotGcLog;
use elephant_input::kind::{FIRST_LOOK, Identify, Reason, SourceKind};
use elephant_input::trace_table::TraceFormat;
use jhist::jhist;

/// A first line of this length is enough to decide, even if its end is not in sight.
const DECISIVE_LINE: usize = 1024;

/// Detects what a stream with these first bytes holds; `None` if more bytes are needed. If `complete`, the
/// stream has no more bytes, and the result is never `None`.
#[must_use]
pub fn identify(head: &[u8], complete: bool) -> Option<SourceKind> {
    identify_with(head, complete, None)
}

/// The same, for a user who says which cluster trace the files other than histories are from.
#[must_use]
pub fn insisting(format: Option<TraceFormat>) -> Identify {
    match format {
        None => identify,
        Some(TraceFormat::Google2011) => {
            |head, complete| identify_with(head, complete, Some(TraceFormat::Google2011))
        }
        Some(TraceFormat::Alibaba2017) => {
            |head, complete| identify_with(head, complete, Some(TraceFormat::Alibaba2017))
        }
        Some(TraceFormat::Alibaba2018) => {
            |head, complete| identify_with(head, complete, Some(TraceFormat::Alibaba2018))
        }
    }
}

fn identify_with(head: &[u8], complete: bool, insisted: Option<TraceFormat>) -> Option<SourceKind> {
    if let Some(kind @ SourceKind::TezProto) = tez::kind(head, &[]) {
        return Some(kind);
    }
    if let Some(reason) = by_magic(head) {
        return Some(SourceKind::Unrelated(reason));
    }
    if let Some(text) = jobconf::utf16_text(head) {
        return Some(match identify(text.as_bytes(), complete)? {
            SourceKind::JobConf => SourceKind::JobConf,
            kind if kind.is_history() => SourceKind::Unrelated(Reason::Utf16),
            _ => SourceKind::Unrelated(text_or_binary(head)),
        });
    }
    let Some(body) = after_prolog(head) else {
        return complete.then(|| SourceKind::Unrelated(text_or_binary(head)));
    };
    if body.is_empty() {
        return complete.then_some(SourceKind::Unrelated(Reason::Empty));
    }
    let line = match memchr(b'\n', body) {
        Some(end) => body.get(..end).unwrap_or(body),
        None if complete || body.len() >= DECISIVE_LINE => body,
        None => return None,
    };
    let line = line.trim_ascii_end();
    Some(if let Some(kind) = jhist(line) {
        kind
    } else if spark::is_event(line) {
        SourceKind::SparkEventLog
    } else if jobconf::looks_like_conf(head) {
        SourceKind::JobConf
    } else if hadoop1::looks_like_history(body) {
        SourceKind::Hadoop1History
    } else if let Some(kind) = tez::kind(head, body) {
        kind
    } else if answers::is_answer(body) {
        SourceKind::Answers
    } else if is_job_summary(line) {
        SourceKind::Unrelated(Reason::JobSummary)
    } else if let Some(kind) = trace::kind(body, complete, insisted) {
        kind
    } else if spark::starts_oddly(body) {
        SourceKind::SparkEventLog
    } else if !complete
        && (spark::may_follow(body)
            || tez::may_follow(body)
            || answers::may_be_answer(body)
            || is_lost_sector(body))
    {
        return None;
    } else if let Some(reason) = answers::left_out(body) {
        SourceKind::Unrelated(reason)
    } else {
        gc_log_or_text(head)
    })
}

/// A log of a garbage collector, another log of a JVM, or anything else.
fn gc_log_or_text(head: &[u8]) -> SourceKind {
    SourceKind::Unrelated(match elephant_gc_log::recognise(head) {
        Ok(_) => return SourceKind::GcLog,
        Err(NotGcLog::OpenJ9) => Reason::OpenJ9Log,
        Err(NotGcLog::JRockit) => Reason::JRockitLog,
        Err(NotGcLog::SafepointStatistics) => Reason::SafepointLog,
        Err(NotGcLog::NoGcTag) => Reason::JvmLog,
        Err(NotGcLog::Empty | NotGcLog::Binary | NotGcLog::Other) => text_or_binary(head),
    })
}

fn by_magic(head: &[u8]) -> Option<Reason> {
    /// Position of the magic number in a tar header.
    const TAR_MAGIC: std::ops::Range<usize> = 257..262;
    match head {
        [b'c', b'r', b'c', 0, ..] => Some(Reason::Checksum),
        [b'O', b'b', b'j', 1, ..] => Some(Reason::AvroContainer),
        [b'P', b'K', 3, 4, ..] | [b'P', b'K', 5, 6, ..] => Some(Reason::Archive),
        _ if head.get(TAR_MAGIC) == Some(b"ustar") => Some(Reason::Archive),
        [b'7', b'z', 0xbc, 0xaf, 0x27, 0x1c, ..] | [b'R', b'a', b'r', b'!', 0x1a, 7, ..] => {
            Some(Reason::OtherFormat)
        }
        // The legacy format of LZ4, which is older than its frames.
        [2, 0x21, 0x4c, 0x18, ..] => Some(Reason::OtherFormat),
        _ if is_lzma(head) => Some(Reason::OtherFormat),
        _ => None,
    }
}

/// Whether this is the header of LZMA without the container of xz: usual properties, the size of the dictionary, and the
/// size of the contents or that it is unknown.
fn is_lzma(head: &[u8]) -> bool {
    let [0x5d, 0, 0, _, _, size @ ..] = head else { return false };
    matches!(size, [0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, ..] | [_, _, _, _, _, 0, 0, 0, ..])
}

/// The text after a byte order mark, white space, and XML comments and declarations; some files put a licence
/// header before the history. `None` if one of these does not end.
fn after_prolog(head: &[u8]) -> Option<&[u8]> {
    let mut rest = head.strip_prefix(b"\xef\xbb\xbf").unwrap_or(head);
    loop {
        rest = rest.trim_ascii_start();
        let end: &[u8] = if rest.starts_with(b"<!--") {
            b"-->"
        } else if rest.starts_with(b"<?") {
            b"?>"
        } else if let Some(declaration) = rest.strip_prefix(b"<!DOCTYPE") {
            rest = jobconf::behind_doctype(declaration)?;
            continue;
        } else {
            return Some(rest);
        };
        let at = memmem::find(rest, end)?;
        rest = rest.get(at + end.len()..)?;
    }
}

/// Whether the first bytes are those of a disk block that was never written, or lost. A log may follow.
fn is_lost_sector(head: &[u8]) -> bool {
    const SECTOR: usize = 512;
    head.get(..SECTOR).is_some_and(|sector| sector.iter().all(|byte| *byte == 0))
}

fn is_job_summary(line: &[u8]) -> bool {
    [&b"jobId=job_"[..], b"submitTime="].iter().all(|key| memmem::find(line, key).is_some())
}

fn text_or_binary(head: &[u8]) -> Reason {
    const ESCAPE: u8 = 0x1b;
    let looked_at = head.get(..FIRST_LOOK).unwrap_or(head);
    let is_binary = |byte: &u8| {
        byte.is_ascii_control() && !byte.is_ascii_whitespace() && ![ESCAPE, 0x0b, 0x08].contains(byte)
    };
    if looked_at.iter().any(is_binary) { Reason::Binary } else { Reason::Text }
}

#[cfg(test)]
mod tests;
