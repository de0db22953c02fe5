//! One record of a history of Tez: what it is about, and what it tells.

use super::id::Id;
use super::info::Info;

/// What a record is about.
#[derive(Debug)]
pub(super) enum Subject {
    /// An application, or something in it.
    Tez(Id),
    /// A query of Hive, by its id.
    Query(String),
}

/// One record.
#[derive(Debug)]
pub(super) struct Record {
    pub(super) subject: Subject,
    pub(super) info: Info,
    /// Types and times of events.
    pub(super) events: Vec<(String, i64)>,
}

/// Receives the records of a file.
pub(super) type Sink<'a> = &'a mut dyn FnMut(Record);
