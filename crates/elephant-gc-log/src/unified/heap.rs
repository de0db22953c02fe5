//! Sizes that unified logs write apart from stops: generations, regions, metaspace, the largest heap.

use elephant_base::units::Bytes;

use crate::scan::{self, Change, leading_size};
use crate::summary::{Collector, MaxHeapSource};

/// Sizes of generations before and after one collection.
#[derive(Debug, Default)]
pub(super) struct Generations {
    young: Option<Change>,
    eden: Option<(u64, u64)>,
    survivors: Option<(u64, u64)>,
}

/// Young generations by name, and the collector that has them.
const YOUNG: [(&str, Option<Collector>); 3] = [
    ("PSYoungGen: ", Some(Collector::Parallel)),
    ("ParNew: ", Some(Collector::Cms)),
    ("DefNew: ", Some(Collector::Serial)),
];

impl Generations {
    pub(super) fn is_one(message: &str) -> bool {
        YOUNG.iter().any(|(name, _)| message.starts_with(name))
            || message.starts_with("Eden regions: ")
            || message.starts_with("Survivor regions: ")
    }

    /// Adds a line; returns the collector if the name of a generation tells it.
    pub(super) fn add(&mut self, message: &str) -> Option<Collector> {
        if let Some(regions) = message.strip_prefix("Eden regions: ") {
            self.eden = counts(regions);
            return Some(Collector::G1);
        }
        if let Some(regions) = message.strip_prefix("Survivor regions: ") {
            self.survivors = counts(regions);
            return Some(Collector::G1);
        }
        let (name, collector) = YOUNG.iter().find(|(name, _)| message.starts_with(name))?;
        self.young = scan::change(message.strip_prefix(name)?);
        *collector
    }

    /// The young generation before and after, if it is known.
    pub(super) fn young(&self, region: Option<u64>) -> Option<Change> {
        if self.young.is_some() {
            return self.young;
        }
        let ((eden_before, eden_after), (before, after), region) = (self.eden?, self.survivors?, region?);
        let size = |regions: u64| regions.checked_mul(region).map(Bytes::new);
        Some(Change {
            before: size(eden_before.checked_add(before)?)?,
            after: size(eden_after.checked_add(after)?)?,
            capacity: None,
        })
    }
}

/// Numbers of regions: `51->0(44)`.
fn counts(text: &str) -> Option<(u64, u64)> {
    let (before, after) = text.split_once("->")?;
    let after = after.split('(').next()?;
    Some((before.trim().parse().ok()?, after.trim().parse().ok()?))
}

/// Size of G1's regions. Shenandoah writes the same, where it does no harm.
pub(super) fn region_size(message: &str) -> Option<u64> {
    let text =
        message.strip_prefix("Heap Region Size: ").or_else(|| message.strip_prefix("Heap region size: "))?;
    leading_size(text).map(|(size, _)| size.get())
}

/// The largest size of the heap, as collectors state it.
pub(super) fn max(message: &str) -> Option<(Bytes, MaxHeapSource)> {
    for name in ["Heap Max Capacity: ", "Max Capacity: "] {
        if let Some(text) = message.strip_prefix(name) {
            return Some((leading_size(text)?.0, MaxHeapSource::Stated));
        }
    }
    // ZGC before JDK 15 states no limit, only columns of a table.
    if let Some(columns) = message.strip_prefix("Capacity: ") {
        return Some((leading_size(columns.trim_start())?.0, MaxHeapSource::LargestCapacity));
    }
    if let Some(text) = message.strip_prefix("Initialize Shenandoah heap: ") {
        let max = text.split(", ").find_map(|part| part.strip_suffix(" max"))?;
        return Some((leading_size(max)?.0, MaxHeapSource::Stated));
    }
    // JDK 9 writes `Heap address: 0x…, size: 8192 MB`, JDK 11 `Heap Address: …`.
    let rest = message.strip_prefix("Heap address: ").or_else(|| message.strip_prefix("Heap Address: "))?;
    let size = rest.split(", ").find_map(|part| part.strip_prefix("size: "))?;
    Some((leading_size(size)?.0, MaxHeapSource::Reserved))
}

/// Metaspace in use after a collection: `193K(384K)->190K(384K) NonClass: …`, `14539K->14539K(1062912K)` or
/// `21M used, 22M committed, 1088M reserved`.
pub(super) fn metaspace(message: &str) -> Option<Bytes> {
    let text = message.strip_prefix("Metaspace: ")?;
    match scan::change(text) {
        Some(change) => Some(change.after),
        None => leading_size(text).filter(|(_, rest)| rest.starts_with(" used")).map(|(used, _)| used),
    }
}

/// What generational ZGC moved to the old generation: the last column of `Promoted:`.
pub(super) fn promoted(message: &str) -> Option<Bytes> {
    let columns = message.strip_prefix("Promoted: ")?;
    let last = columns.split_whitespace().rev().find(|word| !word.starts_with('('))?;
    leading_size(last).map(|(size, _)| size)
}

#[cfg(test)]
mod tests {
    use super::*;

    const M: u64 = 1 << 20;

    #[test]
    fn the_largest_heap_is_stated_in_several_ways() {
        let read = |text| max(text).map(|(size, source)| (size.get() / M, source));
        assert_eq!(read("Heap Max Capacity: 96M"), Some((96, MaxHeapSource::Stated)));
        assert_eq!(read("Max Capacity: 2560M(100%)"), Some((2560, MaxHeapSource::Stated)));
        assert_eq!(
            read("Initialize Shenandoah heap: 512M initial, 6656K min, 8192M max"),
            Some((8192, MaxHeapSource::Stated))
        );
        assert_eq!(
            read("Heap address: 0x0000000600000000, size: 8192 MB, Compressed Oops mode: Zero based"),
            Some((8192, MaxHeapSource::Reserved))
        );
        assert_eq!(read("Soft Max Capacity: 2560M(100%)"), None);
    }

    #[test]
    fn regions_become_bytes_only_with_their_size() {
        let mut generations = Generations::default();
        assert!(Generations::is_one("Eden regions: 51->0(44)"));
        assert_eq!(generations.add("Eden regions: 51->0(44)"), Some(Collector::G1));
        assert_eq!(generations.young(Some(M)), None);
        generations.add("Survivor regions: 0->7(7)");
        assert_eq!(generations.young(None), None);
        let young = generations.young(Some(2 * M)).unwrap();
        assert_eq!((young.before.get(), young.after.get()), (102 * M, 14 * M));
        assert_eq!(generations.young(Some(u64::MAX)), None);
    }

    #[test]
    fn metaspace_and_promotion_are_read() {
        assert_eq!(metaspace("Metaspace: 193K(384K)->190K(384K) NonClass: 1K"), Some(Bytes::new(190 << 10)));
        assert_eq!(metaspace("Metaspace: 14539K->14538K(1062912K)"), Some(Bytes::new(14_538 << 10)));
        assert_eq!(metaspace("Metaspace: 21M used, 22M committed"), Some(Bytes::new(21 * M)));
        assert_eq!(
            promoted(
                "Promoted:         -                  -                 0M (0%)            3M (0%)     "
            ),
            Some(Bytes::new(3 * M))
        );
    }
}
