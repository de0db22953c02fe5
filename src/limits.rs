//! What one history may cost, so that no file takes more than its share of a run.
//!
//! A limit that is reached is a warning with the code [`REACHED`]: what was read before is kept, and the application
//! counts as incomplete.

use std::fmt;
use std::io;

use thiserror::Error;

use crate::units::{Bytes, Millis};

/// The code of problems that tell of a limit.
pub const REACHED: &str = "limit-reached";

/// Limits on each history, whatever the number of its files. `None` is no limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Bytes after decoding; reading stops there.
    pub decoded: Option<Bytes>,
    /// How many times as large as stored a compressed history may become, from [`Limits::FREE_OF_RATIO`] on; reading
    /// stops there.
    pub ratio: Option<u64>,
    /// Bytes of a line, or of an event where events are no lines; longer ones are passed over.
    pub line: Option<Bytes>,
    /// Tasks, and as many attempts, blocks in the memory of executors, and values of the driver's metrics; what is beyond
    /// is passed over. Of stages, jobs, executors, queries and their like, which take more memory, a tenth of it, but at
    /// least 10,000.
    pub tasks: Option<u64>,
    /// Time on the clock from the opening of the history; reading stops there. The only limit by which two runs over
    /// the same input can differ.
    pub time: Option<Millis>,
}

impl Limits {
    /// Histories up to this size are read however well they were compressed.
    pub const FREE_OF_RATIO: Bytes = Bytes::from_mib(1 << 10);

    /// No limits at all.
    pub const NONE: Self = Self { decoded: None, ratio: None, line: None, tasks: None, time: None };

    /// The longest line, as a length in memory.
    #[must_use]
    pub fn line_len(&self) -> usize {
        // Twice the length has to be a length, too: buffers double.
        let most = usize::MAX / 4;
        self.line.map_or(most, |line| usize::try_from(line.get()).unwrap_or(most).min(most))
    }

    /// Whether one more task, attempt, cached block or value of the driver's metrics than `held` may be held.
    #[must_use]
    pub fn has_room(&self, held: usize) -> bool {
        self.tasks.is_none_or(|most| (held as u64) < most)
    }

    /// Whether one more stage, job, executor, query or their like than `held` may be held.
    #[must_use]
    pub fn has_room_beside_tasks(&self, held: usize) -> bool {
        self.tasks.is_none_or(|most| (held as u64) < (most / 10).max(10_000))
    }
}

impl Default for Limits {
    /// Beyond what real histories have: the longest line has some MiB, the largest logs have some ten million tasks.
    fn default() -> Self {
        Self {
            decoded: Some(Bytes::from_mib(64 << 10)),
            ratio: Some(1000),
            line: Some(Bytes::from_mib(64)),
            tasks: Some(20_000_000),
            time: None,
        }
    }
}

/// A limit that was reached, in words to follow "because" or a colon.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum LimitReached {
    /// [`Limits::decoded`].
    #[error("it has more than {0} once decoded; --max-decoded allows more")]
    Decoded(Bytes),
    /// [`Limits::ratio`].
    #[error(
        "it becomes more than {ratio} times as large as it is stored, {decoded}; --max-ratio allows more"
    )]
    Ratio {
        /// The limit.
        ratio: u64,
        /// What it comes to.
        decoded: Bytes,
    },
    /// [`Limits::time`].
    #[error(
        "reading took longer than {0}, and where it stopped differs from run to run; --max-time allows more"
    )]
    Time(Millis),
}

impl LimitReached {
    /// The option that sets the limit.
    #[must_use]
    pub const fn option(self) -> &'static str {
        match self {
            Self::Decoded(_) => "--max-decoded",
            Self::Ratio { .. } => "--max-ratio",
            Self::Time(_) => "--max-time",
        }
    }
}

/// The option that sets [`Limits::tasks`].
pub(crate) const TASKS: &str = "--max-tasks";
/// The option that sets [`Limits::line`].
pub(crate) const LINE: &str = "--max-line";

/// What a limit has left of an application, in words to follow "because".
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Remainder {
    /// The option that sets the limit.
    pub option: &'static str,
    /// Tasks that were kept.
    pub kept: u64,
    /// Tasks that the history had announced up to there, where it tells.
    pub announced: Option<u64>,
}

impl Remainder {
    /// Whether it kept out all that follows, not single lines.
    #[must_use]
    pub(crate) fn cuts_off(&self) -> bool {
        self.option != LINE
    }
}

impl fmt::Display for Remainder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { option, kept, announced } = self;
        match announced {
            Some(all) if all > kept => write!(f, "{option} left {kept} of {all} tasks"),
            Some(_) | None => write!(
                f,
                "{option} left a part of the history, {kept} task{}",
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

/// The limit behind an error of reading, if one is.
#[must_use]
pub fn behind(error: &io::Error) -> Option<LimitReached> {
    let inner = error.get_ref()?;
    inner.downcast_ref().copied().or_else(|| behind(inner.downcast_ref()?))
}

/// The code of the problem that an error of reading is.
pub(crate) fn code_of(error: &io::Error, otherwise: &'static str) -> &'static str {
    if behind(error).is_some() { REACHED } else { otherwise }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_limit_is_known_behind_an_error() {
        let reached = LimitReached::Decoded(Bytes::from_mib(1));
        assert_eq!(behind(&reached.into()), Some(reached));
        assert_eq!(behind(&io::Error::other(io::Error::from(reached))), Some(reached));
        assert_eq!(behind(&io::Error::from(io::ErrorKind::UnexpectedEof)), None);
        assert_eq!(behind(&io::Error::other("else")), None);
    }

    #[test]
    fn lengths_can_be_doubled() {
        let huge = Limits { line: Some(Bytes::new(u64::MAX)), ..Limits::NONE };
        assert!(huge.line_len().checked_mul(2).is_some());
        assert_eq!(huge.line_len(), Limits::NONE.line_len());
        assert_eq!(Limits::default().line_len(), 64 << 20);
        assert!(Limits::NONE.has_room(usize::MAX));
        let few = Limits { tasks: Some(2), ..Limits::NONE };
        assert!(few.has_room(1) && !few.has_room(2));
        assert!(few.has_room_beside_tasks(9_999) && !few.has_room_beside_tasks(10_000));
    }
}
