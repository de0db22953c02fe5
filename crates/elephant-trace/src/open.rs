//! The data on open jobs that both kinds of traces need.

use super::attempts::{Arena, Attempt, AttemptList};
use super::lines::Refusal;
use elephant_base::limits::{Held, LimitReached, Limits};

/// The attempts of the open jobs.
#[derive(Debug, Default)]
pub(super) struct Attempts {
    arena: Arena,
    /// Their number when it was last compared with the limits.
    compared: usize,
}

impl Attempts {
    /// Adds an attempt.
    pub(super) fn push(&mut self, list: &mut AttemptList, attempt: Attempt) {
        self.arena.push(list, attempt);
    }

    /// Compares their size with the limits.
    ///
    /// # Errors
    /// If a limit is reached.
    pub(super) fn within(&mut self, limits: &Limits) -> Result<(), Refusal> {
        // The arena grows by half a megabyte, so each thousandth attempt is enough.
        if self.arena.len().abs_diff(self.compared) < 1000 {
            return Ok(());
        }
        self.compared = self.arena.len();
        let mut held = Held::within(limits);
        held.add(self.arena.bytes());
        held.beyond().map_or(Ok(()), |reached: LimitReached| Err(Refusal::Limit(reached)))
    }

    /// Frees memory from now on, because no attempt is added any more.
    pub(super) fn drain(&mut self) {
        self.arena.drain();
    }

    /// Takes out the attempts of a group, sorted, each once. Counts those that occurred several times.
    pub(super) fn take(&mut self, list: AttemptList, repeated: &mut u64) -> Vec<Attempt> {
        let mut attempts = self.arena.take(list);
        let all = attempts.len();
        attempts.dedup();
        *repeated += (all - attempts.len()) as u64;
        attempts
    }
}

/// A place for another open job: one that is free, or a new one. `None` only if there are 2³² of them.
pub(super) fn free_place<T>(open: &mut Vec<Option<T>>, free: &mut Vec<u32>) -> Option<u32> {
    free.pop().or_else(|| {
        open.push(None);
        u32::try_from(open.len() - 1).ok()
    })
}
