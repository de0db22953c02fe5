//! What a file is, by its first bytes.

use super::layout::stripped;
use super::lines::cleaned;
use super::sections::Header;
use super::{envelope, frame, head, json_line, python, sections};

/// The form of a log.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Form {
    /// The text that `yarn logs` prints.
    YarnLogs,
    /// A page of a node manager or of the history server.
    Page,
    /// Lines of Kubernetes (CRI).
    Kubernetes,
    /// Lines of Docker.
    Docker,
    /// Spark's JSON layout.
    Json,
    /// Lines of log4j, or stack traces.
    Text,
}

impl Form {
    /// In words.
    #[must_use]
    pub const fn words(self) -> &'static str {
        match self {
            Self::YarnLogs => "text of yarn logs",
            Self::Page => "page of a node manager",
            Self::Kubernetes => "log of Kubernetes",
            Self::Docker => "log of Docker",
            Self::Json => "log in Spark's JSON layout",
            Self::Text => "log",
        }
    }
}

/// What a file was recognised as.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Recognised {
    /// A log that can be read.
    Log(Form),
    /// An aggregated log of YARN in its binary form (`TFile` or `IFile`): `yarn logs -applicationId <id>` prints it as text.
    Aggregated,
}

/// The first bytes of Hadoop's `TFile` (`BCFile.Magic`).
const TFILE: [u8; 16] =
    [0xd1, 0x11, 0xd3, 0x68, 0x91, 0xb5, 0xd7, 0xb6, 0x39, 0xdf, 0x41, 0x40, 0x92, 0xba, 0xe1, 0x50];
/// An `IFile` of aggregated logs begins with the SHA-256 of the application's id, before blocks of gzip or plain text.
const DIGEST: usize = 32;
/// So many lines are looked at.
const LINES: usize = 400;
/// So many lines with a layout, without any other sign, make a log.
const LEAST: usize = 2;

/// What a file with these first bytes is: 64 KiB are enough. `None` for something else.
#[must_use]
pub fn recognise(start: &[u8]) -> Option<Recognised> {
    if start.starts_with(&TFILE) || is_ifile(start) {
        return Some(Recognised::Aggregated);
    }
    if memchr::memchr(0, start).is_some() {
        return None;
    }
    let start = start.strip_prefix(b"\xef\xbb\xbf").unwrap_or(start);
    if is_page(start) {
        return Some(Recognised::Log(Form::Page));
    }
    by_lines(start).map(Recognised::Log)
}

/// Whether binary data of the length of a digest comes before gzip or the name of a stream.
fn is_ifile(start: &[u8]) -> bool {
    let (Some(digest), Some(rest)) = (start.get(..DIGEST), start.get(DIGEST..)) else { return false };
    let is_binary = std::str::from_utf8(digest).is_err();
    is_binary && (rest.starts_with(&[0x1f, 0x8b, 8]) || rest.is_ascii() && by_lines(rest).is_some())
}

/// Whether it is a page around a log.
fn is_page(start: &[u8]) -> bool {
    let has = |needle: &[u8]| memchr::memmem::find(start, needle).is_some();
    let head = start.trim_ascii_start();
    let is_html =
        head.starts_with(b"<html") || head.starts_with(b"<!DOCTYPE") || head.starts_with(b"<!doctype");
    is_html && (has(b"Log Type:") || has(b"Log Length:") || has(b"/jobhistory") && has(b"<pre"))
}

fn by_lines(start: &[u8]) -> Option<Form> {
    let (mut layouts, mut headers) = (0, 0);
    let mut has_trace = false;
    for line in start.split(|byte| *byte == b'\n').take(LINES) {
        let line = cleaned(line);
        if envelope::cri(&line).is_some() {
            return Some(Form::Kubernetes);
        }
        if envelope::docker(&line).is_some() {
            return Some(Form::Docker);
        }
        if json_line::lines(&line).is_some() {
            return Some(Form::Json);
        }
        match sections::header(&line) {
            Some(Header::Container(_)) => return Some(Form::YarnLogs),
            Some(Header::LogType(_) | Header::Length(_) | Header::Contents) => headers += 1,
            _ => {}
        }
        let text = stripped(&line);
        let is_line = text.has_layout && (text.level.is_some() || text.logger.is_some());
        layouts += usize::from(is_line);
        has_trace |= is_trace(text.message);
    }
    if headers >= 2 {
        return Some(Form::YarnLogs);
    }
    (has_trace || layouts >= LEAST || layouts == 1 && is_alone(start)).then_some(Form::Text)
}

/// Whether the file is one line.
fn is_alone(start: &[u8]) -> bool {
    start.split(|byte| *byte == b'\n').filter(|line| !line.trim_ascii().is_empty()).count() == 1
}

/// Whether a line is one of a stack trace.
fn is_trace(text: &str) -> bool {
    frame::java(text).is_some() && text.starts_with(['\t', ' '])
        || frame::python(text).is_some() && text.contains(", line ")
        || text.starts_with("Traceback (most recent call last)")
        || head::head(text).is_some()
            && !python::starts_traceback(text)
            && text.starts_with("Exception in thread")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn logs_are_known_by_content() {
        let log = |form| Some(Recognised::Log(form));
        for (text, expected) in [
            ("Container: container_1_0001_01_000001 on h_1\nLogType:stderr\n", log(Form::YarnLogs)),
            ("Log Type: stderr\nLog Length: 3\nLog Contents:\nabc\n", log(Form::YarnLogs)),
            ("<html><p>Log Type: stderr<pre>x</pre></html>", log(Form::Page)),
            ("2026-01-01T10:00:00.123456789Z stderr F text\n", log(Form::Kubernetes)),
            ("{\"log\":\"a\\n\",\"stream\":\"stdout\"}\n", log(Form::Docker)),
            ("{\"ts\":\"2026\",\"level\":\"INFO\",\"msg\":\"a\"}\n", log(Form::Json)),
            ("23/06/08 19:24:12 INFO a.B: x\n", log(Form::Text)),
            ("hello\n\tat a.B.c(B.java:1)\n", log(Form::Text)),
            ("Traceback (most recent call last):\n", log(Form::Text)),
            ("", None),
            ("# Notes\nSee java.io.IOException: it is thrown at night.\n", None),
            ("<html><pre>x</pre></html>", None),
            ("{\"Event\":\"SparkListenerLogStart\",\"Spark Version\":\"3.5.0\"}\n", None),
            ("[0.005s][info][gc] Using G1\n[0.1s][info][gc] GC(0) Pause Young 1M->1M(2M) 1.2ms\n", None),
            ("2026-01-01T10:00:00.123+0000: 0.5: [GC (Allocation Failure) 1K->1K(2K), 0.01 secs]\n", None),
            ("rule: mapper-skew\nenabled: true\n", None),
        ] {
            assert_eq!(recognise(text.as_bytes()), expected, "{text}");
        }
    }

    #[test]
    fn aggregated_logs_are_refused() {
        let mut tfile = TFILE.to_vec();
        tfile.extend_from_slice(&[0, 1, 2]);
        assert_eq!(recognise(&tfile), Some(Recognised::Aggregated));
        let mut ifile = vec![0xff; DIGEST];
        ifile.extend_from_slice(&[0x1f, 0x8b, 8, 0]);
        assert_eq!(recognise(&ifile), Some(Recognised::Aggregated));
        assert_eq!(recognise(&[0xff; 64]), None);
    }

    proptest::proptest! {
        #[test]
        fn no_bytes_make_it_fail(bytes: Vec<u8>) {
            let _ = recognise(&bytes);
        }
    }
}
