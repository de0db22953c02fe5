//! Limits on the resources that one event log or job history may use.
//!
//! Reaching a limit is a warning with the code [`REACHED`]: everything read before is kept, and the
//! application counts as incomplete.

use std::{fmt, io};

use thiserror::Error;

use crate::units::{Bytes, Millis};

/// Code of the problem that reports a reached limit.
pub const REACHED: &str = "limit-reached";

/// Limits for each event log or job history, however many files it has. `None` means no limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Bytes after decompression; reading stops there.
    pub decoded: Option<Bytes>,
    /// Decompressed size over stored size, checked once [`Limits::FREE_OF_RATIO`] is exceeded; reading stops
    /// there.
    pub ratio: Option<u64>,
    /// Bytes per line, or per event if events are not lines; longer ones are skipped.
    pub line: Option<Bytes>,
    /// Tasks, and likewise attempts, cached blocks in executors and values of driver metrics; the rest is
    /// skipped. Stages, jobs, executors, queries and similar items take more memory, so for them the limit is
    /// a tenth, but at least 10,000.
    pub tasks: Option<u64>,
    /// Memory for the data that is kept of the history, counted while it is read; reading stops there. A whole run
    /// stays within this limit, too: histories that are read at the same time share it, and a history that needs more
    /// than its share is read once more, alone.
    pub memory: Option<Bytes>,
    /// Wall-clock time since the file was opened; reading stops there. This is the only limit that can make
    /// two runs over the same input differ.
    pub time: Option<Millis>,
}

impl Limits {
    /// Up to this decompressed size, the compression ratio is not checked.
    pub const FREE_OF_RATIO: Bytes = Bytes::from_mib(1 << 10);

    /// No limits.
    pub const NONE: Self =
        Self { decoded: None, ratio: None, line: None, tasks: None, memory: None, time: None };

    /// All limits but that on time, as text: a history that they cut is cut at the same place by the same ones.
    #[must_use]
    #[doc(hidden)]
    pub fn written(&self) -> String {
        let Self { decoded, ratio, line, tasks, memory, time: _ } = self;
        let bytes = |limit: &Option<Bytes>| limit.map(Bytes::get);
        let limits = [bytes(decoded), *ratio, bytes(line), *tasks, bytes(memory)];
        limits.map(|limit| limit.map_or_else(|| "-".to_owned(), |limit| limit.to_string())).join(" ")
    }

    /// The longest line, as a length in memory.
    #[must_use]
    #[doc(hidden)]
    pub fn line_len(&self) -> usize {
        // Buffers double their size, so twice the length must still be a valid length.
        let most = usize::MAX / 4;
        self.line.map_or(most, |line| usize::try_from(line.get()).unwrap_or(most).min(most))
    }

    /// Whether another task, attempt, cached block or driver metric value fits if there are `held` already.
    #[must_use]
    #[doc(hidden)]
    pub fn has_room(&self, held: usize) -> bool {
        self.tasks.is_none_or(|most| (held as u64) < most)
    }

    /// Whether another stage, job, executor, query or similar item fits if there are `held` already.
    #[must_use]
    #[doc(hidden)]
    pub fn has_room_for_other_items(&self, held: usize) -> bool {
        self.tasks.is_none_or(|most| (held as u64) < (most / 10).max(10_000))
    }
}

impl Default for Limits {
    /// More than real logs need: the longest line has a few MiB, and the largest logs have about ten million
    /// tasks.
    fn default() -> Self {
        Self {
            decoded: Some(Bytes::from_mib(64 << 10)),
            ratio: Some(1000),
            line: Some(Bytes::from_mib(64)),
            tasks: Some(20_000_000),
            memory: Some(Bytes::from_mib(2 << 10)),
            time: None,
        }
    }
}

/// The bytes that are kept of a history, against [`Limits::memory`].
///
/// They are counted from the data kept, in the order of the history, and not asked from the allocator. So reading stops
/// at the same place in every run, whatever the number of threads.
#[derive(Debug, Clone, Copy, Default)]
pub struct Held {
    bytes: u64,
    most: Option<Bytes>,
}

impl Held {
    /// Bytes that an allocator takes for itself, per allocation.
    pub const PER_ALLOCATION: usize = 16;

    /// Nothing yet.
    #[must_use]
    pub const fn within(limits: &Limits) -> Self {
        Self { bytes: 0, most: limits.memory }
    }

    /// Adds bytes that are kept.
    #[inline]
    pub fn add(&mut self, bytes: usize) {
        self.bytes = self.bytes.saturating_add(bytes as u64);
    }

    /// Replaces `before` bytes of the count by `after` bytes.
    #[inline]
    pub fn change(&mut self, before: usize, after: usize) {
        self.bytes = self.bytes.saturating_add(after as u64).saturating_sub(before as u64);
    }

    /// The limit, if it is exceeded.
    #[inline]
    #[must_use]
    pub fn beyond(&self) -> Option<LimitReached> {
        let most = self.most?;
        (self.bytes > most.get()).then_some(LimitReached::Memory(most))
    }
}

