//! The attempts of the tasks of open jobs, in little memory.

use elephant_model::model::Symbol;
use elephant_model::model::table::Outcome;

/// An attempt of a task, in 16 bytes: a trace has millions of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Attempt {
    task: u32,
    start: u32,
    finish: u32,
    /// The machine in the lower 30 bits, and the outcome above.
    place: u32,
}

/// A moment as milliseconds since the beginning of the trace. Traces cover at most a month, and 32 bits hold 49 days.
pub(super) type Moment = u32;

/// Marks an unknown moment.
const NEVER: Moment = Moment::MAX;

const MACHINE: u32 = (1 << 30) - 1;

impl Attempt {
    pub(super) fn new(
        task: u32,
        machine: Option<Symbol>,
        (start, finish): (Option<Moment>, Option<Moment>),
        outcome: Outcome,
    ) -> Self {
        let machine = machine.map_or(MACHINE, |machine| machine.index().min(MACHINE));
        let outcome = match outcome {
            Outcome::Unfinished => 0,
            Outcome::Succeeded => 1,
            Outcome::Failed => 2,
            Outcome::Killed => 3,
        };
        let place = machine | outcome << 30;
        Self { task, start: start.unwrap_or(NEVER), finish: finish.unwrap_or(NEVER), place }
    }

    /// The task's number in its group.
    #[must_use]
    pub const fn task(self) -> u32 {
        self.task
    }

    /// The machine that it ran on.
    #[must_use]
    pub fn machine(self) -> Option<Symbol> {
        Some(self.place & MACHINE).filter(|&machine| machine != MACHINE).map(Symbol::from_index)
    }

    /// How it ended.
    #[must_use]
    pub(crate) const fn outcome(self) -> Outcome {
        match self.place >> 30 {
            1 => Outcome::Succeeded,
            2 => Outcome::Failed,
            3 => Outcome::Killed,
            _ => Outcome::Unfinished,
        }
    }

    /// When it started.
    #[must_use]
    pub(super) fn start(self) -> Option<Moment> {
        Some(self.start).filter(|&start| start != NEVER)
    }

    /// When it ended.
    #[must_use]
    pub(super) fn finish(self) -> Option<Moment> {
        Some(self.finish).filter(|&finish| finish != NEVER)
    }

    /// How long it ran, in milliseconds; `None` if its start or its end is unknown, or the end comes first.
    #[must_use]
    pub(crate) fn run_time(self) -> Option<u32> {
        self.finish()?.checked_sub(self.start()?)
    }
}

/// Attempts in a chunk: many groups have few.
const CHUNK: usize = 8;

/// Chunks that are allocated at a time.
const SLAB: usize = 4096;

#[derive(Debug, Clone)]
struct Chunk {
    attempts: [Attempt; CHUNK],
    count: u32,
    /// The chunk before it in its list.
    before: Option<ChunkNumber>,
}

/// The number of a chunk plus one.
type ChunkNumber = std::num::NonZeroU32;

/// The attempts of one group, in an [`Arena`].
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct AttemptList {
    last: Option<ChunkNumber>,
    count: u32,
}

impl AttemptList {
    /// Their number.
    pub(super) const fn len(self) -> u32 {
        self.count
    }
}

/// The attempts of all open jobs. A growing vector for each group would take up to twice the memory.
#[derive(Debug, Default)]
pub(super) struct Arena {
    slabs: Vec<Slab>,
    free: Vec<ChunkNumber>,
    held: usize,
    /// Whether nothing is added any more, so that empty slabs are freed.
    draining: bool,
}

/// Chunks that are allocated together.
#[derive(Debug, Default)]
struct Slab {
    chunks: Vec<Chunk>,
    /// Chunks that are in a list.
    used: usize,
}

impl Arena {
    /// The number of attempts.
    pub(super) const fn len(&self) -> usize {
        self.held
    }

    /// Bytes allocated.
    pub(super) fn bytes(&self) -> usize {
        self.slabs.len() * SLAB * size_of::<Chunk>() + self.free.capacity() * size_of::<ChunkNumber>()
    }

    /// Frees memory from now on, as lists are taken out; nothing may be added after this.
    pub(super) fn drain(&mut self) {
        self.draining = true;
        self.free = Vec::new();
    }

    pub(super) fn push(&mut self, list: &mut AttemptList, attempt: Attempt) {
        let last = list.last.and_then(|number| self.chunk(number));
        let Some(chunk) = last.filter(|chunk| (chunk.count as usize) < CHUNK) else {
            list.last = self.new_chunk(attempt, list.last);
            list.count += 1;
            self.held += 1;
            return;
        };
        if let Some(slot) = chunk.attempts.get_mut(chunk.count as usize) {
            *slot = attempt;
        }
        chunk.count += 1;
        list.count += 1;
        self.held += 1;
    }

