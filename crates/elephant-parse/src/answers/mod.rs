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

use super::json_records::{self, Documents};
use super::problem::{Level, Problems};
use super::{FilePart, MAX_EVENT_LEN, OtherCounters, Parsed};
use collect::Collected;
use elephant_base::limits::{self, Limits};
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
    let mut collected = Collected::within(limits, others);
    let mut problems = Problems::default();
    read(window, limits, &mut collected, &mut problems);
    let mut parsed = collected.finish();
    parsed.part_problems = vec![(name, problems)];
    parsed
}

/// Parses the answers in several files within `limits`. Applications are returned by their ids, and the configurations of
/// jobs with theirs.
#[must_use]
pub fn parse_within(parts: &[FilePart<'_>], limits: &Limits, others: OtherCounters) -> Parsed {
    let mut collected = Collected::within(limits, others);
    let mut part_problems = Vec::new();
    for part in parts {
        let mut problems = Problems::default();
        match (part.open)() {
            Ok(stream) => read(ByteWindow::new(stream), limits, &mut collected, &mut problems),
            Err(message) => {
                collected.is_broken = true;
                problems.add(Level::Error, "unreadable", None, || message);
            }
        }
        part_problems.push((part.name.clone(), problems));
        if !collected.goes_on() {
            break;
        }
    }
    let mut parsed = collected.finish();
    parsed.part_problems = part_problems;
    parsed
}

/// Reads one file.
fn read<R: Read>(window: ByteWindow<R>, limits: &Limits, collected: &mut Collected, problems: &mut Problems) {
    let most = limits.line_len().min(MAX_EVENT_LEN);
    let outcome = json_records::read(window, most, problems, collected);
    collected.is_broken |= outcome.lost > 0 || outcome.stopped.is_some();
    let Some(error) = outcome.stopped else { return };
    match limits::behind(&error) {
        Some(reached) => collected.stop(reached),
        None => problems
            .warn("read-error", None, || format!("reading stopped before the end of the file: {error}")),
    }
}

#[cfg(test)]
mod tests;
