//! Reads files of JSON documents: answers of servers, one after another, and simple histories of Tez, in which each record
//! ends with U+0001 and a line feed (`SimpleHistoryLoggingService`). A damaged record costs only itself, and no record can
//! fill the memory.

use std::cell::Cell;
use std::io::{self, BufRead, BufReader, Read};

use memchr::memchr;
use serde::Deserializer;

use crate::problem::{Position, Problems};
use elephant_base::limits;
use elephant_input::window::ByteWindow;

/// Ends a record of a simple history. JSON allows it nowhere.
const SEPARATOR: u8 = 1;

/// Counts the bytes of the record that is read, so that none can fill the memory.
pub(crate) struct Progress {
    most: usize,
    record: Cell<usize>,
    read: Cell<u64>,
}

impl Progress {
    pub(crate) fn within(most: usize) -> Self {
        Self { most, record: Cell::new(0), read: Cell::new(0) }
    }

    /// The next byte belongs to another record.
    pub(crate) fn record_ended(&self) {
        self.record.set(0);
    }

    fn count(&self, bytes: usize) -> io::Result<()> {
        let record = self.record.get().saturating_add(bytes);
        self.record.set(record);
        self.read.set(self.read.get().saturating_add(bytes as u64));
        if record > self.most { Err(io::Error::other(TooLong)) } else { Ok(()) }
    }
}

/// What the documents of a file are read into.
pub(crate) trait Documents {
    /// Reads one document.
    fn document<'de, D: Deserializer<'de>>(
        &mut self,
        document: D,
        progress: &Progress,
    ) -> Result<(), D::Error>;

    /// Whether another record may be read.
    fn goes_on(&self) -> bool;
}

/// A record is longer than the limit.
#[derive(Debug, thiserror::Error)]
#[error("a record is too long")]
struct TooLong;

/// The bytes up to the end of a record.
struct OneRecord<'a, R> {
    reader: &'a mut R,
    progress: &'a Progress,
    ended: &'a mut bool,
}

impl<R: BufRead> Read for OneRecord<'_, R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        if *self.ended {
            return Ok(0);
        }
        let bytes = self.reader.fill_buf()?;
        let room = bytes.len().min(out.len());
        let bytes = bytes.get(..room).unwrap_or_default();
        let (taken, skipped) = match memchr(SEPARATOR, bytes) {
            Some(at) => (at, 1),
            None => (room, 0),
        };
        for (to, from) in out.iter_mut().zip(bytes.get(..taken).unwrap_or_default()) {
            *to = *from;
        }
        self.reader.consume(taken + skipped);
        *self.ended = skipped > 0;
        self.progress.count(taken + skipped)?;
        Ok(taken)
    }
}

/// What happened while a file was read.
#[derive(Debug, Default)]
pub(crate) struct Outcome {
    /// Records that could not be read.
    pub(crate) lost: u64,
    /// The error that ended reading before the end of the file.
    pub(crate) stopped: Option<io::Error>,
}

/// Reads the records of a file.
pub(crate) fn read<R: Read>(
    window: ByteWindow<R>,
    most: usize,
    problems: &mut Problems,
    documents: &mut impl Documents,
) -> Outcome {
    let mut reader = BufReader::with_capacity(256 << 10, Rest(window));
    let progress = Progress::within(most);
    let mut outcome = Outcome::default();
    while documents.goes_on() {
        match reader.fill_buf() {
            Ok([]) => break,
            Ok(_) => {}
            Err(error) => {
                outcome.stopped = Some(error);
                break;
            }
        }
        let at = progress.read.get();
        progress.record_ended();
        let mut ended = false;
        let Err(error) = one_record(&mut reader, &progress, &mut ended, documents) else { continue };
        outcome.lost += 1;
        if let Some(stopped) = failure(error, at, problems) {
            outcome.stopped = Some(stopped);
            break;
        }
        if !ended && let Err(error) = skip_record(&mut reader, &progress) {
            outcome.stopped = Some(error);
            break;
        }
    }
    outcome
}

/// Reads the documents of one record; that of the timeline server is the whole file.
fn one_record<R: BufRead>(
    reader: &mut R,
    progress: &Progress,
    ended: &mut bool,
    documents: &mut impl Documents,
) -> serde_json::Result<()> {
    let record = BufReader::with_capacity(16 << 10, OneRecord { reader, progress, ended });
    let mut rest = Spaced { bytes: record };
    while rest.has_more().map_err(serde_json::Error::io)? {
        let mut deserializer = serde_json::Deserializer::from_reader(&mut rest.bytes);
        documents.document(&mut deserializer, progress)?;
    }
    Ok(())
}

/// What a window holds, and what follows it.
struct Rest<R>(ByteWindow<R>);

impl<R: Read> Read for Rest<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        if self.0.bytes().is_empty() && !self.0.extend()? {
            return Ok(0);
        }
        let read = self.0.bytes().read(out)?;
        self.0.consume(read);
        Ok(read)
    }
}

/// Documents one after another, with white space between them.
struct Spaced<R> {
    bytes: BufReader<R>,
}

impl<R: Read> Spaced<R> {
    /// Skips white space and a byte order mark; `false` at the end.
    fn has_more(&mut self) -> io::Result<bool> {
        loop {
            let bytes = self.bytes.fill_buf()?;
            let blank =
                bytes.iter().take_while(|byte| byte.is_ascii_whitespace() || b"\xef\xbb\xbf".contains(byte));
            match (blank.count(), bytes.len()) {
                (_, 0) => return Ok(false),
                (blank, len) => {
                    self.bytes.consume(blank);
                    if blank < len {
                        return Ok(true);
                    }
                }
            }
        }
    }
}

/// Reports a record that cannot be read; the error, if reading cannot go on.
fn failure(error: serde_json::Error, at: u64, problems: &mut Problems) -> Option<io::Error> {
    let position = Some(Position::Byte(at));
    if error.is_io() {
        let error = io::Error::from(error);
        if error.get_ref().is_some_and(
            <dyn std::error::Error + std::marker::Send + std::marker::Sync + 'static>::is::<TooLong>,
        ) {
            problems.warn(limits::REACHED, position, || {
                "a record is longer than the limit and was skipped; its contents are missing (raise --max-line)".to_owned()
            });
            return None;
        }
        return Some(error);
    }
    problems.warn("record-unreadable", position, || {
        format!(
            "the record that starts here is no valid JSON ({error}); what follows the error in it is missing"
        )
    });
    None
}

/// Skips the rest of a record.
fn skip_record<R: BufRead>(reader: &mut R, progress: &Progress) -> io::Result<()> {
    loop {
        let bytes = reader.fill_buf()?;
        let (skipped, found) = match memchr(SEPARATOR, bytes) {
            Some(at) => (at + 1, true),
            None => (bytes.len(), bytes.is_empty()),
        };
        reader.consume(skipped);
        progress.read.set(progress.read.get().saturating_add(skipped as u64));
        if found {
            return Ok(());
        }
    }
}
