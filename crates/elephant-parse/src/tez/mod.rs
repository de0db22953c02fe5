//! Histories of Apache Tez: a DAG is an application, and its vertices are its phases.
//!
//! There are three forms: entities of YARN's timeline server as JSON, in any number of files; simple histories, which hold
//! the same entities record by record; and protobuf messages in sequence files. The files of one application are read
//! together, because each form spreads a DAG, its application and the query that it ran over several of them.

mod collect;
mod complete;
mod counters;
mod dag;
mod documents;
mod entity;
mod failure;
mod id;
mod info;
mod proto;
mod query;
mod record;
mod sequence_file;
mod vertex;

use std::io::{self, Read};

use super::problem::{Level, Position, Problems};
use super::{FilePart, MAX_EVENT_LEN, OtherCounters, Parsed, json_records};
use collect::Records;
use documents::Entities;
use elephant_base::limits::{self, Limits};
use elephant_input::window::ByteWindow;
use proto::Message;
pub(crate) use sequence_file::is_of_tez as is_proto;
use sequence_file::{HeaderError, NAMES_LEN, Next, Values};

/// Parses a history of one file with default limits.
#[must_use]
pub fn parse(bytes: &[u8]) -> Parsed {
    let open = || Ok(Box::new(bytes) as Box<dyn Read + '_>);
    let part = FilePart { name: String::new(), open: Box::new(open) };
    parse_within(&[part], &Limits::default(), OtherCounters::Kept)
}

/// Parses a history of one file within `limits`.
#[must_use]
pub fn parse_one<R: Read>(
    name: String,
    window: ByteWindow<R>,
    limits: &Limits,
    others: OtherCounters,
) -> Parsed {
    let mut records = Records::within(limits, others);
    let mut problems = Problems::default();
    read_window(window, limits, &mut records, &mut problems);
    let mut parsed = records.finish();
    parsed.part_problems = vec![(name, problems)];
    parsed
}

/// Parses the files of a history within `limits`. Applications are returned by the ids of their DAGs; `confs` holds the
/// configurations of the YARN applications that ran them.
#[must_use]
pub fn parse_within(parts: &[FilePart<'_>], limits: &Limits, others: OtherCounters) -> Parsed {
    let mut records = Records::within(limits, others);
    let mut part_problems = Vec::new();
    for part in parts {
        let mut problems = Problems::default();
        let goes_on = read_part(part, limits, &mut records, &mut problems);
        part_problems.push((part.name.clone(), problems));
        if !goes_on {
            break;
        }
    }
    let mut parsed = records.finish();
    parsed.part_problems = part_problems;
    parsed
}

/// Reads one file. Returns whether another may be read.
fn read_part(part: &FilePart<'_>, limits: &Limits, records: &mut Records, problems: &mut Problems) -> bool {
    let stream = match (part.open)() {
        Ok(stream) => stream,
        Err(message) => {
            records.broken = true;
            problems.add(Level::Error, "unreadable", None, || message);
            return true;
        }
    };
    read_window(ByteWindow::new(stream), limits, records, problems)
}

/// Reads what a window shows. Returns whether another file may be read.
fn read_window<R: Read>(
    mut window: ByteWindow<R>,
    limits: &Limits,
    records: &mut Records,
    problems: &mut Problems,
) -> bool {
    let most = limits.line_len().min(MAX_EVENT_LEN);
    if let Err(error) = read_names(&mut window) {
        return stopped(&error, records, problems);
    }
    let failure = if is_proto(window.bytes()) {
        read_proto(window, most, records, problems)
    } else {
        let mut entities = Entities::into(|record| records.add(record));
        let outcome = json_records::read(window, most, problems, &mut entities);
        records.broken |= outcome.lost > 0;
        outcome.stopped
    };
    failure.is_none_or(|error| stopped(&error, records, problems)) && !records.beyond_memory()
}

/// Reads as much as tells the form, even if a slow stream returns a few bytes at a time.
fn read_names<R: Read>(window: &mut ByteWindow<R>) -> io::Result<()> {
    while window.bytes().len() < NAMES_LEN && window.extend()? {}
    Ok(())
}

/// Reads a sequence file; returns the error that ended it early.
fn read_proto<R: Read>(
    window: ByteWindow<R>,
    most: usize,
    records: &mut Records,
    problems: &mut Problems,
) -> Option<io::Error> {
    let mut values = match Values::open(window, most) {
        Ok(values) => values,
        Err(HeaderError::Io(error)) => return Some(error),
        Err(error) => {
            records.broken = true;
            problems.add(Level::Error, "sequence-file", None, || error.to_string());
            return None;
        }
    };
    let mut count = 0_u64;
    loop {
        let value = match values.next() {
            Ok(Next::Value(value)) => value,
            Ok(Next::Lost { at }) => {
                lost_record(Position::Byte(at), records, problems);
                continue;
            }
            Ok(Next::End) => return None,
            Err(error) => return Some(error),
        };
        count += 1;
        match proto::message(&value) {
            Some(Message::Event(record)) => {
                if !records.add(*record) {
                    return None;
                }
            }
            Some(Message::NoEvent) => {}
            None => lost_record(Position::Line(count), records, problems),
        }
    }
}

fn lost_record(at: Position, records: &mut Records, problems: &mut Problems) {
    records.broken = true;
    problems.warn("record-unreadable", Some(at), || {
        "a record is damaged or cut off; the event in it is missing".to_owned()
    });
}

/// Reports an error that ended a file early. Returns whether another may be read.
fn stopped(error: &io::Error, records: &mut Records, problems: &mut Problems) -> bool {
    records.broken = true;
    if let Some(reached) = limits::behind(error) {
        records.stop(reached);
        return false;
    }
    problems.warn("read-error", None, || format!("reading stopped before the end of the file: {error}"));
    true
}

#[cfg(test)]
mod tests;
