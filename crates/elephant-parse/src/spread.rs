//! Reads the files over which a history is spread, in any order, into one collection.

use std::io::{self, Read};

use super::problem::{Level, Problems};
use super::{FilePart, MAX_EVENT_LEN, Parsed};
use elephant_base::limits::{self, LimitReached, Limits};
use elephant_input::window::ByteWindow;

/// What several files tell of the same applications.
pub(crate) trait Collection {
    /// Reads what a window shows; `most` is the length of the longest record.
    ///
    /// # Errors
    /// The error that ended the file early.
    fn read<R: Read>(
        &mut self,
        window: ByteWindow<R>,
        most: usize,
        problems: &mut Problems,
    ) -> io::Result<()>;

    /// Records that something could not be read.
    fn lose(&mut self);

    /// Records that reading stopped at a limit.
    fn stop(&mut self, reached: LimitReached);

    /// Whether more may be read.
    fn goes_on(&self) -> bool;

    /// The applications by id, and the configurations that were with them.
    fn finish(self) -> Parsed;
}

/// Parses one file within `limits`.
pub(crate) fn parse_one<C: Collection, R: Read>(
    mut collection: C,
    name: String,
    window: ByteWindow<R>,
    limits: &Limits,
) -> Parsed {
    let mut problems = Problems::default();
    read(&mut collection, window, limits, &mut problems);
    Parsed { part_problems: vec![(name, problems)], ..collection.finish() }
}

/// Parses several files within `limits`.
pub(crate) fn parse_all<C: Collection>(mut collection: C, parts: &[FilePart<'_>], limits: &Limits) -> Parsed {
    let mut part_problems = Vec::new();
    for part in parts {
        let mut problems = Problems::default();
        match (part.open)() {
            Ok(stream) => read(&mut collection, ByteWindow::new(stream), limits, &mut problems),
            Err(message) => {
                collection.lose();
                problems.add(Level::Error, "unreadable", None, || message);
            }
        }
        part_problems.push((part.name.clone(), problems));
        if !collection.goes_on() {
            break;
        }
    }
    Parsed { part_problems, ..collection.finish() }
}

fn read<C: Collection, R: Read>(
    collection: &mut C,
    window: ByteWindow<R>,
    limits: &Limits,
    problems: &mut Problems,
) {
    let most = limits.line_len().min(MAX_EVENT_LEN);
    let Err(error) = collection.read(window, most, problems) else { return };
    collection.lose();
    match limits::behind(&error) {
        Some(reached) => collection.stop(reached),
        None => problems
            .warn("read-error", None, || format!("reading stopped before the end of the file: {error}")),
    }
}
