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
use super::spread::{self, Collection};
use super::{FilePart, OtherCounters, Parsed, json_records};
use collect::Records;
use documents::Entities;
use elephant_base::limits::{LimitReached, Limits};
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
    spread::parse_one(Records::within(limits, others), name, window, limits)
}

/// Parses the files of a history within `limits`. Applications are returned by the ids of their DAGs; `confs` holds the
/// configurations of the YARN applications that ran them.
#[must_use]
pub fn parse_within(parts: &[FilePart<'_>], limits: &Limits, others: OtherCounters) -> Parsed {
    spread::parse_all(Records::within(limits, others), parts, limits)
}

impl Collection for Records {
    fn read<R: Read>(
        &mut self,
        mut window: ByteWindow<R>,
        most: usize,
        problems: &mut Problems,
    ) -> io::Result<()> {
        read_names(&mut window)?;
        if is_proto(window.bytes()) {
            return read_proto(window, most, self, problems);
        }
        let mut entities = Entities::into(|record| self.add(record));
        let outcome = json_records::read(window, most, problems, &mut entities);
        self.broken |= outcome.lost > 0;
        outcome.stopped.map_or(Ok(()), Err)
    }

    fn lose(&mut self) {
        self.broken = true;
    }

    fn stop(&mut self, reached: LimitReached) {
        self.stop_at(reached);
    }

    fn goes_on(&self) -> bool {
        !self.is_stopped()
    }

    fn finish(self) -> Parsed {
        self.into_parsed()
    }
}

/// Reads as much as tells the form, even if a slow stream returns a few bytes at a time.
fn read_names<R: Read>(window: &mut ByteWindow<R>) -> io::Result<()> {
    while window.bytes().len() < NAMES_LEN && window.extend()? {}
    Ok(())
}

/// Reads a sequence file. The error is the one that ended it early.
fn read_proto<R: Read>(
    window: ByteWindow<R>,
    most: usize,
    records: &mut Records,
    problems: &mut Problems,
) -> io::Result<()> {
    let mut values = match Values::open(window, most) {
        Ok(values) => values,
        Err(HeaderError::Io(error)) => return Err(error),
        Err(error) => {
            records.broken = true;
            problems.add(Level::Error, "sequence-file", None, || error.to_string());
            return Ok(());
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
            Ok(Next::End) => return Ok(()),
            Err(error) => return Err(error),
        };
        count += 1;
        match proto::message(&value) {
            Some(Message::Event(record)) => {
                if !records.add(*record) {
                    return Ok(());
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

#[cfg(test)]
mod tests;