/// A reached limit; its text continues "because" or a colon.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum LimitReached {
    /// [`Limits::decoded`].
    #[error("it has more than {0} after decompression; raise the limit with --max-decoded")]
    Decoded(Bytes),
    /// [`Limits::ratio`].
    #[error(
        "it decompresses to more than {ratio} times its stored size, {decoded}; raise the limit with --max-ratio"
    )]
    Ratio {
        /// The limit.
        ratio: u64,
        /// The decompressed size.
        decoded: Bytes,
    },
    /// [`Limits::memory`].
    #[error("its data takes more than {0} of memory; raise the limit with --max-memory")]
    Memory(Bytes),
    /// [`Limits::time`].
    #[error(
        "reading took longer than {0} (the stopping point differs from run to run); raise the limit with --max-time"
    )]
    Time(Millis),
}

#[doc(hidden)]
impl LimitReached {
    /// The option that sets the limit.
    #[must_use]
    pub const fn option(self) -> &'static str {
        match self {
            Self::Decoded(_) => "--max-decoded",
            Self::Ratio { .. } => "--max-ratio",
            Self::Memory(_) => MEMORY,
            Self::Time(_) => TIME,
        }
    }
}

/// The option that sets [`Limits::tasks`].
pub const TASKS: &str = "--max-tasks";
/// The option that sets [`Limits::memory`].
pub(crate) const MEMORY: &str = "--max-memory";
/// The option that sets [`Limits::time`].
pub const TIME: &str = "--max-time";
/// The option that sets [`Limits::line`].
pub const LINE: &str = "--max-line";

/// The part of an application that a limit kept; its text continues "because".
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Remainder {
    /// The option that sets the limit.
    pub option: &'static str,
    /// Tasks kept.
    pub kept: u64,
    /// Tasks announced in the part that was read, if it says so.
    pub announced: Option<u64>,
}

#[doc(hidden)]
impl Remainder {
    /// Whether the limit dropped everything after some point, not only single lines.
    #[must_use]
    pub fn cuts_off(&self) -> bool {
        self.option != LINE
    }
}

impl fmt::Display for Remainder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { option, kept, announced } = self;
        match announced {
            Some(all) if all > kept => write!(f, "{option} kept {kept} of {all} tasks"),
            Some(_) | None => write!(
                f,
                "{option} kept only part of the log: {kept} task{}",
                if *kept == 1 { "" } else { "s" }
            ),
        }
    }
}

impl From<LimitReached> for io::Error {
    fn from(reached: LimitReached) -> Self {
        Self::other(reached)
    }
}

/// The limit that caused a read error, if one did.
#[must_use]
pub fn behind(error: &io::Error) -> Option<LimitReached> {
    let inner = error.get_ref()?;
    inner.downcast_ref().copied().or_else(|| behind(inner.downcast_ref()?))
}

/// The problem code for a read error: [`REACHED`] if a limit caused it.
#[must_use]
pub fn code_of(error: &io::Error, otherwise: &'static str) -> &'static str {
    if behind(error).is_some() { REACHED } else { otherwise }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_limit_that_caused_an_error_is_found() {
        let reached = LimitReached::Decoded(Bytes::from_mib(1));
        assert_eq!(behind(&reached.into()), Some(reached));
        assert_eq!(behind(&io::Error::other(io::Error::from(reached))), Some(reached));
        assert_eq!(behind(&io::Error::from(io::ErrorKind::UnexpectedEof)), None);
        assert_eq!(behind(&io::Error::other("else")), None);
    }

    #[test]
    fn line_lengths_can_be_doubled() {
        let huge = Limits { line: Some(Bytes::new(u64::MAX)), ..Limits::NONE };
        assert!(huge.line_len().checked_mul(2).is_some());
        assert_eq!(huge.line_len(), Limits::NONE.line_len());
        assert_eq!(Limits::default().line_len(), 64 << 20);
        assert!(Limits::NONE.has_room(usize::MAX));
        let few = Limits { tasks: Some(2), ..Limits::NONE };
        assert!(few.has_room(1) && !few.has_room(2));
        assert!(few.has_room_for_other_items(9_999) && !few.has_room_for_other_items(10_000));
    }

    #[test]
    fn bytes_are_counted_up_and_down() {
        let mut held = Held::within(&Limits { memory: Some(Bytes::new(10)), ..Limits::NONE });
        held.add(10);
        assert_eq!(held.beyond(), None);
        held.change(3, 4);
        assert_eq!(held.beyond(), Some(LimitReached::Memory(Bytes::new(10))));
        held.change(20, 0);
        assert_eq!((held.bytes, held.beyond()), (0, None));
        let mut held = Held::within(&Limits::NONE);
        held.add(usize::MAX);
        held.add(usize::MAX);
        assert_eq!(held.beyond(), None);
    }
}
