//! Tracks the memory of cached blocks per executor while the log is read.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::scan::{Cursor, Scan};
use elephant_base::limits::Limits;
use elephant_base::units::Bytes;
use elephant_model::model::table::MAX_COUNTER_VALUE;

/// The memory that a cached block takes, or that all blocks of an executor may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum BlockMemory {
    Known(Bytes),
    /// Not a number, or an impossible one.
    Unreadable,
}

impl BlockMemory {
    pub(super) fn read(cursor: &mut Cursor<'_>) -> Scan<Self> {
        let bytes = cursor.integer_or_skip()?.filter(|&bytes| bytes <= MAX_COUNTER_VALUE);
        let bytes = bytes.and_then(|bytes| u64::try_from(bytes).ok());
        Ok(bytes.map_or(Self::Unreadable, |bytes| Self::Known(Bytes::new(bytes))))
    }
}

/// The cached block of one partition of an RDD (`RDDBlockId`). Other blocks, such as broadcasts, are not tracked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct RddBlock {
    rdd: u32,
    partition: u32,
}

impl RddBlock {
    /// Reads the name of a block: `rdd_3_14`. `None` for all others.
    pub(super) fn read(cursor: &mut Cursor<'_>) -> Scan<Option<Self>> {
        Ok(cursor.string_or_skip()?.and_then(|name| Self::from_name(name.bytes)))
    }

    fn from_name(name: &[u8]) -> Option<Self> {
        let numbers = str::from_utf8(name).ok()?.strip_prefix("rdd_")?;
        let (rdd, partition) = numbers.split_once('_')?;
        Some(Self { rdd: rdd.parse().ok()?, partition: partition.parse().ok()? })
    }
}

/// See the module. Executors are identified by index.
#[derive(Default)]
pub(super) struct Storage {
    blocks: FxHashMap<(u32, RddBlock), u64>,
    used: FxHashMap<usize, u64>,
    /// Executors with blocks beyond the limit, or with unreadable sizes.
    unknown: FxHashSet<usize>,
}

impl Storage {
    /// Records the current size of a block, 0 if it was dropped, and returns the total of its executor;
    /// `None` if the limit is reached.
    pub(super) fn note(
        &mut self,
        executor: usize,
        block: RddBlock,
        memory: Bytes,
        limits: &Limits,
    ) -> Option<Bytes> {
        let memory = memory.get();
        let key = (u32::try_from(executor).ok()?, block);
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

    /// Bytes that the blocks take. While the table grows, the old one and the new one exist.
    pub(super) fn held(&self) -> usize {
        3 * self.blocks.len() * size_of::<(u32, RddBlock, u64)>()
    }

    /// Records that a block's size cannot be read.
    pub(super) fn mark_unreadable(&mut self, executor: usize) {
        self.unknown.insert(executor);
    }

    /// The executors whose total is unknown.
    pub(super) fn unknown(&self) -> impl Iterator<Item = usize> {
        self.unknown.iter().copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rdd(name: &str) -> RddBlock {
        RddBlock::from_name(name.as_bytes()).expect("the name of a block of an RDD")
    }

    #[test]
    fn only_blocks_of_rdds_have_numbers() {
        assert_eq!(rdd("rdd_3_14"), RddBlock { rdd: 3, partition: 14 });
        for other in
            ["broadcast_3_piece0", "rdd_3", "rdd_3_", "rdd_x_1", "rdd_3_99999999999", "shuffle_0_1_2", ""]
        {
            assert_eq!(RddBlock::from_name(other.as_bytes()), None, "{other}");
        }
    }

    #[test]
    fn blocks_come_change_and_go() {
        let mut storage = Storage::default();
        let mut note =
            |executor, block, memory| storage.note(executor, rdd(block), Bytes::new(memory), &Limits::NONE);
        assert_eq!(note(0, "rdd_1_1", 10), Some(Bytes::new(10)));
        assert_eq!(note(0, "rdd_1_2", 5), Some(Bytes::new(15)));
        assert_eq!(note(1, "rdd_1_1", 7), Some(Bytes::new(7)));
        assert_eq!(note(0, "rdd_1_1", 4), Some(Bytes::new(9)));
        assert_eq!(note(0, "rdd_1_2", 0), Some(Bytes::new(4)));
        assert_eq!(note(0, "rdd_1_3", u64::MAX), Some(Bytes::new(u64::MAX)));
    }

    #[test]
    fn dropped_blocks_free_their_room_and_blocks_beyond_the_limit_make_the_total_unknown() {
        let limits = Limits { tasks: Some(2), ..Limits::NONE };
        let mut storage = Storage::default();
        for round in 0..100 {
            let block = rdd(&format!("rdd_1_{round}"));
            assert_eq!(storage.note(0, block, Bytes::new(10), &limits), Some(Bytes::new(10)));
            assert_eq!(storage.note(0, block, Bytes::new(0), &limits), Some(Bytes::new(0)));
        }
        storage.note(0, rdd("rdd_1_1"), Bytes::new(10), &limits);
        storage.note(1, rdd("rdd_1_1"), Bytes::new(10), &limits);
        assert_eq!(storage.unknown().count(), 0);
        assert_eq!(storage.note(1, rdd("rdd_1_2"), Bytes::new(10), &limits), None);
        assert_eq!(storage.note(1, rdd("rdd_1_1"), Bytes::new(30), &limits), Some(Bytes::new(30)));
        assert_eq!(storage.unknown().collect::<Vec<_>>(), [1]);
    }
}
