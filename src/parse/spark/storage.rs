//! What the blocks that executors have cached take of their memory, while the log is read.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::limits::Limits;
use crate::model::table::MOST_OF_A_COUNTER;
use crate::parse::scan::{Cursor, Scan};
use crate::units::Bytes;

/// What a log tells of the memory that a cached block takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum BlockMemory {
    Known(Bytes),
    /// No number, or one that cannot be.
    Unreadable,
}

impl BlockMemory {
    pub(super) fn read(cursor: &mut Cursor<'_>) -> Scan<Self> {
        let bytes = cursor.integer_or_skip()?.filter(|&bytes| bytes <= MOST_OF_A_COUNTER);
        let bytes = bytes.and_then(|bytes| u64::try_from(bytes).ok());
        Ok(bytes.map_or(Self::Unreadable, |bytes| Self::Known(Bytes::new(bytes))))
    }
}

/// See the module. Executors go by their place.
#[derive(Default)]
pub(super) struct Storage {
    blocks: FxHashMap<(usize, Box<str>), u64>,
    used: FxHashMap<usize, u64>,
    /// Executors with blocks beyond the limit, or whose memory cannot be read.
    unknown: FxHashSet<usize>,
}

impl Storage {
    /// Notes what a block takes now, 0 when it was dropped, and tells what all of them take; `None` where there is no room
    /// for one more.
    pub(super) fn note(
        &mut self,
        executor: usize,
        block: &str,
        memory: Bytes,
        limits: &Limits,
    ) -> Option<Bytes> {
        let memory = memory.get();
        let key = (executor, block.into());
        let before = if memory == 0 {
            self.blocks.remove(&key)
        } else if let Some(known) = self.blocks.get_mut(&key) {
            Some(std::mem::replace(known, memory))
        } else if limits.has_room(self.blocks.len()) {
            self.blocks.insert(key, memory)
        } else {
            self.unknown.insert(executor);
            return None;
        };
        let used = self.used.entry(executor).or_default();
        *used = used.saturating_sub(before.unwrap_or_default()).saturating_add(memory);
        Some(Bytes::new(*used))
    }

    /// Notes that what a block takes cannot be read.
    pub(super) fn lose(&mut self, executor: usize) {
        self.unknown.insert(executor);
    }

    /// The executors of which it is not known what their blocks take.
    pub(super) fn unknown(&self) -> impl Iterator<Item = usize> {
        self.unknown.iter().copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_come_change_and_go() {
        let mut storage = Storage::default();
        let mut note =
            |executor, block, memory| storage.note(executor, block, Bytes::new(memory), &Limits::NONE);
        assert_eq!(note(0, "rdd_1_1", 10), Some(Bytes::new(10)));
        assert_eq!(note(0, "rdd_1_2", 5), Some(Bytes::new(15)));
        assert_eq!(note(1, "rdd_1_1", 7), Some(Bytes::new(7)));
        assert_eq!(note(0, "rdd_1_1", 4), Some(Bytes::new(9)));
        assert_eq!(note(0, "rdd_1_2", 0), Some(Bytes::new(4)));
        assert_eq!(note(0, "rdd_1_3", u64::MAX), Some(Bytes::new(u64::MAX)));
    }

    #[test]
    fn what_was_dropped_takes_no_room_and_what_has_none_makes_its_executor_unknown() {
        let limits = Limits { tasks: Some(2), ..Limits::NONE };
        let mut storage = Storage::default();
        for round in 0..100 {
            let block = format!("rdd_1_{round}");
            assert_eq!(storage.note(0, &block, Bytes::new(10), &limits), Some(Bytes::new(10)));
            assert_eq!(storage.note(0, &block, Bytes::new(0), &limits), Some(Bytes::new(0)));
        }
        storage.note(0, "rdd_1_1", Bytes::new(10), &limits);
        storage.note(1, "rdd_1_1", Bytes::new(10), &limits);
        assert_eq!(storage.unknown().count(), 0);
        assert_eq!(storage.note(1, "rdd_1_2", Bytes::new(10), &limits), None);
        assert_eq!(storage.note(1, "rdd_1_1", Bytes::new(30), &limits), Some(Bytes::new(30)));
        assert_eq!(storage.unknown().collect::<Vec<_>>(), [1]);
    }
}
