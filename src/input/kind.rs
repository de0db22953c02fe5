//! Detects what a file holds from its first bytes; file names are ignored.

use std::fmt;

use memchr::{memchr, memmem};

use super::codec::Decoded;
use super::spark_log;
use crate::parse::event::EventKind;
use crate::parse::{hadoop1, jobconf};

/// Bytes read at first; more are read only if the file starts with a longer comment.
const FIRST_LOOK: usize = 4 * 1024;
/// Maximum number of bytes read.
const LONG_LOOK: usize = 64 * 1024;
/// A first line of this length is enough to decide, even if its end is not in sight.
const DECISIVE_LINE: usize = 1024;

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
    /// Something else.
    Unrelated(Reason),
}

impl SourceKind {
    /// Whether it is a job history or event log that this crate can parse.
    #[must_use]
    pub const fn is_history(self) -> bool {
        !matches!(self, Self::JobConf | Self::Unrelated(_))
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
            Self::Unrelated(reason) => reason.text(),
        }
    }
}

/// Why a file is skipped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
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
    ForeignCompression,
    SpecialFile,
    Utf16,
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
pub fn of(stream: &mut Decoded) -> SourceKind {
    for limit in [FIRST_LOOK, LONG_LOOK] {
        let head = stream.peek(limit);
        if let Some(kind) = identify(head.bytes, head.complete) {
            return kind;
        }
    }
    identify(stream.peek(LONG_LOOK).bytes, true).unwrap_or(SourceKind::Unrelated(Reason::Text))
}

/// Detects what a stream with these first bytes holds; `None` if more bytes are needed. If `complete`, the
/// stream has no more bytes, and the result is never `None`.
#[must_use]
pub fn identify(head: &[u8], complete: bool) -> Option<SourceKind> {
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
    } else if spark_log::is_event(line) {
        SourceKind::SparkEventLog
    } else if jobconf::looks_like_conf(head) {
        SourceKind::JobConf
    } else if hadoop1::looks_like_history(body) {
        SourceKind::Hadoop1History
    } else if is_job_summary(line) {
        SourceKind::Unrelated(Reason::JobSummary)
    } else if spark_log::starts_oddly(body) {
        SourceKind::SparkEventLog
    } else if !complete && spark_log::may_follow(body) {
        return None;
    } else {
        SourceKind::Unrelated(text_or_binary(head))
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
        _ if head.starts_with(b"\xfd7zXZ\0") => Some(Reason::ForeignCompression),
        _ if head.starts_with(b"BZh") && head.get(4..10) == Some(b"1AY&SY") => {
            Some(Reason::ForeignCompression)
        }
        _ => None,
    }
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

/// The kind of a Hadoop 2 or 3 job history by its first line, or by its second if the header is missing.
fn jhist(line: &[u8]) -> Option<SourceKind> {
    match line {
        b"Avro-Json" => return Some(SourceKind::JhistJson),
        b"Avro-Binary" => return Some(SourceKind::JhistBinary),
        _ => {}
    }
    let (kind, rest) = json_string(after_tokens(line, &[b"{", b"\"type\"", b":"])?)?;
    let is_history = if kind == b"record" {
        is_event_schema(rest)
    } else {
        std::str::from_utf8(kind).ok().and_then(EventKind::from_hadoop_name).is_some()
            && after_tokens(rest, &[b",", b"\"event\"", b":", b"{"]).is_some()
    };
    is_history.then_some(SourceKind::JhistJson)
}

/// Whether an Avro schema is that of Hadoop's events; other programs also have records called `Event`.
fn is_event_schema(after_type: &[u8]) -> bool {
    const NAMESPACE: &[u8] = b"org.apache.hadoop.mapreduce.jobhistory";
    let Some(rest) = after_tokens(after_type, &[b",", b"\"name\"", b":", b"\"Event\""]) else { return false };
    match after_tokens(rest, &[b",", b"\"namespace\"", b":"]) {
        Some(namespace) => json_string(namespace).is_some_and(|(namespace, _)| namespace == NAMESPACE),
        None => true,
    }
}

/// The text after these tokens, which may be separated by white space.
fn after_tokens<'a>(text: &'a [u8], tokens: &[&[u8]]) -> Option<&'a [u8]> {
    tokens.iter().try_fold(text, |rest, token| rest.trim_ascii_start().strip_prefix(*token))
}

