//! Reads the JSON forms: documents of the timeline server, and simple histories, in which each record ends with U+0001 and
//! a line feed (`SimpleHistoryLoggingService`).

use std::cell::Cell;
use std::io::{self, BufRead, BufReader, Read};

use memchr::memchr;
use serde::de::DeserializeSeed;

use super::entity::Document;
use super::record::Record;
use crate::problem::{Position, Problems};
use elephant_base::limits;

/// Ends a record of a simple history. JSON allows it nowhere.
const SEPARATOR: u8 = 1;

/// Counts the bytes of the record that is read, so that none can fill the memory.
pub(super) struct Progress {
    most: usize,
    record: Cell<usize>,
    read: Cell<u64>,
}

impl Progress {
    pub(super) fn within(most: usize) -> Self {
        Self { most, record: Cell::new(0), read: Cell::new(0) }
    }

    /// The next byte belongs to another record.
    pub(super) fn record_ended(&self) {
        self.record.set(0);
    }

    fn count(&self, bytes: usize) -> io::Result<()> {
        let record = self.record.get().saturating_add(bytes);
        self.record.set(record);
        self.read.set(self.read.get().saturating_add(bytes as u64));
        if record > self.most { Err(io::Error::other(TooLong)) } else { Ok(()) }
    }
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
pub(super) struct Outcome {
    /// Records that could not be read.
    pub(super) lost: u64,
    /// The error that ended reading before the end of the file.
    pub(super) stopped: Option<io::Error>,
}

/// Passes the records of a file to `sink` until it returns false.
pub(super) fn read(
    reader: impl Read,
    most: usize,
    problems: &mut Problems,
    sink: &mut dyn FnMut(Record) -> bool,
) -> Outcome {
    let mut reader = BufReader::with_capacity(256 << 10, reader);
    let progress = Progress::within(most);
    let mut outcome = Outcome::default();
    let mut goes_on = true;
    while goes_on {
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
        let parsed =
            one_record(&mut reader, &progress, &mut ended, &mut |record| goes_on = sink(record) && goes_on);
        let Err(error) = parsed else { continue };
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
    sink: &mut dyn FnMut(Record),
) -> serde_json::Result<()> {
    let record = BufReader::with_capacity(16 << 10, OneRecord { reader, progress, ended });
    let mut documents = Documents { bytes: record };
    while documents.has_more().map_err(serde_json::Error::io)? {
        let mut deserializer = serde_json::Deserializer::from_reader(&mut documents.bytes);
        Document { sink: &mut *sink, progress }.deserialize(&mut deserializer)?;
    }
    Ok(())
}

/// Documents one after another, with white space between them.
struct Documents<R> {
    bytes: BufReader<R>,
}

impl<R: Read> Documents<R> {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tez::record::Subject;

    fn ids(text: &str) -> (Vec<String>, Outcome, Problems) {
        let (mut ids, mut problems) = (Vec::new(), Problems::default());
        let read = read(text.as_bytes(), 1 << 20, &mut problems, &mut |record| {
            ids.push(match record.subject {
                Subject::Tez(id) => format!("{:?}", id.dag().map(|dag| dag.to_string())),
                Subject::Query(id) => id,
            });
            true
        });
        (ids, read, problems)
    }

    #[test]
    fn documents_hold_one_entity_or_several() {
        let entity =
            |number: u32| format!("{{\"entity\": \"dag_1_0001_{number}\", \"entitytype\": \"TEZ_DAG_ID\"}}");
        let (one, two) = (entity(1), entity(2));
        for text in [
            format!("{one}\n{two}\n"),
            format!("{{\"entities\": [{one}, {two}]}}"),
            format!("\u{feff}[{one},\n{two}]"),
            format!("{one}\u{1}\n{two}\u{1}\n"),
        ] {
            let (ids, read, problems) = ids(&text);
            assert_eq!(ids.len(), 2, "{text:?} {problems:?}");
            assert!(read.stopped.is_none() && problems.is_empty(), "{text:?} {problems:?}");
        }
    }

    #[test]
    fn a_damaged_record_costs_only_itself() {
        let text = "{\"entityId\":\"dag_1_0001_1\",\"entityType\":\"TEZ_DAG_ID\"}\u{1}\n{\"entityId\":\u{1}\n\
                    {\"entityId\":\"q\",\"entityType\":\"HIVE_QUERY_ID\"}\u{1}\n";
        let (ids, read, problems) = ids(text);
        assert_eq!((ids.len(), read.lost, problems.into_vec().len()), (2, 1, 1));
    }

    #[test]
    fn a_long_record_is_skipped() {
        let text = format!(
            "{{\"otherinfo\":{{\"x\":\"{}\"}}}}\u{1}\n{{\"entity\":\"q\",\"entitytype\":\"HIVE_QUERY_ID\"}}\u{1}\n",
            "x".repeat(2 << 20)
        );
        let (ids, read, problems) = ids(&text);
        assert_eq!((ids, read.lost), (vec!["q".to_owned()], 1));
        assert_eq!(problems.into_vec()[0].code, limits::REACHED);
    }
}