    /// Takes the attempts of a group out, sorted by task, start and end.
    pub(super) fn take(&mut self, list: AttemptList) -> Vec<Attempt> {
        let mut attempts = Vec::with_capacity(list.count as usize);
        let mut next = list.last;
        while let Some(number) = next {
            let Some(chunk) = self.chunk(number) else { break };
            attempts.extend(chunk.attempts.iter().take(chunk.count as usize));
            next = chunk.before;
            self.release(number);
        }
        self.held = self.held.saturating_sub(attempts.len());
        attempts.sort_unstable();
        attempts
    }

    fn chunk(&mut self, number: ChunkNumber) -> Option<&mut Chunk> {
        let place = number.get() as usize - 1;
        self.slabs.get_mut(place / SLAB)?.chunks.get_mut(place % SLAB)
    }

    fn release(&mut self, number: ChunkNumber) {
        let Some(slab) = self.slabs.get_mut((number.get() as usize - 1) / SLAB) else { return };
        slab.used = slab.used.saturating_sub(1);
        if !self.draining {
            self.free.push(number);
        } else if slab.used == 0 {
            slab.chunks = Vec::new();
        }
    }

    /// `None` only if there are 2³² chunks.
    fn new_chunk(&mut self, attempt: Attempt, before: Option<ChunkNumber>) -> Option<ChunkNumber> {
        let new = Chunk { attempts: [attempt; CHUNK], count: 1, before };
        if let Some(number) = self.free.pop() {
            if let Some(chunk) = self.chunk(number) {
                *chunk = new;
            }
            if let Some(slab) = self.slabs.get_mut((number.get() as usize - 1) / SLAB) {
                slab.used += 1;
            }
            return Some(number);
        }
        if self.slabs.last().is_none_or(|slab| slab.chunks.len() == SLAB) {
            self.slabs.push(Slab { chunks: Vec::with_capacity(SLAB), used: 0 });
        }
        let full = (self.slabs.len() - 1) * SLAB;
        let slab = self.slabs.last_mut()?;
        slab.chunks.push(new);
        slab.used += 1;
        ChunkNumber::new(u32::try_from(full + slab.chunks.len()).ok()?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn an_attempt_takes_16_bytes() {
        assert_eq!((size_of::<Attempt>(), size_of::<AttemptList>()), (16, 8));
        assert!(size_of::<Chunk>() <= CHUNK * 16 + 8);
    }

    #[test]
    fn an_attempt_keeps_what_is_known() {
        use Outcome::{Failed, Killed, Succeeded, Unfinished};
        for outcome in [Unfinished, Succeeded, Failed, Killed] {
            let machine = Some(Symbol::from_index(7));
            let attempt = Attempt::new(3, machine, (Some(5), Some(9)), outcome);
            assert_eq!((attempt.task(), attempt.machine(), attempt.outcome()), (3, machine, outcome));
            assert_eq!(attempt.run_time(), Some(4));
            let unknown = Attempt::new(0, None, (None, None), outcome);
            assert_eq!((unknown.machine(), unknown.outcome()), (None, outcome));
            assert_eq!((unknown.start(), unknown.finish(), unknown.run_time()), (None, None, None));
        }
        assert_eq!(Attempt::new(0, None, (Some(9), Some(5)), Succeeded).run_time(), None);
    }

    proptest! {
        /// Lists that grow in turn and are taken out and started again hold what was pushed into them.
        #[test]
        fn lists_do_not_mix(steps in prop::collection::vec((0..4usize, 0..12u32), 0..200)) {
            let mut arena = Arena::default();
            let mut lists = [AttemptList::default(); 4];
            let mut expected: [Vec<u32>; 4] = Default::default();
            for (list, task) in steps {
                if task == 0 {
                    let taken: Vec<u32> = arena.take(lists[list]).iter().map(|it| it.task()).collect();
                    lists[list] = AttemptList::default();
                    expected[list].sort_unstable();
                    prop_assert_eq!(taken, std::mem::take(&mut expected[list]));
                } else {
                    arena.push(&mut lists[list], Attempt::new(task, None, (None, None), Outcome::Killed));
                    expected[list].push(task);
                }
                prop_assert_eq!(arena.len(), expected.iter().map(Vec::len).sum::<usize>());
            }
        }
    }

    #[test]
    fn slabs_are_freed_at_the_end() {
        let mut arena = Arena::default();
        let mut lists = vec![AttemptList::default(); 3 * SLAB];
        for list in &mut lists {
            arena.push(list, Attempt::new(1, None, (None, None), Outcome::Killed));
        }
        arena.drain();
        for (place, list) in lists.iter().enumerate() {
            assert_eq!(arena.take(*list).len(), 1);
            let kept = arena.slabs.iter().filter(|slab| !slab.chunks.is_empty()).count();
            assert_eq!(kept, 3 - (place + 1) / SLAB);
        }
    }
}