/// A string without escapes at the start of `text`, and the text after it.
fn json_string(text: &[u8]) -> Option<(&[u8], &[u8])> {
    let text = text.trim_ascii_start().strip_prefix(b"\"")?;
    let end = memchr(b'"', text)?;
    Some((text.get(..end)?, text.get(end + 1..)?))
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
mod tests {
    use super::*;

    fn kind_of(text: impl AsRef<[u8]>) -> SourceKind {
        identify(text.as_ref(), true).unwrap()
    }

    #[test]
    fn utf16_text_is_skipped_with_its_own_reason() {
        let kind_of = |text: &str| {
            let bytes: Vec<u8> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
            identify(&bytes, true).unwrap()
        };
        assert_eq!(kind_of("\u{feff}<?xml version=\"1.0\"?><configuration>"), SourceKind::JobConf);
        assert_eq!(kind_of("<conf>"), SourceKind::JobConf);
        assert_eq!(kind_of("\u{feff}Avro-Json\n"), SourceKind::Unrelated(Reason::Utf16));
        assert_eq!(kind_of("\u{feff}<html>"), SourceKind::Unrelated(Reason::Binary));
        let declared = "<!DOCTYPE conf [<!ENTITY a \"1\">]>";
        assert_eq!(kind_of(&format!("\u{feff}{declared}<conf>")), SourceKind::JobConf);
        assert_eq!(identify(format!("{declared}<conf>").as_bytes(), true), Some(SourceKind::JobConf));
        assert_eq!(identify(&declared.as_bytes()[..30], false), None);
        let comment: Vec<u8> = "\u{feff}<!-- ".encode_utf16().flat_map(u16::to_be_bytes).collect();
        assert_eq!(identify(&comment, false), None);
    }

    #[test]
    fn hadoop_2_and_3_histories() {
        let licence = "<!--\n  Licensed to someone,\n\n  under terms\n-->\n\n";
        assert_eq!(kind_of("Avro-Json\n{}"), SourceKind::JhistJson);
        assert_eq!(kind_of("Avro-Json\r\n"), SourceKind::JhistJson);
        assert_eq!(kind_of("Avro-Json"), SourceKind::JhistJson);
        assert_eq!(kind_of("\u{feff}\n Avro-Json \n"), SourceKind::JhistJson);
        assert_eq!(kind_of(format!("{licence}Avro-Json\n")), SourceKind::JhistJson);
        assert_eq!(kind_of(b"Avro-Binary\n{}\n\0\x02\x04"), SourceKind::JhistBinary);
        assert_eq!(kind_of("Avro-Jsonette\n"), SourceKind::Unrelated(Reason::Text));
    }

    #[test]
    fn histories_without_their_header() {
        for line in [
            r#"{"type":"AM_STARTED","event":{"org"#,
            r#"{ "type" : "MAP_ATTEMPT_FINISHED" , "event" : { "#,
            r#"{"type":"record","name":"Event","namespace":"org.apache.hadoop.mapreduce.jobhistory","fields":["#,
            r#"{"type":"record","name":"Event","fields":["#,
        ] {
            assert_eq!(kind_of(line), SourceKind::JhistJson, "{line}");
        }
        for line in [
            r#"{"type":"WORKFLOW_PROGRESS","event":{"#,
            r#"{"type":"AM_STARTED"}"#,
            r#"{"type":"record","name":"Event","namespace":"com.linkedin.tony.events","fields":["#,
            r#"{"type":"record","name":"Task"}"#,
            r#"{"type":"record"#,
            r#"{"type":3}"#,
        ] {
            assert_eq!(kind_of(line), SourceKind::Unrelated(Reason::Text), "{line}");
        }
    }

    #[test]
    fn hadoop_1_histories() {
        for head in [
            "Meta VERSION=\"1\" .\n",
            "Job JOBID=\"job_200903042324_10816\" JOBNAME=\"x",
            "Jobtracker START_TIME=\"1\" .\n",
            "Task TASKID=\"tip_1\"",
            "MapAttempt TASK_TYPE=\"MAP\"",
            "ReduceAttempt TASK_TYPE=\"REDUCE\"",
            "\u{c}!!FILE=host_1_job_1_1_conf.xml!!\n<?xml",
        ] {
            assert_eq!(kind_of(head), SourceKind::Hadoop1History, "{head}");
        }
        for head in ["Job JOBID=1\n", "Job description=\"x\"\n", "Jobs JOBID=\"1\"\n", "Task =\"1\"\n"] {
            assert_eq!(kind_of(head), SourceKind::Unrelated(Reason::Text), "{head}");
        }
    }

    #[test]
    fn job_configurations() {
        let declaration = r#"<?xml version="1.0" encoding="UTF-8" standalone="no"?>"#;
        for head in [
            format!("{declaration}<configuration>\n"),
            format!("\u{feff}{declaration}\n<!-- a --><!-- b -->\n<configuration/>"),
            format!("<!-- licence -->{declaration}<conf><path>"),
            "<!DOCTYPE configuration>\n<configuration xmlns:xi=\"x\">".to_owned(),
        ] {
            assert_eq!(kind_of(&head), SourceKind::JobConf, "{head}");
        }
        for head in ["<html>", "<configurations>", "<!-- never ends", "<", "<configuration-backup>"] {
            assert_eq!(kind_of(head), SourceKind::Unrelated(Reason::Text), "{head}");
        }
    }

    #[test]
    fn spark_event_logs() {
        let start = r#"{"Event":"SparkListenerLogStart","Spark Version":"3.5.9"}"#;
        assert_eq!(kind_of(start), SourceKind::SparkEventLog);
        assert_eq!(kind_of(format!("\r\n\n{start}\r\n")), SourceKind::SparkEventLog);
        assert_eq!(kind_of(format!("\u{feff}{start}")), SourceKind::SparkEventLog);
        assert_eq!(
            kind_of(format!("3,\"x\":1}}}}\n{start}\n")),
            SourceKind::SparkEventLog,
            "damaged first line"
        );
        assert_eq!(kind_of("{\n  \"Event\": \"SparkListenerTaskEnd\""), SourceKind::Unrelated(Reason::Text));
    }

    #[test]
    fn a_log_with_a_damaged_first_line_is_read_further() {
        let damaged = format!("3,\"x\":\"{}\"}}}}\n", "y".repeat(FIRST_LOOK));
        assert_eq!(identify(damaged.get(..FIRST_LOOK).unwrap().as_bytes(), false), None);
        let log = format!("{damaged}{{\"Event\":\"SparkListenerJobEnd\"}}\n");
        assert_eq!(kind_of(log), SourceKind::SparkEventLog);
    }

    #[test]
    fn every_other_file_has_a_skip_reason() {
        let mut tar = vec![b'a'; 512];
        tar[257..262].copy_from_slice(b"ustar");
        let summary = "2018 INFO jobhistory.JobSummary: jobId=job_1_1,submitTime=1,launchTime=2\n";
        for (head, reason) in [
            (&b""[..], Reason::Empty),
            (b" \n\n", Reason::Empty),
            (b"crc\0\0\0\x02\0", Reason::Checksum),
            (b"Obj\x01\x02\x16avro.schema", Reason::AvroContainer),
            (b"PK\x03\x04", Reason::Archive),
            (tar.as_slice(), Reason::Archive),
            (summary.as_bytes(), Reason::JobSummary),
            (b"\xfd7zXZ\0", Reason::ForeignCompression),
            (b"BZh91AY&SY", Reason::ForeignCompression),
            (b"this is not a valid log file\n", Reason::Text),
            (b"caf\xe9 \x1b[1mbold\x1b[0m\n", Reason::Text),
            (b"\0\x01\x02", Reason::Binary),
        ] {
            assert_eq!(kind_of(head), SourceKind::Unrelated(reason), "{}", head.escape_ascii());
        }
    }

    #[test]
    fn an_undecided_head_asks_for_more() {
        for head in ["", "  \n", "<!-- licence", "Avro-Json", "<?xml version", "Job JOB"] {
            assert_eq!(identify(head.as_bytes(), false), None, "{head}");
        }
        assert_eq!(identify(&[b'x'; DECISIVE_LINE], false), Some(SourceKind::Unrelated(Reason::Text)));
    }

    proptest::proptest! {
        #[test]
        fn a_complete_head_always_has_a_kind(head in proptest::collection::vec(proptest::num::u8::ANY, 0..200)) {
            proptest::prop_assert!(identify(&head, true).is_some());
        }
    }
}
