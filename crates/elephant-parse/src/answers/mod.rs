//! Saved answers of the REST servers of MapReduce's application masters and history server
//! (`AMWebServices`, `HsWebServices`), and of the resource manager (`RMWebServices`), as JSON.
//!
//! A job is spread over many answers: itself, its counters, its tasks, the attempts of each, and the counters of each attempt.
//! They name each other by their ids, so the files of a folder are read together in any order. What was not saved is missing
//! in the application, which says so; a history of the same job is more complete and counts.

mod collect;
mod counters;
mod document;
mod events;
mod facts;
mod ids;
mod roots;

use std::io::Read;

use super::{FilePart, OtherCounters, Parsed, spread};
use collect::Collected;
use elephant_base::limits::Limits;
use elephant_input::window::ByteWindow;
pub(crate) use roots::{is_answer, left_out, may_be_answer};

/// Parses one answer with default limits.
#[must_use]
pub fn parse(bytes: &[u8]) -> Parsed {
    parse_one(String::new(), ByteWindow::new(bytes), &Limits::default(), OtherCounters::Kept)
}

/// Parses the answers in one file within `limits`.
#[must_use]
pub fn parse_one<R: Read>(
    name: String,
    window: ByteWindow<R>,
    limits: &Limits,
    others: OtherCounters,
) -> Parsed {
    spread::parse_one(Collected::within(limits, others), name, window, limits)
}

/// Parses the answers in several files within `limits`. Applications are returned by their ids, and the configurations of
/// jobs with theirs.
#[must_use]
pub fn parse_within(parts: &[FilePart<'_>], limits: &Limits, others: OtherCounters) -> Parsed {
    spread::parse_all(Collected::within(limits, others), parts, limits)
}

#[cfg(test)]
mod tests;
